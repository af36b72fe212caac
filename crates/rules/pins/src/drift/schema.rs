//! What changed in a schema, and whether it takes more or less for it.
//!
//! One claim is made, and held by a test with instances: if every change is *widened*, what the old
//! schema took the new one takes; if every change is *narrowed*, the other way round. A keyword is
//! therefore compared only where what it says adds up (`properties`, `items`, `allOf`, …). Everything
//! that can be undone from elsewhere (`oneOf`, `if`, references, whatever is unevaluated) is
//! *changed*. References are not followed: what they lead to is compared where it stands.

mod keywords;
mod objects;

use toolgate_model::Severity;
use toolgate_wire::canonical::Text;

use super::words::{brief, word};
use super::{Drift, Found, Relation, changed, pairs, step};
use crate::tree::Json;

/// Which schema of a tool it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// What it takes.
    Input,
    /// What it promises to give.
    Output,
}

/// Keywords that look at what others have looked at: with one of them nothing adds up.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Tells every difference between two schemas of a tool.
pub(crate) fn compare(
    drift: &mut Drift,
    side: Side,
    pointer: &str,
    was: Option<&Json>,
    is: Option<&Json>,
) {
    let open = Json::Flag(true);
    let (before, now) = (was.unwrap_or(&open), is.unwrap_or(&open));
    let undecided = [before, now].into_iter().any(|schema| mentions(schema, &UNEVALUATED));
    let mut within = Within { drift, side, undecided, flipped: false };
    if was.is_none() || is.is_none() {
        // A tool without an input schema is of no use at all, rather than one that takes all.
        let text =
            format!("the {} schema was {}", side.as_str(), changed(was.is_some(), is.is_some()));
        within.tell(pointer.to_owned(), Relation::Changed, text, (was, is));
        return;
    }
    within.schema(pointer, before, now);
}

/// Whether any of these keys stands anywhere in a value.
fn mentions(value: &Json, keys: &[&str]) -> bool {
    let key_is = |key: &Text| keys.iter().any(|wanted| *key == **wanted);
    value.members().iter().any(|(key, inner)| key_is(key) || mentions(inner, keys))
        || value.elements().iter().any(|inner| mentions(inner, keys))
}

impl Side {
    fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Output => "output",
        }
    }

    fn code(self, relation: Relation) -> &'static str {
        match (self, relation) {
            (Self::Input, Relation::Widened) => "input-widened",
            (Self::Input, Relation::Narrowed) => "input-narrowed",
            (Self::Input, Relation::Changed) => "input-changed",
            (Self::Input, Relation::Same) => "input-reworded",
            (Self::Output, Relation::Widened) => "output-widened",
            (Self::Output, Relation::Narrowed) => "output-narrowed",
            (Self::Output, Relation::Changed) => "output-changed",
            (Self::Output, Relation::Same) => "output-reworded",
        }
    }
}

impl Relation {
    /// The other way round.
    fn flipped(self) -> Self {
        match self {
            Self::Widened => Self::Narrowed,
            Self::Narrowed => Self::Widened,
            same => same,
        }
    }

    /// What holds where both hold.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Same, other) => other,
            (one, Self::Same) => one,
            (one, other) if one == other => one,
            _ => Self::Changed,
        }
    }

    /// That of something which restricts, and was added or removed.
    fn restriction(before: bool, now: bool) -> Self {
        match (before, now) {
            (false, true) => Self::Narrowed,
            (true, false) => Self::Widened,
            _ => Self::Changed,
        }
    }
}

type Values<'a> = (Option<&'a Json>, Option<&'a Json>);

/// Where a comparison goes on.
pub(crate) struct Within<'d> {
    drift: &'d mut Drift,
    side: Side,
    /// Nothing that is found can be weighed.
    undecided: bool,
    /// Inside a `not`: what takes more there takes less here.
    flipped: bool,
}

