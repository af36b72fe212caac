//! Reads what a rule is about: `mcp:server/tool`, `mcp:server_tool`, `mcp__server__tool`,
//! `tag:mcp.git`, `resource:server/uri`, `prompt:server/name`, `method:server/name`.
//!
//! Any text is read or refused with what to write instead; none is guessed at.

use toolgate_model::is_invisible;

use crate::glob::Glob;
use crate::pattern::{Join, Kinds, Pattern, Reading};

/// The longest text of a rule, in bytes: a URI may be long.
const MAX_BYTES: usize = 2048;
/// What is told of a text that is none of the forms.
const FORMS: &str = "write `mcp:SERVER/TOOL`, `mcp:SERVER`, `tag:TAG`, `resource:SERVER/URI`, \
                     `prompt:SERVER/NAME` or `method:SERVER/NAME`";

/// All ways to read a text.
pub(crate) fn read(text: &str) -> Result<Pattern, String> {
    if let Some(hidden) = text.chars().find(|c| is_invisible(*c)) {
        return Err(format!("it holds the invisible character U+{:04X}", hidden as u32));
    }
    if text.len() > MAX_BYTES {
        return Err(format!("it has {} bytes (the limit is {MAX_BYTES})", text.len()));
    }
    if text.trim() != text {
        return Err("white space stands around it".to_owned());
    }
    let readings = match text.split_once(':') {
        Some(("mcp", rest)) if rest.contains('/') => pairs(rest, Kinds::Tools),
        Some(("mcp", rest)) => joined_by_one(rest),
        Some(("resource", rest)) => pairs(rest, Kinds::Resources),
        Some(("prompt", rest)) => pairs(rest, Kinds::Prompts),
        Some(("method", rest)) => pairs(rest, Kinds::Methods),
        Some(("tag", rest)) => tag(rest),
        _ => match text.strip_prefix("mcp__") {
            Some(rest) => joined_by_two(rest),
            None => return Err(FORMS.to_owned()),
        },
    };
    match readings.is_empty() {
        true => Err(format!("a part of it is empty: {FORMS}")),
        false => Ok(Pattern { readings }),
    }
}

/// What a text that cannot be read might have been about.
pub(crate) fn unread(text: &str) -> Pattern {
    let kinds = match text.split_once(':') {
        Some(("resource", _)) => Kinds::Resources,
        Some(("prompt", _)) => Kinds::Prompts,
        Some(("method", _)) => Kinds::Methods,
        _ => Kinds::All,
    };
    Pattern { readings: vec![Reading::Everything(kinds)] }
}

/// `server/name`, split at every slash, since both may hold one; and the whole as a server's name.
fn pairs(rest: &str, kinds: Kinds) -> Vec<Reading> {
    let whole = if kinds == Kinds::Tools { Kinds::All } else { kinds };
    let split = |(at, _): (usize, &str)| {
        let (server, name) = (&rest[..at], &rest[at + 1..]);
        (!server.is_empty() && !name.is_empty()).then(|| pair(server, name, kinds, whole))
    };
    let mut readings: Vec<_> = rest.match_indices('/').filter_map(split).collect();
    let everything = |reading: &Reading| matches!(reading, Reading::Pair { server, name: None, .. } if server.is_any());
    if let Some(at) = readings.iter().position(everything) {
        // It says all that the others could say.
        return vec![readings.swap_remove(at)];
    }
    let broken = rest.is_empty() || rest.starts_with('/') || rest.ends_with('/');
    match broken && readings.is_empty() {
        true => Vec::new(),
        false => {
            readings.push(Reading::Pair { server: Glob::part(rest), name: None, kinds: whole });
            readings
        }
    }
}

/// `server/*` is everything of the server, as `server` alone is.
fn pair(server: &str, name: &str, kinds: Kinds, whole: Kinds) -> Reading {
    let (server, name) = (Glob::part(server), Glob::part(name));
    match name.is_any() {
        true => Reading::Pair { server, name: None, kinds: whole },
        false => Reading::Pair { server, name: Some(name), kinds },
    }
}

/// `server`, or `server_tool`.
fn joined_by_one(rest: &str) -> Vec<Reading> {
    if rest.is_empty() {
        return Vec::new();
    }
    let server = Reading::Pair { server: Glob::part(rest), name: None, kinds: Kinds::All };
    let is_joined = rest.contains(['_', '*', '?']) && !Glob::part(rest).is_any();
    let whole = Glob::text(rest);
    let joined = Reading::Joined { whole, join: Join::Single, only: None };
    [server].into_iter().chain(is_joined.then_some(joined)).collect()
}

/// `server`, or `server__tool`, behind `mcp__`.
fn joined_by_two(rest: &str) -> Vec<Reading> {
    if rest.is_empty() {
        return Vec::new();
    }
    let server = Reading::Made { server: Glob::part(rest), join: Join::Double };
    let is_joined = rest.contains("__") || rest.contains(['*', '?']);
    let whole = Glob::text(rest);
    let joined = Reading::Joined { whole, join: Join::Double, only: None };
    [server]
        .into_iter()
        .chain((is_joined && !Glob::part(rest).is_any()).then_some(joined))
        .collect()
}

fn tag(rest: &str) -> Vec<Reading> {
    match rest.split('.').any(str::is_empty) {
        true => Vec::new(),
        false => vec![Reading::Tag(rest.split('.').map(Glob::text).collect())],
    }
}
