//! Our own binary, run again to guard one process tree.
//!
//! Only a program whose `main` calls [`helper_main`] can be its own helper; running any other again
//! would run that program a second time, so we never guess.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// The first argument of a helper call. A program's own verbs never begin with underscores.
#[cfg(target_os = "linux")]
pub(crate) const VERB: &str = "__launch";

/// Set once `main` has shown that it answers helper calls.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Must be called first thing in `main`, before any thread exists.
///
/// Returns `None` in the ordinary case. If this process was started as a helper, it does that work
/// and returns the code to exit with.
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

/// Which program acts as the helper.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Helper(Option<PathBuf>);

impl Helper {
    /// This very program, if its `main` called [`helper_main`]; otherwise no helper.
    pub fn current() -> Self {
        let answers = ANSWERED.load(Ordering::Relaxed);
        // The link leads to the running image even after an upgrade replaced the file.
        Self((answers && cfg!(target_os = "linux")).then(|| PathBuf::from("/proc/self/exe")))
    }

    /// This very program on every system, for [`confined`](crate::confined) tasks that its `main`
    /// answers.
    pub fn own() -> Self {
        if cfg!(target_os = "linux") {
            return Self(Some(PathBuf::from("/proc/self/exe")));
        }
        Self(std::env::current_exe().ok())
    }

    /// A program that calls [`helper_main`] first thing in its `main`, such as `toolgate`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(Some(path.into()))
    }

    /// No helper: process groups only.
    pub fn none() -> Self {
        Self(None)
    }

    pub(crate) fn path(&self) -> Option<&Path> {
        self.0.as_deref()
    }
}

impl Default for Helper {
    fn default() -> Self {
        Self::current()
    }
}
