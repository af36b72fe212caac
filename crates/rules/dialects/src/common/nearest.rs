//! Suggests the known word that a misspelled word was probably meant to be.

/// Returns the most similar of `known`, if it is similar enough to suggest.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let folded = word.to_lowercase();
    let measured =
        known.iter().map(|candidate| (distance(&folded, &candidate.to_lowercase()), candidate));
    let (edits, best) = measured.min_by_key(|(edits, _)| *edits)?;
    // A third of the letters may be wrong; beyond that a suggestion is noise.
    (edits * 3 <= word.chars().count().max(3)).then_some(*best)
}

/// Returns the edit distance of two words: insertions, deletions, replacements and swaps of
/// neighbors.
fn distance(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in to.iter().enumerate() {
            let replaced = above[j] + usize::from(a != b);
            let mut least = replaced.min(row[j] + 1).min(above[j + 1] + 1);
            if i > 0 && j > 0 && *a == to[j - 1] && from[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            row.push(least);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_the_one_it_was_meant_to_be() {
        let known = ["command", "args", "env", "enabled"];
        assert_eq!(nearest("comand", &known), Some("command"));
        assert_eq!(nearest("Args", &known), Some("args"));
        assert_eq!(nearest("enabeld", &known), Some("enabled"));
        assert_eq!(nearest("colour", &known), None);
    }

    #[test]
    fn swapped_neighbours_are_one_edit() {
        assert_eq!(distance("agrs", "args"), 1);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!(distance("sgra", "args"), 3);
        assert_eq!(distance("", "env"), 3);
        assert_eq!(nearest("agrs", &["command", "args", "env"]), Some("args"));
        assert_eq!(nearest("evn", &["command", "args", "env"]), Some("env"));
    }
}
