//! What pending calls and grants have in common in the database: what they are bound to, and when
//! they hold.

use std::time::{Duration, SystemTime};

use sqlx::sqlite::SqliteRow;
use sqlx::{FromRow, Row as _};
use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};

use crate::sqlite::now;
use crate::{Bound, Choice, StoreError};

/// The columns of a [`Bound`], in the order of [`Columns`].
macro_rules! bound_columns {
    () => {
        "caller, client, server, kind, name, identity, definition"
    };
}
pub(crate) use bound_columns;

/// A [`Bound`] as a row holds it.
pub(crate) struct Columns {
    caller: String,
    client: String,
    server: String,
    kind: String,
    name: String,
    identity: String,
    definition: String,
}

impl FromRow<'_, SqliteRow> for Columns {
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

impl Columns {
    pub(crate) fn bound(self) -> Result<Bound, String> {
        let tool = capability(&self.server, &self.kind, &self.name)?;
        Ok(Bound {
            caller: self.caller,
            client: self.client,
            tool,
            identity: digest(&self.identity)?,
            definition: digest(&self.definition)?,
        })
    }
}

pub(crate) fn capability(server: &str, kind: &str, name: &str) -> Result<CapabilityId, String> {
    let server = ServerName::new(server).map_err(|error| format!("cannot {error}"))?;
    Ok(CapabilityId { server, kind: self::kind(kind)?, name: name.into() })
}

pub(crate) fn kind(word: &str) -> Result<CapabilityKind, String> {
    CapabilityKind::from_word(word).ok_or_else(|| format!("unknown kind {word:?}"))
}

pub(crate) fn choice(word: &str) -> Result<Choice, String> {
    let known = Choice::ALL.into_iter().find(|choice| choice.as_str() == word);
    known.ok_or_else(|| format!("unknown choice {word:?}"))
}

pub(crate) fn digest(text: &str) -> Result<Digest, String> {
    text.parse().map_err(|()| format!("no digest: {text:?}"))
}

/// Milliseconds since 1970.
pub(crate) fn millis(time: SystemTime) -> i64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// How far a clock may go back before what was asked or given "later" no longer holds. Clocks are
/// corrected by a little all the time; whoever turns one back further must not make an approval
/// last longer by it.
const CLOCK_SLACK: Duration = Duration::from_secs(60);

/// The moment at which something holds: begun by the second, and not ended at the first.
pub(crate) fn moment() -> (i64, i64) {
    let now = now();
    (now, now.saturating_add(CLOCK_SLACK.as_millis() as i64))
}

/// A short name that nobody can guess and anybody can type: fifty random bits without the letters
/// that look like digits.
pub fn fresh_id() -> Result<String, StoreError> {
    random_letters::<10>()
}

/// So many letters of five random bits each.
pub(crate) fn random_letters<const COUNT: usize>() -> Result<String, StoreError> {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let mut bytes = [0; COUNT];
    getrandom::fill(&mut bytes).map_err(|error| StoreError::Malformed {
        action: "make an id",
        what: format!("there are no random numbers: {error}"),
    })?;
    Ok(bytes.iter().map(|byte| LETTERS[usize::from(byte & 31)] as char).collect())
}
