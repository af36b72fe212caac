//! Explanation of the decision about one hypothetical call, with all rules that match it.

use serde::{Deserialize, Serialize};
use toolgate_host::policy::{CallHypothesis, RuleExplanation};
use toolgate_host::{CapabilityId, CapabilityKind, Host, HostError, ServerName};

/// A call to be explained, which is not made.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct HypotheticalCallJson {
    /// The server.
    pub server: String,
    /// The kind of capability: `tool`, `resource`, `prompt` or `method`.
    pub kind: String,
    /// The server's own name of the capability, or its URI.
    pub name: String,
    /// The client that would call.
    pub client: String,
    /// The profile of the caller.
    pub profile: String,
    /// The arguments as JSON.
    pub arguments: String,
}

/// The decision about a hypothetical call: the stable shape of `policy explain --json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExplanationJson {
    /// The server.
    pub server: String,
    /// The kind of capability.
    pub kind: String,
    /// The server's own name of the capability.
    pub name: String,
    /// The effect for the caller: `allow`, `ask` or `deny`.
    pub effect: String,
    /// The exact outcome: `allowed`, `client-approves`, `form`, `operator` or `refused`.
    pub outcome: String,
    /// The reason of the decision.
    pub because: String,
    /// The step that decided.
    pub step: String,
    /// All rules about the capability, by layer.
    pub said: Vec<ExplainedRuleJson>,
    /// The tags of the capability.
    pub tags: Vec<String>,
    /// Whether a trusted source marks the capability as read-only.
    pub read_only: bool,
    /// Whether the server is known to offer the capability.
    pub offered: bool,
    /// Why the profile hides the capability, if it does.
    pub hidden: Option<String>,
}

/// A rule or a setting of the server's declaration that concerns the call.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExplainedRuleJson {
    /// The layer: `admin`, `server`, `user` or `project`.
    pub layer: String,
    /// The effect of the rule.
    pub effect: String,
    /// The text of the rule.
    pub rule: String,
    /// The file and line of the rule.
    pub origin: String,
    /// Whether the rule applies to this call.
    pub holds: bool,
    /// Whether the rule decided.
    pub decided: bool,
}

impl ExplanationJson {
    /// Returns the explanation of a call, or `None` if there is no such server.
    pub(super) fn of(host: &Host, call: &HypotheticalCallJson) -> Result<Option<Self>, HostError> {
        let kind = CapabilityKind::from_word(&call.kind).unwrap_or(CapabilityKind::Tool);
        let server = ServerName::new(&call.server)?;
        let id = CapabilityId { server, kind, name: call.name.as_str().into() };
        let hypothesis = CallHypothesis {
            id: &id,
            client: &call.client,
            profile: &call.profile,
            arguments: call.arguments.as_bytes(),
        };
        let explanation = host.explain(&hypothesis)?.map(|it| Self {
            server: id.server.to_string(),
            kind: id.kind.as_str().to_owned(),
            name: id.name.to_string(),
            effect: it.outcome.effect().to_string(),
            outcome: it.outcome.as_str().to_owned(),
            because: it.because,
            step: it.step.to_owned(),
            said: it.entries.into_iter().map(ExplainedRuleJson::from).collect(),
            tags: it.tags,
            read_only: it.read_only,
            offered: it.is_offered,
            hidden: it.hidden,
        });
        Ok(explanation)
    }
}

impl From<RuleExplanation> for ExplainedRuleJson {
    fn from(rule: RuleExplanation) -> Self {
        Self {
            layer: rule.layer.as_str().to_owned(),
            effect: rule.effect.to_string(),
            rule: rule.text,
            origin: rule.origin.to_string(),
            holds: rule.holds,
            decided: rule.decided,
        }
    }
}
