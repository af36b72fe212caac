//! LLxprt's: the bare name for the first server that has it, `server__tool` for the rest; of a long
//! name the middle is left out.
//!
//! First is who stands first in the configuration, not who connected first. Two tools of one server
//! that would be the same have no order: `assign` tells them apart, and the other servers'
//! tools of that name carry their server's name as if one of the two had got it.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use toolgate_model::CapabilityKind;

use crate::bounds::Bounds;
use crate::names::{Member, Wish};

/// What stays of the ends of a long name.
const KEPT: (usize, usize) = (28, 32);

pub(super) fn wishes(members: &[Member<'_>], reserved: &[&str], bounds: Bounds) -> Vec<Wish> {
    let bare: Vec<_> =
        members.iter().map(|member| cut(bounds.sanitised(member.name), bounds)).collect();
    let mut first: HashMap<&str, Rank<'_>> =
        reserved.iter().map(|name| (*name, Rank::Reserved)).collect();
    for (member, name) in members.iter().zip(&bare) {
        match first.entry(name) {
            Entry::Vacant(entry) => drop(entry.insert(Rank::of(member))),
            Entry::Occupied(mut entry) if Rank::of(member) < *entry.get() => {
                entry.insert(Rank::of(member));
            }
            Entry::Occupied(_) => {}
        }
    }
    let wish = |(member, bare): (&Member<'_>, &String)| {
        // Prompts that meet are joined by a single one.
        let between = if member.id.kind == CapabilityKind::Prompt { "_" } else { "__" };
        let base = member.joined(between, bounds);
        let is_first = first.get(bare.as_str()) == Some(&Rank::of(member));
        let name = if is_first { bare.clone() } else { cut(base.clone(), bounds) };
        Wish { plain: vec![name], base }
    };
    members.iter().zip(&bare).map(wish).collect()
}

/// Who has a bare name before whom.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank<'a> {
    Reserved,
    Own,
    Server(usize, &'a str),
}

impl<'a> Rank<'a> {
    fn of(member: &Member<'a>) -> Self {
        match member.own {
            true => Self::Own,
            false => Self::Server(member.place, member.id.server.as_str()),
        }
    }
}

fn cut(name: String, bounds: Bounds) -> String {
    if name.len() <= bounds.max {
        return name;
    }
    let (head, tail) = KEPT;
    format!("{}___{}", &name[..head], &name[name.len() - tail..])
}
