//! What must hold of the arguments for a rule to count.
//!
//! There are three answers: it holds, it does not, and it cannot be told. What cannot be told makes
//! a rule that refuses or asks count, and one that allows not.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};

use toolgate_model::{Condition, Data, Expected};
use toolgate_wire::{scan, string};

use crate::glob::{Glob, Literal};
use crate::number;

/// Whether something holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Holds {
    No,
    Unclear,
    Yes,
}

/// A condition, understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Test {
    /// The steps of its pointer; none, if the pointer is none: then it is never clear.
    path: Option<Vec<String>>,
    wanted: Wanted,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Wanted {
    Text(Glob),
    Value(Data),
}

/// The arguments of a call, looked at once however many conditions ask.
pub(crate) struct Arguments<'a> {
    raw: &'a [u8],
    /// Whether every reader sees the same in them.
    sound: OnceCell<bool>,
    /// Where somebody looked last, and what stands there: rules about one tool tend to look at the
    /// same place.
    last: Cell<Option<Look<'a>>>,
}

/// A place, and what stands there.
type Look<'a> = (&'a [String], Option<&'a [u8]>);

impl<'a> Arguments<'a> {
    pub fn new(raw: &'a [u8]) -> Self {
        Self { raw, sound: OnceCell::new(), last: Cell::new(None) }
    }

    fn is_sound(&self) -> bool {
        *self.sound.get_or_init(|| scan::is_unambiguous(self.raw))
    }

    /// The object they are, if they are one and every reader sees the same in it.
    pub fn object(&self) -> Option<&'a [u8]> {
        Some(trimmed(self.raw)).filter(|raw| raw.first() == Some(&b'{') && self.is_sound())
    }

    fn at(&self, path: &'a [String]) -> Option<&'a [u8]> {
        match self.last.get() {
            Some((last, found)) if last == path => found,
            _ => {
                let found = find(self.raw, path);
                self.last.set(Some((path, found)));
                found
            }
        }
    }
}

/// What a condition can be found by.
pub(crate) struct Key<'a> {
    /// The member of the arguments that it looks into.
    pub member: &'a str,
    /// The way on from there.
    pub path: &'a [String],
    pub demand: Demand<'a>,
}

/// What is demanded at that place.
pub(crate) enum Demand<'a> {
    /// A text that fits.
    Glob(&'a Glob),
    /// This text.
    Text(&'a str),
    /// This number, however it is spelled.
    Number(f64),
}

impl Demand<'_> {
    /// How much it tells apart.
    pub fn weight(&self) -> usize {
        match self {
            Self::Glob(glob) => glob.literal().weight(),
            Self::Text(text) => Literal::Whole(text).weight(),
            Self::Number(_) => 1,
        }
    }
}

impl Test {
    /// What it can be found by, if there is something.
    pub fn key(&self) -> Option<Key<'_>> {
        let (member, path) = self.path.as_deref()?.split_first()?;
        // Where a key is spelled with escapes, it may be taken for what it spells.
        if self.path.iter().flatten().any(|step| step.contains('\\')) {
            return None;
        }
        let demand = match &self.wanted {
            Wanted::Text(glob) => Demand::Glob(glob),
            Wanted::Value(Data::Text(text)) => Demand::Text(text),
            Wanted::Value(Data::Integer(wanted)) => {
                Demand::Number(number::double(&wanted.to_string())?)
            }
            Wanted::Value(Data::Fraction(wanted)) => Demand::Number(number::double(wanted)?),
            Wanted::Value(_) => return None,
        };
        Some(Key { member, path, demand })
    }

    /// A condition, and what is wrong with it, if something is.
    pub fn of(written: &Condition) -> (Self, Option<String>) {
        let path = steps(&written.at);
        let wrong = path.is_none().then(|| {
            let at = &written.at;
            format!("understand `{at}` as a JSON pointer: write `/name`, or `/name/0/part`")
        });
        let wanted = match &written.is {
            Expected::Glob(text) => Wanted::Text(Glob::text(text)),
            Expected::Value(value) => Wanted::Value(value.clone()),
        };
        (Self { path, wanted }, wrong)
    }

    pub fn holds<'a>(&'a self, arguments: &Arguments<'a>) -> Holds {
        let sound = arguments.is_sound();
        let Some(path) = self.path.as_deref().filter(|_| sound) else { return Holds::Unclear };
        match (arguments.at(path), &self.wanted) {
            (None, _) => Holds::No,
            (Some(raw), Wanted::Text(glob)) => fits(glob, raw),
            (Some(raw), Wanted::Value(value)) => is(value, raw),
        }
    }
}

