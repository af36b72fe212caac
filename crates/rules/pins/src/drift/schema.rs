//! Finds what changed in a schema and whether the schema now accepts more or less.
//!
//! Guarantee, tested with instances: if every change is *widened*, the new schema accepts
//! everything that the old one accepted; if every change is *narrowed*, the reverse holds. Only
//! keywords whose effects add up are compared in detail (`properties`, `items`, `allOf`, …).
//! Keywords whose effect depends on others (`oneOf`, `if`, references, unevaluated properties and
//! items) are *changed*. References are not followed; their targets are compared in place.

mod keywords;
mod objects;

use toolgate_model::DiagnosticSeverity;
use toolgate_wire::canonical::JsonString;

use super::display::quote_short_value;
use super::{DifferenceCollector, SchemaRelation, ValueChange, child_pointer, pairs};
use crate::canonical_json::{CanonicalJson, OPEN};

/// One of the two schemas of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SchemaDirection {
    /// The input schema.
    Input,
    /// The output schema.
    Output,
}

/// Keywords that depend on what other keywords evaluated. With one of them, no change can be
/// classified.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Reports every difference between two schemas of a tool.
pub(crate) fn compare(
    drift: &mut DifferenceCollector,
    side: SchemaDirection,
    pointer: String,
    values: ValueChange<'_>,
) {
    let (before, now) = values.or(&OPEN);
    let undecided = [before, now].into_iter().any(|schema| mentions(schema, &UNEVALUATED));
    let mut within = SchemaComparer { drift, side, undecided, flipped: false };
    if values.was.is_none() || values.is.is_none() {
        // A tool without an input schema is unusable; it does not accept everything.
        let text = format!("the {} schema was {}", side.as_str(), values.verb());
        return within.report(pointer, SchemaRelation::Changed, text, values);
    }
    within.schema(&pointer, before, now);
}

/// Returns true if any of these keys occurs anywhere in the value.
fn mentions(value: &CanonicalJson, keys: &[&str]) -> bool {
    let key_is = |key: &JsonString| keys.iter().any(|wanted| *key == **wanted);
    value.members().iter().any(|(key, inner)| key_is(key) || mentions(inner, keys))
        || value.elements().iter().any(|inner| mentions(inner, keys))
}

impl SchemaDirection {
    fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }

    fn code(self, relation: SchemaRelation) -> &'static str {
        match (self, relation) {
            (Self::Input, SchemaRelation::Widened) => "input-widened",
            (Self::Input, SchemaRelation::Narrowed) => "input-narrowed",
            (Self::Input, SchemaRelation::Changed) => "input-changed",
            (Self::Input, SchemaRelation::Same) => "input-reworded",
            (Self::Output, SchemaRelation::Widened) => "output-widened",
            (Self::Output, SchemaRelation::Narrowed) => "output-narrowed",
            (Self::Output, SchemaRelation::Changed) => "output-changed",
            (Self::Output, SchemaRelation::Same) => "output-reworded",
        }
    }
}

impl SchemaRelation {
    /// Swaps widened and narrowed.
    fn flipped(self) -> Self {
        match self {
            Self::Widened => Self::Narrowed,
            Self::Narrowed => Self::Widened,
            same => same,
        }
    }

    /// Combines the relations of two changes.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Same, other) => other,
            (one, Self::Same) => one,
            (one, other) if one == other => one,
            _ => Self::Changed,
        }
    }

    /// Returns the relation for a restriction that was added, removed or changed.
    fn restriction(values: ValueChange<'_>) -> Self {
        match (values.was, values.is) {
            (None, Some(_)) => Self::Narrowed,
            (Some(_), None) => Self::Widened,
            _ => Self::Changed,
        }
    }
}

/// The state of one comparison of two schemas.
pub(crate) struct SchemaComparer<'d> {
    drift: &'d mut DifferenceCollector,
    side: SchemaDirection,
    /// True if no change can be classified as widened or narrowed.
    undecided: bool,
    /// True inside a `not`, where widening the inner schema narrows the outer one.
    flipped: bool,
}

