//! Encrypts and authenticates the state that clients send back.
//!
//! The key is created when the process starts and never leaves it. So a state from before a restart
//! is rejected.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// The purpose of the ciphertext. It prevents any other use of the key from being confused with
/// this one.
const PURPOSE: &[u8] = b"toolgate requestState 1";

/// Encrypts and decrypts text with a key of this process.
pub(crate) struct StateCipher(LessSafeKey);

impl StateCipher {
    /// Creates a cipher with a new key. Returns `None` if the system provides no random numbers.
    pub(crate) fn new() -> Option<Self> {
        let mut key = [0; 32];
        getrandom::fill(&mut key).ok()?;
        Some(Self(LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key).ok()?)))
    }

    /// Encrypts a text.
    pub(crate) fn seal(&self, text: &str) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        getrandom::fill(&mut nonce).ok()?;
        let mut sealed = text.as_bytes().to_vec();
        let fresh = Nonce::assume_unique_for_key(nonce);
        self.0.seal_in_place_append_tag(fresh, Aad::from(PURPOSE), &mut sealed).ok()?;
        Some(URL_SAFE_NO_PAD.encode([nonce.as_slice(), &sealed].concat()))
    }

    /// Decrypts a text. Returns `None` if it was changed or encrypted with another key.
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
        let seal = StateCipher::new().unwrap();
        let sealed = seal.seal("7 state").unwrap();
        assert_eq!(seal.open(&sealed).as_deref(), Some("7 state"));
        assert!(!sealed.contains("state"));
        assert_ne!(seal.seal("7 state").unwrap(), sealed, "two of the same look different");
        assert_eq!(StateCipher::new().unwrap().open(&sealed), None);
    }

    #[test]
    fn any_change_is_noticed() {
        let seal = StateCipher::new().unwrap();
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
