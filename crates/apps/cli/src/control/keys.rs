//! Questions about the keys of callers over HTTP, and their answers.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_host::audit::rfc3339_of;
use toolgate_host::json;
use toolgate_host::keys::{AccessKey, Keyring};

use super::desk::raw;
use crate::exit::{Failure, chain};

/// The longest name of a caller.
const LONGEST_NAME: usize = 64;

/// What can be asked about keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum KeyRequest {
    /// Which are there?
    List,
    /// Make one.
    Add {
        /// The caller it stands for.
        name: String,
        /// After how many seconds it ends; none: never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lifetime: Option<u64>,
    },
    /// Take one back.
    Revoke {
        /// The caller it stands for.
        name: String,
    },
}

/// A key: the stable shape of `keys list --json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeyLine {
    /// The caller it stands for.
    pub name: String,
    /// The beginning of its digest, to tell keys apart.
    pub digest: String,
    /// When it was added.
    pub added: String,
    /// Until when it holds, if not for good.
    pub expires: Option<String>,
    /// Whether its time is over.
    pub expired: bool,
    /// The key itself, when it was just added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl From<&AccessKey> for KeyLine {
    fn from(key: &AccessKey) -> Self {
        Self {
            name: key.name.clone(),
            digest: key.digest.short(12),
            added: rfc3339_of(key.added_at),
            expires: key.expires_at.map(rfc3339_of),
            expired: key.is_expired(),
            key: None,
        }
    }
}

impl KeyRequest {
    /// The answer, as JSON. `note` puts on record what was changed.
    pub async fn answer(
        &self,
        keys: &Keyring,
        note: impl Fn(&str, &str),
    ) -> Result<Box<RawValue>, Failure> {
        let failed = |error| Failure::failed(chain(&error));
        match self {
            Self::List => {
                let keys = keys.list().await.map_err(failed)?;
                raw(&keys.iter().map(KeyLine::from).collect::<Vec<_>>())
            }
            Self::Add { name, lifetime } => {
                check_name(name)?;
                let expires_at = lifetime.map(ends_after).transpose()?;
                let added = keys.add(name, expires_at).await.map_err(failed)?;
                let (key, secret) = added.ok_or_else(|| {
                    Failure::failed(format!("add a key for `{name}`: there is one already"))
                        .hint(format!("`toolgate keys revoke {name}` takes it back"))
                })?;
                let line = KeyLine::from(&key);
                note("key-added", &json!({ "name": name, "expires": line.expires }).to_string());
                raw(&KeyLine { key: Some(secret), ..line })
            }
            Self::Revoke { name } => {
                let revoked = keys.revoke(name).await.map_err(failed)?;
                if revoked {
                    note("key-revoked", &json!({ "name": name }).to_string());
                }
                raw(&revoked)
            }
        }
    }
}

fn ends_after(seconds: u64) -> Result<SystemTime, Failure> {
    let end = SystemTime::now().checked_add(Duration::from_secs(seconds));
    end.ok_or_else(|| Failure::usage("add a key: it would end too late to be written down"))
}

/// Names appear in config files, in lists and in the journal.
fn check_name(name: &str) -> Result<(), Failure> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_plain) {
        true => Ok(()),
        false => Err(Failure::usage(format!(
            "add a key for `{name}`: a name has 1 to {LONGEST_NAME} letters, digits, `-`, `_`, `.`"
        ))),
    }
}
