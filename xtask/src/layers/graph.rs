//! Checks which crate may depend on which.
//!
//! Dependencies point downwards only. A crate may depend on another crate of its layer only if the
//! pair is listed here, so that each such edge is a documented decision.

use std::collections::BTreeMap;

use crate::workspace::{CrateDependency, DependencyKind, WorkspaceMember};

/// The layer of a crate, lowest first; the derived order defines the allowed direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum CrateLayer {
    Values,
    Rules,
    Edges,
    Engine,
    Host,
    /// The parts of the local context. Only the command line builds on them.
    Context,
    Apps,
    /// Servers to test against. It uses nothing of ours, or it would agree with our mistakes.
    Testkit,
    /// `xtask` and the end-to-end tests: they may use everything, and nothing uses them.
    Tools,
}

/// Uses within one layer: (who, whom).
const NEIGHBOURS: &[(&str, &str)] = &[
    ("toolgate-model", "toolgate-wire"),
    ("toolgate-exposure", "toolgate-search"),
    ("toolgate-search", "toolgate-terms"),
    ("toolgate-pins", "toolgate-schema"), // its tests: what a schema takes is asked of who knows
    ("toolgate-transport", "toolgate-launch"),
    ("toolgate-fleet", "toolgate-session"),
    ("toolgate-gate", "toolgate-fleet"),
    ("toolgate-gate", "toolgate-session"),
    ("toolgate-extraction", "toolgate-reading"),
    ("toolgate-library", "toolgate-reading"),
    ("toolgate-context", "toolgate-extraction"),
    ("toolgate-context", "toolgate-library"),
    ("toolgate-context", "toolgate-reading"),
    ("toolgate-cli", "toolgate-context"),
    ("toolgate-cli", "toolgate-gateway"),
    ("xtask", "toolgate-e2e"),
];

/// What apps build on; the rest stands behind `host`, so that no face reaches behind the gate.
const FOR_APPS: &[&str] =
    &["toolgate-host", "toolgate-wire", "toolgate-model", "toolgate-transport"];

/// What the local context builds on: it is a server behind the gate, with a file of its own.
const FOR_CONTEXT: &[&str] =
    &["toolgate-host", "toolgate-wire", "toolgate-model", "toolgate-store", "toolgate-terms"];

/// Folders whose crates do no IO.
const PURE: &[&str] =
    &["crates/values/", "crates/rules/", "crates/context/reading", "crates/context/extraction"];

/// Crates that do IO, wait, or reach for the machine: not for pure crates.
const IMPURE: &[&str] = &[
    "async-trait",
    "futures-util",
    "getrandom",
    "hyper",
    "hyper-rustls",
    "hyper-util",
    "libc",
    "mio",
    "nix",
    "notify",
    "rand",
    "reqwest",
    "rmcp",
    "rustix",
    "rustls",
    "sqlx",
    "tempfile",
    "tokio",
    "tokio-util",
];

/// Every use that breaks a rule, said with the rule it breaks.
pub fn faults(members: &[WorkspaceMember]) -> Vec<String> {
    let mut faults = Vec::new();
    let mut layers = BTreeMap::new();
    for member in members {
        match layer(&member.folder) {
            Some(layer) => _ = layers.insert(member.name.as_str(), layer),
            None => faults.push(format!("{}: `{}` is in no layer", member.name, member.folder)),
        }
    }
    for member in members {
        let Some(&own) = layers.get(member.name.as_str()) else {
            continue;
        };
        for used in &member.dependencies {
            let reason = match layers.get(used.name.as_str()) {
                Some(&theirs) => inside(&member.name, own, used, theirs),
                None => outside(&member.folder, used),
            };
            faults.extend(reason.map(|why| format!("{} uses {}: {why}", member.name, used.name)));
        }
    }
    faults
}

fn layer(folder: &str) -> Option<CrateLayer> {
    let mut parts = folder.split('/');
    match (parts.next()?, parts.next()) {
        ("crates", Some("values")) => Some(CrateLayer::Values),
        ("crates", Some("rules")) => Some(CrateLayer::Rules),
        ("crates", Some("edges")) => Some(CrateLayer::Edges),
        ("crates", Some("engine")) => Some(CrateLayer::Engine),
        ("crates", Some("host")) => Some(CrateLayer::Host),
        ("crates", Some("context")) => Some(CrateLayer::Context),
        ("crates", Some("apps")) => Some(CrateLayer::Apps),
        ("crates", Some("testkit")) => Some(CrateLayer::Testkit),
        ("xtask" | "tests" | "fuzz" | "benches", _) => Some(CrateLayer::Tools),
        _ => None,
    }
}

fn inside(
    user: &str,
    own: CrateLayer,
    used: &CrateDependency,
    theirs: CrateLayer,
) -> Option<&'static str> {
    let listed = NEIGHBOURS.contains(&(user, used.name.as_str()));
    match (own, theirs) {
        (CrateLayer::Testkit, _) => Some("the testkit must not share code with what it tests"),
        (CrateLayer::Tools, CrateLayer::Tools) if !listed => {
            Some("tools do not build on each other")
        }
        (CrateLayer::Tools, _) => None,
        (_, CrateLayer::Testkit) if used.kind == DependencyKind::Dev => None,
        (_, CrateLayer::Testkit) => Some("the testkit is for tests only"),
        _ if theirs > own => Some("it points upwards"),
        (CrateLayer::Apps, CrateLayer::Context) if !listed => {
            Some("only the command line uses the local context, through its server")
        }
        (CrateLayer::Apps, CrateLayer::Context) => None,
        (CrateLayer::Apps, _) if theirs < own && !FOR_APPS.contains(&used.name.as_str()) => {
            Some("apps reach it through `host`")
        }
        (CrateLayer::Context, _) if theirs < own && !FOR_CONTEXT.contains(&used.name.as_str()) => {
            Some("the local context does not build on it")
        }
        _ if theirs == own && !listed => Some("a neighbour that is not listed"),
        _ => None,
    }
}

