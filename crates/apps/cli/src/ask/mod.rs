//! Who answers what servers ask in the middle of a call: the person at the terminal.
//!
//! Where nobody can be asked the answer is no, at once, and a line on stderr says so.

mod form;
mod terminal;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;
use toolgate_host::{Answer, AskKind, CallerScope, Interactor, Question};
use toolgate_wire::view::{LogLevel, LogMessage, Progress};
use toolgate_wire::{Frame, method};

use crate::out::{self, Spinner, visible};

pub use form::filled_in;

/// What the terminal can be asked; whether somebody sits there is decided when it is.
pub const CAPABILITIES: &[u8] = br#"{"elicitation":{"form":{},"url":{}}}"#;

/// What the gateway itself says in log messages.
const GATEWAY_EVENTS: [&str; 2] = ["session-ready", "level-changed"];

/// The person behind a call, if there is one.
pub struct Person {
    server: String,
    spinner: Spinner,
    verbose: bool,
}

impl Person {
    /// Whoever called something of this server.
    pub fn new(server: &str, spinner: Spinner, verbose: bool) -> Self {
        Self { server: server.to_owned(), spinner, verbose }
    }

    fn progress(&self, params: &[u8]) {
        let Some(progress) = Progress::of(params) else { return };
        let far = match (progress.progress, progress.total) {
            (Some(done), Some(total)) => format!("{done}/{total}"),
            (Some(done), None) => done.to_string(),
            _ => String::new(),
        };
        let message = progress.message.unwrap_or_default();
        let text = format!("{far} {message}");
        self.spinner.say(&format!("{}: {}", self.server, text.trim()));
    }

    fn log(&self, params: &[u8]) {
        let Some(message) = LogMessage::of(params).filter(|_| self.verbose || out::is_watched())
        else {
            return;
        };
        let data: Value =
            serde_json::from_slice(message.data.unwrap_or(b"null")).unwrap_or_default();
        // What the gateway says of the session is nothing that the server said.
        let is_gateways = message.logger.as_deref() == Some("toolgate")
            && data["event"].as_str().is_some_and(|event| GATEWAY_EVENTS.contains(&event));
        let speaker = if is_gateways { "toolgate" } else { &self.server };
        if is_gateways && !self.verbose {
            return;
        }
        let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
        let level = message.level.map_or("log", |level| level.as_str());
        let _apart = self.spinner.hide();
        out::note(&format!("{speaker}: {level}: {}", visible(&text)));
    }
}

impl Interactor for Person {
    fn scope(&self) -> CallerScope {
        CallerScope(1)
    }

    fn tell(&self, event: Frame) {
        let params = event.params().unwrap_or_default();
        match event.method().as_deref() {
            Some(method::PROGRESS) => self.progress(params),
            Some(method::MESSAGE) => self.log(params),
            _ => {}
        }
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let kind = question.kind;
            if !out::can_ask() {
                let what = match kind {
                    AskKind::Form => "for something to be filled in",
                    AskKind::Url => "for a page to be visited",
                    AskKind::Sampling => "for a model's answer",
                    AskKind::Roots => "for folders",
                };
                out::note(&format!(
                    "{} asks {what}: declined, nobody can be asked here",
                    self.server
                ));
                return Answer::declined(kind);
            }
            let _apart = self.spinner.hide();
            let server = self.server.clone();
            // Reading a line blocks, and the call must go on being heard meanwhile.
            let answered = tokio::task::spawn_blocking(move || terminal::ask(&server, &question));
            answered.await.unwrap_or(Answer::Unsupported)
        })
    }

    /// One after the other: there is one terminal.
    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        Box::pin(async move {
            let mut answers = Vec::with_capacity(questions.len());
            for question in questions {
                answers.push(self.ask(question).await);
            }
            answers
        })
    }

    fn capabilities(&self) -> Bytes {
        Bytes::from_static(CAPABILITIES)
    }

    fn level(&self) -> Option<LogLevel> {
        Some(if self.verbose { LogLevel::Debug } else { LogLevel::Info })
    }
}
