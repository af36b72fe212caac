//! What a question asks for: its words with their weight, and what an answer must have.

use crate::cues::among;
use crate::lexicon;
use crate::words::{self, Word};

/// What an answer has to look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// A number.
    Number,
    /// How long, or how often.
    Duration,
    /// A day, a year, a time.
    Date,
    /// Somebody's name.
    Name,
    /// A version.
    Version,
    /// Steps, a command, code.
    Manner,
    /// A reason.
    Reason,
    /// Yes or no.
    Verdict,
    /// Anything.
    Any,
}

/// How much a word of a question must be met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// A name, a number, something quoted: nothing else will do.
    Specific,
    /// A thing or a quality.
    Plain,
    /// What is done.
    Verb,
    /// A word that says little.
    Thin,
}

/// A word of a question.
#[derive(Debug, Clone)]
pub(crate) struct Term {
    /// As it was asked.
    pub(crate) word: String,
    /// In small letters.
    pub(crate) folded: String,
    /// What it is compared by.
    pub(crate) stem: String,
    /// The stems of its pieces, where it has several.
    pub(crate) pieces: Vec<String>,
    /// What else it may be called, as stems.
    pub(crate) others: Vec<Vec<String>>,
    /// How much it must be met.
    pub(crate) class: Class,
    /// Whether it is what is asked for: `port` in `which port does it use`.
    pub(crate) focus: bool,
    /// Whether a document of the store is called so.
    pub(crate) names: bool,
    /// Whether it says which one is meant of what the next term names: `parental leave`.
    pub(crate) tells_which: bool,
}

impl Term {
    /// Whether it only says what the answer looks like, so that an answer that does need not say it.
    pub(crate) fn is_kind_of(&self, wanted: Wanted) -> bool {
        let kinds = match wanted {
            Wanted::Version => "version|versions|release",
            Wanted::Date => "date|year|day|decade|century",
            _ => "",
        };
        among(kinds, &self.folded)
    }
}

/// A question.
#[derive(Debug, Clone)]
pub(crate) struct Question {
    /// What the answer has to look like.
    pub(crate) wanted: Wanted,
    /// Its words with content, each once.
    pub(crate) terms: Vec<Term>,
}

/// Reads a question.
pub(crate) fn read(question: &str) -> Question {
    let list: Vec<Word<'_>> = words::words(question).collect();
    let small: Vec<String> = list.iter().map(|word| word.text.to_lowercase()).collect();
    let wanted = wanted(&small);
    let focus = if wanted == Wanted::Name { deed(&small) } else { focus(&small) };
    let mut terms: Vec<Term> = Vec::new();
    let mut before = None;
    for (place, word) in list.iter().enumerate() {
        let quoted = is_quoted(question, word);
        if !quoted && lexicon::is_empty(&small[place]) {
            continue;
        }
        let mut term = term(word, place, quoted);
        let is_asked_for = focus == Some(place);
        if is_asked_for && term.class == Class::Plain && lexicon::is_kind(&term.folded) {
            term.class = Class::Thin;
        }
        term.focus = is_asked_for && term.class != Class::Thin;
        let last = terms.last_mut().filter(|_| place > 0 && before == Some(place - 1));
        if let Some(last) = last {
            last.tells_which = last.class == Class::Plain && term.class == Class::Plain;
        }
        match terms.iter_mut().find(|known| known.stem == term.stem) {
            Some(known) => known.focus |= term.focus,
            None => {
                terms.push(term);
                before = Some(place);
            }
        }
    }
    Question { wanted, terms }
}

fn term(word: &Word<'_>, place: usize, quoted: bool) -> Term {
    let folded = words::fold(word.text);
    let class = if quoted || is_specific(word.text, place) {
        Class::Specific
    } else if lexicon::is_thin(&folded) {
        Class::Thin
    } else if lexicon::is_verb(&folded) {
        Class::Verb
    } else {
        Class::Plain
    };
    let pieces: Vec<String> =
        words::parts(word.text).into_iter().map(|part| words::stem(&words::fold(part))).collect();
    let others = match class {
        Class::Specific => Vec::new(),
        Class::Plain | Class::Verb | Class::Thin => lexicon::others(&folded),
    };
    let others = others
        .into_iter()
        .map(|phrase| phrase.into_iter().map(|word| words::stem(&words::fold(word))).collect())
        .collect();
    Term {
        word: word.text.to_owned(),
        stem: words::stem(&folded),
        folded,
        pieces: if pieces.len() > 1 { pieces } else { Vec::new() },
        others,
        class,
        focus: false,
        names: false,
        tells_which: false,
    }
}

