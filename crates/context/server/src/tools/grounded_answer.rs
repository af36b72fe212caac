//! `grounded_answer`: verbatim sentences that answer a question, or "not found".

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_extraction::ground_answer;
use toolgate_host::local::{Tool, ToolOutput};

use super::{read_only_tool, schema};
use crate::arguments::ToolArguments;
use crate::cite::{PassageQuote, source_passages};
use crate::passage::{NOTICE, QuotedPassage, format_passages};
use crate::service::ContextService;

/// The number of passages searched for the answer.
const WIDTH: usize = 24;
/// The answer if the documents do not answer the question.
pub(super) const NOT_FOUND: &str = "not found";

pub(super) fn tool(service: &ContextService) -> Tool {
    read_only_tool(
        service,
        &service.names.tool_name("grounded_answer"),
        "Answer a question from the user's documents alone: sentences copied word for word, each \
         cited with its passage, source, place and offsets. Says \"not found\" if the documents do \
         not answer it; then do not answer from elsewhere as if they did.",
        input(),
        |service, call| async move {
            let question = ToolArguments(&call.arguments).query("question")?;
            Ok(GroundedAnswer::find(&service, question).await?.output())
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
    sentence.push((
        "citation",
        schema::integer("The number of the cited passage in `passages`, from 1"),
    ));
    vec![
        ("question", schema::text("What was asked")),
        ("found", schema::boolean("Whether the documents answer it")),
        (
            "answer",
            schema::text("The answer, with citations like [1]; \"not found\" if there is none"),
        ),
        (
            "sentences",
            schema::list(schema::object(sentence), "The sentences it rests on, word for word"),
        ),
        ("passages", schema::list(schema::passage(), "The cited passages, in order of citation")),
        (
            "missing",
            schema::list(
                schema::text("A word"),
                "Words of the question that the best passages do not contain",
            ),
        ),
        schema::notice(),
    ]
}

/// A sentence of the answer with its citation.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CitedSentence {
    #[serde(flatten)]
    pub quote: PassageQuote,
    /// The number of the cited passage, from 1.
    pub citation: usize,
}

/// The answer of the documents to a question.
#[derive(Debug, Clone)]
pub(super) struct GroundedAnswer {
    pub question: String,
    pub sentences: Vec<CitedSentence>,
    /// The cited passages, in order of citation.
    pub passages: Vec<QuotedPassage>,
    missing: Vec<String>,
    notice: String,
}

impl GroundedAnswer {
    /// Searches the library for the answer.
    pub(super) async fn find(service: &ContextService, question: &str) -> Result<Self, String> {
        let found = service.search(question, WIDTH).await?;
        let shares = service.term_frequencies(question).await?;
        let share = |term: &str| shares.get(term).copied();
        let answer = ground_answer(question, &source_passages(&found.passages), &share);
        let (mut cited, mut sentences): (Vec<usize>, Vec<CitedSentence>) = Default::default();
        for span in answer.sentences {
            let Some(quote) = PassageQuote::from_span(span, &found.passages) else { continue };
            let place =
                cited.iter().position(|index| *index == span.passage).unwrap_or_else(|| {
                    cited.push(span.passage);
                    cited.len() - 1
                });
            sentences.push(CitedSentence { quote, citation: place + 1 });
        }
        let notice = match (&found.remark, sentences.is_empty()) {
            (Some(remark), _) => remark.clone(),
            (None, true) => "the documents do not answer this".to_owned(),
            (None, false) => NOTICE.to_owned(),
        };
        let passages =
            cited.iter().filter_map(|index| found.passages.get(*index).cloned()).collect();
        let question = question.to_owned();
        Ok(Self { question, sentences, passages, missing: answer.missing, notice })
    }

    pub(super) fn is_found(&self) -> bool {
        !self.sentences.is_empty()
    }

    /// Returns the sentences, each with its citation.
    pub(super) fn extract(&self) -> String {
        if !self.is_found() {
            return NOT_FOUND.to_owned();
        }
        let lines = self.sentences.iter().map(|it| format!("{} [{}]", it.quote.text, it.citation));
        lines.collect::<Vec<_>>().join("\n")
    }

    /// Returns the result as data with this answer.
    pub(super) fn to_json(&self, answer: &str) -> Value {
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

    /// Returns the extract and the cited passages as text, or why there are none.
    pub(super) fn to_text(&self) -> String {
        let (extract, notice) = (self.extract(), &self.notice);
        match self.is_found() {
            true => {
                let passages = format_passages(&self.passages);
                format!("{}\n\n{notice}\n\n{passages}", quote_lines(&extract))
            }
            false => format!("{extract}: {notice}"),
        }
    }

    fn output(&self) -> ToolOutput {
        ToolOutput::Both { text: self.to_text(), structured: self.to_json(&self.extract()) }
    }
}

/// Marks each line of verbatim sentences as quoted.
fn quote_lines(extract: &str) -> String {
    let lines: Vec<_> = extract.lines().map(|line| format!("> {line}")).collect();
    format!("In the words of the documents:\n{}", lines.join("\n"))
}
