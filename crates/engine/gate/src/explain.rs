//! What would be decided about a call that nobody makes, and everything that speaks for and against
//! it.
//!
//! It looks at what is known and at the rules that hold now. Nothing is sent, asked or recorded.

use std::borrow::Cow;
use std::sync::Arc;

use toolgate_fleet::{Known, Member};
use toolgate_model::{CapabilityId, CapabilityKind, Effect, ServerName};
use toolgate_policy::{Asked, Explained, Facts, Layer};
use toolgate_session::Interactor;

use crate::decide::{Judgement, Marks, Matter, Outcome, Rules, Subject, facts};
use crate::outlook::supposed;
use crate::params::Params;
use crate::{Caller, Gate, Refusal, Seen};

/// A call that nobody makes.
#[derive(Debug, Clone, Copy)]
pub struct Hypothesis<'a> {
    /// What would be called.
    pub id: &'a CapabilityId,
    /// With which client.
    pub client: &'a str,
    /// With which profile.
    pub profile: &'a str,
    /// With which arguments, raw; of a method, with which params.
    pub arguments: &'a [u8],
}

/// What would be decided, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// What would become of it.
    pub outcome: Outcome,
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
    pub fn explain(
        &self,
        what: &Hypothesis<'_>,
        caller: &Arc<Caller>,
        port: &Arc<dyn Interactor>,
    ) -> Result<Option<Explanation>, Refusal> {
        let view = &self.view_of(what.profile)?;
        let id = what.id;
        let Some((member, known)) = self.declared(&id.server) else { return Ok(None) };
        let Some(request) = &supposed(id, what.arguments) else { return Ok(None) };
        let params = &Params::of(request);
        let matter = Matter { view, request, id, caller, port, number: 0, stale: None, params };
        let fact = known.as_ref().and_then(|known| known.fact(id.kind, &id.name));
        let identity = member.spec.digest();
        let subject = matter.subject().unwrap_or_else(|| {
            let marks = match id.kind {
                CapabilityKind::Tool => {
                    Marks::of_tool(&member, &id.name, fact.map_or(&b"{}"[..], |fact| &fact.raw[..]))
                }
                CapabilityKind::Method => Marks::of_method(&member),
                _ => Marks::of_reading(&member),
            };
            Subject {
                member: &member,
                identity: &identity,
                rules: Rules::Kept(view.governing.prepared(id, &marks.tags)),
                marks: Cow::Owned(marks),
                definition: fact.map(|fact| *fact.digest()),
                pinned_at: None,
                block: view.blocked(id).map(|because| because.rule.as_str()),
            }
        });
        let grant = self.granted(&matter, &subject);
        let grant = grant.as_ref().map(|granted| &*granted.told);
        let facts = Facts { grant, ..facts(self, &matter, &subject) };
        let asked = Asked {
            id,
            tags: &subject.marks.tags,
            client: &caller.client.name,
            caller: &caller.person,
            profile: what.profile,
            arguments: &params.arguments,
        };
        let explained = view.governing.policy.explain(&asked, &facts);
        let Judgement { outcome, because } = self.judge(&matter, &subject);
        let row = view.exposure.rows.iter().find(|row| row.id == *id);
        let hidden = row.filter(|row| row.seen == Seen::Hidden).map(|row| row.because.to_string());
        let standing = (explained.standing != explained.decision)
            .then(|| (explained.standing.effect, explained.standing.because.to_string()));
        Ok(Some(Explanation {
            outcome,
            because: because.into_owned(),
            step: explained.step.as_str(),
            standing,
            said: voices(&explained, &facts),
            tags: subject.marks.tags.clone(),
            read_only: subject.marks.read_only,
            is_offered: fact.is_some(),
            hidden,
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
