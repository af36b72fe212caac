//! Handles alternatives: splits constraints into sets without groups, and joins several sets into
//! one that accepts everything that any of them accepts.

use serde_json::Value;

use super::constraints::{
    AllOfSchemas, ChildSchema, SchemaAnalyzer, SchemaAnnotations, SchemaConstraints,
};
use super::types::JsonTypeSet;

/// The maximum number of alternatives of one schema.
const MOST: usize = 16;
/// The maximum nesting of alternatives.
const DEEPEST: usize = 6;
/// The maximum number of alternatives of a joined member.
const MOST_OF_A_MEMBER: usize = 8;

impl<'a> SchemaAnalyzer<'a> {
    /// Returns the alternatives of the root, which must be an object, and its annotations.
    pub(super) fn split_root(
        &mut self,
        root: &'a Value,
    ) -> (Vec<SchemaConstraints<'a>>, SchemaAnnotations<'a>) {
        let mut facts = self.collect_constraints(&[root]);
        facts.types = facts.types.and(JsonTypeSet::OBJECT);
        let notes = std::mem::take(&mut facts.notes);
        (self.split(facts), notes)
    }

    /// Returns the possible alternatives of a set of constraints. An empty list means that no value
    /// matches.
    pub(super) fn split(&mut self, facts: SchemaConstraints<'a>) -> Vec<SchemaConstraints<'a>> {
        self.split_at(facts, 0)
    }

    fn split_at(
        &mut self,
        mut facts: SchemaConstraints<'a>,
        depth: usize,
    ) -> Vec<SchemaConstraints<'a>> {
        let groups = std::mem::take(&mut facts.groups);
        let path = facts.path.clone().unwrap_or_default();
        let mut all = vec![facts];
        for group in groups {
            if depth > DEEPEST || only_requires(&group) {
                self.losses.add_at(path.clone(), "alternatives dropped");
                continue;
            }
            match self.expand(&all, &group, depth) {
                Some(expanded) => all = expanded,
                None => self
                    .losses
                    .add_at(path.clone(), "alternatives dropped, because there are too many"),
            }
        }
        all.iter_mut().for_each(SchemaConstraints::reconcile_types);
        all.retain(|one| !one.is_impossible());
        all
    }

    fn expand(
        &mut self,
        all: &[SchemaConstraints<'a>],
        group: &[AllOfSchemas<'a>],
        depth: usize,
    ) -> Option<Vec<SchemaConstraints<'a>>> {
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

    /// Joins constraints on objects into a set that accepts every object that any of them accepts.
    pub(super) fn join(&mut self, mut all: Vec<SchemaConstraints<'a>>) -> SchemaConstraints<'a> {
        if all.len() == 1 {
            return all.remove(0);
        }
        let mut joined =
            SchemaConstraints { types: JsonTypeSet::OBJECT, ..SchemaConstraints::default() };
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
                let member = self.joined_member(name, child, &all);
                joined.properties.push((name, member));
            }
        }
        joined
    }

    /// Returns the constraints of a member if the object may match any of several sets.
    fn joined_member(
        &mut self,
        name: &str,
        first: &ChildSchema<'a>,
        all: &[SchemaConstraints<'a>],
    ) -> ChildSchema<'a> {
        let mut member = ChildSchema {
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
            let key = self.key(&ChildSchema::one(one.clone()));
            let is_new = !seen.contains(&key);
            seen.push(key);
            is_new
        });
        let is_free = member.alternatives.iter().any(Vec::is_empty);
        if is_free || member.alternatives.len() > MOST_OF_A_MEMBER {
            if let Some(note) = member.note {
                self.losses.add(note, "dropped, because it applies only in some alternatives");
            }
            member.alternatives = vec![Vec::new()];
        }
        member
    }
}

/// Returns true if alternatives differ only in their required members. Repeating everything else
/// for each of them would not be worth its size.
fn only_requires(group: &[AllOfSchemas<'_>]) -> bool {
    let silent = ["required", "not", "title", "description"];
    group.iter().flatten().all(|schema| match schema.as_object() {
        Some(map) => map.keys().all(|keyword| silent.contains(&keyword.as_str())),
        None => false,
    })
}
