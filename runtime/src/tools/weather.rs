//! `weather`: now and on the days that follow, from Open-Meteo.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::civil::{Date, DateTime};
use serde_json::{Map, Value};

use super::days;
use super::{Tool, ToolContext, ToolFailure, ToolOutput, Wants, text_argument};
use crate::net::{FetchError, Fetcher};

/// Minutes after which a reading says nothing about now (reference: 45).
const FRESH: i64 = 45;
/// Where the service says what it is.
const SOURCE: &str = "https://open-meteo.com/";
const PLACES: &str = "https://geocoding-api.open-meteo.com/v1/search";
const FORECAST: &str = "https://api.open-meteo.com/v1/forecast";
/// Words around a place that no place has: what a whole message brings along.
const AROUND: &[&str] = &[
    "wetter",
    "weather",
    "in",
    "at",
    "for",
    "für",
    "heute",
    "today",
    "morgen",
    "tomorrow",
    "jetzt",
    "now",
    "the",
    "forecast",
    "vorhersage",
    "wie",
    "ist",
    "das",
    "bei",
    "auf",
    "near",
    "und",
    "and",
    "nach",
    "von",
    "gerade",
    "right",
    "übermorgen",
    "tonight",
    "abend",
    "wochenende",
    "weekend",
];

pub(super) struct Weather(pub(super) Arc<Fetcher>);

/// A place as the geocoder knows it.
struct Place {
    name: String,
    latitude: f64,
    longitude: f64,
    rank: u8,
    population: u64,
    exact: bool,
}

impl Tool for Weather {
    fn name(&self) -> &str {
        "weather"
    }

    fn wants(&self) -> Wants<'_> {
        Wants { required: vec!["place"], optional: vec!["day"], sourced: Some(true) }
    }

    fn run(
        &self,
        arguments: &Map<String, Value>,
        context: &ToolContext<'_>,
    ) -> Result<ToolOutput, ToolFailure> {
        let asked = text_argument(arguments, "place").ok_or(ToolFailure::new("reason-no-place"))?;
        let place = self.find(&asked, context)?;
        let (latitude, longitude) = (place.latitude.to_string(), place.longitude.to_string());
        let parameters = [
            ("latitude", latitude.as_str()),
            ("longitude", &longitude),
            (
                "current",
                "temperature_2m,apparent_temperature,relative_humidity_2m,precipitation,weather_code,wind_speed_10m",
            ),
            (
                "daily",
                "weather_code,temperature_2m_max,temperature_2m_min,precipitation_sum,precipitation_probability_max",
            ),
            ("timezone", "auto"),
            ("forecast_days", "7"),
        ];
        let forecast = self.ask(FORECAST, &parameters, context)?;
        let local = local_now(&forecast, context);
        let when = text_argument(arguments, "day").unwrap_or_else(|| context.question.to_owned());
        let wanted = days::find(&when, local.date()).ok().flatten();
        let lines = days_of(&forecast, &place.name, context);
        let now = reading(&forecast, &place.name, local, context);
        let said = match wanted {
            Some(day) if day != local.date() => {
                let found = lines.iter().find(|(date, _)| *date == day).map(|(_, line)| line.clone());
                found.ok_or_else(|| {
                    ToolFailure::new("reason-no-forecast")
                        .with("place", &*place.name)
                        .with("day", day.to_string())
                })?
            }
            _ => now
                .clone()
                .or_else(|| lines.first().map(|(_, line)| line.clone()))
                .ok_or(ToolFailure::new("reason-search-unreadable"))?,
        };
        let mut text: Vec<&str> = vec![&said];
        text.extend(now.as_deref().filter(|now| *now != said));
        text.extend(lines.iter().map(|(_, line)| line.as_str()).filter(|line| *line != said));
        let text = format!("{}\n{SOURCE}", text.join("\n"));
        Ok(ToolOutput { text, said: Some((said, Some(SOURCE.to_owned()))), ..ToolOutput::default() })
    }
}

