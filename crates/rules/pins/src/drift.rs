//! Describes what changed in a definition, so that a person can decide whether to approve it.
//!
//! Two definitions with different digests always yield at least one difference. For a schema, a
//! difference says whether the schema accepts more or less than before; where this cannot be
//! determined, it says only that the schema changed.

mod display;
mod schema;

use toolgate_model::{CapabilityKind, DiagnosticSeverity};
use toolgate_wire::canonical::JsonString;

use crate::canonical_json::{CanonicalJson, NOTHING};
use display::{display_json, quote_name};

/// One difference between an approved definition and the current one.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct DefinitionDifference {
    /// The kind of difference, as a stable code.
    pub code: &'static str,
    /// The location in the definition, as a JSON pointer.
    pub pointer: String,
    /// Error for text that models follow and for hints that make a tool look safer, warning for
    /// changes that make a tool accept more, note for the rest.
    pub severity: DiagnosticSeverity,
    /// A one-line description. Invisible characters are escaped.
    pub text: String,
    /// The old value with invisible characters escaped, or none if there was no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The new value with invisible characters escaped, or none if there is no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// How the set of values that a schema accepts relates to the set it accepted before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaRelation {
    /// It accepts the same values.
    Same,
    /// It accepts at least the values it accepted before.
    Widened,
    /// It accepts at most the values it accepted before.
    Narrowed,
    /// The relation cannot be determined.
    Changed,
}

/// Returns every difference between two definitions of the same capability. The list is empty if
/// both have the same digest.
pub fn compare_definitions(
    kind: CapabilityKind,
    before: &[u8],
    now: &[u8],
) -> Vec<DefinitionDifference> {
    if crate::definition_digest(kind, before) == crate::definition_digest(kind, now) {
        return Vec::new();
    }
    let mut drift = DifferenceCollector::default();
    match (CanonicalJson::read(before), CanonicalJson::read(now)) {
        (Some(before @ CanonicalJson::Object(_)), Some(now @ CanonicalJson::Object(_))) => {
            drift.compare_members(&before, &now)
        }
        _ => {
            let text = "the old or the new definition is not unambiguous JSON".to_owned();
            drift.add("unreadable", DiagnosticSeverity::Error, "", text, ValueChange::default());
        }
    }
    drift.changes
}

/// The maximum number of reported differences, and the code of the one after them.
const MAX_DIFFERENCES: usize = 1_000;
const MORE: &str = "more-changed";
/// The maximum number of compared members. A small hostile schema can cause many comparisons.
const MAX_COMPARED_MEMBERS: usize = 200_000;

/// Returns the difference between the old and the new instructions of a server, if any.
pub fn compare_instructions(before: &str, now: &str) -> Option<DefinitionDifference> {
    (before != now).then(|| DefinitionDifference {
        code: "instructions-changed",
        pointer: String::new(),
        severity: DiagnosticSeverity::Error,
        text: format!("the instructions were {}", change_verb(!before.is_empty(), !now.is_empty())),
        before: (!before.is_empty()).then(|| toolgate_model::escape_invisible_lines(before)),
        after: (!now.is_empty()).then(|| toolgate_model::escape_invisible_lines(now)),
    })
}

/// Collects differences, up to [`MAX_DIFFERENCES`], and counts the compared members.
#[derive(Default)]
pub(crate) struct DifferenceCollector {
    changes: Vec<DefinitionDifference>,
    compared_members: usize,
}

/// The old and the new value of a member.
#[derive(Clone, Copy, Default)]
pub(crate) struct ValueChange<'a> {
    pub(crate) was: Option<&'a CanonicalJson>,
    pub(crate) is: Option<&'a CanonicalJson>,
}

impl<'a> ValueChange<'a> {
    /// Returns the values of a member of two objects.
    fn of(key: &str, before: &'a CanonicalJson, now: &'a CanonicalJson) -> Self {
        Self { was: before.get(key), is: now.get(key) }
    }

    fn is_none(self) -> bool {
        self.was == self.is
    }

    /// Returns both values, with a default for one that is missing.
    fn or(self, default: &'a CanonicalJson) -> (&'a CanonicalJson, &'a CanonicalJson) {
        (self.was.unwrap_or(default), self.is.unwrap_or(default))
    }

    /// Returns "added", "removed" or "changed".
    fn verb(self) -> &'static str {
        change_verb(self.was.is_some(), self.is.is_some())
    }
}

