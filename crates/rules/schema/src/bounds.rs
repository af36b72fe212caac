//! Limits the cost of an untrusted schema before it is compiled.
//!
//! A small schema can cause much work: converging references multiply, and cyclic references never
//! end. Both are found here by counting, without any value. [`ValidationCost`] keeps the counts, so
//! that the cost of validating arguments can be predicted.

use std::collections::{BTreeMap, HashMap};

use jsonschema::Draft;
use serde_json::{Map, Value};

use crate::DefinitionError;
use crate::refs::{ReferenceResolver, own_id};
use crate::subschemas::{PointerStep, Subschema, SubschemaScope, direct_subschemas};

/// The maximum size of one definition, in bytes.
pub(crate) const BYTES: usize = 512 * 1024;
/// The maximum number of JSON values in one schema.
const VALUES: usize = 50_000;
/// The maximum nesting of one schema.
const LEVELS: usize = 64;
/// The maximum number of references in one schema.
const REFERENCES: usize = 2_000;
/// The maximum number of regular expressions in one schema.
pub(crate) const PATTERNS: usize = 1_000;
/// The maximum number of checks of a single value.
const MAX_CHECKS_PER_VALUE: u64 = 20_000;
/// The maximum number of checks of all values together; each takes some tens of nanoseconds.
const MAX_CHECKS: u64 = 20_000_000;
/// The maximum depth of the validator's call stack.
const FRAMES: usize = 2_000;
/// The maximum nesting of a value, which the parser enforces.
const DEEPEST: usize = 128;

/// The maximum number of counted child schemas, including those behind references.
const WAYS: usize = 1_000_000;

/// An upper bound on the cost of validating values against a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ValidationCost {
    /// The checks along one branch, by the depth of the value; the last entry applies to all deeper
    /// values.
    checks: Vec<u64>,
    /// The longest chain of schemas that apply to the same value.
    chain: usize,
    /// The number of regular expressions.
    pub patterns: usize,
}

impl ValidationCost {
    /// Returns true if every value that can be parsed is cheap to check.
    pub(crate) fn is_small(&self) -> bool {
        let most = self.checks.last().copied().unwrap_or_default();
        most <= 1_000 && self.chain * DEEPEST <= FRAMES
    }

    /// Returns true if checking a value of this depth and number of parts stays within the limits.
    pub(crate) fn is_affordable(&self, depth: usize, parts: usize) -> bool {
        let looks = self.checks.get(depth).or(self.checks.last()).copied().unwrap_or_default();
        let parts = u64::try_from(parts).unwrap_or(u64::MAX);
        looks.saturating_mul(parts) <= MAX_CHECKS && self.chain.saturating_mul(depth) <= FRAMES
    }
}

/// Estimates the cost of a schema. Fails if the schema is too expensive or has an unresolved or
/// cyclic reference.
pub(crate) fn estimate_cost(root: &Value, draft: Draft) -> Result<ValidationCost, DefinitionError> {
    sizes(root)?;
    let refs = ReferenceResolver::of(root, draft);
    let mut graph = SchemaGraph { draft, ..SchemaGraph::default() };
    graph.add(root, String::new(), &refs)?;
    graph.cost()
}

fn sizes(root: &Value) -> Result<(), DefinitionError> {
    let (depth, values) = measure(root);
    if depth > LEVELS {
        return Err(DefinitionError::new(
            "",
            format!("the schema is nested deeper than {LEVELS} levels"),
        ));
    }
    check_count(values, VALUES, "values", "")
}

fn check_count(count: usize, most: usize, what: &str, path: &str) -> Result<(), DefinitionError> {
    if count > most {
        let what = format!("the schema has more than {most} {what}");
        return Err(DefinitionError::new(path, what));
    }
    Ok(())
}

/// Returns the nesting depth of a value and the number of values it contains.
pub(crate) fn measure(value: &Value) -> (usize, usize) {
    let fold = |(depth, values): (usize, usize), inner: &Value| {
        let (inner_depth, inner_values) = measure(inner);
        (depth.max(inner_depth + 1), values + inner_values)
    };
    match value {
        Value::Array(list) => list.iter().fold((1, 1), fold),
        Value::Object(map) => map.values().fold((1, 1), fold),
        _ => (1, 1),
    }
}

/// The graph of the schemas of a document. Its edges are the schemas that each one applies.
#[derive(Default)]
struct SchemaGraph<'a> {
    known: HashMap<*const Value, usize>,
    nodes: Vec<SchemaNode<'a>>,
    references: usize,
    patterns: usize,
    draft: Draft,
}

