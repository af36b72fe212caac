//! The sessions of an HTTP endpoint, and the streams of each.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use http::StatusCode;

use super::body::HttpRefusal;
use super::stream::ResumableStream;
use crate::rpc::peer::{ClientPeer, FrameSink, lock};
use crate::rpc::random_id;
use crate::rpc::session::{TestService, TestSession};

/// Streams kept per session for clients that come back; the oldest go first.
const KEPT_STREAMS: usize = 256;

/// All live sessions of an endpoint.
pub struct TestHttpSessions<S>(Mutex<HashMap<String, Arc<TestHttpSession<S>>>>);

/// A session and the streams that belong to it.
pub struct TestHttpSession<S> {
    /// The id the client names it by.
    pub id: String,
    /// The session itself.
    pub session: TestSession<S>,
    /// The stream of messages that belong to no request.
    pub ambient: Arc<ResumableStream>,
    streams: Mutex<VecDeque<Arc<ResumableStream>>>,
    next_stream: AtomicU64,
    requests: AtomicUsize,
}

impl<S> Default for TestHttpSessions<S> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<S: TestService> TestHttpSessions<S> {
    /// Opens a session with an unguessable id.
    pub fn open(&self, open: &impl Fn(Arc<ClientPeer>) -> Arc<S>) -> Arc<TestHttpSession<S>> {
        let ambient = Arc::new(ResumableStream::new(0));
        let outlet: Arc<dyn FrameSink> = Arc::clone(&ambient) as _;
        let held = Arc::new(TestHttpSession {
            id: random_id(),
            session: TestSession::new(ClientPeer::new(outlet), open),
            ambient,
            streams: Mutex::default(),
            next_stream: AtomicU64::new(1),
            requests: AtomicUsize::new(0),
        });
        lock(&self.0).insert(held.id.clone(), Arc::clone(&held));
        held
    }

    /// The session a request names: 400 when it names none, 404 when that one is gone.
    pub fn find(&self, id: Option<String>) -> Result<Arc<TestHttpSession<S>>, HttpRefusal> {
        let id = id.ok_or_else(|| {
            HttpRefusal::Said(StatusCode::BAD_REQUEST, "Mcp-Session-Id is missing")
        })?;
        let found = lock(&self.0).get(&id).cloned();
        found.ok_or_else(|| HttpRefusal::Said(StatusCode::NOT_FOUND, "no such session"))
    }

    /// Ends a session: its streams close, its id is dead.
    pub fn forget(&self, id: &str) {
        if let Some(held) = lock(&self.0).remove(id) {
            held.ambient.pause();
        }
    }
}

impl<S> TestHttpSession<S> {
    /// A new stream for the answer to a request.
    pub fn new_stream(&self) -> Arc<ResumableStream> {
        let key = self.next_stream.fetch_add(1, Ordering::Relaxed);
        let log = Arc::new(ResumableStream::new(key));
        let mut streams = lock(&self.streams);
        if streams.len() == KEPT_STREAMS {
            streams.pop_front();
        }
        streams.push_back(Arc::clone(&log));
        log
    }

    /// The stream an event id belongs to, and the place in it after that event.
    pub fn stream_of(&self, event: &str) -> Option<(Arc<ResumableStream>, usize)> {
        let (key, place) = event.split_once('-')?;
        let (key, place) = (key.parse::<u64>().ok()?, place.parse().ok()?);
        if self.ambient.key() == key {
            return Some((Arc::clone(&self.ambient), place));
        }
        let streams = lock(&self.streams);
        streams.iter().find(|log| log.key() == key).map(|log| (Arc::clone(log), place))
    }

    /// Counts one request and says how many there were, the opening one included.
    pub fn count(&self) -> usize {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }
}
