//! `current_time`: date and time here or at a place. The wall clock first; nothing for a model to convert.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::days;
use super::places::{self, Found};
use super::{Tool, ToolContext, ToolFailure, ToolOutput, Wants, text_argument};

pub(super) struct CurrentTime;

impl Tool for CurrentTime {
    fn name(&self) -> &str {
        "current_time"
    }

    fn wants(&self) -> Wants<'_> {
        Wants { required: vec![], optional: vec!["place", "when"], sourced: Some(false) }
    }

    fn is_a_reading(&self) -> bool {
        true
    }

    fn run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        let (zone, shown) = match text_argument(arguments, "place") {
            Some(place) => zone_of(&place)?,
            // A machine that does not say where it is has no local time.
            None if context.zone.is_unknown() => (TimeZone::UTC, Some("UTC".to_owned())),
            None => (context.zone.clone(), None),
        };
        if let Some(when) = text_argument(arguments, "when") {
            let today = context.now.to_zoned_datetime(zone.clone()).date();
            // Code passes whole messages, which need name no day; a model that fills this in means one.
            let means_now = !context.arguments_by_model || says_now(&when);
            match days::find(&when, today) {
                Ok(Some(date)) => return Ok(day(context, date).into()),
                Ok(None) if means_now => {}
                Ok(None) | Err(()) => return Err(ToolFailure::new("reason-unknown-day").with("text", when)),
            }
        }
        Ok(reading(context, &zone, shown.as_deref()).into())
    }
}

/// Whether a text names the present.
fn says_now(text: &str) -> bool {
    let lower = text.to_lowercase();
    let mut words = lower.split(|c: char| !c.is_alphanumeric());
    words.any(|word| matches!(word, "now" | "today" | "currently" | "jetzt" | "heute" | "aktuell"))
}

/// The zone of a place, and the name to show for it.
fn zone_of(place: &str) -> Result<(TimeZone, Option<String>), ToolFailure> {
    if place.contains('/')
        && let Ok(zone) = TimeZone::get(place)
    {
        return Ok((zone, Some(place.to_owned())));
    }
    match places::find(place) {
        Found::Zone { name, zone } => {
            let zone = TimeZone::get(zone)
                .map_err(|_| ToolFailure::new("reason-unknown-place").with("place", place))?;
            // The place is named as the user wrote it, unless that is only a matter of case.
            let shown = if name.to_lowercase() == place.to_lowercase() { name } else { place };
            Ok((zone, Some(shown.to_owned())))
        }
        Found::Several { name, zones } => {
            let cities: Vec<String> =
                zones.iter().map(|zone| zone.rsplit('/').next().unwrap_or(zone).replace('_', " ")).collect();
            Err(ToolFailure::new("reason-several-zones").with("place", name).with("names", cities.join(", ")))
        }
        Found::Unknown { nearest } if nearest.is_empty() => {
            Err(ToolFailure::new("reason-unknown-place").with("place", place))
        }
        Found::Unknown { nearest } => Err(ToolFailure::new("reason-unknown-place-near")
            .with("place", place)
            .with("names", nearest.join(", "))),
    }
}

/// A day in the reply's language, then as a machine reads it.
fn day(context: &ToolContext<'_>, date: Date) -> String {
    format!("{}\n{date}", context.reply("date", &calendar(context, date)))
}

