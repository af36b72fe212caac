//! Names of documents, from their titles and paths.
//!
//! A question that contains such a name is about that document, so its answer must be, too.

use crate::question::{ParsedQuestion, QuestionTermClass};
use crate::{SourcePassage, lexicon, words};

/// Marks the words of a question that name a document as specific, whatever their case.
pub(crate) fn mark_document_names(question: &mut ParsedQuestion, passages: &[SourcePassage<'_>]) {
    let names = |passage: &SourcePassage<'_>| {
        let mut names = title_names(passage.title);
        names.extend(title_names(path_tail(passage.path)));
        names
    };
    let titles: Vec<Vec<String>> = passages.iter().map(names).collect();
    for term in question
        .terms
        .iter_mut()
        .filter(|term| matches!(term.class, QuestionTermClass::Plain | QuestionTermClass::Specific))
    {
        if titles.iter().any(|names| names.contains(&term.folded)) {
            term.class = QuestionTermClass::Specific;
            term.names_document = true;
            term.synonyms.clear();
        }
    }
}

/// Returns the last folder of a path and the file name without its extension.
pub(crate) fn path_tail(path: &str) -> &str {
    let from = path.rmatch_indices(['/', '\\']).nth(1).map_or(0, |(at, _)| at + 1);
    let tail = &path[from..];
    let dot = tail.rfind('.').filter(|dot| !tail[*dot..].contains(['/', '\\']));
    &tail[..dot.unwrap_or(tail.len())]
}

/// Returns the names of a document: the first word of its title, or each of at most three words.
fn title_names(title: &str) -> Vec<String> {
    let mut names: Vec<String> = words::words(title)
        .map(|word| words::fold(word.text))
        .filter(|word| !lexicon::is_function_word(word))
        .collect();
    if names.len() > 3 {
        names.truncate(1);
    }
    names
}
