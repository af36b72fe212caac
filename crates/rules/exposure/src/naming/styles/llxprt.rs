//! LLxprt: the bare name for the first server that has it, `server__tool` for the others; a long
//! name loses its middle.
//!
//! First means first in the configuration, not first to connect. Two tools of one server with the
//! same name have no order: `assign` separates them, and tools of other servers with that name
//! contain their server's name as if one of the two had the bare one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use toolgate_model::CapabilityKind;

use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate};

/// The characters kept at each end of a long name.
const KEPT: (usize, usize) = (28, 32);

pub(super) fn name_choices(
    members: &[NamingCandidate<'_>],
    reserved: &[&str],
    bounds: NameBounds,
) -> Vec<NameChoices> {
    let bare: Vec<_> =
        members.iter().map(|member| cut(bounds.sanitised(member.name), bounds)).collect();
    let mut first: HashMap<&str, NameRank<'_>> =
        reserved.iter().map(|name| (*name, NameRank::Reserved)).collect();
    for (member, name) in members.iter().zip(&bare) {
        match first.entry(name) {
            Entry::Vacant(entry) => drop(entry.insert(NameRank::of(member))),
            Entry::Occupied(mut entry) if NameRank::of(member) < *entry.get() => {
                entry.insert(NameRank::of(member));
            }
            Entry::Occupied(_) => {}
        }
    }
    let wish = |(member, bare): (&NamingCandidate<'_>, &String)| {
        // For prompts LLxprt uses a single underscore.
        let between = if member.id.kind == CapabilityKind::Prompt { "_" } else { "__" };
        let base = member.qualified_name(between, bounds);
        let is_first = first.get(bare.as_str()) == Some(&NameRank::of(member));
        let name = if is_first { bare.clone() } else { cut(base.clone(), bounds) };
        NameChoices { plain: vec![name], base }
    };
    members.iter().zip(&bare).map(wish).collect()
}

/// The precedence of claimants of a bare name; smaller wins.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum NameRank<'a> {
    Reserved,
    Own,
    Server(usize, &'a str),
}

impl<'a> NameRank<'a> {
    fn of(member: &NamingCandidate<'a>) -> Self {
        match member.own {
            true => Self::Own,
            false => Self::Server(member.place, member.id.server.as_str()),
        }
    }
}

fn cut(name: String, bounds: NameBounds) -> String {
    if name.len() <= bounds.max {
        return name;
    }
    let (head, tail) = KEPT;
    format!("{}___{}", &name[..head], &name[name.len() - tail..])
}
