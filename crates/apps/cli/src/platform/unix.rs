//! Unix: a socket file for the owner's user alone, and SIGINT and SIGTERM.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::signal::unix::{Signal, SignalKind, signal};

/// The reading side of a connection.
pub type Reader = OwnedReadHalf;
/// The writing side; dropping it tells the other side that no more comes.
pub type Writer = OwnedWriteHalf;

/// Where connections of the same user arrive. The file goes when it is dropped.
#[derive(Debug)]
pub struct Listener {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

impl Listener {
    /// Listens at `path`. Whoever holds the home's lock calls this, so a file that lies there is
    /// what a dead owner left behind.
    pub fn bind(path: &Path) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(path)?;
        fs::set_permissions(path, Permissions::from_mode(0o600))?;
        let owner = fs::metadata(path)?.uid();
        Ok(Self { listener, path: path.to_owned(), owner })
    }

    /// The next connection. Between binding and closing the file to others somebody might have
    /// slipped in, so each peer is asked who he is.
    pub async fn accept(&self) -> io::Result<(Reader, Writer)> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            if stream.peer_cred()?.uid() == self.owner {
                return Ok(stream.into_split());
            }
            tracing::warn!(target: "toolgate::gateway", "another user tried the control socket");
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        // What stays behind is removed by the next owner.
        let _ = fs::remove_file(&self.path);
    }
}

/// Connects to whoever listens at `path`.
pub async fn connect(path: &Path) -> io::Result<(Reader, Writer)> {
    Ok(UnixStream::connect(path).await?.into_split())
}

/// The signals that ask us to end.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
}

impl Signals {
    /// From now on they come here, instead of ending the process.
    pub fn new() -> io::Result<Self> {
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
