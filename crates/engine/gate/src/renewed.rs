//! Step: what is known of a server is recent enough to be relied on.
//!
//! A server need not say that a definition changed, so its list is read again when it is older than
//! `recheck` says. Between that reading and the call nobody can look: the protocol has no way to
//! call a definition rather than a name.

use std::sync::Arc;

use toolgate_fleet::Pool;
use toolgate_model::CapabilityId;

use crate::decide::Matter;
use crate::view::View;
use crate::{Caller, Gate};

/// What is known of a server after that look.
#[derive(Default)]
pub(crate) struct Renewed {
    /// The view that was made of newer lists, if they differ.
    pub(crate) view: Option<Arc<View>>,
    /// Why there are none and the old ones are not to be relied on.
    pub(crate) failure: Option<String>,
}

impl Gate {
    /// Reads the lists again that stand behind a request: of what it is about, and of everything a
    /// request of an extension names.
    pub(crate) async fn renewed_all(&self, matter: &Matter<'_>, pool: &Pool) -> Renewed {
        let (view, caller) = (matter.view, matter.caller);
        let mut renewed = self.renewed(matter.id, pool, view, caller).await;
        for id in &matter.targets() {
            let other = self.renewed(id, pool, view, caller).await;
            renewed.failure = renewed.failure.or(other.failure);
            renewed.view = other.view.or(renewed.view);
        }
        renewed
    }

    /// Reads the list again that something stands in, if it is too old by now.
    pub(crate) async fn renewed(
        &self,
        id: &CapabilityId,
        pool: &Pool,
        view: &View,
        caller: &Caller,
    ) -> Renewed {
        let Some(kind) = view.pinned_in(id) else { return Renewed::default() };
        let failure = match pool.renewed(kind, view.governing.recheck).await {
            Ok(_) => None,
            // In the personal posture the call itself shows whether its server can be reached.
            Err(_) if !view.governing.is_governed() => None,
            Err(error) => Some(format!(
                "whether its definition is still what was approved cannot be told: failed to {error}"
            )),
        };
        let differs = self.fleet.generation() != view.generation;
        Renewed { view: differs.then(|| self.view(caller)), failure }
    }
}
