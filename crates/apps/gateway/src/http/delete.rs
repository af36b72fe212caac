//! DELETE: the client ends its session.

use http::{HeaderMap, Response, StatusCode};

use super::answer::{Refused, bare};
use super::clock::Pulse;
use super::headers::{SESSION_ID, known_version};
use super::payload::Payload;
use super::server::{Server, missing_session, unknown_session};
use crate::principal::Place;

impl Server {
    /// Ends the session, and everything of it.
    pub(crate) fn delete(
        &self,
        headers: &HeaderMap,
        place: Place,
        pulse: &Pulse,
    ) -> Result<Response<Payload>, Refused> {
        known_version(headers)?;
        let id = headers.get(SESSION_ID).ok_or_else(missing_session)?;
        if self.sessions.end(id, &self.comer(headers, place, pulse)?) {
            Ok(bare(StatusCode::NO_CONTENT))
        } else {
            Err(unknown_session())
        }
    }
}