impl SchemaComparer<'_> {
    pub(crate) fn report(
        &mut self,
        pointer: String,
        relation: SchemaRelation,
        text: String,
        values: ValueChange<'_>,
    ) {
        let relation = match relation {
            _ if self.undecided => SchemaRelation::Changed,
            other if self.flipped => other.flipped(),
            other => other,
        };
        let severity = match relation {
            SchemaRelation::Widened | SchemaRelation::Changed => DiagnosticSeverity::Warning,
            SchemaRelation::Narrowed | SchemaRelation::Same => DiagnosticSeverity::Note,
        };
        let code = self.side.code(relation);
        self.drift.add(code, severity, &pointer, text, values);
    }

    /// Reports a changed annotation. It does not affect validation, but models read it.
    pub(crate) fn reword(&mut self, pointer: String, text: String, values: ValueChange<'_>) {
        let (code, severity) = (self.side.code(SchemaRelation::Same), DiagnosticSeverity::Error);
        self.drift.add(code, severity, &pointer, text, values);
    }

    /// Compares two schemas and reports how they differ.
    pub(crate) fn schema(&mut self, pointer: &str, before: &CanonicalJson, now: &CanonicalJson) {
        // Check the budget first: testing for equality reads both schemas completely.
        if !self.drift.has_budget_for(before.members().len() + now.members().len()) {
            let text = "the schemas are too large to compare completely".to_owned();
            let values = ValueChange::default();
            return self.report(pointer.to_owned(), SchemaRelation::Changed, text, values);
        }
        if before == now {
            return;
        }
        match (before, now) {
            (CanonicalJson::Object(_), CanonicalJson::Object(_)) => {
                self.keywords(pointer, before, now)
            }
            _ => {
                let text = format!(
                    "the schema changed from {} to {}",
                    quote_short_value(before),
                    quote_short_value(now)
                );
                let relation = boolean_schema_relation(before, now);
                let values = ValueChange { was: Some(before), is: Some(now) };
                self.report(pointer.to_owned(), relation, text, values);
            }
        }
    }

    /// Returns the relation between two schemas without reporting differences.
    fn relation(&mut self, before: &CanonicalJson, now: &CanonicalJson) -> SchemaRelation {
        let mut aside = DifferenceCollector {
            compared_members: self.drift.compared_members,
            ..DifferenceCollector::default()
        };
        let side = self.side;
        let mut within =
            SchemaComparer { drift: &mut aside, side, undecided: false, flipped: false };
        within.schema("", before, now);
        self.drift.compared_members = aside.compared_members;
        let of = |code: &str| match code.rsplit('-').next() {
            Some("widened") => SchemaRelation::Widened,
            Some("narrowed") => SchemaRelation::Narrowed,
            Some("reworded") => SchemaRelation::Same,
            _ => SchemaRelation::Changed,
        };
        aside
            .changes
            .iter()
            .map(|change| of(change.code))
            .fold(SchemaRelation::Same, SchemaRelation::and)
    }

    fn keywords(&mut self, pointer: &str, before: &CanonicalJson, now: &CanonicalJson) {
        self.objects(pointer, before, now);
        for (key, values) in pairs(before, now) {
            if !values.is_none() && !objects::OBJECT_KEYWORDS.iter().any(|own| *key == **own) {
                let at = child_pointer(pointer, key);
                self.keyword(&key.to_string_lossy(), at, values, (before, now));
            }
        }
    }
}

/// Returns the relation between two schemas, at least one of which is not an object.
fn boolean_schema_relation(before: &CanonicalJson, now: &CanonicalJson) -> SchemaRelation {
    let is_open = |schema: &CanonicalJson| match schema {
        CanonicalJson::Flag(open) => Some(*open),
        CanonicalJson::Object(members) if members.is_empty() => Some(true),
        _ => None,
    };
    let is_schema = |schema: &CanonicalJson| {
        matches!(schema, CanonicalJson::Flag(_) | CanonicalJson::Object(_))
    };
    if !is_schema(before) || !is_schema(now) {
        return SchemaRelation::Changed;
    }
    match (is_open(before), is_open(now)) {
        (one, other) if one.is_some() && one == other => SchemaRelation::Same,
        (Some(false), _) | (_, Some(true)) => SchemaRelation::Widened,
        (Some(true), _) | (_, Some(false)) => SchemaRelation::Narrowed,
        _ => SchemaRelation::Changed,
    }
}
