//! Every message of every error on one page, for review: code, exit code, message and hint.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // tests

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use toolgate_config::ConfigError;
use toolgate_dialects::EditError;
use toolgate_dialects::template::{TemplateVariable, VariableSource};
use toolgate_fleet::FleetError;
use toolgate_host::HostError;
use toolgate_host::local::{HandlerError, RequestToClientError};
use toolgate_journal::JournalError;
use toolgate_launch::LaunchError;
use toolgate_model::{
    CodedError, ErrorCode, FailurePhase, ServerFailure, ServerName, ServerNameError, ServerState,
    StartBlock,
};
use toolgate_pins::LockFileError;
use toolgate_session::SessionError;
use toolgate_store::{AccessKeyError, StoreError};
use toolgate_transport::TransportError;

/// The page, with one heading per error type.
struct Review(String);

impl Review {
    fn add<E: CodedError>(&mut self, title: &str, errors: impl IntoIterator<Item = E>) {
        let _ = writeln!(self.0, "## {title}");
        for error in errors {
            let code = error.code();
            let _ = writeln!(self.0, "[{code}, exit {}] {error}", code.exit() as u8);
            if let Some(hint) = error.hint() {
                let _ = writeln!(self.0, "  hint: {hint}");
            }
        }
        self.0.push('\n');
    }
}

fn denied() -> io::Error {
    io::ErrorKind::PermissionDenied.into()
}

fn path() -> PathBuf {
    "/home/ada/file".into()
}

fn server() -> ServerName {
    ServerName::new("github").unwrap()
}

#[test]
fn every_message_was_reviewed() {
    let mut review = Review(String::new());
    review.add(
        "ServerNameError",
        [ServerNameError::Empty, ServerNameError::TooLong(200), ServerNameError::Invisible(0x202e)],
    );
    review.add(
        "EditError",
        [
            EditError::Syntax { line: 3, message: "expected `=`".into() },
            EditError::WrongKind { at: "servers.git".into(), found: "a string" },
            EditError::Unsupported("it is written on one line".into()),
        ],
    );
    review.add(
        "LockFileError",
        [
            LockFileError::Syntax("expected `=`".into()),
            LockFileError::Version(9),
            LockFileError::Content("no servers".into()),
        ],
    );
    review.add("ConfigError", config_errors());
    review.add(
        "StoreError",
        [
            StoreError::Open { path: path(), source: denied() },
            StoreError::NewerSchema { path: path(), found: 9, known: 4 },
            StoreError::Malformed { action: "read a grant", what: "no digest".into() },
        ],
    );
    review.add("AccessKeyError", [AccessKeyError::Unknown, AccessKeyError::Expired]);
    review.add(
        "JournalError",
        [
            JournalError::Write { path: path(), why: "no space left".into() },
            JournalError::Read { path: path(), source: denied() },
            JournalError::Line { path: path(), line: 7, what: "not a record".into() },
        ],
    );
    review.add("LaunchError", launch_errors());
    review.add("TransportError", transport_errors());
    review.add("SessionError", session_errors());
    review.add("FleetError", fleet_errors());
    review.add(
        "HostError",
        [
            HostError::NoServer("gihtub".into()),
            HostError::Pins("no pin".into()),
            HostError::ServerError { code: -32603, message: "boom".into() },
        ],
    );
    review.add(
        "RequestToClientError",
        [
            RequestToClientError::Unsupported,
            RequestToClientError::Refused { code: -1, message: "no".into() },
            RequestToClientError::TimedOut,
            RequestToClientError::Disconnected,
        ],
    );
    review.add(
        "HandlerError",
        [
            HandlerError::NotFound,
            HandlerError::Invalid("bad".into()),
            HandlerError::Failed("boom".into()),
        ],
    );
    insta::assert_snapshot!("messages", review.0);
}

