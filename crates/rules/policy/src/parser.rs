//! Parses the subject of a rule: `mcp:server/tool`, `mcp:server_tool`, `mcp__server__tool`,
//! `tag:mcp.git`, `resource:server/uri`, `prompt:server/name`, `method:server/name`.
//!
//! A subject in no known form is an error that says what to write instead; nothing is guessed.

use toolgate_model::is_invisible;

use crate::glob::Glob;
use crate::pattern::{CapabilityKinds, NameSeparator, PatternReading, RulePattern};

/// The longest subject, in bytes. URIs may be long.
const MAX_BYTES: usize = 2048;
/// The advice for a subject in no known form.
const FORMS: &str = "write `mcp:SERVER/TOOL`, `mcp:SERVER`, `tag:TAG`, `resource:SERVER/URI`, \
                     `prompt:SERVER/NAME` or `method:SERVER/NAME`";

/// Parses a subject into all its readings.
pub(crate) fn parse(text: &str) -> Result<RulePattern, String> {
    if let Some(hidden) = text.chars().find(|c| is_invisible(*c)) {
        return Err(format!("it contains the invisible character U+{:04X}", hidden as u32));
    }
    if text.len() > MAX_BYTES {
        return Err(format!("it is {} bytes long (the limit is {MAX_BYTES})", text.len()));
    }
    if text.trim() != text {
        return Err("it starts or ends with white space".to_owned());
    }
    let readings = match text.split_once(':') {
        Some(("mcp", rest)) if rest.contains('/') => parse_pairs(rest, CapabilityKinds::Tools),
        Some(("mcp", rest)) => parse_joined(rest, NameSeparator::Single),
        Some(("resource", rest)) => parse_pairs(rest, CapabilityKinds::Resources),
        Some(("prompt", rest)) => parse_pairs(rest, CapabilityKinds::Prompts),
        Some(("method", rest)) => parse_pairs(rest, CapabilityKinds::Methods),
        Some(("tag", rest)) => parse_tag(rest),
        _ => match text.strip_prefix("mcp__") {
            Some(rest) => parse_joined(rest, NameSeparator::Double),
            None => return Err(format!("its form is unknown: {FORMS}")),
        },
    };
    match readings.is_empty() {
        true => Err(format!("part of it is empty: {FORMS}")),
        false => Ok(RulePattern { readings }),
    }
}

/// Returns what an invalid subject might have been about.
pub(crate) fn fallback_pattern(text: &str) -> RulePattern {
    let kinds = match text.split_once(':') {
        Some(("resource", _)) => CapabilityKinds::Resources,
        Some(("prompt", _)) => CapabilityKinds::Prompts,
        Some(("method", _)) => CapabilityKinds::Methods,
        _ => CapabilityKinds::All,
    };
    RulePattern { readings: vec![PatternReading::Everything(kinds)] }
}

/// Parses `server/name`, split at every slash because both parts may contain one, and the whole
/// text as the name of a server.
fn parse_pairs(rest: &str, kinds: CapabilityKinds) -> Vec<PatternReading> {
    let whole = if kinds == CapabilityKinds::Tools { CapabilityKinds::All } else { kinds };
    let split = |(at, _): (usize, &str)| {
        let (server, name) = (&rest[..at], &rest[at + 1..]);
        (!server.is_empty() && !name.is_empty()).then(|| parse_pair(server, name, kinds, whole))
    };
    let mut readings: Vec<_> = rest.match_indices('/').filter_map(split).collect();
    let everything = |reading: &PatternReading| matches!(reading, PatternReading::Pair { server, name: None, .. } if server.is_any());
    if let Some(at) = readings.iter().position(everything) {
        // It covers all other readings.
        return vec![readings.swap_remove(at)];
    }
    let broken = rest.is_empty() || rest.starts_with('/') || rest.ends_with('/');
    match broken && readings.is_empty() {
        true => Vec::new(),
        false => {
            readings.push(PatternReading::Pair {
                server: Glob::path_pattern(rest),
                name: None,
                kinds: whole,
            });
            readings
        }
    }
}

/// Parses one split. `server/*` covers the whole server, like `server` alone.
fn parse_pair(
    server: &str,
    name: &str,
    kinds: CapabilityKinds,
    whole: CapabilityKinds,
) -> PatternReading {
    let (server, name) = (Glob::path_pattern(server), Glob::path_pattern(name));
    match name.is_any() {
        true => PatternReading::Pair { server, name: None, kinds: whole },
        false => PatternReading::Pair { server, name: Some(name), kinds },
    }
}

/// Parses `server`, or server and tool joined as a host joins them.
fn parse_joined(rest: &str, join: NameSeparator) -> Vec<PatternReading> {
    if rest.is_empty() {
        return Vec::new();
    }
    let server = Glob::path_pattern(rest);
    let is_joined = (rest.contains(join.as_str()) || rest.contains(['*', '?'])) && !server.is_any();
    let server = match join {
        NameSeparator::Single => {
            PatternReading::Pair { server, name: None, kinds: CapabilityKinds::All }
        }
        NameSeparator::Double => PatternReading::HostServerName { server, join },
    };
    let whole = Glob::text_pattern(rest);
    let joined = PatternReading::JoinedName { whole, join, only: None };
    [server].into_iter().chain(is_joined.then_some(joined)).collect()
}

fn parse_tag(rest: &str) -> Vec<PatternReading> {
    match rest.split('.').any(str::is_empty) {
        true => Vec::new(),
        false => vec![PatternReading::Tag(rest.split('.').map(Glob::text_pattern).collect())],
    }
}
