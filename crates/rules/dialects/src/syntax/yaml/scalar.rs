//! Interprets plain YAML scalars, and writes strings so that they are read back as strings.

use crate::common::tree::TreeValue;
use crate::edit::quote_text;

/// Returns the value of a plain scalar in the core schema of YAML 1.2.
pub(crate) fn value(text: &str) -> TreeValue {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => TreeValue::Null,
        "true" | "True" | "TRUE" => TreeValue::Flag(true),
        "false" | "False" | "FALSE" => TreeValue::Flag(false),
        _ => number(text).unwrap_or_else(|| TreeValue::Text(text.to_owned())),
    }
}

fn number(text: &str) -> Option<TreeValue> {
    for (prefix, radix) in [("0x", 16), ("0o", 8)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
            let read = i64::from_str_radix(digits, radix).ok();
            return all.then(|| match read {
                Some(number) => TreeValue::Integer(number),
                None => TreeValue::Other("a number out of range", text.to_owned()),
            });
        }
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if [".inf", ".Inf", ".INF"].contains(&unsigned) || [".nan", ".NaN", ".NAN"].contains(&text) {
        return Some(TreeValue::Other("a number out of range", text.to_owned()));
    }
    is_decimal(unsigned).then(|| match text.parse() {
        Ok(number) => TreeValue::Integer(number),
        Err(_) => TreeValue::Fraction(normalize_fraction(text, unsigned)),
    })
}

/// Returns true for digits with an optional point and an optional exponent.
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

/// Returns a spelling of the number that JSON and TOML accept too: both need digits on both sides
/// of the point, and JSON allows neither a plus sign nor leading zeros.
fn normalize_fraction(text: &str, unsigned: &str) -> String {
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

/// Renders a string as a scalar: plain if that is safe, else in double quotes. `flow` is true
/// inside brackets and braces.
pub(crate) fn render_text(text: &str, flow: bool) -> String {
    match is_safe(text, flow) {
        true => text.to_owned(),
        false => quote_text(text, is_special),
    }
}

/// Returns true if a string is read back as itself without quotes, also by YAML 1.1 parsers, which
/// give more words a special meaning.
fn is_safe(text: &str, flow: bool) -> bool {
    const WORDS_OF_1_1: [&str; 8] = ["y", "n", "yes", "no", "on", "off", "=", "<<"];
    let Some(first) = text.chars().next() else { return false };
    let begins = first.is_alphanumeric() || "/._~$(".contains(first);
    let is_mark = |c: char| flow && ",[]{}".contains(c);
    let inside = |c: char| !(c.is_control() || is_special(c) || is_mark(c));
    // Numbers, dates and times consist of these characters.
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
        && matches!(value(text), TreeValue::Text(_))
        && !WORDS_OF_1_1.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Returns true for characters that break lines or are invisible.
fn is_special(c: char) -> bool {
    matches!(
        c,
        '\u{85}' | '\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}'
    )
}
