//! Access keys, by which HTTP clients prove their principal.

use std::sync::Arc;

use toolgate_store::StateStore;

use crate::HostError;

pub use toolgate_store::{AccessKey, AccessKeyError, AccessKeyring, KEY_PREFIX};

/// Returns a keyring in memory, for hosts without a home and for tests.
pub async fn in_memory() -> Result<Arc<AccessKeyring>, HostError> {
    let state = Arc::new(StateStore::in_memory().await?);
    Ok(AccessKeyring::load(state).await?)
}
