//! What files name and no server has: a wrong letter there is otherwise found by nobody.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind, Selection, without_remark};

use crate::judge::Judged;
use crate::patterns::plain;
use crate::{Because, Offer, Row, Seen, Terms};

/// A row for every tool that a server's declaration names and the server does not offer.
pub(crate) fn listed(offers: &[&Offer<'_>], findings: &mut Vec<String>) -> Vec<Judged> {
    let mut rows = Vec::new();
    for (place, offer) in offers.iter().enumerate() {
        let there: HashSet<_> = offer.catalog.tools.iter().map(|tool| &*tool.name).collect();
        for name in named(&offer.spec.selection).filter(|name| !there.contains(name)) {
            let server = &offer.spec.name;
            let rule =
                format!("servers.{server} lists tool {name:?}, which the server does not offer");
            findings.push(rule.clone());
            let own = offer.spec.written_tags(name).map(<[String]>::to_vec);
            let entry = offer.spec.selection.tools.get(name);
            let row = Row {
                id: CapabilityId {
                    server: server.clone(),
                    kind: CapabilityKind::Tool,
                    name: Arc::from(name),
                },
                alias: entry.and_then(|entry| entry.alias.as_deref()).map(Arc::from),
                exposed: None,
                seen: Seen::Hidden,
                because: Because::new(rule, offer.origin),
                tags: own.unwrap_or_else(|| offer.spec.server_tags()),
                tokens: 0,
            };
            rows.push(Judged { row, spelled_out: false, offer: place });
        }
    }
    rows
}

/// The tools a declaration names one by one.
fn named(selection: &Selection) -> impl Iterator<Item = &str> {
    let included = selection.include.iter().filter_map(|it| plain(without_remark(it)));
    let entries = selection.tools.keys().map(String::as_str);
    included.chain(entries).collect::<BTreeSet<_>>().into_iter()
}

/// What a profile includes by its full name, of a server that is here and does not have it. Of a
/// server that is not here nothing can be said.
pub(crate) fn included(offers: &[&Offer<'_>], terms: &Terms<'_>, findings: &mut Vec<String>) {
    let include = &terms.declared.profile.include;
    let wanted: BTreeSet<_> = include.iter().filter_map(|pattern| plain(pattern)).collect();
    if wanted.is_empty() {
        return;
    }
    let servers: HashMap<_, _> =
        offers.iter().map(|offer| (offer.spec.name.as_str(), *offer)).collect();
    for path in wanted {
        // A server's name may hold a slash itself.
        let splits = path.match_indices('/').map(|(at, _)| (&path[..at], &path[at + 1..]));
        let mut here = splits.filter_map(|(server, name)| Some((servers.get(server)?, name)));
        let Some((offer, name)) = here.next() else { continue };
        let has = |offer: &Offer<'_>, name: &str| {
            let all = CapabilityKind::ALL.into_iter().flat_map(|kind| offer.catalog.of(kind));
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
