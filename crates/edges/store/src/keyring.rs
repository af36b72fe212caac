//! The access keys in memory, for checks that do not wait for the database.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use tokio::sync::Mutex;
use toolgate_model::{CodedError, Digest, ErrorCode};

use crate::columns::random_letters;
use crate::sqlite::{now_millis, time_from_millis, to_millis};
use crate::{AccessKey, StateStore, StoreError, generate_id};

/// The prefix of every key, so that people and secret scanners recognize it.
pub const KEY_PREFIX: &str = "tgk_";
/// The number of characters, with five random bits each.
const KEY_LENGTH: usize = 52;
/// How often to check whether another process has added or revoked a key.
const REFRESH_INTERVAL: Duration = Duration::from_secs(1);

/// Why a key is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum AccessKeyError {
    /// The key does not exist.
    #[error("the key is unknown or was revoked")]
    Unknown,
    /// The key has expired.
    #[error("the key has expired")]
    Expired,
}

impl CodedError for AccessKeyError {
    fn code(&self) -> ErrorCode {
        ErrorCode::GatewayKey
    }

    fn hint(&self) -> Option<String> {
        Some("create another key with `toolgate keys add`".to_owned())
    }
}

/// The access keys of a home.
pub struct AccessKeyring {
    store: Arc<StateStore>,
    known: ArcSwap<HashMap<Digest, Arc<AccessKey>>>,
    /// Held while keys are read and replaced, so that an older read never replaces a newer one.
    refreshing: Mutex<()>,
}

impl AccessKeyring {
    /// Loads the keys of a store, and follows changes by other processes while the keyring lives.
    pub async fn load(store: Arc<StateStore>) -> Result<Arc<Self>, StoreError> {
        let seen = store.change_counter().await?;
        let known = ArcSwap::from_pointee(by_digest(store.keys().await?));
        let keyring = Arc::new(Self { store, known, refreshing: Mutex::default() });
        tokio::spawn(refresh_on_change(Arc::downgrade(&keyring), seen));
        Ok(keyring)
    }

    /// Returns the record of a presented key if it is valid.
    pub fn find(&self, presented: &str) -> Result<Arc<AccessKey>, AccessKeyError> {
        let known = self.known.load();
        let key = known.get(&Digest::of(presented.as_bytes())).ok_or(AccessKeyError::Unknown)?;
        match key.is_expired() {
            false => Ok(key.clone()),
            true => Err(AccessKeyError::Expired),
        }
    }

    /// Returns true if a key that was found before is still valid.
    pub fn is_valid(&self, key: &AccessKey) -> bool {
        !key.is_expired() && self.known.load().get(&key.digest).is_some_and(|now| now.id == key.id)
    }

    /// Adds a key for a caller and returns it with its secret, which is not stored. Returns `None`
    /// if the caller already has a key.
    pub async fn add(
        &self,
        name: &str,
        expires_at: Option<SystemTime>,
    ) -> Result<Option<(AccessKey, String)>, StoreError> {
        let secret = format!("{KEY_PREFIX}{}", random_letters::<KEY_LENGTH>()?);
        let key = AccessKey {
            id: generate_id()?,
            name: name.to_owned(),
            digest: Digest::of(secret.as_bytes()),
            added_at: time_from_millis(now_millis()),
            expires_at: expires_at.map(|until| time_from_millis(to_millis(until))),
        };
        let added = self.store.add_key(&key).await?;
        self.refresh().await;
        Ok(added.then_some((key, secret)))
    }

    /// Revokes the key of a caller. Returns false if there is none. The key is refused from then
    /// on, even if the other keys cannot be read.
    pub async fn revoke(&self, name: &str) -> Result<bool, StoreError> {
        let _alone = self.refreshing.lock().await;
        let revoked = self.store.revoke_key(name).await?;
        self.known.rcu(|known| {
            let others = known.iter().filter(|(_, key)| key.name != name);
            others.map(|(digest, key)| (*digest, key.clone())).collect::<HashMap<_, _>>()
        });
        Ok(revoked)
    }

    /// Returns every key by name, including expired ones.
    pub async fn list(&self) -> Result<Vec<AccessKey>, StoreError> {
        self.store.keys().await
    }

    /// Reads the keys again. If that fails, the known keys stay valid until it succeeds: callers
    /// must not be refused because the database is locked for a while.
    async fn refresh(&self) -> bool {
        let _alone = self.refreshing.lock().await;
        let read = self.store.keys().await.map(|keys| self.known.store(Arc::new(by_digest(keys))));
        read.is_ok()
    }
}

fn by_digest(keys: Vec<AccessKey>) -> HashMap<Digest, Arc<AccessKey>> {
    keys.into_iter().map(|key| (key.digest, Arc::new(key))).collect()
}

async fn refresh_on_change(keyring: Weak<AccessKeyring>, mut seen: u64) {
    loop {
        tokio::time::sleep(REFRESH_INTERVAL).await;
        let Some(keyring) = keyring.upgrade() else { return };
        let Ok(now) = keyring.store.change_counter().await else { continue };
        if seen != now && keyring.refresh().await {
            seen = now;
        }
    }
}
