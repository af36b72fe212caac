//! Compares the object keywords that depend on each other: `additionalProperties` applies to every
//! property that `properties` does not name.

use toolgate_wire::canonical::JsonString;

use super::super::display::{quote_name, quote_short_value};
use super::super::{SchemaRelation, ValueChange, child_pointer, pairs};
use super::{SchemaComparer, boolean_schema_relation};
use crate::canonical_json::{CanonicalJson, NOTHING, OPEN};

/// The keywords that this module compares.
pub(super) const OBJECT_KEYWORDS: [&str; 3] = ["properties", "additionalProperties", "required"];

impl SchemaComparer<'_> {
    /// Compares what two schemas say about the members of objects.
    pub(super) fn objects(&mut self, pointer: &str, before: &CanonicalJson, now: &CanonicalJson) {
        for key in OBJECT_KEYWORDS {
            let (at, values) = (format!("{pointer}/{key}"), ValueChange::of(key, before, now));
            match key {
                _ if values.is_none() => {}
                "properties" => self.properties(at, values, (before, now)),
                "required" => self.required(at, values),
                _ => self.additional(at, values),
            }
        }
    }

    fn properties(
        &mut self,
        at: String,
        values: ValueChange<'_>,
        (before, now): (&CanonicalJson, &CanonicalJson),
    ) {
        let (was, is) = values.or(&NOTHING);
        let (CanonicalJson::Object(_), CanonicalJson::Object(_)) = (was, is) else {
            let text = format!("`properties` was {}", values.verb());
            return self.report(at, SchemaRelation::Changed, text, values);
        };
        if was == is {
            let text = format!("an empty `properties` was {}", values.verb());
            return self.report(at, SchemaRelation::Same, text, values);
        }
        for (name, values) in pairs(was, is) {
            let at = child_pointer(&at, name);
            match (values.was, values.is) {
                (Some(was), Some(is)) => self.schema(&at, was, is),
                _ => self.property(at, name, values, (before, now)),
            }
        }
    }

    /// Compares a property that only one side names. `additionalProperties` of the other side
    /// applies to it.
    fn property(
        &mut self,
        at: String,
        name: &JsonString,
        values: ValueChange<'_>,
        (before, now): (&CanonicalJson, &CanonicalJson),
    ) {
        let by_pattern = |schema: &CanonicalJson| schema.get("patternProperties").is_some();
        let relation = match by_pattern(before) || by_pattern(now) {
            true => SchemaRelation::Changed,
            false => {
                let others = ValueChange::of("additionalProperties", before, now);
                let meant =
                    ValueChange { was: values.was.or(others.was), is: values.is.or(others.is) };
                self.effective_relation(meant)
            }
        };
        let name = quote_name(&name.to_string_lossy());
        let text = format!("property {name} was {}", values.verb());
        self.report(at, relation, text, values);
    }

    /// Returns the relation between two schemas; a missing one accepts everything.
    fn effective_relation(&mut self, values: ValueChange<'_>) -> SchemaRelation {
        match values.or(&OPEN) {
            (before @ CanonicalJson::Object(_), now @ CanonicalJson::Object(_)) => {
                self.relation(before, now)
            }
            (before, now) => boolean_schema_relation(before, now),
        }
    }

    fn additional(&mut self, at: String, values: ValueChange<'_>) {
        if let ValueChange {
            was: Some(was @ CanonicalJson::Object(_)),
            is: Some(is @ CanonicalJson::Object(_)),
        } = values
        {
            return self.schema(&at, was, is);
        }
        let relation = self.effective_relation(values);
        let text = match relation {
            SchemaRelation::Widened => "the schema accepts more properties that it does not name",
            SchemaRelation::Narrowed => "the schema accepts fewer properties that it does not name",
            _ => "the rule for properties that are not named changed",
        };
        self.report(at, relation, text.to_owned(), values);
    }

    fn required(&mut self, at: String, values: ValueChange<'_>) {
        let nothing = CanonicalJson::List(Vec::new());
        let (CanonicalJson::List(old), CanonicalJson::List(new)) = values.or(&nothing) else {
            let text = format!("`required` was {}", values.verb());
            return self.report(at, SchemaRelation::Changed, text, values);
        };
        let reported = self.elements(&at, old, new, SchemaRelation::Narrowed, |name, added| {
            let state = if added { "now" } else { "no longer" };
            format!("{} is {state} required", quote_short_value(name))
        });
        if !reported {
            let text = "`required` lists the same properties in another form".to_owned();
            self.report(at, SchemaRelation::Same, text, values);
        }
    }
}
