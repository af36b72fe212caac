//! Unix: a socket file that only its owner can use.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

use super::{ListenLock, local_error};
use crate::TransportError;
use crate::peer::PeerProcess;

/// The read half of a connection.
pub type LocalReader = OwnedReadHalf;
/// The write half of a connection. Dropping it signals the end of input to the other side.
pub type LocalWriter = OwnedWriteHalf;

/// A listener for connections of the same user. Dropping it removes the socket file.
#[derive(Debug)]
pub struct LocalListener {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

impl LocalListener {
    /// Listens at `path` and replaces an existing file. Because the caller holds the lock, such a
    /// file was left by a process that no longer runs.
    pub fn bind(path: &Path, _held: &ListenLock) -> Result<Self, TransportError> {
        let bound = remove_leftover(path).and_then(|()| {
            let listener = UnixListener::bind(path)?;
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            let owner = fs::metadata(path)?.uid();
            Ok(Self { listener, path: path.to_owned(), owner })
        });
        bound.map_err(local_error(path))
    }

    /// Accepts the next connection of the same user. Another user can connect between binding the
    /// socket and restricting its permissions, so this checks the user id of every peer. The peer
    /// is `None` if its process is unknown.
    pub async fn accept(
        &self,
    ) -> Result<(LocalReader, LocalWriter, Option<PeerProcess>), TransportError> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let credentials = stream.peer_cred()?;
            if credentials.uid() == self.owner {
                let peer = PeerProcess::from_credentials(&credentials);
                let (reader, writer) = stream.into_split();
                return Ok((reader, writer, peer));
            }
            tracing::warn!(
                target: "toolgate::transport", socket = %self.path.display(),
                "refused a connection from another user"
            );
        }
    }
}

impl Drop for LocalListener {
    fn drop(&mut self) {
        // If this fails, the next holder of the lock removes the file.
        let _ = fs::remove_file(&self.path);
    }
}

fn remove_leftover(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Connects to the process that listens at `path`.
pub async fn connect(path: &Path) -> Result<(LocalReader, LocalWriter), TransportError> {
    let stream = UnixStream::connect(path).await.map_err(local_error(path))?;
    Ok(stream.into_split())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    fn held(folder: &Path) -> ListenLock {
        ListenLock::try_acquire(&folder.join("lock")).unwrap().unwrap()
    }

    #[tokio::test]
    async fn both_sides_talk_until_one_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = LocalListener::bind(&path, &held(folder.path())).unwrap();
        let (mut reader, mut writer) = connect(&path).await.unwrap();
        let (mut heard, mut said, peer) = listener.accept().await.unwrap();
        assert_eq!(peer, PeerProcess::current());
        writer.write_all(b"question").await.unwrap();
        drop(writer);
        let mut question = String::new();
        heard.read_to_string(&mut question).await.unwrap();
        assert_eq!(question, "question");
        said.write_all(b"answer").await.unwrap();
        drop(said);
        let mut answer = String::new();
        reader.read_to_string(&mut answer).await.unwrap();
        assert_eq!(answer, "answer");
    }

    #[tokio::test]
    async fn the_file_is_for_its_user_alone_replaces_a_leftover_and_goes_with_its_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        let refused = connect(&path).await.unwrap_err();
        assert!(refused.to_string().contains("socket: Connection refused"), "{refused}");
        let listener = LocalListener::bind(&path, &held(folder.path())).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(listener);
        assert!(!path.exists());
    }
}
