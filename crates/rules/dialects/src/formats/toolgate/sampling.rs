//! Reads and writes `sampling`: `true`, or a table of limits on the use of callers' models.

use toolgate_model::{ConfigScope, ConfigValue, SamplingLimits};

use crate::common::tree::TreeValue;
use crate::common::{EntryWriter, TableFields};

const LIKE: &str = "write true, or limits like { requests_per_day = 20, max_tokens = 2000 }";

/// Reads the limits. A project's file cannot set them, because the user pays for the model.
pub(super) fn read(entry: &mut TableFields<'_>) -> Option<SamplingLimits> {
    let node = entry.node("sampling")?;
    let limits = match &node.value {
        TreeValue::Flag(allowed) => allowed.then(SamplingLimits::default),
        TreeValue::Table(_) => entry.with_table("sampling", limits),
        other => {
            let problem = format!("has {} where `sampling` must be true or a table", other.kind());
            entry.error_with_value(node.at, &problem, LIKE);
            None
        }
    };
    if limits.is_some() && entry.is_project() {
        let hint = "set it in your own config, if this server may use your model";
        entry.warn("sampling", "has no effect in a project's file", hint);
        return None;
    }
    limits
}

fn limits(fields: &mut TableFields<'_>) -> SamplingLimits {
    let usual = SamplingLimits::default();
    let most = |fields: &mut TableFields<'_>, key, usual| amount(fields, key).unwrap_or(usual);
    SamplingLimits {
        requests_per_day: most(fields, "requests_per_day", usual.requests_per_day),
        tokens_per_day: amount(fields, "tokens_per_day").unwrap_or(usual.tokens_per_day),
        max_tokens: amount(fields, "max_tokens").unwrap_or(usual.max_tokens),
        concurrency: most(fields, "concurrency", usual.concurrency),
    }
}

/// Reads a number of at least 1; `sampling = false` disables sampling.
fn amount<T: TryFrom<i64>>(fields: &mut TableFields<'_>, key: &'static str) -> Option<T> {
    let at = fields.node(key)?.at;
    let number = fields.integer(key)?;
    let amount = T::try_from(number).ok().filter(|_| number > 0);
    if amount.is_none() {
        let problem = format!("has an invalid `{key}`: it is out of range");
        fields.error_with_value(at, &problem, "give a number, at least 1");
    }
    amount
}

pub(super) fn write(limits: Option<SamplingLimits>, writer: &mut EntryWriter<'_>) {
    let Some(limits) = limits else { return };
    if writer.file.scope == ConfigScope::Project {
        let why = "a project's file cannot let a server use your model";
        return writer.losses.add("sampling", why);
    }
    let usual = SamplingLimits::default();
    if limits == usual {
        return writer.flag("sampling", true);
    }
    let SamplingLimits { requests_per_day, tokens_per_day, max_tokens, concurrency } = limits;
    let whole = |number: u64| ConfigValue::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let fields = [
        ("requests_per_day", requests_per_day.into(), usual.requests_per_day.into()),
        ("tokens_per_day", tokens_per_day, usual.tokens_per_day),
        ("max_tokens", max_tokens, usual.max_tokens),
        ("concurrency", concurrency.into(), usual.concurrency.into()),
    ];
    writer.with_table("sampling", |inner| {
        for (key, said, usual) in fields {
            if said != usual {
                inner.data(key, whole(said));
            }
        }
    });
}
