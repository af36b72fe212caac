//! The only place in the workspace that starts processes.
//!
//! A server is started with a published, minimal environment, no descriptor but its three pipes, a
//! session of its own, and inside a process tree that ends when we end, however we end. Its stderr
//! is always drained into a bounded ring.
//!
//! ```text
//! gateway ──leash──▶ guard ──fork──▶ reaper (pid 1 of a PID namespace) ──spawn──▶ server ─▶ …
//!    │                                                                              │
//!    └────────────────────── stdin, stdout, stderr: plain pipes ────────────────────┘
//! ```
//!
//! The guard is our own binary run again as a helper ([`helper_main`]). It holds one end of the
//! leash, a socket whose other end only the gateway has: the end of the leash is the end of the
//! tree. The helpers wait; no byte of the data path passes through them.
//!
//! It also hears the [`Signals`] that ask this process to end, and the [`Hangups`] that ask it to
//! look at its files again.
//!
//! What this crate does NOT do: decide whether a command may be started (consent and policy come
//! before), confine what a server may read or reach, speak any protocol over the pipes, restart.

mod child;
mod command;
mod confined;
mod env;
mod error;
mod group;
mod guarantee;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod guarded;
mod helper;
mod launcher;
mod resolve;
mod severity;
mod signals;
mod stderr;
#[cfg(unix)]
mod sys;
mod tree;

pub use child::{Child, ChildHandle, ChildIo, SHUTDOWN_GRACE};
pub use command::Command;
pub use confined::{Bounds, Ending, confined};
pub use env::{ALLOWED, Allowed, minimal_env, withheld};
pub use error::LaunchError;
pub use guarantee::TreeGuarantee;
pub use helper::{Helper, helper_main};
pub use launcher::Launcher;
pub use resolve::resolve;
pub use signals::{Hangups, Signals};
pub use stderr::StderrRing;
