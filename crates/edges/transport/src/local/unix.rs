//! Unix: a socket file for the owner's user alone.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};

use super::{Lock, failed};
use crate::TransportError;
use crate::peer::PeerProcess;

/// The reading side of a connection.
pub type Reader = OwnedReadHalf;
/// The writing side; dropping it tells the other side that no more comes.
pub type Writer = OwnedWriteHalf;

/// Where connections of the same user arrive. The file goes when this is dropped.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

impl Listener {
    /// Listens at `path`. Whoever has the lock may: a file that lies there is what a dead holder
    /// left behind.
    pub fn bind(path: &Path, _held: &Lock) -> Result<Self, TransportError> {
        let bound = remove_leftover(path).and_then(|()| {
            let listener = UnixListener::bind(path)?;
            fs::set_permissions(path, Permissions::from_mode(0o600))?;
            let owner = fs::metadata(path)?.uid();
            Ok(Self { listener, path: path.to_owned(), owner })
        });
        bound.map_err(failed(path))
    }

    /// The next connection. Between binding and closing the file to others somebody might have
    /// slipped in, so each peer is asked who it is. `None` where nobody can tell its process.
    pub async fn accept(&self) -> Result<(Reader, Writer, Option<PeerProcess>), TransportError> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let credentials = stream.peer_cred()?;
            if credentials.uid() == self.owner {
                let peer = PeerProcess::of_credentials(&credentials);
                let (reader, writer) = stream.into_split();
                return Ok((reader, writer, peer));
            }
            tracing::warn!(
                target: "toolgate::transport", socket = %self.path.display(),
                "refused a connection of another user"
            );
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // What stays behind is removed by the next holder of the lock.
        let _ = fs::remove_file(&self.path);
    }
}

fn remove_leftover(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Connects to whoever listens at `path`.
pub async fn connect(path: &Path) -> Result<(Reader, Writer), TransportError> {
    let stream = UnixStream::connect(path).await.map_err(failed(path))?;
    Ok(stream.into_split())
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    fn held(folder: &Path) -> Lock {
        Lock::take(&folder.join("lock")).unwrap().unwrap()
    }

    #[tokio::test]
    async fn both_sides_talk_until_one_leaves() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = Listener::bind(&path, &held(folder.path())).unwrap();
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
        let listener = Listener::bind(&path, &held(folder.path())).unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(listener);
        assert!(!path.exists());
    }
}
