//! DELETE: the client ends its session.

use http::{HeaderMap, Response, StatusCode};

use super::answer::{Refused, bare};
use super::headers::{Comer, Place, SESSION_ID, known_version};
use super::payload::Payload;
use super::server::{Server, missing_session, unknown_session};

impl Server {
    /// Ends the session, and everything of it.
    pub(crate) fn delete(
        &self,
        headers: &HeaderMap,
        place: Place,
    ) -> Result<Response<Payload>, Refused> {
        known_version(headers)?;
        let id = headers.get(SESSION_ID).ok_or_else(missing_session)?;
        if self.sessions.end(id, &Comer::of(headers, place)) {
            Ok(bare(StatusCode::NO_CONTENT))
        } else {
            Err(unknown_session())
        }
    }
}
