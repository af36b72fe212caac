//! Conditions of a rule on the arguments of a call.
//!
//! A condition has three outcomes: yes, no and unclear. An unclear condition counts as met for a
//! rule that denies or asks, and as not met for one that allows.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};

use toolgate_model::{ArgumentCondition, ConfigValue, ExpectedArgumentValue};
use toolgate_wire::{scan, string};

use crate::glob::{Glob, GlobLiteral};
use crate::number;

/// The outcome of a condition, in ascending order of certainty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConditionOutcome {
    No,
    Unclear,
    Yes,
}

/// A condition, ready to evaluate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CompiledCondition {
    /// The steps of its pointer; `None` if the pointer is invalid, which makes the outcome unclear.
    path: Option<Vec<String>>,
    expectation: ArgumentMatcher,
}

/// What a condition expects of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
enum ArgumentMatcher {
    Text(Glob),
    Value(ConfigValue),
}

/// The arguments of a call, with lookups shared by all conditions.
pub(crate) struct CallArguments<'a> {
    raw: &'a [u8],
    /// Whether every JSON reader sees the same value.
    unambiguous: OnceCell<bool>,
    /// The last lookup, because rules about one tool tend to read the same argument.
    last_lookup: Cell<Option<PointerLookup<'a>>>,
}

/// A path and the value found there.
type PointerLookup<'a> = (&'a [String], Option<&'a [u8]>);

impl<'a> CallArguments<'a> {
    pub fn new(raw: &'a [u8]) -> Self {
        Self { raw, unambiguous: OnceCell::new(), last_lookup: Cell::new(None) }
    }

    fn is_unambiguous(&self) -> bool {
        *self.unambiguous.get_or_init(|| scan::is_unambiguous(self.raw))
    }

    /// Returns the arguments if they are an object that every JSON reader sees the same way.
    pub fn object(&self) -> Option<&'a [u8]> {
        Some(self.raw.trim_ascii())
            .filter(|raw| raw.first() == Some(&b'{') && self.is_unambiguous())
    }

    fn value_at(&self, path: &'a [String]) -> Option<&'a [u8]> {
        match self.last_lookup.get() {
            Some((last, found)) if last == path => found,
            _ => {
                let found = lookup_path(self.raw, path);
                self.last_lookup.set(Some((path, found)));
                found
            }
        }
    }
}

/// The key under which an index stores a condition.
pub(crate) struct ConditionIndexKey<'a> {
    /// The top-level argument that the condition reads.
    pub member: &'a str,
    /// The path below that argument.
    pub path: &'a [String],
    pub required: RequiredArgumentValue<'a>,
}

/// The value that a condition requires.
pub(crate) enum RequiredArgumentValue<'a> {
    /// A text that matches a pattern.
    Glob(&'a Glob),
    /// Exactly this text.
    Text(&'a str),
    /// This number in any spelling.
    Number(f64),
}

impl RequiredArgumentValue<'_> {
    /// Returns how selective the requirement is.
    pub fn weight(&self) -> usize {
        match self {
            Self::Glob(glob) => glob.certain_part().weight(),
            Self::Text(text) => GlobLiteral::Whole(text).weight(),
            Self::Number(_) => 1,
        }
    }
}

