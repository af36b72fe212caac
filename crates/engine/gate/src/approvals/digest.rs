//! The digest of arguments that a one-time approval is bound to.
//!
//! It covers the canonical form, so a client that serializes the same object differently repeats
//! the same call. Numbers count as spelled, because a server may distinguish `1` from `1.0`.

use toolgate_model::Digest;
use toolgate_wire::canonical::{self, NumberFormat};

/// Prefix for arguments alone. The version is that of the canonical form.
const ARGUMENTS: &[u8] = b"toolgate arguments, version 2";
/// Prefix for arguments with other members of `params`.
const PARAMS: &[u8] = b"toolgate params, version 2";

/// Returns the digest of a call's raw arguments and of the other members of its `params`. Missing
/// arguments count as `{}`; `others` is empty if there are none.
pub fn params_digest(arguments: &[u8], others: &[u8]) -> Digest {
    let canonical = |value: &[u8]| {
        let mut written = Vec::with_capacity(value.len());
        match value.trim_ascii() {
            b"" => written.extend_from_slice(b"{}"),
            value => canonical::write(value, NumberFormat::AsSpelled, &mut written),
        }
        written
    };
    let arguments = canonical(arguments);
    match others {
        b"" => Digest::of_parts([ARGUMENTS, &arguments]),
        others => Digest::of_parts([PARAMS, &arguments, &canonical(others)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments_digest(arguments: &[u8]) -> Digest {
        params_digest(arguments, b"")
    }

    #[test]
    fn what_stands_beside_the_arguments_counts() {
        let of =
            |arguments: &str, others: &str| params_digest(arguments.as_bytes(), others.as_bytes());
        assert_eq!(of("{}", r#"{"a":1, "b":2}"#), of("{}", r#"{"b":2,"a":1}"#));
        assert_ne!(of("{}", r#"{"a":1}"#), of("{}", r#"{"a":2}"#));
        assert_ne!(of("{}", r#"{"a":1}"#), of("{}", ""));
        assert_ne!(of(r#"{"a":1}"#, r#"{"b":1}"#), of(r#"{"a":1,"b":1}"#, ""));
    }

    #[test]
    fn the_same_object_written_anew_has_the_same_digest() {
        let one = arguments_digest(br#"{"b":[1,{"y":"\u0041","x":null}],"a":"x"}"#);
        let other =
            arguments_digest(b" { \"a\" : \"x\", \"b\":[ 1, {\"x\":null,\"y\":\"A\"} ] }\n");
        assert_eq!(one, other);
        assert_eq!(arguments_digest(b""), arguments_digest(b" {} "));
    }

    #[test]
    fn anything_else_has_another() {
        let all = [
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1.0}"#,
            r#"{"a":[1]}"#,
            r#"{"a":{"1":1}}"#,
            r#"{"A":1}"#,
            r#"{"a":1,"b":null}"#,
            r#"{"a":9007199254740992}"#,
            r#"{"a":9007199254740993}"#,
            r#"{"a":"\ud800"}"#,
            r#"{"a":"\ud801"}"#,
            r#"{"\ud800":1}"#,
            r#"{"\ud800":2}"#,
            r#"{"\ud801":1}"#,
            r#"{"a":"a\",\"b\":\"c"}"#,
            r#"{"a":"a","b":"c"}"#,
            r#"{"a":[1,2]}"#,
            r#"{"a":[2,1]}"#,
            r#"{"a":[12]}"#,
            "{}",
        ];
        for (at, one) in all.iter().enumerate() {
            for other in &all[at + 1..] {
                let digests = [one, other].map(|text| arguments_digest(text.as_bytes()));
                assert_ne!(digests[0], digests[1], "{one} {other}");
            }
        }
    }
}
