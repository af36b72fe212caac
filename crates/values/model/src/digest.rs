//! A SHA-256 digest, shown as `sha256:<hex>`.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error as _};
use sha2::{Digest as _, Sha256};
use toolgate_wire::hex;

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Digests several parts, each preceded by its length, so that two different lists of parts
    /// never yield the same input.
    pub fn of_parts<'a>(parts: impl IntoIterator<Item = &'a [u8]>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Digests `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the raw bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the first `characters` hexadecimal digits, for names that must stay short.
    pub fn hex_prefix(&self, characters: usize) -> String {
        let mut text = hex::encode(&self.0);
        text.truncate(characters);
        text
    }
}

impl std::str::FromStr for Digest {
    type Err = ();

    /// Parses the displayed form.
    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = text.strip_prefix("sha256:").ok_or(())?;
        hex::decode(digits.as_bytes()).map(Self).ok_or(())
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|()| D::Error::custom(format!("{text:?} is not a digest")))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(&self.0))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_together() {
        let apart = Digest::of_parts([b"ab".as_slice(), b"c"]);
        let together = Digest::of_parts([b"a".as_slice(), b"bc"]);
        assert_ne!(apart, together);
        assert_eq!(apart.to_string().len(), "sha256:".len() + 64);
    }

    #[test]
    fn a_digest_is_read_as_it_is_shown() {
        let digest = Digest::of(b"x");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        for wrong in ["", "sha256:", "sha256:00", &digest.to_string().to_uppercase()] {
            assert_eq!(wrong.parse::<Digest>(), Err(()), "{wrong}");
        }
    }
}
