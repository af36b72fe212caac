//! `meeting_extract`: who was there, what was spoken about, what was decided, who is to do what.

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_gleaning::{Action, Decision, Span, meeting};
use toolgate_host::local::{Output, Tool};
use toolgate_host::stripped;

use super::decisions::{self, Decided};
use super::sheet::Sheet;
use super::{reading, schema};
use crate::arguments::Arguments;
use crate::cite::{Quote, listed};
use crate::desk::Desk;
use crate::passage::{NOTICE, Passage};

/// How many characters a text that is handed over may have.
const LENGTH: usize = 1_000_000;
/// How many of each kind are given.
const MOST: usize = 200;

pub(super) fn tool(desk: &Desk) -> Tool {
    reading(
        desk,
        &desk.names.tool("meeting_extract"),
        "Read the minutes or the transcript of a meeting, given as text or as one of the user's \
         documents: attendees, topics, decisions with reason and date, and actions with owner and due \
         date, each in the words of the text and cited.",
        input(),
        |desk, call| async move { run(&desk, &call.arguments).await },
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
    decision.extend(decisions::stated());
    let mut action = schema::quote();
    action.extend([
        ("owner", schema::stated("Who, where it is stated")),
        ("due", schema::stated("By when, in the words it is stated in")),
        ("date", schema::stated("The same as YYYY-MM-DD, where a whole date is stated")),
    ]);
    schema::object([
        ("attendees", quotes("Who was there")),
        ("topics", quotes("What was spoken about; of a heading, `start` and `end` are 0")),
        ("decisions", schema::list(schema::object(decision), "What was decided")),
        ("actions", schema::list(schema::object(action), "What somebody is to do")),
        schema::notice(),
    ])
}

/// Something somebody is to do.
#[derive(Debug, Clone, Serialize)]
struct Todo {
    #[serde(flatten)]
    quote: Quote,
    owner: Option<String>,
    due: Option<String>,
    date: Option<String>,
}

impl Todo {
    fn known(&self) -> String {
        let stated = [("owner", &self.owner), ("due", &self.due), ("date", &self.date)];
        let stated = stated
            .iter()
            .filter_map(|(what, it)| it.as_ref().map(|stated| format!("; {what}: {stated}")));
        std::iter::once("action".to_owned()).chain(stated).collect()
    }
}

/// What is read, as one text and as its passages.
struct Minutes {
    sheet: Sheet,
    passages: Vec<Passage>,
}

impl Minutes {
    fn new(passages: Vec<Passage>) -> Self {
        Self { sheet: Sheet::of(&passages), passages }
    }

    fn quote(&self, span: Span) -> Option<Quote> {
        let mut quote = Quote::of(self.sheet.place(span)?, &self.passages)?;
        if quote.text.is_empty() {
            quote.text = self.sheet.words(span)?.to_owned();
        }
        Some(quote)
    }

    fn words(&self, span: Span) -> Option<String> {
        self.sheet.words(span).map(str::to_owned)
    }

    fn quotes(&self, spans: &[Span]) -> Vec<Quote> {
        spans.iter().filter_map(|span| self.quote(*span)).take(MOST).collect()
    }

    fn decided(&self, decision: Decision) -> Option<Decided> {
        let quote = self.quote(decision.span)?;
        Some(Decided::of(decision, quote, |span| self.words(span)))
    }

    fn todo(&self, action: Action) -> Option<Todo> {
        let Action { what, owner, due, date } = action;
        let stated = |span: Option<Span>| span.and_then(|span| self.words(span));
        Some(Todo { quote: self.quote(what)?, owner: stated(owner), due: stated(due), date })
    }
}

async fn run(desk: &Desk, arguments: &Value) -> Result<Output, String> {
    let arguments = Arguments(arguments);
    let minutes = match (arguments.text("text")?, arguments.text("source")?) {
        (Some(text), None) => Minutes::new(vec![given(text)?]),
        (None, Some(source)) => Minutes::new(desk.document(source).await?),
        _ => return Err("give `text` or `source`, one of them".to_owned()),
    };
    Ok(told(&minutes))
}

/// A text that was handed over, as a passage.
fn given(text: &str) -> Result<Passage, String> {
    if text.trim().is_empty() {
        return Err("`text` is empty".to_owned());
    }
    if text.chars().nth(LENGTH).is_some() {
        return Err(format!("`text` is longer than {LENGTH} characters"));
    }
    let text = stripped(text).into_owned();
    Ok(Passage {
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

fn told(minutes: &Minutes) -> Output {
    let meeting = meeting(&minutes.sheet.text);
    let attendees = minutes.quotes(&meeting.attendees);
    let topics = minutes.quotes(&meeting.topics);
    let decisions = meeting.decisions.into_iter().filter_map(|it| minutes.decided(it));
    let decisions: Vec<_> = decisions.take(MOST).collect();
    let actions = meeting.actions.into_iter().filter_map(|it| minutes.todo(it));
    let actions: Vec<_> = actions.take(MOST).collect();
    let mut all: Vec<(&Quote, String)> = Vec::new();
    all.extend(attendees.iter().map(|it| (it, "attendee".to_owned())));
    all.extend(topics.iter().map(|it| (it, "topic".to_owned())));
    all.extend(decisions.iter().map(|it| (&it.quote, format!("decision, {}", it.known()))));
    all.extend(actions.iter().map(|it| (&it.quote, it.known())));
    let notice = match all.is_empty() {
        true => "nothing in it reads like minutes or a transcript",
        false => NOTICE,
    };
    let text = listed(notice, &all);
    let structured = json!({
        "attendees": attendees, "topics": topics, "decisions": decisions, "actions": actions,
        "notice": notice,
    });
    Output::Both { text, structured }
}
