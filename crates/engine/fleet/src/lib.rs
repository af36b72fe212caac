//! Many upstream servers: started in parallel, kept, restarted on use, refreshed, ended.
//!
//! A server has one [`Pool`] per key: one for all callers, or one per caller where the server's
//! state is a caller's own. A pool keeps one live connection and its catalog, and spare ones while
//! somebody else's question is open on it. A server that is slow, broken or absent delays and hides nobody: nothing here waits for all of them.
//!
//! The fleet decides nothing about who may call what (the gate does) and makes no exposed names.

mod apply;
mod builtin;
mod connect;
mod error;
mod event;
mod failures;
mod fleet;
mod gauge;
mod hints;
mod http;
mod known;
mod leaving;
mod masked;
mod member;
mod memory;
mod pool;
mod refresh;
mod report;
mod roots;
mod server;
mod spares;
mod subscriptions;
mod wanted;
mod watch;

pub use apply::Applied;
pub use builtin::BuiltIn;
pub use error::FleetError;
pub use event::FleetEvent;
pub use fleet::{Fleet, FleetBuilder};
pub use gauge::{Stay, Visit};
pub use known::{Fact, Known};
pub use leaving::DRAIN;
pub use member::{CallerKey, Member, Tenant};
pub use pool::Pool;
pub use report::{PhaseReport, Report};
pub use server::{Offered, ServerStatus};
