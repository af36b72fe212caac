//! Names a set of tools or of prompts, and says where two of them met.

use std::collections::{BTreeMap, HashMap};

use toolgate_model::{CapabilityId, CapabilityKind, ServerName};

use crate::assign::{Assignment, Claimant, assign};
use crate::bounds::Bounds;
use crate::names::{Member, Wish, digested, is_whole};
use crate::style::{Claim, Style};
use crate::styles::wishes;

/// The names of a set, and what is to be said of them.
pub(crate) struct Named {
    /// In the order of the claims; `None` for one whose every name is taken.
    pub names: Vec<Option<String>>,
    pub notes: Vec<String>,
}

/// Names the claims of one kind, which are in the order of their ids.
pub(crate) fn name_all(
    kind: CapabilityKind,
    claims: &[&Claim],
    servers: &[&ServerName],
    style: &Style,
) -> Named {
    let mut notes = Vec::new();
    let places: HashMap<_, _> =
        servers.iter().zip(0..).map(|(name, place)| (*name, place)).collect();
    let mut members = Vec::with_capacity(claims.len());
    for claim in claims {
        members.push(Member {
            name: called(claim, &mut notes),
            own: style.own.contains(&claim.id.server),
            place: places.get(&claim.id.server).copied().unwrap_or(usize::MAX),
            id: &claim.id,
        });
    }
    // The gateway has tools of its own, and no prompts.
    let reserved = if kind == CapabilityKind::Tool { &style.reserved[..] } else { &[] };
    let wishes = wishes(&members, style, reserved);
    let bounds = Bounds::of(style);
    let claimants: Vec<_> = members
        .iter()
        .zip(&wishes)
        .map(|(member, wish)| Claimed { member, wish, bounds })
        .collect();
    let assignment = assign(&claimants, reserved);
    notes.extend(met(&claimants, &assignment, reserved));
    Named { names: assignment.names, notes }
}

/// What a file calls it, if that can be shown, else its own name.
fn called<'a>(claim: &'a Claim, notes: &mut Vec<String>) -> &'a str {
    let Some(alias) = &claim.alias else { return &claim.id.name };
    let as_name = CapabilityId { name: alias.clone(), ..claim.id.clone() };
    match as_name.unusable() {
        None => alias,
        Some(reason) => {
            let id = &claim.id;
            notes.push(format!("the alias of {id} cannot be used: {reason}"));
            &id.name
        }
    }
}

struct Claimed<'a> {
    member: &'a Member<'a>,
    wish: &'a Wish,
    bounds: Bounds,
}

impl Claimant for Claimed<'_> {
    fn choice(&self, level: usize) -> Option<String> {
        let Wish { plain, base } = self.wish;
        match plain.get(level) {
            Some(name) => Some(name.clone()),
            None => digested(base, self.member, level - plain.len(), self.bounds),
        }
    }

    fn has_precedence(&self) -> bool {
        self.member.own
    }

    fn is_own(&self, level: usize) -> bool {
        level.checked_sub(self.wish.plain.len()).is_some_and(is_whole)
    }
}

/// Who met at a name.
#[derive(Default)]
struct Meeting {
    moved: Vec<usize>,
    kept: Option<usize>,
    /// Whether one of them has to carry a digest instead.
    marked: bool,
}

/// A note for every name that several wanted, if one of them has to carry a digest instead.
fn met(claimants: &[Claimed<'_>], assignment: &Assignment, reserved: &[&str]) -> Vec<String> {
    let mut meetings: BTreeMap<&str, Meeting> = BTreeMap::new();
    for clash in &assignment.clashes {
        let meeting = meetings.entry(&clash.name).or_default();
        for (who, to) in &clash.moved {
            meeting.marked |= *to >= claimants[*who].wish.plain.len();
            meeting.moved.push(*who);
        }
        meeting.kept = clash.kept;
    }
    let id = |who: usize| claimants[who].member.id;
    let note = |(name, meeting): (&str, Meeting)| {
        let who = list(&meeting.moved.into_iter().map(id).collect::<Vec<_>>());
        match meeting.kept.map(id) {
            Some(kept) => format!("{who} would be {name:?}, which is the name of {kept}"),
            None if reserved.contains(&name) => {
                format!("{who} would be {name:?}, which is the gateway's own")
            }
            None => format!("{who} would all be {name:?}: a digest or an alias tells them apart"),
        }
    };
    meetings.into_iter().filter(|(_, meeting)| meeting.marked).map(note).collect()
}

/// The first few of many.
fn list(ids: &[&CapabilityId]) -> String {
    const SHOWN: usize = 4;
    let shown: Vec<_> = ids.iter().take(SHOWN).map(ToString::to_string).collect();
    match ids.len().saturating_sub(SHOWN) {
        0 => shown.join(" and "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
