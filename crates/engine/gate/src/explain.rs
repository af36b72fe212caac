//! What would be decided about a call that nobody makes, and everything that speaks for and against
//! it.
//!
//! It looks at what is known and at the rules that hold now. Nothing is sent, asked or recorded, and
//! who would be asked is not told: that depends on what a client can do.

use std::sync::Arc;

use toolgate_fleet::{Known, Member};
use toolgate_model::{CapabilityId, CapabilityKind, Effect, ServerName};
use toolgate_policy::{Asked, Explained, Facts, Layer};

use crate::approvals::BoundRef;
use crate::decide::{Marks, approval, trust};
use crate::{Gate, Refusal, Seen, pinned};

/// A call that nobody makes.
#[derive(Debug, Clone, Copy)]
pub struct Hypothesis<'a> {
    /// What would be called.
    pub id: &'a CapabilityId,
    /// By whom: a name that is the same after a restart.
    pub person: &'a str,
    /// With which client.
    pub client: &'a str,
    /// With which profile.
    pub profile: &'a str,
    /// With which arguments, raw.
    pub arguments: &'a [u8],
}

/// What would be decided, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What would become of it.
    pub effect: Effect,
    /// Because of what.
    pub because: String,
    /// The step of the policy at which it was decided.
    pub step: &'static str,
    /// What that step decided, where taint tightened it afterwards.
    pub standing: Option<(Effect, String)>,
    /// Everything that is said about it, by layer.
    pub said: Vec<Voice>,
    /// What it bears.
    pub tags: Vec<String>,
    /// Whether it only reads.
    pub read_only: bool,
    /// Whether its server is known to offer it.
    pub is_offered: bool,
    /// Why callers with the profile do not see it, if they do not.
    pub hidden: Option<String>,
}

/// Something that is said about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Voice {
    /// Whose word it is.
    pub layer: &'static str,
    /// What it does.
    pub effect: Effect,
    /// As it is written.
    pub text: String,
    /// Where it stands.
    pub origin: String,
    /// Whether it holds for this caller and these arguments.
    pub holds: bool,
    /// Whether it decided.
    pub decided: bool,
}

impl Gate {
    /// Explains what would be decided. `Ok(None)` if there is no such server; fails if there is no
    /// such profile.
    pub fn explain(&self, what: &Hypothesis<'_>) -> Result<Option<Explanation>, Refusal> {
        let view = self.view_of(what.profile)?;
        let Some((member, known)) = self.declared(&what.id.server) else { return Ok(None) };
        let member = &member;
        let fact = known.as_ref().and_then(|known| known.fact(what.id.kind, &what.id.name));
        let marks = match what.id.kind {
            CapabilityKind::Tool => {
                let definition = fact.map_or(&b"{}"[..], |fact| &fact.raw[..]);
                Marks::of_tool(member, &what.id.name, definition)
            }
            _ => Marks::of_reading(member),
        };
        let identity = member.spec.digest();
        let grant = fact.zip(self.approvals()).and_then(|(fact, broker)| {
            let bound = BoundRef {
                caller: what.person,
                client: what.client,
                tool: what.id,
                identity: &identity,
                definition: fact.digest(),
            };
            broker.granted(bound, view.withheld.pinned_at.get(what.id).copied())
        });
        let facts = Facts {
            block: view.blocked(what.id).map(|because| because.rule.as_str()),
            grant: grant.as_ref().map(|granted| &*granted.told),
            trust: trust(member),
            approval: approval(member, what.id),
            read_only: marks.read_only,
            built_in: pinned::is_ours(member),
            tainted: false,
            destructive: marks.destructive,
            can_ask: true,
        };
        let (id, tags) = (what.id, &marks.tags[..]);
        let (client, profile, arguments) = (what.client, what.profile, what.arguments);
        let asked = Asked { id, tags, client, profile, arguments };
        let explained = view.governing.policy.explain(&asked, &facts);
        let row = view.exposure.rows.iter().find(|row| row.id == *id);
        let hidden = row.filter(|row| row.seen == Seen::Hidden).map(|row| row.because.to_string());
        Ok(Some(Explanation {
            said: voices(&explained, &facts),
            hidden,
            is_offered: fact.is_some(),
            read_only: marks.read_only,
            ..Explanation::of(&explained, marks.tags.clone())
        }))
    }

    /// A server, with what it offers if that is known.
    fn declared(&self, server: &ServerName) -> Option<(Arc<Member>, Option<Arc<Known>>)> {
        let offers = self.fleet.catalogs(None).into_iter();
        let mut offers = offers.filter(|offered| offered.member.spec.name == *server);
        if let Some(offered) = offers.next() {
            return Some((offered.member, Some(offered.known)));
        }
        let status = self.fleet.status().into_iter().find(|status| status.spec.name == *server)?;
        Some((Arc::new(Member::plain(status.spec, status.origin)), None))
    }
}

impl Explanation {
    fn of(explained: &Explained<'_>, tags: Vec<String>) -> Self {
        let standing = (explained.standing != explained.decision)
            .then(|| (explained.standing.effect, explained.standing.because.to_string()));
        Self {
            effect: explained.decision.effect,
            because: explained.decision.because.to_string(),
            step: explained.step.as_str(),
            standing,
            said: Vec::new(),
            tags,
            read_only: false,
            is_offered: false,
            hidden: None,
        }
    }
}

/// The rules, and between the administrator's and the user's what the server's declaration says.
fn voices(explained: &Explained<'_>, facts: &Facts<'_>) -> Vec<Voice> {
    let of_rule = |said: &toolgate_policy::Said<'_>| Voice {
        layer: said.layer.as_str(),
        effect: said.effect,
        text: said.text.to_owned(),
        origin: said.origin.to_string(),
        holds: said.holds,
        decided: said.decided,
    };
    let (admin, rest): (Vec<_>, Vec<_>) =
        explained.said.iter().partition(|said| said.layer == Layer::Admin);
    let mut voices: Vec<_> = admin.into_iter().map(of_rule).collect();
    voices.extend(explained.declared(facts).into_iter().map(|said| Voice {
        layer: Layer::Server.as_str(),
        effect: said.effect,
        text: said.text,
        origin: said.origin.to_string(),
        holds: said.holds,
        decided: said.decided,
    }));
    voices.extend(rest.into_iter().map(of_rule));
    voices
}
