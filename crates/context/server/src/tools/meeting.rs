//! `meeting_extract`: attendees, topics, decisions and actions of a meeting.

use serde_json::{Value, json};
use toolgate_extraction::{ExtractedDecision, OpenLoop, PassageSpan, extract_meeting};
use toolgate_host::local::{Tool, ToolOutput};
use toolgate_host::strip_text;

use super::extraction_scope::ExtractedItem;
use super::joined_passages::JoinedPassages;
use super::{decisions, open_loops, read_only_tool, schema};
use crate::arguments::ToolArguments;
use crate::cite::{PassageQuote, format_quotes};
use crate::passage::{NOTICE, QuotedPassage};
use crate::service::ContextService;

/// The maximum length of a given text, in characters.
const LENGTH: usize = 1_000_000;
/// The maximum number of results of each kind.
const MOST: usize = 200;

pub(super) fn tool(service: &ContextService) -> Tool {
    read_only_tool(
        service,
        &service.names.tool_name("meeting_extract"),
        "Read the minutes or the transcript of a meeting, given as text or as one of the user's \
         documents: attendees, topics, decisions with reason and date, and actions with owner and due \
         date, each in the words of the text and cited.",
        input(),
        |service, call| async move { run(&service, &call.arguments).await },
    )
    .title("Extract a meeting")
    .output_schema(output())
}

fn input() -> Value {
    let text = json!({
        "type": "string", "minLength": 1, "maxLength": LENGTH,
        "description": "The minutes or the transcript",
    });
    let source = schema::text(
        "The document that holds them: its `source`, or the end of its path. Either this or `text`",
    );
    schema::arguments([("text", text), ("source", source)], &[])
}

fn output() -> Value {
    let quotes = |what: &str| schema::list(schema::object(schema::quote()), what);
    let mut decision = schema::quote();
    decision.extend(decisions::detail_schemas());
    let mut action = schema::quote();
    action.extend(open_loops::detail_schemas());
    schema::object([
        ("attendees", quotes("Who was there")),
        ("topics", quotes("What was spoken about; of a heading, `start` and `end` are 0")),
        ("decisions", schema::list(schema::object(decision), "What was decided")),
        ("actions", schema::list(schema::object(action), "Tasks that were assigned or agreed")),
        schema::notice(),
    ])
}

/// The minutes, as one text and as passages.
struct MeetingSource {
    joined: JoinedPassages,
    passages: Vec<QuotedPassage>,
}

impl MeetingSource {
    fn new(passages: Vec<QuotedPassage>) -> Self {
        Self { joined: JoinedPassages::of(&passages), passages }
    }

    fn quote(&self, span: PassageSpan) -> Option<PassageQuote> {
        let mut quote =
            PassageQuote::from_span(self.joined.to_passage_span(span)?, &self.passages)?;
        if quote.text.is_empty() {
            quote.text = self.joined.words(span)?.to_owned();
        }
        Some(quote)
    }

    fn words(&self, span: PassageSpan) -> Option<String> {
        self.joined.words(span).map(str::to_owned)
    }

    fn quotes(&self, spans: &[PassageSpan]) -> Vec<PassageQuote> {
        spans.iter().filter_map(|span| self.quote(*span)).take(MOST).collect()
    }

    fn decision_json(&self, decision: ExtractedDecision) -> Option<ExtractedItem> {
        let quote = self.quote(decision.span)?;
        Some(decisions::item(decision, quote, |span| self.words(span)))
    }

    fn action_json(&self, action: OpenLoop) -> Option<ExtractedItem> {
        let quote = self.quote(action.span)?;
        Some(open_loops::item(action, None, quote, |span| self.words(span)))
    }
}

async fn run(service: &ContextService, arguments: &Value) -> Result<ToolOutput, String> {
    let arguments = ToolArguments(arguments);
    let minutes = match (arguments.text("text")?, arguments.text("source")?) {
        (Some(text), None) => MeetingSource::new(vec![passage_from_text(text)?]),
        (None, Some(source)) => MeetingSource::new(service.document_passages(source).await?),
        _ => return Err("pass either `text` or `source`".to_owned()),
    };
    Ok(meeting_output(&minutes))
}

/// Turns a given text into a passage.
fn passage_from_text(text: &str) -> Result<QuotedPassage, String> {
    if text.trim().is_empty() {
        return Err("`text` is empty".to_owned());
    }
    if text.chars().nth(LENGTH).is_some() {
        return Err(format!("`text` is longer than {LENGTH} characters"));
    }
    let text = strip_text(text).into_owned();
    Ok(QuotedPassage {
        id: 0,
        source: "given text".to_owned(),
        uri: String::new(),
        title: String::new(),
        heading: String::new(),
        place: format!("lines 1-{}", text.lines().count()),
        modified: String::new(),
        trust: "untrusted",
        score: 0.0,
        text,
    })
}

fn meeting_output(minutes: &MeetingSource) -> ToolOutput {
    let meeting = extract_meeting(&minutes.joined.text);
    let attendees = minutes.quotes(&meeting.attendees);
    let topics = minutes.quotes(&meeting.topics);
    let decisions = meeting.decisions.into_iter().filter_map(|it| minutes.decision_json(it));
    let decisions: Vec<_> = decisions.take(MOST).collect();
    let actions = meeting.actions.into_iter().filter_map(|it| minutes.action_json(it));
    let actions: Vec<_> = actions.take(MOST).collect();
    let mut all: Vec<(&PassageQuote, String)> = Vec::new();
    all.extend(attendees.iter().map(|it| (it, "attendee".to_owned())));
    all.extend(topics.iter().map(|it| (it, "topic".to_owned())));
    all.extend(decisions.iter().map(|it| (&it.quote, format!("decision, {}", it.details))));
    all.extend(actions.iter().map(|it| (&it.quote, it.details.clone())));
    let notice = match all.is_empty() {
        true => "nothing in it reads like minutes or a transcript",
        false => NOTICE,
    };
    let text = format_quotes(notice, &all);
    let structured = json!({
        "attendees": attendees, "topics": topics, "decisions": decisions, "actions": actions,
        "notice": notice,
    });
    ToolOutput::Both { text, structured }
}