/// Whether a word stands in quotes or between backticks.
fn is_quoted(question: &str, word: &Word<'_>) -> bool {
    let before = question[..word.start].chars().next_back();
    let after = question[word.start + word.text.len()..].chars().next();
    let mark = |c: Option<char>| c.is_some_and(|c| "`\"“”„«»‘".contains(c));
    mark(before) || mark(after)
}

/// Names, numbers and identifiers: a digit, an underscore, capitals anywhere but at the beginning of
/// the question.
fn is_specific(word: &str, place: usize) -> bool {
    let odd =
        word.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | ':' | '.' | '+' | '#'));
    let capital = word.chars().skip(usize::from(place == 0)).any(char::is_uppercase);
    odd || capital
}

/// What the answer to a question with these words has to look like.
fn wanted(words: &[String]) -> Wanted {
    let at = |place: usize| words.get(place).map_or("", String::as_str);
    let pair = |one: &str, two: &str| words.windows(2).any(|pair| pair[0] == one && pair[1] == two);
    let has = |any: &str| words.iter().any(|word| among(any, word));
    if has("version|versions|msrv") && has("which|what|minimum|oldest|latest|since") {
        return Wanted::Version;
    }
    let many = [
        ("how", "many"),
        ("how", "much"),
        ("how", "big"),
        ("how", "large"),
        ("how", "fast"),
        ("how", "far"),
    ];
    if [("how", "long"), ("how", "often"), ("how", "old"), ("wie", "lange"), ("wie", "oft")]
        .iter()
        .any(|(one, two)| pair(one, two))
    {
        return Wanted::Duration;
    }
    if many.iter().any(|(one, two)| pair(one, two))
        || has("wieviel|wieviele|combien|cuántos|cuántas|cuánto")
        || pair("wie", "viele")
        || pair("wie", "viel")
    {
        return Wanted::Number;
    }
    if has("when|wann|quand|cuándo")
        && !matches!(at(0), "what" | "how" | "why" | "is" | "does" | "which")
        || ["what", "which"].iter().any(|ask| {
            ["year", "decade", "century", "date", "day"].iter().any(|kind| pair(ask, kind))
        })
    {
        return if at(0) == "when"
            && matches!(at(1), "should" | "would" | "can" | "do" | "must" | "does")
        {
            Wanted::Any
        } else {
            Wanted::Date
        };
    }
    match at(0) {
        "who" | "whose" | "whom" | "wer" | "wen" | "wem" | "qui" | "quién" => Wanted::Name,
        "how" | "wie" | "comment" | "cómo" => Wanted::Manner,
        "why" | "warum" | "wieso" | "weshalb" | "pourquoi" => Wanted::Reason,
        "is" | "are" | "does" | "do" | "can" | "did" | "was" | "were" | "has" | "have" | "will"
        | "should" | "must" | "may" | "ist" | "sind" | "kann" | "gibt" | "muss" | "darf" => {
            Wanted::Verdict
        }
        _ => Wanted::Any,
    }
}

/// Words behind which the thing that is asked for ends.
const VERBS: &str = "\
    is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|must|may|might|of|for|in|\
    on|to|ist|sind|hat|kann|est|sont|es|son|by|from|with|at";

/// What the person did who is asked for: `who wrote …`.
fn deed(words: &[String]) -> Option<usize> {
    let second = words.get(1)?;
    let helps = lexicon::is_empty(second) || second.ends_with("ly");
    Some(if helps && words.len() > 2 { 2 } else { 1 })
}

/// The place of the word that is asked for: the last one between `what`, `which`, `how many` and
/// the verb.
fn focus(words: &[String]) -> Option<usize> {
    let ask = "what|which|many|much|welche|welcher|welches|quel|quelle|cuál|qué|wieviele";
    let start = words.iter().position(|word| among(ask, word))? + 1;
    let length = words[start..].iter().position(|word| among(VERBS, word));
    let length = length.unwrap_or(words.len() - start).min(4);
    // `which hash functions does …`, but `which uses …` has no such word.
    (length > 0 && start + length < words.len()).then(|| start + length - 1)
}
