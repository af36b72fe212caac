//! Implements [`DecisionStore`] for SQLite.

use toolgate_model::{CapabilityId, Digest, ServerName};

use crate::{
    AccessKey, ApprovalBinding, ApprovalChoice, ApprovalDecision, DecisionStore, Grant,
    GrantSelector, KeepPendingOutcome, PendingCall, PendingLimits, Pin, PinSummary, SamplingCharge,
    SettledCall, SqliteStore, StoreError, StoreFuture,
};
use crate::{charges, grants, keys, pending, pins};

impl DecisionStore for SqliteStore {
    fn keep_pending<'a>(
        &'a self,
        pending: &'a PendingCall,
        room: PendingLimits,
    ) -> StoreFuture<'a, KeepPendingOutcome> {
        Box::pin(pending::keep(self, pending, room))
    }

    fn pending_calls(&self) -> StoreFuture<'_, Vec<PendingCall>> {
        Box::pin(pending::all(self))
    }

    fn decide_pending<'a>(
        &'a self,
        id: &'a str,
        choice: ApprovalChoice,
        by: &'a str,
    ) -> StoreFuture<'a, Option<SettledCall>> {
        Box::pin(pending::decide(self, id, choice, by))
    }

    fn approval_decision<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<ApprovalDecision>> {
        Box::pin(pending::load_decision(self, id))
    }

    fn withdraw_pending<'a>(&'a self, id: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(pending::withdraw(self, id))
    }

    fn consume_once_grant<'a>(
        &'a self,
        bound: &'a ApprovalBinding,
        arguments: &'a Digest,
    ) -> StoreFuture<'a, Option<String>> {
        Box::pin(grants::consume_once(self, bound, arguments))
    }

    fn grants(&self) -> StoreFuture<'_, Vec<Grant>> {
        Box::pin(grants::all(self))
    }

    fn revoke_grants<'a>(&'a self, which: &'a GrantSelector) -> StoreFuture<'a, u64> {
        Box::pin(grants::revoke(self, which))
    }

    fn pins(&self) -> StoreFuture<'_, Vec<Pin>> {
        Box::pin(pins::all(self))
    }

    fn pin_summaries(&self) -> StoreFuture<'_, Vec<PinSummary>> {
        Box::pin(pins::summaries(self))
    }

    fn pin<'a>(&'a self, pins: &'a [Pin]) -> StoreFuture<'a, ()> {
        Box::pin(pins::pin(self, pins))
    }

    fn unpin<'a>(
        &'a self,
        server: &'a ServerName,
        which: Option<&'a CapabilityId>,
    ) -> StoreFuture<'a, u64> {
        Box::pin(pins::unpin(self, server, which))
    }

    fn charge_sampling<'a>(&'a self, charge: &'a SamplingCharge) -> StoreFuture<'a, bool> {
        Box::pin(charges::charge(self, charge))
    }

    fn add_key<'a>(&'a self, key: &'a AccessKey) -> StoreFuture<'a, bool> {
        Box::pin(keys::add(self, key))
    }

    fn revoke_key<'a>(&'a self, name: &'a str) -> StoreFuture<'a, bool> {
        Box::pin(keys::revoke(self, name))
    }

    fn keys(&self) -> StoreFuture<'_, Vec<AccessKey>> {
        Box::pin(keys::all(self))
    }

    fn change_counter(&self) -> StoreFuture<'_, u64> {
        Box::pin(read_data_version(self))
    }
}

/// Returns SQLite's counter of commits by other connections. This process has only one connection.
async fn read_data_version(state: &SqliteStore) -> Result<u64, StoreError> {
    let version = sqlx::query_scalar::<_, i64>("pragma data_version").fetch_one(state.pool()).await;
    let version = version.map_err(|source| state.query_error("check for changes", source))?;
    Ok(version.unsigned_abs())
}
