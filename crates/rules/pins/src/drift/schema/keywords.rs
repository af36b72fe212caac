//! Compares single schema keywords: whether a change widens or narrows what the schema accepts.

use std::cmp::Ordering;
use std::collections::HashSet;

use toolgate_wire::canonical::JsonString;

use super::super::display::{quote_name, quote_short_value};
use super::super::{SchemaRelation, ValueChange, child_pointer, pairs};
use super::SchemaComparer;
use crate::canonical_json::{CanonicalJson, NOTHING, OPEN};

/// Bounds that narrow the schema when raised.
const LOWER: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
/// Bounds that widen the schema when raised.
const UPPER: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Restrictions that are only compared by presence.
const RESTRICTING: [&str; 10] = [
    "pattern",
    "format",
    "const",
    "multipleOf",
    "oneOf",
    "dependentRequired",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependencies",
];
/// Annotations that do not affect validation.
const WORDS: [&str; 8] = [
    "title",
    "description",
    "default",
    "examples",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
];
/// Keywords whose value is a schema that widens the whole schema when it is widened.
const SCHEMA: [&str; 3] = ["propertyNames", "items", "additionalItems"];
/// Keywords whose value is a map of such schemas by name.
const SCHEMAS_BY_NAME: [&str; 2] = ["patternProperties", "dependentSchemas"];
/// All JSON types.
const TYPES: [&str; 6] = ["null", "boolean", "object", "array", "number", "string"];

impl SchemaComparer<'_> {
    /// Reports the difference in one keyword.
    pub(super) fn keyword(
        &mut self,
        key: &str,
        at: String,
        values: ValueChange<'_>,
        (before, now): (&CanonicalJson, &CanonicalJson),
    ) {
        let text = sentence(key, values);
        let relation = match key {
            _ if LOWER.contains(&key) => bound(values, SchemaRelation::Narrowed),
            _ if UPPER.contains(&key) => bound(values, SchemaRelation::Widened),
            _ if RESTRICTING.contains(&key) => SchemaRelation::restriction(values),
            _ if WORDS.contains(&key) => return self.reword(at, text, values),
            _ if SCHEMA.contains(&key) && is_schema(values.was) && is_schema(values.is) => {
                return self.compare_subschema(key, at, values);
            }
            _ if SCHEMAS_BY_NAME.contains(&key) => return self.by_name(key, at, values),
            "type" => types(values),
            "enum" => return self.choices(at, values),
            "uniqueItems" => unique(values),
            "allOf" | "anyOf" | "prefixItems" => return self.listed(key, at, values),
            // With these bounds, a wider subschema can narrow the whole schema.
            "contains" if is_contains_bounded(before) || is_contains_bounded(now) => {
                SchemaRelation::Changed
            }
            "contains" => return self.compare_subschema(key, at, values),
            "not" => {
                self.flipped = !self.flipped;
                let compared = self.try_compare(&at, values);
                self.flipped = !self.flipped;
                if compared {
                    return;
                }
                SchemaRelation::restriction(values)
            }
            _ => SchemaRelation::Changed,
        };
        self.report(at, relation, text, values);
    }

    fn compare_subschema(&mut self, key: &str, at: String, values: ValueChange<'_>) {
        if !self.try_compare(&at, values) {
            let text = sentence(key, values);
            self.report(at, SchemaRelation::restriction(values), text, values);
        }
    }

    /// Compares two schemas; returns false if one of them is missing.
    fn try_compare(&mut self, at: &str, values: ValueChange<'_>) -> bool {
        let (Some(was), Some(is)) = (values.was, values.is) else { return false };
        self.schema(at, was, is);
        true
    }

    /// Compares a map of schemas. An added or removed pattern counts as changed, because it also
    /// changes which properties `additionalProperties` applies to.
    fn by_name(&mut self, key: &str, at: String, values: ValueChange<'_>) {
        let (before, now) = values.or(&NOTHING);
        let maps = matches!((before, now), (CanonicalJson::Object(_), CanonicalJson::Object(_)));
        if !maps || before == now {
            return self.report(at, SchemaRelation::Changed, sentence(key, values), values);
        }
        for (name, values) in pairs(before, now) {
            let at = child_pointer(&at, name);
            if self.try_compare(&at, values) {
                continue;
            }
            let name = name.to_string_lossy();
            let (relation, text) = match key {
                "dependentSchemas" => {
                    let (before, now) = values.or(&OPEN);
                    let text = format!("{} was {}", quote_name(&name), values.verb());
                    (self.relation(before, now), text)
                }
                _ => (SchemaRelation::Changed, sentence(&name, values)),
            };
            self.report(at, relation, text, values);
        }
    }

    fn choices(&mut self, at: String, values: ValueChange<'_>) {
        let is_list =
            |it: Option<&CanonicalJson>| matches!(it, None | Some(CanonicalJson::List(_)));
        let relation = match (values.was, values.is) {
            (Some(CanonicalJson::List(old)), Some(CanonicalJson::List(new))) => {
                let reported =
                    self.elements(&at, old, new, SchemaRelation::Widened, |one, added| {
                        let verb = if added { "added" } else { "removed" };
                        format!("the choice {} was {verb}", quote_short_value(one))
                    });
                if !reported {
                    let text = "the order of the choices changed".to_owned();
                    self.report(at, SchemaRelation::Same, text, values);
                }
                return;
            }
            (was, is) if is_list(was) && is_list(is) => SchemaRelation::restriction(values),
            _ => SchemaRelation::Changed,
        };
        self.report(at, relation, sentence("enum", values), values);
    }

    /// Reports the elements that only one of two lists has; returns true if there are any. `added`
    /// is the relation if an element was added. `text` is told whether it was.
    pub(super) fn elements(
        &mut self,
        at: &str,
        old: &[CanonicalJson],
        new: &[CanonicalJson],
        added: SchemaRelation,
        text: impl Fn(&CanonicalJson, bool) -> String,
    ) -> bool {
        let (had, has): (HashSet<_>, HashSet<_>) = (old.iter().collect(), new.iter().collect());
        for one in new.iter().filter(|one| !had.contains(one)) {
            let values = ValueChange { was: None, is: Some(one) };
            self.report(at.to_owned(), added, text(one, true), values);
        }
        for one in old.iter().filter(|one| !has.contains(one)) {
            let values = ValueChange { was: Some(one), is: None };
            self.report(at.to_owned(), added.flipped(), text(one, false), values);
        }
        had != has
    }

    fn listed(&mut self, key: &str, at: String, values: ValueChange<'_>) {
        let relation = match (values.was, values.is) {
            (Some(CanonicalJson::List(old)), Some(CanonicalJson::List(new)))
                if old.len() == new.len() =>
            {
                for (index, (was, is)) in old.iter().zip(new).enumerate() {
                    self.schema(&format!("{at}/{index}"), was, is);
                }
                return;
            }
            (Some(CanonicalJson::List(old)), Some(CanonicalJson::List(new))) => {
                let (had, has): (HashSet<_>, HashSet<_>) =
                    (old.iter().collect(), new.iter().collect());
                let (more, less) = (had.is_subset(&has), has.is_subset(&had));
                match (key, more, less) {
                    ("allOf", true, _) | ("anyOf", _, true) => SchemaRelation::Narrowed,
                    ("allOf", _, true) | ("anyOf", true, _) => SchemaRelation::Widened,
                    _ => SchemaRelation::Changed,
                }
            }
            (None, Some(CanonicalJson::List(_))) | (Some(CanonicalJson::List(_)), None)
                if key != "prefixItems" =>
            {
                SchemaRelation::restriction(values)
            }
            _ => SchemaRelation::Changed,
        };
        self.report(at, relation, sentence(key, values), values);
    }
}

