//! A body that grows: in memory while it is small, then in a file, then refused.
//!
//! Large bodies arrive slowly and from many sides at once; holding them all in memory is how a
//! gateway dies. A body beyond the memory limit goes into an unnamed file, which is gone with its
//! last user, however that ends. Whoever can read it from there does so ([`Spooled`]). Whoever must
//! have it whole takes as much of a budget as the body is long, and gives it back with the last
//! reference to the bytes. Requests of callers, messages of servers and answers have a budget each:
//! a call holds its request while its answer is read, so one budget for both would wait for itself.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use toolgate_wire::Frame;
use toolgate_wire::large::Kept;

use crate::TransportError;
use crate::refill::Refill;

/// How large a body may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// Up to here it stays in memory.
    pub memory: usize,
    /// Beyond this it is refused.
    pub total: usize,
}

impl BodyLimits {
    /// What a server answers. It can be used from where it lies, and many servers answer at once.
    pub const ANSWER: Self = Self { memory: 2 << 20, total: 64 << 20 };
    /// What comes through a pipe inside this process: it is in memory already, and whoever sent it
    /// holds the budget for it.
    pub const INTERNAL: Self = Self { memory: 64 << 20, total: 64 << 20 };
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { memory: 8 << 20, total: 64 << 20 }
    }
}

/// How much of a refused body is kept, so that its id can still be found.
const HEAD: usize = 4096;

/// What large bodies are counted in.
const UNIT: u64 = 1 << 20;
/// What one body takes at most: an edit can make it a little longer than the limit.
const LARGEST: u32 = 64;
/// How long a body waits for others to leave memory.
const PATIENCE: Duration = Duration::from_secs(30);

/// Requests of callers in memory, in the whole process. A call holds its request to its end, so
/// there is room for two of the largest.
static REQUESTS: Semaphore = Semaphore::const_new(128);
/// What servers send on their own, in memory: a question is held until it is answered.
static SERVER_MESSAGES: Semaphore = Semaphore::const_new(64);
/// Answers of servers that must be whole; most are only looked through or rewritten.
static ANSWERS: Semaphore = Semaphore::const_new(64);

/// A body being received.
#[derive(Debug)]
pub struct Spool {
    limits: BodyLimits,
    memory: BytesMut,
    file: Option<File>,
    len: usize,
}

/// A body that was received.
#[derive(Debug, Clone)]
pub enum Body {
    /// A small one.
    Memory(Bytes),
    /// A large one.
    File(Spooled),
}

/// A large body in its file.
#[derive(Debug, Clone)]
pub struct Spooled {
    file: Arc<File>,
    len: u64,
}

/// A large body, back in memory, with its permit.
struct Loaded {
    bytes: Vec<u8>,
    _permit: SemaphorePermit<'static>,
}

impl AsRef<[u8]> for Loaded {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Spool {
    /// An empty body.
    pub fn new(limits: BodyLimits) -> Self {
        Self { limits, memory: BytesMut::new(), file: None, len: 0 }
    }

    /// An empty body that is said to become this long: room for it is made at once, if it stays in
    /// memory.
    pub fn expecting(length: u64, limits: BodyLimits) -> Self {
        let room = usize::try_from(length).unwrap_or(usize::MAX);
        let room = if room > limits.memory { 0 } else { room };
        Self { memory: BytesMut::with_capacity(room), ..Self::new(limits) }
    }

    /// How many bytes have been taken.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing has been taken.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Takes some more of the body.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), TransportError> {
        if self.len + chunk.len() > self.limits.total {
            return Err(self.oversize(chunk));
        }
        self.len += chunk.len();
        if self.len <= self.limits.memory {
            self.memory.extend_from_slice(chunk);
            return Ok(());
        }
        self.write(chunk).map_err(|error| {
            let (reason, head) = (error.to_string(), self.head(chunk));
            TransportError::Unkept { reason, head }
        })
    }

    fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.spill(chunk)?,
        };
        file.write_all(chunk)?;
        self.file = Some(file);
        Ok(())
    }

    /// Moves what is in memory to a file; only the head of the body stays.
    fn spill(&mut self, next: &[u8]) -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        file.write_all(&self.memory)?;
        let mut head = BytesMut::from(&self.memory[..HEAD.min(self.memory.len())]);
        head.extend_from_slice(&next[..next.len().min(HEAD - head.len())]);
        self.memory = head;
        Ok(file)
    }

    fn oversize(&self, chunk: &[u8]) -> TransportError {
        TransportError::Oversize { limit: self.limits.total, head: self.head(chunk) }
    }

    /// The first bytes of a body that is refused at this chunk.
    fn head(&self, chunk: &[u8]) -> Vec<u8> {
        let head = if self.memory.is_empty() { chunk } else { &self.memory };
        head[..HEAD.min(head.len())].to_vec()
    }

    /// The body, wherever it lies.
    pub fn body(self) -> Body {
        match self.file {
            None => Body::Memory(self.memory.freeze()),
            Some(file) => Body::File(Spooled { file: Arc::new(file), len: self.len as u64 }),
        }
    }

    /// The whole body of a caller's message in memory. A large one waits here for room, and is
    /// refused if there is none in time.
    pub async fn finish(self) -> Result<Bytes, TransportError> {
        self.body().whole().await
    }
}

impl Body {
    /// Whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Memory(bytes) if bytes.is_empty())
    }

    /// All of a caller's message in memory. A large one waits here for room, and is refused if there
    /// is none in time.
    pub async fn whole(self) -> Result<Bytes, TransportError> {
        match self {
            Self::Memory(bytes) => Ok(bytes),
            Self::File(spooled) => spooled.loaded(&REQUESTS).await,
        }
    }
}

impl Spooled {
    /// How many bytes it has.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there is nothing in it; there always is.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// All of a server's message in memory. It waits here for room, and is refused if there is none
    /// in time.
    pub async fn whole(self) -> Result<Bytes, TransportError> {
        self.loaded(&SERVER_MESSAGES).await
    }

    async fn loaded(self, budget: &'static Semaphore) -> Result<Bytes, TransportError> {
        let len = self.len;
        let mut head = vec![0; HEAD.min(usize::try_from(len).unwrap_or(HEAD))];
        self.read_at(0, &mut head)?;
        let read = move || {
            let mut bytes = vec![0; usize::try_from(len).unwrap_or_default()];
            self.read_at(0, &mut bytes)?;
            Ok(bytes)
        };
        load(budget, len, head, read).await
    }
}

impl Kept for Spooled {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, at, into)
    }
}

/// Fills `into` from a place in a file, whatever else reads there.
#[cfg(unix)]
pub fn read_exact_at(file: &File, at: u64, into: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

/// Fills `into` from a place in a file, whatever else reads there.
#[cfg(windows)]
pub fn read_exact_at(file: &File, mut at: u64, mut into: &mut [u8]) -> io::Result<()> {
    while !into.is_empty() {
        let read = std::os::windows::fs::FileExt::seek_read(file, into, at)?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        at += read as u64;
        into = &mut into[read..];
    }
    Ok(())
}

/// A message with nothing beside it: the skeleton of a large answer is filled. It waits here for
/// room, and is refused if there is none in time.
pub async fn whole(frame: Frame) -> Result<Frame, TransportError> {
    let Some(aside) = frame.aside().cloned() else { return Ok(frame) };
    let skeleton = frame.bytes().clone();
    let head = skeleton[..HEAD.min(skeleton.len())].to_vec();
    let refill = Refill::of(skeleton, aside);
    let bytes = load(&ANSWERS, refill.len(), head, move || refill.to_vec()).await?;
    Frame::parse(bytes, &toolgate_wire::Limits::WIDEST)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error).into())
}

