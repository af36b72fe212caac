//! What a plain scalar of YAML means, and how a text is written so that it means itself.

use crate::frame::tree::Value;

/// The meaning of a plain scalar in the core schema of YAML 1.2.
pub(crate) fn value(text: &str) -> Value {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::Flag(true),
        "false" | "False" | "FALSE" => Value::Flag(false),
        _ => number(text).unwrap_or_else(|| Value::Text(text.to_owned())),
    }
}

fn number(text: &str) -> Option<Value> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            let read = i64::from_str_radix(digits, radix).ok();
            return all.then(|| match read {
                Some(number) => Value::Integer(number),
                None => Value::Other("a number beyond all bounds", text.to_owned()),
            });
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if [".inf", ".Inf", ".INF"].contains(&unsigned) || [".nan", ".NaN", ".NAN"].contains(&text) {
        return Some(Value::Other("a number beyond all bounds", text.to_owned()));
    }
    is_decimal(unsigned).then(|| match text.parse() {
        Ok(number) => Value::Integer(number),
        Err(_) => Value::Fraction(as_elsewhere(text, unsigned)),
    })
}

/// Digits, a point among or before or behind them, and an exponent.
fn is_decimal(text: &str) -> bool {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mantissa = match mantissa.split_once('.') {
        Some((whole, part)) => {
            (whole.is_empty() || digits(whole))
                && (digits(part) || part.is_empty() && digits(whole))
        }
        None => digits(mantissa),
    };
    let power = |text: &str| digits(text.strip_prefix(['+', '-']).unwrap_or(text));
    mantissa && exponent.is_none_or(power)
}

/// The spelling of a number that JSON and TOML take too: they want a digit on both sides of the
/// point, and JSON neither a plus nor zeros in front.
fn as_elsewhere(text: &str, unsigned: &str) -> String {
    let sign = if text.starts_with('-') { "-" } else { "" };
    let (mantissa, exponent) =
        unsigned.find(['e', 'E']).map_or((unsigned, ""), |at| unsigned.split_at(at));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        whole => whole,
    };
    match part {
        "" => format!("{sign}{whole}{exponent}"),
        part => format!("{sign}{whole}.{part}{exponent}"),
    }
}

/// A text as a scalar: plain where that is safe, in double quotes otherwise. `flow` is for inside
/// of brackets and braces.
pub(crate) fn written(text: &str, flow: bool) -> String {
    match is_safe(text, flow) {
        true => text.to_owned(),
        false => quoted(text),
    }
}

/// Whether a text means itself without quotes, for us and for readers of YAML 1.1, to whom more
/// words mean something else.
fn is_safe(text: &str, flow: bool) -> bool {
    const WORDS_OF_1_1: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "=", "<<"];
    let Some(first) = text.chars().next() else { return false };
    let begins = first.is_alphanumeric() || "/._~$(".contains(first);
    let is_mark = |c: char| flow && ",[]{}".contains(c);
    let inside = |c: char| !(c.is_control() || is_special(c) || is_mark(c));
    // Numbers, dates and times of day are made of these.
    let numeric = |c: char| c.is_ascii_hexdigit() || "xXoO_.:+-TZtz ".contains(c);
    let may_be_number = text.contains(|c: char| c.is_ascii_digit()) && text.chars().all(numeric);
    begins
        && text.chars().all(inside)
        && text.trim() == text
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.ends_with(':')
        && !(flow && text.contains(':'))
        && !may_be_number
        && matches!(value(text), Value::Text(_))
        && !WORDS_OF_1_1.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Characters that are no part of a line, or cannot be seen.
fn is_special(c: char) -> bool {
    matches!(
        c,
        '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}

fn quoted(text: &str) -> String {
    let mut written = String::with_capacity(text.len() + 2);
    written.push('"');
    for c in text.chars() {
        match c {
            '"' => written.push_str("\\\""),
            '\\' => written.push_str("\\\\"),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            c if c.is_control() || is_special(c) => {
                written.push_str(&format!("\\u{:04X}", u32::from(c)));
            }
            c => written.push(c),
        }
    }
    written.push('"');
    written
}
