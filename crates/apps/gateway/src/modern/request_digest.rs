//! A digest of what a request asks for, equal for a request and its retries.
//!
//! A retry repeats the request in new bytes, possibly with its members in another order. Two
//! requests are equal if their method and params are, except for `_meta` and the members of a
//! retry.

use toolgate_model::Digest;
use toolgate_wire::Frame;
use toolgate_wire::canonical::{self, NumberFormat};

/// The members of `params` that differ between rounds.
const EXCLUDED_MEMBERS: [&str; 3] =
    ["_meta", super::retry::INPUT_RESPONSES, super::retry::REQUEST_STATE];

/// Returns the digest of a request.
pub(crate) fn digest(request: &Frame) -> Digest {
    let method = request.method().unwrap_or_default();
    let mut params = Vec::new();
    let given = request.params().unwrap_or_default();
    canonical::write_object(given, &EXCLUDED_MEMBERS, NumberFormat::AsSpelled, &mut params);
    Digest::of_parts([method.as_bytes(), &params])
}

#[cfg(test)]
mod tests {
    use toolgate_wire::{MessageLimits, build};

    use super::*;

    fn of(method: &str, params: &str) -> Digest {
        let bytes = build::request("1", method, Some(params.as_bytes()));
        digest(&Frame::parse(bytes, &MessageLimits::default()).unwrap())
    }

    #[test]
    fn a_retry_asks_for_the_same() {
        let first = of("tools/call", r#"{"name":"a","arguments":{"x":[1,{"p":1,"q":2}],"y":2}}"#);
        let retry = of(
            "tools/call",
            r#"{"requestState":"s","arguments":{"y":2, "x":[1, {"q":2,"p":1}]},"name":"a",
                "_meta":{"k":1},"inputResponses":{}}"#,
        );
        assert_eq!(first, retry);
        let escaped =
            of("tools/call", r#"{"name":"\u0061","arguments":{"x":[1,{"p":1,"q":2}],"y":2}}"#);
        assert_eq!(first, escaped);
    }

    #[test]
    fn another_request_does_not() {
        let first = of("tools/call", r#"{"name":"a","arguments":{"x":1}}"#);
        for (method, params) in [
            ("prompts/get", r#"{"name":"a","arguments":{"x":1}}"#),
            ("tools/call", r#"{"name":"b","arguments":{"x":1}}"#),
            ("tools/call", r#"{"name":"a","arguments":{"x":2}}"#),
            ("tools/call", r#"{"name":"a","arguments":{"x":"1"}}"#),
            ("tools/call", r#"{"name":"a","arguments":{"x":1,"_meta":{}}}"#),
            ("tools/call", r#"{"name":"a"}"#),
        ] {
            assert_ne!(first, of(method, params), "{method} {params}");
        }
    }
}
