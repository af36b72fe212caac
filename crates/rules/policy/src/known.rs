//! What a rule that allows means, among the servers there are.
//!
//! `mcp:a_b_c` may be tool `b_c` of server `a` or tool `c` of server `a_b`, and a server may be named
//! so that somebody else's rule opens it. So a rule that allows means one of its readings or none:
//! the one that fits a declared server, if it is the only one that does.

use std::collections::BTreeSet;

use toolgate_model::ServerName;

use crate::glob::Glob;
use crate::pattern::{Join, Kinds, Pattern, Reading};

/// What a rule that allows means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Settled {
    /// This.
    To(Pattern),
    /// Nothing: it is about no server there is.
    Absent,
    /// Nothing: it may mean each of these, as they would be written plainly.
    Ambiguous(Vec<String>),
}

/// Settles what a rule means. Where the servers are not known, only forms that need none of them
/// count: one slash, or no sign at which names could be joined.
pub(crate) fn settle(pattern: &Pattern, known: Option<&BTreeSet<ServerName>>) -> Settled {
    let readings: Vec<_> = pattern.readings.iter().filter(|reading| is_meant(reading)).collect();
    match (&readings[..], known) {
        ([one @ (Reading::Pair { .. } | Reading::Tag(_) | Reading::Everything(_))], _) => {
            only((*one).clone())
        }
        ([Reading::Made { server, .. }], None) => only(whole(server.clone())),
        ([split @ Reading::Pair { name, .. }, Reading::Pair { server, .. }], None)
            if name.is_some() || server.as_str().ends_with("/*") =>
        {
            only((*split).clone())
        }
        (readings, None) => Settled::Ambiguous(readings.iter().map(|one| plainly(one)).collect()),
        (readings, Some(known)) => among(readings, known),
    }
}

fn only(reading: Reading) -> Settled {
    Settled::To(Pattern { readings: vec![reading] })
}

fn whole(server: Glob) -> Reading {
    Reading::Pair { server, name: None, kinds: Kinds::All }
}

/// A text without the sign that joins is a server's name to whoever allows.
fn is_meant(reading: &Reading) -> bool {
    match reading {
        Reading::Joined { whole, join, .. } => whole.as_str().contains(join.between()),
        _ => true,
    }
}

fn among(readings: &[&Reading], known: &BTreeSet<ServerName>) -> Settled {
    let fitting = |reading: &&Reading| {
        let fitting: Vec<_> = known.iter().filter(|server| may_be(reading, server)).collect();
        (!fitting.is_empty()).then_some(((*reading).clone(), fitting))
    };
    let found: Vec<_> = readings.iter().filter_map(fitting).collect();
    match &found[..] {
        [] => Settled::Absent,
        [(reading, servers)] => bound(reading, servers),
        several => Settled::Ambiguous(
            several.iter().flat_map(|(reading, servers)| meanings(reading, servers)).collect(),
        ),
    }
}

/// Whether a reading can be about a server.
fn may_be(reading: &Reading, server: &ServerName) -> bool {
    let own = server.as_str();
    match reading {
        Reading::Pair { server, .. } => server.fits(own),
        Reading::Made { server, join } => {
            server.fits(own) || server.plain() == Some(&*join.made(own))
        }
        Reading::Joined { whole, join, .. } => [own, &*join.made(own)]
            .iter()
            .any(|name| whole.may_begin(&format!("{name}{}", join.between()))),
        Reading::Tag(_) | Reading::Everything(_) => true,
    }
}

/// The reading, held to the servers it was found to be about.
fn bound(reading: &Reading, servers: &[&ServerName]) -> Settled {
    match (reading, servers) {
        (Reading::Made { server, .. }, [one]) if server.plain().is_some() => {
            only(whole(Glob::exactly(one.as_str())))
        }
        (Reading::Made { server, .. }, _) if server.plain().is_none() => {
            only(whole(server.clone()))
        }
        (Reading::Joined { whole, join, .. }, [one]) => only(Reading::Joined {
            whole: Glob::part(whole.as_str()),
            join: *join,
            only: Some((*one).clone()),
        }),
        (Reading::Made { .. } | Reading::Joined { .. }, several) => {
            Settled::Ambiguous(meanings(reading, several))
        }
        (reading, _) => only(reading.clone()),
    }
}

/// What a reading would be, written plainly for each server.
fn meanings(reading: &Reading, servers: &[&ServerName]) -> Vec<String> {
    let Reading::Joined { whole, join, .. } = reading else {
        let each = |server: &&ServerName| match reading {
            Reading::Pair { name: Some(name), kinds, .. } => {
                format!("{}:{server}/{}", kinds.prefix(), name.as_str())
            }
            Reading::Pair { kinds, .. } => format!("{}:{server}", kinds.prefix()),
            _ => format!("mcp:{server}"),
        };
        return servers.iter().map(each).collect();
    };
    let each = |server: &&ServerName| {
        let rest = tool(whole.as_str(), server.as_str(), *join);
        format!("mcp:{server}/{}", rest.unwrap_or("*"))
    };
    servers.iter().map(each).collect()
}

/// What stands behind a server's name in a joined text, if the name is written out.
fn tool<'a>(text: &'a str, server: &str, join: Join) -> Option<&'a str> {
    let behind = |name: &str| text.strip_prefix(name)?.strip_prefix(join.between());
    behind(server).or_else(|| behind(&join.made(server))).filter(|rest| !rest.is_empty())
}

/// A reading as it would be written plainly.
fn plainly(reading: &Reading) -> String {
    match reading {
        Reading::Pair { server, name: Some(name), kinds } => {
            format!("{}:{}/{}", kinds.prefix(), server.as_str(), name.as_str())
        }
        Reading::Pair { server, kinds, .. } => format!("{}:{}", kinds.prefix(), server.as_str()),
        Reading::Made { server, .. } => format!("mcp:{}", server.as_str()),
        Reading::Joined { whole, .. } => format!("mcp:SERVER/TOOL for {}", whole.as_str()),
        Reading::Tag(_) | Reading::Everything(_) => "everything".to_owned(),
    }
}
