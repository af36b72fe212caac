//! The lock that lets one process at a time listen on the local socket.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::local_error;
use crate::TransportError;

/// The right to listen on the local socket. Dropping it releases the lock.
#[derive(Debug)]
pub struct ListenLock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl ListenLock {
    /// Locks the file at `path`. Returns `None` while another process holds the lock.
    pub fn try_acquire(path: &Path) -> Result<Option<Self>, TransportError> {
        let file = File::options().create(true).write(true).truncate(false).open(path);
        let file = file.map_err(local_error(path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(local_error(path)(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_has_one_holder_and_is_free_after_him() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = ListenLock::try_acquire(&path).unwrap();
        assert!(held.is_some());
        assert!(ListenLock::try_acquire(&path).unwrap().is_none());
        drop(held);
        assert!(ListenLock::try_acquire(&path).unwrap().is_some());
    }
}
