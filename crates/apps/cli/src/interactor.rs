//! The interactor of the command line: puts the questions that servers ask during a call to the
//! user at the terminal. Without a terminal it declines at once and says so on stderr.

mod form;
mod terminal;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use serde_json::Value;
use toolgate_host::{Answer, CallerId, Interactor, Question, QuestionKind};
use toolgate_wire::view::{LogLevel, LogMessageParams, ProgressParams};
use toolgate_wire::{Frame, method};

use crate::out::{self, Spinner};

pub use form::default_answers;

/// The client capabilities of the command line. They are declared even without a terminal; then
/// every question is declined.
pub const CAPABILITIES: &[u8] = br#"{"elicitation":{"form":{},"url":{}}}"#;

/// The log events that the gateway itself sends.
const GATEWAY_EVENTS: [&str; 2] = ["session-ready", "level-changed"];

/// Shows the progress, logs and questions of one call on the terminal.
pub struct TerminalInteractor {
    server: String,
    spinner: Spinner,
    verbose: bool,
}

impl TerminalInteractor {
    /// Returns an interactor for a call to this server.
    pub fn new(server: &str, spinner: Spinner, verbose: bool) -> Self {
        Self { server: server.to_owned(), spinner, verbose }
    }

    fn show_progress(&self, params: &[u8]) {
        let Some(progress) = ProgressParams::of(params) else { return };
        let position = match (progress.progress, progress.total) {
            (Some(done), Some(total)) => format!("{done}/{total}"),
            (Some(done), None) => done.to_string(),
            _ => String::new(),
        };
        let message = progress.message.unwrap_or_default();
        let text = format!("{position} {message}");
        self.spinner.set_text(&format!("{}: {}", self.server, text.trim()));
    }

    fn show_log(&self, params: &[u8]) {
        let Some(message) =
            LogMessageParams::of(params).filter(|_| self.verbose || out::stderr_is_terminal())
        else {
            return;
        };
        let data: Value =
            serde_json::from_slice(message.data.unwrap_or(b"null")).unwrap_or_default();
        // Events of the gateway are not attributed to the server.
        let is_gateways = message.logger.as_deref() == Some("toolgate")
            && data["event"].as_str().is_some_and(|event| GATEWAY_EVENTS.contains(&event));
        let speaker = if is_gateways { "toolgate" } else { &self.server };
        if is_gateways && !self.verbose {
            return;
        }
        let text = data.as_str().map_or_else(|| data.to_string(), str::to_owned);
        let level = message.level.map_or("log", |level| level.as_str());
        let _hidden = self.spinner.hide();
        out::note(&format!("{speaker}: {level}: {text}"));
    }
}

impl Interactor for TerminalInteractor {
    fn scope(&self) -> CallerId {
        CallerId(1)
    }

    fn tell(&self, event: Frame) {
        let params = event.params().unwrap_or_default();
        match event.method().as_deref() {
            Some(method::PROGRESS) => self.show_progress(params),
            Some(method::MESSAGE) => self.show_log(params),
            _ => {}
        }
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let kind = question.kind;
            if !out::can_prompt() {
                let what = match kind {
                    QuestionKind::Form => "form input",
                    QuestionKind::Url => "a visit to a URL",
                    QuestionKind::Sampling => "a model's answer",
                    QuestionKind::Roots => "folders",
                };
                out::note(&format!("{} asks for {what}: declined, no terminal", self.server));
                return Answer::declined(kind);
            }
            let _hidden = self.spinner.hide();
            let server = self.server.clone();
            // Reading a line blocks, and messages of the call must be handled meanwhile.
            let answered = tokio::task::spawn_blocking(move || terminal::ask(&server, &question));
            answered.await.unwrap_or(Answer::Unsupported)
        })
    }

    /// Asks one question after the other, because there is only one terminal.
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
