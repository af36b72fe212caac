//! Stable codes of user-visible failures: the one table from errors to exit codes and JSON-RPC codes.
//!
//! Failures that a user resolves in the same way share a code. `docs/errors.md` has a page for each
//! code, which `toolgate explain CODE` prints. A code keeps its meaning; a new failure gets a new
//! number at the end of its area.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toolgate_wire::code;

/// The exit code of a run; it means the same for every verb.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[repr(u8)]
pub enum Exit {
    /// Success.
    Done = 0,
    /// The verb failed.
    Failed = 1,
    /// Bad usage or bad configuration.
    Usage = 2,
    /// Refused by policy.
    Refused = 3,
    /// Interrupted by a signal, as shells report SIGINT.
    Interrupted = 130,
}

/// Defines [`ErrorCode`] from one row per code: variant, text, exit code, JSON-RPC code. Without a
/// JSON-RPC code, an error that reaches a client is an internal error.
macro_rules! error_codes {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $exit:ident $(, $rpc:ident)?;)*) => {
        /// The stable code of a user-visible failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $name,)*
        }

        impl ErrorCode {
            /// All codes, by area and number.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            fn row(self) -> (&'static str, Exit, Option<i32>) {
                match self {
                    $(Self::$name => ($text, Exit::$exit, None$(.or(Some(code::$rpc)))?),)*
                }
            }
        }
    };
}

