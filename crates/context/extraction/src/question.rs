//! Parses a question: its words with their classes, and the kind of answer it wants.

use crate::cues::list_contains;
use crate::lexicon;
use crate::words::{self, TextWord};

/// The kind of answer that a question wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionAnswerKind {
    /// A number.
    Number,
    /// A duration or a frequency.
    Duration,
    /// A date, a year or a time.
    Date,
    /// A name.
    Name,
    /// A version.
    Version,
    /// Steps, a command or code.
    Procedure,
    /// A reason.
    Reason,
    /// Yes or no.
    YesNo,
    /// Anything.
    Any,
}

/// How strictly a word of a question must be matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum QuestionTermClass {
    /// A name, a number or a quotation, which nothing can replace.
    Specific,
    /// A noun or adjective.
    Plain,
    /// A verb.
    Verb,
    /// A word with little meaning.
    Weak,
}

/// A word of a question.
#[derive(Debug, Clone)]
pub(crate) struct QuestionTerm {
    /// The word as the question has it.
    pub(crate) word: String,
    /// The word in lower case.
    pub(crate) folded: String,
    /// Its stem, which is compared.
    pub(crate) stem: String,
    /// The stems of its pieces, if it has several.
    pub(crate) pieces: Vec<String>,
    /// The stems of its synonyms.
    pub(crate) synonyms: Vec<Vec<String>>,
    /// How strictly it must be matched.
    pub(crate) class: QuestionTermClass,
    /// Whether it is the thing asked for: `port` in `which port does it use`.
    pub(crate) is_focus: bool,
    /// Whether it names a document of the store.
    pub(crate) names_document: bool,
    /// Whether it qualifies the next term: `parental leave`.
    pub(crate) qualifies_next: bool,
}

impl QuestionTerm {
    /// Returns true if the word only states the kind of answer, so that the answer need not contain
    /// it.
    pub(crate) fn is_implied_by(&self, wanted: QuestionAnswerKind) -> bool {
        let kinds = match wanted {
            QuestionAnswerKind::Version => "version|versions|release",
            QuestionAnswerKind::Date => "date|year|day|decade|century",
            _ => "",
        };
        list_contains(kinds, &self.folded)
    }
}

/// A parsed question.
#[derive(Debug, Clone)]
pub(crate) struct ParsedQuestion {
    /// The kind of answer it wants.
    pub(crate) answer_kind: QuestionAnswerKind,
    /// Its content words, each once.
    pub(crate) terms: Vec<QuestionTerm>,
}

/// Parses a question.
pub(crate) fn read(question: &str) -> ParsedQuestion {
    let list: Vec<TextWord<'_>> = words::words(question).collect();
    let small: Vec<String> = list.iter().map(|word| word.text.to_lowercase()).collect();
    let wanted = detect_answer_kind(&small);
    let focus = if wanted == QuestionAnswerKind::Name { find_verb(&small) } else { focus(&small) };
    let mut terms: Vec<QuestionTerm> = Vec::new();
    let mut before = None;
    for (place, word) in list.iter().enumerate() {
        let quoted = is_quoted(question, word);
        if !quoted && lexicon::is_function_word(&small[place]) {
            continue;
        }
        let mut term = term(word, place, quoted);
        let is_asked_for = focus == Some(place);
        if is_asked_for
            && term.class == QuestionTermClass::Plain
            && lexicon::is_answer_category(&term.folded)
        {
            term.class = QuestionTermClass::Weak;
        }
        term.is_focus = is_asked_for && term.class != QuestionTermClass::Weak;
        let last = terms.last_mut().filter(|_| place > 0 && before == Some(place - 1));
        if let Some(last) = last {
            last.qualifies_next =
                last.class == QuestionTermClass::Plain && term.class == QuestionTermClass::Plain;
        }
        match terms.iter_mut().find(|known| known.stem == term.stem) {
            Some(known) => known.is_focus |= term.is_focus,
            None => {
                terms.push(term);
                before = Some(place);
            }
        }
    }
    ParsedQuestion { answer_kind: wanted, terms }
}

fn term(word: &TextWord<'_>, place: usize, quoted: bool) -> QuestionTerm {
    let folded = words::fold(word.text);
    let class = if quoted || is_specific(word.text, place) {
        QuestionTermClass::Specific
    } else if lexicon::is_weak_word(&folded) {
        QuestionTermClass::Weak
    } else if lexicon::is_verb(&folded) {
        QuestionTermClass::Verb
    } else {
        QuestionTermClass::Plain
    };
    let pieces: Vec<String> = words::split_identifier(word.text)
        .into_iter()
        .map(|part| words::stem(&words::fold(part)))
        .collect();
    let others = match class {
        QuestionTermClass::Specific => Vec::new(),
        QuestionTermClass::Plain | QuestionTermClass::Verb | QuestionTermClass::Weak => {
            lexicon::synonyms(&folded)
        }
    };
    let others = others
        .into_iter()
        .map(|phrase| phrase.into_iter().map(|word| words::stem(&words::fold(word))).collect())
        .collect();
    QuestionTerm {
        word: word.text.to_owned(),
        stem: words::stem(&folded),
        folded,
        pieces: if pieces.len() > 1 { pieces } else { Vec::new() },
        synonyms: others,
        class,
        is_focus: false,
        names_document: false,
        qualifies_next: false,
    }
}

