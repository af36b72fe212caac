//! Finds the rules that may be about a capability without looking at all of them.
//!
//! Rules that spell out a server, a tool or a tag are looked up by it, and patterns by what is
//! certain of them (`texts`). It finds too many and never too few.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::glob::Glob;
use crate::pattern::{Join, Kinds, Named, Reading};
use crate::rule::Rule;
use crate::texts::{Numbers, Texts};

#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    /// By server, and by what it offers.
    pairs: HashMap<String, Texts>,
    /// By what is offered, whoever does.
    names: Texts,
    /// By a pattern of servers.
    servers: Texts,
    /// By a name that a host makes of a server.
    made: Texts,
    /// By a name that a host makes, or may make, of server and tool.
    joined: Texts,
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
        match reading {
            Reading::Pair { server, name, .. } => self.add_pair(number, server, name.as_ref()),
            Reading::Joined { whole, .. } => self.joined.add(whole, number),
            Reading::Made { server, .. } => self.made.add(server, number),
            Reading::Tag(parts) => {
                match parts.iter().map(Glob::plain).collect::<Option<Vec<_>>>() {
                    Some(parts) => self.tags.entry(parts.join(".")).or_default().push(number),
                    None => self.rest.push(number),
                }
            }
            Reading::Everything(_) => self.rest.push(number),
        }
    }

    /// By the server, if it is spelled out; else by whichever part tells it from more others.
    fn add_pair(&mut self, number: u32, server: &Glob, name: Option<&Glob>) {
        let crowd = |texts: &Texts, glob: &Glob| {
            let literal = glob.literal();
            (texts.crowd(literal), Reverse(literal.weight()))
        };
        match (server.plain(), name) {
            (Some(server), name) => {
                let names = self.pairs.entry(server.to_owned()).or_default();
                match name {
                    Some(name) => names.add(name, number),
                    None => names.add_any(number),
                }
            }
            (None, Some(name)) if crowd(&self.names, name) < crowd(&self.servers, server) => {
                self.names.add(name, number);
            }
            (None, _) => self.servers.add(server, number),
        }
    }

    /// Rules that may be about a capability, in their order.
    pub fn find(&self, named: &Named<'_>) -> Numbers {
        let mut found = self.rest.clone();
        let (server, name) = (named.id.server.as_str(), &*named.id.name);
        if let Some(names) = self.pairs.get(server) {
            names.find(name, &mut found);
        }
        self.names.find(name, &mut found);
        self.servers.find(server, &mut found);
        if !self.made.is_empty() {
            for made in [server, named.made(Join::Single), named.made(Join::Double)] {
                self.made.find(made, &mut found);
            }
        }
        if !self.joined.is_empty() && Kinds::Tools.has(named.id.kind) {
            let joined = [Join::Single, Join::Double].into_iter();
            joined
                .flat_map(|join| named.joined(join))
                .for_each(|name| self.joined.find(name, &mut found));
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
