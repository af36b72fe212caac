//! Sets the log level of a legacy server to at least what the next call wants.
//!
//! The level is never lowered: messages below a caller's level are filtered when they are passed
//! on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tokio::sync::Mutex;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{build, method};

use crate::Interactor;
use crate::core::{SessionCore, SessionTransport};
use crate::exchange::{self, SendOptions};

/// No level was sent yet.
const NO_LEVEL: u8 = u8::MAX;

/// The log level that was sent to the server.
pub(crate) struct LogLevelState {
    is_supported: AtomicBool,
    sent_level: AtomicU8,
    sending: Mutex<()>,
}

impl Default for LogLevelState {
    fn default() -> Self {
        let (is_supported, sent_level) = (AtomicBool::new(false), AtomicU8::new(NO_LEVEL));
        Self { is_supported, sent_level, sending: Mutex::default() }
    }
}

impl LogLevelState {
    /// Records that the server declared the `logging` capability.
    pub(crate) fn set_supported(&self) {
        self.is_supported.store(true, Ordering::Relaxed);
    }

    /// Returns the level to send before a call of this caller, or `None` if the current one is
    /// sufficient.
    pub(crate) fn missing_level(&self, port: &dyn Interactor) -> Option<LogLevel> {
        match self.is_supported.load(Ordering::Relaxed) {
            true => port.level().filter(|level| !self.covers(*level)),
            false => None,
        }
    }

    /// Forgets the sent level, because another component sets the level.
    pub(crate) fn forget(&self) {
        self.sent_level.store(NO_LEVEL, Ordering::Release);
    }

    /// Returns true if the sent level includes all messages of `level`.
    fn covers(&self, level: LogLevel) -> bool {
        self.sent_level.load(Ordering::Acquire) <= level as u8
    }
}

/// Sends the level to the server, before any later request.
pub(crate) async fn raise(core: &Arc<SessionCore>, level: LogLevel) {
    let _sending = core.log_level.sending.lock().await;
    if core.log_level.covers(level) {
        return;
    }
    let params = format!("{{\"level\":\"{level}\"}}");
    let params = Some(params.as_bytes());
    match &core.link {
        // The pipe keeps the order, so there is no need to wait for the answer.
        SessionTransport::Line(link) => {
            let id = core.next_id().to_string();
            link.send(&build::request(&id, method::LOGGING_SET_LEVEL, params));
        }
        SessionTransport::Http(_) => {
            let leg = SendOptions::for_own_request(core.timeouts);
            let sent = exchange::request(core, leg, method::LOGGING_SET_LEVEL, params).await;
            if let Err(error) = sent {
                let error = error.outline();
                tracing::debug!(target: "toolgate::session", error, "cannot set the log level");
            }
        }
    }
    core.log_level.sent_level.store(level as u8, Ordering::Release);
}