impl CompiledCondition {
    /// Returns the index key of the condition, if it has one.
    pub fn key(&self) -> Option<ConditionIndexKey<'_>> {
        let (member, path) = self.path.as_deref()?.split_first()?;
        // A key with a backslash may be confused with the escaped spelling of another.
        if self.path.iter().flatten().any(|step| step.contains('\\')) {
            return None;
        }
        let demand = match &self.expectation {
            ArgumentMatcher::Text(glob) => RequiredArgumentValue::Glob(glob),
            ArgumentMatcher::Value(ConfigValue::Text(text)) => RequiredArgumentValue::Text(text),
            ArgumentMatcher::Value(value) => {
                RequiredArgumentValue::Number(number::parse_double(&number_text(value)?)?)
            }
        };
        Some(ConditionIndexKey { member, path, required: demand })
    }

    /// Compiles a condition. Also returns an error message if it is invalid.
    pub fn compile(written: &ArgumentCondition) -> (Self, Option<String>) {
        let path = parse_pointer(&written.pointer);
        let wrong = path.is_none().then(|| {
            let at = &written.pointer;
            format!("`{at}` is not a JSON pointer: write `/name` or `/name/0/part`")
        });
        let wanted = match &written.expected {
            ExpectedArgumentValue::Glob(text) => ArgumentMatcher::Text(Glob::text_pattern(text)),
            ExpectedArgumentValue::Value(value) => ArgumentMatcher::Value(value.clone()),
        };
        (Self { path, expectation: wanted }, wrong)
    }

    pub fn evaluate<'a>(&'a self, arguments: &CallArguments<'a>) -> ConditionOutcome {
        let sound = arguments.is_unambiguous();
        let Some(path) = self.path.as_deref().filter(|_| sound) else {
            return ConditionOutcome::Unclear;
        };
        match (arguments.value_at(path), &self.expectation) {
            (None, _) => ConditionOutcome::No,
            (Some(raw), ArgumentMatcher::Text(glob)) => match_glob(glob, raw),
            (Some(raw), ArgumentMatcher::Value(value)) => match_value(value, raw),
        }
    }
}

/// Parses a JSON pointer (RFC 6901) into its steps.
fn parse_pointer(pointer: &str) -> Option<Vec<String>> {
    if pointer.is_empty() {
        return Some(Vec::new());
    }
    let step = |step: &str| {
        let tildes = step.split('~').skip(1);
        let escaped = tildes.into_iter().all(|behind| behind.starts_with(['0', '1']));
        escaped.then(|| step.replace("~1", "/").replace("~0", "~"))
    };
    pointer.strip_prefix('/')?.split('/').map(step).collect()
}

/// Returns the value at a path.
pub(crate) fn lookup_path<'a>(raw: &'a [u8], path: &[String]) -> Option<&'a [u8]> {
    path.iter().try_fold(raw.trim_ascii(), |at, step| {
        let span = match at.first() {
            Some(b'{') => scan::member(at, step)?,
            Some(b'[') => scan::elements(at).nth(parse_index(step)?)?,
            _ => return None,
        };
        Some(span.slice(at).trim_ascii())
    })
}

/// Parses an array index as RFC 6901 spells it: no sign and no leading zero.
fn parse_index(step: &str) -> Option<usize> {
    let digits = step.bytes().all(|byte| byte.is_ascii_digit());
    let led = step.len() > 1 && step.starts_with('0');
    (digits && !led).then(|| step.parse().ok())?
}

/// Matches a value against a pattern. A number or boolean whose spelling matches is unclear, and so
/// is a list or object, which may contain a matching text.
fn match_glob(glob: &Glob, raw: &[u8]) -> ConditionOutcome {
    match raw.first() {
        Some(b'"') => match string::decode(raw) {
            Some(text) if glob.matches(&text) => ConditionOutcome::Yes,
            Some(_) => ConditionOutcome::No,
            None => ConditionOutcome::Unclear,
        },
        Some(b'{' | b'[') => ConditionOutcome::Unclear,
        // Null counts as absent.
        Some(b'n') => ConditionOutcome::No,
        _ if glob.matches(&String::from_utf8_lossy(raw)) => ConditionOutcome::Unclear,
        _ => ConditionOutcome::No,
    }
}