/// One schema of the graph, with the schemas it applies to the same value and to its children.
#[derive(Default)]
struct SchemaNode<'a> {
    path: String,
    same: Vec<usize>,
    below: Vec<(ChildSelector<'a>, usize)>,
    nested_id: Option<&'a str>,
}

/// Selects the child values that a schema applies to. A child has one name or one index, so the
/// costs of schemas for different children never add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ChildSelector<'a> {
    Member(&'a str),
    /// The members that this node does not name itself.
    Rest(usize),
    AnyMember,
    Element(usize),
    AnyElement,
}

impl<'a> ChildSelector<'a> {
    fn of(child: &Subschema<'a>, node: usize) -> Self {
        match (child.keyword, child.step) {
            ("properties", Some(PointerStep::Key(name))) => Self::Member(name),
            ("additionalProperties", _) => Self::Rest(node),
            ("prefixItems" | "items", Some(PointerStep::Index(index))) => Self::Element(index),
            ("items" | "additionalItems" | "contains" | "unevaluatedItems", _) => Self::AnyElement,
            _ => Self::AnyMember,
        }
    }
}

/// The schemas that apply to the children of a value, with the number of times each applies.
type ChildSchemaCounts<'a> = BTreeMap<(ChildSelector<'a>, usize), u64>;

