//! Step: asks a person where the rules require it, and checks everything again afterwards.
//!
//! How a person is asked and what they may choose is up to the broker (`approvals`). This step says
//! what the question is about, and whether the approved call is still the one that would be sent:
//! the wait may have been long, and the server may have changed meanwhile.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use toolgate_model::{ApprovalChannel, Digest, Effect, ErrorCode};
use toolgate_policy::NO_APPROVER;
use toolgate_store::ApprovalChoice;

use crate::Gate;
use crate::approvals::{
    ApprovalBindingRef, ApprovalBroker, CallApprovalOutcome, CallApprovalRequest, params_digest,
};
use crate::decide::{CallContext, CallTarget};
use crate::error::Denial;
use crate::profile_view::ProfileView;

impl CallTarget<'_> {
    /// Returns what an approval of this call is bound to.
    fn bound<'b>(&'b self, definition: &'b Digest) -> ApprovalBindingRef<'b> {
        ApprovalBindingRef {
            caller: &self.context.caller.person,
            client: &self.context.caller.client.name,
            tool: self.context.id,
            identity: self.identity,
            definition,
        }
    }

    /// Returns the digest of the definition. A call without a definition is identified by its
    /// method and the definitions of the capabilities it names.
    fn definition_digest(&self) -> Digest {
        self.definition.unwrap_or_else(|| {
            let method = self.context.request.method().unwrap_or_default();
            let mut parts = vec![b"no definition".to_vec(), method.as_bytes().to_vec()];
            for id in &self.context.named_capabilities() {
                let named = CallContext { id, ..self.context }.target();
                let definition = named.and_then(|named| named.definition);
                parts.push(id.to_string().into_bytes());
                parts.push(definition.map(|it| it.as_bytes().to_vec()).unwrap_or_default());
            }
            Digest::of_parts(parts.iter().map(Vec::as_slice))
        })
    }
}

impl Gate {
    /// Returns the approval broker, if stores are open.
    pub fn approvals(&self) -> Option<&Arc<ApprovalBroker>> {
        Some(&self.stores.get()?.broker)
    }

    /// Returns a lasting grant for this call.
    pub(crate) fn find_grant(&self, call: &CallTarget<'_>) -> Option<Arc<str>> {
        let (broker, definition) = (self.approvals()?, call.definition.as_ref()?);
        broker.find_grant(call.bound(definition), call.pinned_at)
    }

    /// Asks for approval, records the question and its outcome, and returns who approved.
    pub(crate) async fn await_approval(
        &self,
        call: &CallTarget<'_>,
        because: &str,
        via: ApprovalChannel,
    ) -> Result<String, Denial> {
        let context = &call.context;
        let Some(broker) = self.approvals() else {
            let because = format!("{NO_APPROVER}{because}");
            return Err(self.deny(call, ErrorCode::ApprovalDenied, because));
        };
        self.record_decision(call, Effect::Ask, because);
        let approvals = &context.view.governance.settings.approvals;
        let (params, definition) = (context.params, call.definition_digest());
        let obtained = broker.obtain(CallApprovalRequest {
            bound: call.bound(&definition).to_binding(),
            arguments: Bytes::copy_from_slice(&params.arguments),
            other_params: Bytes::copy_from_slice(&params.others),
            arguments_digest: params_digest(&params.arguments, &params.others),
            because: because.to_owned(),
            via,
            port: context.port,
            era: context.caller.revision.era(),
            wait: approvals.wait,
            expiry: approvals.expiry,
        });
        let obtained = obtained.await;
        let (id, choice, by) = match &obtained {
            CallApprovalOutcome::Decided { by, id, choice } => (&**id, choice.as_str(), &**by),
            CallApprovalOutcome::Waiting { id } => (&**id, "unanswered", ""),
            CallApprovalOutcome::Cancelled => ("", "cancelled", ""),
            CallApprovalOutcome::Refused(why) => ("", "not-asked", &**why),
        };
        self.record_approval(context, id, choice, by);
        authorize(obtained, because, approvals.expiry)
    }

    /// Records and returns a denial.
    pub(crate) fn deny(&self, call: &CallTarget<'_>, code: ErrorCode, because: String) -> Denial {
        self.record_decision(call, Effect::Deny, &because);
        Denial::new(code, because)
    }

    /// Returns the current view if the approved capability is unchanged there and the rules still
    /// allow the call.
    pub(crate) async fn recheck_approved(
        &self,
        call: &CallTarget<'_>,
    ) -> Result<Arc<ProfileView>, Denial> {
        let context = &call.context;
        let refreshed = match self.fleet.pool(&context.id.server, &context.caller.tenant()) {
            Ok(pool) => {
                let CallContext { id, request, view, caller, .. } = *context;
                self.refresh_all_if_stale(id, request, &pool, view, caller).await
            }
            Err(_) => Default::default(),
        };
        let view = self.view(context.caller);
        let now = CallContext { view: &view, stale: refreshed.failure.as_deref(), ..*context };
        let definition = call.definition_digest();
        let same = |now: &CallTarget<'_>| {
            now.definition_digest() == definition && now.identity == call.identity
        };
        let Some(now) = now.target().filter(same) else {
            let because = format!("{} changed while waiting for approval", context.id);
            return Err(self.deny(call, ErrorCode::PinChanged, because));
        };
        self.evaluate_policy(&now)?; // rules written since then apply too
        Ok(view)
    }
}

/// Turns the outcome of asking into the reason to send the call, or a denial.
fn authorize(
    obtained: CallApprovalOutcome,
    because: &str,
    expiry: Duration,
) -> Result<String, Denial> {
    let (because, id, message) = match obtained {
        CallApprovalOutcome::Decided { by, id, choice: ApprovalChoice::Deny } => {
            let because = format!("denied by {by}, approval {id}");
            (because.clone(), None, format!("refused: {because}"))
        }
        CallApprovalOutcome::Decided { by, id, choice } => {
            return Ok(format!("approved ({}) by {by}, approval {id}", choice.as_str()));
        }
        CallApprovalOutcome::Waiting { id } => {
            let minutes = expiry.as_secs().div_ceil(60);
            let message = format!(
                "this call is not approved yet ({because}). The operator can approve it within \
                 {minutes} min under approval ID {id}; then repeat exactly this call"
            );
            (because.to_owned(), Some(id), message)
        }
        CallApprovalOutcome::Cancelled => {
            let because = "the user dismissed the question".to_owned();
            (because.clone(), None, format!("cancelled: {because}"))
        }
        CallApprovalOutcome::Refused(why) => (why.clone(), None, format!("refused: {why}")),
    };
    Err(Denial::unapproved(because, id, message))
}
