//! One upstream connection: the handshake, calls with everything said meanwhile, lists, the end.
//!
//! A [`Session`] lives as long as its connection. It does not start processes, does not come back
//! after it ended and knows nothing of other servers: that is the fleet's. It decides nothing about
//! who may call what: that is the gate's.
//!
//! ```text
//! call ──► flights (who waits for which id) ──► link (line or HTTP) ──► server
//!            ▲                                                            │
//!            └── inbound: answers, progress, logs, questions ◄────────────┘
//! ```

mod asks;
mod core;
mod error;
mod exchange;
mod flights;
mod handshake;
mod http;
mod inbound;
mod interactor;
mod large;
mod level;
mod line;
mod listing;
mod meter;
mod modern;
mod ourselves;
mod owner;
mod session;
mod timing;
mod url_required;

pub use error::SessionError;
pub use handshake::{Opening, Welcome};
pub use interactor::{Ambient, Answer, AskKind, Interactor, Question, Scope, declared};
pub use large::sifted;
pub use owner::Owner;
pub use session::{Outbound, Session};
