//! What holds in every style, for every set of servers, tools, aliases and orders.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use proptest::prelude::*;
use toolgate_exposure::{ExposedNames, NameBounds, NameClaim, NamingOptions, expose};
use toolgate_model::{CapabilityId, CapabilityKind, NamingStyle, PrefixMode, ServerName};

use super::naive;
use super::tool;

const CASES: u32 = 100_000;

/// All of them with `TOOLGATE_SOAK`, else a tenth.
fn cases() -> ProptestConfig {
    let cases = if std::env::var_os("TOOLGATE_SOAK").is_some() { CASES } else { CASES / 10 };
    ProptestConfig { cases, max_shrink_iters: 2_000, ..ProptestConfig::default() }
}

/// Few letters, so that names meet after cleaning, by running together, and by cutting.
fn server() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab_.-]{1,3}".prop_filter("has a letter", |name| !name.trim().is_empty()),
        2 => prop::sample::select(vec!["srv.one", "srv-one", "two_", "mcp_a", "mcp__a", "host"])
            .prop_map(str::to_owned),
        1 => "[ab]{24,30}[ab.-]{20,34}[ab]{20,40}",
    ]
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[ab_./:ü-]{1,3}",
        2 => prop::sample::select(vec!["search", "a__a", "b__a", "mcp_a_a", "tool_search", "a🙂"])
            .prop_map(str::to_owned),
        1 => "a{28}[ab.]{1,8}b{32}",
        1 => "[ab/]{60,200}",
        1 => "\\PC{1,6}",
    ]
}

fn claim() -> impl Strategy<Value = NameClaim> {
    let alias = prop::option::weighted(0.2, prop_oneof!["[ab_.]{1,2}", Just("search".to_owned())]);
    let prompt = prop::bool::weighted(0.1);
    (server(), name(), alias, prompt).prop_map(|(server, name, alias, prompt)| {
        let kind = if prompt { CapabilityKind::Prompt } else { CapabilityKind::Tool };
        let id = CapabilityId { kind, ..tool(&server, &name) };
        NameClaim { id, alias: alias.map(Into::into) }
    })
}

fn style() -> impl Strategy<Value = NamingOptions> {
    let servers = ["host", "mcp_a"].map(|name| ServerName::new(name).unwrap());
    let own = prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::sample::subsequence(servers.to_vec(), 1..=2),
    ];
    let naming = prop::sample::select(NamingStyle::ALL.to_vec());
    let prefix = prop::sample::select(PrefixMode::ALL.to_vec());
    let reserved = prop::sample::select(vec![vec![], vec!["tool_search", "call_tool", "a"]]);
    (naming, prefix, own, reserved).prop_map(|(naming, prefix, own, reserved)| NamingOptions {
        naming,
        prefix,
        own,
        reserved,
    })
}

/// Claims of different things in some order and in another, and their servers as configured.
#[derive(Debug, Clone)]
struct Set {
    claims: Vec<NameClaim>,
    shuffled: Vec<NameClaim>,
    servers: Vec<ServerName>,
}

fn set() -> impl Strategy<Value = Set> {
    let claims = prop::collection::vec(claim(), 1..14).prop_map(|claims| {
        let by_id: BTreeMap<_, _> =
            claims.into_iter().map(|claim| (claim.id.clone(), claim)).collect();
        by_id.into_values().collect::<Vec<_>>()
    });
    claims.prop_flat_map(|claims| {
        let servers: BTreeSet<_> = claims.iter().map(|claim| claim.id.server.clone()).collect();
        let servers: Vec<_> = servers.into_iter().collect();
        let shuffled = Just(claims.clone()).prop_shuffle();
        (Just(claims), shuffled, Just(servers).prop_shuffle())
            .prop_map(|(claims, shuffled, servers)| Set { claims, shuffled, servers })
    })
}

fn table(exposed: &ExposedNames, claims: &[NameClaim]) -> BTreeMap<CapabilityId, Option<String>> {
    let name = |claim: &NameClaim| exposed.name_of(&claim.id).map(str::to_owned);
    claims.iter().map(|claim| (claim.id.clone(), name(claim))).collect()
}

