//! Waits until a task has ended, and has its questions answered meanwhile.
//!
//! This makes a task look like an ordinary call: for callers without tasks, and in `tasks/result`,
//! which blocks.

use std::collections::HashSet;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Mutex;
use toolgate_bridge::tasks::{self, TaskFormat, TaskStatus, TaskView};
use toolgate_model::{ErrorCode, ServerName};
use toolgate_session::{Answer, Question, QuestionKind};
use toolgate_wire::{build, string};

use super::outcome::TaskOutcome;
use super::upstream::UpstreamTask;
use super::{own_frame, unreadable};
use crate::GateError;

/// How often a server is polled that does not declare an interval.
const POLL: Duration = Duration::from_millis(500);
/// The shortest and longest interval between two polls, whatever the server declares.
const SOONEST: Duration = Duration::from_millis(50);
const LATEST: Duration = Duration::from_secs(30);
/// How long one request waits for the end of a task. The timeout of an ordinary call would be too
/// short.
pub(super) const PATIENCE: Duration = Duration::from_secs(3600);
/// The most questions one task may ask.
const MAX_QUESTIONS: usize = 100;

/// One wait for the end of a task.
pub(super) struct TaskWaiter<'a> {
    pub(super) upstream: &'a UpstreamTask,
    /// The keys of the answered questions; the lock is held while asking.
    pub(super) answered: &'a Mutex<HashSet<String>>,
    /// Whether the caller knows the task, so that its questions are marked with it.
    pub(super) caller_knows_task: bool,
}

impl TaskWaiter<'_> {
    /// Waits for the end. Calls `look` after each poll; an outcome it returns ends the wait.
    pub(super) async fn await_end(
        &self,
        look: impl FnMut(&Bytes, &TaskView<'_>) -> Option<TaskOutcome>,
    ) -> Result<TaskOutcome, GateError> {
        let ended = tokio::time::timeout(PATIENCE, self.poll(look)).await;
        ended.unwrap_or_else(|_| {
            let message = format!("the task did not end within {} s", PATIENCE.as_secs());
            Err(GateError::new(ErrorCode::SessionTimeout, message))
        })
    }

    async fn poll(
        &self,
        mut look: impl FnMut(&Bytes, &TaskView<'_>) -> Option<TaskOutcome>,
    ) -> Result<TaskOutcome, GateError> {
        loop {
            let task = self.upstream.get().await?;
            let view = TaskView::of(&task, self.upstream.form).ok_or_else(unreadable)?;
            if let Some(outcome) = look(&task, &view) {
                return Ok(outcome);
            }
            let outcome = match self.upstream.form {
                TaskFormat::Session => self.fetch_outcome(view.status).await?,
                TaskFormat::Extension => match TaskOutcome::from_inlined(&task, view.status) {
                    None if view.status == TaskStatus::InputRequired => self.answer(&task).await?,
                    outcome => outcome,
                },
            };
            if let Some(outcome) = outcome {
                return Ok(outcome);
            }
            tokio::time::sleep(view.poll.unwrap_or(POLL).clamp(SOONEST, LATEST)).await;
        }
    }

    /// Fetches the outcome (2025-11-25). The server asks its questions during this request.
    async fn fetch_outcome(&self, status: TaskStatus) -> Result<Option<TaskOutcome>, GateError> {
        match status {
            TaskStatus::Working => Ok(None),
            TaskStatus::Cancelled => Ok(Some(TaskOutcome::Cancelled)),
            TaskStatus::InputRequired | TaskStatus::Completed | TaskStatus::Failed => {
                self.upstream.result().await
            }
        }
    }

    /// Has the open questions answered. Returns an outcome if one of them cannot be.
    async fn answer(&self, task: &[u8]) -> Result<Option<TaskOutcome>, GateError> {
        let mut answered = self.answered.lock().await;
        let mut asked = tasks::input_requests(task);
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
                None => return self.give_up("it asks an unknown kind of question").await.map(Some),
            }
        }
        let kinds: Vec<_> = questions.iter().map(|question| question.kind).collect();
        let answers = self.upstream.port.ask_all(questions).await;
        let mut responses = Vec::new();
        for ((key, ..), (kind, answer)) in asked.iter().zip(kinds.into_iter().zip(answers)) {
            if answer == Answer::Unsupported && kind != QuestionKind::Sampling {
                self.upstream.pool.log_declined("the client of the task cannot be asked");
            }
            let Some(result) = answer_result(kind, answer) else {
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
        let params = match self.caller_knows_task {
            true => tasks::add_related_task(params, &self.upstream.id)?,
            false => params.clone(),
        };
        let frame = own_frame(build::request("0", method, Some(&params))).ok()?;
        let kind = QuestionKind::of(&frame)?;
        Some(Question { server, kind, key: Some(key.to_owned()), frame })
    }

    /// Cancels a task that waits for an answer it cannot get, and returns a result that says why.
    async fn give_up(&self, why: &str) -> Result<TaskOutcome, GateError> {
        self.upstream.cancel().await?;
        let text = string::encode(&format!("the task was stopped: {why}"));
        let result = format!(r#"{{"content":[{{"type":"text","text":{text}}}],"isError":true}}"#);
        Ok(TaskOutcome::Result(result.into()))
    }
}

/// Returns the answer for the task; `None` if there is none it would accept.
fn answer_result(kind: QuestionKind, answer: Answer) -> Option<Bytes> {
    match answer {
        Answer::Result(result) => Some(result),
        Answer::Unsupported | Answer::Failure { .. } => match Answer::declined(kind) {
            Answer::Result(result) => Some(result),
            _ => None,
        },
    }
}
