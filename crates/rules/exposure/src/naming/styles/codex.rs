//! Codex: a namespace `mcp__server` and the tool, joined with `__` into one name.
//!
//! Codex separates equal names itself, with twelve digits of the SHA-1 of the raw identity: servers
//! that share a namespace, tools that share a name within one, and names that are too long or
//! taken, in the order of identities. This style computes the same digests, so that names in a
//! user's allow-list stay valid.

use std::collections::{HashMap, HashSet};

use sha1::{Digest, Sha1};
use toolgate_wire::hex;

use crate::naming::bounds::NameBounds;
use crate::naming::candidates::{NameChoices, NamingCandidate};

const PREFIX: &str = "mcp__";
const BETWEEN: &str = "__";
const DIGITS: usize = 12;

/// A name in the making.
struct CodexName {
    namespace: String,
    tool: String,
    server_identity: String,
    identity: String,
}

pub(super) fn name_choices(
    members: &[NamingCandidate<'_>],
    bounds: NameBounds,
) -> Vec<NameChoices> {
    let mut candidates: Vec<_> = members.iter().map(|member| candidate(member, bounds)).collect();
    // Own tools are not named by Codex.
    let mut ours: Vec<_> = (0..members.len()).filter(|at| !members[*at].own).collect();
    let shared = shared(&candidates, &ours, |it| it.namespace.clone(), |it| &it.server_identity);
    for at in &ours {
        let it = &mut candidates[*at];
        if shared.contains(&it.namespace) {
            it.namespace = marked_namespace(&it.namespace, &it.server_identity);
        }
    }
    let pair = |it: &CodexName| (it.namespace.clone(), it.tool.clone());
    let shared = self::shared(&candidates, &ours, pair, |it| &it.identity);
    for at in &ours {
        let it = &mut candidates[*at];
        if shared.contains(&(it.namespace.clone(), it.tool.clone())) {
            it.tool = format!("{}{}", it.tool, suffix(&it.identity));
        }
    }
    ours.sort_by(|one, other| candidates[*one].identity.cmp(&candidates[*other].identity));
    let mut taken = HashSet::new();
    for at in ours {
        let (namespace, tool) = free(&candidates[at], &mut taken, bounds.max);
        (candidates[at].namespace, candidates[at].tool) = (namespace, tool);
    }
    let join = |it: CodexName| format!("{}{BETWEEN}{}", it.namespace, it.tool);
    candidates
        .into_iter()
        .map(join)
        .map(|name| NameChoices { plain: vec![name.clone()], base: name })
        .collect()
}

fn candidate(member: &NamingCandidate<'_>, bounds: NameBounds) -> CodexName {
    let server = member.id.server.as_str();
    // Server, namespace and connector. Without plugins, the namespace is the server's name and
    // there is no connector.
    let server_identity = format!("{server}\0{server}\0");
    let identity = format!("{server_identity}\0{}\0{}", member.name, member.id.name);
    let namespace = bounds.sanitised(server);
    let namespace = match namespace.starts_with(PREFIX) {
        true => namespace,
        false => format!("{PREFIX}{namespace}"),
    };
    CodexName { namespace, tool: bounds.sanitised(member.name), server_identity, identity }
}

/// Returns the keys that belong to more than one identity.
fn shared<K: std::hash::Hash + Eq>(
    candidates: &[CodexName],
    ours: &[usize],
    key: impl Fn(&CodexName) -> K,
    identity: impl Fn(&CodexName) -> &String,
) -> HashSet<K> {
    let mut owners: HashMap<K, HashSet<&String>> = HashMap::new();
    for candidate in ours.iter().map(|at| &candidates[*at]) {
        owners.entry(key(candidate)).or_default().insert(identity(candidate));
    }
    owners.into_iter().filter(|(_, owners)| owners.len() > 1).map(|(key, _)| key).collect()
}

fn marked_namespace(namespace: &str, identity: &str) -> String {
    match namespace.strip_suffix(BETWEEN) {
        Some(namespace) => format!("{namespace}{}{BETWEEN}", suffix(identity)),
        None => format!("{namespace}{}", suffix(identity)),
    }
}

/// Returns namespace and tool, short enough and unused. Codex compares the two concatenated.
fn free(it: &CodexName, taken: &mut HashSet<String>, max: usize) -> (String, String) {
    let together = format!("{}{}", it.namespace, it.tool);
    if together.len() + BETWEEN.len() <= max && taken.insert(together) {
        return (it.namespace.clone(), it.tool.clone());
    }
    let mut identity = it.identity.clone();
    let mut attempt = 0;
    loop {
        let (namespace, tool) = with_digest(it, &identity, max);
        if taken.insert(format!("{namespace}{tool}")) {
            return (namespace, tool);
        }
        attempt += 1;
        identity = format!("{}\0{attempt}", it.identity);
    }
}

fn with_digest(it: &CodexName, identity: &str, max: usize) -> (String, String) {
    let suffix = suffix(identity);
    let first = |text: &str, length: usize| text[..length.min(text.len())].to_owned();
    let room = max.saturating_sub(it.namespace.len() + BETWEEN.len());
    if let Some(room) = room.checked_sub(suffix.len()) {
        return (it.namespace.clone(), format!("{}{suffix}", first(&it.tool, room)));
    }
    (first(&it.namespace, max - suffix.len() - BETWEEN.len()), suffix)
}

fn suffix(identity: &str) -> String {
    let digest = hex::encode(&Sha1::digest(identity.as_bytes()));
    format!("_{}", &digest[..DIGITS])
}
