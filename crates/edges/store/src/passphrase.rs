//! The operator's passphrase, stored as a salted slow hash in a file that only the user can read.

use std::fs;
use std::io::{self, Write as _};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::pbkdf2;
use serde::{Deserialize, Serialize};

use crate::StoreError;

const ALGORITHM: pbkdf2::Algorithm = pbkdf2::PBKDF2_HMAC_SHA256;
/// The name of the algorithm in the file.
const NAME: &str = "pbkdf2-hmac-sha256";
/// The number that OWASP recommends for PBKDF2 with SHA-256.
const ITERATIONS: u32 = 600_000;
const BYTES: usize = 32;

/// The file with the hash of the operator's passphrase.
#[derive(Debug, Clone)]
pub struct OperatorPassphraseFile {
    path: PathBuf,
}

/// The content of the file.
#[derive(Serialize, Deserialize)]
struct PassphraseHash {
    algorithm: String,
    iterations: NonZeroU32,
    salt: String,
    hash: String,
}

impl OperatorPassphraseFile {
    /// Returns the file in a state folder.
    pub fn in_folder(state_folder: &Path) -> Self {
        Self { path: state_folder.join("operator-passphrase.json") }
    }

    /// Returns true if a passphrase is set. An unreadable file counts as set, so that damaging it
    /// does not remove the protection.
    pub fn is_set(&self) -> bool {
        !matches!(fs::symlink_metadata(&self.path), Err(error) if error.kind() == io::ErrorKind::NotFound)
    }

    /// Returns true if the passphrase is correct. This intentionally takes a good part of a second.
    pub fn verify(&self, passphrase: &str) -> Result<bool, StoreError> {
        let text = fs::read(&self.path)
            .map_err(|source| StoreError::Open { path: self.path.clone(), source })?;
        let damaged = || StoreError::Malformed {
            action: "check the operator's passphrase",
            what: format!("{} is damaged", self.path.display()),
        };
        let stored: PassphraseHash = serde_json::from_slice(&text).map_err(|_| damaged())?;
        if stored.algorithm != NAME {
            return Err(damaged());
        }
        let decoded = |text: &str| STANDARD.decode(text).map_err(|_| damaged());
        let (salt, hash) = (decoded(&stored.salt)?, decoded(&stored.hash)?);
        let passphrase = passphrase.as_bytes();
        Ok(pbkdf2::verify(ALGORITHM, stored.iterations, &salt, passphrase, &hash).is_ok())
    }

    /// Sets or removes the passphrase.
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
        let stored = PassphraseHash { algorithm: NAME.to_owned(), iterations, salt, hash };
        let text = serde_json::to_vec(&stored).map_err(io::Error::other)?;
        // Replace the file atomically: half a hash would lock the operator out.
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&text)?;
        file.as_file().sync_all()?;
        file.persist(&self.path)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passphrase_is_kept_as_a_hash_for_the_user_alone() {
        let folder = tempfile::tempdir().unwrap();
        let passphrase = OperatorPassphraseFile::in_folder(folder.path());
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
