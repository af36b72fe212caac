//! Idle connections to one endpoint.
//!
//! The pool keeps a connection for less time than common servers do (Node and uvicorn close after
//! five seconds), so a request rarely meets a connection that the server is closing. A task closes
//! expired connections even if no further request is sent, so a burst leaves none open.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::dial::HttpSender;

/// How long an idle connection is kept if the server sent no `Keep-Alive` timeout.
const DEFAULT_IDLE: Duration = Duration::from_secs(4);
/// The longest time an idle connection is kept, even if the server allows more.
const LONGEST_IDLE: Duration = Duration::from_secs(60);
/// The maximum number of idle connections.
const MAX_IDLE: usize = 64;

/// The idle connections to one endpoint.
#[derive(Debug, Default)]
pub(super) struct ConnectionPool {
    connections: Mutex<IdleConnections>,
}

/// The state of a [`ConnectionPool`].
#[derive(Debug, Default)]
struct IdleConnections {
    idle: Vec<IdleConnection>,
    /// Whether a task runs that closes expired connections.
    has_sweeper: bool,
}

/// An open connection without a request, and when it expires.
#[derive(Debug)]
struct IdleConnection {
    sender: HttpSender,
    until: Instant,
}

impl ConnectionPool {
    /// Takes the most recently used connection that has not expired, so that the older ones expire.
    pub(super) async fn take(&self) -> Option<HttpSender> {
        loop {
            let mut candidate = self.pop()?;
            if candidate.ready().await.is_ok() {
                return Some(candidate);
            }
        }
    }

    fn pop(&self) -> Option<HttpSender> {
        let mut kept = self.connections.lock();
        let newest = kept.idle.pop()?;
        if newest.until > Instant::now() {
            return Some(newest.sender);
        }
        kept.idle.clear();
        None
    }

    /// Returns a connection to the pool after its last response was read to the end.
    pub(super) fn put(self: Arc<Self>, sender: HttpSender, keep_alive: Option<Duration>) {
        let mut kept = self.connections.lock();
        if kept.idle.len() >= MAX_IDLE || sender.is_closed() {
            return;
        }
        let until = Instant::now() + keep_alive.unwrap_or(DEFAULT_IDLE).min(LONGEST_IDLE);
        kept.idle.push(IdleConnection { sender, until });
        if !std::mem::replace(&mut kept.has_sweeper, true) {
            tokio::spawn(sweep(Arc::downgrade(&self), until));
        }
    }

    /// Closes expired connections. Returns when the next one expires.
    fn expire(&self) -> Option<Instant> {
        let mut kept = self.connections.lock();
        let now = Instant::now();
        kept.idle.retain(|idle| idle.until > now);
        let next = kept.idle.iter().map(|idle| idle.until).min();
        kept.has_sweeper = next.is_some();
        next
    }
}

