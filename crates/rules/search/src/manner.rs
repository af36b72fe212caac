//! Whether somebody wants to know something or wants something done.
//!
//! `which columns does the table have` shares every word with a tool that creates columns; that it
//! is a question says more. It is a hint, not a filter: what cannot be told counts as it did.

use std::sync::OnceLock;

use crate::hashed::{self, Hashes};
use crate::terms::Token;
use crate::words::Kind;
use crate::{Document, Field, stem, terms};

/// What a request is after, or what a tool does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// It asks, or answers.
    Reads,
    /// It changes something.
    Writes,
    /// It cannot be told.
    Unknown,
}

impl Manner {
    /// Whether one is the opposite of the other.
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

/// Words that what is wanted follows: `please add`, `can you send`, `I want to delete`.
const LEADING: &str = "please you to me and then lets let also just kindly";

struct Words {
    reading: Hashes,
    writing: Hashes,
    /// Those of writing as they are spoken: who says `closed` orders nothing.
    orders: Hashes,
    questions: Hashes,
    leading: Hashes,
}

fn words() -> &'static Words {
    static WORDS: OnceLock<Words> = OnceLock::new();
    let stems =
        |text: &str| text.split_whitespace().map(|w| hashed::hash(&stem::stem(w))).collect();
    WORDS.get_or_init(|| Words {
        reading: stems(READING),
        writing: stems(WRITING),
        orders: WRITING.split_whitespace().map(hashed::hash).collect(),
        questions: stems(QUESTIONS),
        leading: stems(LEADING),
    })
}

/// What a tool does, by the verbs of its name.
pub(crate) fn of_document(document: &Document) -> Manner {
    let mut manner = Manner::Unknown;
    let names = document.texts.iter().filter(|(field, _)| *field == Field::Name);
    for (_, text) in names {
        for token in terms::tokens(text, 16) {
            if words().writing.contains(&token.hash) {
                return Manner::Writes;
            }
            if words().reading.contains(&token.hash) {
                manner = Manner::Reads;
            }
        }
    }
    manner
}

/// What a request is after: by a verb where one is expected, else by the form of a question.
pub(crate) fn of_request(text: &str, tokens: &[Token]) -> Manner {
    match by_words(text, tokens) {
        Manner::Unknown if text.trim_end().ends_with('?') => Manner::Reads,
        manner => manner,
    }
}

/// What some words of a text are after.
pub(crate) fn by_words(text: &str, tokens: &[Token]) -> Manner {
    let mut manner = Manner::Unknown;
    let mut before: Option<&Token> = None;
    for token in tokens.iter().filter(|token| token.word.kind != Kind::Joined) {
        let opens = before.is_none_or(|before| {
            // Pairs of characters overlap: nothing stands between them.
            let between = text.get(before.word.end..token.word.start).unwrap_or_default();
            between.contains(['.', '?', '!', ',', ';', ':', '\n'])
                || words().leading.contains(&before.hash)
        });
        if opens && words().orders.contains(&hashed::hash(&token.word.text)) {
            return Manner::Writes;
        }
        let asks = words().questions.contains(&token.hash) || words().reading.contains(&token.hash);
        if opens && asks {
            manner = Manner::Reads;
        }
        before = Some(token);
    }
    manner
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Manner {
        of_request(text, &terms::tokens(text, 100))
    }

    #[test]
    fn questions_read_and_orders_write() {
        for text in ["which tables are there", "Who owns it?", "show me the log", "the weather?"] {
            assert_eq!(of(text), Manner::Reads, "{text}");
        }
        for text in ["add a task", "Can you delete it?", "I want to send a mail", "ok, close it"] {
            assert_eq!(of(text), Manner::Writes, "{text}");
        }
        for text in ["", "weather in Oslo", "明天北京会下雨吗"] {
            assert_eq!(of(text), Manner::Unknown, "{text}");
        }
    }

    #[test]
    fn a_verb_within_a_question_is_no_order() {
        assert_eq!(of("which files did I delete yesterday?"), Manner::Reads);
    }
}
