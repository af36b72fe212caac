//! The keys of the checkpoints: Ed25519, in the text forms that signed notes (C2SP) use, so that
//! other tools can read them.
//!
//! Whoever can read the private key can sign another past. It proves something to people who keep
//! the public key, or checkpoints, where the writer's machine cannot change them.

use std::io::{self, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::digest::{SHA256, digest};
use ring::signature::{ED25519, Ed25519KeyPair, KeyPair as _, UnparsedPublicKey};

use super::layout::Places;
use crate::private::sync_folder;

/// Whose signatures they are.
const NAME: &str = "toolgate-journal";
/// The kind of signature, in the numbering of signed notes.
const KIND: u8 = 1;
const PRIVATE: &str = "PRIVATE+KEY+";
/// In front of a signature.
const DASH: &str = "\u{2014} ";

/// Signs.
#[derive(Debug)]
pub(super) struct Signer {
    pair: Ed25519KeyPair,
    id: [u8; 4],
}

impl Signer {
    /// Reads the key, or makes one if there is none. The public key is put beside it.
    pub(super) fn find(places: &Places) -> io::Result<Self> {
        let text = match std::fs::read_to_string(&places.key) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::make(&places.key)?,
            read => read?,
        };
        let signer = Self::parse(&text).ok_or_else(|| {
            let what = format!("{} holds no key of the journal", places.key.display());
            io::Error::new(io::ErrorKind::InvalidData, what)
        })?;
        if !places.public.exists() {
            keep(&places.public, &format!("{}\n", signer.public()))?;
        }
        Ok(signer)
    }

    /// Makes a key; if somebody else made one at the same time, that one counts.
    fn make(path: &Path) -> io::Result<String> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(io::Error::other)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&seed)
            .map_err(|error| io::Error::other(error.to_string()))?;
        let id = id(pair.public_key().as_ref());
        let seed = STANDARD.encode([&[KIND], seed.as_slice()].concat());
        let text = format!("{PRIVATE}{NAME}+{}+{seed}\n", hex(id));
        keep(path, &text)?;
        std::fs::read_to_string(path)
    }

    fn parse(text: &str) -> Option<Self> {
        let (name, stated, key) = parts(text.trim_end().strip_prefix(PRIVATE)?)?;
        let pair = Ed25519KeyPair::from_seed_unchecked(&key).ok()?;
        let id = id(pair.public_key().as_ref());
        (name == NAME && stated == hex(id)).then_some(Self { pair, id })
    }

    /// What proves its signatures.
    pub(super) fn prover(&self) -> PublicKey {
        PublicKey { key: self.pair.public_key().as_ref().to_vec(), id: self.id }
    }

    /// The public key.
    fn public(&self) -> String {
        let key = [&[KIND], self.pair.public_key().as_ref()].concat();
        format!("{NAME}+{}+{}", hex(self.id), STANDARD.encode(key))
    }

    /// The line that signs a text.
    pub(super) fn sign(&self, text: &str) -> String {
        let signature = self.pair.sign(text.as_bytes());
        let signed = STANDARD.encode([&self.id, signature.as_ref()].concat());
        format!("{DASH}{NAME} {signed}\n")
    }
}

/// The key that proves checkpoints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PublicKey {
    key: Vec<u8>,
    id: [u8; 4],
}

impl PublicKey {
    /// Reads a key in the form of a verifier key of signed notes.
    pub fn parse(text: &str) -> Option<Self> {
        let (name, stated, key) = parts(text.trim_end())?;
        let id = id(&key);
        (name == NAME && stated == hex(id)).then_some(Self { key, id })
    }

    /// Whether this line signs this text.
    pub(super) fn proves(&self, text: &str, line: &str) -> bool {
        let signature = || {
            let signed = line.strip_prefix(DASH)?.strip_prefix(NAME)?.strip_prefix(' ')?;
            let signed = STANDARD.decode(signed).ok()?;
            signed.strip_prefix(&self.id).map(<[u8]>::to_vec)
        };
        let key = UnparsedPublicKey::new(&ED25519, &self.key);
        signature().is_some_and(|signature| key.verify(text.as_bytes(), &signature).is_ok())
    }
}

/// Name, id and key of a key in text.
fn parts(text: &str) -> Option<(&str, &str, Vec<u8>)> {
    let (name, rest) = text.split_once('+')?;
    let (id, key) = rest.split_once('+')?;
    let key = STANDARD.decode(key).ok()?;
    let key = key.strip_prefix(&[KIND]).filter(|key| key.len() == 32)?.to_vec();
    Some((name, id, key))
}

/// What a public key is known by.
fn id(public: &[u8]) -> [u8; 4] {
    let hash = digest(&SHA256, &[NAME.as_bytes(), b"\n", &[KIND], public].concat());
    let mut id = [0; 4];
    id.copy_from_slice(&hash.as_ref()[..4]);
    id
}

fn hex(id: [u8; 4]) -> String {
    format!("{:08x}", u32::from_be_bytes(id))
}

/// Writes a file whole or not at all, for the user alone, unless there is one.
fn keep(path: &Path, text: &str) -> io::Result<()> {
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
        let places = Places::beside(folder.path().join("journal"));
        let signer = Signer::find(&places).unwrap();
        let again = Signer::find(&places).unwrap();
        assert_eq!(signer.public(), again.public());
        let public = std::fs::read_to_string(&places.public).unwrap();
        let public = PublicKey::parse(&public).unwrap();
        let line = again.sign("text\n");
        assert!(public.proves("text\n", line.trim_end()));
        assert!(!public.proves("texT\n", line.trim_end()));
        for at in 0..line.trim_end().len() {
            let mut bytes = line.trim_end().as_bytes().to_vec();
            bytes[at] ^= 1;
            let changed = String::from_utf8_lossy(&bytes);
            assert!(!public.proves("text\n", &changed), "byte {at}");
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
        let places = Places::beside(folder.path().join("journal"));
        std::fs::write(&places.key, "rubbish").unwrap();
        assert!(Signer::find(&places).is_err());
        for wrong in ["", "a+b+c", "toolgate-journal+00000000+AQ=="] {
            assert_eq!(PublicKey::parse(wrong), None);
        }
    }
}
