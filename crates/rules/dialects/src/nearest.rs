//! The known word a misspelt one was probably meant to be.

/// The nearest of `known`, if it is near enough to be worth saying.
pub(crate) fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    let folded = word.to_lowercase();
    let measured =
        known.iter().map(|candidate| (distance(&folded, &candidate.to_lowercase()), candidate));
    let (edits, best) = measured.min_by_key(|(edits, _)| *edits)?;
    // A third of the letters may be wrong; beyond that a suggestion is noise.
    (edits * 3 <= word.chars().count().max(3)).then_some(*best)
}

/// Edits (insert, delete, replace) from one word to the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
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
}