/// Whether a name ends in a digest, ours or Codex's.
fn is_marked(name: &str) -> bool {
    let Some((_, digest)) = name.rsplit_once('_') else { return false };
    let hex = digest.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f'));
    hex && [8, 12, 16, 40].contains(&digest.len())
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn names_are_the_hosts_own_where_that_is_unambiguous_and_apart_everywhere(
        set in set(),
        style in style(),
    ) {
        let servers: Vec<_> = set.servers.iter().collect();
        let exposed = expose(&set.claims, &servers, &style);
        let names = table(&exposed, &set.claims);
        let again = table(&expose(&set.shuffled, &servers, &style), &set.claims);
        prop_assert_eq!(&names, &again, "the order claims came in does not matter");
        check_apart(&exposed, &names, &style)?;
        for kind in [CapabilityKind::Tool, CapabilityKind::Prompt] {
            check_exact(&set, kind, &names, &style)?;
        }
    }
}

/// Each name is one's own, leads back, and is within the bounds.
fn check_apart(
    exposed: &ExposedNames,
    names: &BTreeMap<CapabilityId, Option<String>>,
    style: &NamingOptions,
) -> Result<(), TestCaseError> {
    let mut seen = BTreeSet::new();
    let quarantined: BTreeSet<_> = exposed.quarantined.iter().map(|(id, _)| id).collect();
    for (id, name) in names {
        let Some(name) = name else {
            prop_assert!(
                quarantined.contains(id) && id.name_problem().is_some(),
                "{} has none",
                id
            );
            continue;
        };
        prop_assert!(seen.insert((id.kind, name)), "{:?} twice", name);
        prop_assert_eq!(exposed.id_of(id.kind, name), Some(id));
        let own = style.own.contains(&id.server);
        let wide = own && style.naming == NamingStyle::Toolgate;
        let bounds = match wide {
            true => NameBounds::of(&NamingOptions { prefix: PrefixMode::Never, ..style.clone() }),
            false => NameBounds::of(style),
        };
        prop_assert!(bounds.allow(name), "{:?} in {}", name, style.naming.as_str());
        let is_tool = id.kind == CapabilityKind::Tool;
        prop_assert!(!(is_tool && style.reserved.contains(&name.as_str())), "{:?}", name);
    }
    Ok(())
}

/// Where the host's own name is nobody else's, it is taken; where not, a digest tells them apart.
fn check_exact(
    set: &Set,
    kind: CapabilityKind,
    names: &BTreeMap<CapabilityId, Option<String>>,
    style: &NamingOptions,
) -> Result<(), TestCaseError> {
    let style = match kind {
        CapabilityKind::Tool => style.clone(),
        _ => NamingOptions { reserved: Vec::new(), ..style.clone() },
    };
    let usable = |claim: &&NameClaim| claim.id.kind == kind && claim.id.name_problem().is_none();
    let tools: Vec<_> = set
        .claims
        .iter()
        .filter(usable)
        .map(|claim| naive::Tool {
            id: &claim.id,
            called: claim.alias.as_deref().unwrap_or(&claim.id.name),
            place: set.servers.iter().position(|server| *server == claim.id.server).unwrap(),
        })
        .collect();
    let wanted = naive::names(&tools, &style);
    let mut owners: HashMap<&str, usize> = HashMap::new();
    for name in &wanted {
        *owners.entry(name).or_default() += 1;
    }
    let own = |tool: &naive::Tool<'_>| style.own.contains(&tool.id.server);
    // A name that others wanted first and gave up for a prefix is not unambiguous either.
    let on_collision =
        style.naming == NamingStyle::Toolgate && style.prefix == PrefixMode::OnCollision;
    let bare: Vec<_> = tools.iter().map(naive::bare).collect();
    for ((tool, bare), name) in tools.iter().zip(&bare).zip(&wanted) {
        if on_collision && !own(tool) && bare != name {
            *owners.entry(bare).or_default() += 1;
        }
    }
    let max = NameBounds::of(&style).max;
    let prefixed =
        naive::names(&tools, &NamingOptions { prefix: PrefixMode::Always, ..style.clone() });
    for ((tool, host), spare) in tools.iter().zip(&wanted).zip(&prefixed) {
        let name = names[tool.id].as_deref().unwrap();
        let of_own = |name: &str| {
            tools.iter().zip(&wanted).filter(|(tool, wanted)| own(tool) && *wanted == name).count()
        };
        let alone = owners[host.as_str()] == 1 || (own(tool) && of_own(host) == 1);
        if alone && host.len() <= max && !style.reserved.contains(&host.as_str()) {
            prop_assert_eq!(name, host, "{} in {:?}", tool.id, &style);
        } else {
            // Where a prefix is there for collisions, it comes before the digest.
            let told = is_marked(name) || (on_collision && name == spare);
            prop_assert!(told, "{} as {:?} in {:?}", tool.id, name, &style);
        }
    }
    Ok(())
}
