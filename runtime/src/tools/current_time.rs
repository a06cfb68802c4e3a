//! `current_time`: date and time here or at a place. The wall clock first; nothing for a model to convert.

use std::collections::BTreeMap;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::days;
use super::places::{self, Found};
use super::{Tool, ToolContext, ToolFailure, text_argument};

pub(super) struct CurrentTime;

impl Tool for CurrentTime {
    fn name(&self) -> &'static str {
        "current_time"
    }

    fn run(&self, arguments: &Map<String, Value>, context: &ToolContext<'_>) -> Result<String, ToolFailure> {
        let Some(place) = text_argument(arguments, "place") else {
            if let Some(when) = text_argument(arguments, "when") {
                let here = context.now.to_zoned_datetime(context.zone.clone()).date();
                match days::find(&when, here) {
                    Ok(Some(date)) => return Ok(day(context, date)),
                    Ok(None) => {}
                    Err(()) => return Err(ToolFailure::new("reason-unknown-day").with("text", when)),
                }
            }
            // A machine that does not say where it is has no local time.
            if context.zone.is_unknown() {
                return Ok(reading(context, &TimeZone::UTC, Some("UTC")));
            }
            return Ok(reading(context, &context.zone, None));
        };
        if place.contains('/')
            && let Ok(zone) = TimeZone::get(&place)
        {
            return Ok(reading(context, &zone, Some(&place)));
        }
        match places::find(&place) {
            Found::Zone { name, zone } => {
                let zone = TimeZone::get(zone)
                    .map_err(|_| ToolFailure::new("reason-unknown-place").with("place", place.clone()))?;
                // The place is named as the user wrote it, unless that is only a matter of case.
                let shown = if name.to_lowercase() == place.to_lowercase() { name } else { place.as_str() };
                Ok(reading(context, &zone, Some(shown)))
            }
            Found::Several { name, zones } => {
                let cities: Vec<String> = zones
                    .iter()
                    .map(|zone| zone.rsplit('/').next().unwrap_or(zone).replace('_', " "))
                    .collect();
                Err(ToolFailure::new("reason-several-zones")
                    .with("place", name)
                    .with("names", cities.join(", ")))
            }
            Found::Unknown { nearest } if nearest.is_empty() => {
                Err(ToolFailure::new("reason-unknown-place").with("place", place))
            }
            Found::Unknown { nearest } => Err(ToolFailure::new("reason-unknown-place-near")
                .with("place", place)
                .with("names", nearest.join(", "))),
        }
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
        let text = |text: &str| Reply::Text(text.to_owned());
        let days = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"].map(str::to_owned).to_vec();
        let language = LanguageText {
            replies: BTreeMap::from([
                ("clock".to_owned(), text("{time} {weekday} {day} {year}")),
                ("clock-at".to_owned(), text("{place}: {time} {weekday}")),
                ("weekdays".to_owned(), Reply::List(days)),
            ]),
            ..LanguageText::default()
        };
        let context = ToolContext {
            language: &language,
            language_is_certain: true,
            now: "2026-01-02T20:41:00Z".parse().expect("an instant"),
            zone,
        };
        let mut arguments = Map::new();
        if let Some(place) = place {
            arguments.insert("place".to_owned(), place.into());
        }
        CurrentTime.run(&arguments, &context)
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
    fn an_unknown_place_is_said_with_the_nearest_names() {
        let failure = run(Some("Lisabon")).expect_err("it is misspelt");
        assert_eq!(failure.key, "reason-unknown-place-near");
        assert!(failure.values.values().any(|names| names.contains("Lisbon")), "{failure:?}");
        assert_eq!(run(Some("Xyzzyq")).expect_err("it is no place").key, "reason-unknown-place");
        assert_eq!(run(Some("USA")).expect_err("it has several").key, "reason-several-zones");
    }
}