/// Whether the crates or files below this path do no IO.
pub(super) fn is_pure(path: &str) -> bool {
    PURE.iter().any(|folder| path.starts_with(folder))
}

fn outside(folder: &str, used: &CrateDependency) -> Option<&'static str> {
    let checked = is_pure(folder) && used.kind == DependencyKind::Normal;
    (checked && IMPURE.contains(&used.name.as_str())).then_some("values and rules do no IO")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(folder: &str, uses: &[(&str, DependencyKind)]) -> WorkspaceMember {
        let last = folder.rsplit('/').next().unwrap();
        let name = if last == "xtask" { last.to_owned() } else { format!("toolgate-{last}") };
        let dependencies = uses
            .iter()
            .map(|&(name, kind)| CrateDependency { name: name.to_owned(), kind })
            .collect();
        WorkspaceMember { name, folder: folder.to_owned(), dependencies }
    }

    fn graph(extra: WorkspaceMember) -> Vec<String> {
        let mut members = vec![
            member("crates/values/wire", &[]),
            member("crates/edges/launch", &[]),
            member("crates/edges/store", &[]),
            member("crates/engine/gate", &[("toolgate-wire", DependencyKind::Normal)]),
            member("crates/testkit", &[]),
        ];
        members.retain(|member| member.name != extra.name);
        members.push(extra);
        faults(&members)
    }

    #[test]
    fn a_downward_use_is_fine() {
        assert!(
            graph(member("crates/host", &[("toolgate-gate", DependencyKind::Normal)])).is_empty()
        );
    }

    #[test]
    fn an_upward_use_is_a_fault_even_in_tests() {
        for kind in [DependencyKind::Normal, DependencyKind::Dev] {
            let faults = graph(member("crates/values/wire", &[("toolgate-gate", kind)]));
            assert_eq!(faults, ["toolgate-wire uses toolgate-gate: it points upwards"]);
        }
    }

    #[test]
    fn apps_reach_the_engine_through_the_host() {
        let faults = graph(member("crates/apps/cli", &[("toolgate-gate", DependencyKind::Normal)]));
        assert_eq!(faults, ["toolgate-cli uses toolgate-gate: apps reach it through `host`"]);
        assert!(
            graph(member("crates/apps/cli", &[("toolgate-wire", DependencyKind::Normal)]))
                .is_empty()
        );
    }

    #[test]
    fn the_local_context_is_a_slice_that_only_the_command_line_uses() {
        let used = |folder: &str, name: &str| {
            let mut members = vec![
                member("crates/context/library", &[]),
                member("crates/context/context", &[]),
                member("crates/engine/gate", &[]),
            ];
            members.push(member(folder, &[(name, DependencyKind::Normal)]));
            faults(&members).len()
        };
        assert_eq!(used("crates/apps/cli", "toolgate-context"), 0);
        assert_eq!(used("crates/apps/cli", "toolgate-library"), 1);
        assert_eq!(used("crates/apps/gateway", "toolgate-context"), 1);
        assert_eq!(used("crates/host", "toolgate-library"), 1);
        assert_eq!(used("crates/context/reading", "toolgate-gate"), 1);
        assert_eq!(used("crates/context/reading", "tokio"), 1);
    }

    #[test]
    fn a_neighbour_must_be_listed() {
        let listed =
            member("crates/edges/transport", &[("toolgate-launch", DependencyKind::Normal)]);
        assert!(graph(listed).is_empty());
        let unlisted =
            member("crates/edges/transport", &[("toolgate-store", DependencyKind::Normal)]);
        assert_eq!(graph(unlisted).len(), 1);
        let reversed = member("crates/edges/launch", &[("toolgate-store", DependencyKind::Normal)]);
        assert_eq!(graph(reversed).len(), 1);
    }

    #[test]
    fn the_testkit_is_for_tests_and_stands_alone() {
        assert!(
            graph(member("crates/host", &[("toolgate-testkit", DependencyKind::Dev)])).is_empty()
        );
        assert_eq!(
            graph(member("crates/host", &[("toolgate-testkit", DependencyKind::Normal)])).len(),
            1
        );
        assert_eq!(
            graph(member("crates/testkit", &[("toolgate-wire", DependencyKind::Normal)])).len(),
            1
        );
    }

    #[test]
    fn values_and_rules_stay_pure_but_their_tests_may_not() {
        let faults = graph(member("crates/rules/policy", &[("tokio", DependencyKind::Normal)]));
        assert_eq!(faults, ["toolgate-policy uses tokio: values and rules do no IO"]);
        assert!(graph(member("crates/rules/policy", &[("tokio", DependencyKind::Dev)])).is_empty());
        assert!(
            graph(member("crates/engine/gate", &[("tokio", DependencyKind::Normal)])).is_empty()
        );
    }

    #[test]
    fn nothing_uses_the_tools_and_a_stray_crate_is_seen() {
        let faults = faults(&[
            member("xtask", &[]),
            member("crates/host", &[("xtask", DependencyKind::Normal)]),
            member("crates/elsewhere/thing", &[]),
        ]);
        assert_eq!(faults.len(), 2, "{faults:?}");
    }
}
