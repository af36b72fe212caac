//! How talkative a legacy server is told to be: at least as much as the call that comes next wants.
//!
//! It is never told to be less so: what a caller does not want to hear is left out where it is
//! passed on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use tokio::sync::Mutex;
use toolgate_wire::view::LogLevel;
use toolgate_wire::{build, method};

use crate::Interactor;
use crate::core::{Core, Link};
use crate::exchange::{self, Leg};

/// Nothing was told yet.
const NOTHING: u8 = u8::MAX;

pub(crate) struct Level {
    offered: AtomicBool,
    told: AtomicU8,
    telling: Mutex<()>,
}

impl Default for Level {
    fn default() -> Self {
        let (offered, told) = (AtomicBool::new(false), AtomicU8::new(NOTHING));
        Self { offered, told, telling: Mutex::default() }
    }
}

impl Level {
    /// The server declared that it can be told.
    pub(crate) fn offer(&self) {
        self.offered.store(true, Ordering::Relaxed);
    }

    /// The level to be told before a call of this caller, if it is not what the server has.
    pub(crate) fn lacking(&self, port: &dyn Interactor) -> Option<LogLevel> {
        match self.offered.load(Ordering::Relaxed) {
            true => port.level().filter(|level| !self.covers(*level)),
            false => None,
        }
    }

    /// Somebody else tells the server a level; what was told before no longer counts.
    pub(crate) fn forget(&self) {
        self.told.store(NOTHING, Ordering::Release);
    }

    /// Whether the server already says all that is wanted.
    fn covers(&self, level: LogLevel) -> bool {
        self.told.load(Ordering::Acquire) <= level as u8
    }
}

/// Tells the server, before anything that is sent afterwards.
pub(crate) async fn raise(core: &Arc<Core>, level: LogLevel) {
    let _telling = core.level.telling.lock().await;
    if core.level.covers(level) {
        return;
    }
    let params = format!("{{\"level\":\"{level}\"}}");
    let params = Some(params.as_bytes());
    match &core.link {
        // What follows on the pipe comes after it; its answer says nothing that matters.
        Link::Line(link) => {
            let id = core.next_id().to_string();
            link.send(&build::request(&id, method::LOGGING_SET_LEVEL, params));
        }
        Link::Http(_) => {
            let leg = Leg::own(core.timeouts);
            let told = exchange::request(core, leg, method::LOGGING_SET_LEVEL, params).await;
            if let Err(error) = told {
                let error = error.outline();
                tracing::debug!(target: "toolgate::session", error, "log level not taken");
            }
        }
    }
    core.level.told.store(level as u8, Ordering::Release);
}
