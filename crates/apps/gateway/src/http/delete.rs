//! DELETE: the client ends its session.

use http::{HeaderMap, Response, StatusCode};

use super::answer::{Refused, bare};
use super::headers::{Principal, SESSION_ID, known_version};
use super::payload::Payload;
use super::server::{Server, missing_session, unknown_session};

impl Server {
    /// Ends the session, and everything of it.
    pub(crate) fn delete(&self, headers: &HeaderMap) -> Result<Response<Payload>, Refused> {
        known_version(headers)?;
        let id = headers.get(SESSION_ID).ok_or_else(missing_session)?;
        if self.sessions.end(id, Principal::of(headers)) {
            Ok(bare(StatusCode::NO_CONTENT))
        } else {
            Err(unknown_session())
        }
    }
}
