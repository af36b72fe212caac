//! Formats arguments for a person: the whole object, one member per line, every invisible character
//! spelled out.
//!
//! Strings are shown decoded: `\u0072\u006d` reads `rm`. Nothing is ever shortened; arguments that
//! are too long to show whole are not shown at all.

use toolgate_model::escape_invisible;
use toolgate_wire::{scan, string};

/// Formats raw JSON in full. Missing arguments are shown as `{}`.
fn format_json(arguments: &[u8]) -> String {
    let mut out = String::new();
    match arguments.trim_ascii() {
        b"" => out.push_str("{}"),
        arguments => write(arguments, 0, &mut out),
    }
    out
}

/// Formats a call's raw arguments and the other members of its `params`, in full.
pub fn format_params(arguments: &[u8], others: &[u8]) -> String {
    let mut out = format_json(arguments);
    if !others.is_empty() {
        out.push_str("\n\nBeside the arguments, complete:\n");
        out.push_str(&format_json(others));
    }
    out
}

fn write(value: &[u8], depth: usize, out: &mut String) {
    match value.first() {
        Some(b'{') => {
            list("{}", scan::members(value), depth, out, |(key, at), out| {
                out.push_str(&text(&key));
                out.push_str(": ");
                write(at.slice(value), depth + 1, out);
            });
        }
        Some(b'[') => list("[]", scan::elements(value), depth, out, |at, out| {
            write(at.slice(value), depth + 1, out);
        }),
        Some(b'"') => match string::decode(value) {
            Some(said) => out.push_str(&text(&said)),
            None => out.push_str(&escape_invisible(&String::from_utf8_lossy(value))),
        },
        _ => out.push_str(&escape_invisible(&String::from_utf8_lossy(value))),
    }
}

/// Escapes line ends and other control characters as JSON does, so that a string cannot draw lines
/// of its own, and spells out the characters that JSON leaves invisible.
fn text(said: &str) -> String {
    escape_invisible(&string::encode(said))
}

fn list<T>(
    brackets: &str,
    items: impl Iterator<Item = T>,
    depth: usize,
    out: &mut String,
    item: impl Fn(T, &mut String),
) {
    let (open, close) = brackets.split_at(1);
    let indent = |out: &mut String, depth: usize| {
        out.push('\n');
        (0..depth).for_each(|_| out.push_str("  "));
    };
    out.push_str(open);
    let mut any = false;
    for each in items {
        if any {
            out.push(',');
        }
        any = true;
        indent(out, depth + 1);
        item(each, out);
    }
    if any {
        indent(out, depth);
    }
    out.push_str(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_shown_and_nothing_hides() {
        let raw = "{\"path\":\"\\u0072\\u006d\\n\",\"n\":[1.50,{}],\"x\\u202e\":\"a\u{200b}b\"}";
        let expected = "{\n  \"path\": \"rm\\n\",\n  \"n\": [\n    1.50,\n    {}\n  ],\n  \
                        \"x⟦U+202E⟧\": \"a⟦U+200B⟧b\"\n}";
        assert_eq!(format_json(raw.as_bytes()), expected);
        assert_eq!(format_json(b""), "{}");
    }

    #[test]
    fn half_a_surrogate_is_shown_as_it_is_spelled() {
        assert_eq!(format_json(br#"["\ud800"]"#), "[\n  \"\\ud800\"\n]");
    }
}
