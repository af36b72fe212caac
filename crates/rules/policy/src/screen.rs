//! Of many rules about one thing, those that can hold for a call, without trying them all.
//!
//! A rule is found by one thing that it demands: a text or a number at some place of the arguments,
//! else a client, else a profile. Whether it holds is still asked of the rule itself. What cannot be
//! told of the arguments is the rule's affair, so where that is so everything is found.

use std::cmp::Reverse;
use std::collections::HashMap;

use toolgate_model::Effect;
use toolgate_wire::{scan, string};

use crate::Asked;
use crate::condition::{Arguments, Demand, Key, find};
use crate::glob::Literal;
use crate::number;
use crate::rule::Rule;
use crate::texts::{Numbers, Texts};

/// Rules, by what they demand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Screen {
    /// Those that must be tried at every call.
    always: Numbers,
    clients: Texts,
    profiles: Texts,
    /// By the first member of the arguments that their condition looks into.
    members: HashMap<Box<str>, Vec<Demands>>,
}

/// What is demanded of one place in the arguments.
#[derive(Debug, Clone)]
struct Demands {
    /// The way there from the first member.
    path: Vec<String>,
    texts: Texts,
    /// By the value, as a reader sees it who knows doubles only.
    numbers: HashMap<u64, Numbers>,
    /// Those that demand a text, and count also where it cannot be told whether there is one.
    lenient: Numbers,
}

/// Rules that are to be tried.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// All of them.
    All,
    /// These, in their order, and those that are tried at every call.
    Some(Numbers),
}

impl Screen {
    /// A screen before rules whose places among these are their numbers.
    pub fn of<'a>(rules: impl Iterator<Item = &'a Rule>) -> Self {
        let mut screen = Self::default();
        for (number, rule) in (0..).zip(rules) {
            let keys = rule.when.iter().filter_map(|test| test.key());
            // What many demand does not tell them apart.
            let rarest = keys.min_by_key(|key| (screen.crowd(key), Reverse(key.demand.weight())));
            match (rarest, &rule.client, &rule.profile) {
                (Some(key), ..) => screen.place(&key).add(&key.demand, rule, number),
                (None, Some(client), _) => screen.clients.add(&client.glob, number),
                (None, None, Some(profile)) => screen.profiles.add(profile, number),
                (None, None, None) => screen.always.push(number),
            }
        }
        screen
    }

    /// How many demand the same there, or what cannot be told from it.
    fn crowd(&self, key: &Key<'_>) -> usize {
        let places = self.members.get(key.member).into_iter().flatten();
        let place = places.into_iter().find(|it| it.path == key.path);
        place.map_or(0, |place| place.crowd(&key.demand))
    }

    fn place(&mut self, key: &Key<'_>) -> &mut Demands {
        let places = self.members.entry(key.member.into()).or_default();
        let at = places.iter().position(|it| it.path == key.path).unwrap_or_else(|| {
            places.push(Demands::at(key.path));
            places.len() - 1
        });
        &mut places[at]
    }

    /// Those that are tried at every call, in their order.
    pub fn always(&self) -> &[u32] {
        &self.always
    }

    /// The others that can hold.
    pub fn candidates(&self, asked: &Asked<'_>, arguments: &Arguments<'_>) -> Candidates {
        let mut found = Numbers::new();
        self.clients.find(asked.client, &mut found);
        if asked.caller != asked.client {
            self.clients.find(asked.caller, &mut found);
        }
        self.profiles.find(asked.profile, &mut found);
        if !self.members.is_empty() {
            let Some(object) = arguments.object() else { return Candidates::All };
            for (key, at) in scan::members(object) {
                for demands in self.members.get(&*key).into_iter().flatten() {
                    demands.find(at.of(object), &mut found);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        Candidates::Some(found)
    }
}

impl Demands {
    fn at(path: &[String]) -> Self {
        let (texts, numbers, lenient) = (Texts::default(), HashMap::new(), Numbers::new());
        Self { path: path.to_owned(), texts, numbers, lenient }
    }

    fn crowd(&self, demand: &Demand<'_>) -> usize {
        match demand {
            Demand::Glob(glob) => self.texts.crowd(glob.literal()),
            Demand::Text(text) => self.texts.crowd(Literal::Whole(text)),
            Demand::Number(double) => self.numbers.get(&bits(*double)).map_or(0, Vec::len),
        }
    }

    fn add(&mut self, demand: &Demand<'_>, rule: &Rule, number: u32) {
        match demand {
            Demand::Glob(glob) => self.texts.add(glob, number),
            Demand::Text(text) => self.texts.add_whole(text, number),
            Demand::Number(double) => {
                return self.numbers.entry(bits(*double)).or_default().push(number);
            }
        }
        if rule.effect != Effect::Allow {
            self.lenient.push(number);
        }
    }

    fn find(&self, member: &[u8], found: &mut Numbers) {
        let Some(raw) = find(member, &self.path) else { return };
        let number = |text: &str| {
            let known = (!self.numbers.is_empty()).then(|| number::double(text)).flatten();
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
            // What is no text is at most one for somebody who is not strict.
            _ => {
                found.extend(&self.lenient);
                found.extend(std::str::from_utf8(raw).ok().into_iter().flat_map(number));
            }
        }
    }
}

/// The same for everything that is equal.
fn bits(double: f64) -> u64 {
    if double == 0.0 { 0 } else { double.to_bits() }
}
