//! The errors of starting a process. Their messages include what to do about them.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// The reason why a process did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The program is not on the child's `PATH`, or the file does not exist.
    #[error(
        "cannot start `{}`: no such program (searched {searched}); install it, or give its full \
         path",
        program.display()
    )]
    NotFound {
        /// The program in the server's entry.
        program: OsString,
        /// The folders that were searched.
        searched: String,
    },
    /// The file exists but is not executable.
    #[error(
        "cannot start `{}`: the file is not executable; `chmod +x` it, or name its interpreter",
        path.display()
    )]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// The working folder cannot be used.
    #[error(
        "cannot enter the working folder `{}` ({source}); create it, or correct `cwd`",
        folder.display()
    )]
    Cwd {
        /// The folder in the server's entry.
        folder: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// The command contains characters that the system does not allow.
    #[error(
        "cannot start `{}`: the command contains a NUL byte, or a variable name is empty or \
         contains `=`",
        program.display()
    )]
    Malformed {
        /// The program in the server's entry.
        program: OsString,
    },
    /// The system refused to execute the program.
    #[error("cannot execute `{}` ({source}){}", program.display(), exec_hint(source))]
    Exec {
        /// The resolved program.
        program: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// A pipe, a socket or a process could not be created.
    #[error("cannot start a process ({0}); the system may be out of descriptors or processes")]
    Spawn(#[source] io::Error),
    /// The helper process failed.
    #[error("helper process failed while {step} ({source}){}", helper_hint(source))]
    Helper {
        /// What the helper was doing.
        step: &'static str,
        /// The system error.
        source: io::Error,
    },
}

/// Returns advice for a failed `exec`. `ENOENT` for a file that exists means that the interpreter
/// on its first line is missing.
fn exec_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; the interpreter named in its first line is missing",
        io::ErrorKind::PermissionDenied => "; check the permissions of the file and its folders",
        _ => "",
    }
}

/// Returns an explanation for a failed helper process.
fn helper_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::NotFound => "; the helper binary no longer exists",
        io::ErrorKind::StorageFull => "; the system's limit of namespaces is reached",
        io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe => "; the helper was killed",
        _ => "",
    }
}
