//! How much a schema of a stranger may weigh, before anything is compiled from it.
//!
//! A small schema can mean a great deal of work: references that meet again multiply, references
//! that turn in a circle never end. Both are found here by counting, without following any value.
//! [`Effort`] keeps what was counted, so that a check of arguments can be foreseen too.

use std::collections::{BTreeMap, HashMap};

use jsonschema::Draft;
use serde_json::{Map, Value};

use crate::Unusable;
use crate::places::{Inner, Place, Step, inner};
use crate::refs::{Refs, own_id};

/// Bytes of one definition.
pub(crate) const BYTES: usize = 512 * 1024;
/// Values in one schema.
const VALUES: usize = 50_000;
/// Levels of JSON in one schema.
const LEVELS: usize = 64;
/// References in one schema.
const REFERENCES: usize = 2_000;
/// Regular expressions in one schema.
pub(crate) const PATTERNS: usize = 1_000;
/// Times a single value may be looked at.
const LOOKS: u64 = 20_000;
/// Times all values together may be looked at; some tens of nanoseconds each.
const LOOKS_IN_ALL: u64 = 20_000_000;
/// Calls that may stand on the stack at once.
const FRAMES: usize = 2_000;
/// No value is nested deeper: the parser refuses it.
const DEEPEST: usize = 128;

/// Ways down that are counted for one schema, through references.
const WAYS: usize = 1_000_000;

/// What a schema may cost when values are checked against it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effort {
    /// Looks at the values of one branch, by the depth of the whole; the last holds for all deeper.
    looks: Vec<u64>,
    /// Schemas that may be under way for one value.
    chain: usize,
    /// How many regular expressions it has.
    pub patterns: usize,
}

impl Effort {
    /// Whether any value that can be parsed is cheap enough to check without counting first.
    pub(crate) fn is_small(&self) -> bool {
        let most = self.looks.last().copied().unwrap_or_default();
        most <= 1_000 && self.chain * DEEPEST <= FRAMES
    }

    /// Whether checking a value of this depth and number of parts stays within bounds.
    pub(crate) fn affords(&self, depth: usize, parts: usize) -> bool {
        let looks = self.looks.get(depth).or(self.looks.last()).copied().unwrap_or_default();
        let parts = u64::try_from(parts).unwrap_or(u64::MAX);
        looks.saturating_mul(parts) <= LOOKS_IN_ALL && self.chain.saturating_mul(depth) <= FRAMES
    }
}

/// Weighs a schema; what is too heavy, refers to nothing or turns in a circle is unusable.
pub(crate) fn weigh(root: &Value, draft: Draft) -> Result<Effort, Unusable> {
    sizes(root)?;
    let refs = Refs::of(root, draft);
    let mut graph = Graph { draft, ..Graph::default() };
    graph.add(root, String::new(), &refs)?;
    graph.effort()
}

fn sizes(root: &Value) -> Result<(), Unusable> {
    let (depth, values) = extent(root);
    if depth > LEVELS {
        return Err(Unusable::new("", format!("nested deeper than {LEVELS} levels")));
    }
    if values > VALUES {
        return Err(Unusable::new("", format!("more than {VALUES} values")));
    }
    Ok(())
}

/// How deep a value is nested, and of how many values it consists.
pub(crate) fn extent(value: &Value) -> (usize, usize) {
    let fold = |(depth, values): (usize, usize), inner: &Value| {
        let (inner_depth, inner_values) = extent(inner);
        (depth.max(inner_depth + 1), values + inner_values)
    };
    match value {
        Value::Array(list) => list.iter().fold((1, 1), fold),
        Value::Object(map) => map.values().fold((1, 1), fold),
        _ => (1, 1),
    }
}

/// The schemas of a document and what each applies, to the same value or below.
#[derive(Default)]
struct Graph<'a> {
    known: HashMap<*const Value, usize>,
    nodes: Vec<Node<'a>>,
    references: usize,
    patterns: usize,
    draft: Draft,
}

#[derive(Default)]
struct Node<'a> {
    path: String,
    same: Vec<usize>,
    below: Vec<(Way<'a>, usize)>,
    nested_id: Option<&'a str>,
}

/// Which values below a schema is for. A value is reached by one name or one index, so that schemas
/// for different ones never add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Way<'a> {
    Member(&'a str),
    /// Members that this node does not name itself.
    Rest(usize),
    AnyMember,
    Element(usize),
    AnyElement,
}

impl<'a> Way<'a> {
    fn of(child: &Inner<'a>, node: usize) -> Self {
        match (child.keyword, child.below) {
            ("properties", Some(Step::Key(name))) => Self::Member(name),
            ("additionalProperties", _) => Self::Rest(node),
            ("prefixItems" | "items", Some(Step::Index(index))) => Self::Element(index),
            ("items" | "additionalItems" | "contains" | "unevaluatedItems", _) => Self::AnyElement,
            _ => Self::AnyMember,
        }
    }
}

/// All schemas a value of a node leads to below, with how often each.
type Ways<'a> = BTreeMap<(Way<'a>, usize), u64>;

