//! Builds values for Toolgate's own file.

use std::collections::BTreeMap;
use std::time::Duration;

use toolgate_model::{ConfigValue, Secret, ServerTimeouts};

use crate::losses::ConversionLosses;

/// Returns the fields that are set.
pub(super) fn set_fields<const N: usize>(
    fields: [(&str, Option<ConfigValue>); N],
) -> Vec<(String, ConfigValue)> {
    fields.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}

/// Returns a list of strings.
pub(super) fn list(texts: &[String]) -> ConfigValue {
    ConfigValue::texts(texts.iter().cloned())
}

/// Returns the time limits that are set.
pub(super) fn limits(timeouts: ServerTimeouts) -> Vec<(String, ConfigValue)> {
    let ServerTimeouts { start, call, max } = timeouts;
    let text = |time: Option<_>| time.map(|time| ConfigValue::Text(format_duration(time)));
    set_fields([("start", text(start)), ("call", text(call)), ("max", text(max))])
}

/// Formats a duration in the largest unit that is exact.
pub(super) fn format_duration(time: Duration) -> String {
    let millis = time.as_millis();
    if millis == 0 {
        return "0s".to_owned();
    }
    let units = [("h", 3_600_000), ("m", 60_000), ("s", 1_000)];
    match units.iter().find(|(_, unit)| millis.is_multiple_of(*unit)) {
        Some((word, unit)) => format!("{}{word}", millis / unit),
        None => format!("{millis}ms"),
    }
}

/// Returns the fields that only other hosts use, so that they can be written back there.
pub(super) fn extras(
    extras: &BTreeMap<String, Secret<ConfigValue>>,
    losses: &mut ConversionLosses,
) -> Vec<(String, ConfigValue)> {
    let extras = extras.iter().filter_map(|(dialect, kept)| {
        let field = format!("extra.{dialect}");
        Some((dialect.clone(), toml_compatible(kept.expose(), &field, losses)?))
    });
    extras.collect()
}

/// Returns the part of a value that TOML can express: no nulls, and no numbers out of range.
pub(super) fn toml_compatible(
    value: &ConfigValue,
    field: &str,
    losses: &mut ConversionLosses,
) -> Option<ConfigValue> {
    match value {
        ConfigValue::Null => {
            losses.add(field, "TOML has no null");
            None
        }
        ConfigValue::Decimal(spelled) if !spelled.contains(['.', 'e', 'E']) => {
            losses.add(field, "TOML has no numbers that large");
            None
        }
        ConfigValue::List(items) => {
            let items = items.iter().filter_map(|item| toml_compatible(item, field, losses));
            Some(ConfigValue::List(items.collect()))
        }
        ConfigValue::Table(fields) => {
            let fields = fields.iter().filter_map(|(key, value)| {
                Some((key.clone(), toml_compatible(value, &format!("{field}.{key}"), losses)?))
            });
            Some(ConfigValue::Table(fields.collect()))
        }
        plain => Some(plain.clone()),
    }
}
