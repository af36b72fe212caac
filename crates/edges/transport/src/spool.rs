//! Receives a body: in memory while it is small, then in a file, and refused beyond a limit.
//!
//! Large bodies arrive slowly and on many connections at once, and would exhaust memory. A body
//! beyond the memory limit goes into an unnamed file ([`BodyFile`]), which disappears with its last
//! user even after a crash. Code that needs the whole body in memory reserves its length from a
//! budget until the last reference to the bytes is dropped. Requests, server messages and answers
//! have separate budgets: a call holds its request while its answer is read, so a shared budget
//! could deadlock.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::timeout;
use toolgate_wire::Frame;
use toolgate_wire::large::LargeResponseReader;

use crate::TransportError;
use crate::chunked_message::ChunkedMessage;

/// The size limits of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// A body of at most this many bytes stays in memory.
    pub memory: usize,
    /// A body of more than this many bytes is refused.
    pub total: usize,
}

impl BodyLimits {
    /// The limits for answers of servers. The memory limit is low, because answers can be read from
    /// their file and many servers answer at once.
    pub const ANSWER: Self = Self { memory: 2 << 20, total: 64 << 20 };
    /// The limits for pipes inside this process. The data is in memory already, and its sender
    /// holds the budget for it.
    pub const INTERNAL: Self = Self { memory: 64 << 20, total: 64 << 20 };
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { memory: 8 << 20, total: 64 << 20 }
    }
}

/// How many bytes of a refused body are kept, so that its request id can still be found.
const HEAD: usize = 4096;

/// The size of one budget unit.
const UNIT: u64 = 1 << 20;
/// The maximum number of units for one body. An edit can make a body slightly longer than the
/// limit.
const LARGEST: u32 = 64;
/// How long a body waits for room in memory.
const PATIENCE: Duration = Duration::from_secs(30);

/// The budget for requests of callers in the whole process. A call holds its request until it
/// ends, so there is room for two of the largest.
static REQUESTS: Semaphore = Semaphore::const_new(128);
/// The budget for messages that servers send on their own. A question is held until it is answered.
static SERVER_MESSAGES: Semaphore = Semaphore::const_new(64);
/// The budget for answers that must be whole. Most answers are only scanned or rewritten.
static ANSWERS: Semaphore = Semaphore::const_new(64);

/// A body that is being received.
#[derive(Debug)]
pub struct BodySpool {
    limits: BodyLimits,
    memory: BytesMut,
    file: Option<File>,
    len: usize,
}

/// A body that has been received.
#[derive(Debug, Clone)]
pub enum ReceivedBody {
    /// A small body in memory.
    Memory(Bytes),
    /// A large body in a file.
    File(BodyFile),
}

/// A large body in an unnamed file.
#[derive(Debug, Clone)]
pub struct BodyFile {
    file: Arc<File>,
    len: u64,
}

/// A large body loaded into memory, with its budget permit.
struct LoadedBody {
    bytes: Vec<u8>,
    _permit: SemaphorePermit<'static>,
}

impl AsRef<[u8]> for LoadedBody {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl BodySpool {
    /// Creates an empty body.
    pub fn new(limits: BodyLimits) -> Self {
        Self { limits, memory: BytesMut::new(), file: None, len: 0 }
    }

    /// Creates an empty body of an announced length. If that length fits in memory, this allocates
    /// it at once.
    pub fn with_expected_length(length: u64, limits: BodyLimits) -> Self {
        let room = usize::try_from(length).unwrap_or(usize::MAX);
        let room = if room > limits.memory { 0 } else { room };
        Self { memory: BytesMut::with_capacity(room), ..Self::new(limits) }
    }

    /// Returns the number of bytes received so far.
    pub fn received(&self) -> usize {
        self.len
    }