impl<'a> Graph<'a> {
    fn add(&mut self, schema: &'a Value, path: String, refs: &Refs<'a>) -> Result<usize, Unusable> {
        if let Some(&known) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok(known);
        }
        let index = self.nodes.len();
        self.known.insert(schema, index);
        self.nodes.push(Node { path: path.clone(), ..Node::default() });
        let Some(map) = schema.as_object() else {
            return Ok(index);
        };
        self.count(map, &path)?;
        if index > 0 {
            self.nodes[index].nested_id = own_id(map, self.draft);
        }
        for (reference, target) in refs.targets(map) {
            self.references += 1;
            let target = target.ok_or_else(|| astray(&path, reference))?;
            let target = self.add(target, reference.to_owned(), refs)?;
            self.nodes[index].same.push(target);
        }
        for child in inner(map) {
            let added = self.add(child.schema, child.path(&path), refs)?;
            let node = &mut self.nodes[index];
            match child.place {
                Place::Same => node.same.push(added),
                Place::Below => node.below.push((Way::of(&child, index), added)),
                Place::Kept => {}
            }
        }
        Ok(index)
    }

    fn count(&mut self, map: &Map<String, Value>, path: &str) -> Result<(), Unusable> {
        self.patterns += usize::from(map.contains_key("pattern"));
        let named = map.get("patternProperties").and_then(Value::as_object);
        self.patterns += named.map_or(0, Map::len);
        if self.patterns > PATTERNS {
            return Err(Unusable::new(path, format!("more than {PATTERNS} patterns")));
        }
        if self.references > REFERENCES {
            return Err(Unusable::new(path, format!("more than {REFERENCES} references")));
        }
        Ok(())
    }

    fn effort(&self) -> Result<Effort, Unusable> {
        self.one_resource()?;
        let order = self.order()?;
        let chain = self.chain(&order);
        let here = self.here(&order);
        if here.first().is_some_and(|&first| first > LOOKS) {
            return Err(Unusable::new("", format!("more than {LOOKS} schemas for one value")));
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
            if root > LOOKS_IN_ALL {
                break;
            }
        }
        Ok(Effort { looks, chain, patterns: self.patterns })
    }

    /// A reference below an `$id` of its own would mean another document.
    fn one_resource(&self) -> Result<(), Unusable> {
        if self.references == 0 {
            return Ok(());
        }
        match self.nodes.iter().find(|node| node.nested_id.is_some()) {
            Some(node) => {
                Err(Unusable::new(&*node.path, "an inner `$id` in a schema that has references"))
            }
            None => Ok(()),
        }
    }

    /// The nodes so that whatever applies to the same value comes before what applies it.
    fn order(&self) -> Result<Vec<usize>, Unusable> {
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
                Err(Unusable::new(path, "a reference that leads back to itself"))
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

    /// Looks at one value, by the node it is checked against.
    fn here(&self, order: &[usize]) -> Vec<u64> {
        let mut here = vec![1_u64; self.nodes.len()];
        for &index in order {
            let same = self.nodes[index].same.iter().map(|&used| here[used]);
            here[index] = same.fold(1, u64::saturating_add);
        }
        here
    }

    fn ways(&self, order: &[usize]) -> Result<Vec<Ways<'a>>, Unusable> {
        let mut all: Vec<Ways<'a>> = vec![Ways::new(); self.nodes.len()];
        let mut counted = 0;
        for &index in order {
            let node = &self.nodes[index];
            let mut ways = Ways::new();
            for &way in &node.below {
                *ways.entry(way).or_default() += 1;
            }
            for (&way, &times) in node.same.iter().flat_map(|&used| &all[used]) {
                let known = ways.entry(way).or_default();
                *known = known.saturating_add(times);
            }
            counted += ways.len();
            if counted > WAYS {
                return Err(Unusable::new("", "too many combinations of schemas"));
            }
            all[index] = ways;
        }
        Ok(all)
    }

    /// Looks at what stands below a value, along the costliest branch.
    fn most_below(&self, ways: &Ways<'_>, before: &[u64]) -> u64 {
        let (mut any_member, mut any_element, mut rests) = (0_u64, 0_u64, 0_u64);
        let mut members = BTreeMap::<&str, (u64, u64)>::new();
        let mut elements = BTreeMap::<usize, u64>::new();
        for (&(way, target), &times) in ways {
            let looks = times.saturating_mul(before[target]);
            let add = |sum: &mut u64| *sum = sum.saturating_add(looks);
            match way {
                Way::Member(name) => add(&mut members.entry(name).or_default().0),
                Way::AnyMember => add(&mut any_member),
                Way::Element(index) => add(elements.entry(index).or_default()),
                Way::AnyElement => add(&mut any_element),
                Way::Rest(node) => {
                    add(&mut rests);
                    for (way, _) in &self.nodes[node].below {
                        if let Way::Member(name) = way {
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

fn astray(path: &str, reference: &str) -> Unusable {
    let what = if reference.starts_with('#') {
        format!("`{reference}` leads to no place in the schema")
    } else {
        format!("`{reference}` leads out of the schema; nothing is fetched")
    };
    Unusable::new(format!("{path}/$ref"), what)
}
