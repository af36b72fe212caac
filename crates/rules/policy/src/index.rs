//! Finds the rules that may be about a capability without looking at all of them.
//!
//! Rules that spell out a server, a tool or a tag are looked up by it; only those with a pattern in
//! the place of the server are tried one by one. It finds too many and never too few.

use std::collections::HashMap;

use crate::glob::Glob;
use crate::pattern::{Join, Named, Reading};
use crate::rule::Rule;

/// Numbers of rules.
type Numbers = Vec<u32>;

#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// By server, and by the name of what it offers.
    pairs: HashMap<String, HashMap<String, Numbers>>,
    /// By server alone.
    servers: HashMap<String, Numbers>,
    /// By what is offered, whoever does.
    names: HashMap<String, Numbers>,
    /// By a name that a host makes of a server.
    made: HashMap<String, Numbers>,
    /// By a name that a host makes, or may make, of server and tool.
    joined: HashMap<String, Numbers>,
    /// By tag.
    tags: HashMap<String, Numbers>,
    /// Everything else.
    rest: Numbers,
}

impl Index {
    pub fn of<'a>(rules: impl Iterator<Item = &'a Rule>) -> Self {
        let mut index = Self::default();
        for (number, rule) in (0..).zip(rules) {
            for reading in rule.place.iter().flat_map(|_| &rule.pattern.readings) {
                index.add(number, reading);
            }
        }
        index
    }

    fn add(&mut self, number: u32, reading: &Reading) {
        let numbers = match reading {
            Reading::Pair { server, name, .. } => {
                match (server.plain(), name.as_ref().and_then(Glob::plain)) {
                    (Some(server), Some(name)) => {
                        let names = self.pairs.entry(server.to_owned()).or_default();
                        names.entry(name.to_owned()).or_default()
                    }
                    (Some(server), None) => self.servers.entry(server.to_owned()).or_default(),
                    (None, Some(name)) => self.names.entry(name.to_owned()).or_default(),
                    (None, None) => &mut self.rest,
                }
            }
            Reading::Joined { whole, .. } => match whole.plain() {
                Some(whole) => self.joined.entry(whole.to_owned()).or_default(),
                None => &mut self.rest,
            },
            Reading::Tag(parts) => {
                match parts.iter().map(Glob::plain).collect::<Option<Vec<_>>>() {
                    Some(parts) => self.tags.entry(parts.join(".")).or_default(),
                    None => &mut self.rest,
                }
            }
            Reading::Made { server, .. } => match server.plain() {
                Some(server) => self.made.entry(server.to_owned()).or_default(),
                None => &mut self.rest,
            },
            Reading::Everything(_) => &mut self.rest,
        };
        numbers.push(number);
    }

    /// Rules that may be about a capability, in their order.
    pub fn find(&self, named: &Named<'_>) -> Numbers {
        let mut found = self.rest.clone();
        let (server, name) = (named.id.server.as_str(), &*named.id.name);
        found
            .extend(self.pairs.get(server).and_then(|names| names.get(name)).into_iter().flatten());
        found.extend(self.servers.get(server).into_iter().flatten());
        found.extend(self.names.get(name).into_iter().flatten());
        if !self.made.is_empty() {
            let made = [server, named.made(Join::Single), named.made(Join::Double)];
            found.extend(made.iter().filter_map(|name| self.made.get(*name)).flatten());
        }
        if !self.joined.is_empty() {
            let joins = [Join::Single, Join::Double].into_iter();
            let made = joins.flat_map(|join| named.joined(join));
            found.extend(made.filter_map(|name| self.joined.get(name)).flatten());
        }
        if !self.tags.is_empty() {
            let above = named.tags.iter().flat_map(|tag| {
                let dots = tag.match_indices('.').map(|(at, _)| &tag[..at]);
                dots.chain([tag.as_str()])
            });
            found.extend(above.filter_map(|tag| self.tags.get(tag)).flatten());
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}