impl Within<'_> {
    pub(crate) fn tell(
        &mut self,
        pointer: String,
        relation: Relation,
        text: String,
        values: Values<'_>,
    ) {
        let relation = match relation {
            _ if self.undecided => Relation::Changed,
            other if self.flipped => other.flipped(),
            other => other,
        };
        let severity = match relation {
            Relation::Widened | Relation::Changed => Severity::Warning,
            Relation::Narrowed | Relation::Same => Severity::Note,
        };
        let code = self.side.code(relation);
        self.drift.add(Found { code, pointer, severity, text, values });
    }

    /// Tells of words that decide nothing, and that models read all the same.
    pub(crate) fn reword(&mut self, pointer: String, text: String, values: Values<'_>) {
        let (code, severity) = (self.side.code(Relation::Same), Severity::Error);
        self.drift.add(Found { code, pointer, severity, text, values });
    }

    /// Compares two schemas and tells how they differ.
    pub(crate) fn schema(&mut self, pointer: &str, before: &Json, now: &Json) {
        // The order of these two bounds what is compared: equality is a look at everything.
        if !self.drift.affords(before.members().len() + now.members().len()) {
            let text = "the schemas differ in more than is compared".to_owned();
            return self.tell(pointer.to_owned(), Relation::Changed, text, (None, None));
        }
        if before == now {
            return;
        }
        match (before, now) {
            (Json::Object(_), Json::Object(_)) => self.keywords(pointer, before, now),
            _ => {
                let text = format!("the schema went from {} to {}", brief(before), brief(now));
                let relation = whole(before, now);
                self.tell(pointer.to_owned(), relation, text, (Some(before), Some(now)));
            }
        }
    }

    /// How two schemas compare, without telling.
    fn relation(&mut self, before: &Json, now: &Json) -> Relation {
        let mut aside = Drift { looks: self.drift.looks, ..Drift::default() };
        let side = self.side;
        let mut within = Within { drift: &mut aside, side, undecided: false, flipped: false };
        within.schema("", before, now);
        self.drift.looks = aside.looks;
        let of = |code: &str| match code.rsplit('-').next() {
            Some("widened") => Relation::Widened,
            Some("narrowed") => Relation::Narrowed,
            Some("reworded") => Relation::Same,
            _ => Relation::Changed,
        };
        aside.changes.iter().map(|change| of(change.code)).fold(Relation::Same, Relation::and)
    }

    fn keywords(&mut self, pointer: &str, before: &Json, now: &Json) {
        self.objects(pointer, before, now);
        for (key, was, is) in pairs(before, now) {
            if was != is && !objects::HERE.iter().any(|own| *key == **own) {
                let at = step(pointer, key);
                self.keyword(&key.lossy(), at, (was, is), (before, now));
            }
        }
    }

    /// Goes on inside schemas that stand at the same places of a map or list.
    fn inner(&mut self, at: &str, key: &Text, was: Option<&Json>, is: Option<&Json>) {
        let open = Json::Flag(true);
        let at = step(at, key);
        let (before, now) = (was.unwrap_or(&open), is.unwrap_or(&open));
        if was.is_some() && is.is_some() {
            return self.schema(&at, before, now);
        }
        let text = format!("{} was {}", word(&key.lossy()), changed(was.is_some(), is.is_some()));
        let relation = self.relation(before, now);
        self.tell(at, relation, text, (was, is));
    }
}

/// How two schemas compare of which at least one is no object.
fn whole(before: &Json, now: &Json) -> Relation {
    let is_open = |schema: &Json| match schema {
        Json::Flag(open) => Some(*open),
        Json::Object(members) if members.is_empty() => Some(true),
        _ => None,
    };
    let is_schema = |schema: &Json| matches!(schema, Json::Flag(_) | Json::Object(_));
    if !is_schema(before) || !is_schema(now) {
        return Relation::Changed;
    }
    match (is_open(before), is_open(now)) {
        (one, other) if one.is_some() && one == other => Relation::Same,
        (Some(false), _) | (_, Some(true)) => Relation::Widened,
        (Some(true), _) | (_, Some(false)) => Relation::Narrowed,
        _ => Relation::Changed,
    }
}