    /// Appends a chunk of the body.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), TransportError> {
        if self.len + chunk.len() > self.limits.total {
            let (limit, head) = (self.limits.total, self.head(chunk));
            return Err(TransportError::Oversize { limit, head });
        }
        self.len += chunk.len();
        if self.len <= self.limits.memory {
            self.memory.extend_from_slice(chunk);
            return Ok(());
        }
        self.write(chunk).map_err(|error| {
            let (reason, head) = (error.to_string(), self.head(chunk));
            TransportError::NoRoom { reason, head }
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

    /// Moves the bytes in memory to a file. Only the head of the body stays in memory.
    fn spill(&mut self, next: &[u8]) -> io::Result<File> {
        let mut file = tempfile::tempfile()?;
        file.write_all(&self.memory)?;
        let mut head = BytesMut::from(&self.memory[..HEAD.min(self.memory.len())]);
        head.extend_from_slice(&next[..next.len().min(HEAD - head.len())]);
        self.memory = head;
        Ok(file)
    }

    /// Returns the first bytes of a body that is refused at this chunk.
    fn head(&self, chunk: &[u8]) -> Vec<u8> {
        let head = if self.memory.is_empty() { chunk } else { &self.memory };
        head[..HEAD.min(head.len())].to_vec()
    }

    /// Returns the received body, in memory or in its file.
    pub fn into_body(self) -> ReceivedBody {
        match self.file {
            None => ReceivedBody::Memory(self.memory.freeze()),
            Some(file) => {
                ReceivedBody::File(BodyFile { file: Arc::new(file), len: self.len as u64 })
            }
        }
    }
}

impl ReceivedBody {
    /// Returns true if the body is empty.
    pub fn is_empty(&self) -> bool {
        matches!(self, Self::Memory(bytes) if bytes.is_empty())
    }

    /// Loads a caller's message into memory. A large one waits for room in the budget, and is
    /// refused if it gets none in time.
    pub async fn into_bytes(self) -> Result<Bytes, TransportError> {
        match self {
            Self::Memory(bytes) => Ok(bytes),
            Self::File(spooled) => spooled.load_within(&REQUESTS).await,
        }
    }
}

impl BodyFile {
    /// Returns the number of bytes in the file.
    pub fn size(&self) -> u64 {
        self.len
    }

    /// Loads a server's message into memory. It waits for room in the budget, and is refused if it
    /// gets none in time.
    pub async fn into_bytes(self) -> Result<Bytes, TransportError> {
        self.load_within(&SERVER_MESSAGES).await
    }

    async fn load_within(self, budget: &'static Semaphore) -> Result<Bytes, TransportError> {
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

impl LargeResponseReader for BodyFile {
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        read_exact_at(&self.file, at, into)
    }
}

/// Fills `into` from offset `at` of a file, without using the file's cursor.
#[cfg(unix)]
pub fn read_exact_at(file: &File, at: u64, into: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, at)
}

/// Fills `into` from offset `at` of a file, independent of other reads.
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

/// Returns the message with all its values in memory: puts the detached values of a large answer
/// back into its skeleton. A large answer waits for room in the budget, and is refused if it gets
/// none in time.
pub async fn load_frame(frame: Frame) -> Result<Frame, TransportError> {
    let Some(detached) = frame.detached_values().cloned() else { return Ok(frame) };
    let skeleton = frame.bytes().clone();
    let head = skeleton[..HEAD.min(skeleton.len())].to_vec();
    let message = ChunkedMessage::from_skeleton(skeleton, detached);
    let bytes = load(&ANSWERS, message.total_len(), head, move || message.to_vec()).await?;
    Frame::parse(bytes, &toolgate_wire::MessageLimits::MAX)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error).into())
}

/// Loads a large message into memory as soon as the budget has room for it.
async fn load(
    budget: &'static Semaphore,
    len: u64,
    head: Vec<u8>,
    read: impl FnOnce() -> io::Result<Vec<u8>> + Send + 'static,
) -> Result<Bytes, TransportError> {
    let units = u32::try_from(len.div_ceil(UNIT)).map_or(LARGEST, |units| units.min(LARGEST));
    let Ok(permit) = timeout(PATIENCE, budget.acquire_many(units)).await else {
        let waited = PATIENCE.as_secs();
        let reason = format!("other large messages used up the memory budget for {waited} s");
        return Err(TransportError::NoRoom { reason, head });
    };
    let permit = permit.map_err(|_| TransportError::Closed)?;
    let bytes = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
    Ok(Bytes::from_owner(LoadedBody { bytes, _permit: permit }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: BodyLimits = BodyLimits { memory: 10, total: 100 };

    #[tokio::test]
    async fn a_small_body_never_touches_a_file() {
        let mut spool = BodySpool::new(SMALL);
        spool.push(b"0123456789").unwrap();
        assert!(spool.file.is_none());
        assert_eq!(spool.into_body().into_bytes().await.unwrap(), "0123456789");
    }

    #[tokio::test]
    async fn a_large_body_comes_back_whole_and_frees_its_permit() {
        for _ in 0..3 {
            let mut spool = BodySpool::new(SMALL);
            for _ in 0..10 {
                spool.push(b"abcdefg").unwrap();
            }
            assert!(spool.file.is_some());
            let body = spool.into_body().into_bytes().await.unwrap();
            assert_eq!(body, "abcdefg".repeat(10));
        }
    }

    fn spooled(megabytes: usize) -> BodySpool {
        let mut spool = BodySpool::new(BodyLimits::default());
        (0..megabytes).for_each(|_| spool.push(&vec![b' '; 1 << 20]).unwrap());
        spool
    }

    #[tokio::test(start_paused = true)]
    async fn a_large_body_that_finds_no_room_is_refused_with_its_head() {
        let held = [
            spooled(64).into_body().into_bytes().await.unwrap(),
            spooled(60).into_body().into_bytes().await.unwrap(),
        ];
        let refused = spooled(9).into_body().into_bytes().await.unwrap_err();
        let TransportError::NoRoom { reason, head } = refused else { panic!("{refused}") };
        assert_eq!((reason.contains("other large messages"), head.len()), (true, HEAD));
        // What servers send has room of its own.
        let ReceivedBody::File(message) = spooled(64).into_body() else { panic!("it is large") };
        assert_eq!(message.into_bytes().await.unwrap().len(), 64 << 20);
        drop(held);
        assert_eq!(spooled(9).into_body().into_bytes().await.unwrap().len(), 9 << 20);
    }

    #[tokio::test]
    async fn a_large_body_is_read_where_it_lies() {
        let mut spool = BodySpool::with_expected_length(50, SMALL);
        spool.push(&[b'a'; 20]).unwrap();
        spool.push(b"middle").unwrap();
        spool.push(&[b'z'; 24]).unwrap();
        let ReceivedBody::File(spooled) = spool.into_body() else { panic!("it is large") };
        let mut part = [0; 8];
        spooled.read_at(19, &mut part).unwrap();
        assert_eq!((&part, spooled.size()), (b"amiddlez", 50));
        assert!(spooled.read_at(45, &mut part).is_err());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_body_the_disk_has_no_room_for_is_refused_with_its_head() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let mut spool = BodySpool { file: Some(full), ..BodySpool::new(SMALL) };
        spool.push(b"{\"id\":7").unwrap();
        let refused = spool.push(b",\"result\":").unwrap_err();
        let TransportError::NoRoom { head, .. } = refused else { panic!("{refused}") };
        assert_eq!(head, b"{\"id\":7");
    }

    #[tokio::test]
    async fn an_oversize_body_is_refused_with_its_head() {
        for first in [&b"{\"id\":7,\"result\":"[..], b"{\"id\":7"] {
            let mut spool = BodySpool::new(SMALL);
            spool.push(first).unwrap();
            let refused = spool.push(&[b'x'; 100]).unwrap_err();
            let TransportError::Oversize { limit: 100, head } = refused else {
                panic!("{refused}")
            };
            assert!(head.starts_with(b"{\"id\":7"));
        }
    }
}
