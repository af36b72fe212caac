//! What holds for every set of capabilities: names differ, fit, and do not depend on order.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::collections::BTreeSet;

use proptest::prelude::*;
use toolgate_exposure::{ExposedNames, NameClaim, NamingOptions, UriOwner, expose};
use toolgate_model::{CapabilityId, CapabilityKind, PrefixMode, ServerName};

/// Few letters, so that names collide after sanitising, by running together and by case.
fn server() -> impl Strategy<Value = String> {
    prop_oneof!["[aA_.]{1,3}", "[a-z]{60,64}", "host"]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[ab_./ü]{1,4}",
        "[ab]{50,54}(x|y.{0,20})",
        "toolgate[+]a:[ab]{1,2}",
        "ui://(toolgate[+]a/){0,2}[ab]{0,2}",
        ".{0,6}"
    ]
}

fn capability() -> impl Strategy<Value = CapabilityId> {
    let kind = prop::sample::select(CapabilityKind::ALL.to_vec());
    (server(), kind, name()).prop_map(|(server, kind, name)| CapabilityId {
        server: ServerName::new(&server).unwrap(),
        kind,
        name: name.into(),
    })
}

fn style() -> impl Strategy<Value = NamingOptions> {
    let servers = ["host", "a"].map(|name| ServerName::new(name).unwrap());
    let own = prop::sample::subsequence(servers.to_vec(), 0..=2);
    let prefix = prop::sample::select(PrefixMode::ALL.to_vec());
    (prefix, own).prop_map(|(prefix, own)| NamingOptions {
        prefix,
        own,
        ..NamingOptions::default()
    })
}

fn claims(ids: &[CapabilityId]) -> Vec<NameClaim> {
    ids.iter().cloned().map(|id| NameClaim { id, alias: None }).collect()
}

fn table(exposed: &ExposedNames, ids: &[CapabilityId]) -> Vec<(CapabilityId, Option<String>)> {
    let distinct: BTreeSet<_> = ids.iter().cloned().collect();
    distinct
        .into_iter()
        .map(|id| {
            let name = exposed.name_of(&id).map(str::to_owned);
            (id, name)
        })
        .collect()
}

proptest! {
    #[test]
    fn every_name_leads_back_to_its_capability(
        ids in prop::collection::vec(capability(), 0..40),
        style in style(),
    ) {
        let exposed = expose(&claims(&ids), &[], &style);
        let quarantined: BTreeSet<_> = exposed.quarantined.iter().map(|(id, _)| id).collect();
        for (id, name) in table(&exposed, &ids) {
            prop_assert_eq!(name.is_none(), quarantined.contains(&id));
            let Some(name) = name else { continue };
            prop_assert_eq!(exposed.id_of(id.kind, &name), Some(&id));
            if id.kind == CapabilityKind::Resource {
                let there = UriOwner::Server { server: &id.server, uri: (&*id.name).into() };
                prop_assert_eq!(exposed.find_uri_owner(&name), there);
                prop_assert_eq!(exposed.exposed_uri(&id.server, &id.name), name);
            }
        }
    }

    #[test]
    fn names_do_not_depend_on_order(
        (ids, shuffled) in prop::collection::vec(capability(), 0..40)
            .prop_flat_map(|ids| (Just(ids.clone()), Just(ids).prop_shuffle())),
        style in style(),
    ) {
        let names = |order: &[CapabilityId]| table(&expose(&claims(order), &[], &style), &ids);
        prop_assert_eq!(names(&ids), names(&shuffled));
    }

    #[test]
    fn names_fit_what_clients_accept(
        ids in prop::collection::vec(capability(), 0..40),
        style in style(),
    ) {
        let exposed = expose(&claims(&ids), &[], &style);
        let named = [CapabilityKind::Tool, CapabilityKind::Prompt];
        for id in ids.iter().filter(|id| named.contains(&id.kind)) {
            let Some(name) = exposed.name_of(id) else { continue };
            let own = style.own.contains(&id.server);
            let as_written = own || style.prefix == PrefixMode::Never;
            let fine = |c: char| {
                c.is_ascii_alphanumeric() || "_-".contains(c) || (as_written && "./".contains(c))
            };
            prop_assert!((1..=49).contains(&name.len()) && name.chars().all(fine), "{}", name);
        }
    }

    #[test]
    fn a_uri_a_server_sent_never_leads_to_another(
        ids in prop::collection::vec(capability(), 1..20),
        sender in any::<prop::sample::Index>(),
        uri in name(),
    ) {
        let exposed = expose(&claims(&ids), &[], &NamingOptions::default());
        let server = sender.get(&ids).server.clone();
        let shown = exposed.exposed_uri(&server, &uri);
        match exposed.find_uri_owner(&shown) {
            UriOwner::Server { server: owner, .. } => prop_assert_eq!(owner, &server),
            UriOwner::Ambiguous(_) => prop_assert!(false, "{} is ambiguous", shown),
            UriOwner::Unknown => prop_assert_eq!(&*shown, &*uri),
        }
    }

    #[test]
    fn a_tagged_uri_decodes_and_a_user_interface_remains_one(
        ids in prop::collection::vec(capability(), 1..20),
        owner in any::<prop::sample::Index>(),
        uri in name(),
    ) {
        let exposed = expose(&claims(&ids), &[], &NamingOptions::default());
        let server = owner.get(&ids).server.clone();
        let tagged = exposed.tagged_uri(&server, &uri).unwrap();
        prop_assert_eq!(tagged.starts_with("ui://"), uri.starts_with("ui://"));
        if exposed.id_of(CapabilityKind::Resource, &tagged).is_none() {
            let there = UriOwner::Server { server: &server, uri: uri.into() };
            prop_assert_eq!(exposed.find_uri_owner(&tagged), there);
        }
    }
}
