//! Alternatives: a set of facts taken apart into sets without groups, and several sets joined into
//! one that admits whatever any of them does.

use super::facts::{Child, Facts, Reader, Together};
use super::types::Types;

/// Alternatives one place may have.
const MOST: usize = 16;
/// How deep alternatives may stand in alternatives.
const DEEPEST: usize = 6;
/// Alternatives a joined member may have.
const MOST_OF_A_MEMBER: usize = 8;

/// Words on a place as a whole, whichever alternative a value is of.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes<'a> {
    pub title: Option<&'a str>,
    pub description: Option<&'a str>,
    pub default: Option<&'a serde_json::Value>,
}

impl<'a> Facts<'a> {
    /// Takes the words out, so that alternatives keep their own.
    pub(super) fn take_notes(&mut self) -> Notes<'a> {
        Notes {
            title: self.title.take(),
            description: self.description.take(),
            default: self.default.take(),
        }
    }
}

impl<'a> Reader<'a> {
    /// The alternatives of a set of facts that a value can be of. None means that no value fits.
    pub(super) fn split(&mut self, facts: Facts<'a>) -> Vec<Facts<'a>> {
        self.split_at(facts, 0)
    }

    fn split_at(&mut self, mut facts: Facts<'a>, depth: usize) -> Vec<Facts<'a>> {
        let groups = std::mem::take(&mut facts.groups);
        let path = facts.path.clone().unwrap_or_default();
        let mut all = vec![facts];
        for group in groups {
            if depth > DEEPEST || only_requires(&group) {
                self.losses.at(path.clone(), "alternatives dropped");
                continue;
            }
            match self.expand(&all, &group, depth) {
                Some(expanded) => all = expanded,
                None => self.losses.at(path.clone(), "too many alternatives: dropped"),
            }
        }
        all.iter_mut().for_each(Facts::settle);
        all.retain(|one| !one.is_impossible());
        all
    }

    fn expand(
        &mut self,
        all: &[Facts<'a>],
        group: &[Together<'a>],
        depth: usize,
    ) -> Option<Vec<Facts<'a>>> {
        let mut expanded = Vec::new();
        for base in all {
            for alternative in group {
                let mut facts = base.clone();
                for schema in alternative {
                    self.add(schema, &mut facts);
                }
                expanded.extend(self.split_at(facts, depth + 1));
                if expanded.len() > MOST {
                    return None;
                }
            }
        }
        Some(expanded)
    }

    /// One set of facts about objects that admits every object that any of these admits.
    pub(super) fn join(&mut self, all: &[Facts<'a>]) -> Facts<'a> {
        let mut joined = Facts { types: Types::OBJECT, ..Facts::default() };
        let Some(first) = all.first() else {
            return joined;
        };
        joined.path.clone_from(&first.path);
        let required = first.required.iter().copied();
        joined.required =
            required.filter(|name| all.iter().all(|one| one.required.contains(name))).collect();
        let closed: Option<Vec<_>> = all.iter().map(|one| one.closed.as_ref()).collect();
        joined.closed = closed.map(|sets| sets.into_iter().flatten().copied().collect());
        for (name, child) in all.iter().flat_map(|one| &one.properties) {
            let is_new = joined.properties.iter().all(|(known, _)| known != name);
            if is_new && joined.admits(name) {
                let member = self.joined_member(name, child, all);
                joined.properties.push((name, member));
            }
        }
        joined
    }

    /// What a member must meet if the whole may be any of several.
    fn joined_member(&mut self, name: &str, first: &Child<'a>, all: &[Facts<'a>]) -> Child<'a> {
        let mut member = Child {
            alternatives: Vec::new(),
            note: first.alternatives.iter().flatten().copied().next(),
        };
        for one in all {
            match one.properties.iter().find(|(known, _)| *known == name) {
                Some((_, child)) => member.alternatives.extend(child.alternatives.iter().cloned()),
                None if one.admits(name) => member.alternatives.push(Vec::new()),
                None => {}
            }
        }
        let mut seen = Vec::new();
        member.alternatives.retain(|one| {
            let key = self.key(&Child::one(one.clone()));
            let is_new = !seen.contains(&key);
            seen.push(key);
            is_new
        });
        let is_free = member.alternatives.iter().any(Vec::is_empty);
        if is_free || member.alternatives.len() > MOST_OF_A_MEMBER {
            if let Some(note) = member.note {
                self.losses.add(note, "holds in some alternatives only: not bound");
            }
            member.alternatives = vec![Vec::new()];
        }
        member
    }
}

/// Alternatives that differ only in which members they ask for: repeating everything else for each
/// of them would cost more than it says.
fn only_requires(group: &[Together<'_>]) -> bool {
    let silent = ["required", "not", "title", "description"];
    group.iter().flatten().all(|schema| match schema.as_object() {
        Some(map) => map.keys().all(|keyword| silent.contains(&keyword.as_str())),
        None => false,
    })
}
