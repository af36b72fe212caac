//! The only place in the workspace that starts processes.
//!
//! A server gets a documented, minimal environment, no descriptors except its three pipes, and its
//! own session. It runs in a process tree that ends with this process, even if this process is
//! killed. A task always drains its stderr into a bounded ring.
//!
//! ```text
//! gateway ──leash──▶ guard ──fork──▶ reaper (pid 1 of a PID namespace) ──spawn──▶ server ─▶ …
//!    │                                                                              │
//!    └────────────────────── stdin, stdout, stderr: plain pipes ────────────────────┘
//! ```
//!
//! The guard is this binary, run again as a helper ([`helper_main`]). It holds one end of the
//! leash, a socket whose other end only the gateway has: when the leash closes, the guard ends the
//! tree. The helpers only wait; the server's data does not pass through them.
//!
//! The crate also receives the signals that ask this process to shut down ([`ShutdownSignals`]) or
//! to reload its files ([`ReloadSignals`]).
//!
//! This crate does NOT decide whether a command may be started (consent and policy come before),
//! restrict what a server may access, speak a protocol over the pipes, or restart servers.

mod child;
mod command;
mod confined;
mod env;
mod error;
mod guarantee;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod guarded_tree;
mod helper;
mod launcher;
mod process_group;
mod process_tree;
mod resolve;
mod signals;
mod stderr;
mod stderr_severity;
#[cfg(unix)]
mod sys;

pub use child::{ChildHandle, ChildProcess, SHUTDOWN_GRACE};
pub use command::LaunchSpec;
pub use confined::{ConfinedLimits, ConfinedOutcome, run_confined};
pub use env::{ALLOWED, minimal_env, withheld_variables};
pub use error::LaunchError;
pub use guarantee::TreeGuarantee;
pub use helper::{LaunchHelperProgram, helper_main};
pub use launcher::Launcher;
pub use resolve::resolve_program;
pub use signals::{ReloadSignals, ShutdownSignals};
pub use stderr::StderrRing;
