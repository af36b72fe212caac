//! Resolves what a rule that allows covers, given the known servers.
//!
//! `mcp:a_b_c` may be tool `b_c` of server `a` or tool `c` of server `a_b`, and a server could take
//! a name that makes another rule match it. So a rule that allows has one meaning or none: the
//! reading that fits a declared server, if only one does.

use std::collections::BTreeSet;

use toolgate_model::ServerName;

use crate::glob::Glob;
use crate::pattern::{CapabilityKinds, NameSeparator, PatternReading, RulePattern};

/// The resolved meaning of a rule that allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatternResolution {
    /// Exactly this.
    Resolved(RulePattern),
    /// Nothing: it matches no known server.
    Absent,
    /// Nothing: it is ambiguous between these, each in an unambiguous spelling.
    Ambiguous(Vec<String>),
}

/// Resolves the meaning of a rule. If the servers are not known, only unambiguous forms count: one
/// slash, or no character at which names could be joined.
pub(crate) fn resolve(
    pattern: &RulePattern,
    known: Option<&BTreeSet<ServerName>>,
) -> PatternResolution {
    let readings: Vec<_> = pattern.readings.iter().filter(|reading| is_meant(reading)).collect();
    match (&readings[..], known) {
        (
            [
                one @ (PatternReading::Pair { .. }
                | PatternReading::Tag(_)
                | PatternReading::Everything(_)),
            ],
            _,
        ) => resolve_to((*one).clone()),
        ([PatternReading::HostServerName { server, .. }], None) => {
            resolve_to(whole_server(server.clone()))
        }
        (
            [split @ PatternReading::Pair { name, .. }, PatternReading::Pair { server, .. }],
            None,
        ) if name.is_some() || server.as_str().ends_with("/*") => resolve_to((*split).clone()),
        (readings, None) => {
            PatternResolution::Ambiguous(readings.iter().map(|one| format_reading(one)).collect())
        }
        (readings, Some(known)) => resolve_among(readings, known),
    }
}

fn resolve_to(reading: PatternReading) -> PatternResolution {
    PatternResolution::Resolved(RulePattern { readings: vec![reading] })
}

fn whole_server(server: Glob) -> PatternReading {
    PatternReading::Pair { server, name: None, kinds: CapabilityKinds::All }
}

/// Returns false for a joined name without a separator: in a rule that allows, that is the name of
/// a server.
fn is_meant(reading: &PatternReading) -> bool {
    match reading {
        PatternReading::JoinedName { whole, join, .. } => whole.as_str().contains(join.as_str()),
        _ => true,
    }
}

fn resolve_among(readings: &[&PatternReading], known: &BTreeSet<ServerName>) -> PatternResolution {
    let fitting = |reading: &&PatternReading| {
        let fitting: Vec<_> =
            known.iter().filter(|server| may_match_server(reading, server)).collect();
        (!fitting.is_empty()).then_some(((*reading).clone(), fitting))
    };
    let found: Vec<_> = readings.iter().filter_map(fitting).collect();
    match &found[..] {
        [] => PatternResolution::Absent,
        [(reading, servers)] => bind_to_servers(reading, servers),
        several => PatternResolution::Ambiguous(
            several.iter().flat_map(|(reading, servers)| meanings(reading, servers)).collect(),
        ),
    }
}

/// Returns true if a reading of an allow rule can match a server. A pattern matches the server's own
/// name only.
fn may_match_server(reading: &PatternReading, server: &ServerName) -> bool {
    match reading {
        PatternReading::HostServerName { server: wanted, .. } if wanted.as_literal().is_none() => {
            wanted.matches(server.as_str())
        }
        reading => reading.may_match_server(server),
    }
}

/// Restricts a reading to the servers it matches.
fn bind_to_servers(reading: &PatternReading, servers: &[&ServerName]) -> PatternResolution {
    match (reading, servers) {
        (PatternReading::HostServerName { server, .. }, [one]) if server.as_literal().is_some() => {
            resolve_to(whole_server(Glob::exact(one.as_str())))
        }
        (PatternReading::HostServerName { server, .. }, _) if server.as_literal().is_none() => {
            resolve_to(whole_server(server.clone()))
        }
        (PatternReading::JoinedName { whole, join, .. }, [one]) => {
            resolve_to(PatternReading::JoinedName {
                whole: Glob::path_pattern(whole.as_str()),
                join: *join,
                only: Some((*one).clone()),
            })
        }
        (PatternReading::HostServerName { .. } | PatternReading::JoinedName { .. }, several) => {
            PatternResolution::Ambiguous(meanings(reading, several))
        }
        (reading, _) => resolve_to(reading.clone()),
    }
}

/// Returns the unambiguous spelling of a reading for each server.
fn meanings(reading: &PatternReading, servers: &[&ServerName]) -> Vec<String> {
    servers.iter().map(|server| format_for(reading, server.as_str())).collect()
}

/// Returns the unambiguous spelling of a reading for one server.
fn format_for(reading: &PatternReading, server: &str) -> String {
    match reading {
        PatternReading::Pair { name: Some(name), kinds, .. } => {
            format!("{}:{server}/{}", kinds.prefix(), name.as_str())
        }
        PatternReading::Pair { kinds, .. } => format!("{}:{server}", kinds.prefix()),
        PatternReading::JoinedName { whole, join, .. } => {
            let rest = tool_part(whole.as_str(), server, *join);
            format!("mcp:{server}/{}", rest.unwrap_or("*"))
        }
        _ => format!("mcp:{server}"),
    }
}

/// Returns the tool's part of a joined text, if it spells out the server's name.
fn tool_part<'a>(text: &'a str, server: &str, join: NameSeparator) -> Option<&'a str> {
    let behind = |name: &str| text.strip_prefix(name)?.strip_prefix(join.as_str());
    behind(server).or_else(|| behind(&join.sanitize(server))).filter(|rest| !rest.is_empty())
}

/// Returns the unambiguous spelling of a reading.
fn format_reading(reading: &PatternReading) -> String {
    match reading {
        PatternReading::Pair { server, .. } | PatternReading::HostServerName { server, .. } => {
            format_for(reading, server.as_str())
        }
        PatternReading::JoinedName { whole, .. } => {
            format!("mcp:SERVER/TOOL for {}", whole.as_str())
        }
        PatternReading::Tag(_) | PatternReading::Everything(_) => "everything".to_owned(),
    }
}