/// Compares a value for equality. A value that only a lenient reader considers equal (`"1"` for
/// `1`) is unclear.
fn match_value(value: &ConfigValue, raw: &[u8]) -> ConditionOutcome {
    match (value, raw.first()) {
        (ConfigValue::List(values), Some(b'[')) => match_list(values, raw),
        (ConfigValue::Table(members), Some(b'{')) => match_table(members, raw),
        (ConfigValue::List(_) | ConfigValue::Table(_), _) | (_, Some(b'[' | b'{')) => {
            ConditionOutcome::No
        }
        (ConfigValue::Text(wanted), Some(b'"')) => match string::decode(raw) {
            Some(text) if text == *wanted => ConditionOutcome::Yes,
            Some(_) => ConditionOutcome::No,
            None => ConditionOutcome::Unclear,
        },
        (ConfigValue::Integer(_) | ConfigValue::Decimal(_), Some(b'-' | b'0'..=b'9')) => {
            let wanted = number_text(value).unwrap_or_default();
            match_number(&wanted, &String::from_utf8_lossy(raw))
        }
        (ConfigValue::Null, Some(b'n')) => ConditionOutcome::Yes,
        (ConfigValue::Bool(wanted), Some(b't' | b'f')) => match *wanted == (raw == b"true") {
            true => ConditionOutcome::Yes,
            false => ConditionOutcome::No,
        },
        (value, _) => match_leniently(value, raw),
    }
}

/// Returns the spelling of a number.
fn number_text(value: &ConfigValue) -> Option<Cow<'_, str>> {
    match value {
        ConfigValue::Integer(number) => Some(number.to_string().into()),
        ConfigValue::Decimal(spelling) => Some(spelling.into()),
        _ => None,
    }
}

fn match_number(wanted: &str, given: &str) -> ConditionOutcome {
    match (number::is_same_number(wanted, given), number::is_same_double(wanted, given)) {
        (true, _) => ConditionOutcome::Yes,
        (false, true) => ConditionOutcome::Unclear,
        (false, false) => ConditionOutcome::No,
    }
}

/// Compares two values of different types.
fn match_leniently(value: &ConfigValue, raw: &[u8]) -> ConditionOutcome {
    let given = string::decode(raw).unwrap_or_else(|| String::from_utf8_lossy(raw));
    let like = match value {
        ConfigValue::Text(wanted) => *wanted == given || number::is_same_double(wanted, &given),
        ConfigValue::Bool(wanted) => {
            given.eq_ignore_ascii_case(if *wanted { "true" } else { "false" })
        }
        value => {
            number_text(value).is_some_and(|wanted| number::is_same_double(&wanted, given.trim()))
        }
    };
    if like { ConditionOutcome::Unclear } else { ConditionOutcome::No }
}

fn match_list(values: &[ConfigValue], raw: &[u8]) -> ConditionOutcome {
    let given: Vec<_> = scan::elements(raw).collect();
    if given.len() != values.len() {
        return ConditionOutcome::No;
    }
    let each =
        values.iter().zip(given).map(|(value, at)| match_value(value, at.slice(raw).trim_ascii()));
    each.min().unwrap_or(ConditionOutcome::Yes)
}