fn is_contains_bounded(schema: &CanonicalJson) -> bool {
    ["minContains", "maxContains"].iter().any(|key| schema.get(key).is_some())
}

fn sentence(key: &str, values: ValueChange<'_>) -> String {
    let key = quote_name(key);
    match (values.was, values.is) {
        (Some(was), Some(is)) => {
            format!("{key} changed from {} to {}", quote_short_value(was), quote_short_value(is))
        }
        (None, Some(is)) => format!("{key} was added: {}", quote_short_value(is)),
        (Some(was), None) => format!("{key} was removed: {}", quote_short_value(was)),
        (None, None) => key,
    }
}

fn is_schema(value: Option<&CanonicalJson>) -> bool {
    matches!(value, None | Some(CanonicalJson::Flag(_) | CanonicalJson::Object(_)))
}

/// Returns the relation for a numeric bound; `raised` is the relation if the bound was raised.
fn bound(values: ValueChange<'_>, raised: SchemaRelation) -> SchemaRelation {
    match (values.was, values.is) {
        (Some(CanonicalJson::Number(was)), Some(CanonicalJson::Number(is))) => {
            match was.compare(is) {
                Some(Ordering::Less) => raised,
                Some(Ordering::Greater) => raised.flipped(),
                Some(Ordering::Equal) => SchemaRelation::Same,
                None => SchemaRelation::Changed,
            }
        }
        (None, Some(CanonicalJson::Number(_))) | (Some(CanonicalJson::Number(_)), None) => {
            SchemaRelation::restriction(values)
        }
        _ => SchemaRelation::Changed,
    }
}

fn unique(values: ValueChange<'_>) -> SchemaRelation {
    match values.or(&CanonicalJson::Flag(false)) {
        (CanonicalJson::Flag(false), CanonicalJson::Flag(true)) => SchemaRelation::Narrowed,
        (CanonicalJson::Flag(true), CanonicalJson::Flag(false)) => SchemaRelation::Widened,
        (CanonicalJson::Flag(_), CanonicalJson::Flag(_)) => SchemaRelation::Same,
        _ => SchemaRelation::Changed,
    }
}

/// Compares `type` as sets of types; `integer` is a subset of `number`.
fn types(values: ValueChange<'_>) -> SchemaRelation {
    let (Some(old), Some(new)) = (type_set(values.was), type_set(values.is)) else {
        return SchemaRelation::Changed;
    };
    let within = |one: &[String], other: &[String]| {
        let fits =
            |it: &String| other.contains(it) || it == "integer" && other.contains(&"number".into());
        one.iter().all(fits)
    };
    match (within(&old, &new), within(&new, &old)) {
        (true, true) => SchemaRelation::Same,
        (true, false) => SchemaRelation::Widened,
        (false, true) => SchemaRelation::Narrowed,
        (false, false) => SchemaRelation::Changed,
    }
}

fn type_set(value: Option<&CanonicalJson>) -> Option<Vec<String>> {
    let known = |text: &JsonString| {
        let name = text.to_string_lossy();
        (name == "integer" || TYPES.contains(&name.as_str())).then_some(name)
    };
    match value {
        None => Some(TYPES.map(str::to_owned).to_vec()),
        Some(CanonicalJson::Text(one)) => Some(vec![known(one)?]),
        Some(CanonicalJson::List(all)) => all.iter().map(|one| known(one.text()?)).collect(),
        Some(_) => None,
    }
}
