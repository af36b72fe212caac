//! Detects whether a request or a tool reads or writes.
//!
//! `which columns does the table have` shares every word with a tool that creates columns, but it
//! is a question. This is a hint, not a filter: an unknown intent changes no score.

use std::sync::OnceLock;

use crate::hashing::{self, HashKeySet};
use crate::terms::StemToken;
use crate::words::WordKind;
use toolgate_terms::stem;

use crate::{IndexedCapability, SearchField, terms};

/// Whether a request or a tool reads or writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadWriteIntent {
    /// It asks for or returns information.
    Reads,
    /// It changes something.
    Writes,
    /// Unknown.
    Unknown,
}

impl ReadWriteIntent {
    /// Returns true if one reads and the other writes.
    pub(crate) fn opposes(self, other: Self) -> bool {
        matches!((self, other), (Self::Reads, Self::Writes) | (Self::Writes, Self::Reads))
    }
}

const READING: &str = "
get list show find search read fetch retrieve query describe view lookup check count browse track
monitor watch inspect see look";

const WRITING: &str = "
create add insert set update edit change modify rename move delete remove erase clear send post publish
upload write save store put assign unassign invite share schedule reschedule book reserve cancel merge
archive restore enable disable start stop restart lock unlock subscribe unsubscribe approve reject
revoke deny pay buy order register reply attach import append patch upsert close reopen push drop kick
mark complete uncomplete reorder duplicate grant refund submit transfer fork commit install uninstall
toggle";

const QUESTIONS: &str = "
what whats which who whos whose whom when where why how is are was were do does did has have am will";

/// Words before the verb of a request: `please add`, `can you send`, `I want to delete`.
const LEADING: &str = "please you to me and then lets let also just kindly";

/// The stems of words that reveal an intent.
struct IntentWords {
    reading: HashKeySet,
    writing: HashKeySet,
    /// Verbs of writing in the imperative: `closed` is not a command.
    orders: HashKeySet,
    questions: HashKeySet,
    leading: HashKeySet,
}

fn words() -> &'static IntentWords {
    static WORDS: OnceLock<IntentWords> = OnceLock::new();
    let stems =
        |text: &str| text.split_whitespace().map(|w| hashing::hash(&stem::english(w))).collect();
    WORDS.get_or_init(|| IntentWords {
        reading: stems(READING),
        writing: stems(WRITING),
        orders: WRITING.split_whitespace().map(hashing::hash).collect(),
        questions: stems(QUESTIONS),
        leading: stems(LEADING),
    })
}

/// Returns what a tool does, by the verbs of its name.
pub(crate) fn capability_intent(document: &IndexedCapability) -> ReadWriteIntent {
    let mut manner = ReadWriteIntent::Unknown;
    let names = document.texts.iter().filter(|(field, _)| *field == SearchField::Name);
    for (_, text) in names {
        for token in terms::tokens(text, 16) {
            if words().writing.contains(&token.hash) {
                return ReadWriteIntent::Writes;
            }
            if words().reading.contains(&token.hash) {
                manner = ReadWriteIntent::Reads;
            }
        }
    }
    manner
}

/// Returns what a request wants: by a verb in the expected position, else by the form of a
/// question.
pub(crate) fn request_intent(text: &str, tokens: &[StemToken]) -> ReadWriteIntent {
    match intent_from_words(text, tokens) {
        ReadWriteIntent::Unknown if text.trim_end().ends_with('?') => ReadWriteIntent::Reads,
        manner => manner,
    }
}

/// Returns what the words of a text want.
pub(crate) fn intent_from_words(text: &str, tokens: &[StemToken]) -> ReadWriteIntent {
    let mut manner = ReadWriteIntent::Unknown;
    let mut before: Option<&StemToken> = None;
    for token in tokens.iter().filter(|token| token.word.kind != WordKind::Joined) {
        let opens = before.is_none_or(|before| {
            // Pairs of characters overlap, so nothing is between them.
            let between = text.get(before.word.end..token.word.start).unwrap_or_default();
            between.contains(['.', '?', '!', ',', ';', ':', '\n'])
                || words().leading.contains(&before.hash)
        });
        if opens && words().orders.contains(&hashing::hash(&token.word.text)) {
            return ReadWriteIntent::Writes;
        }
        let asks = words().questions.contains(&token.hash) || words().reading.contains(&token.hash);
        if opens && asks {
            manner = ReadWriteIntent::Reads;
        }
        before = Some(token);
    }
    manner
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> ReadWriteIntent {
        request_intent(text, &terms::tokens(text, 100))
    }

    #[test]
    fn questions_read_and_orders_write() {
        for text in ["which tables are there", "Who owns it?", "show me the log", "the weather?"] {
            assert_eq!(of(text), ReadWriteIntent::Reads, "{text}");
        }
        for text in ["add a task", "Can you delete it?", "I want to send a mail", "ok, close it"] {
            assert_eq!(of(text), ReadWriteIntent::Writes, "{text}");
        }
        for text in ["", "weather in Oslo", "明天北京会下雨吗"] {
            assert_eq!(of(text), ReadWriteIntent::Unknown, "{text}");
        }
    }

    #[test]
    fn a_verb_within_a_question_is_no_order() {
        assert_eq!(of("which files did I delete yesterday?"), ReadWriteIntent::Reads);
    }
}
