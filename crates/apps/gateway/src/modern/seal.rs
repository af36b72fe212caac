//! Sealing: text that goes out and must come back as it was, and means nothing to anybody else.
//!
//! The key is made when the process starts and never leaves it, so what was sealed before a
//! restart is refused after it.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// What the sealed text is for: no other use of the key can be mistaken for it.
const PURPOSE: &[u8] = b"toolgate requestState 1";

/// Seals and opens.
pub(crate) struct Seal(LessSafeKey);

impl Seal {
    /// A seal with a new key; none if the system has no random numbers.
    pub(crate) fn new() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).ok()?)))
    }

    /// Seals a text.
    pub(crate) fn seal(&self, text: &str) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let mut sealed = text.as_bytes().to_vec();
        let fresh = Nonce::assume_unique_for_key(nonce);
        self.0.seal_in_place_append_tag(fresh, Aad::from(PURPOSE), &mut sealed).ok()?;
        Some(URL_SAFE_NO_PAD.encode([nonce.as_slice(), &sealed].concat()))
    }

    /// The text, if it was sealed here and nothing was changed.
    pub(crate) fn open(&self, sealed: &str) -> Option<String> {
        let bytes = URL_SAFE_NO_PAD.decode(sealed).ok()?;
        let (nonce, sealed) = bytes.split_first_chunk::<NONCE_LEN>()?;
        let mut sealed = sealed.to_vec();
        let nonce = Nonce::assume_unique_for_key(*nonce);
        let text = self.0.open_in_place(nonce, Aad::from(PURPOSE), &mut sealed).ok()?;
        String::from_utf8(text.to_vec()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_sealed_is_opened_by_the_same_key_only() {
        let seal = Seal::new().unwrap();
        let sealed = seal.seal("7 state").unwrap();
        assert_eq!(seal.open(&sealed).as_deref(), Some("7 state"));
        assert!(!sealed.contains("state"));
        assert_ne!(seal.seal("7 state").unwrap(), sealed, "two of the same look different");
        assert_eq!(Seal::new().unwrap().open(&sealed), None);
    }

    #[test]
    fn any_change_is_noticed() {
        let seal = Seal::new().unwrap();
        let sealed = seal.seal("7 state").unwrap();
        for at in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[at] = if changed[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(seal.open(&String::from_utf8(changed).unwrap()), None, "at {at}");
        }
        for changed in ["", "AAAA", &format!("{sealed}A"), &sealed[1..], "no base64 at all!"] {
            assert_eq!(seal.open(changed), None, "{changed}");
        }
    }
}
