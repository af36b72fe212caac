//! Questions about the servers, and their answers: the same whether asked in this process or over
//! the control socket of another.
//!
//! A connection begins with one JSON line ([`Opening`]). Either the rest of it is MCP, or the line
//! was a [`Question`] and one line ([`Reply`]) answers it. What can be done with MCP is not here:
//! calls, reads and prompts are an MCP session like any other client's.

mod approvals;
mod checkup;
mod compile;
mod decided;
mod desk;
mod explained;
mod exposed;
mod finding;
mod finds;
mod inventory;
mod keys;
mod overview;
mod pins;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::exit::Failure;

pub use approvals::{Approving, Given, News, Outcome, Pending, Shown, no_call};
pub use checkup::{Checkup, Checkups};
pub use compile::Compiling;
pub use desk::{Desk, Reloaded, no_server};
pub use explained::{Spoken, Supposed, Told};
pub use exposed::{Decision, Exposed, Line, Sum, Totals, Unknown};
pub use finding::Finding;
pub use finds::{Find, Finds};
pub use inventory::{Inventory, Offer};
pub use keys::{KeyLine, KeyRequest};
pub use overview::Overview;
pub use pins::{ChangeLine, Locked, PinLine, Pinning, Pins};

/// The first line of a connection.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "toolgate", rename_all = "kebab-case")]
pub enum Opening {
    /// The rest is MCP, a message per line.
    Mcp {
        /// The one revision the client wants spoken, if it is strict.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        protocol: Option<String>,
        /// The profile it wants to see with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
        /// Whether a person types at our own command line: he need not approve what he does.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        operator: bool,
        /// The operator's passphrase, where one is set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        passphrase: Option<String>,
    },
    /// A question.
    Ask(Asked),
}

/// A question, with what shows that an operator asks it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Asked {
    /// What is asked.
    #[serde(flatten)]
    pub question: Question,
    /// The operator's passphrase, where one is set and something is to be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub passphrase: Option<String>,
}

/// What can be asked.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
pub enum Question {
    /// Who serves this home?
    Owner,
    /// How does every server stand?
    Servers {
        /// How long to wait for those that are still on their way.
        wait_ms: u64,
    },
    /// Is there a profile of this name?
    Profile {
        /// Which.
        name: String,
    },
    /// What does a server offer to callers with this profile?
    Discover {
        /// Which.
        server: String,
        /// The profile.
        profile: String,
    },
    /// The same of all of them.
    DiscoverAll {
        /// The profile.
        profile: String,
        /// How long to wait for those that are still on their way.
        wait_ms: u64,
    },
    /// What do callers with this profile see, and why?
    Exposure {
        /// The profile.
        profile: String,
    },
    /// Which tools fit best?
    Search {
        /// The profile.
        profile: String,
        /// What is wanted.
        query: String,
        /// At most so many.
        limit: usize,
    },
    /// By which URI do clients reach a resource of this server, listed or not?
    Uri {
        /// Which server.
        server: String,
        /// The server's own URI.
        uri: String,
    },
    /// May what this server's resources hold be kept, and whose word is it?
    Compile {
        /// Which server.
        server: String,
    },
    /// How does it go when servers are brought up?
    Doctor {
        /// One of them, or all.
        server: Option<String>,
    },
    /// How does every server stand, beside what the journal says?
    Standings,
    /// Something about approvals.
    Approvals {
        /// What.
        asked: Approving,
    },
    /// Forget that callers have read untrusted content.
    Untaint {
        /// Whose; none: everybody's.
        caller: Option<String>,
    },
    /// What would be decided about a call, and why?
    Explain(Supposed),
    /// Something about pins.
    Pins {
        /// What.
        asked: Pinning,
    },
    /// Something about the keys of callers.
    Keys {
        /// What.
        asked: KeyRequest,
    },
    /// A consent was given or taken back: how does this server stand now?
    Reconsider {
        /// Which.
        server: String,
    },
    /// May whoever asks change something?
    MayChange,
    /// The same, and it is about to be done: put it on record.
    Authorize {
        /// What is about to be done.
        change: String,
    },
    /// Have this operator passphrase from now on, or none.
    SetPassphrase {
        /// The new one.
        new: Option<String>,
    },
}