/// Returns true if a word is in quotes or backticks.
fn is_quoted(question: &str, word: &TextWord<'_>) -> bool {
    let before = question[..word.start].chars().next_back();
    let after = question[word.start + word.text.len()..].chars().next();
    let mark = |c: Option<char>| c.is_some_and(|c| "`\"“”„«»‘".contains(c));
    mark(before) || mark(after)
}

/// Returns true for names, numbers and identifiers: words with a digit, an underscore, or a capital
/// anywhere but at the start of the question.
fn is_specific(word: &str, place: usize) -> bool {
    let odd =
        word.contains(|c: char| c.is_ascii_digit() || matches!(c, '_' | ':' | '.' | '+' | '#'));
    let capital = word.chars().skip(usize::from(place == 0)).any(char::is_uppercase);
    odd || capital
}

/// Returns the kind of answer that a question with these words wants.
fn detect_answer_kind(words: &[String]) -> QuestionAnswerKind {
    let at = |place: usize| words.get(place).map_or("", String::as_str);
    let pair = |first: &str, next: &str| {
        words.windows(2).any(|pair| pair[0] == first && list_contains(next, &pair[1]))
    };
    let has = |any: &str| words.iter().any(|word| list_contains(any, word));
    if has("version|versions|msrv") && has("which|what|minimum|oldest|latest|since") {
        return QuestionAnswerKind::Version;
    }
    if pair("how", "long|often|old") || pair("wie", "lange|oft") {
        return QuestionAnswerKind::Duration;
    }
    if pair("how", "many|much|big|large|fast|far")
        || pair("wie", "viel|viele")
        || has("wieviel|wieviele|combien|cuántos|cuántas|cuánto")
    {
        return QuestionAnswerKind::Number;
    }
    if has("when|wann|quand|cuándo")
        && !matches!(at(0), "what" | "how" | "why" | "is" | "does" | "which")
        || ["what", "which"].iter().any(|ask| pair(ask, "year|decade|century|date|day"))
    {
        return if at(0) == "when"
            && matches!(at(1), "should" | "would" | "can" | "do" | "must" | "does")
        {
            QuestionAnswerKind::Any
        } else {
            QuestionAnswerKind::Date
        };
    }
    match at(0) {
        "who" | "whose" | "whom" | "wer" | "wen" | "wem" | "qui" | "quién" => {
            QuestionAnswerKind::Name
        }
        "how" | "wie" | "comment" | "cómo" => QuestionAnswerKind::Procedure,
        "why" | "warum" | "wieso" | "weshalb" | "pourquoi" => QuestionAnswerKind::Reason,
        "is" | "are" | "does" | "do" | "can" | "did" | "was" | "were" | "has" | "have" | "will"
        | "should" | "must" | "may" | "ist" | "sind" | "kann" | "gibt" | "muss" | "darf" => {
            QuestionAnswerKind::YesNo
        }
        _ => QuestionAnswerKind::Any,
    }
}

/// Verbs that end the thing asked for.
const VERBS: &str = "\
    is|are|was|were|do|does|did|can|could|should|would|will|has|have|had|must|may|might|of|for|in|\
    on|to|ist|sind|hat|kann|est|sont|es|son|by|from|with|at";

/// Returns the position of the verb after `who`: `who wrote …`.
fn find_verb(words: &[String]) -> Option<usize> {
    let second = words.get(1)?;
    let helps = lexicon::is_function_word(second) || second.ends_with("ly");
    Some(if helps && words.len() > 2 { 2 } else { 1 })
}

/// Returns the position of the word asked for: the last one between `what`, `which` or `how many`
/// and the verb.
fn focus(words: &[String]) -> Option<usize> {
    let ask = "what|which|many|much|welche|welcher|welches|quel|quelle|cuál|qué|wieviele";
    let start = words.iter().position(|word| list_contains(ask, word))? + 1;
    let length = words[start..].iter().position(|word| list_contains(VERBS, word));
    let length = length.unwrap_or(words.len() - start).min(4);
    // `which hash functions does …`, but `which uses …` has no such word.
    (length > 0 && start + length < words.len()).then(|| start + length - 1)
}