/// What replies can say of a day.
fn calendar(context: &ToolContext<'_>, date: Date) -> BTreeMap<&'static str, String> {
    let weekday = date.weekday().to_monday_zero_offset();
    BTreeMap::from([
        ("day", date.day().to_string()),
        ("year", date.year().to_string()),
        ("month", context.list("months", usize::from(date.month().unsigned_abs()).saturating_sub(1))),
        ("weekday", context.list("weekdays", usize::from(weekday.unsigned_abs()))),
        ("week", date.iso_week_date().week().to_string()),
    ])
}

/// A sentence in the reply's language, then the instant as a machine reads it.
fn reading(context: &ToolContext<'_>, zone: &TimeZone, place: Option<&str>) -> String {
    let local = context.now.to_zoned_datetime(zone.clone());
    let mut values = calendar(context, local.date());
    values.insert("time", format!("{:02}:{:02}", local.hour(), local.minute()));
    let key = match place {
        Some(place) => {
            values.insert("place", place.to_owned());
            "clock-at"
        }
        None => "clock",
    };
    let zone = zone.iana_name().unwrap_or("");
    format!("{}\n{} {zone}", context.reply(key, &values), local.strftime("%Y-%m-%d %H:%M %:z"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::{LanguageText, Reply};

    fn run(place: Option<&str>) -> Result<String, ToolFailure> {
        run_in(TimeZone::get("Europe/Berlin").expect("a zone"), place)
    }

    fn run_in(zone: TimeZone, place: Option<&str>) -> Result<String, ToolFailure> {
        run_with(zone, place, None, false)
    }

    fn run_with(
        zone: TimeZone,
        place: Option<&str>,
        when: Option<&str>,
        by_model: bool,
    ) -> Result<String, ToolFailure> {
        let text = |text: &str| Reply::Text(text.to_owned());
        let days = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"].map(str::to_owned).to_vec();
        let language = LanguageText {
            replies: BTreeMap::from([
                ("date".to_owned(), text("{weekday} {day} {year}")),
                ("clock".to_owned(), text("{time} {weekday} {day} {year}")),
                ("clock-at".to_owned(), text("{place}: {time} {weekday}")),
                ("weekdays".to_owned(), Reply::List(days)),
            ]),
            ..LanguageText::default()
        };
        let context = ToolContext {
            arguments_by_model: by_model,
            now: "2026-01-02T20:41:00Z".parse().expect("an instant"),
            zone,
            ..ToolContext::here(&language, true)
        };
        let mut arguments = Map::new();
        for (name, value) in [("place", place), ("when", when)] {
            arguments.extend(value.map(|value| (name.to_owned(), value.into())));
        }
        CurrentTime.run(&arguments, &context).map(|output| output.text)
    }

    #[test]
    fn the_wall_clock_comes_first_and_a_place_has_its_own() {
        assert_eq!(run(None).as_deref(), Ok("21:41 Fr 2 2026\n2026-01-02 21:41 +01:00 Europe/Berlin"));
        let unknown = run_in(TimeZone::unknown(), None).expect("the time of UTC");
        assert!(unknown.starts_with("UTC: 20:41"), "{unknown}");
        let tokyo = run(Some("Tokio"));
        assert_eq!(tokyo.as_deref(), Ok("Tokio: 05:41 Sa\n2026-01-03 05:41 +09:00 Asia/Tokyo"));
    }

    #[test]
    fn a_day_that_a_model_names_is_understood_or_refused_and_never_dropped() {
        let zone = || TimeZone::get("Europe/Berlin").expect("a zone");
        let ask = |place, when, by_model| run_with(zone(), place, Some(when), by_model);
        assert!(ask(None, "what day is it", false).is_ok_and(|text| text.starts_with("21:41")));
        for when in ["aaa", "25:00", "asap"] {
            assert_eq!(ask(None, when, true).expect_err("no day").key, "reason-unknown-day", "{when}");
        }
        assert!(ask(None, "heute", true).is_ok_and(|text| text.starts_with("21:41")));
        // Tomorrow in Tokyo, where it is the third already.
        assert!(ask(Some("Tokio"), "tomorrow", true).is_ok_and(|text| text.ends_with("2026-01-04")));
        assert!(ask(Some("Tokio"), "aaa", true).is_err());
    }

    #[test]
    fn an_unknown_place_is_said_with_the_nearest_names() {
        let failure = run(Some("Lisabon")).expect_err("it is misspelt");
        assert_eq!(failure.key, "reason-unknown-place-near");
        assert!(failure.values.values().any(|names| names.contains("Lisbon")), "{failure:?}");
        assert_eq!(run(Some("Xyzzyq")).expect_err("it is no place").key, "reason-unknown-place");
        assert_eq!(run(Some("USA")).expect_err("it has several").key, "reason-several-zones");
    }
}
