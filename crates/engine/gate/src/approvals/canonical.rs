//! The digest of arguments: what a one-time approval is bound to.
//!
//! It is over the arguments as they are sent, with the members of objects in the order of their
//! keys, no space between things, and strings as what they say: a client that writes the same
//! object anew repeats the same call. Numbers count as they are spelled. A number that one reader
//! rounds and another does not (`9007199254740993`) must not pass for its neighbour, so the common
//! canonical form (RFC 8785), which rounds them all, would not do.

use toolgate_model::Digest;
use toolgate_wire::{scan, string};

/// The digest of a call's arguments and of what stands beside them in `params`, raw. Arguments that
/// are left out are `{}`; empty where nothing stands beside them.
pub fn params_digest(arguments: &[u8], others: &[u8]) -> Digest {
    let canonical = |value: &[u8]| {
        let mut canonical = Vec::with_capacity(value.len());
        match value.trim_ascii() {
            b"" => canonical.extend_from_slice(b"{}"),
            value => write(value, &mut canonical),
        }
        canonical
    };
    let arguments = canonical(arguments);
    match others {
        b"" => Digest::of_parts([b"arguments".as_slice(), &arguments]),
        others => Digest::of_parts([b"params".as_slice(), &arguments, &canonical(others)]),
    }
}

/// The wire bounds the depth, and has refused repeated keys.
fn write(value: &[u8], out: &mut Vec<u8>) {
    match value.first() {
        Some(b'{') => {
            let mut members: Vec<_> = scan::members(value).collect();
            members.sort_by(|(one, _), (other, _)| one.cmp(other));
            list(b"{}", members, out, |(key, at), out| {
                out.extend_from_slice(string::encode(&key).as_bytes());
                out.push(b':');
                write(at.of(value), out);
            });
        }
        Some(b'[') => {
            list(b"[]", scan::elements(value), out, |at, out| write(at.of(value), out));
        }
        Some(b'"') => match string::decode(value) {
            Some(text) => out.extend_from_slice(string::encode(&text).as_bytes()),
            // Half a surrogate pair says nothing; it is only the same if it is spelled the same.
            None => out.extend_from_slice(value),
        },
        _ => out.extend_from_slice(value),
    }
}

fn list<T>(
    brackets: &[u8; 2],
    items: impl IntoIterator<Item = T>,
    out: &mut Vec<u8>,
    item: impl Fn(T, &mut Vec<u8>),
) {
    out.push(brackets[0]);
    for (at, each) in items.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        item(each, out);
    }
    out.push(brackets[1]);
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
