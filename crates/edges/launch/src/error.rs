//! The errors of starting a process.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

use toolgate_model::{CodedError, ErrorCode};

/// The reason why a process did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// The program is not on the child's `PATH`, or the file does not exist.
    #[error("cannot start `{}`: no such program (searched {searched})", program.display())]
    NotFound {
        /// The program in the server's entry.
        program: OsString,
        /// The folders that were searched.
        searched: String,
    },
    /// The file exists but is not executable.
    #[error("cannot start `{}`: the file is not executable", path.display())]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// The working folder cannot be used.
    #[error("cannot enter the working folder `{}` ({source})", folder.display())]
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
    #[error("cannot execute `{}` ({source})", program.display())]
    Exec {
        /// The resolved program.
        program: PathBuf,
        /// The system error.
        source: io::Error,
    },
    /// A pipe, a socket or a process could not be created.
    #[error("cannot start a process ({0})")]
    Spawn(#[source] io::Error),
    /// The helper process failed.
    #[error("helper process failed while {step} ({source})")]
    Helper {
        /// What the helper was doing.
        step: &'static str,
        /// The system error.
        source: io::Error,
    },
}

impl CodedError for LaunchError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::LaunchNotFound,
            Self::NotExecutable { .. } => ErrorCode::LaunchNotExecutable,
            Self::Cwd { .. } => ErrorCode::LaunchFolder,
            Self::Malformed { .. } => ErrorCode::LaunchMalformed,
            Self::Exec { .. } => ErrorCode::LaunchExec,
            Self::Spawn(_) | Self::Helper { .. } => ErrorCode::LaunchResources,
        }
    }

    fn hint(&self) -> Option<String> {
        use io::ErrorKind::{BrokenPipe, NotFound, PermissionDenied, StorageFull, UnexpectedEof};
        let hint = match self {
            Self::NotFound { .. } => "install it, or give its full path",
            Self::NotExecutable { .. } => "`chmod +x` it, or name its interpreter",
            Self::Cwd { .. } => "create it, or correct `cwd`",
            Self::Spawn(_) => "the system may be out of descriptors or processes",
            Self::Exec { source, .. } => match source.kind() {
                // The file exists, so what is missing is the interpreter.
                NotFound => "the interpreter named in its first line is missing",
                PermissionDenied => "check the permissions of the file and its folders",
                _ => return None,
            },
            Self::Helper { source, .. } => match source.kind() {
                NotFound => "the helper binary no longer exists",
                StorageFull => "the system's limit of namespaces is reached",
                UnexpectedEof | BrokenPipe => "the helper was killed",
                _ => return None,
            },
            Self::Malformed { .. } => return None,
        };
        Some(hint.to_owned())
    }
}
