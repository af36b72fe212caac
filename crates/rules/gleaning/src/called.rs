//! What documents are called: by their titles, and by where they lie.
//!
//! A question that uses such a word speaks of that document's matter, and so must its answer.

use crate::question::{Class, Question};
use crate::{Leaf, lexicon, words};

/// A word that a document of the store is called by is a name, however it is written.
pub(crate) fn name_documents(question: &mut Question, leaves: &[Leaf<'_>]) {
    let names = |leaf: &Leaf<'_>| {
        let mut names = title_names(leaf.title);
        names.extend(title_names(place_of(leaf.path)));
        names
    };
    let titles: Vec<Vec<String>> = leaves.iter().map(names).collect();
    for term in question
        .terms
        .iter_mut()
        .filter(|term| matches!(term.class, Class::Plain | Class::Specific))
    {
        if titles.iter().any(|names| names.contains(&term.folded)) {
            term.class = Class::Specific;
            term.names = true;
            term.others.clear();
        }
    }
}

/// The last folder of a path and the file's name without its ending.
pub(crate) fn place_of(path: &str) -> &str {
    let from = path.rmatch_indices(['/', '\\']).nth(1).map_or(0, |(at, _)| at + 1);
    let tail = &path[from..];
    let dot = tail.rfind('.').filter(|dot| !tail[*dot..].contains(['/', '\\']));
    &tail[..dot.unwrap_or(tail.len())]
}

/// What a document is called by: the first word of its title, or each of at most three.
fn title_names(title: &str) -> Vec<String> {
    let mut names: Vec<String> = words::words(title)
        .map(|word| words::fold(word.text))
        .filter(|word| !lexicon::is_empty(word))
        .collect();
    if names.len() > 3 {
        names.truncate(1);
    }
    names
}