error_codes! {
    /// A configuration file is not valid TOML, JSON or YAML.
    ConfigSyntax = "TG-CONFIG-001", Usage;
    /// A configuration file exists but cannot be read.
    ConfigUnreadable = "TG-CONFIG-002", Usage;
    /// An entry or a setting has an invalid value and is ignored.
    ConfigInvalid = "TG-CONFIG-003", Usage;
    /// A table has a field that does not exist.
    ConfigUnknownField = "TG-CONFIG-004", Usage;
    /// A name or a field is declared twice in one file.
    ConfigDuplicate = "TG-CONFIG-005", Usage;
    /// A field or setting has no effect where it is.
    ConfigNoEffect = "TG-CONFIG-006", Usage;
    /// A project's file sets what only the user may decide.
    ConfigProjectLimit = "TG-CONFIG-007", Usage;
    /// A field is read, but this version does not enforce it.
    ConfigUnenforced = "TG-CONFIG-008", Usage;
    /// The same server is declared under two names.
    ConfigSameServer = "TG-CONFIG-009", Usage;
    /// An entry would start Toolgate itself.
    ConfigGatewayLoop = "TG-CONFIG-010", Usage;
    /// An entry lacks something that it needs to start.
    ConfigCannotStart = "TG-CONFIG-011", Usage, CONNECTION_CLOSED;
    /// A file contains a credential in plain text.
    ConfigPlainCredential = "TG-CONFIG-012", Usage;
    /// A variable or a secret that an entry uses has no value.
    ConfigUnset = "TG-CONFIG-013", Usage, CONNECTION_CLOSED;
    /// The value of a variable cannot be read, or is not allowed in its field.
    ConfigBadValue = "TG-CONFIG-014", Usage, CONNECTION_CLOSED;
    /// A file looks like another dialect than its path.
    ConfigDialect = "TG-CONFIG-015", Usage;
    /// A profile does not exist, or selects nothing.
    ConfigProfile = "TG-CONFIG-016", Usage, INVALID_PARAMS;
    /// A file cannot be edited without touching the rest of it.
    ConfigEdit = "TG-CONFIG-017", Usage;
    /// A configuration file or folder cannot be written.
    ConfigWrite = "TG-CONFIG-018", Failed;
    /// Another Toolgate process is changing the file.
    ConfigBusy = "TG-CONFIG-019", Failed;
    /// There is no home folder.
    ConfigNoHome = "TG-CONFIG-020", Usage;
    /// The name or the value of a secret is not valid.
    ConfigSecret = "TG-CONFIG-021", Usage;
    /// A server name is not valid, or clients cannot use it.
    ConfigServerName = "TG-CONFIG-022", Usage;
    /// An entry changes a server that no file declares, or that belongs to another project.
    ConfigOtherServer = "TG-CONFIG-023", Usage;
    /// A server of this name is already declared, or another file decides about it.
    ConfigConflict = "TG-CONFIG-024", Failed;
    /// No project is open.
    ConfigNoProject = "TG-CONFIG-025", Usage;
    /// No secret has this name.
    ConfigNoSecret = "TG-CONFIG-026", Failed;

    /// The program of a server does not exist.
    LaunchNotFound = "TG-LAUNCH-001", Failed, CONNECTION_CLOSED;
    /// The program of a server is not executable.
    LaunchNotExecutable = "TG-LAUNCH-002", Failed, CONNECTION_CLOSED;
    /// The working folder of a server cannot be used.
    LaunchFolder = "TG-LAUNCH-003", Failed, CONNECTION_CLOSED;
    /// The command or its environment contains characters that the system does not allow.
    LaunchMalformed = "TG-LAUNCH-004", Failed, CONNECTION_CLOSED;
    /// The system refused to execute the program.
    LaunchExec = "TG-LAUNCH-005", Failed, CONNECTION_CLOSED;
    /// The system is out of processes or descriptors, or the guard process failed.
    LaunchResources = "TG-LAUNCH-006", Failed, CONNECTION_CLOSED;

    /// A server cannot be reached.
    ConnectUnreachable = "TG-CONNECT-001", Failed, CONNECTION_CLOSED;
    /// The URL of a server cannot be used.
    ConnectAddress = "TG-CONNECT-002", Usage, CONNECTION_CLOSED;
    /// A server requires authentication.
    ConnectAuth = "TG-CONNECT-003", Failed, CONNECTION_CLOSED;
    /// A server answered with an unexpected HTTP status.
    ConnectStatus = "TG-CONNECT-004", Failed;
    /// The endpoint is not an MCP server.
    ConnectNotMcp = "TG-CONNECT-005", Failed, CONNECTION_CLOSED;

    /// The connection to a server ended.
    SessionEnded = "TG-SESSION-001", Failed, CONNECTION_CLOSED;
    /// A server did not answer in time.
    SessionTimeout = "TG-SESSION-002", Failed, REQUEST_TIMEOUT;
    /// A server sent a message that is not valid, or broke the protocol.
    SessionProtocol = "TG-SESSION-003", Failed;
    /// A message is too large, or there is no room for it.
    SessionTooLarge = "TG-SESSION-004", Failed, CONNECTION_CLOSED;

    /// No server has this name.
    ServerUnknown = "TG-SERVER-001", Failed, INVALID_PARAMS;
    /// A server is disabled.
    ServerDisabled = "TG-SERVER-002", Failed, CONNECTION_CLOSED;
    /// A server is not allowed to start.
    ServerBlocked = "TG-SERVER-003", Refused, CONNECTION_CLOSED;
    /// A server could not be started or reached.
    ServerFailed = "TG-SERVER-004", Failed, CONNECTION_CLOSED;
    /// A server was replaced or removed during the request.
    ServerReplaced = "TG-SERVER-005", Failed, CONNECTION_CLOSED;
    /// Every connection to a server waits for another caller.
    ServerBusy = "TG-SERVER-006", Failed, REQUEST_TIMEOUT;

    /// No tool, prompt, task or other capability has this name.
    CallUnknown = "TG-CALL-001", Failed, INVALID_PARAMS;
    /// No server has this resource.
    CallNoResource = "TG-CALL-002", Failed, RESOURCE_NOT_FOUND;
    /// The arguments do not match the schema of the tool.
    CallArguments = "TG-CALL-003", Usage, INVALID_PARAMS;
    /// A request lacks a parameter, or has an invalid one.
    CallParams = "TG-CALL-004", Usage, INVALID_PARAMS;
    /// No server implements the method.
    CallMethod = "TG-CALL-005", Failed, METHOD_NOT_FOUND;
    /// The server answered with an error, or the tool failed.
    CallServerError = "TG-CALL-006", Failed, INTERNAL_ERROR;
    /// The answer of a server cannot be used.
    CallBadAnswer = "TG-CALL-007", Failed, INTERNAL_ERROR;
    /// Too many calls run at the same time.
    CallLimit = "TG-CALL-008", Failed, CONNECTION_CLOSED;
    /// The call was cancelled.
    CallCancelled = "TG-CALL-009", Failed, REQUEST_CANCELLED;
    /// The client lacks a capability that the call needs.
    CallClientCapability = "TG-CALL-010", Failed, MISSING_CLIENT_CAPABILITY;
    /// A kept result or a task is no longer available.
    CallGone = "TG-CALL-011", Failed, INVALID_PARAMS;
    /// The capability is hidden from this profile.
    CallHidden = "TG-CALL-012", Refused, INVALID_PARAMS;

    /// A rule denies the request.
    PolicyDenied = "TG-POLICY-001", Refused, REFUSED;
    /// A policy rule is not valid.
    PolicyInvalidRule = "TG-POLICY-002", Usage;
    /// A policy rule has no effect.
    PolicyUnusedRule = "TG-POLICY-003", Usage;
    /// A file of policy test cases is not valid.
    PolicyCases = "TG-POLICY-004", Usage;

    /// A call waits for the approval of a person.
    ApprovalPending = "TG-APPROVAL-001", Refused, REFUSED;
    /// A person denied the call, or nobody can be asked.
    ApprovalDenied = "TG-APPROVAL-002", Refused, REFUSED;
    /// The operator cannot be identified.
    ApprovalOperator = "TG-APPROVAL-003", Refused;
    /// The passphrase of the operator is missing or wrong.
    ApprovalPassphrase = "TG-APPROVAL-004", Refused;
    /// No call waits under this id, or it was already decided.
    ApprovalUnknown = "TG-APPROVAL-005", Failed;
    /// No grant matches.
    ApprovalNoGrant = "TG-APPROVAL-006", Failed;
    /// No approver is chosen for a client.
    ApprovalNoApprover = "TG-APPROVAL-007", Usage;

    /// A project's server waits for the consent of the user.
    ConsentNeeded = "TG-CONSENT-001", Refused, CONNECTION_CLOSED;
    /// A file that a server starts with has changed since the consent.
    ConsentChanged = "TG-CONSENT-002", Refused, CONNECTION_CLOSED;
    /// There is no consent to revoke.
    ConsentNone = "TG-CONSENT-003", Failed;

    /// A definition differs from the approved one.
    PinChanged = "TG-PIN-001", Refused, REFUSED;
    /// The definitions of a server are not known or not approved.
    PinUnknown = "TG-PIN-002", Failed;
    /// The definitions to approve contain findings.
    PinFindings = "TG-PIN-003", Usage;
    /// The lock file is missing or cannot be used.
    PinLockFile = "TG-PIN-004", Usage;
    /// Servers or definitions differ from the lock file.
    PinLockMismatch = "TG-PIN-005", Refused, CONNECTION_CLOSED;

    /// A database cannot be opened.
    StoreOpen = "TG-STORE-001", Failed;
    /// A database is damaged.
    StoreDamaged = "TG-STORE-002", Failed;
    /// A newer version of Toolgate wrote the database.
    StoreNewer = "TG-STORE-003", Failed;
    /// A query or a migration failed.
    StoreQuery = "TG-STORE-004", Failed;
    /// A stored value is not valid.
    StoreValue = "TG-STORE-005", Failed;

    /// The journal cannot be written.
    JournalWrite = "TG-JOURNAL-001", Failed, REFUSED;
    /// The journal cannot be read.
    JournalRead = "TG-JOURNAL-002", Failed;
    /// A file given to verify the journal cannot be used.
    JournalVerify = "TG-JOURNAL-003", Usage;

    /// A file cannot be added to the local context.
    ContextFile = "TG-CONTEXT-001", Failed;
    /// A text or a resource cannot be added to the local context.
    ContextText = "TG-CONTEXT-002", Failed;
    /// A server is not allowed to become permanent context.
    ContextNotAllowed = "TG-CONTEXT-003", Refused;
    /// A file to import is not an export of the local context.
    ContextImport = "TG-CONTEXT-004", Failed;
    /// The local context does not have this document.
    ContextUnknown = "TG-CONTEXT-005", Failed;

    /// The gateway cannot listen on the address.
    GatewayAddress = "TG-GATEWAY-001", Usage;
    /// The port is in use.
    GatewayPort = "TG-GATEWAY-002", Failed;
    /// Another gateway owns the home.
    GatewayHome = "TG-GATEWAY-003", Failed;
    /// The running gateway cannot be reached, or has stopped.
    GatewayUnreachable = "TG-GATEWAY-004", Failed;
    /// The running gateway gave an answer that this version does not understand.
    GatewayAnswer = "TG-GATEWAY-005", Failed;
    /// The connection to the client failed.
    GatewayClient = "TG-GATEWAY-006", Failed;
    /// Too many sessions are open.
    GatewaySessions = "TG-GATEWAY-007", Failed, CONNECTION_CLOSED;
    /// The `requestState` of a client does not belong to a waiting call.
    GatewayRequestState = "TG-GATEWAY-008", Failed, INVALID_PARAMS;
    /// No access key of this name exists, it has expired, or the name is taken.
    GatewayKey = "TG-GATEWAY-009", Failed;
    /// A client sent a message that is not valid.
    GatewayRequest = "TG-GATEWAY-010", Failed, INVALID_REQUEST;

    /// The command line is not valid.
    CliUsage = "TG-CLI-001", Usage;
    /// The arguments of a call cannot be read.
    CliArguments = "TG-CLI-002", Usage;
    /// A question needs a terminal.
    CliNoTerminal = "TG-CLI-003", Refused;
    /// The user did not confirm.
    CliNotConfirmed = "TG-CLI-004", Failed;
    /// Standard input, the terminal, a file or a folder cannot be read.
    CliRead = "TG-CLI-005", Failed;
    /// A file or standard output cannot be written.
    CliWrite = "TG-CLI-006", Failed;
    /// No client has this name, or it has no such file.
    CliClient = "TG-CLI-007", Usage;
    /// A client's file cannot be changed as requested.
    CliClientFile = "TG-CLI-008", Failed;
    /// No error has this code.
    CliNoCode = "TG-CLI-009", Usage;
    /// A signal interrupted the verb.
    CliInterrupted = "TG-CLI-010", Interrupted;
    /// The reader of standard output closed it. This is not reported.
    CliBrokenPipe = "TG-CLI-011", Done;
    /// The system refused something that always works, or Toolgate has a defect.
    CliInternal = "TG-CLI-012", Failed;
}

