//! GET and DELETE: open the standalone stream or resume an interrupted one, and end the session.

use std::sync::Arc;

use http::{HeaderMap, Response, StatusCode};

use super::clock::HttpConnectionState;
use super::event_log::{ResumeOutcome, STANDALONE};
use super::headers::{AcceptHeader, LAST_EVENT_ID, SESSION_ID, check_legacy_version};
use super::response_body::ResponseBody;
use super::responses::{empty, event_stream};
use super::server::{HttpServer, missing_session, unknown_session};
use super::stream::{EventStreamBody, KeepAliveTiming};
use crate::principal::RequestedProfile;
use crate::rejection::Rejection;

/// How many connections may read one stream.
const MAX_READERS: usize = 16;

impl HttpServer {
    /// Opens an event stream.
    pub(crate) fn get(
        &self,
        headers: &HeaderMap,
        profile: RequestedProfile,
        connection: &Arc<HttpConnectionState>,
    ) -> Result<Response<ResponseBody>, Rejection> {
        AcceptHeader::parse(headers)?.require_events()?;
        check_legacy_version(headers)?;
        let identity = self.client_identity(headers, profile, connection)?;
        let client = self.find_session(headers, &identity)?.ok_or_else(missing_session)?;
        let reader = match headers.get(LAST_EVENT_ID) {
            None => client.log.attach(STANDALONE, None),
            Some(last) => match client.log.resume(last.to_str().unwrap_or_default()) {
                ResumeOutcome::Stream(reader) => reader,
                // This status stops clients that would resume a complete stream for ever.
                ResumeOutcome::Finished => return Ok(empty(StatusCode::NO_CONTENT)),
                ResumeOutcome::Unknown => {
                    let error = "unknown Last-Event-ID";
                    return Err(Rejection::new(StatusCode::BAD_REQUEST, error));
                }
            },
        };
        if reader.reader_count() > MAX_READERS {
            let error = "too many connections read this stream";
            return Err(Rejection::new(StatusCode::TOO_MANY_REQUESTS, error));
        }
        let quota = self.acquire_stream(&identity)?;
        let (options, revision) = (&self.gateway.options, client.session.caller.revision);
        let timing = if reader.is_standalone() {
            KeepAliveTiming::for_standalone(options, revision)
        } else {
            KeepAliveTiming::for_request(options, revision)
        };
        Ok(event_stream(EventStreamBody::new(reader, timing, connection.clone(), Some(quota))))
    }

    /// Ends the session and everything in it.
    pub(crate) fn delete(
        &self,
        headers: &HeaderMap,
        profile: RequestedProfile,
        connection: &HttpConnectionState,
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
