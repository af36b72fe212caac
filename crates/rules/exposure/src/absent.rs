//! Reports names in files that no server offers, because a typo would otherwise go unnoticed.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind, ToolSelection, strip_remark};

use crate::patterns::as_plain_name;
use crate::{ExposureEntry, ExposureOptions, ExposureReason, ServerOffer, Visibility};

/// Returns an entry for every tool that a server's declaration names and the server does not offer.
pub(crate) fn missing_tools(
    offers: &[&ServerOffer<'_>],
    findings: &mut Vec<String>,
) -> Vec<ExposureEntry> {
    let mut rows = Vec::new();
    for offer in offers {
        let there: HashSet<_> = offer.catalog.tools.iter().map(|tool| &*tool.name).collect();
        for name in named(&offer.spec.selection).filter(|name| !there.contains(name)) {
            let server = &offer.spec.name;
            let rule =
                format!("servers.{server} lists tool {name:?}, which the server does not offer");
            findings.push(rule.clone());
            let own = offer.spec.declared_tags(name).map(<[String]>::to_vec);
            let entry = offer.spec.selection.tools.get(name);
            rows.push(ExposureEntry {
                id: CapabilityId {
                    server: server.clone(),
                    kind: CapabilityKind::Tool,
                    name: Arc::from(name),
                },
                alias: entry.and_then(|entry| entry.alias.as_deref()).map(Arc::from),
                exposed: None,
                visibility: Visibility::Hidden,
                because: ExposureReason::new(rule, offer.origin),
                tags: own.unwrap_or_else(|| offer.spec.server_tags()),
                tokens: 0,
            });
        }
    }
    rows
}

/// Returns the tools that a declaration names individually.
fn named(selection: &ToolSelection) -> impl Iterator<Item = &str> {
    let included = selection.include.iter().filter_map(|it| as_plain_name(strip_remark(it)));
    let entries = selection.tools.keys().map(String::as_str);
    included.chain(entries).collect::<BTreeSet<_>>().into_iter()
}

/// Reports full names in a profile's `include` that a known server does not offer. Names of unknown
/// servers are not reported.
pub(crate) fn report_missing_includes(
    offers: &[&ServerOffer<'_>],
    terms: &ExposureOptions<'_>,
    findings: &mut Vec<String>,
) {
    let include = &terms.declared.profile.include;
    let wanted: BTreeSet<_> = include.iter().filter_map(|pattern| as_plain_name(pattern)).collect();
    if wanted.is_empty() {
        return;
    }
    let servers: HashMap<_, _> =
        offers.iter().map(|offer| (offer.spec.name.as_str(), *offer)).collect();
    for path in wanted {
        // A server's name may contain a slash.
        let splits = path.match_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..]));
        let mut here = splits.filter_map(|(server, name)| Some((servers.get(server)?, name)));
        let Some((offer, name)) = here.next() else { continue };
        let has = |offer: &ServerOffer<'_>, name: &str| {
            let all =
                CapabilityKind::ALL.into_iter().flat_map(|kind| offer.catalog.definitions(kind));
            all.into_iter().any(|definition| &*definition.name == name)
        };
        let elsewhere = here.any(|(offer, name)| has(offer, name));
        if !servers.contains_key(path) && !has(offer, name) && !elsewhere {
            let (profile, server) = (terms.profile, &offer.spec.name);
            findings.push(format!(
                "profile {profile} includes {path:?}, which server {server} does not offer"
            ));
        }
    }
}
