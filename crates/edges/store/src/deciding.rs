//! SQLite's side of [`Decisions`].

use toolgate_model::{CapabilityId, Digest, ServerName};

use crate::{
    AccessKey, Answer, Bound, Charge, Choice, Decisions, Grant, Kept, PendingCall, Pin, Pinned,
    Room, Settled, SqliteState, StoreError, Verdict, Which,
};
use crate::{charges, grants, keys, pending, pins};

impl Decisions for SqliteState {
    fn keep_pending<'a>(&'a self, pending: &'a PendingCall, room: Room) -> Answer<'a, Kept> {
        Box::pin(pending::keep(self, pending, room))
    }

    fn pending(&self) -> Answer<'_, Vec<PendingCall>> {
        Box::pin(pending::all(self))
    }

    fn settle<'a>(
        &'a self,
        id: &'a str,
        choice: Choice,
        by: &'a str,
    ) -> Answer<'a, Option<Settled>> {
        Box::pin(pending::settle(self, id, choice, by))
    }

    fn verdict<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Verdict>> {
        Box::pin(pending::verdict(self, id))
    }

    fn withdraw<'a>(&'a self, id: &'a str) -> Answer<'a, bool> {
        Box::pin(pending::withdraw(self, id))
    }

    fn spend<'a>(&'a self, bound: &'a Bound, arguments: &'a Digest) -> Answer<'a, Option<String>> {
        Box::pin(grants::spend(self, bound, arguments))
    }

    fn grants(&self) -> Answer<'_, Vec<Grant>> {
        Box::pin(grants::all(self))
    }

    fn revoke_grants<'a>(&'a self, which: &'a Which) -> Answer<'a, u64> {
        Box::pin(grants::revoke(self, which))
    }

    fn pins(&self) -> Answer<'_, Vec<Pin>> {
        Box::pin(pins::all(self))
    }

    fn pinned(&self) -> Answer<'_, Vec<Pinned>> {
        Box::pin(pins::heads(self))
    }

    fn pin<'a>(&'a self, pins: &'a [Pin]) -> Answer<'a, ()> {
        Box::pin(pins::pin(self, pins))
    }

    fn unpin<'a>(
        &'a self,
        server: &'a ServerName,
        which: Option<&'a CapabilityId>,
    ) -> Answer<'a, u64> {
        Box::pin(pins::unpin(self, server, which))
    }

    fn charge<'a>(&'a self, charge: &'a Charge) -> Answer<'a, bool> {
        Box::pin(charges::charge(self, charge))
    }

    fn add_key<'a>(&'a self, key: &'a AccessKey) -> Answer<'a, bool> {
        Box::pin(keys::add(self, key))
    }

    fn revoke_key<'a>(&'a self, name: &'a str) -> Answer<'a, bool> {
        Box::pin(keys::revoke(self, name))
    }

    fn keys(&self) -> Answer<'_, Vec<AccessKey>> {
        Box::pin(keys::all(self))
    }

    fn changes(&self) -> Answer<'_, u64> {
        Box::pin(changes(self))
    }
}

/// SQLite counts what other connections commit; ours is one alone.
async fn changes(state: &SqliteState) -> Result<u64, StoreError> {
    let version = sqlx::query_scalar::<_, i64>("pragma data_version").fetch_one(state.pool()).await;
    let version = version.map_err(|source| state.failed("look for changes", source))?;
    Ok(version.unsigned_abs())
}