/// The steps of a JSON pointer (RFC 6901).
fn steps(pointer: &str) -> Option<Vec<String>> {
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

/// What stands at the end of a way into a value.
pub(crate) fn find<'a>(raw: &'a [u8], path: &[String]) -> Option<&'a [u8]> {
    path.iter().try_fold(trimmed(raw), |at, step| {
        let span = match at.first() {
            Some(b'{') => scan::member(at, step)?,
            Some(b'[') => scan::elements(at).nth(index(step)?)?,
            _ => return None,
        };
        Some(trimmed(span.of(at)))
    })
}

/// An index as RFC 6901 spells it: no sign, and no zero before other digits.
fn index(step: &str) -> Option<usize> {
    let digits = step.bytes().all(|byte| byte.is_ascii_digit());
    let led = step.len() > 1 && step.starts_with('0');
    (digits && !led).then(|| step.parse().ok())?
}

fn trimmed(raw: &[u8]) -> &[u8] {
    raw.trim_ascii()
}

/// Whether a text fits. A number or a flag that is spelled as the pattern wants may be meant, and in
/// a list or an object a text may stand that is.
fn fits(glob: &Glob, raw: &[u8]) -> Holds {
    match raw.first() {
        Some(b'"') => match string::decode(raw) {
            Some(text) if glob.fits(&text) => Holds::Yes,
            Some(_) => Holds::No,
            None => Holds::Unclear,
        },
        Some(b'{' | b'[') => Holds::Unclear,
        // What is nothing is as good as absent.
        Some(b'n') => Holds::No,
        _ if glob.fits(&spelled(raw)) => Holds::Unclear,
        _ => Holds::No,
    }
}

fn spelled(raw: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(raw)
}

/// Whether it is exactly this value. One that only a lenient reader takes for it (`"1"` for `1`) may
/// be.
fn is(value: &Data, raw: &[u8]) -> Holds {
    match (value, raw.first()) {
        (Data::List(values), Some(b'[')) => all(values, raw),
        (Data::Table(members), Some(b'{')) => every(members, raw),
        (Data::List(_) | Data::Table(_), _) | (_, Some(b'[' | b'{')) => Holds::No,
        (Data::Text(wanted), Some(b'"')) => match string::decode(raw) {
            Some(text) if text == *wanted => Holds::Yes,
            Some(_) => Holds::No,
            None => Holds::Unclear,
        },
        (Data::Integer(wanted), Some(b'-' | b'0'..=b'9')) => {
            is_number(&wanted.to_string(), &spelled(raw))
        }
        (Data::Fraction(wanted), Some(b'-' | b'0'..=b'9')) => is_number(wanted, &spelled(raw)),
        (Data::Null, Some(b'n')) => Holds::Yes,
        (Data::Flag(wanted), Some(b't' | b'f')) => match *wanted == (raw == b"true") {
            true => Holds::Yes,
            false => Holds::No,
        },
        (value, _) => is_like(value, raw),
    }
}

fn is_number(wanted: &str, given: &str) -> Holds {
    match (number::same(wanted, given), number::alike(wanted, given)) {
        (true, _) => Holds::Yes,
        (false, true) => Holds::Unclear,
        (false, false) => Holds::No,
    }
}

/// Two values of different sorts.
fn is_like(value: &Data, raw: &[u8]) -> Holds {
    let given = string::decode(raw).unwrap_or_else(|| spelled(raw));
    let like = match value {
        Data::Text(wanted) => *wanted == given || number::alike(wanted, &given),
        Data::Flag(wanted) => given.eq_ignore_ascii_case(if *wanted { "true" } else { "false" }),
        Data::Integer(wanted) => number::alike(&wanted.to_string(), given.trim()),
        Data::Fraction(wanted) => number::alike(wanted, given.trim()),
        Data::Null | Data::List(_) | Data::Table(_) => false,
    };
    if like { Holds::Unclear } else { Holds::No }
}

fn all(values: &[Data], raw: &[u8]) -> Holds {
    let given: Vec<_> = scan::elements(raw).collect();
    if given.len() != values.len() {
        return Holds::No;
    }
    let each = values.iter().zip(given).map(|(value, at)| is(value, trimmed(at.of(raw))));
    each.min().unwrap_or(Holds::Yes)
}

