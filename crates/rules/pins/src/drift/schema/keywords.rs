//! Single keywords of a schema: what a change of each means for what is taken.

use std::cmp::Ordering;
use std::collections::HashSet;

use toolgate_wire::canonical::{Number, Text};

use super::super::words::{brief, word};
use super::super::{Relation, pairs, step};
use super::{Values, Within};
use crate::tree::Json;

/// More of it takes less.
const LOWER: [&str; 5] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
/// More of it takes more.
const UPPER: [&str; 5] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];
/// Restrictions of which nothing is known but that they restrict.
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
/// Words for people and models that decide nothing.
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
/// Schemas that hold of a value or of what is below it, and take more if they take more.
const SCHEMA: [&str; 3] = ["propertyNames", "items", "additionalItems"];
/// The same, several by name.
const SCHEMAS_BY_NAME: [&str; 2] = ["patternProperties", "dependentSchemas"];
/// All types a value may have.
const TYPES: [&str; 6] = ["null", "boolean", "object", "array", "number", "string"];

impl Within<'_> {
    /// Compares one keyword that differs.
    pub(super) fn keyword(
        &mut self,
        key: &str,
        at: String,
        (was, is): Values<'_>,
        (before, now): (&Json, &Json),
    ) {
        let text = sentence(key, was, is);
        let present = (was.is_some(), is.is_some());
        let relation = match key {
            _ if LOWER.contains(&key) => bound(was, is, Relation::Narrowed),
            _ if UPPER.contains(&key) => bound(was, is, Relation::Widened),
            _ if RESTRICTING.contains(&key) => Relation::restriction(present.0, present.1),
            _ if WORDS.contains(&key) => return self.reword(at, text, (was, is)),
            _ if SCHEMA.contains(&key) && is_schema(was) && is_schema(is) => {
                return self.below(at, was, is);
            }
            _ if SCHEMAS_BY_NAME.contains(&key) => return self.by_name(key, at, (was, is)),
            "type" => types(was, is),
            "enum" => return self.members_of_enum(at, was, is),
            "uniqueItems" => unique(was, is),
            "allOf" | "anyOf" | "prefixItems" => return self.listed(key, at, (was, is)),
            "contains" => return self.contains(at, (was, is), (before, now)),
            "not" => return self.not(at, was, is),
            _ => Relation::Changed,
        };
        self.tell(at, relation, text, (was, is));
    }

    fn below(&mut self, at: String, was: Option<&Json>, is: Option<&Json>) {
        if let (Some(was), Some(is)) = (was, is) {
            return self.schema(&at, was, is);
        }
        let relation = Relation::restriction(was.is_some(), is.is_some());
        let text = sentence(at.rsplit('/').next().unwrap_or_default(), was, is);
        self.tell(at, relation, text, (was, is));
    }

    /// A pattern that comes or goes also moves what `additionalProperties` is about.
    fn by_name(&mut self, key: &str, at: String, (was, is): Values<'_>) {
        let nothing = Json::Object(Vec::new());
        let both = (was.unwrap_or(&nothing), is.unwrap_or(&nothing));
        let maps = matches!(both, (Json::Object(_), Json::Object(_)));
        if !maps || both.0 == both.1 {
            let text = sentence(key, was, is);
            return self.tell(at, Relation::Changed, text, (was, is));
        }
        for (name, was, is) in pairs(both.0, both.1) {
            match (was, is) {
                (Some(was), Some(is)) => self.schema(&step(&at, name), was, is),
                _ if key == "dependentSchemas" => self.inner(&at, name, was, is),
                _ => {
                    let text = sentence(&name.lossy(), was, is);
                    self.tell(step(&at, name), Relation::Changed, text, (was, is));
                }
            }
        }
    }

    fn members_of_enum(&mut self, at: String, was: Option<&Json>, is: Option<&Json>) {
        let (Some(Json::List(old)), Some(Json::List(new))) = (was, is) else {
            let lists = |it: Option<&Json>| matches!(it, None | Some(Json::List(_)));
            let relation = match lists(was) && lists(is) {
                true => Relation::restriction(was.is_some(), is.is_some()),
                false => Relation::Changed,
            };
            return self.tell(at, relation, sentence("enum", was, is), (was, is));
        };
        let (had, has): (HashSet<_>, HashSet<_>) = (old.iter().collect(), new.iter().collect());
        let mut told = false;
        for one in new.iter().filter(|one| !had.contains(one)) {
            told = true;
            let text = format!("the choice {} was added", brief(one));
            self.tell(at.clone(), Relation::Widened, text, (None, Some(one)));
        }
        for one in old.iter().filter(|one| !has.contains(one)) {
            told = true;
            let text = format!("the choice {} was removed", brief(one));
            self.tell(at.clone(), Relation::Narrowed, text, (Some(one), None));
        }
        if !told {
            let text = "the choices were put in another order".to_owned();
            self.tell(at, Relation::Same, text, (was, is));
        }
    }

    fn listed(&mut self, key: &str, at: String, (was, is): Values<'_>) {
        let relation = match (was, is) {
            (Some(Json::List(old)), Some(Json::List(new))) if old.len() == new.len() => {
                for (index, (was, is)) in old.iter().zip(new).enumerate() {
                    self.schema(&format!("{at}/{index}"), was, is);
                }
                return;
            }
            (Some(Json::List(old)), Some(Json::List(new))) => {
                let (had, has): (HashSet<_>, HashSet<_>) =
                    (old.iter().collect(), new.iter().collect());
                let (more, less) = (had.is_subset(&has), has.is_subset(&had));
                match (key, more, less) {
                    ("allOf", true, _) | ("anyOf", _, true) => Relation::Narrowed,
                    ("allOf", _, true) | ("anyOf", true, _) => Relation::Widened,
                    _ => Relation::Changed,
                }
            }
            (None, Some(Json::List(_))) | (Some(Json::List(_)), None) if key != "prefixItems" => {
                Relation::restriction(was.is_some(), is.is_some())
            }
            _ => Relation::Changed,
        };
        self.tell(at, relation, sentence(key, was, is), (was, is));
    }

    /// With a bound on how many may fit, taking more can be taking less.
    fn contains(&mut self, at: String, (was, is): Values<'_>, (before, now): (&Json, &Json)) {
        let bounded = |schema: &Json| {
            ["minContains", "maxContains"].iter().any(|key| schema.get(key).is_some())
        };
        match bounded(before) || bounded(now) {
            true => {
                self.tell(at, Relation::Changed, sentence("contains", was, is), (was, is));
            }
            false => self.below(at, was, is),
        }
    }

    fn not(&mut self, at: String, was: Option<&Json>, is: Option<&Json>) {
        let (Some(was), Some(is)) = (was, is) else {
            let relation = Relation::restriction(was.is_some(), is.is_some());
            return self.tell(at, relation, sentence("not", was, is), (was, is));
        };
        self.flipped = !self.flipped;
        self.schema(&at, was, is);
        self.flipped = !self.flipped;
    }
}