impl<'a> SchemaGraph<'a> {
    fn add(
        &mut self,
        schema: &'a Value,
        path: String,
        refs: &ReferenceResolver<'a>,
    ) -> Result<usize, DefinitionError> {
        if let Some(&known) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok(known);
        }
        let index = self.nodes.len();
        self.known.insert(schema, index);
        self.nodes.push(SchemaNode { path: path.clone(), ..SchemaNode::default() });
        let Some(map) = schema.as_object() else {
            return Ok(index);
        };
        self.count(map, &path)?;
        if index > 0 {
            self.nodes[index].nested_id = own_id(map, self.draft);
        }
        for (reference, target) in refs.targets(map) {
            self.references += 1;
            let target = target.ok_or_else(|| unresolved_reference(&path, reference))?;
            let target = self.add(target, reference.to_owned(), refs)?;
            self.nodes[index].same.push(target);
        }
        for child in direct_subschemas(map) {
            let added = self.add(child.schema, child.path(&path), refs)?;
            let node = &mut self.nodes[index];
            match child.target {
                SubschemaScope::Same => node.same.push(added),
                SubschemaScope::Below => node.below.push((ChildSelector::of(&child, index), added)),
                SubschemaScope::ReferenceOnly => {}
            }
        }
        Ok(index)
    }

    fn count(&mut self, map: &Map<String, Value>, path: &str) -> Result<(), DefinitionError> {
        self.patterns += usize::from(map.contains_key("pattern"));
        let named = map.get("patternProperties").and_then(Value::as_object);
        self.patterns += named.map_or(0, Map::len);
        check_count(self.patterns, PATTERNS, "patterns", path)?;
        check_count(self.references, REFERENCES, "references", path)
    }

    fn cost(&self) -> Result<ValidationCost, DefinitionError> {
        self.one_resource()?;
        let order = self.order()?;
        let chain = self.chain(&order);
        let here = self.checks_per_value(&order);
        if here.first().is_some_and(|&first| first > MAX_CHECKS_PER_VALUE) {
            return Err(DefinitionError::new(
                "",
                format!(
                    "the schema applies more than {MAX_CHECKS_PER_VALUE} schemas for one value"
                ),
            ));
        }
        let ways = self.ways(&order)?;
        let mut looks: Vec<u64> = Vec::new();
        let mut before = vec![0_u64; self.nodes.len()];
        for _ in 0..=DEEPEST {
            let below = ways.iter().map(|ways| self.most_below(ways, &before));
            let now: Vec<u64> = here.iter().zip(below).map(|(h, b)| h.saturating_add(b)).collect();
            let root = now.first().copied().unwrap_or_default();
            let settled = now == before;
            before = now;
            if settled {
                break;
            }
            looks.push(root);
            if root > MAX_CHECKS {
                break;
            }
        }
        Ok(ValidationCost { checks: looks, chain, patterns: self.patterns })
    }

    /// Refuses nested `$id`s in a schema with references, because they change the base of
    /// references.
    fn one_resource(&self) -> Result<(), DefinitionError> {
        if self.references == 0 {
            return Ok(());
        }
        match self.nodes.iter().find(|node| node.nested_id.is_some()) {
            Some(node) => Err(DefinitionError::new(
                &*node.path,
                "a nested `$id` is not supported in a schema with references",
            )),
            None => Ok(()),
        }
    }

    /// Returns the nodes in topological order: a node comes after all schemas that it applies to
    /// the same value.
    fn order(&self) -> Result<Vec<usize>, DefinitionError> {
        let mut waiting: Vec<usize> = self.nodes.iter().map(|node| node.same.len()).collect();
        let mut users = vec![Vec::new(); self.nodes.len()];
        for (index, node) in self.nodes.iter().enumerate() {
            for &used in &node.same {
                users[used].push(index);
            }
        }
        let mut order: Vec<usize> = (0..self.nodes.len()).filter(|&n| waiting[n] == 0).collect();
        let mut next = 0;
        while let Some(&done) = order.get(next) {
            next += 1;
            for &user in &users[done] {
                waiting[user] -= 1;
                if waiting[user] == 0 {
                    order.push(user);
                }
            }
        }
        match waiting.iter().position(|&left| left > 0) {
            None => Ok(order),
            Some(turning) => {
                let path = self.nodes[turning].path.as_str();
                Err(DefinitionError::new(path, "the reference leads back to itself"))
            }
        }
    }

    fn chain(&self, order: &[usize]) -> usize {
        let mut chain = vec![1_usize; self.nodes.len()];
        for &index in order {
            let longest = self.nodes[index].same.iter().map(|&used| chain[used]).max();
            chain[index] += longest.unwrap_or_default();
        }
        chain.into_iter().max().unwrap_or_default()
    }

    /// Returns the number of checks of one value, by the node it is checked against.
    fn checks_per_value(&self, order: &[usize]) -> Vec<u64> {
        let mut here = vec![1_u64; self.nodes.len()];
        for &index in order {
            let same = self.nodes[index].same.iter().map(|&used| here[used]);
            here[index] = same.fold(1, u64::saturating_add);
        }
        here
    }

    fn ways(&self, order: &[usize]) -> Result<Vec<ChildSchemaCounts<'a>>, DefinitionError> {
        let mut all: Vec<ChildSchemaCounts<'a>> = vec![ChildSchemaCounts::new(); self.nodes.len()];
        let mut counted = 0;
        for &index in order {
            let node = &self.nodes[index];
            let mut ways = ChildSchemaCounts::new();
            for &way in &node.below {
                *ways.entry(way).or_default() += 1;
            }
            for (&way, &times) in node.same.iter().flat_map(|&used| &all[used]) {
                let known = ways.entry(way).or_default();
                *known = known.saturating_add(times);
            }
            counted += ways.len();
            if counted > WAYS {
                return Err(DefinitionError::new(
                    "",
                    "the schema has too many combinations of subschemas",
                ));
            }
            all[index] = ways;
        }
        Ok(all)
    }

    /// Returns the number of checks of the children of a value along the most expensive branch.
    fn most_below(&self, ways: &ChildSchemaCounts<'_>, before: &[u64]) -> u64 {
        let (mut any_member, mut any_element, mut rests) = (0_u64, 0_u64, 0_u64);
        let mut members = BTreeMap::<&str, (u64, u64)>::new();
        let mut elements = BTreeMap::<usize, u64>::new();
        for (&(way, target), &times) in ways {
            let looks = times.saturating_mul(before[target]);
            let add = |sum: &mut u64| *sum = sum.saturating_add(looks);
            match way {
                ChildSelector::Member(name) => add(&mut members.entry(name).or_default().0),
                ChildSelector::AnyMember => add(&mut any_member),
                ChildSelector::Element(index) => add(elements.entry(index).or_default()),
                ChildSelector::AnyElement => add(&mut any_element),
                ChildSelector::Rest(node) => {
                    add(&mut rests);
                    for (way, _) in &self.nodes[node].below {
                        if let ChildSelector::Member(name) = way {
                            add(&mut members.entry(name).or_default().1);
                        }
                    }
                }
            }
        }
        let named = members
            .into_values()
            .map(|(own, spared)| own.saturating_add(rests.saturating_sub(spared)));
        let member = any_member.saturating_add(named.fold(rests, u64::max));
        let element = any_element.saturating_add(elements.into_values().fold(0, u64::max));
        member.max(element)
    }
}

fn unresolved_reference(path: &str, reference: &str) -> DefinitionError {
    let what = if reference.starts_with('#') {
        format!("`{reference}` does not exist in the schema")
    } else {
        format!("`{reference}` points outside the schema; remote schemas are not fetched")
    };
    DefinitionError::new(format!("{path}/$ref"), what)
}