impl Question {
    /// Whether it is for operators only, because it changes something or prepares to.
    pub fn is_for_operators(&self) -> bool {
        match self {
            Self::Approvals { asked } => match asked {
                Approving::List | Approving::News { .. } | Approving::Grants => false,
                Approving::Settle { .. } => true,
                Approving::Revoke { .. } | Approving::RevokeServer { .. } => true,
            },
            Self::Pins { asked } => match asked {
                Pinning::Show { .. } | Pinning::Lock => false,
                Pinning::Approve { .. } | Pinning::Forget { .. } => true,
            },
            Self::Keys { asked } => match asked {
                KeyRequest::List => false,
                KeyRequest::Add { .. } | KeyRequest::Revoke { .. } => true,
            },
            Self::Untaint { .. } | Self::Reconsider { .. } | Self::MayChange => true,
            Self::Authorize { .. } | Self::SetPassphrase { .. } => true,
            Self::Owner | Self::Servers { .. } | Self::Profile { .. } => false,
            Self::Discover { .. } | Self::DiscoverAll { .. } | Self::Exposure { .. } => false,
            Self::Search { .. } | Self::Uri { .. } | Self::Compile { .. } => false,
            Self::Doctor { .. } | Self::Standings | Self::Explain(_) => false,
        }
    }
}

/// One line in answer to a question.
#[derive(Debug, Serialize, Deserialize)]
pub struct Reply {
    /// What was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Box<RawValue>>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<Failure>,
}

impl From<Result<Box<RawValue>, Failure>> for Reply {
    fn from(outcome: Result<Box<RawValue>, Failure>) -> Self {
        match outcome {
            Ok(answer) => Self { answer: Some(answer), failure: None },
            Err(failure) => Self { answer: None, failure: Some(failure) },
        }
    }
}

impl Reply {
    /// The answer, or why there is none.
    pub fn outcome(self) -> Result<Box<RawValue>, Failure> {
        match self {
            Self { answer: Some(answer), .. } => Ok(answer),
            Self { failure: Some(failure), .. } => Err(failure),
            _ => Err(Failure::failed("understand the gateway: its answer is empty")),
        }
    }
}

/// Who serves a home.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Owner {
    /// Its process.
    pub pid: u32,
    /// Its version.
    pub version: String,
    /// Its endpoint; none for `serve --stdio`.
    pub endpoint: Option<String>,
    /// The one file it reads, if one was named.
    pub config: Option<PathBuf>,
    /// The project it reads.
    pub project: Option<PathBuf>,
    /// Whether changes need the operator's passphrase.
    #[serde(default)]
    pub passphrase: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_spelled_as_the_protocol_says() {
        let spelled = |opening: &Opening| serde_json::to_string(opening).unwrap();
        let plain =
            Opening::Mcp { protocol: None, profile: None, operator: false, passphrase: None };
        assert_eq!(spelled(&plain), r#"{"toolgate":"mcp"}"#);
        let (profile, operator) = (Some("reader".into()), true);
        let reader = Opening::Mcp { protocol: None, profile, operator, passphrase: None };
        let text = r#"{"toolgate":"mcp","profile":"reader","operator":true}"#;
        assert_eq!(spelled(&reader), text);
        let question = Question::Servers { wait_ms: 5 };
        let ask = Opening::Ask(Asked { question, passphrase: None });
        assert_eq!(spelled(&ask), r#"{"toolgate":"ask","what":"servers","wait_ms":5}"#);
        let owner: Opening = serde_json::from_str(r#"{"toolgate":"ask","what":"owner"}"#).unwrap();
        assert!(matches!(owner, Opening::Ask(Asked { question: Question::Owner, .. })));
        assert!(serde_json::from_str::<Opening>(r#"{"toolgate":"ask","what":"else"}"#).is_err());
    }

    #[test]
    fn a_raw_answer_survives_the_reply() {
        let raw = RawValue::from_string(r#"{"n": 1.50}"#.into()).unwrap();
        let line = serde_json::to_string(&Reply::from(Ok(raw))).unwrap();
        let reply: Reply = serde_json::from_str(&line).unwrap();
        assert_eq!(reply.outcome().unwrap().get(), r#"{"n": 1.50}"#);
    }
}
