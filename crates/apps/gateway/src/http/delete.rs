//! DELETE: the client ends its session.

use http::{HeaderMap, Response, StatusCode};

use super::clock::ConnectionState;
use super::headers::{SESSION_ID, check_legacy_version};
use super::response_body::ResponseBody;
use super::responses::empty;
use super::server::{HttpServer, missing_session, unknown_session};
use crate::principal::RequestedProfile;
use crate::rejection::Rejection;

impl HttpServer {
    /// Ends the session and everything in it.
    pub(crate) fn delete(
        &self,
        headers: &HeaderMap,
        profile: RequestedProfile,
        connection: &ConnectionState,
    ) -> Result<Response<ResponseBody>, Rejection> {
        check_legacy_version(headers)?;
        let id = headers.get(SESSION_ID).ok_or_else(missing_session)?;
        if self.sessions.close(id, &self.client_identity(headers, profile, connection)?) {
            Ok(empty(StatusCode::NO_CONTENT))
        } else {
            Err(unknown_session())
        }
    }
}
