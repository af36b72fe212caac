//! The helper: this binary, run again to guard one process tree.
//!
//! Only a program whose `main` calls [`helper_main`] can be its own helper. Any other program would
//! simply run a second time, so this module never guesses.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first argument of a helper call. A program's own verbs never begin with underscores.
#[cfg(target_os = "linux")]
pub(crate) const VERB: &str = "__launch";

/// Whether `main` has called [`helper_main`], and so answers helper calls.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Runs this process as a helper if it was started as one, and returns its exit code. Returns
/// `None` otherwise.
///
/// Call it at the beginning of `main`, before any thread exists.
pub fn helper_main() -> Option<ExitCode> {
    #[cfg(target_os = "linux")]
    {
        let mut args = std::env::args_os().skip(1);
        if args.next().as_deref() == Some(VERB.as_ref()) {
            return Some(crate::guard::main(args.next().as_deref()));
        }
    }
    ANSWERED.store(true, Ordering::Relaxed);
    None
}

/// The program that acts as the helper, if any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchHelperProgram(Option<PathBuf>);

impl LaunchHelperProgram {
    /// Returns this program if its `main` called [`helper_main`], otherwise no helper.
    pub fn current() -> Self {
        let answers = ANSWERED.load(Ordering::Relaxed);
        // The link refers to the running image even after an upgrade has replaced the file.
        Self((answers && cfg!(target_os = "linux")).then(|| PathBuf::from("/proc/self/exe")))
    }

    /// Returns this program on every system, for tasks of [`run_confined`](crate::run_confined)
    /// that its `main` handles.
    pub fn current_exe() -> Self {
        if cfg!(target_os = "linux") {
            return Self(Some(PathBuf::from("/proc/self/exe")));
        }
        Self(std::env::current_exe().ok())
    }

    /// Returns the program at `path`. Its `main` must begin with [`helper_main`], as in `toolgate`.
    pub fn at_path(path: impl Into<PathBuf>) -> Self {
        Self(Some(path.into()))
    }

    /// Returns no helper. Only process groups are then available.
    pub fn none() -> Self {
        Self(None)
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}