fn match_table(members: &[(String, ConfigValue)], raw: &[u8]) -> ConditionOutcome {
    if scan::members(raw).count() != members.len() {
        return ConditionOutcome::No;
    }
    let each = members.iter().map(|(key, value)| {
        scan::member(raw, key)
            .map_or(ConditionOutcome::No, |at| match_value(value, at.slice(raw).trim_ascii()))
    });
    each.min().unwrap_or(ConditionOutcome::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(at: &str, is: ExpectedArgumentValue, arguments: &str) -> ConditionOutcome {
        let test =
            CompiledCondition::compile(&ArgumentCondition { pointer: at.into(), expected: is }).0;
        test.evaluate(&CallArguments::new(arguments.as_bytes()))
    }

    fn glob(at: &str, pattern: &str, arguments: &str) -> ConditionOutcome {
        holds(at, ExpectedArgumentValue::Glob(pattern.into()), arguments)
    }

    fn value(at: &str, value: ConfigValue, arguments: &str) -> ConditionOutcome {
        holds(at, ExpectedArgumentValue::Value(value), arguments)
    }

    #[test]
    fn a_text_fits_as_it_is_meant_not_as_it_is_spelled() {
        assert_eq!(glob("/path", "/etc/*", r#"{"path": "/etc/a/b"}"#), ConditionOutcome::Yes);
        assert_eq!(glob("/path", "/etc/*", r#"{"path":"\/\u0065tc/x"}"#), ConditionOutcome::Yes);
        assert_eq!(glob("/path", "/etc/*", r#"{"p\u0061th":"/etc/x"}"#), ConditionOutcome::Yes);
        assert_eq!(glob("/path", "/etc/*", r#"{"path":"/home"}"#), ConditionOutcome::No);
        assert_eq!(glob("/a~1b/0/~0", "x", r#"{"a/b":[ {"~" : "x"} ]}"#), ConditionOutcome::Yes);
        assert_eq!(glob("", "x", r#""x""#), ConditionOutcome::Yes);
    }

    #[test]
    fn what_is_absent_does_not_hold() {
        for arguments in ["{}", r#"{"path":null}"#, r#"{"paths":"/etc/x"}"#, "[]", "1"] {
            assert_eq!(glob("/path", "*", arguments), ConditionOutcome::No, "{arguments}");
        }
        assert_eq!(glob("/list/01", "*", r#"{"list":["a","b"]}"#), ConditionOutcome::No);
        assert_eq!(glob("/list/2", "*", r#"{"list":["a","b"]}"#), ConditionOutcome::No);
    }

    #[test]
    fn what_readers_may_see_differently_is_unclear() {
        let odd = [
            "",
            "{",
            r#"{"path":"/home","path":"/etc/x"}"#,
            r#"{"path":["/etc/x"]}"#,
            r#"{"path":{"a":1}}"#,
            r#"{"path":"\ud800"}"#,
            "{\"path\":\"\u{0}\"}",
        ];
        for arguments in odd {
            assert_eq!(
                glob("/path", "/etc/*", arguments),
                ConditionOutcome::Unclear,
                "{arguments}"
            );
        }
        assert_eq!(glob("path", "*", r#"{"path":"x"}"#), ConditionOutcome::Unclear);
        assert_eq!(glob("/~2", "*", "{}"), ConditionOutcome::Unclear);
        assert_eq!(glob("/n", "1*", r#"{"n":10}"#), ConditionOutcome::Unclear);
        assert_eq!(glob("/n", "2*", r#"{"n":10}"#), ConditionOutcome::No);
    }

    #[test]
    fn values_are_the_same_by_what_they_are() {
        let one = || ConfigValue::Integer(1);
        for same in ["1", "1.0", "10e-1"] {
            assert_eq!(value("/n", one(), &format!(r#"{{"n":{same}}}"#)), ConditionOutcome::Yes);
        }
        assert_eq!(value("/n", one(), r#"{"n":"1"}"#), ConditionOutcome::Unclear);
        assert_eq!(value("/n", one(), r#"{"n":2}"#), ConditionOutcome::No);
        let big = ConfigValue::Integer(9_007_199_254_740_993);
        assert_eq!(value("/n", big, r#"{"n":9007199254740992}"#), ConditionOutcome::Unclear);
        assert_eq!(value("/f", ConfigValue::Bool(true), r#"{"f":true}"#), ConditionOutcome::Yes);
        assert_eq!(value("/f", ConfigValue::Bool(true), r#"{"f":false}"#), ConditionOutcome::No);
        assert_eq!(
            value("/f", ConfigValue::Bool(true), r#"{"f":"True"}"#),
            ConditionOutcome::Unclear
        );
        assert_eq!(value("/f", ConfigValue::Null, r#"{"f":null}"#), ConditionOutcome::Yes);
        let list = ConfigValue::List(vec![one(), ConfigValue::text("a")]);
        assert_eq!(value("/l", list.clone(), r#"{"l":[1, "a"]}"#), ConditionOutcome::Yes);
        assert_eq!(value("/l", list.clone(), r#"{"l":[1, "b"]}"#), ConditionOutcome::No);
        assert_eq!(value("/l", list, r#"{"l":["1", "a"]}"#), ConditionOutcome::Unclear);
        let table = ConfigValue::Table(vec![("a".into(), one()), ("b".into(), ConfigValue::Null)]);
        assert_eq!(value("/t", table.clone(), r#"{"t":{"b":null,"a":1}}"#), ConditionOutcome::Yes);
        assert_eq!(value("/t", table, r#"{"t":{"a":1}}"#), ConditionOutcome::No);
    }
}
