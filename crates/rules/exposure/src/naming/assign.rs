//! Gives every member of a set a unique name, independent of the order of the set.
//!
//! Each claimant has a list of choices. Claimants that share a name all move on to their next
//! choice at the same time, until no name is shared. A name that was given up this way is closed: a
//! claimant that reaches it later moves on too.

use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A claimant of a name.
pub(crate) trait NameClaimant {
    /// Returns the choice at a level, best first; `None` after the last.
    fn choice(&self, level: usize) -> Option<String>;

    /// Returns true if its first choice wins over the choices of others.
    fn has_precedence(&self) -> bool;

    /// Returns true if a choice identifies the claimant so fully that another claimant of the same
    /// name must be an imitation.
    fn is_unique(&self, level: usize) -> bool;
}

/// The assigned names, and the clashes on the way.
pub(crate) struct NameAssignment {
    /// The names in the order of the claimants; `None` if every choice is taken.
    pub names: Vec<Option<String>>,
    /// The names that several claimants wanted, by name.
    pub clashes: BTreeMap<String, NameClash>,
}

/// The claimants of a name that several wanted.
#[derive(Default)]
pub(crate) struct NameClash {
    /// The claimants that moved on, each with its next level.
    pub moved: Vec<(usize, usize)>,
    /// The claimant that keeps the name by precedence.
    pub kept: Option<usize>,
}

/// Assigns names. No claimant gets a reserved one.
pub(crate) fn assign<C: NameClaimant>(claimants: &[C], reserved: &[&str]) -> NameAssignment {
    let closed = || NameClaimants { closed: true, ..NameClaimants::default() };
    let mut table = AssignmentTable {
        claimants,
        names: vec![None; claimants.len()],
        levels: vec![0; claimants.len()],
        owners: reserved.iter().map(|name| ((*name).to_owned(), closed())).collect(),
    };
    let mut touched: BTreeSet<String> =
        (0..claimants.len()).filter_map(|who| table.take(who, 0)).collect();
    let mut clashes = BTreeMap::<String, NameClash>::new();
    // Only names that were just taken can be shared, so a hostile chain of names costs no more than
    // its length.
    while !touched.is_empty() {
        let met = |name: String| table.clash(&name).map(|clash| (name, clash));
        let met: Vec<_> = std::mem::take(&mut touched).into_iter().filter_map(met).collect();
        for (name, NameClash { moved, kept }) in met {
            touched.extend(moved.iter().filter_map(|(who, to)| table.take(*who, *to)));
            let known = clashes.entry(name).or_default();
            known.moved.extend(moved);
            known.kept = kept;
        }
    }
    NameAssignment { names: table.names, clashes }
}

/// The state of an assignment.
struct AssignmentTable<'a, C> {
    claimants: &'a [C],
    names: Vec<Option<String>>,
    levels: Vec<usize>,
    owners: HashMap<String, NameClaimants>,
}

/// The claimants of one name.
#[derive(Default)]
struct NameClaimants {
    now: Vec<usize>,
    /// The claimant that keeps it by precedence, after the others moved on.
    kept: Option<usize>,
    /// Whether every further claimant must move on.
    closed: bool,
}

impl<C: NameClaimant> AssignmentTable<'_, C> {
    /// Moves a claimant to its choice at a level and returns that name.
    fn take(&mut self, who: usize, level: usize) -> Option<String> {
        let name = self.claimants[who].choice(level);
        self.levels[who] = level;
        self.names[who].clone_from(&name);
        self.owners.entry(name.clone()?).or_default().now.push(who);
        name
    }

    /// Returns the claimants that must give up a name, if several share it, and closes the name.
    fn clash(&mut self, name: &str) -> Option<NameClash> {
        let first = |who: usize| self.claimants[who].has_precedence() && self.levels[who] == 0;
        let own = |who: usize| self.claimants[who].is_unique(self.levels[who]);
        let owners = self.owners.get_mut(name)?;
        if !owners.closed && owners.now.len() < 2 {
            return None;
        }
        if owners.kept.is_none() {
            let before = if owners.closed { None } else { only(&owners.now, first) };
            owners.kept = only(&owners.now, own).or(before);
        }
        owners.closed = true;
        let kept = owners.kept;
        let leaving = std::mem::take(&mut owners.now).into_iter().filter(|who| Some(*who) != kept);
        let moved: Vec<_> = leaving.map(|who| (who, self.levels[who] + 1)).collect();
        (!moved.is_empty()).then_some(NameClash { moved, kept })
    }
}

