//! The keys that hold now, to be asked without waiting.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use arc_swap::ArcSwap;
use tokio::sync::Mutex;
use toolgate_model::Digest;

use crate::sqlite::{now, time};
use crate::{AccessKey, Decisions, StoreError, bound, fresh_id};

/// How every key begins, so that people and scanners recognize one.
pub const KEY_PREFIX: &str = "tgk_";
/// Characters of five random bits each.
const KEY_LENGTH: usize = 52;
/// How often to look whether another process has added or revoked one.
const LOOK: Duration = Duration::from_secs(1);

/// Why a key is not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// Nobody has it.
    #[error("the key is unknown or was revoked")]
    Unknown,
    /// Its time is over.
    #[error("the key has expired")]
    Expired,
}

/// The keys of a home.
pub struct Keyring {
    store: Arc<dyn Decisions>,
    known: ArcSwap<HashMap<Digest, Arc<AccessKey>>>,
    /// Keys are read and taken over by one at a time: what was read later is what counts later.
    refreshing: Mutex<()>,
}

impl Keyring {
    /// The keys of a store. As long as it lives it follows what other processes change.
    pub async fn load(store: Arc<dyn Decisions>) -> Result<Arc<Self>, StoreError> {
        let seen = store.changes().await?;
        let known = ArcSwap::from_pointee(by_digest(store.keys().await?));
        let keyring = Arc::new(Self { store, known, refreshing: Mutex::default() });
        tokio::spawn(follow(Arc::downgrade(&keyring), seen));
        Ok(keyring)
    }

    /// The key that was presented, if it holds.
    pub fn find(&self, presented: &str) -> Result<Arc<AccessKey>, KeyError> {
        let known = self.known.load();
        let key = known.get(&Digest::of(presented.as_bytes())).ok_or(KeyError::Unknown)?;
        match key.is_expired() {
            false => Ok(key.clone()),
            true => Err(KeyError::Expired),
        }
    }

    /// Whether a key that was found before still holds.
    pub fn holds(&self, key: &AccessKey) -> bool {
        !key.is_expired() && self.known.load().get(&key.digest).is_some_and(|now| now.id == key.id)
    }

    /// Adds a key for a caller, and gives it away, once. `None` if the caller has one.
    pub async fn add(
        &self,
        name: &str,
        expires_at: Option<SystemTime>,
    ) -> Result<Option<(AccessKey, String)>, StoreError> {
        let secret = format!("{KEY_PREFIX}{}", bound::random_letters::<KEY_LENGTH>()?);
        let key = AccessKey {
            id: fresh_id()?,
            name: name.to_owned(),
            digest: Digest::of(secret.as_bytes()),
            added_at: time(now()),
            expires_at: expires_at.map(|until| time(bound::millis(until))),
        };
        let added = self.store.add_key(&key).await?;
        self.refresh().await;
        Ok(added.then_some((key, secret)))
    }

    /// Takes the key of a caller back; `false` if there is none. From then on it is not accepted,
    /// whether or not the others can be read.
    pub async fn revoke(&self, name: &str) -> Result<bool, StoreError> {
        let _alone = self.refreshing.lock().await;
        let revoked = self.store.revoke_key(name).await?;
        self.known.rcu(|known| {
            let others = known.iter().filter(|(_, key)| key.name != name);
            others.map(|(digest, key)| (*digest, key.clone())).collect::<HashMap<_, _>>()
        });
        Ok(revoked)
    }

    /// Every key, expired ones too, by name.
    pub async fn list(&self) -> Result<Vec<AccessKey>, StoreError> {
        self.store.keys().await
    }

    /// Reads the keys anew. Where that fails those that are known hold until it succeeds: a database
    /// that is locked for a while is no reason to serve nobody.
    async fn refresh(&self) -> bool {
        let _alone = self.refreshing.lock().await;
        let read = self.store.keys().await.map(|keys| self.known.store(Arc::new(by_digest(keys))));
        read.is_ok()
    }
}

fn by_digest(keys: Vec<AccessKey>) -> HashMap<Digest, Arc<AccessKey>> {
    keys.into_iter().map(|key| (key.digest, Arc::new(key))).collect()
}

async fn follow(keyring: Weak<Keyring>, mut seen: u64) {
    loop {
        tokio::time::sleep(LOOK).await;
        let Some(keyring) = keyring.upgrade() else { return };
        let Ok(now) = keyring.store.changes().await else { continue };
        if seen != now && keyring.refresh().await {
            seen = now;
        }
    }
}
