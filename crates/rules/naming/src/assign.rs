//! Gives every member of a set a name that no other member has, whatever the order of the set.
//!
//! A member brings its names in the order it would like them. Whoever shares a name with another
//! moves on to the next of his, all of them at once, until nobody shares.

use std::collections::HashMap;

/// Who wants a name.
pub(crate) trait Claimant {
    /// The names it would take, best first; `None` after the last.
    fn choice(&self, level: usize) -> Option<String>;

    /// Whether its first choice beats the choice of others.
    fn has_precedence(&self) -> bool;
}

/// A name, and which choice of its owner it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Assigned {
    pub name: String,
    pub level: usize,
}

/// The names, in the order of the claimants; `None` for one whose every choice is taken.
pub(crate) fn assign<C: Claimant>(claimants: &[C]) -> Vec<Option<Assigned>> {
    let take = |claimant: &C, level| Some(Assigned { name: claimant.choice(level)?, level });
    let mut assigned: Vec<_> = claimants.iter().map(|claimant| take(claimant, 0)).collect();
    loop {
        let moving = sharing(claimants, &assigned);
        if moving.is_empty() {
            return assigned;
        }
        for index in moving {
            let level = assigned[index].as_ref().map_or(0, |name| name.level + 1);
            assigned[index] = take(&claimants[index], level);
        }
    }
}

/// Everybody who shares his name, except the one among them who has precedence.
fn sharing<C: Claimant>(claimants: &[C], assigned: &[Option<Assigned>]) -> Vec<usize> {
    let mut owners: HashMap<&str, Vec<usize>> = HashMap::new();
    for (index, name) in assigned.iter().enumerate() {
        if let Some(name) = name {
            owners.entry(&name.name).or_default().push(index);
        }
    }
    let first_choice = |index: usize| assigned[index].as_ref().is_some_and(|name| name.level == 0);
    let precedes = |index: usize| claimants[index].has_precedence() && first_choice(index);
    let mut moving = Vec::new();
    for group in owners.into_values().filter(|group| group.len() > 1) {
        let one_precedes = group.iter().filter(|index| precedes(**index)).count() == 1;
        moving.extend(group.into_iter().filter(|index| !(one_precedes && precedes(*index))));
    }
    moving
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Wants(&'static [&'static str], bool);

    impl Claimant for Wants {
        fn choice(&self, level: usize) -> Option<String> {
            self.0.get(level).map(ToString::to_string)
        }

        fn has_precedence(&self) -> bool {
            self.1
        }
    }

    fn names(claimants: &[Wants]) -> Vec<Option<String>> {
        assign(claimants).into_iter().map(|name| Some(name?.name)).collect()
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
    fn precedence_keeps_the_first_choice() {
        let found = names(&[Wants(&["a", "a1"], false), Wants(&["a", "a2"], true)]);
        assert_eq!(found, [Some("a1".into()), Some("a".into())]);
    }

    #[test]
    fn who_has_no_choice_left_gets_none() {
        let found = names(&[Wants(&["a"], false), Wants(&["a", "b"], false)]);
        assert_eq!(found, [None, Some("b".into())]);
    }
}
