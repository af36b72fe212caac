//! Compares the object keywords that depend on each other: `additionalProperties` applies to every
//! property that `properties` does not name.

use std::collections::HashSet;

use toolgate_wire::canonical::JsonString;

use super::super::display::quote_name;
use super::super::{SchemaRelation, change_verb, child_pointer, pairs};
use super::{SchemaComparer, boolean_schema_relation};
use crate::canonical_json::CanonicalJson;

/// The keywords that this module compares.
pub(super) const OBJECT_KEYWORDS: [&str; 3] = ["properties", "additionalProperties", "required"];

impl SchemaComparer<'_> {
    /// Compares what two schemas say about the members of objects.
    pub(super) fn objects(&mut self, pointer: &str, before: &CanonicalJson, now: &CanonicalJson) {
        self.properties(pointer, before, now);
        self.additional(pointer, before, now);
        self.required(pointer, before, now);
    }

    fn properties(&mut self, pointer: &str, before: &CanonicalJson, now: &CanonicalJson) {
        let key = "properties";
        let (was, is) = (before.get(key), now.get(key));
        if was == is {
            return;
        }
        let at = format!("{pointer}/{key}");
        let nothing = CanonicalJson::Object(Vec::new());
        let both = (was.unwrap_or(&nothing), is.unwrap_or(&nothing));
        let (CanonicalJson::Object(_), CanonicalJson::Object(_)) = both else {
            let text = format!("`{key}` was {}", change_verb(was.is_some(), is.is_some()));
            return self.report(at, SchemaRelation::Changed, text, (was, is));
        };
        if both.0 == both.1 {
            let text = format!("an empty `{key}` was {}", change_verb(was.is_some(), is.is_some()));
            return self.report(at, SchemaRelation::Same, text, (was, is));
        }
        for (name, was, is) in pairs(both.0, both.1) {
            match (was, is) {
                (Some(was), Some(is)) => self.schema(&child_pointer(&at, name), was, is),
                _ => self.property(&at, name, (was, is), (before, now)),
            }
        }
    }

    /// Compares a property that only one side names. `additionalProperties` of the other side
    /// applies to it.
    fn property(
        &mut self,
        at: &str,
        name: &JsonString,
        (was, is): (Option<&CanonicalJson>, Option<&CanonicalJson>),
        (before, now): (&CanonicalJson, &CanonicalJson),
    ) {
        let open = CanonicalJson::Flag(true);
        let by_pattern = |schema: &CanonicalJson| schema.get("patternProperties").is_some();
        let relation = match by_pattern(before) || by_pattern(now) {
            true => SchemaRelation::Changed,
            false => {
                let meant_before = was.or(before.get("additionalProperties")).unwrap_or(&open);
                let meant_now = is.or(now.get("additionalProperties")).unwrap_or(&open);
                self.effective_relation(meant_before, meant_now)
            }
        };
        let text = format!(
            "property {} was {}",
            quote_name(&name.to_string_lossy()),
            change_verb(was.is_some(), is.is_some())
        );
        self.report(child_pointer(at, name), relation, text, (was, is));
    }

    fn effective_relation(
        &mut self,
        before: &CanonicalJson,
        now: &CanonicalJson,
    ) -> SchemaRelation {
        match (before, now) {
            (CanonicalJson::Object(_), CanonicalJson::Object(_)) => self.relation(before, now),
            _ => boolean_schema_relation(before, now),
        }
    }

    fn additional(&mut self, pointer: &str, before: &CanonicalJson, now: &CanonicalJson) {
        let key = "additionalProperties";
        let (was, is) = (before.get(key), now.get(key));
        if was == is {
            return;
        }
        let open = CanonicalJson::Flag(true);
        let at = format!("{pointer}/{key}");
        if let (Some(was @ CanonicalJson::Object(_)), Some(is @ CanonicalJson::Object(_))) =
            (was, is)
        {
            return self.schema(&at, was, is);
        }
        let relation = self.effective_relation(was.unwrap_or(&open), is.unwrap_or(&open));
        let text = match relation {
            SchemaRelation::Widened => "the schema accepts more properties that it does not name",
            SchemaRelation::Narrowed => "the schema accepts fewer properties that it does not name",
            _ => "the rule for properties that are not named changed",
        };
        self.report(at, relation, text.to_owned(), (was, is));
    }

    fn required(&mut self, pointer: &str, before: &CanonicalJson, now: &CanonicalJson) {
        let key = "required";
        let (was, is) = (before.get(key), now.get(key));
        if was == is {
            return;
        }
        let at = format!("{pointer}/{key}");
        let listed = |it: Option<&CanonicalJson>| matches!(it, None | Some(CanonicalJson::List(_)));
        if !listed(was) || !listed(is) {
            let text = format!("`{key}` was {}", change_verb(was.is_some(), is.is_some()));
            return self.report(at, SchemaRelation::Changed, text, (was, is));
        }
        let (old, new) = (
            was.map_or(&[][..], CanonicalJson::elements),
            is.map_or(&[][..], CanonicalJson::elements),
        );
        let (had, has): (HashSet<_>, HashSet<_>) = (old.iter().collect(), new.iter().collect());
        let mut reported = false;
        for name in new.iter().filter(|name| !had.contains(name)) {
            reported = true;
            let text = format!("{} is now required", super::quote_short_value(name));
            self.report(at.clone(), SchemaRelation::Narrowed, text, (None, Some(name)));
        }
        for name in old.iter().filter(|name| !has.contains(name)) {
            reported = true;
            let text = format!("{} is no longer required", super::quote_short_value(name));
            self.report(at.clone(), SchemaRelation::Widened, text, (Some(name), None));
        }
        if !reported {
            let text = "`required` lists the same properties in another form".to_owned();
            self.report(at, SchemaRelation::Same, text, (was, is));
        }
    }
}
