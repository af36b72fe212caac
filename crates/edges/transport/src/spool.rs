//! A body that grows: in memory while it is small, then in a file, then refused.
//!
//! Large bodies arrive slowly and from many sides at once; holding them all in memory is how a
//! gateway dies. A body beyond the memory limit waits in an unnamed file, and comes back into
//! memory only when it is complete and the one permit for large bodies is free. The permit goes
//! back when the last reference to the bytes is dropped.

use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, LazyLock};

use bytes::{Bytes, BytesMut};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::TransportError;

/// How large a body may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BodyLimits {
    /// Up to here it stays in memory.
    pub memory: usize,
    /// Beyond this it is refused.
    pub total: usize,
}

impl Default for BodyLimits {
    fn default() -> Self {
        Self { memory: 8 << 20, total: 64 << 20 }
    }
}

/// How much of a refused body is kept, so that its id can still be found.
const HEAD: usize = 4096;

/// One large body in memory at a time, in the whole process.
static LARGE: LazyLock<Arc<Semaphore>> = LazyLock::new(|| Arc::new(Semaphore::new(1)));

/// A body being received.
#[derive(Debug)]
pub struct Spool {
    limits: BodyLimits,
    memory: BytesMut,
    file: Option<std::fs::File>,
    len: usize,
}

/// A large body, back in memory, with its permit.
struct Loaded {
    bytes: Vec<u8>,
    _permit: OwnedSemaphorePermit,
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

    /// An empty body that is said to become this long: room for it is made at once, as far as it
    /// stays in memory.
    pub fn expecting(length: u64, limits: BodyLimits) -> Self {
        let room = usize::try_from(length).unwrap_or(usize::MAX).min(limits.memory);
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
        if let Some(file) = &mut self.file {
            return Ok(file.write_all(chunk)?);
        }
        self.memory.extend_from_slice(chunk);
        if self.memory.len() > self.limits.memory {
            let mut file = tempfile::tempfile()?;
            file.write_all(&self.memory)?;
            self.memory = BytesMut::from(&self.memory[..HEAD.min(self.memory.len())]);
            self.file = Some(file);
        }
        Ok(())
    }

    fn oversize(&self, chunk: &[u8]) -> TransportError {
        let head = if self.memory.is_empty() { chunk } else { &self.memory };
        let head = head[..HEAD.min(head.len())].to_vec();
        TransportError::Oversize { limit: self.limits.total, head }
    }

    /// The whole body. A large one waits here until the one before it is done with.
    pub async fn finish(self) -> Result<Bytes, TransportError> {
        let Some(mut file) = self.file else { return Ok(self.memory.freeze()) };
        let permit = LARGE.clone().acquire_owned().await.map_err(|_| TransportError::Closed)?;
        file.seek(SeekFrom::Start(0))?;
        let mut bytes = Vec::with_capacity(self.len);
        file.read_to_end(&mut bytes)?;
        Ok(Bytes::from_owner(Loaded { bytes, _permit: permit }))
    }
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

    #[tokio::test]
    async fn an_oversize_body_is_refused_with_its_head() {
        let mut spool = Spool::new(SMALL);
        spool.push(b"{\"id\":7,\"result\":").unwrap();
        let refused = spool.push(&[b'x'; 100]).unwrap_err();
        let TransportError::Oversize { limit: 100, head } = refused else { panic!("{refused}") };
        assert!(head.starts_with(b"{\"id\":7"));
    }
}
