//! Idle connections to one endpoint.
//!
//! A connection is kept for less time than common servers keep theirs (Node and uvicorn close after
//! five seconds), so that a request rarely meets a connection that is just being closed. One that
//! nobody used until then is closed, whether or not anything is sent to the endpoint again: a burst
//! leaves nothing open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use super::dial::Sender;

/// How long an idle connection is trusted when the server did not say.
const DEFAULT_IDLE: Duration = Duration::from_secs(4);
/// The longest one is kept, whatever the server said.
const LONGEST_IDLE: Duration = Duration::from_secs(60);
/// How many idle connections are kept.
const MAX_IDLE: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Pool {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    idle: Vec<Idle>,
    /// Whether a task is there that closes what has been idle for too long.
    swept: bool,
}

#[derive(Debug)]
struct Idle {
    sender: Sender,
    until: Instant,
}

impl Pool {
    /// The connection used last, if it can still be trusted. The older ones go first when they age.
    pub(super) async fn take(&self) -> Option<Sender> {
        loop {
            let mut candidate = self.pop()?;
            if candidate.ready().await.is_ok() {
                return Some(candidate);
            }
        }
    }

    fn pop(&self) -> Option<Sender> {
        let mut kept = self.kept();
        let newest = kept.idle.pop()?;
        if newest.until > Instant::now() {
            return Some(newest.sender);
        }
        kept.idle.clear();
        None
    }

    /// Takes a connection back whose last answer was read to its end.
    pub(super) fn put(self: Arc<Self>, sender: Sender, keep_alive: Option<Duration>) {
        let mut kept = self.kept();
        if kept.idle.len() >= MAX_IDLE || sender.is_closed() {
            return;
        }
        let until = Instant::now() + keep_alive.unwrap_or(DEFAULT_IDLE).min(LONGEST_IDLE);
        kept.idle.push(Idle { sender, until });
        if !std::mem::replace(&mut kept.swept, true) {
            tokio::spawn(sweep(Arc::downgrade(&self), until));
        }
    }

    /// Closes what has been idle for too long, and says when the next one will have been.
    fn expire(&self) -> Option<Instant> {
        let mut kept = self.kept();
        let now = Instant::now();
        kept.idle.retain(|idle| idle.until > now);
        let next = kept.idle.iter().map(|idle| idle.until).min();
        kept.swept = next.is_some();
        next
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Is there only while connections are idle, and ends with the last of them.
async fn sweep(pool: Weak<Pool>, first: Instant) {
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

    use super::super::dial::{self, Target};
    use super::super::{Endpoint, Outgoing, Reply};
    use super::*;
    use crate::spool::BodyLimits;

    const BURST: usize = 12;
    /// Nothing here takes this long unless it hangs.
    const LIMIT: Duration = Duration::from_secs(30);

    /// A server that answers every request on its connection and closes none by itself.
    struct Patient {
        endpoint: Arc<Endpoint>,
        target: Target,
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
            let endpoint = Arc::new(Endpoint::new(&format!("http://{address}/"), []).unwrap());
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
            Self { endpoint, target: Target { host, port, tls: false }, seen }
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
            let pool = Arc::<Pool>::default();
            let mut sender = dial::connect(&self.target).await.unwrap();
            let response = sender.send_request(Request::new(Full::default())).await.unwrap();
            let reply = Reply::new(response, sender, pool.clone());
            let before = Instant::now();
            reply.bytes(BodyLimits::default()).await.unwrap();
            let after = Instant::now();
            let until = pool.kept().idle[0].until;
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

    async fn get(endpoint: Arc<Endpoint>) {
        let headers = endpoint.headers(HeaderMap::new());
        let outgoing = Outgoing { method: Method::GET, headers, body: Bytes::new() };
        let reply = endpoint.send(outgoing).await.unwrap();
        assert_eq!(reply.bytes(BodyLimits::default()).await.unwrap(), "ok");
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
