//! Places and the weather in the form of Open-Meteo's APIs. The weather is made up from the place alone, so that it
//! is the same on every day.

use std::collections::HashMap;

use jiff::ToSpan as _;
use jiff::tz::TimeZone;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{WebError, table};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Names {
    de: String,
    en: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    name: String,
    names: Names,
    latitude: f64,
    longitude: f64,
    #[serde(default)]
    elevation: f64,
    feature_code: String,
    country_code: String,
    country: Names,
    #[serde(default)]
    admin1: String,
    timezone: String,
    #[serde(default)]
    population: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Places {
    place: Vec<Place>,
}

/// Places with their weather.
pub(super) struct Sky {
    places: Vec<Place>,
}

impl Names {
    fn of(&self, language: &str) -> &str {
        if language == "de" { &self.de } else { &self.en }
    }
}

/// A place without weather, and one whose readings make no sense, for what reads them.
const NO_WEATHER: (f64, f64) = (90.0, 0.0);

impl Sky {
    pub(super) fn open() -> Result<Self, WebError> {
        let Places { place: places } = table("places.toml")?;
        Ok(Self { places })
    }

    /// `/v1/search`: places whose name in the language, or own name, is the one asked for.
    pub(super) fn places(&self, asked: &HashMap<String, String>) -> Value {
        let language = asked.get("language").map_or("en", String::as_str);
        let name = asked.get("name").map(|name| name.trim().to_lowercase()).unwrap_or_default();
        let count = asked.get("count").and_then(|count| count.parse().ok()).unwrap_or(10);
        let mut found: Vec<(usize, &Place)> = self
            .places
            .iter()
            .enumerate()
            .filter(|(_, place)| {
                let names = [place.name.to_lowercase(), place.names.of(language).to_lowercase()];
                !name.is_empty()
                    && names.iter().any(|known| {
                        *known == name || (name.chars().count() >= 3 && known.starts_with(&name))
                    })
            })
            .collect();
        found.sort_by_key(|(_, place)| std::cmp::Reverse(place.population));
        let results: Vec<Value> = found
            .into_iter()
            .take(count)
            .map(|(id, place)| {
                json!({
                    "id": id + 1, "name": place.names.of(language), "latitude": place.latitude, "longitude": place.longitude,
                    "elevation": place.elevation, "feature_code": place.feature_code, "country_code": place.country_code,
                    "country": place.country.of(language), "admin1": place.admin1, "timezone": place.timezone, "population": place.population,
                })
            })
            .collect();
        if results.is_empty() {
            json!({"generationtime_ms": 0.1})
        } else {
            json!({"results": results, "generationtime_ms": 0.1})
        }
    }

    /// `/v1/forecast`: now and the next days.
    pub(super) fn forecast(&self, asked: &HashMap<String, String>) -> Value {
        let number = |name: &str| asked.get(name).and_then(|value| value.parse::<f64>().ok());
        let (Some(latitude), Some(longitude)) = (number("latitude"), number("longitude")) else {
            return json!({"error": true, "reason": "Parameter 'latitude' and 'longitude' must be given."});
        };
        if (latitude, longitude) == NO_WEATHER {
            return json!({"error": true, "reason": "No data is available for this location"});
        }
        let near = |place: &&Place| {
            (place.latitude - latitude).abs() < 0.02 && (place.longitude - longitude).abs() < 0.02
        };
        let zone_name = self.places.iter().find(near).map_or("UTC", |place| place.timezone.as_str());
        let zone = TimeZone::get(zone_name).unwrap_or(TimeZone::UTC);
        let now = jiff::Timestamp::now().to_zoned_datetime(zone);
        let seed = (latitude * 7.3 + longitude * 3.1).sin();
        let warm = (30.0 - latitude.abs() * 0.45 + seed * 6.0).clamp(-20.0, 38.0);
        let round = |value: f64| (value * 10.0).round() / 10.0;
        let codes = if warm < 1.0 { [0, 2, 3, 71, 73, 85, 45] } else { [0, 2, 3, 61, 80, 95, 45] };
        let code =
            |day: usize| codes.get((day + (seed.abs() * 100.0) as usize) % codes.len()).copied().unwrap_or(0);
        let days: Vec<String> =
            (0_i64..7).map(|day| now.date().saturating_add(day.days()).to_string()).collect();
        let swing = |day: usize| ((day as f64) * 1.7 + seed).sin() * 3.0;
        let quarter = now.minute() - now.minute() % 15;
        json!({
            "latitude": latitude, "longitude": longitude, "timezone": zone_name,
            "current_units": {"temperature_2m": "°C", "wind_speed_10m": "km/h", "relative_humidity_2m": "%", "precipitation": "mm"},
            "current": {
                "time": format!("{}T{:02}:{quarter:02}", now.date(), now.hour()), "interval": 900,
                "temperature_2m": round(warm), "apparent_temperature": round(warm - 1.5), "relative_humidity_2m": 60 + (seed * 20.0) as i64,
                "precipitation": if code(0) >= 61 { 0.4 } else { 0.0 }, "weather_code": code(0), "wind_speed_10m": round(12.0 + seed * 8.0),
            },
            "daily": {
                "time": days,
                "weather_code": (0..7).map(code).collect::<Vec<_>>(),
                "temperature_2m_max": (0..7).map(|day| round(warm + 3.0 + swing(day))).collect::<Vec<_>>(),
                "temperature_2m_min": (0..7).map(|day| round(warm - 5.0 + swing(day))).collect::<Vec<_>>(),
                "precipitation_sum": (0..7).map(|day| if code(day) >= 61 { 2.4 } else { 0.0 }).collect::<Vec<_>>(),
                "precipitation_probability_max": (0..7).map(|day| if code(day) >= 61 { 80 } else { 5 }).collect::<Vec<_>>(),
            },
        })
    }
}
