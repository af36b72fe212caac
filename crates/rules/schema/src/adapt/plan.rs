//! The way back: from arguments in the shape a provider was given to what the original means.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// How arguments are turned back.
#[derive(Clone, Debug, Default)]
pub(super) struct Restore {
    pub root: Plan,
    /// Plans of definitions that refer to themselves.
    pub defs: BTreeMap<String, Plan>,
}

/// How a value at one place is turned back. The default leaves it as it is.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Plan {
    /// The objects there may be; they differ in their member names.
    pub forms: Vec<Form>,
    /// Of the elements, where it may be an array.
    pub elements: Option<Box<Plan>>,
    /// The definition this place is.
    pub def: Option<String>,
}

/// One kind of object.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Form {
    pub members: Vec<Member>,
}

/// A member as it is shown to a model.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub shown: String,
    pub name: String,
    /// The value that stands for «not there».
    pub absent: Option<Value>,
    pub plan: Plan,
}

impl Form {
    /// Whether an object with exactly these members is of the other form too.
    fn looks_like(&self, other: &Form) -> bool {
        self.members.len() == other.members.len()
            && self.members.iter().all(|one| other.member(&one.shown).is_some())
    }

    fn member(&self, shown: &str) -> Option<&Member> {
        self.members.iter().find(|one| one.shown == shown)
    }
}

impl Plan {
    /// One plan for a place where either may be; `false` if a value would not tell which.
    pub(super) fn merge(&mut self, other: Plan) -> bool {
        if *self == other || other == Plan::default() {
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

impl Restore {
    pub(super) fn restore(&self, value: Value) -> Value {
        self.turned(value, &self.root)
    }

    fn turned(&self, value: Value, plan: &Plan) -> Value {
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

    fn members(&self, map: Map<String, Value>, forms: &[Form]) -> Map<String, Value> {
        let fits = |form: &&Form| {
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
