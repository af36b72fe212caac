//! Reports progress to a caller that waits for a task: the number of polls and the server's status
//! message. Its client then knows that the call is alive.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolgate_bridge::tasks::TaskView;
use toolgate_session::Interactor;
use toolgate_wire::{Frame, build, method, string};

use super::own_frame;

/// The shortest time between two reports without news.
const PACE: Duration = Duration::from_secs(1);

/// Sends progress notifications while a caller waits for a task.
pub(super) struct ProgressReporter {
    port: Arc<dyn Interactor>,
    /// The caller's raw progress token; without one there are no reports.
    token: Option<String>,
    count: u64,
    last_report: Option<(Instant, Option<String>)>,
}

impl ProgressReporter {
    pub(super) fn new(request: &Frame, port: Arc<dyn Interactor>) -> Self {
        let token = request.progress_token().map(|token| token.raw().to_owned());
        Self { port, token, count: 0, last_report: None }
    }

    pub(super) fn tell(&mut self, task: &TaskView<'_>) {
        let Some(token) = &self.token else { return };
        let message = task.message.as_deref().map(str::to_owned);
        let same = |(at, last): &(Instant, Option<String>)| at.elapsed() < PACE && *last == message;
        if task.status.is_terminal() || self.last_report.as_ref().is_some_and(same) {
            return;
        }
        self.count += 1;
        let text = message.as_deref().map(|text| format!(",\"message\":{}", string::encode(text)));
        let text = text.unwrap_or_default();
        let params = format!("{{\"progressToken\":{token},\"progress\":{}{text}}}", self.count);
        if let Ok(frame) = own_frame(build::notification(method::PROGRESS, Some(params.as_bytes())))
        {
            self.port.tell(frame);
        }
        self.last_report = Some((Instant::now(), message));
    }
}
