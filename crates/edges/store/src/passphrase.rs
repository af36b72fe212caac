//! The operator's passphrase: kept as a salted slow hash, in a file for the user alone.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::pbkdf2;
use serde::{Deserialize, Serialize};

use crate::{StoreError, private};

const ALGORITHM: pbkdf2::Algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
/// What the file calls it.
const NAME: &str = "pbkdf2-hmac-sha256";
/// As OWASP recommends for PBKDF2 with SHA-256.
const ITERATIONS: u32 = 600_000;
const BYTES: usize = 32;

/// Where the hash of a passphrase is kept.
#[derive(Debug, Clone)]
pub struct Passphrase {
    path: PathBuf,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    algorithm: String,
    iterations: NonZeroU32,
    salt: String,
    hash: String,
}

impl Passphrase {
    /// The one of a state folder.
    pub fn of(state_folder: &Path) -> Self {
        Self { path: state_folder.join("operator-passphrase.json") }
    }

    /// Whether one is set. A file that cannot be read counts as set: damaging it must not open
    /// anything.
    pub fn is_set(&self) -> bool {
        !matches!(fs::symlink_metadata(&self.path), Err(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Whether it is this one. Takes a good part of a second of computing, by intent.
    pub fn verify(&self, passphrase: &str) -> Result<bool, StoreError> {
        let text = fs::read(&self.path)
            .map_err(|source| StoreError::Open { path: self.path.clone(), source })?;
        let damaged = || StoreError::Malformed {
            action: "check the operator's passphrase",
            what: format!("{} is damaged", self.path.display()),
        };
        let stored: Stored = serde_json::from_slice(&text).map_err(|_| damaged())?;
        if stored.algorithm != NAME {
            return Err(damaged());
        }
        let decoded = |text: &str| STANDARD.decode(text).map_err(|_| damaged());
        let (salt, hash) = (decoded(&stored.salt)?, decoded(&stored.hash)?);
        let said = passphrase.as_bytes();
        Ok(pbkdf2::verify(ALGORITHM, stored.iterations, &salt, said, &hash).is_ok())
    }

    /// Sets it, or takes it away.
    pub fn set(&self, passphrase: Option<&str>) -> Result<(), StoreError> {
        let written = match passphrase {
            Some(passphrase) => self.write(passphrase),
            None => match fs::remove_file(&self.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                removed => removed,
            },
        };
        written.map_err(|source| StoreError::Open { path: self.path.clone(), source })
    }

    fn write(&self, passphrase: &str) -> io::Result<()> {
        let mut salt = [0; BYTES];
        getrandom::fill(&mut salt).map_err(io::Error::other)?;
        let iterations = NonZeroU32::new(ITERATIONS).ok_or(io::ErrorKind::InvalidInput)?;
        let mut hash = [0; BYTES];
        pbkdf2::derive(ALGORITHM, iterations, &salt, passphrase.as_bytes(), &mut hash);
        let (salt, hash) = (STANDARD.encode(salt), STANDARD.encode(hash));
        let stored = Stored { algorithm: NAME.to_owned(), iterations, salt, hash };
        let text = serde_json::to_vec(&stored).map_err(io::Error::other)?;
        // Whole or not at all: half of a hash would lock the operator out.
        let beside = self.path.with_extension("new");
        let _ = fs::remove_file(&beside);
        let mut file = private::open(&beside, OpenOptions::new().write(true).create_new(true))?;
        file.write_all(&text)?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_is_kept_as_a_hash_for_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let passphrase = Passphrase::of(folder.path());
        assert!(!passphrase.is_set());
        passphrase.set(Some("open sesame")).unwrap();
        assert!(passphrase.is_set());
        assert!(passphrase.verify("open sesame").unwrap());
        assert!(!passphrase.verify("open sesamE").unwrap());
        let text = fs::read_to_string(&passphrase.path).unwrap();
        assert!(!text.contains("sesame"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&passphrase.path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        passphrase.set(Some("another")).unwrap();
        assert_ne!(fs::read_to_string(&passphrase.path).unwrap(), text);
        assert!(passphrase.verify("another").unwrap());
        fs::write(&passphrase.path, "{").unwrap();
        assert!(passphrase.is_set(), "damage opens nothing");
        assert!(passphrase.verify("another").is_err());
        passphrase.set(None).unwrap();
        assert!(!passphrase.is_set());
    }
}
