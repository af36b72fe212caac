//! Waiting until a task has come to its end, and having its questions answered meanwhile.
//!
//! This is how a task looks like an ordinary call: to callers who know no tasks, and in
//! `tasks/result`, which blocks.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Mutex;
use toolgate_bridge::tasks::{self, Form, Status, TaskView};
use toolgate_model::ServerName;
use toolgate_session::{Answer, AskKind, Question};
use toolgate_wire::{build, code, string};

use super::outcome::Outcome;
use super::upstream::Upstream;
use super::{own_frame, unreadable};
use crate::Refusal;

/// How often a server is asked that does not say how often it wants to be.
const POLL: Duration = Duration::from_millis(500);
/// The shortest and the longest wait between two polls, whatever it says.
const SOONEST: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_secs(30);
/// How long one request waits for the end of a task; as long as its server lets an ordinary call
/// take would be too short, and for ever too long.
pub(super) const PATIENCE: Duration = Duration::from_secs(3600);
/// How many questions one task may ask.
const MAX_QUESTIONS: usize = 100;

/// One wait for the end of one task.
pub(super) struct Wait<'a> {
    pub(super) upstream: &'a Upstream,
    /// The questions that were answered; whoever holds the lock is asking.
    pub(super) answered: &'a Mutex<HashSet<String>>,
    /// Whether the caller knows the task, so that its questions bear its mark.
    pub(super) known: bool,
}

impl Wait<'_> {
    /// Waits for the end, telling each look at the task; whoever is told may end the wait.
    pub(super) async fn end(
        &self,
        look: impl FnMut(&Bytes, &TaskView<'_>) -> Option<Outcome>,
    ) -> Result<Outcome, Refusal> {
        let ended = tokio::time::timeout(PATIENCE, self.watch(look)).await;
        ended.unwrap_or_else(|_| {
            let message = format!("the task has not ended within {} s", PATIENCE.as_secs());
            Err(Refusal { code: code::REQUEST_TIMEOUT, message, data: None })
        })
    }

    async fn watch(
        &self,
        mut look: impl FnMut(&Bytes, &TaskView<'_>) -> Option<Outcome>,
    ) -> Result<Outcome, Refusal> {
        loop {
            let task = self.upstream.get().await?;
            let view = TaskView::of(&task, self.upstream.form).ok_or_else(unreadable)?;
            if let Some(outcome) = look(&task, &view) {
                return Ok(outcome);
            }
            let outcome = match self.upstream.form {
                Form::Session => self.fetched(view.status).await?,
                Form::Extension => match Outcome::inlined(&task, view.status) {
                    None if view.status == Status::InputRequired => self.answer(&task).await?,
                    outcome => outcome,
                },
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
            tokio::time::sleep(view.poll.unwrap_or(POLL).clamp(SOONEST, LATEST)).await;
        }
    }

    /// 2025-11-25 hands over outcome and questions while it is asked for the outcome.
    async fn fetched(&self, status: Status) -> Result<Option<Outcome>, Refusal> {
        match status {
            Status::Working => Ok(None),
            Status::Cancelled => Ok(Some(Outcome::Cancelled)),
            Status::InputRequired | Status::Completed | Status::Failed => {
                self.upstream.result().await
            }
        }
    }

    /// Has the questions answered that were not yet. There is an outcome if one cannot be.
    async fn answer(&self, task: &[u8]) -> Result<Option<Outcome>, Refusal> {
        let mut answered = self.answered.lock().await;
        let mut asked = tasks::questions(task);
        asked.retain(|(key, ..)| !answered.contains(key));
        if asked.is_empty() {
            return Ok(None);
        }
        if answered.len() + asked.len() > MAX_QUESTIONS {
            return self.give_up("it asks too many questions").await.map(Some);
        }
        let mut questions = Vec::new();
        for (key, method, params) in &asked {
            match self.question(key, method, params) {
                Some(question) => questions.push(question),
                None => return self.give_up("it asks what nobody understands").await.map(Some),
            }
        }
        let kinds: Vec<_> = questions.iter().map(|question| question.kind).collect();
        let answers = self.upstream.port.ask_all(questions).await;
        let mut responses = Vec::new();
        for ((key, ..), (kind, answer)) in asked.iter().zip(kinds.into_iter().zip(answers)) {
            if answer == Answer::Unsupported && kind != AskKind::Sampling {
                self.upstream.pool.declined("the client of the task cannot be asked");
            }
            let Some(result) = accepted(kind, answer) else {
                return self.give_up("the caller offers no sampling").await.map(Some);
            };
            let result = String::from_utf8_lossy(&result).into_owned();
            responses.push(format!("{}:{result}", string::encode(key)));
        }
        self.upstream.update(&format!("{{{}}}", responses.join(","))).await?;
        answered.extend(asked.into_iter().map(|(key, ..)| key));
        Ok(None)
    }

    fn question(&self, key: &str, method: &str, params: &Bytes) -> Option<Question> {
        let server: ServerName = self.upstream.pool.server().clone();
        let params = match self.known {
            true => tasks::related(params, &self.upstream.id)?,
            false => params.clone(),
        };
        let frame = own_frame(build::request("0", method, Some(&params))).ok()?;
        let kind = AskKind::of(&frame)?;
        Some(Question { server, kind, key: Some(key.to_owned()), frame })
    }

    /// A task that waits for what it will never get is stopped; its caller is told why.
    async fn give_up(&self, why: &str) -> Result<Outcome, Refusal> {
        self.upstream.cancel().await?;
        let text = string::encode(&format!("the task was stopped: {why}"));
        let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#);
        Ok(Outcome::Result(result.into()))
    }
}

/// What a task is told; `None` where it can be told nothing.
fn accepted(kind: AskKind, answer: Answer) -> Option<Bytes> {
    match answer {
        Answer::Result(result) => Some(result),
        Answer::Unsupported | Answer::Failure { .. } => match Answer::declined(kind) {
            Answer::Result(result) => Some(result),
            _ => None,
        },
    }
}
