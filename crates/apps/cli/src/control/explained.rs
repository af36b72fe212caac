//! What would be decided about one call, and everything that speaks for and against it.

use serde::{Deserialize, Serialize};
use toolgate_host::policy::{Explanation, Hypothesis, Voice};
use toolgate_host::{CapabilityId, CapabilityKind, Host, HostError, ServerName};

/// A call that nobody makes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Supposed {
    /// Whose it would be.
    pub server: String,
    /// `tool`, `resource`, `prompt` or `method`.
    pub kind: String,
    /// The server's own name for it, or its URI.
    pub name: String,
    /// The client that would call.
    pub client: String,
    /// The profile it would call with.
    pub profile: String,
    /// The arguments, JSON.
    pub arguments: String,
}

/// What would be decided: the stable shape of `policy explain --json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Told {
    /// Whose it is.
    pub server: String,
    /// What it is.
    pub kind: String,
    /// The server's own name for it.
    pub name: String,
    /// What its caller would meet: `allow`, `ask` or `deny`.
    pub effect: String,
    /// The same more exactly: `allowed`, `client-approves`, `form`, `operator` or `refused`.
    pub outcome: String,
    /// Because of what.
    pub because: String,
    /// The step that decided.
    pub step: String,
    /// Everything that is said about it, by layer.
    pub said: Vec<Spoken>,
    /// What it bears.
    pub tags: Vec<String>,
    /// Whether it only reads, as far as anybody trusted says so.
    pub read_only: bool,
    /// Whether its server is known to offer it.
    pub offered: bool,
    /// Why callers with the profile do not see it, if they do not.
    pub hidden: Option<String>,
}

/// A rule, or what the declaration of the server says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Spoken {
    /// `admin`, `server`, `user` or `project`.
    pub layer: String,
    /// What it does.
    pub effect: String,
    /// As it is written.
    pub rule: String,
    /// Where.
    pub origin: String,
    /// Whether it holds for this call.
    pub holds: bool,
    /// Whether it decided.
    pub decided: bool,
}

impl Told {
    /// `None` if there is no such server.
    pub(super) fn of(host: &Host, supposed: &Supposed) -> Result<Option<Self>, HostError> {
        let kind = CapabilityKind::from_word(&supposed.kind).unwrap_or(CapabilityKind::Tool);
        let server = ServerName::new(&supposed.server)?;
        let id = CapabilityId { server, kind, name: supposed.name.as_str().into() };
        let what = Hypothesis {
            id: &id,
            client: &supposed.client,
            profile: &supposed.profile,
            arguments: supposed.arguments.as_bytes(),
        };
        Ok(host.explain(&what)?.map(|it| Self::new(&id, it)))
    }

    fn new(id: &CapabilityId, it: Explanation) -> Self {
        Self {
            server: id.server.to_string(),
            kind: id.kind.as_str().to_owned(),
            name: id.name.to_string(),
            effect: it.outcome.effect().to_string(),
            outcome: it.outcome.as_str().to_owned(),
            because: it.because,
            step: it.step.to_owned(),
            said: it.said.into_iter().map(Spoken::from).collect(),
            tags: it.tags,
            read_only: it.read_only,
            offered: it.is_offered,
            hidden: it.hidden,
        }
    }
}

impl From<Voice> for Spoken {
    fn from(voice: Voice) -> Self {
        let Voice { layer, effect, text, origin, holds, decided } = voice;
        Self {
            layer: layer.to_owned(),
            effect: effect.to_string(),
            rule: text,
            origin,
            holds,
            decided,
        }
    }
}
