//! Finds the rules that can apply to a call without evaluating all of them.
//!
//! A rule is indexed by one of its requirements: a text or number in the arguments, otherwise a
//! client, otherwise a profile. The rule itself still decides whether it applies. If the arguments
//! are ambiguous, every rule is a candidate.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use toolgate_model::Effect;
use toolgate_wire::{scan, string};

use crate::PolicyQuery;
use crate::condition::{CallArguments, ConditionIndexKey, RequiredArgumentValue, lookup_path};
use crate::glob::GlobLiteral;
use crate::number;
use crate::pattern_index::{PatternIndex, RuleNumbers};
use crate::rule::Rule;

/// An index of rules by one of their requirements.
#[derive(Debug, Clone, Default)]
pub(crate) struct RulePrefilter {
    /// The rules that must be evaluated for every call, in order.
    pub always: RuleNumbers,
    clients: PatternIndex,
    profiles: PatternIndex,
    /// Rules by the top-level argument that their condition reads, and the path below it.
    members: HashMap<Box<str>, BTreeMap<Vec<String>, ArgumentValueIndex>>,
}

/// The requirements on the value at one path in the arguments.
#[derive(Debug, Clone, Default)]
struct ArgumentValueIndex {
    texts: PatternIndex,
    /// Rules by required number, as the bits of a double.
    numbers: HashMap<u64, RuleNumbers>,
    /// Rules that require a text and also count if it is unclear whether the value is one.
    lenient: RuleNumbers,
}

impl RulePrefilter {
    /// Builds the index. Rules are numbered by their position.
    pub fn from_rules<'a>(rules: impl Iterator<Item = &'a Rule>) -> Self {
        let mut prefilter = Self::default();
        for (number, rule) in (0..).zip(rules) {
            let keys = rule.conditions.iter().filter_map(|test| test.key());
            // A requirement that many rules share is not selective.
            let rarest =
                keys.min_by_key(|key| (prefilter.match_count(key), Reverse(key.required.weight())));
            match (rarest, &rule.client, &rule.profile) {
                (Some(key), ..) => {
                    let paths = prefilter.members.entry(key.member.into()).or_default();
                    let values = paths.entry(key.path.to_owned()).or_default();
                    values.add(&key.required, rule, number);
                }
                (None, Some(client), _) => prefilter.clients.add(&client.glob, number),
                (None, None, Some(profile)) => prefilter.profiles.add(profile, number),
                (None, None, None) => prefilter.always.push(number),
            }
        }
        prefilter
    }

    /// Returns how many rules the index would find together with one of this requirement.
    fn match_count(&self, key: &ConditionIndexKey<'_>) -> usize {
        let values = self.members.get(key.member).and_then(|paths| paths.get(key.path));
        values.map_or(0, |values| values.match_count(&key.required))
    }

    /// Returns the other rules that can apply, in order; `None` if any rule can.
    pub fn candidates(
        &self,
        query: &PolicyQuery<'_>,
        arguments: &CallArguments<'_>,
    ) -> Option<RuleNumbers> {
        let mut found = RuleNumbers::new();
        self.clients.find(query.client, &mut found);
        if query.caller != query.client {
            self.clients.find(query.caller, &mut found);
        }
        self.profiles.find(query.profile, &mut found);
        if !self.members.is_empty() {
            let object = arguments.object()?;
            for (key, at) in scan::members(object) {
                for (path, values) in self.members.get(&*key).into_iter().flatten() {
                    if let Some(raw) = lookup_path(at.slice(object), path) {
                        values.find(raw, &mut found);
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }
}

impl ArgumentValueIndex {
    fn match_count(&self, required: &RequiredArgumentValue<'_>) -> usize {
        match required {
            RequiredArgumentValue::Glob(glob) => self.texts.match_count(glob.certain_part()),
            RequiredArgumentValue::Text(text) => self.texts.match_count(GlobLiteral::Whole(text)),
            RequiredArgumentValue::Number(double) => {
                self.numbers.get(&bits(*double)).map_or(0, Vec::len)
            }
        }
    }

    fn add(&mut self, required: &RequiredArgumentValue<'_>, rule: &Rule, number: u32) {
        match required {
            RequiredArgumentValue::Glob(glob) => self.texts.add(glob, number),
            RequiredArgumentValue::Text(text) => self.texts.add_whole(text, number),
            RequiredArgumentValue::Number(double) => {
                return self.numbers.entry(bits(*double)).or_default().push(number);
            }
        }
        if rule.effect != Effect::Allow {
            self.lenient.push(number);
        }
    }

    fn find(&self, raw: &[u8], found: &mut RuleNumbers) {
        let number = |text: &str| {
            let known = (!self.numbers.is_empty()).then(|| number::parse_double(text)).flatten();
            known.and_then(|double| self.numbers.get(&bits(double))).into_iter().flatten()
        };
        match (raw.first(), string::decode(raw)) {
            (Some(b'"'), Some(text)) => {
                self.texts.find(&text, found);
                found.extend(number(text.trim()));
            }
            (Some(b'"'), None) => {
                found.extend(&self.lenient);
                found.extend(self.numbers.values().flatten());
            }
            // A value other than a text is one only for a lenient reader.
            _ => {
                found.extend(&self.lenient);
                found.extend(std::str::from_utf8(raw).ok().into_iter().flat_map(number));
            }
        }
    }
}

/// Returns the same bits for equal doubles.
fn bits(double: f64) -> u64 {
    if double == 0.0 { 0 } else { double.to_bits() }
}
