//! Step: makes sure that the catalog of a server is recent.
//!
//! A server need not announce that a definition changed, so a list that is older than the `recheck`
//! setting is read again. A change between that read and the call goes unnoticed: the protocol
//! calls a name, not a definition.

use std::sync::Arc;

use toolgate_fleet::Pool;
use toolgate_model::CapabilityId;
use toolgate_wire::Frame;

use crate::profile_view::ProfileView;
use crate::{Caller, Gate, extension};

/// The result of a check for newer lists.
#[derive(Default)]
pub(crate) struct ListRefreshResult {
    /// The view built from newer lists, if they differ.
    pub(crate) view: Option<Arc<ProfileView>>,
    /// Why the lists could not be read and the old ones are not to be relied on.
    pub(crate) failure: Option<String>,
}

impl Gate {
    /// Reads the stale lists behind a request: those of its target and of every capability that an
    /// extension request names.
    pub(crate) async fn refresh_all_if_stale(
        &self,
        id: &CapabilityId,
        request: &Frame,
        pool: &Pool,
        view: &ProfileView,
        caller: &Caller,
    ) -> ListRefreshResult {
        let mut renewed = self.refresh_if_stale(id, pool, view, caller).await;
        for id in &extension::named_capabilities(view, id, request) {
            let other = self.refresh_if_stale(id, pool, view, caller).await;
            renewed.failure = renewed.failure.or(other.failure);
            renewed.view = other.view.or(renewed.view);
        }
        renewed
    }

    /// Reads the list that holds a capability again, if it is stale.
    pub(crate) async fn refresh_if_stale(
        &self,
        id: &CapabilityId,
        pool: &Pool,
        view: &ProfileView,
        caller: &Caller,
    ) -> ListRefreshResult {
        let Some(kind) = view.pinned_list(id) else { return ListRefreshResult::default() };
        let failure = match pool.refresh_if_stale(kind, view.governance.recheck).await {
            Ok(_) => None,
            // In the personal posture, the call itself shows whether the server can be reached.
            Err(_) if !view.governance.is_governed() => None,
            Err(error) => Some(format!(
                "cannot check whether the definition is still the approved one: {error}"
            )),
        };
        let differs = self.fleet.generation() != view.generation;
        ListRefreshResult { view: differs.then(|| self.view(caller)), failure }
    }
}
