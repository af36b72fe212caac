//! Who may listen: one process at a time.

use std::fs::{File, TryLockError};
use std::path::Path;

use super::failed;
use crate::TransportError;

/// The right to listen, for as long as this lives.
#[derive(Debug)]
pub struct Lock(#[expect(dead_code, reason = "the open file is the lock")] File);

impl Lock {
    /// Takes the lock kept in the file at `path`; `None` while another process has it.
    pub fn take(path: &Path) -> Result<Option<Self>, TransportError> {
        let file = File::options().create(true).write(true).truncate(false).open(path);
        let file = file.map_err(failed(path))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(path)(error)),
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
        let held = Lock::take(&path).unwrap();
        assert!(held.is_some());
        assert!(Lock::take(&path).unwrap().is_none());
        drop(held);
        assert!(Lock::take(&path).unwrap().is_some());
    }
}
