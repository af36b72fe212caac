//! Finds the rules that may match a capability without checking all of them.
//!
//! Rules that spell out a server, a tool or a tag are looked up by it, and patterns by their
//! literal part (`pattern_index`). The index may return rules that do not match, but never misses
//! one.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::glob::Glob;
use crate::pattern::{CapabilityKinds, NameSeparator, NamedCapability, PatternReading};
use crate::pattern_index::{PatternIndex, RuleNumbers};
use crate::rule::Rule;

/// An index of rules by their subjects.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleIndex {
    /// By server, then by name.
    pairs: HashMap<String, PatternIndex>,
    /// By name on any server.
    names: PatternIndex,
    /// By a pattern of servers.
    servers: PatternIndex,
    /// By the name that a host makes of a server.
    host_server_names: PatternIndex,
    /// By a joined name that a host makes, or may make, of server and tool.
    joined_names: PatternIndex,
    /// By tag.
    tags: HashMap<String, RuleNumbers>,
    /// Everything else.
    rest: RuleNumbers,
}

impl RuleIndex {
    pub fn of<'a>(rules: impl Iterator<Item = &'a Rule>) -> Self {
        let mut index = Self::default();
        for (number, rule) in (0..).zip(rules) {
            for reading in rule.precedence.iter().flat_map(|_| &rule.pattern.readings) {
                index.add(number, reading);
            }
        }
        index
    }

    fn add(&mut self, number: u32, reading: &PatternReading) {
        match reading {
            PatternReading::Pair { server, name, .. } => {
                self.add_pair(number, server, name.as_ref())
            }
            PatternReading::JoinedName { whole, .. } => self.joined_names.add(whole, number),
            PatternReading::HostServerName { server, .. } => {
                self.host_server_names.add(server, number)
            }
            PatternReading::Tag(parts) => {
                match parts.iter().map(Glob::as_literal).collect::<Option<Vec<_>>>() {
                    Some(parts) => self.tags.entry(parts.join(".")).or_default().push(number),
                    None => self.rest.push(number),
                }
            }
            PatternReading::Everything(_) => self.rest.push(number),
        }
    }

    /// Indexes by the server if it is spelled out, otherwise by the more selective part.
    fn add_pair(&mut self, number: u32, server: &Glob, name: Option<&Glob>) {
        let crowd = |texts: &PatternIndex, glob: &Glob| {
            let literal = glob.certain_part();
            (texts.match_count(literal), Reverse(literal.weight()))
        };
        match (server.as_literal(), name) {
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

    /// Returns the rules that may match a capability, in order.
    pub fn find(&self, named: &NamedCapability<'_>) -> RuleNumbers {
        let mut found = self.rest.clone();
        let (server, name) = (named.id.server.as_str(), &*named.id.name);
        if let Some(names) = self.pairs.get(server) {
            names.find(name, &mut found);
        }
        self.names.find(name, &mut found);
        self.servers.find(server, &mut found);
        if !self.host_server_names.is_empty() {
            for made in [
                server,
                named.host_server_name(NameSeparator::Single),
                named.host_server_name(NameSeparator::Double),
            ] {
                self.host_server_names.find(made, &mut found);
            }
        }
        if !self.joined_names.is_empty() && CapabilityKinds::Tools.has(named.id.kind) {
            let joined = [NameSeparator::Single, NameSeparator::Double].into_iter();
            joined
                .flat_map(|join| named.joined_names(join))
                .for_each(|name| self.joined_names.find(name, &mut found));
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
