//! Control requests about the access keys of HTTP clients.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use toolgate_host::json;
use toolgate_host::keys::{AccessKey, AccessKeyring};
use toolgate_model::time::rfc3339_from_time;

use super::handler::to_raw_json;
use crate::exit::{Result, cli_error};

/// The most characters in the name of a caller.
const LONGEST_NAME: usize = 64;

/// A control request about access keys.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum KeyRequest {
    /// Return the keys.
    List,
    /// Add a key.
    Add {
        /// The caller it identifies.
        name: String,
        /// The seconds until it expires; `None` means never.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lifetime: Option<u64>,
    },
    /// Revoke a key.
    Revoke {
        /// The caller it identifies.
        name: String,
    },
}

/// An access key: the stable shape of `keys list --json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AccessKeyJson {
    /// The caller it identifies.
    pub name: String,
    /// The beginning of its digest, to tell keys apart.
    pub digest: String,
    /// When it was added.
    pub added: String,
    /// When it expires, if it does.
    pub expires: Option<String>,
    /// Whether it has expired.
    pub expired: bool,
    /// The secret key, only in the answer to adding it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl From<&AccessKey> for AccessKeyJson {
    fn from(key: &AccessKey) -> Self {
        Self {
            name: key.name.clone(),
            digest: key.digest.hex_prefix(12),
            added: rfc3339_from_time(key.added_at),
            expires: key.expires_at.map(rfc3339_from_time),
            expired: key.is_expired(),
            key: None,
        }
    }
}

impl KeyRequest {
    /// Returns the answer as JSON. `note` records changes in the journal.
    pub async fn answer(
        &self,
        keys: &AccessKeyring,
        note: impl Fn(&str, &str),
    ) -> Result<Box<RawValue>> {
        match self {
            Self::List => {
                let keys = keys.list().await?;
                to_raw_json(&keys.iter().map(AccessKeyJson::from).collect::<Vec<_>>())
            }
            Self::Add { name, lifetime } => {
                check_name(name)?;
                let expires_at = lifetime.map(expiry_time).transpose()?;
                let added = keys.add(name, expires_at).await?;
                let (key, secret) = added.ok_or_else(|| {
                    cli_error!(GatewayKey, "`{name}` already has a key")
                        .hint(format!("run `toolgate keys revoke {name}` to revoke it"))
                })?;
                let line = AccessKeyJson::from(&key);
                note("key-added", &json!({ "name": name, "expires": line.expires }).to_string());
                to_raw_json(&AccessKeyJson { key: Some(secret), ..line })
            }
            Self::Revoke { name } => {
                let revoked = keys.revoke(name).await?;
                if revoked {
                    note("key-revoked", &json!({ "name": name }).to_string());
                }
                to_raw_json(&revoked)
            }
        }
    }
}

fn expiry_time(seconds: u64) -> Result<SystemTime> {
    let end = SystemTime::now().checked_add(Duration::from_secs(seconds));
    end.ok_or_else(|| cli_error!(CliUsage, "the lifetime of the key is too long"))
}

/// Checks the name of a caller. Names appear in config files, in lists and in the journal, so only
/// plain characters are allowed.
fn check_name(name: &str) -> Result<()> {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    match (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(is_plain) {
        true => Ok(()),
        false => Err(cli_error!(
            CliUsage,
            "invalid name `{name}`: a name has 1 to {LONGEST_NAME} letters, digits, `-`, `_`, `.`"
        )),
    }
}