/// Brings something large into memory, once the budget has room for it.
async fn load(
    budget: &'static Semaphore,
    len: u64,
    head: Vec<u8>,
    read: impl FnOnce() -> io::Result<Vec<u8>> + Send + 'static,
) -> Result<Bytes, TransportError> {
    let units = u32::try_from(len.div_ceil(UNIT)).map_or(LARGEST, |units| units.min(LARGEST));
    let Ok(permit) = timeout(PATIENCE, budget.acquire_many(units)).await else {
        let waited = PATIENCE.as_secs();
        let reason = format!("other large messages filled the memory for them for {waited} s");
        return Err(TransportError::Unkept { reason, head });
    };
    let permit = permit.map_err(|_| TransportError::Closed)?;
    let bytes = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
    Ok(Bytes::from_owner(Loaded { bytes, _permit: permit }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: BodyLimits = BodyLimits { memory: 10, total: 100 };

    #[tokio::test]
    async fn a_small_body_never_touches_a_file() {
        let mut spool = Spool::new(SMALL);
        spool.push(b"0123456789").unwrap();
        assert!(spool.file.is_none());
        assert_eq!(spool.finish().await.unwrap(), "0123456789");
    }

    #[tokio::test]
    async fn a_large_body_comes_back_whole_and_frees_its_permit() {
        for _ in 0..3 {
            let mut spool = Spool::new(SMALL);
            for _ in 0..10 {
                spool.push(b"abcdefg").unwrap();
            }
            assert!(spool.file.is_some());
            let body = spool.finish().await.unwrap();
            assert_eq!(body, "abcdefg".repeat(10));
        }
    }

    fn spooled(megabytes: usize) -> Spool {
        let mut spool = Spool::new(BodyLimits::default());
        (0..megabytes).for_each(|_| spool.push(&vec![b' '; 1 << 20]).unwrap());
        spool
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_that_finds_no_room_is_refused_with_its_head() {
        let held = [spooled(64).finish().await.unwrap(), spooled(60).finish().await.unwrap()];
        let refused = spooled(9).finish().await.unwrap_err();
        let TransportError::Unkept { reason, head } = refused else { panic!("{refused}") };
        assert_eq!((reason.contains("other large messages"), head.len()), (true, HEAD));
        // What servers send has room of its own.
        let Body::File(message) = spooled(64).body() else { panic!("it is large") };
        assert_eq!(message.whole().await.unwrap().len(), 64 << 20);
        drop(held);
        assert_eq!(spooled(9).finish().await.unwrap().len(), 9 << 20);
    }

    #[tokio::test]
    async fn a_large_body_is_read_where_it_lies() {
        let mut spool = Spool::expecting(50, SMALL);
        spool.push(&[b'a'; 20]).unwrap();
        spool.push(b"middle").unwrap();
        spool.push(&[b'z'; 24]).unwrap();
        let Body::File(spooled) = spool.body() else { panic!("it is large") };
        let mut part = [0; 8];
        spooled.read_at(19, &mut part).unwrap();
        assert_eq!((&part, spooled.len()), (b"amiddlez", 50));
        assert!(spooled.read_at(45, &mut part).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_body_the_disk_has_no_room_for_is_refused_with_its_head() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut spool = Spool { file: Some(full), ..Spool::new(SMALL) };
        spool.push(b"{\"id\":7").unwrap();
        let refused = spool.push(b",\"result\":").unwrap_err();
        let TransportError::Unkept { head, .. } = refused else { panic!("{refused}") };
        assert_eq!(head, b"{\"id\":7");
    }

    #[tokio::test]
    async fn an_oversize_body_is_refused_with_its_head() {
        for first in [&b"{\"id\":7,\"result\":"[..], b"{\"id\":7"] {
            let mut spool = Spool::new(SMALL);
            spool.push(first).unwrap();
            let refused = spool.push(&[b'x'; 100]).unwrap_err();
            let TransportError::Oversize { limit: 100, head } = refused else {
                panic!("{refused}")
            };
            assert!(head.starts_with(b"{\"id\":7"));
        }
    }
}
