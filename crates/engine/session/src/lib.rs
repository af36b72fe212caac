//! One MCP connection to a server: handshake, calls, notifications, questions, lists and shutdown.
//!
//! A [`Session`] lives as long as its connection. Starting processes, reconnecting and managing
//! several servers are left to the fleet. The gate decides who may call what.
//!
//! ```text
//! call ──► pending requests (by id) ──► link (line or HTTP) ──► server
//!            ▲                                                    │
//!            └── inbound: answers, progress, logs, questions ◄────┘
//! ```

mod core;
mod error;
mod event_handler;
mod exchange;
mod handshake;
mod http;
mod inbound;
mod interactor;
mod large;
mod line;
mod listing;
mod log_level;
mod modern;
mod notification_limiter;
mod open_questions;
mod pending_requests;
mod session;
mod timing;
mod url_elicitation;

pub use error::SessionError;
pub use event_handler::SessionEventHandler;
pub use handshake::SessionOptions;
pub use interactor::{
    Answer, CallerId, CapabilityOverrideInteractor, Interactor, Question, QuestionKind,
    RootsInteractor, restrict_sampling,
};
pub use large::parse_spooled;
pub use session::{OutboundRequest, Session};