/// Closes connections as they expire. Ends when no idle connection is left.
async fn sweep(pool: Weak<ConnectionPool>, first: Instant) {
    let mut next = Some(first);
    while let Some(until) = next {
        tokio::time::sleep_until(until.into()).await;
        next = pool.upgrade().and_then(|pool| pool.expire());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use bytes::Bytes;
    use http::{HeaderMap, Method, Request};
    use http_body_util::Full;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::sync::watch;
    use tokio::task::JoinSet;

    use super::super::dial::{self, ConnectTarget};
    use super::super::{HttpEndpoint, HttpResponse};
    use super::*;
    use crate::spool::BodyLimits;

    const BURST: usize = 12;
    /// Nothing here takes this long unless it hangs.
    const LIMIT: Duration = Duration::from_secs(30);

    /// A server that answers every request on its connection and closes none by itself.
    struct Patient {
        endpoint: Arc<HttpEndpoint>,
        target: ConnectTarget,
        seen: Arc<Seen>,
    }

    /// What the server has seen.
    #[derive(Default)]
    struct Seen {
        /// How many connections were ever opened.
        opened: AtomicUsize,
        /// How many of them are open.
        open: AtomicUsize,
        /// How many requests came.
        asked: watch::Sender<usize>,
        /// None is answered before so many have come.
        due: AtomicUsize,
    }

    impl Patient {
        async fn start(header: &'static str) -> Self {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let endpoint = Arc::new(HttpEndpoint::new(&format!("http://{address}/"), []).unwrap());
            let (host, port) = (address.ip().to_string(), address.port());
            let seen = Arc::<Seen>::default();
            let sees = seen.clone();
            tokio::spawn(async move {
                while let Ok((stream, _)) = listener.accept().await {
                    let sees = sees.clone();
                    tokio::spawn(async move {
                        sees.opened.fetch_add(1, Ordering::SeqCst);
                        sees.open.fetch_add(1, Ordering::SeqCst);
                        answer(stream, header, &sees).await;
                        sees.open.fetch_sub(1, Ordering::SeqCst);
                    });
                }
            });
            Self { endpoint, target: ConnectTarget { host, port, tls: false }, seen }
        }

        fn open(&self) -> usize {
            self.seen.open.load(Ordering::SeqCst)
        }

        /// Many requests at once: as many connections, since all are asked before one is answered.
        async fn burst(&self) {
            self.seen.due.store(*self.seen.asked.borrow() + BURST, Ordering::SeqCst);
            let mut all = JoinSet::new();
            for _ in 0..BURST {
                all.spawn(get(self.endpoint.clone()));
            }
            all.join_all().await;
        }

        async fn empties(&self) -> bool {
            let empty = async {
                while self.open() > 0 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            };
            tokio::time::timeout(LIMIT, empty).await.is_ok()
        }

        /// Whether a connection is kept for this long after its answer.
        async fn is_kept_for(&self, long: Duration) -> bool {
            let pool = Arc::<ConnectionPool>::default();
            let mut sender = dial::connect(&self.target).await.unwrap();
            let response = sender.send_request(Request::new(Full::default())).await.unwrap();
            let reply = HttpResponse::new(response, sender, pool.clone());
            let before = Instant::now();
            reply.read_bytes(BodyLimits::default()).await.unwrap();
            let after = Instant::now();
            let until = pool.connections.lock().idle[0].until;
            (before + long..=after + long).contains(&until)
        }
    }

    async fn answer(mut stream: TcpStream, header: &str, seen: &Seen) {
        let mut asked = [0; 1024];
        while let Ok(1..) = stream.read(&mut asked).await {
            seen.asked.send_modify(|asked| *asked += 1);
            let due = |asked: &usize| *asked >= seen.due.load(Ordering::SeqCst);
            seen.asked.subscribe().wait_for(due).await.unwrap();
            let text = format!("HTTP/1.1 200 OK\r\n{header}content-length: 2\r\n\r\nok");
            if stream.write_all(text.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    async fn get(endpoint: Arc<HttpEndpoint>) {
        let headers = endpoint.headers(HeaderMap::new());
        let reply = endpoint.send(Method::GET, headers, Bytes::new()).await.unwrap();
        assert_eq!(reply.read_bytes(BodyLimits::default()).await.unwrap(), "ok");
    }

    #[tokio::test]
    async fn a_burst_leaves_no_connection_open_though_nothing_is_sent_again() {
        let server = Patient::start("").await;
        server.burst().await;
        assert_eq!(server.open(), BURST, "they are kept for a while");
        assert!(server.empties().await, "{} are open", server.open());
        // And the next burst is swept as well.
        server.burst().await;
        assert!(server.empties().await, "{} are open", server.open());
        assert!(server.is_kept_for(DEFAULT_IDLE).await);
    }

    #[tokio::test]
    async fn a_connection_in_use_is_kept_while_the_others_go() {
        let server = Patient::start("").await;
        server.burst().await;
        let used = async {
            while server.open() > 1 {
                get(server.endpoint.clone()).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        tokio::time::timeout(LIMIT, used).await.expect("the others go");
        get(server.endpoint.clone()).await;
        assert_eq!(server.open(), 1);
        let opened = server.seen.opened.load(Ordering::SeqCst);
        assert_eq!(opened, BURST, "it is still the one of the burst");
    }

    #[tokio::test]
    async fn the_server_says_how_long_within_reason() {
        let server = Patient::start("keep-alive: timeout=2\r\n").await;
        server.burst().await;
        assert!(server.empties().await, "{}", server.open());
        // A second less than it says.
        assert!(server.is_kept_for(Duration::from_secs(1)).await);
        let server = Patient::start("keep-alive: timeout=18446744073709551615\r\n").await;
        server.burst().await;
        assert_eq!(server.open(), BURST);
        assert!(server.is_kept_for(LONGEST_IDLE).await);
    }
}
