//! A small library, such as a team might have.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tempfile::TempDir;
use toolgate_context::{
    DocumentOrigin, DocumentTrust, IngestPermissions, Library, LibraryHandle, Names, NewDocument,
    SourceStamp,
};
use toolgate_context::{gateway_server, tools_server};
use toolgate_host::local::InProcessServer;
use toolgate_model::Digest;
use toolgate_reading::{DocumentFormat, read};

use crate::peer::{Model, Peer};

pub const KEYS: &str = "\
# Signing keys

What everybody needs to know about the keys that sign our releases.

## Rotation

The signing keys are rotated every 90 days by the platform team. A rotation takes about ten minutes
and needs two people, one of whom holds the hardware token. The last rotation was on 2026-09-14.

## Storage

The private half lives in the vault in Lisbon, and a sealed copy is kept by the auditors. Nobody has
ever been allowed to copy a key to a laptop.
";

pub const MINUTES: &str = "\
# Platform meeting, 2026-10-05

Attendees: Ada Lind, Boris Kranz, Chen Wei

## Release train

We decided to ship every second Tuesday because the testers need two full days. Chen asked for a
freeze of one day before each release.

Decision: the gateway moves to the new cluster on 2026-11-01, because the old one loses support.

## Actions

- [ ] Boris: write the migration plan by 2026-10-12
- [ ] Ada to order two hardware tokens until Friday
- [x] Chen: book the room

Open question: who tells the customers about the new address?
";

pub const LUNCH: &str = "\
# Where to eat

The noodle shop on Harbour Street is open until nine. The bakery sells soup at noon, and on Fridays
there is fish. Boris will bring the list of allergies next week.
";

pub const COPY: &str = "\
# Keys, once more

The signing keys are rotated every 90 days by the platform team. A rotation takes about ten minutes
and needs two people, one of whom holds the hardware token. The last rotation was on 2026-09-14.
";

/// A library in a temporary folder.
pub struct Room {
    pub folder: Arc<TempDir>,
}

impl Room {
    /// Without any document, and without the file.
    pub fn empty() -> Self {
        Self { folder: Arc::new(TempDir::new().unwrap()) }
    }

    /// With the documents above, none of them trusted but the minutes.
    pub async fn furnished() -> Self {
        let room = Self::empty();
        room.keep("/notes/keys.md", KEYS, DocumentTrust::Untrusted).await;
        room.keep("/notes/minutes.md", MINUTES, DocumentTrust::Trusted).await;
        room.keep("/notes/lunch.md", LUNCH, DocumentTrust::Untrusted).await;
        room.keep("/notes/old/keys.md", COPY, DocumentTrust::Untrusted).await;
        room
    }

    pub async fn keep(&self, key: &str, text: &str, trust: DocumentTrust) {
        let library = Library::open(self.file()).await.unwrap();
        let stamp = SourceStamp {
            digest: Digest::of(text.as_bytes()),
            bytes: text.len() as u64,
            modified: 1_790_000_000_000,
        };
        let document = read(
            DocumentFormat::Markdown,
            Path::new(key).file_name().unwrap().to_str().unwrap(),
            text,
        );
        let origin = DocumentOrigin::File { folder: "/notes".into() };
        let fresh = NewDocument { key: key.into(), origin, stamp, trust, document };
        library.keep(vec![fresh]).await.unwrap();
        library.close().await;
    }

    pub fn file(&self) -> PathBuf {
        self.folder.path().join("context.db")
    }

    pub fn shelf(&self) -> LibraryHandle {
        LibraryHandle::at(self.file())
    }

    pub fn tools(&self, names: Names) -> InProcessServer {
        tools_server(
            self.shelf(),
            names,
            IngestPermissions::new([self.folder.path().to_path_buf()], None),
        )
    }

    pub async fn peer(&self) -> Peer {
        self.peer_with(Model::None).await
    }

    pub async fn peer_with(&self, model: Model) -> Peer {
        self.known_to(Peer::meet(&self.tools(Names::Toolgate), model).await)
    }

    pub async fn gateway_peer(&self) -> Peer {
        self.known_to(Peer::meet(&gateway_server(self.shelf(), Names::Toolgate), Model::None).await)
    }

    /// The folder stays as long as somebody uses what lies in it.
    fn known_to(&self, mut peer: Peer) -> Peer {
        peer.room = Some(self.folder.clone());
        peer
    }
}
