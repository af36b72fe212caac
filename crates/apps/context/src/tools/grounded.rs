//! `grounded_answer`: what the documents say to a question, in their own words, or that they do not.

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_gleaning::ground;
use toolgate_host::local::{Output, Tool};

use super::{reading, schema};
use crate::arguments::Arguments;
use crate::cite::{Quote, leaves};
use crate::desk::Desk;
use crate::passage::{NOTICE, Passage, marked};

/// How many passages may hold the answer.
const WIDTH: usize = 24;
/// What is answered where there is no answer.
const NOT_FOUND: &str = "not found";

pub(super) fn tool(desk: &Desk) -> Tool {
    reading(
        desk,
        &desk.names.tool("grounded_answer"),
        "Answer a question from the user's documents alone: sentences copied word for word, each \
         cited with its passage, source, place and offsets. Says \"not found\" if the documents do \
         not answer it; then do not answer from elsewhere as if they did.",
        input(),
        |desk, call| async move {
            let question = Arguments(&call.arguments).query("question")?;
            Ok(Grounded::of(&desk, question).await?.output())
        },
    )
    .title("Answer from the documents")
    .output_schema(schema::object(output()))
}

pub(super) fn input() -> Value {
    schema::arguments(
        [("question", schema::query("The question, as the user would ask it"))],
        &["question"],
    )
}

pub(super) fn output() -> Vec<(&'static str, Value)> {
    let mut sentence = schema::quote();
    sentence.push(("citation", schema::whole("Which of `passages` it stands in, counted from 1")));
    vec![
        ("question", schema::text("What was asked")),
        ("found", schema::flag("Whether the documents answer it")),
        (
            "answer",
            schema::text("The answer, with citations like [1]; \"not found\" if there is none"),
        ),
        (
            "sentences",
            schema::list(schema::object(sentence), "The sentences it rests on, word for word"),
        ),
        (
            "passages",
            schema::list(schema::passage(), "The passages they stand in, as they are cited"),
        ),
        (
            "missing",
            schema::list(
                schema::text("A word"),
                "Words of the question that the nearest passages do not speak of",
            ),
        ),
        schema::notice(),
    ]
}

/// A sentence of the answer.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Sentence {
    #[serde(flatten)]
    pub quote: Quote,
    /// Which of the cited passages it stands in, from 1.
    pub citation: usize,
}

/// What the documents say to a question.
#[derive(Debug, Clone)]
pub(super) struct Grounded {
    pub question: String,
    pub sentences: Vec<Sentence>,
    /// Those that sentences stand in, in the order they are cited.
    pub passages: Vec<Passage>,
    missing: Vec<String>,
    notice: String,
}

impl Grounded {
    /// Looks for it.
    pub(super) async fn of(desk: &Desk, question: &str) -> Result<Self, String> {
        let found = desk.find(question, WIDTH).await?;
        let shares = desk.shares(question).await?;
        let share = |term: &str| shares.get(term).copied();
        let answer = ground(question, &leaves(&found.passages), &share);
        let (mut cited, mut sentences): (Vec<usize>, Vec<Sentence>) = Default::default();
        for span in answer.sentences {
            let Some(quote) = Quote::of(span, &found.passages) else { continue };
            let place = cited.iter().position(|leaf| *leaf == span.leaf).unwrap_or_else(|| {
                cited.push(span.leaf);
                cited.len() - 1
            });
            sentences.push(Sentence { quote, citation: place + 1 });
        }
        let notice = match (&found.remark, sentences.is_empty()) {
            (Some(remark), _) => remark.clone(),
            (None, true) => "the documents do not answer this".to_owned(),
            (None, false) => NOTICE.to_owned(),
        };
        let passages = cited.iter().filter_map(|leaf| found.passages.get(*leaf).cloned()).collect();
        let question = question.to_owned();
        Ok(Self { question, sentences, passages, missing: answer.missing, notice })
    }

    pub(super) fn is_found(&self) -> bool {
        !self.sentences.is_empty()
    }

    /// The sentences, each with its citation.
    pub(super) fn extract(&self) -> String {
        if !self.is_found() {
            return NOT_FOUND.to_owned();
        }
        let said = self.sentences.iter().map(|it| format!("{} [{}]", it.quote.text, it.citation));
        said.collect::<Vec<_>>().join("\n")
    }

    /// It as data, with this as its answer.
    pub(super) fn data(&self, answer: &str) -> Value {
        json!({
            "question": self.question,
            "found": self.is_found(),
            "answer": answer,
            "sentences": self.sentences,
            "passages": self.passages,
            "missing": self.missing,
            "notice": self.notice,
        })
    }

    /// What it rests on, as text.
    pub(super) fn cited(&self) -> String {
        match self.is_found() {
            true => format!("{}\n\n{}", self.notice, marked(&self.passages)),
            false => self.notice.clone(),
        }
    }

    fn output(&self) -> Output {
        let extract = self.extract();
        let text = match self.is_found() {
            true => format!("{}\n\n{}", quoted(&extract), self.cited()),
            false => format!("{extract}: {}", self.cited()),
        };
        Output::Both { text, structured: self.data(&extract) }
    }
}

/// Words of documents before the passages they stand in: each line of them is marked as quoted.
pub(super) fn quoted(extract: &str) -> String {
    let lines: Vec<_> = extract.lines().map(|line| format!("> {line}")).collect();
    format!("In the words of the documents:\n{}", lines.join("\n"))
}
