//! A plan that every client peer can play, and the report it gives.
//!
//! The peers (`client.mjs` and `client.py` in `tests/peers` and in `tests/peers/eras`, and `rmcp_peer`)
//! interpret the same steps, each with its own SDK, so the expectations are written once:
//! - `list`: the names of all tools, resources and prompts, once the tools in `until` are listed;
//! - `call`, `read`, `prompt`: the result, for calls also the progress reports;
//! - `tools`, `templates`, `complete`: the tools' definitions, the templates of resources, and a
//!   completion for an argument of a `prompt` or `template`; only the Python peers know these;
//! - `cancel`: starts a call, cancels it at its first progress report (or after some milliseconds);
//!   the peers of `tests/peers/eras` do without it.
//!
//! Elicitation and sampling are answered with the plan's answers, and what was asked is reported. For
//! the peers of `tests/peers/eras` an answer may be a list, given one after another, or null: then the
//! client does not know such questions, and says so.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolgate_e2e::peers;

use crate::rmcp_peer;

/// A client SDK.
#[derive(Clone, Copy, Debug)]
pub enum Peer {
    /// 1.x, which knows the legacy era only.
    TypeScript,
    /// 1.x, which knows the legacy era only.
    Python,
    /// 3.x.
    Rmcp(Era),
    /// 2.x.
    TypeScript2(Era),
    /// 2.x.
    Python2(Era),
}

/// Whether a peer opens a session (up to 2025-11-25) or says everything with each request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    Modern,
    Legacy,
}

impl Era {
    /// What the peers' scripts call it.
    pub fn word(self) -> &'static str {
        match self {
            Era::Modern => "modern",
            Era::Legacy => "legacy",
        }
    }

    /// The revision peers of this era agree on when they can.
    pub fn revision(self) -> &'static str {
        match self {
            Era::Modern => "2026-07-28",
            Era::Legacy => "2025-11-25",
        }
    }
}

/// How the client reaches its server.
pub enum Carrier {
    Http(String),
    Stdio(Vec<String>),
}

/// What came of a plan.
#[derive(Debug)]
pub struct Report {
    /// One entry per step.
    pub steps: Vec<Value>,
    /// The server's questions, in order.
    pub asked: Vec<Value>,
    /// The revision agreed on, where the peer tells.
    pub revision: Option<String>,
}

/// The person's answer to every elicitation.
pub fn elicitation_answer() -> Value {
    json!({"action": "accept", "content": {"username": "ada", "email": "ada@example.org"}})
}

/// The model's answer to every sampling request.
pub fn sampling_answer() -> Value {
    json!({
        "role": "assistant",
        "model": "imagined",
        "content": {"type": "text", "text": "an imagined answer"},
    })
}

impl Peer {
    /// The era it speaks.
    pub fn era(self) -> Era {
        match self {
            Peer::TypeScript | Peer::Python => Era::Legacy,
            Peer::Rmcp(era) | Peer::TypeScript2(era) | Peer::Python2(era) => era,
        }
    }

    /// Plays the steps and reports.
    pub fn play(self, carrier: &Carrier, steps: Vec<Value>) -> Report {
        self.play_answering(&elicitation_answer(), carrier, steps)
    }

    /// Plays the steps, answers elicitations with this, and reports.
    pub fn play_answering(
        self,
        elicitation: &Value,
        carrier: &Carrier,
        steps: Vec<Value>,
    ) -> Report {
        let answers = json!({"elicitation": elicitation, "sampling": sampling_answer()});
        let mut plan = json!({"answers": answers, "era": self.era().word(), "steps": steps});
        match carrier {
            Carrier::Http(url) => plan["http"] = json!(url),
            Carrier::Stdio(words) => plan["stdio"] = json!(words),
        }
        let report = match self {
            Peer::TypeScript => script(&mut typescript("npm", "client.mjs"), &plan),
            Peer::Python => script(&mut python("clients", "client.py"), &plan),
            Peer::Rmcp(_) => rmcp_peer::play(&plan),
            Peer::TypeScript2(_) => script(&mut typescript("npm-eras", "eras/client.mjs"), &plan),
            Peer::Python2(_) => script(&mut python("eras", "eras/client.py"), &plan),
        };
        let list = |key: &str| report[key].as_array().cloned().unwrap_or_default();
        let revision = report["revision"].as_str().map(str::to_owned);
        let report = Report { steps: list("steps"), asked: list("asked"), revision };
        assert_eq!(report.steps.len(), steps_of(&plan), "{self:?}: {report:?}");
        report
    }
}

impl Report {
    /// The questions of one kind.
    pub fn asked(&self, method: &str) -> Vec<&Value> {
        self.asked.iter().filter(|asked| asked["method"] == method).map(|a| &a["params"]).collect()
    }
}

/// The text of the first content block of a call's result.
pub fn text(step: &Value) -> &str {
    let text = step["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text in {step}"))
}

/// Whether a list of names holds a name.
pub fn names(list: &Value, name: &str) -> bool {
    list.as_array().is_some_and(|names| names.iter().any(|known| known == name))
}

fn steps_of(plan: &Value) -> usize {
    plan["steps"].as_array().map_or(0, Vec::len)
}

fn typescript(folder: &str, name: &str) -> Command {
    let mut command = Command::new(peers::node().unwrap());
    command.arg(peers::script(name)).env("PEER_MODULES", peers::root().join(folder));
    command
}

fn python(environment: &str, name: &str) -> Command {
    let mut command = Command::new(peers::python(environment, "python").unwrap());
    command.arg(peers::script(name));
    command
}

/// A script prints its report on one line. How it exits is not judged: SDKs differ in how loudly
/// they close a connection on which the server is still sending.
fn script(command: &mut Command, plan: &Value) -> Value {
    let output = command.arg(plan.to_string()).stdin(Stdio::null()).output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(stdout.trim()).unwrap_or_else(|_| {
        panic!("no report: {stdout}\n{}", String::from_utf8_lossy(&output.stderr))
    })
}