impl ErrorCode {
    /// Returns the code as text, for example `TG-CONFIG-001`.
    pub fn as_str(self) -> &'static str {
        self.row().0
    }

    /// Returns the exit code of a verb that fails with this code.
    pub fn exit(self) -> Exit {
        self.row().1
    }

    /// Returns the JSON-RPC code of an error that a client receives.
    pub fn rpc(self) -> i32 {
        self.row().2.unwrap_or(code::INTERNAL_ERROR)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error that a user can see.
pub trait CodedError: std::error::Error {
    /// Returns its stable code.
    fn code(&self) -> ErrorCode;

    /// Returns what the user can do about it. The message does not repeat it.
    fn hint(&self) -> Option<String> {
        None
    }
}

/// The error for a text that is no error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown error code")]
pub struct UnknownErrorCode;

impl FromStr for ErrorCode {
    type Err = UnknownErrorCode;

    fn from_str(text: &str) -> Result<Self, UnknownErrorCode> {
        let is_same = |code: &Self| code.as_str().eq_ignore_ascii_case(text);
        Self::ALL.iter().copied().find(is_same).ok_or(UnknownErrorCode)
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A code of another version is read as [`ErrorCode::GatewayAnswer`].
impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Ok(text.parse().unwrap_or(Self::GatewayAnswer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_numbered_within_their_area() {
        let mut last = ("", 0);
        for code in ErrorCode::ALL {
            let (area, number) = code.as_str().rsplit_once('-').unwrap();
            let expected = if area == last.0 { last.1 + 1 } else { 1 };
            assert_eq!(number, format!("{expected:03}"), "{code}");
            last = (area, expected);
        }
        let mut texts: Vec<_> = ErrorCode::ALL.iter().map(|code| code.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), ErrorCode::ALL.len());
    }

    #[test]
    fn a_code_is_read_in_any_case() {
        assert_eq!("tg-config-001".parse(), Ok(ErrorCode::ConfigSyntax));
        assert_eq!("TG-CONFIG-999".parse::<ErrorCode>(), Err(UnknownErrorCode));
    }
}
