//! What changed in a definition, in words somebody can decide on.
//!
//! Two definitions of different digests always differ in something that is told. Of a schema it is
//! said whether it takes more or less than before, where that can be known; where it cannot, it is
//! said that it changed, and nothing else.

mod schema;
mod words;

use toolgate_model::{CapabilityKind, Severity};
use toolgate_wire::canonical::Text;

use crate::tree::Json;
use words::{shown, word};

/// One difference between a definition that was approved and the one that is there now.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Change {
    /// What kind of difference it is: a stable word.
    pub code: &'static str,
    /// Where in the definition, as a JSON pointer.
    pub pointer: String,
    /// How much it matters: an error is what a model obeys or what makes a tool look safer, a
    /// warning what makes it take more, a note the rest.
    pub severity: Severity,
    /// What happened, on one line and with nothing invisible in it.
    pub text: String,
    /// What stood there, made visible; none if nothing did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// What stands there now, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// What can be said about what a schema takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Relation {
    /// The same as before.
    Same,
    /// At least what it took before.
    Widened,
    /// At most what it took before.
    Narrowed,
    /// Nobody can say.
    Changed,
}

/// Every difference between two definitions of the same capability; none if they have the same
/// digest.
pub fn drift(kind: CapabilityKind, before: &[u8], now: &[u8]) -> Vec<Change> {
    if crate::digest(kind, before) == crate::digest(kind, now) {
        return Vec::new();
    }
    let mut drift = Drift::default();
    match (Json::read(before), Json::read(now)) {
        (Some(before @ Json::Object(_)), Some(now @ Json::Object(_))) => drift.whole(&before, &now),
        _ => drift.add(Found {
            code: "unreadable",
            pointer: String::new(),
            severity: Severity::Error,
            text: "the definition is, or was, one that different readers take differently".into(),
            values: (None, None),
        }),
    }
    drift.changes
}

/// Changes that are told; who changes more changes everything.
const MOST: usize = 1_000;
/// Members that are looked at side by side before a comparison is given up: a stranger's schema can
/// make much work of little.
const LOOKS: usize = 200_000;

/// The difference between what a server wanted models to know and what it wants now, if any.
pub fn instructions_drift(before: &str, now: &str) -> Option<Change> {
    (before != now).then(|| Change {
        code: "instructions-changed",
        pointer: String::new(),
        severity: Severity::Error,
        text: format!("the instructions were {}", changed(!before.is_empty(), !now.is_empty())),
        before: (!before.is_empty()).then(|| words::visible(before)),
        after: (!now.is_empty()).then(|| words::visible(now)),
    })
}

/// Gathers changes.
#[derive(Default)]
pub(crate) struct Drift {
    changes: Vec<Change>,
    looks: usize,
}

/// A change, before its values are made visible.
pub(crate) struct Found<'a> {
    pub(crate) code: &'static str,
    pub(crate) pointer: String,
    pub(crate) severity: Severity,
    pub(crate) text: String,
    pub(crate) values: (Option<&'a Json>, Option<&'a Json>),
}

impl Drift {
    pub(crate) fn add(&mut self, found: Found<'_>) {
        let (before, after) = match self.changes.len() {
            MOST => return self.add_more(),
            told if told > MOST => return,
            _ => found.values,
        };
        self.changes.push(Change {
            code: found.code,
            pointer: words::visible(&found.pointer),
            severity: found.severity,
            text: found.text,
            before: before.map(shown),
            after: after.map(shown),
        });
    }

    fn add_more(&mut self) {
        self.changes.push(Change {
            code: "more-changed",
            pointer: String::new(),
            severity: Severity::Warning,
            text: "there are more differences than are told".to_owned(),
            before: None,
            after: None,
        });
    }

    /// Counts what is about to be looked at; `false` if it would be too much.
    pub(crate) fn affords(&mut self, members: usize) -> bool {
        self.looks = self.looks.saturating_add(members + 1);
        self.looks <= LOOKS
    }

