//! Digests of definitions and instructions.

use toolgate_model::{CapabilityKind, Digest};

use crate::canonical_json::CanonicalJson;

/// The domain prefix for definitions that are unambiguous JSON.
const CLEAN: &[u8] = b"toolgate definition, version 1";
/// The domain prefix for all other definitions. Their raw bytes are digested, so they never equal
/// an unambiguous one.
const AS_SPELLED: &[u8] = b"toolgate definition as spelled, version 1";
/// The domain prefix for a server's instructions.
const INSTRUCTIONS: &[u8] = b"toolgate instructions, version 1";

/// Returns the digest of a definition as the server wrote it. Every member counts, including
/// unknown ones. The order of members and the spelling of strings and numbers do not count.
pub fn definition_digest(kind: CapabilityKind, raw: &[u8]) -> Digest {
    let kind = kind.as_str().as_bytes();
    match CanonicalJson::read(raw) {
        Some(value) => {
            let mut written = Vec::with_capacity(raw.len());
            value.write(&mut written);
            Digest::of_parts([CLEAN, kind, &written])
        }
        None => Digest::of_parts([AS_SPELLED, kind, raw]),
    }
}

/// Returns the digest of a server's instructions. Pass an empty text if there are none.
pub fn instructions_digest(text: &str) -> Digest {
    Digest::of_parts([INSTRUCTIONS, text.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_of_another_kind_are_something_else() {
        let raw = br#"{"name":"a"}"#;
        assert_ne!(
            definition_digest(CapabilityKind::Tool, raw),
            definition_digest(CapabilityKind::Prompt, raw)
        );
        assert_eq!(
            definition_digest(CapabilityKind::Tool, raw),
            definition_digest(CapabilityKind::Tool, b" {\"n\\u0061me\" : \"\\u0061\"}\n")
        );
    }

    #[test]
    fn a_repeated_key_is_never_taken_for_either_of_its_meanings() {
        let of = |raw: &[u8]| definition_digest(CapabilityKind::Tool, raw);
        let twice = of(br#"{"name":"a","name":"b"}"#);
        assert!(twice != of(br#"{"name":"a"}"#) && twice != of(br#"{"name":"b"}"#));
        assert_ne!(twice, of(br#"{"name":"b","name":"a"}"#));
        assert_ne!(of(br#"{"name":"a","name":"a"}"#), of(br#"{"name":"a"}"#));
    }
}