impl DifferenceCollector {
    /// Adds a difference. The last one says that there are more.
    pub(crate) fn add(
        &mut self,
        code: &'static str,
        severity: DiagnosticSeverity,
        pointer: &str,
        text: String,
        values: ValueChange<'_>,
    ) {
        let is_listed = self.changes.len() < MAX_DIFFERENCES;
        if is_listed || code == MORE {
            let pointer = toolgate_model::escape_invisible_lines(pointer);
            let (before, after) = (values.was.map(display_json), values.is.map(display_json));
            let found = DefinitionDifference { code, pointer, severity, text, before, after };
            self.changes.push(found);
        } else if self.changes.len() == MAX_DIFFERENCES {
            let text = "there are more differences than are listed".to_owned();
            self.add(MORE, DiagnosticSeverity::Warning, "", text, ValueChange::default());
        }
    }

    /// Counts the members that are about to be compared. Returns false if the limit is exceeded.
    pub(crate) fn has_budget_for(&mut self, members: usize) -> bool {
        self.compared_members = self.compared_members.saturating_add(members + 1);
        self.compared_members <= MAX_COMPARED_MEMBERS
    }

    fn compare_members(&mut self, before: &CanonicalJson, now: &CanonicalJson) {
        for (key, values) in pairs(before, now).into_iter().filter(|(_, values)| !values.is_none())
        {
            let pointer = child_pointer("", key);
            match key.to_string_lossy().as_str() {
                "inputSchema" => {
                    schema::compare(self, schema::SchemaDirection::Input, pointer, values)
                }
                "outputSchema" => {
                    schema::compare(self, schema::SchemaDirection::Output, pointer, values)
                }
                "annotations" => self.annotations(pointer, values),
                member => self.member(member, pointer, values),
            }
        }
    }

    fn member(&mut self, member: &str, pointer: String, values: ValueChange<'_>) {
        let (code, severity) = match member {
            "description" => ("description-changed", DiagnosticSeverity::Error),
            "title" => ("title-changed", DiagnosticSeverity::Error),
            "name" | "uri" | "uriTemplate" => ("name-changed", DiagnosticSeverity::Error),
            "arguments" => ("arguments-changed", DiagnosticSeverity::Error),
            "icons" => ("icons-changed", DiagnosticSeverity::Note),
            "_meta" => ("meta-changed", DiagnosticSeverity::Warning),
            _ => ("other-changed", DiagnosticSeverity::Warning),
        };
        let text = format!("{} was {}", quote_name(member), values.verb());
        self.add(code, severity, &pointer, text, values);
    }

    fn annotations(&mut self, pointer: String, values: ValueChange<'_>) {
        let (before, now) = values.or(&NOTHING);
        let objects = matches!((before, now), (CanonicalJson::Object(_), CanonicalJson::Object(_)));
        // Equal if one side has no annotations and the other an empty object: they mean the same.
        if !objects || before == now {
            return self.member("annotations", pointer, values);
        }
        for (key, values) in pairs(before, now).into_iter().filter(|(_, values)| !values.is_none())
        {
            let name = key.to_string_lossy();
            let severity = match safer(&name, values.is) {
                true => DiagnosticSeverity::Error,
                false => DiagnosticSeverity::Warning,
            };
            let (from, to) = (describe_value(values.was), describe_value(values.is));
            let text = format!("annotation {} changed from {from} to {to}", quote_name(&name));
            let pointer = child_pointer(&pointer, key);
            self.add("annotation-changed", severity, &pointer, text, values);
        }
    }
}

/// Returns true if the hint is free text or makes the tool look safer than the hint's default.
fn safer(name: &str, is: Option<&CanonicalJson>) -> bool {
    match name {
        "readOnlyHint" | "idempotentHint" => is == Some(&CanonicalJson::Flag(true)),
        "destructiveHint" | "openWorldHint" => is == Some(&CanonicalJson::Flag(false)),
        _ => matches!(is, Some(CanonicalJson::Text(_))),
    }
}

fn describe_value(value: Option<&CanonicalJson>) -> String {
    match value {
        None => "nothing".to_owned(),
        Some(value @ (CanonicalJson::Flag(_) | CanonicalJson::Number(_) | CanonicalJson::Null)) => {
            display_json(value)
        }
        Some(_) => "something else".to_owned(),
    }
}

/// Returns "added", "removed" or "changed", given whether a value existed before and exists now.
pub(crate) fn change_verb(before: bool, now: bool) -> &'static str {
    match (before, now) {
        (false, _) => "added",
        (_, false) => "removed",
        _ => "changed",
    }
}

/// Pairs the members of two objects by key, in the order of the keys.
pub(crate) fn pairs<'a>(
    before: &'a CanonicalJson,
    now: &'a CanonicalJson,
) -> Vec<(&'a JsonString, ValueChange<'a>)> {
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
            let (was, is) = (was.map(|(_, value)| value), is.map(|(_, value)| value));
            all.push((key, ValueChange { was, is }));
        }
    }
}

/// Appends a key to a JSON pointer.
pub(crate) fn child_pointer(pointer: &str, key: &JsonString) -> String {
    format!("{pointer}/{}", key.to_string_lossy().replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests;