    fn whole(&mut self, before: &Json, now: &Json) {
        for (key, was, is) in pairs(before, now) {
            if was == is {
                continue;
            }
            let pointer = step("", key);
            match key.lossy().as_str() {
                "inputSchema" => schema::compare(self, schema::Side::Input, &pointer, was, is),
                "outputSchema" => schema::compare(self, schema::Side::Output, &pointer, was, is),
                "annotations" => self.annotations(&pointer, was, is),
                member => self.member(member, pointer, was, is),
            }
        }
    }

    fn member(&mut self, member: &str, pointer: String, was: Option<&Json>, is: Option<&Json>) {
        let (code, severity) = match member {
            "description" => ("description-changed", Severity::Error),
            "title" => ("title-changed", Severity::Error),
            "name" | "uri" | "uriTemplate" => ("name-changed", Severity::Error),
            "arguments" => ("arguments-changed", Severity::Error),
            "icons" => ("icons-changed", Severity::Note),
            "_meta" => ("meta-changed", Severity::Warning),
            _ => ("other-changed", Severity::Warning),
        };
        let text = format!("{} was {}", word(member), changed(was.is_some(), is.is_some()));
        self.add(Found { code, pointer, severity, text, values: (was, is) });
    }

    fn annotations(&mut self, pointer: &str, was: Option<&Json>, is: Option<&Json>) {
        let nothing = Json::Object(Vec::new());
        let both = (was.unwrap_or(&nothing), is.unwrap_or(&nothing));
        let (Json::Object(_), Json::Object(_)) = both else {
            return self.member("annotations", pointer.to_owned(), was, is);
        };
        if both.0 == both.1 {
            // One side has none, the other has empty ones: different words for the same.
            return self.member("annotations", pointer.to_owned(), was, is);
        }
        for (key, was, is) in pairs(both.0, both.1) {
            if was == is {
                continue;
            }
            let name = key.lossy();
            let severity = match safer(&name, is) {
                true => Severity::Error,
                false => Severity::Warning,
            };
            let (from, to) = (said(was), said(is));
            let text = format!("annotation {} went from {from} to {to}", word(&name));
            let pointer = step(pointer, key);
            let code = "annotation-changed";
            self.add(Found { code, pointer, severity, text, values: (was, is) });
        }
    }
}

/// Whether a hint as it is now makes a tool look safer than the hint's default does, or is words.
fn safer(name: &str, is: Option<&Json>) -> bool {
    match name {
        "readOnlyHint" | "idempotentHint" => is == Some(&Json::Flag(true)),
        "destructiveHint" | "openWorldHint" => is == Some(&Json::Flag(false)),
        _ => matches!(is, Some(Json::Text(_))),
    }
}

fn said(value: Option<&Json>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(value @ (Json::Flag(_) | Json::Number(_) | Json::Null)) => shown(value),
        Some(_) => "something else".to_owned(),
    }
}

/// What happened to something that is there or not.
pub(crate) fn changed(before: bool, now: bool) -> &'static str {
    match (before, now) {
        (false, _) => "added",
        (_, false) => "removed",
        _ => "changed",
    }
}

/// The members of two objects side by side, in the order of their keys.
pub(crate) fn pairs<'a>(
    before: &'a Json,
    now: &'a Json,
) -> Vec<(&'a Text, Option<&'a Json>, Option<&'a Json>)> {
    let (mut one, mut two) = (before.members().iter().peekable(), now.members().iter().peekable());
    let mut all = Vec::new();
    loop {
        let order = match (one.peek(), two.peek()) {
            (None, None) => return all,
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (Some((was, _)), Some((is, _))) => was.cmp(is),
        };
        let was = if order.is_le() { one.next() } else { None };
        let is = if order.is_ge() { two.next() } else { None };
        if let Some((key, _)) = was.or(is) {
            all.push((key, was.map(|(_, value)| value), is.map(|(_, value)| value)));
        }
    }
}

/// A JSON pointer, one step further.
pub(crate) fn step(pointer: &str, key: &Text) -> String {
    format!("{pointer}/{}", key.lossy().replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
