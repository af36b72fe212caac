//! What a caller who waits for a task is told meanwhile: how often it was looked at, and what its
//! server says of it. His client then knows that the call lives.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use toolgate_bridge::tasks::TaskView;
use toolgate_session::Interactor;
use toolgate_wire::{Frame, build, method, string};

use super::own_frame;

/// How often at most, if there is nothing new.
const PACE: Duration = Duration::from_secs(1);

pub(super) struct Teller {
    port: Arc<dyn Interactor>,
    /// The caller's own progress token, raw; without one he wants no progress.
    token: Option<String>,
    count: u64,
    told: Option<(Instant, Option<String>)>,
}

impl Teller {
    pub(super) fn new(request: &Frame, port: Arc<dyn Interactor>) -> Self {
        let token = request.progress_token().map(|token| token.raw().to_owned());
        Self { port, token, count: 0, told: None }
    }

    pub(super) fn tell(&mut self, task: &TaskView<'_>) {
        let Some(token) = &self.token else { return };
        let message = task.message.as_deref().map(str::to_owned);
        let same = |(at, said): &(Instant, Option<String>)| at.elapsed() < PACE && *said == message;
        if task.status.is_terminal() || self.told.as_ref().is_some_and(same) {
            return;
        }
        self.count += 1;
        let said = message.as_deref().map(|text| format!(",\"message\":{}", string::encode(text)));
        let said = said.unwrap_or_default();
        let params = format!("{{\"progressToken\":{token},\"progress\":{}{said}}}", self.count);
        if let Ok(frame) = own_frame(build::notification(method::PROGRESS, Some(params.as_bytes())))
        {
            self.port.tell(frame);
        }
        self.told = Some((Instant::now(), message));
    }
}
