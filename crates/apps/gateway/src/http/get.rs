//! GET: a standing stream for what belongs to no request, or the rest of a stream that broke off.

use std::sync::Arc;

use http::{HeaderMap, Response, StatusCode};

use super::answer::{Refused, bare, events};
use super::clock::Pulse;
use super::eventlog::{Resumed, STANDALONE};
use super::headers::{Accept, LAST_EVENT_ID, known_version};
use super::payload::Payload;
use super::server::{Server, missing_session};
use super::stream::{Events, Pace};
use crate::principal::Place;

/// How many connections may read one stream.
const MAX_READERS: usize = 16;

impl Server {
    /// Opens a stream.
    pub(crate) fn get(
        &self,
        headers: &HeaderMap,
        place: Place,
        pulse: &Arc<Pulse>,
    ) -> Result<Response<Payload>, Refused> {
        Accept::of(headers)?.needs_events()?;
        known_version(headers)?;
        let comer = self.comer(headers, place, pulse)?;
        let client = self.session_of(headers, &comer)?.ok_or_else(missing_session)?;
        let reader = match headers.get(LAST_EVENT_ID) {
            None => client.log.attach(STANDALONE, None),
            Some(last) => match client.log.resume(last.to_str().unwrap_or_default()) {
                Resumed::Stream(reader) => reader,
                // Clients that come back for a stream they have seen whole are told to stop.
                Resumed::Over => return Ok(bare(StatusCode::NO_CONTENT)),
                Resumed::Unknown => {
                    let error = "no event has this Last-Event-ID";
                    return Err(Refused::new(StatusCode::BAD_REQUEST, error));
                }
            },
        };
        if reader.company() > MAX_READERS {
            let error = "too many connections read this stream";
            return Err(Refused::new(StatusCode::TOO_MANY_REQUESTS, error));
        }
        let share = self.stream_share(&comer)?;
        let (options, revision) = (&self.hub.options, client.session.revision());
        let pace = if reader.is_standalone() {
            Pace::standing(options, revision)
        } else {
            Pace::of_request(options, revision)
        };
        Ok(events(Events::new(reader, pace, pulse.clone()).counted(share)))
    }
}
