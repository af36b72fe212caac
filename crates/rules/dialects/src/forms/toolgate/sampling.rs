//! What a server may ask of its callers' models: `sampling = true`, or a table of limits.

use toolgate_model::{Data, SamplingLimits, Scope};

use crate::frame::tree::Value;
use crate::frame::{Fields, Writer};

const LIKE: &str = "write true, or limits like { requests_per_day = 20, max_tokens = 2000 }";

/// Reads it. A project's file cannot give away what the user's model costs.
pub(super) fn read(entry: &mut Fields<'_, '_, '_>) -> Option<SamplingLimits> {
    let node = entry.node("sampling")?;
    let limits = match &node.value {
        Value::Flag(allowed) => allowed.then(SamplingLimits::default),
        Value::Table(_) => entry.within("sampling", limits),
        other => {
            let problem = format!("has {} where `sampling` must be true or a table", other.kind());
            entry.wrong(node.at, &problem, LIKE);
            None
        }
    };
    if limits.is_some() && entry.report().file().scope == Scope::Project {
        let hint = "say it in your own config, if this server may ask your model";
        entry.warn("sampling", "does not count in a project's file", hint);
        return None;
    }
    limits
}

fn limits(fields: &mut Fields<'_, '_, '_>) -> SamplingLimits {
    let usual = SamplingLimits::default();
    let most = |fields: &mut Fields<'_, '_, '_>, key, usual| amount(fields, key).unwrap_or(usual);
    SamplingLimits {
        requests_per_day: most(fields, "requests_per_day", usual.requests_per_day),
        tokens_per_day: amount(fields, "tokens_per_day").unwrap_or(usual.tokens_per_day),
        max_tokens: amount(fields, "max_tokens").unwrap_or(usual.max_tokens),
        concurrency: most(fields, "concurrency", usual.concurrency),
    }
}

/// A number of at least one: `sampling = false` is how nothing is allowed.
fn amount<T: TryFrom<i64>>(fields: &mut Fields<'_, '_, '_>, key: &'static str) -> Option<T> {
    let at = fields.node(key)?.at;
    let number = fields.integer(key)?;
    let amount = T::try_from(number).ok().filter(|_| number > 0);
    if amount.is_none() {
        let problem = format!("cannot have this `{key}`: it is out of range");
        fields.wrong(at, &problem, "give a number, at least 1");
    }
    amount
}

pub(super) fn write(limits: Option<&SamplingLimits>, writer: &mut Writer<'_>) {
    let Some(limits) = limits else { return };
    if writer.file().scope == Scope::Project {
        let why = "a project's file cannot let a server use your model";
        return writer.losses().add("sampling", why);
    }
    let usual = SamplingLimits::default();
    if *limits == usual {
        return writer.flag("sampling", true);
    }
    let SamplingLimits { requests_per_day, tokens_per_day, max_tokens, concurrency } = *limits;
    let whole = |number: u64| Data::Integer(i64::try_from(number).unwrap_or(i64::MAX));
    let fields = [
        ("requests_per_day", requests_per_day.into(), usual.requests_per_day.into()),
        ("tokens_per_day", tokens_per_day, usual.tokens_per_day),
        ("max_tokens", max_tokens, usual.max_tokens),
        ("concurrency", concurrency.into(), usual.concurrency.into()),
    ];
    writer.within("sampling", |inner| {
        for (key, said, usual) in fields {
            if said != usual {
                inner.data(key, whole(said));
            }
        }
    });
}