/// Returns the only member for which the condition holds, if there is exactly one.
fn only(all: &[usize], is_true: impl Fn(usize) -> bool) -> Option<usize> {
    let mut found = all.iter().copied().filter(|who| is_true(*who));
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Choices, and whether the first has precedence. A choice that ends in `!` is unique.
    struct Wants(&'static [&'static str], bool);

    impl NameClaimant for Wants {
        fn choice(&self, level: usize) -> Option<String> {
            self.0.get(level).map(ToString::to_string)
        }

        fn has_precedence(&self) -> bool {
            self.1
        }

        fn is_unique(&self, level: usize) -> bool {
            level > 0 && self.0[level].ends_with('!')
        }
    }

    fn names(claimants: &[Wants]) -> Vec<Option<String>> {
        assign(claimants, &[]).names
    }

    #[test]
    fn everybody_who_shares_a_name_gives_it_up() {
        let found = names(&[Wants(&["a", "a1"], false), Wants(&["a", "a2"], false)]);
        assert_eq!(found, [Some("a1".into()), Some("a2".into())]);
    }

    #[test]
    fn a_second_choice_that_is_somebodys_first_moves_both_on() {
        let found = names(&[
            Wants(&["a", "b", "c"], false),
            Wants(&["a", "d"], false),
            Wants(&["b", "e"], false),
        ]);
        assert_eq!(found, [Some("c".into()), Some("d".into()), Some("e".into())]);
    }

    #[test]
    fn a_name_that_was_given_up_is_nobodys() {
        let found = names(&[
            Wants(&["a", "b"], false),
            Wants(&["a", "c"], false),
            Wants(&["d", "a", "e"], false),
            Wants(&["d", "f"], false),
        ]);
        assert_eq!(found, ["b", "c", "e", "f"].map(|name| Some(name.to_owned())));
    }

    #[test]
    fn precedence_keeps_the_first_choice() {
        let found = names(&[Wants(&["a", "a1"], false), Wants(&["a", "a2"], true)]);
        assert_eq!(found, [Some("a1".into()), Some("a".into())]);
        let late = names(&[
            Wants(&["b", "a", "c"], false),
            Wants(&["b", "d"], false),
            Wants(&["a"], true),
            Wants(&["a", "e"], false),
        ]);
        assert_eq!(late, ["c", "d", "a", "e"].map(|name| Some(name.to_owned())));
    }

    #[test]
    fn who_has_no_choice_left_gets_none() {
        let found = names(&[Wants(&["a"], false), Wants(&["a", "b"], false)]);
        assert_eq!(found, [None, Some("b".into())]);
    }

    #[test]
    fn what_is_somebodys_own_cannot_be_taken_by_imitation() {
        let victim = || Wants(&["a", "me!"], false);
        let late = names(&[victim(), Wants(&["a", "b"], false), Wants(&["me!", "c"], false)]);
        assert_eq!(late, ["me!", "b", "c"].map(|name| Some(name.to_owned())));
        let closed = names(&[
            victim(),
            Wants(&["a", "b"], false),
            Wants(&["me!", "c"], false),
            Wants(&["me!", "d"], false),
        ]);
        assert_eq!(closed, ["me!", "b", "c", "d"].map(|name| Some(name.to_owned())));
    }

    #[test]
    fn what_is_reserved_is_nobodys_by_any_precedence() {
        let assigned = assign(&[Wants(&["a", "b"], true), Wants(&["c", "a"], false)], &["a"]);
        assert_eq!(assigned.names, [Some("b".into()), Some("c".into())]);
        assert_eq!(assigned.clashes.len(), 1);
        let clash = assigned.clashes.values().next().unwrap();
        assert_eq!((clash.moved.as_slice(), clash.kept), (&[(0, 1)][..], None));
    }

    #[test]
    fn a_long_chain_of_imitated_names_is_followed_to_its_end() {
        /// A claimant whose second choice is the first choice of the next one.
        struct Link(usize);
        impl NameClaimant for Link {
            fn choice(&self, level: usize) -> Option<String> {
                match level {
                    0 => Some(self.0.max(1).to_string()),
                    1 => Some((self.0 + 1).to_string()),
                    _ => Some(format!("own {}", self.0)),
                }
            }
            fn has_precedence(&self) -> bool {
                false
            }
            fn is_unique(&self, _: usize) -> bool {
                false
            }
        }
        let chain: Vec<_> = (0..20_000).map(Link).collect();
        let mut names: Vec<_> = assign(&chain, &[]).names.into_iter().flatten().collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), chain.len());
    }
}
