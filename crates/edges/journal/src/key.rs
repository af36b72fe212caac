//! The keys of the checkpoints: Ed25519, in the text format of signed notes (C2SP), so that other
//! tools can read them.
//!
//! A process that can read the private key can sign a forged history. The signatures are a proof
//! only for people who keep the public key, or checkpoints, where the writer's machine cannot
//! change them.

use std::io::{self, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use crate::layout::JournalPaths;
use crate::private_files::sync_folder;

/// The name of the key in signatures.
const NAME: &str = "toolgate-journal";
/// The signature type of signed notes.
const KIND: u8 = 1;
const PRIVATE: &str = "PRIVATE+KEY+";
/// The prefix of a signature line.
const DASH: &str = "\u{2014} ";

/// The private key that signs checkpoints.
#[derive(Debug)]
pub(crate) struct CheckpointSigner {
    pair: Ed25519KeyPair,
    id: [u8; 4],
}

impl CheckpointSigner {
    /// Reads the key, or creates one if there is none. Writes the public key to its own file.
    pub(crate) fn load_or_create(places: &JournalPaths) -> io::Result<Self> {
        let text = match std::fs::read_to_string(&places.key) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::create_key(&places.key)?,
            read => read?,
        };
        let signer = Self::parse(&text).ok_or_else(|| {
            let what = format!("{} does not contain a journal key", places.key.display());
            io::Error::new(io::ErrorKind::InvalidData, what)
        })?;
        if !places.public_key.exists() {
            write_if_missing(&places.public_key, &format!("{}\n", signer.public_key_text()))?;
        }
        Ok(signer)
    }

    /// Creates a key. If another process creates one at the same time, returns that one.
    fn create_key(path: &Path) -> io::Result<String> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(io::Error::other)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed)
            .map_err(|error| io::Error::other(error.to_string()))?;
        let id = key_id(pair.public_key().as_ref());
        let seed = STANDARD.encode([&[KIND], seed.as_slice()].concat());
        let text = format!("{PRIVATE}{NAME}+{}+{seed}\n", format_key_id(id));
        write_if_missing(path, &text)?;
        std::fs::read_to_string(path)
    }

    fn parse(text: &str) -> Option<Self> {
        let (name, stated, key) = parse_key_parts(text.trim_end().strip_prefix(PRIVATE)?)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&key).ok()?;
        let id = key_id(pair.public_key().as_ref());
        (name == NAME && stated == format_key_id(id)).then_some(Self { pair, id })
    }

    /// Returns the key that verifies its signatures.
    pub(crate) fn public_key(&self) -> JournalPublicKey {
        JournalPublicKey { key: self.pair.public_key().as_ref().to_vec(), id: self.id }
    }

    /// Returns the public key as text.
    fn public_key_text(&self) -> String {
        let key = [&[KIND], self.pair.public_key().as_ref()].concat();
        format!("{NAME}+{}+{}", format_key_id(self.id), STANDARD.encode(key))
    }

    /// Returns the signature line for a text.
    pub(crate) fn sign(&self, text: &str) -> String {
        let signature = self.pair.sign(text.as_bytes());
        let signed = STANDARD.encode([&self.id, signature.as_ref()].concat());
        format!("{DASH}{NAME} {signed}\n")
    }
}

/// The public key that verifies checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JournalPublicKey {
    key: Vec<u8>,
    id: [u8; 4],
}

impl JournalPublicKey {
    /// Parses a verifier key of signed notes.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, stated, key) = parse_key_parts(text.trim_end())?;
        let id = key_id(&key);
        (name == NAME && stated == format_key_id(id)).then_some(Self { key, id })
    }

    /// Returns true if this line is a valid signature of this text.
    pub(crate) fn verifies(&self, text: &str, line: &str) -> bool {
        let signature = || {
            let signed = line.strip_prefix(DASH)?.strip_prefix(NAME)?.strip_prefix(' ')?;
            let signed = STANDARD.decode(signed).ok()?;
            signed.strip_prefix(&self.id).map(<[u8]>::to_vec)
        };
        let key = UnparsedPublicKey::new(&ED25519, &self.key);
        signature().is_some_and(|signature| key.verify(text.as_bytes(), &signature).is_ok())
    }
}

/// Splits the text of a key into its name, id and bytes.
fn parse_key_parts(text: &str) -> Option<(&str, &str, Vec<u8>)> {
    let (name, rest) = text.split_once('+')?;
    let (id, key) = rest.split_once('+')?;
    let key = STANDARD.decode(key).ok()?;
    let key = key.strip_prefix(&[KIND]).filter(|key| key.len() == 32)?.to_vec();
    Some((name, id, key))
}

/// Returns the id of a public key.
fn key_id(public: &[u8]) -> [u8; 4] {
    let hash = digest(&SHA256, &[NAME.as_bytes(), b"\n", &[KIND], public].concat());
    let mut id = [0; 4];
    id.copy_from_slice(&hash.as_ref()[..4]);
    id
}

fn format_key_id(id: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

/// Atomically creates a file that only the user can read, unless it exists.
fn write_if_missing(path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {}
        other => _ = other.map_err(|error| error.error)?,
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_made_once_and_proves_what_it_signed() {
        let folder = tempfile::tempdir().unwrap();
        let places = JournalPaths::for_folder(folder.path().join("journal"));
        let signer = CheckpointSigner::load_or_create(&places).unwrap();
        let again = CheckpointSigner::load_or_create(&places).unwrap();
        assert_eq!(signer.public_key_text(), again.public_key_text());
        let public = std::fs::read_to_string(&places.public_key).unwrap();
        let public = JournalPublicKey::parse(&public).unwrap();
        let line = again.sign("text\n");
        assert!(public.verifies("text\n", line.trim_end()));
        assert!(!public.verifies("texT\n", line.trim_end()));
        for at in 0..line.trim_end().len() {
            let mut bytes = line.trim_end().as_bytes().to_vec();
            bytes[at] ^= 1;
            let changed = String::from_utf8_lossy(&bytes);
            assert!(!public.verifies("text\n", &changed), "byte {at}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&places.key).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let places = JournalPaths::for_folder(folder.path().join("journal"));
        std::fs::write(&places.key, "rubbish").unwrap();
        assert!(CheckpointSigner::load_or_create(&places).is_err());
        for wrong in ["", "a+b+c", "toolgate-journal+00000000+AQ=="] {
            assert_eq!(JournalPublicKey::parse(wrong), None);
        }
    }
}
