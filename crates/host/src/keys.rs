//! The keys by which callers over HTTP are known.

use std::sync::Arc;

use toolgate_store::SqliteState;

use crate::HostError;

pub use toolgate_store::{AccessKey, KEY_PREFIX, KeyError, Keyring};

/// Keys that end with this value: for hosts that keep nothing, and for tests.
pub async fn in_memory() -> Result<Arc<Keyring>, HostError> {
    let state = Arc::new(SqliteState::in_memory().await?);
    Ok(Keyring::load(state).await?)
}
