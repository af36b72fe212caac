//! The parts that pending calls and grants share in the database: their binding and their validity.

use std::time::{Duration, SystemTime};

use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row as _};
use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};

use crate::sqlite::now_millis;
use crate::{ApprovalBinding, ApprovalChoice, StoreError};

/// The columns of an [`ApprovalBinding`], in the order of [`ApprovalBindingRow`].
macro_rules! bound_columns {
    () => {
        "caller, client, server, kind, name, identity, definition"
    };
}
pub(crate) use bound_columns;

/// The columns of a row that hold an [`ApprovalBinding`].
pub(crate) struct ApprovalBindingRow {
    caller: String,
    client: String,
    server: String,
    kind: String,
    name: String,
    identity: String,
    definition: String,
}

impl FromRow<'_, SqliteRow> for ApprovalBindingRow {
    fn from_row(row: &SqliteRow) -> Result<Self, sqlx::Error> {
        Ok(Self {
            caller: row.try_get("caller")?,
            client: row.try_get("client")?,
            server: row.try_get("server")?,
            kind: row.try_get("kind")?,
            name: row.try_get("name")?,
            identity: row.try_get("identity")?,
            definition: row.try_get("definition")?,
        })
    }
}

impl ApprovalBindingRow {
    pub(crate) fn into_binding(self) -> Result<ApprovalBinding, String> {
        let tool = parse_capability(&self.server, &self.kind, &self.name)?;
        Ok(ApprovalBinding {
            caller: self.caller,
            client: self.client,
            tool,
            identity: parse_digest(&self.identity)?,
            definition: parse_digest(&self.definition)?,
        })
    }
}

pub(crate) fn parse_capability(
    server: &str,
    kind: &str,
    name: &str,
) -> Result<CapabilityId, String> {
    let server = ServerName::new(server).map_err(|error| error.to_string())?;
    Ok(CapabilityId { server, kind: self::parse_kind(kind)?, name: name.into() })
}

pub(crate) fn parse_kind(word: &str) -> Result<CapabilityKind, String> {
    CapabilityKind::from_word(word).ok_or_else(|| format!("unknown kind {word:?}"))
}

pub(crate) fn parse_choice(word: &str) -> Result<ApprovalChoice, String> {
    let known = ApprovalChoice::ALL.into_iter().find(|choice| choice.as_str() == word);
    known.ok_or_else(|| format!("unknown choice {word:?}"))
}

pub(crate) fn parse_digest(text: &str) -> Result<Digest, String> {
    text.parse().map_err(|()| format!("{text:?} is not a digest"))
}

/// Returns the milliseconds since 1970.
pub(crate) fn to_millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// How far the clock may go back before an entry with a later time becomes invalid. Small
/// corrections of a clock are normal, but turning it back must not extend an approval.
const CLOCK_SLACK: Duration = Duration::from_secs(60);

/// Returns the limits of what is valid now: an entry must expire after the first and must have
/// begun by the second.
pub(crate) fn validity_window() -> (i64, i64) {
    let now = now_millis();
    (now, now.saturating_add(CLOCK_SLACK.as_millis() as i64))
}

/// Generates a short id that is hard to guess and easy to type: fifty random bits, without letters
/// that look like digits.
pub fn generate_id() -> Result<String, StoreError> {
    random_letters::<10>()
}

/// Returns `COUNT` letters of five random bits each.
pub(crate) fn random_letters<const COUNT: usize>() -> Result<String, StoreError> {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Malformed {
        action: "generate an id",
        what: format!("no random numbers are available: {error}"),
    })?;
    Ok(bytes.iter().map(|byte| LETTERS[usize::from(byte & 31)] as char).collect())
}
