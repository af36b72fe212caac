//! Reads and binds the columns that several tables share.

use std::fmt::Display;
use std::time::{Duration, SystemTime};

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use toolgate_model::{CapabilityId, CapabilityKind, Digest, ServerName};

use crate::sqlite::{SqlQuery, now_millis, time_from_millis};
use crate::{ApprovalBinding, ApprovalChoice, StoreError};

/// How far the clock may go back before an entry with a later time becomes invalid. Small
/// corrections of a clock are normal, but turning it back must not extend an approval.
const CLOCK_SLACK: Duration = Duration::from_secs(60);

/// Returns the error of a value that is not valid.
pub(crate) fn malformed(what: impl Display) -> sqlx::Error {
    sqlx::Error::Decode(what.to_string().into())
}

pub(crate) fn server(row: &SqliteRow) -> Result<ServerName, sqlx::Error> {
    ServerName::new(row.try_get("server")?).map_err(malformed)
}

pub(crate) fn kind(row: &SqliteRow) -> Result<CapabilityKind, sqlx::Error> {
    let word: &str = row.try_get("kind")?;
    CapabilityKind::from_word(word).ok_or_else(|| malformed(format!("unknown kind {word:?}")))
}

pub(crate) fn choice(row: &SqliteRow) -> Result<ApprovalChoice, sqlx::Error> {
    let word: &str = row.try_get("choice")?;
    let known = ApprovalChoice::ALL.into_iter().find(|choice| choice.as_str() == word);
    known.ok_or_else(|| malformed(format!("unknown choice {word:?}")))
}

pub(crate) fn digest(row: &SqliteRow, column: &str) -> Result<Digest, sqlx::Error> {
    let text: &str = row.try_get(column)?;
    text.parse().map_err(|()| malformed(format!("{text:?} is not a digest")))
}

pub(crate) fn time(row: &SqliteRow, column: &str) -> Result<SystemTime, sqlx::Error> {
    row.try_get(column).map(time_from_millis)
}

pub(crate) fn optional_time(
    row: &SqliteRow,
    column: &str,
) -> Result<Option<SystemTime>, sqlx::Error> {
    Ok(row.try_get::<Option<i64>, _>(column)?.map(time_from_millis))
}

/// Reads the columns that [`bind_binding`] writes.
pub(crate) fn binding(row: &SqliteRow) -> Result<ApprovalBinding, sqlx::Error> {
    let name: &str = row.try_get("name")?;
    Ok(ApprovalBinding {
        caller: row.try_get("caller")?,
        client: row.try_get("client")?,
        tool: CapabilityId { server: server(row)?, kind: kind(row)?, name: name.into() },
        identity: digest(row, "identity")?,
        definition: digest(row, "definition")?,
    })
}

/// Binds the columns of a binding: caller, client, server, kind, name, identity, definition.
pub(crate) fn bind_binding(query: SqlQuery, binding: &ApprovalBinding) -> SqlQuery {
    let ApprovalBinding { caller, client, tool, identity, definition } = binding;
    let query = query.bind(caller).bind(client).bind(tool.server.as_str());
    let query = query.bind(tool.kind.as_str()).bind(&*tool.name);
    query.bind(identity.to_string()).bind(definition.to_string())
}

/// Returns the limits of what is valid now: an entry must expire after the first and must have
/// begun by the second.
pub(crate) fn validity_window() -> (i64, i64) {
    let now = now_millis();
    (now, now.saturating_add(CLOCK_SLACK.as_millis() as i64))
}

/// Returns a message as text. JSON is UTF-8, so other bytes are an error.
pub(crate) fn as_text(raw: &[u8]) -> Result<&str, sqlx::Error> {
    std::str::from_utf8(raw).map_err(malformed)
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
