//! Compares single schema keywords: whether a change widens or narrows what the schema accepts.

use std::cmp::Ordering;
use std::collections::HashSet;

use toolgate_wire::canonical::{JsonNumber, JsonString};

use super::super::display::{quote_name, quote_short_value};
use super::super::{SchemaRelation, child_pointer, pairs};
use super::{SchemaComparer, ValueChange};
use crate::canonical_json::CanonicalJson;

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
        (was, is): ValueChange<'_>,
        (before, now): (&CanonicalJson, &CanonicalJson),
    ) {
        let text = sentence(key, was, is);
        let present = (was.is_some(), is.is_some());
        let relation = match key {
            _ if LOWER.contains(&key) => bound(was, is, SchemaRelation::Narrowed),
            _ if UPPER.contains(&key) => bound(was, is, SchemaRelation::Widened),
            _ if RESTRICTING.contains(&key) => SchemaRelation::restriction(present.0, present.1),
            _ if WORDS.contains(&key) => return self.reword(at, text, (was, is)),
            _ if SCHEMA.contains(&key) && is_schema(was) && is_schema(is) => {
                return self.compare_subschema(at, was, is);
            }
            _ if SCHEMAS_BY_NAME.contains(&key) => return self.by_name(key, at, (was, is)),
            "type" => types(was, is),
            "enum" => return self.members_of_enum(at, was, is),
            "uniqueItems" => unique(was, is),
            "allOf" | "anyOf" | "prefixItems" => return self.listed(key, at, (was, is)),
            "contains" => return self.contains(at, (was, is), (before, now)),
            "not" => return self.not(at, was, is),
            _ => SchemaRelation::Changed,
        };
        self.report(at, relation, text, (was, is));
    }

    fn compare_subschema(
        &mut self,
        at: String,
        was: Option<&CanonicalJson>,
        is: Option<&CanonicalJson>,
    ) {
        if let (Some(was), Some(is)) = (was, is) {
            return self.schema(&at, was, is);
        }
        let relation = SchemaRelation::restriction(was.is_some(), is.is_some());
        let text = sentence(at.rsplit('/').next().unwrap_or_default(), was, is);
        self.report(at, relation, text, (was, is));
    }

    /// Compares a map of schemas. An added or removed pattern counts as changed, because it also
    /// changes which properties `additionalProperties` applies to.
    fn by_name(&mut self, key: &str, at: String, (was, is): ValueChange<'_>) {
        let nothing = CanonicalJson::Object(Vec::new());
        let both = (was.unwrap_or(&nothing), is.unwrap_or(&nothing));
        let maps = matches!(both, (CanonicalJson::Object(_), CanonicalJson::Object(_)));
        if !maps || both.0 == both.1 {
            let text = sentence(key, was, is);
            return self.report(at, SchemaRelation::Changed, text, (was, is));
        }
        for (name, was, is) in pairs(both.0, both.1) {
            match (was, is) {
                (Some(was), Some(is)) => self.schema(&child_pointer(&at, name), was, is),
                _ if key == "dependentSchemas" => self.inner(&at, name, was, is),
                _ => {
                    let text = sentence(&name.to_string_lossy(), was, is);
                    self.report(child_pointer(&at, name), SchemaRelation::Changed, text, (was, is));
                }
            }
        }
    }

    fn members_of_enum(
        &mut self,
        at: String,
        was: Option<&CanonicalJson>,
        is: Option<&CanonicalJson>,
    ) {
        let (Some(CanonicalJson::List(old)), Some(CanonicalJson::List(new))) = (was, is) else {
            let lists =
                |it: Option<&CanonicalJson>| matches!(it, None | Some(CanonicalJson::List(_)));
            let relation = match lists(was) && lists(is) {
                true => SchemaRelation::restriction(was.is_some(), is.is_some()),
                false => SchemaRelation::Changed,
            };
            return self.report(at, relation, sentence("enum", was, is), (was, is));
        };
        let (had, has): (HashSet<_>, HashSet<_>) = (old.iter().collect(), new.iter().collect());
        let mut reported = false;
        for one in new.iter().filter(|one| !had.contains(one)) {
            reported = true;
            let text = format!("the choice {} was added", quote_short_value(one));
            self.report(at.clone(), SchemaRelation::Widened, text, (None, Some(one)));
        }
        for one in old.iter().filter(|one| !has.contains(one)) {
            reported = true;
            let text = format!("the choice {} was removed", quote_short_value(one));
            self.report(at.clone(), SchemaRelation::Narrowed, text, (Some(one), None));
        }
        if !reported {
            let text = "the order of the choices changed".to_owned();
            self.report(at, SchemaRelation::Same, text, (was, is));
        }
    }

    fn listed(&mut self, key: &str, at: String, (was, is): ValueChange<'_>) {
        let relation = match (was, is) {
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
                SchemaRelation::restriction(was.is_some(), is.is_some())
            }
            _ => SchemaRelation::Changed,
        };
        self.report(at, relation, sentence(key, was, is), (was, is));
    }

    /// Compares `contains`. With `minContains` or `maxContains`, a wider subschema can narrow the
    /// whole schema, so the change counts as undetermined.
    fn contains(
        &mut self,
        at: String,
        (was, is): ValueChange<'_>,
        (before, now): (&CanonicalJson, &CanonicalJson),
    ) {
        let bounded = |schema: &CanonicalJson| {
            ["minContains", "maxContains"].iter().any(|key| schema.get(key).is_some())
        };
        match bounded(before) || bounded(now) {
            true => {
                self.report(at, SchemaRelation::Changed, sentence("contains", was, is), (was, is));
            }
            false => self.compare_subschema(at, was, is),
        }
    }

    fn not(&mut self, at: String, was: Option<&CanonicalJson>, is: Option<&CanonicalJson>) {
        let (Some(was), Some(is)) = (was, is) else {
            let relation = SchemaRelation::restriction(was.is_some(), is.is_some());
            return self.report(at, relation, sentence("not", was, is), (was, is));
        };
        self.flipped = !self.flipped;
        self.schema(&at, was, is);
        self.flipped = !self.flipped;
    }
}

