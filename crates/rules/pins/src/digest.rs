//! What stands for a definition: a digest of all it says.

use toolgate_model::{CapabilityKind, Digest};

use crate::tree::Json;

/// Goes before every definition that has one meaning.
const CLEAN: &[u8] = b"toolgate definition, version 1";
/// Goes before one that has not, and is digested as it is spelled: it never equals a clean one.
const AS_SPELLED: &[u8] = b"toolgate definition as spelled, version 1";
/// Goes before what a server wants models to know.
const INSTRUCTIONS: &[u8] = b"toolgate instructions, version 1";
/// Goes before the digests of all a server offers.
const SERVER: &[u8] = b"toolgate server, version 1";

/// The digest of a definition as its server wrote it: everything in it counts, members nobody knows
/// too; the order of its members and the spelling of texts and numbers do not.
pub fn digest(kind: CapabilityKind, raw: &[u8]) -> Digest {
    let kind = kind.as_str().as_bytes();
    match Json::read(raw) {
        Some(value) => {
            let mut written = Vec::with_capacity(raw.len());
            value.write(&mut written);
            Digest::of_parts([CLEAN, kind, &written])
        }
        None => Digest::of_parts([AS_SPELLED, kind, raw]),
    }
}

/// The digest of what a server wants models to know; the empty text where it says nothing.
pub fn instructions_digest(text: &str) -> Digest {
    Digest::of_parts([INSTRUCTIONS, text.as_bytes()])
}

/// The digest of a whole server: of the digests of all it offers, in whatever order, and of its
/// instructions.
pub fn server_digest(
    definitions: impl IntoIterator<Item = Digest>,
    instructions: &Digest,
) -> Digest {
    let mut all: Vec<Digest> = definitions.into_iter().collect();
    all.sort_unstable();
    let parts = all.iter().map(|digest| digest.as_bytes().as_slice());
    Digest::of_parts([SERVER, instructions.as_bytes().as_slice()].into_iter().chain(parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_words_of_another_kind_are_something_else() {
        let raw = br#"{"name":"a"}"#;
        assert_ne!(digest(CapabilityKind::Tool, raw), digest(CapabilityKind::Prompt, raw));
        assert_eq!(
            digest(CapabilityKind::Tool, raw),
            digest(CapabilityKind::Tool, b" {\"n\\u0061me\" : \"\\u0061\"}\n")
        );
    }

    #[test]
    fn a_repeated_key_is_never_taken_for_either_of_its_meanings() {
        let of = |raw: &[u8]| digest(CapabilityKind::Tool, raw);
        let twice = of(br#"{"name":"a","name":"b"}"#);
        assert!(twice != of(br#"{"name":"a"}"#) && twice != of(br#"{"name":"b"}"#));
        assert_ne!(twice, of(br#"{"name":"b","name":"a"}"#));
        assert_ne!(of(br#"{"name":"a","name":"a"}"#), of(br#"{"name":"a"}"#));
    }

    #[test]
    fn a_server_is_the_same_in_whatever_order_it_lists() {
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        let said = instructions_digest("say please");
        assert_eq!(server_digest([a, b], &said), server_digest([b, a], &said));
        assert_ne!(server_digest([a, b], &said), server_digest([a], &said));
        assert_ne!(server_digest([a, a], &said), server_digest([a], &said));
        assert_ne!(server_digest([a], &said), server_digest([a], &instructions_digest("")));
    }
}
