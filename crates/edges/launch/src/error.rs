//! Why a process could not be started, in words that say what to do about it.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// A process that did not start. Every message reads after "failed to".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// No such program on the child's `PATH`, or no such file.
    #[error(
        "start `{}`: no such program (searched {searched}); install it, or give its full path",
        program.display()
    )]
    NotFound {
        /// What the entry asked for.
        program: OsString,
        /// Where it was looked for.
        searched: String,
    },
    /// The file exists and may not be executed.
    #[error("start `{}`: the file is not executable; `chmod +x` it, or name its interpreter", path.display())]
    NotExecutable {
        /// The file found.
        path: PathBuf,
    },
    /// The working folder cannot be used.
    #[error("enter the working folder `{}` ({source}); create it, or correct `cwd`", folder.display())]
    Cwd {
        /// The folder asked for.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The command cannot be expressed to the system.
    #[error("start `{}`: a NUL byte in the command, or a variable name that is empty or holds `=`", program.display())]
    Malformed {
        /// What the entry asked for.
        program: OsString,
    },
    /// The system refused to execute the program.
    #[error("execute `{}` ({source}){}", program.display(), exec_hint(source))]
    Exec {
        /// The program found.
        program: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A pipe, a socket or a process could not be made.
    #[error("start a process ({0}); the system may be out of descriptors or processes")]
    Spawn(#[source] io::Error),
    /// The helper that guards the process tree failed.
    #[error("guard the process tree ({step}: {source}){}", helper_hint(source))]
    Helper {
        /// What the helper was doing.
        step: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// `ENOENT` for a file we have just found means the interpreter on its first line.
fn exec_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; the interpreter named in its first line is missing",
        io::ErrorKind::PermissionDenied => "; check the permissions of the file and its folders",
        _ => "",
    }
}

fn helper_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; the helper binary is not where it was",
        io::ErrorKind::StorageFull => "; the system's limit of namespaces is reached",
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => "; the helper was ended",
        _ => "",
    }
}