impl Weather {
    fn ask(
        &self,
        base: &str,
        parameters: &[(&str, &str)],
        context: &ToolContext<'_>,
    ) -> Result<Value, ToolFailure> {
        let url =
            url::Url::parse_with_params(base, parameters).map_err(|_| ToolFailure::new("reason-no-place"))?;
        let fetched = self
            .0
            .block_on(self.0.get(url.as_str(), "application/json", "en", context.stop))
            .map_err(|error| match error {
                FetchError::Status { .. } => ToolFailure::new("reason-no-weather"),
                other => other.into(),
            })?;
        let answer: Value = serde_json::from_slice(&fetched.body)
            .map_err(|_| ToolFailure::new("reason-search-unreadable"))?;
        if answer.get("error").is_some() {
            return Err(ToolFailure::new("reason-no-weather"));
        }
        Ok(answer)
    }

    /// The place: as written first, then with the words around it off, then each of its words alone.
    fn find(&self, asked: &str, context: &ToolContext<'_>) -> Result<Place, ToolFailure> {
        for name in narrowed(asked) {
            let mut found: Vec<Place> = Vec::new();
            // A name may be known in one language only: Tokio is a village in the other.
            for language in ["de", "en"] {
                let answer = self.ask(
                    PLACES,
                    &[("name", name.as_str()), ("count", "10"), ("language", language), ("format", "json")],
                    context,
                )?;
                let places = answer.get("results").and_then(Value::as_array).into_iter().flatten();
                found.extend(places.filter_map(|place| Place::read(place, &name)));
            }
            let best = found
                .into_iter()
                .filter(|place| place.exact || name == asked)
                .max_by_key(|place| (place.exact, place.rank, place.population));
            if let Some(mut best) = best {
                // As the user writes it, unless that is only a matter of case.
                if best.exact && best.name.to_lowercase() != name.to_lowercase() {
                    best.name.clone_from(&name);
                }
                return Ok(best);
            }
        }
        Err(ToolFailure::new("reason-unknown-place").with("place", asked))
    }
}

fn narrowed(asked: &str) -> Vec<String> {
    let trimmed = asked.trim().trim_end_matches(['?', '!', '.']);
    let words: Vec<&str> = trimmed.split_whitespace().collect();
    let kept: Vec<&str> =
        words.iter().copied().filter(|word| !AROUND.contains(&word.to_lowercase().as_str())).collect();
    let mut out = vec![trimmed.to_owned(), kept.join(" ")];
    // "In Salah" is a place; its words are tried only when nothing else is known.
    out.extend(kept.iter().rev().map(|word| (*word).to_owned()));
    out.retain(|name| !name.is_empty());
    let mut seen = std::collections::HashSet::new();
    out.retain(|name| seen.insert(name.clone()));
    out.truncate(5);
    out
}

impl Place {
    fn read(place: &Value, asked: &str) -> Option<Self> {
        let text = |name: &str| place.get(name).and_then(Value::as_str);
        let name = text("name")?.to_owned();
        // Countries and capitals are meant before villages of the same name.
        let rank = match text("feature_code").unwrap_or_default() {
            "PCLI" => 3,
            "PPLC" => 2,
            code if code.starts_with("PPLA") => 1,
            _ => 0,
        };
        let exact = name.to_lowercase() == asked.to_lowercase();
        let population = place.get("population").and_then(Value::as_u64).unwrap_or_default();
        let number = |name: &str| place.get(name).and_then(Value::as_f64);
        Some(Self {
            latitude: number("latitude")?,
            longitude: number("longitude")?,
            name,
            rank,
            population,
            exact,
        })
    }
}

/// Now at the place.
fn local_now(forecast: &Value, context: &ToolContext<'_>) -> DateTime {
    let zone =
        forecast.get("timezone").and_then(Value::as_str).and_then(|zone| jiff::tz::TimeZone::get(zone).ok());
    context.now.to_zoned_datetime(zone.unwrap_or(jiff::tz::TimeZone::UTC)).datetime()
}

/// A number in the reply's language.
fn number(value: f64, context: &ToolContext<'_>) -> String {
    let rounded = (value * 10.0).round() / 10.0;
    // There is no minus zero.
    let rounded = if rounded == 0.0 { 0.0 } else { rounded };
    rounded.to_string().replace('.', &context.reply("decimal-mark", &BTreeMap::new()))
}

