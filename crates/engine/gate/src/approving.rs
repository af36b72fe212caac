//! Step: somebody is asked, where the rules say so, and afterwards everything is looked at again.
//!
//! How a person is reached and what he may choose is the broker's affair (`approvals`). Here it is
//! told what he is asked about, and whether what he approved is still what would be sent: the wait
//! may have been long, and the server may have used it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use toolgate_model::{Digest, Effect, Via};

use crate::Gate;
use crate::approvals::{Ask, BoundRef, Broker, Granted, Obtained, params_digest};
use crate::decide::{Matter, Ruling, Subject};
use crate::refusal::Refused;
use crate::view::View;

impl Matter<'_> {
    /// What an approval of it is bound to. What has no definition stands for itself.
    fn bound<'b>(&'b self, subject: &'b Subject<'_>, definition: &'b Digest) -> BoundRef<'b> {
        BoundRef {
            caller: &self.caller.person,
            client: &self.caller.client.name,
            tool: self.id,
            identity: subject.identity,
            definition,
        }
    }

    /// The digest of its definition. What has none stands for itself, together with the definitions
    /// of what it names.
    fn definition(&self, subject: &Subject<'_>) -> Digest {
        subject.definition.unwrap_or_else(|| {
            let method = self.request.method().unwrap_or_default();
            let mut parts = vec![b"no definition".to_vec(), method.as_bytes().to_vec()];
            for id in &self.targets() {
                let subject = Matter { id, ..*self }.subject();
                let definition = subject.and_then(|subject| subject.definition);
                parts.push(id.to_string().into_bytes());
                parts.push(definition.map(|it| it.as_bytes().to_vec()).unwrap_or_default());
            }
            Digest::of_parts(parts.iter().map(Vec::as_slice))
        })
    }
}

impl Gate {
    /// Whoever asks people, where books are kept.
    pub fn approvals(&self) -> Option<&Arc<Broker>> {
        Some(&self.books.get()?.broker)
    }

    /// A standing grant for this.
    pub(crate) fn granted(&self, matter: &Matter<'_>, subject: &Subject<'_>) -> Option<Granted> {
        let (broker, definition) = (self.approvals()?, subject.definition.as_ref()?);
        broker.granted(matter.bound(subject, definition), subject.pinned_at)
    }

    /// Has somebody asked, on record.
    pub(crate) async fn approved(
        &self,
        matter: &Matter<'_>,
        subject: &Subject<'_>,
        Ruling { because, .. }: Ruling,
        via: Via,
    ) -> Result<Ruling, Refused> {
        let Some(broker) = self.approvals() else {
            let because = format!("nobody can be asked: {because}");
            self.record_decision(matter, subject, Effect::Deny, &because);
            return Err(Refused::denied(because));
        };
        self.record_decision(matter, subject, Effect::Ask, &because);
        let approvals = matter.view.governing.approvals();
        let (params, definition) = (matter.params, matter.definition(subject));
        let obtained = broker.obtain(Ask {
            bound: matter.bound(subject, &definition).to_bound(),
            arguments: Bytes::copy_from_slice(&params.arguments),
            other_params: Bytes::copy_from_slice(&params.others),
            arguments_digest: params_digest(&params.arguments, &params.others),
            because: because.clone().into_owned(),
            via,
            port: matter.port,
            era: matter.caller.revision.era(),
            wait: approvals.wait,
            expiry: approvals.expiry,
        });
        let obtained = obtained.await;
        self.record_obtained(matter, &obtained);
        ruling(obtained, &because, approvals.expiry)
    }

    fn record_obtained(&self, matter: &Matter<'_>, obtained: &Obtained) {
        let (id, choice, by) = match obtained {
            Obtained::Approved { by, id, choice } => (id.as_str(), choice.as_str(), by.as_str()),
            Obtained::Denied { by, id } => (id.as_str(), "deny", by.as_str()),
            Obtained::Waiting { id } => (id.as_str(), "unanswered", ""),
            Obtained::Cancelled => ("", "cancelled", ""),
            Obtained::Refused(why) => ("", "not-asked", why.as_str()),
        };
        self.record_approval(matter, id, choice, by);
    }

    /// The view as it is by now, if what was approved is still the same there and nothing forbids
    /// it.
    pub(crate) async fn still_holds(
        &self,
        matter: &Matter<'_>,
        subject: &Subject<'_>,
    ) -> Result<Arc<View>, Refused> {
        let pool = self.fleet.pool(&matter.id.server, &matter.caller.tenant());
        let renewed = match &pool {
            Ok(pool) => self.renewed_all(matter, pool).await,
            Err(_) => Default::default(),
        };
        let view = self.view(matter.caller);
        let now = Matter { view: &view, stale: renewed.failure.as_deref(), ..*matter };
        let definition = matter.definition(subject);
        let same = |known: &Subject<'_>| {
            now.definition(known) == definition && known.identity == subject.identity
        };
        let Some(known) = now.subject().filter(same) else {
            let because = format!("{} changed while its approval was waited for", matter.id);
            self.record_decision(matter, subject, Effect::Deny, &because);
            return Err(Refused::denied(because));
        };
        self.ruled(&now, &known)?; // what was written meanwhile holds, too
        Ok(view)
    }
}

/// What follows from an answer, or from none.
fn ruling(obtained: Obtained, because: &str, expiry: Duration) -> Result<Ruling, Refused> {
    let (because, id, message) = match obtained {
        Obtained::Approved { by, id, choice } => {
            let choice = choice.as_str();
            let because = format!("approved ({choice}) by {by}, approval {id}").into();
            return Ok(Ruling { because, asks: None });
        }
        Obtained::Denied { by, id } => {
            let because = format!("denied by {by}, approval {id}");
            (because.clone(), None, format!("refused: {because}"))
        }
        Obtained::Waiting { id } => {
            let minutes = expiry.as_secs().div_ceil(60);
            let message = format!(
                "nobody has approved this call yet ({because}). The operator can approve it once \
                 within {minutes} min, by its approval ID {id}; exactly this call then passes when \
                 it is repeated"
            );
            (because.to_owned(), Some(id), message)
        }
        Obtained::Cancelled => {
            let because = "whoever was asked put the question away".to_owned();
            (because.clone(), None, format!("cancelled: {because}"))
        }
        Obtained::Refused(why) => (why.clone(), None, format!("refused: {why}")),
    };
    Err(Refused::unapproved(because, id, message))
}