fn every(members: &[(String, Data)], raw: &[u8]) -> Holds {
    if scan::members(raw).count() != members.len() {
        return Holds::No;
    }
    let each = members.iter().map(|(key, value)| {
        scan::member(raw, key).map_or(Holds::No, |at| is(value, trimmed(at.of(raw))))
    });
    each.min().unwrap_or(Holds::Yes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(at: &str, is: Expected, arguments: &str) -> Holds {
        let test = Test::of(&Condition { at: at.into(), is }).0;
        test.holds(&Arguments::new(arguments.as_bytes()))
    }

    fn glob(at: &str, pattern: &str, arguments: &str) -> Holds {
        holds(at, Expected::Glob(pattern.into()), arguments)
    }

    fn value(at: &str, value: Data, arguments: &str) -> Holds {
        holds(at, Expected::Value(value), arguments)
    }

    #[test]
    fn a_text_fits_as_it_is_meant_not_as_it_is_spelled() {
        assert_eq!(glob("/path", "/etc/*", r#"{"path": "/etc/a/b"}"#), Holds::Yes);
        assert_eq!(glob("/path", "/etc/*", r#"{"path":"\/\u0065tc/x"}"#), Holds::Yes);
        assert_eq!(glob("/path", "/etc/*", r#"{"p\u0061th":"/etc/x"}"#), Holds::Yes);
        assert_eq!(glob("/path", "/etc/*", r#"{"path":"/home"}"#), Holds::No);
        assert_eq!(glob("/a~1b/0/~0", "x", r#"{"a/b":[ {"~" : "x"} ]}"#), Holds::Yes);
        assert_eq!(glob("", "x", r#""x""#), Holds::Yes);
    }

    #[test]
    fn what_is_absent_does_not_hold() {
        for arguments in ["{}", r#"{"path":null}"#, r#"{"paths":"/etc/x"}"#, "[]", "1"] {
            assert_eq!(glob("/path", "*", arguments), Holds::No, "{arguments}");
        }
        assert_eq!(glob("/list/01", "*", r#"{"list":["a","b"]}"#), Holds::No);
        assert_eq!(glob("/list/2", "*", r#"{"list":["a","b"]}"#), Holds::No);
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
            assert_eq!(glob("/path", "/etc/*", arguments), Holds::Unclear, "{arguments}");
        }
        assert_eq!(glob("path", "*", r#"{"path":"x"}"#), Holds::Unclear);
        assert_eq!(glob("/~2", "*", "{}"), Holds::Unclear);
        assert_eq!(glob("/n", "1*", r#"{"n":10}"#), Holds::Unclear);
        assert_eq!(glob("/n", "2*", r#"{"n":10}"#), Holds::No);
    }

    #[test]
    fn values_are_the_same_by_what_they_are() {
        let one = || Data::Integer(1);
        for same in ["1", "1.0", "10e-1"] {
            assert_eq!(value("/n", one(), &format!(r#"{{"n":{same}}}"#)), Holds::Yes);
        }
        assert_eq!(value("/n", one(), r#"{"n":"1"}"#), Holds::Unclear);
        assert_eq!(value("/n", one(), r#"{"n":2}"#), Holds::No);
        let big = Data::Integer(9_007_199_254_740_993);
        assert_eq!(value("/n", big, r#"{"n":9007199254740992}"#), Holds::Unclear);
        assert_eq!(value("/f", Data::Flag(true), r#"{"f":true}"#), Holds::Yes);
        assert_eq!(value("/f", Data::Flag(true), r#"{"f":false}"#), Holds::No);
        assert_eq!(value("/f", Data::Flag(true), r#"{"f":"True"}"#), Holds::Unclear);
        assert_eq!(value("/f", Data::Null, r#"{"f":null}"#), Holds::Yes);
        let list = Data::List(vec![one(), Data::text("a")]);
        assert_eq!(value("/l", list.clone(), r#"{"l":[1, "a"]}"#), Holds::Yes);
        assert_eq!(value("/l", list.clone(), r#"{"l":[1, "b"]}"#), Holds::No);
        assert_eq!(value("/l", list, r#"{"l":["1", "a"]}"#), Holds::Unclear);
        let table = Data::Table(vec![("a".into(), one()), ("b".into(), Data::Null)]);
        assert_eq!(value("/t", table.clone(), r#"{"t":{"b":null,"a":1}}"#), Holds::Yes);
        assert_eq!(value("/t", table, r#"{"t":{"a":1}}"#), Holds::No);
    }
}