/// The sky in words, with a comma in front; nothing for a code that is not known.
fn sky(code: Option<u64>, context: &ToolContext<'_>) -> String {
    let at = match code {
        Some(0) => 0,
        Some(1 | 2) => 1,
        Some(3) => 2,
        Some(45 | 48) => 3,
        Some(51..=57) => 4,
        Some(61..=65 | 80..=82) => 5,
        Some(66 | 67) => 6,
        Some(71..=77 | 85 | 86) => 7,
        Some(95..=99) => 8,
        _ => return String::new(),
    };
    let word = context.list("sky", at);
    if word.is_empty() { word } else { format!(", {word}") }
}

/// The sentence about now; None where the reading is stale or missing.
fn reading(forecast: &Value, place: &str, local: DateTime, context: &ToolContext<'_>) -> Option<String> {
    let current = forecast.get("current")?;
    let measured: DateTime = current.get("time")?.as_str()?.parse().ok()?;
    let age = local.duration_since(measured).as_mins();
    if age.abs() > FRESH {
        return None;
    }
    let value = |name: &str| current.get(name).and_then(Value::as_f64);
    let mut values = BTreeMap::from([
        ("place", place.to_owned()),
        ("temperature", number(value("temperature_2m")?, context)),
        ("sky", sky(current.get("weather_code").and_then(Value::as_u64), context)),
        ("time", format!("{:02}:{:02}", measured.hour(), measured.minute())),
        ("wind", String::new()),
    ]);
    if let Some(wind) = value("wind_speed_10m").filter(|wind| *wind >= 1.0) {
        let wind = context.reply("weather-wind", &BTreeMap::from([("speed", number(wind.round(), context))]));
        values.insert("wind", wind);
    }
    Some(context.reply("weather-now", &values))
}

/// A sentence a day.
fn days_of(forecast: &Value, place: &str, context: &ToolContext<'_>) -> Vec<(Date, String)> {
    let list = |name: &str| {
        forecast
            .get("daily")
            .and_then(|daily| daily.get(name))
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    let (low, high, codes, chances) = (
        list("temperature_2m_min"),
        list("temperature_2m_max"),
        list("weather_code"),
        list("precipitation_probability_max"),
    );
    let mut out = Vec::new();
    for (at, day) in list("time").iter().enumerate() {
        let date = day.as_str().and_then(|day| day.parse::<Date>().ok());
        let at_day = |list: &[Value]| list.get(at).and_then(Value::as_f64);
        let (Some(date), Some(low), Some(high)) = (date, at_day(&low), at_day(&high)) else { continue };
        let weekday = usize::from(date.weekday().to_monday_zero_offset().unsigned_abs());
        let month = usize::from(date.month().unsigned_abs()).saturating_sub(1);
        let mut values = BTreeMap::from([
            ("place", place.to_owned()),
            ("weekday", context.list("weekdays", weekday)),
            ("day", date.day().to_string()),
            ("month", context.list("months", month)),
            ("low", number(low.round(), context)),
            ("high", number(high.round(), context)),
            ("sky", sky(codes.get(at).and_then(Value::as_u64), context)),
            ("rain", String::new()),
        ]);
        if let Some(chance) = at_day(&chances).filter(|chance| *chance >= 20.0) {
            values.insert(
                "rain",
                context.reply("weather-rain", &BTreeMap::from([("chance", number(chance.round(), context))])),
            );
        }
        out.push((date, context.reply("weather-day", &values)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::narrowed;

    #[test]
    fn a_place_is_tried_as_written_first() {
        assert_eq!(narrowed("In Salah").first().map(String::as_str), Some("In Salah"));
        assert_eq!(narrowed("Wetter in Berlin?"), ["Wetter in Berlin", "Berlin"]);
        assert_eq!(narrowed("Hamburg heute"), ["Hamburg heute", "Hamburg"]);
        assert!(narrowed("  ").is_empty());
    }
}
