//! The keywords of objects that only mean something together: a property that is not named is one
//! that `additionalProperties` is about.

use std::collections::HashSet;

use toolgate_wire::canonical::Text;

use super::super::words::word;
use super::super::{Relation, changed, pairs, step};
use super::{Within, whole};
use crate::tree::Json;

/// The keywords that are compared here and nowhere else.
pub(super) const HERE: [&str; 3] = ["properties", "additionalProperties", "required"];

impl Within<'_> {
    /// Compares what two schemas say of the members of objects.
    pub(super) fn objects(&mut self, pointer: &str, before: &Json, now: &Json) {
        self.properties(pointer, before, now);
        self.additional(pointer, before, now);
        self.required(pointer, before, now);
    }

    fn properties(&mut self, pointer: &str, before: &Json, now: &Json) {
        let key = "properties";
        let (was, is) = (before.get(key), now.get(key));
        if was == is {
            return;
        }
        let at = format!("{pointer}/{key}");
        let nothing = Json::Object(Vec::new());
        let both = (was.unwrap_or(&nothing), is.unwrap_or(&nothing));
        let (Json::Object(_), Json::Object(_)) = both else {
            let text = format!("`{key}` was {}", changed(was.is_some(), is.is_some()));
            return self.tell(at, Relation::Changed, text, (was, is));
        };
        if both.0 == both.1 {
            let text = format!("an empty `{key}` was {}", changed(was.is_some(), is.is_some()));
            return self.tell(at, Relation::Same, text, (was, is));
        }
        for (name, was, is) in pairs(both.0, both.1) {
            match (was, is) {
                (Some(was), Some(is)) => self.schema(&step(&at, name), was, is),
                _ => self.property(&at, name, (was, is), (before, now)),
            }
        }
    }

    /// A property that is named on one side only: on the other it is one of the rest.
    fn property(
        &mut self,
        at: &str,
        name: &Text,
        (was, is): (Option<&Json>, Option<&Json>),
        (before, now): (&Json, &Json),
    ) {
        let open = Json::Flag(true);
        let by_pattern = |schema: &Json| schema.get("patternProperties").is_some();
        let relation = match by_pattern(before) || by_pattern(now) {
            true => Relation::Changed,
            false => {
                let meant_before = was.or(before.get("additionalProperties")).unwrap_or(&open);
                let meant_now = is.or(now.get("additionalProperties")).unwrap_or(&open);
                self.meant(meant_before, meant_now)
            }
        };
        let text = format!(
            "property {} was {}",
            word(&name.lossy()),
            changed(was.is_some(), is.is_some())
        );
        self.tell(step(at, name), relation, text, (was, is));
    }

    fn meant(&mut self, before: &Json, now: &Json) -> Relation {
        match (before, now) {
            (Json::Object(_), Json::Object(_)) => self.relation(before, now),
            _ => whole(before, now),
        }
    }

    fn additional(&mut self, pointer: &str, before: &Json, now: &Json) {
        let key = "additionalProperties";
        let (was, is) = (before.get(key), now.get(key));
        if was == is {
            return;
        }
        let open = Json::Flag(true);
        let at = format!("{pointer}/{key}");
        if let (Some(was @ Json::Object(_)), Some(is @ Json::Object(_))) = (was, is) {
            return self.schema(&at, was, is);
        }
        let relation = self.meant(was.unwrap_or(&open), is.unwrap_or(&open));
        let text = match relation {
            Relation::Widened => "properties that are not named are taken where they were not",
            Relation::Narrowed => "properties that are not named are taken less freely",
            _ => "what holds for properties that are not named was put otherwise",
        };
        self.tell(at, relation, text.to_owned(), (was, is));
    }

    fn required(&mut self, pointer: &str, before: &Json, now: &Json) {
        let key = "required";
        let (was, is) = (before.get(key), now.get(key));
        if was == is {
            return;
        }
        let at = format!("{pointer}/{key}");
        let listed = |it: Option<&Json>| matches!(it, None | Some(Json::List(_)));
        if !listed(was) || !listed(is) {
            let text = format!("`{key}` was {}", changed(was.is_some(), is.is_some()));
            return self.tell(at, Relation::Changed, text, (was, is));
        }
        let (old, new) = (was.map_or(&[][..], Json::elements), is.map_or(&[][..], Json::elements));
        let (had, has): (HashSet<_>, HashSet<_>) = (old.iter().collect(), new.iter().collect());
        let mut told = false;
        for name in new.iter().filter(|name| !had.contains(name)) {
            told = true;
            let text = format!("{} must be given now", super::brief(name));
            self.tell(at.clone(), Relation::Narrowed, text, (None, Some(name)));
        }
        for name in old.iter().filter(|name| !has.contains(name)) {
            told = true;
            let text = format!("{} need not be given any more", super::brief(name));
            self.tell(at.clone(), Relation::Widened, text, (Some(name), None));
        }
        if !told {
            let text = "what must be given was put in other words".to_owned();
            self.tell(at, Relation::Same, text, (was, is));
        }
    }
}