fn sentence(key: &str, was: Option<&Json>, is: Option<&Json>) -> String {
    let key = word(key);
    match (was, is) {
        (Some(was), Some(is)) => format!("{key} went from {} to {}", brief(was), brief(is)),
        (None, Some(is)) => format!("{key} was added: {}", brief(is)),
        (Some(was), None) => format!("{key} was removed: {}", brief(was)),
        (None, None) => key,
    }
}

fn is_schema(value: Option<&Json>) -> bool {
    matches!(value, None | Some(Json::Flag(_) | Json::Object(_)))
}

/// That of a bound; `raised` is what raising it does.
fn bound(was: Option<&Json>, is: Option<&Json>, raised: Relation) -> Relation {
    let number = |it: Option<&Json>| match it {
        Some(Json::Number(number)) => Some(Some(number.clone())),
        None => Some(None),
        _ => None,
    };
    let compared = |was: &Number, is: &Number| match was.compare(is) {
        Some(Ordering::Less) => raised,
        Some(Ordering::Greater) => raised.flipped(),
        Some(Ordering::Equal) => Relation::Same,
        None => Relation::Changed,
    };
    match (number(was), number(is)) {
        (Some(Some(was)), Some(Some(is))) => compared(&was, &is),
        (Some(None), Some(Some(_))) => Relation::Narrowed,
        (Some(Some(_)), Some(None)) => Relation::Widened,
        _ => Relation::Changed,
    }
}

fn unique(was: Option<&Json>, is: Option<&Json>) -> Relation {
    let flag = |it: Option<&Json>| match it {
        None => Some(false),
        Some(Json::Flag(flag)) => Some(*flag),
        Some(_) => None,
    };
    match (flag(was), flag(is)) {
        (Some(false), Some(true)) => Relation::Narrowed,
        (Some(true), Some(false)) => Relation::Widened,
        (Some(_), Some(_)) => Relation::Same,
        _ => Relation::Changed,
    }
}

/// Types as sets; a whole number is a number.
fn types(was: Option<&Json>, is: Option<&Json>) -> Relation {
    let (Some(old), Some(new)) = (type_set(was), type_set(is)) else { return Relation::Changed };
    let within = |one: &[String], other: &[String]| {
        let fits =
            |it: &String| other.contains(it) || it == "integer" && other.contains(&"number".into());
        one.iter().all(fits)
    };
    match (within(&old, &new), within(&new, &old)) {
        (true, true) => Relation::Same,
        (true, false) => Relation::Widened,
        (false, true) => Relation::Narrowed,
        (false, false) => Relation::Changed,
    }
}

fn type_set(value: Option<&Json>) -> Option<Vec<String>> {
    let known = |text: &Text| {
        let name = text.lossy();
        (name == "integer" || TYPES.contains(&name.as_str())).then_some(name)
    };
    match value {
        None => Some(TYPES.map(str::to_owned).to_vec()),
        Some(Json::Text(one)) => Some(vec![known(one)?]),
        Some(Json::List(all)) => all.iter().map(|one| known(one.text()?)).collect(),
        Some(_) => None,
    }
}
