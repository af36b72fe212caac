//! Converts arguments from the form of the adapted schema back to the form of the original.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// The plans that convert arguments back.
#[derive(Clone, Debug, Default)]
pub(super) struct AdaptedArgumentRestorer {
    pub root: ArgumentRestorePlan,
    /// The plans of recursive definitions.
    pub defs: BTreeMap<String, ArgumentRestorePlan>,
}

/// The plan that converts one value back. The default leaves the value unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ArgumentRestorePlan {
    /// The possible objects, which differ in their member names.
    pub forms: Vec<ObjectShape>,
    /// The plan of the elements, if the value may be an array.
    pub elements: Option<Box<ArgumentRestorePlan>>,
    /// The definition that applies here.
    pub def: Option<String>,
}

/// One possible form of an object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ObjectShape {
    pub members: Vec<AdaptedMemberMapping>,
}

/// A member of the adapted schema and how it maps to the original.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AdaptedMemberMapping {
    pub shown: String,
    pub name: String,
    /// The placeholder for an absent member.
    pub absent: Option<Value>,
    pub plan: ArgumentRestorePlan,
}

impl ObjectShape {
    /// Returns true if an object with exactly these members also has the other form.
    fn looks_like(&self, other: &ObjectShape) -> bool {
        self.members.len() == other.members.len()
            && self.members.iter().all(|one| other.member(&one.shown).is_some())
    }

    fn member(&self, shown: &str) -> Option<&AdaptedMemberMapping> {
        self.members.iter().find(|one| one.shown == shown)
    }
}

impl ArgumentRestorePlan {
    /// Merges two alternative plans. Returns false if a value would not show which one applies.
    pub(super) fn merge(&mut self, other: ArgumentRestorePlan) -> bool {
        if *self == other || other == ArgumentRestorePlan::default() {
            return true;
        }
        if self.def.is_some() || other.def.is_some() {
            return false;
        }
        for form in other.forms {
            match self.forms.iter().find(|known| known.looks_like(&form)) {
                None => self.forms.push(form),
                Some(known) if *known == form => {}
                Some(_) => return false,
            }
        }
        match (&mut self.elements, other.elements) {
            (Some(known), Some(new)) => *known == new,
            (known @ None, new) => {
                *known = new;
                true
            }
            (Some(_), None) => true,
        }
    }
}

impl AdaptedArgumentRestorer {
    pub(super) fn restore(&self, value: Value) -> Value {
        self.turned(value, &self.root)
    }

    fn turned(&self, value: Value, plan: &ArgumentRestorePlan) -> Value {
        let plan = match &plan.def {
            Some(name) => self.defs.get(name).unwrap_or(plan),
            None => plan,
        };
        match value {
            Value::Array(list) => match &plan.elements {
                None => Value::Array(list),
                Some(each) => list.into_iter().map(|one| self.turned(one, each)).collect(),
            },
            Value::Object(map) => Value::Object(self.members(map, &plan.forms)),
            other => other,
        }
    }

    fn members(&self, map: Map<String, Value>, forms: &[ObjectShape]) -> Map<String, Value> {
        let fits = |form: &&ObjectShape| {
            form.members.len() == map.len() && map.keys().all(|name| form.member(name).is_some())
        };
        let form = match forms {
            [only] => Some(only),
            several => several.iter().find(fits),
        };
        let Some(form) = form else {
            return map;
        };
        let mut out = Map::new();
        for (name, value) in map {
            match form.member(&name) {
                None => _ = out.insert(name, value),
                Some(member) if member.absent.as_ref() == Some(&value) => {}
                Some(member) => {
                    out.insert(member.name.clone(), self.turned(value, &member.plan));
                }
            }
        }
        out
    }
}