fn config_errors() -> Vec<ConfigError> {
    let source = VariableSource::Env;
    let variable = TemplateVariable { source, name: "TOKEN".into(), default: None };
    let field = || "env.TOKEN".to_owned();
    vec![
        ConfigError::NoHome,
        ConfigError::Read { path: path(), source: denied() },
        ConfigError::Write { path: path(), source: denied() },
        ConfigError::Edit { path: path(), source: EditError::Unsupported("one line".into()) },
        ConfigError::Busy { path: path() },
        ConfigError::Unset {
            server: server(),
            field: field(),
            variable: Box::new(variable),
            at: None,
            why: "the variable TOKEN is not set or empty".into(),
            advice: "set it in the environment of toolgate".into(),
        },
        ConfigError::BadValue {
            server: server(),
            field: field(),
            at: None,
            why: "cannot read the file".into(),
        },
        ConfigError::Changed { server: server() },
        ConfigError::BadSecret { name: "a b".into(), why: "its name has a space" },
        ConfigError::BadValue {
            server: server(),
            field: field(),
            at: None,
            why: "the value of a variable contains a line break".into(),
        },
    ]
}

fn launch_errors() -> Vec<LaunchError> {
    let missing = || io::Error::from(io::ErrorKind::NotFound);
    vec![
        LaunchError::NotFound { program: "npx".into(), searched: "/usr/bin".into() },
        LaunchError::NotExecutable { path: path() },
        LaunchError::Cwd { folder: path(), source: missing() },
        LaunchError::Malformed { program: "a".into() },
        LaunchError::Exec { program: path(), source: missing() },
        LaunchError::Exec { program: path(), source: denied() },
        LaunchError::Spawn(io::ErrorKind::WouldBlock.into()),
        LaunchError::Helper { step: "starting", source: missing() },
        LaunchError::Helper { step: "starting", source: io::ErrorKind::StorageFull.into() },
        LaunchError::Helper { step: "starting", source: io::ErrorKind::BrokenPipe.into() },
    ]
}

fn transport_errors() -> Vec<TransportError> {
    let text = || "<html>".to_owned();
    vec![
        TransportError::Closed,
        TransportError::Oversize { limit: 1024, head: Vec::new() },
        TransportError::NoRoom { reason: "the disk is full".into(), head: Vec::new() },
        TransportError::Address { url: "ftp://x".into(), reason: "not HTTP".into() },
        TransportError::Connect { authority: "127.0.0.1:1".into(), source: denied() },
        TransportError::Refused { status: 500, challenge: None, text: text() },
        TransportError::NotEventStream("text/html".into()),
        TransportError::LocalSocket { path: path(), source: denied() },
        TransportError::Io(denied()),
    ]
}

fn session_errors() -> Vec<SessionError> {
    vec![
        SessionError::Ended("the process exited with 1".into()),
        SessionError::Expired,
        SessionError::NeedsAuth { status: 401, challenge: None },
        SessionError::Status { status: 404, text: "<html>".into() },
        SessionError::TimedOut(Duration::from_secs(60)),
        SessionError::Protocol("no protocolVersion".into()),
        SessionError::Refused { code: -32600, message: "no".into() },
    ]
}

fn fleet_errors() -> Vec<FleetError> {
    let block = StartBlock::new(ErrorCode::ConsentNeeded, "needs consent");
    let failure = ServerFailure::new(FailurePhase::Launch, &launch_errors().remove(0));
    let unusable = |state| FleetError::Unusable { server: server(), state };
    vec![
        FleetError::Unknown(server()),
        unusable(ServerState::Blocked(block)),
        unusable(ServerState::Disabled),
        unusable(ServerState::NeedsAuth("HTTP 401".into())),
        FleetError::Down { server: server(), failure: Box::new(failure) },
        FleetError::Busy(server()),
        FleetError::Gone(server()),
        FleetError::Replaced(server()),
        FleetError::Session {
            server: server(),
            source: SessionError::Ended("the process exited with 1".into()),
            stderr: "boom".into(),
        },
    ]
}
