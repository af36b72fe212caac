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
    },
    /// A question.
    Ask(Question),
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
    /// What would be decided about a call, and why?
    Explain(Supposed),
    /// Something about pins.
    Pins {
        /// What.
        asked: Pinning,
    },
    /// A consent was given or taken back: how does this server stand now?
    Reconsider {
        /// Which.
        server: String,
    },
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_spelled_as_the_protocol_says() {
        let spelled = |opening: &Opening| serde_json::to_string(opening).unwrap();
        let plain = Opening::Mcp { protocol: None, profile: None, operator: false };
        assert_eq!(spelled(&plain), r#"{"toolgate":"mcp"}"#);
        let (profile, operator) = (Some("reader".into()), true);
        let reader = Opening::Mcp { protocol: None, profile, operator };
        let text = r#"{"toolgate":"mcp","profile":"reader","operator":true}"#;
        assert_eq!(spelled(&reader), text);
        let ask = Opening::Ask(Question::Servers { wait_ms: 5 });
        assert_eq!(spelled(&ask), r#"{"toolgate":"ask","what":"servers","wait_ms":5}"#);
        let owner: Opening = serde_json::from_str(r#"{"toolgate":"ask","what":"owner"}"#).unwrap();
        assert!(matches!(owner, Opening::Ask(Question::Owner)));
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