fn sentence(key: &str, was: Option<&CanonicalJson>, is: Option<&CanonicalJson>) -> String {
    let key = quote_name(key);
    match (was, is) {
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
fn bound(
    was: Option<&CanonicalJson>,
    is: Option<&CanonicalJson>,
    raised: SchemaRelation,
) -> SchemaRelation {
    let number = |it: Option<&CanonicalJson>| match it {
        Some(CanonicalJson::Number(number)) => Some(Some(number.clone())),
        None => Some(None),
        _ => None,
    };
    let compared = |was: &JsonNumber, is: &JsonNumber| match was.compare(is) {
        Some(Ordering::Less) => raised,
        Some(Ordering::Greater) => raised.flipped(),
        Some(Ordering::Equal) => SchemaRelation::Same,
        None => SchemaRelation::Changed,
    };
    match (number(was), number(is)) {
        (Some(Some(was)), Some(Some(is))) => compared(&was, &is),
        (Some(None), Some(Some(_))) => SchemaRelation::Narrowed,
        (Some(Some(_)), Some(None)) => SchemaRelation::Widened,
        _ => SchemaRelation::Changed,
    }
}

fn unique(was: Option<&CanonicalJson>, is: Option<&CanonicalJson>) -> SchemaRelation {
    let flag = |it: Option<&CanonicalJson>| match it {
        None => Some(false),
        Some(CanonicalJson::Flag(flag)) => Some(*flag),
        Some(_) => None,
    };
    match (flag(was), flag(is)) {
        (Some(false), Some(true)) => SchemaRelation::Narrowed,
        (Some(true), Some(false)) => SchemaRelation::Widened,
        (Some(_), Some(_)) => SchemaRelation::Same,
        _ => SchemaRelation::Changed,
    }
}

/// Compares `type` as sets of types; `integer` is a subset of `number`.
fn types(was: Option<&CanonicalJson>, is: Option<&CanonicalJson>) -> SchemaRelation {
    let (Some(old), Some(new)) = (type_set(was), type_set(is)) else {
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
