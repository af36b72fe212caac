//! What holds whatever is declared.

use std::collections::BTreeSet;

use proptest::prelude::*;
use toolgate_exposure::NamingOptions;
use toolgate_exposure::{ExposureOptions, Visibility, exposure};
use toolgate_model::{
    CapabilityKind, DeclaredTool, ExposureMode, Profile, ToolSelection, imports_tag,
    matches_tool_pattern,
};

use crate::world::{OWN, Server, declared, offers};

fn pattern() -> impl Strategy<Value = String> {
    prop_oneof!["[ab*]{1,2}", "[ab]", "a([*])?"]
}

fn tags() -> impl Strategy<Value = Option<Vec<String>>> {
    let tag = prop::sample::select(vec!["mcp", "mcp.a", "mcp.ab", "mcp.a.b"]);
    prop::option::of(prop::collection::vec(tag.prop_map(str::to_owned), 0..3))
}

fn entry() -> impl Strategy<Value = DeclaredTool> {
    let alias = prop::option::of("[ab]{1,2}");
    (alias, tags(), any::<bool>()).prop_map(|(alias, tags, enabled)| DeclaredTool {
        alias,
        tags,
        enabled,
        approval: None,
    })
}

fn server(name: &'static str) -> impl Strategy<Value = Server> {
    let selection = (
        prop::collection::vec(pattern(), 0..3),
        prop::collection::vec(pattern(), 0..2),
        prop::bool::weighted(0.2),
        prop::collection::btree_map("[ab]{1,2}", entry(), 0..4),
    );
    let tools = prop::collection::btree_set("[abc]{1,2}", 0..6);
    (tools, tags(), selection).prop_map(move |(tools, tags, selection)| {
        let tools: Vec<_> = tools.iter().map(String::as_str).collect();
        let mut server = Server::new(name, &tools).with(CapabilityKind::Prompt, &["a", "b"]);
        let (include, exclude, listed_only, tools) = selection;
        server.spec.selection =
            ToolSelection { include, exclude, listed_only, tools, approval: None };
        server.spec.tags = tags;
        server
    })
}

fn profile() -> impl Strategy<Value = Profile> {
    let path = prop_oneof!["[ab*]/[ab*]{1,2}", "[ab]", "a/[ab]"];
    let include = prop::collection::vec(path.clone(), 0..3);
    let exclude = prop::collection::vec(path, 0..2);
    let expose = prop::option::of(prop::sample::select(ExposureMode::ALL.to_vec()));
    let budget = prop::option::of(0..600_u32);
    (tags(), include, exclude, expose, budget).prop_map(
        |(tags, include, exclude, expose, budget)| Profile {
            tags,
            include,
            exclude,
            expose,
            budget,
            ..Profile::default()
        },
    )
}

/// Whether a tool is seen, from the declarations alone.
fn is_seen(server: &Server, tool: &str, profile: &Profile) -> bool {
    let (name, selection) = (server.spec.name.as_str(), &server.spec.selection);
    let path = format!("{name}/{tool}");
    let fits = |patterns: &[String]| {
        patterns.iter().any(|it| matches_tool_pattern(it, &path) || matches_tool_pattern(it, name))
    };
    let derived = vec!["mcp".to_owned(), format!("mcp.{}", server.spec.name)];
    let server_tags = server.spec.tags.clone().unwrap_or(derived);
    let tags = selection.tools.get(tool).and_then(|it| it.tags.clone()).unwrap_or(server_tags);
    let imported = match &profile.tags {
        Some(imported) => imported.iter().any(|it| tags.iter().any(|tag| imports_tag(it, tag))),
        None => profile.include.is_empty(),
    };
    selection.is_visible(tool) && !fits(&profile.exclude) && (fits(&profile.include) || imported)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn everything_has_one_row_and_is_seen_as_declared(
        a in server("a"),
        b in server("b"),
        profile in profile(),
    ) {
        let servers = [a, b];
        let (style, declared) = (NamingOptions::default(), declared(profile.clone()));
        let terms = ExposureOptions {
            profile: "p",
            declared: &declared,
            style: &style,
            expose: ExposureMode::All,
            own: OWN,
            unusable: &|_, _| None,
        };
        let mut offers = offers(&servers);
        let seen = exposure(&offers, &terms);
        offers.reverse();
        let again = exposure(&offers, &terms);
        prop_assert_eq!(format!("{:?}", seen.entries), format!("{:?}", again.entries));

        let ids: BTreeSet<_> = seen.entries.iter().map(|row| &row.id).collect();
        prop_assert_eq!(ids.len(), seen.entries.len());
        for server in &servers {
            for tool in &server.catalog.tools {
                let row = seen.entries.iter().find(|row| {
                    row.id.server == server.spec.name
                        && row.id.name == tool.name
                        && row.id.kind == CapabilityKind::Tool
                });
                let row = row.expect("a row for every tool");
                let visible = is_seen(server, &tool.name, &profile);
                prop_assert_eq!(row.visibility != Visibility::Hidden, visible, "{:?}", row);
                prop_assert_eq!(row.exposed.is_some(), visible);
                prop_assert_eq!(seen.names.name_of(&row.id), row.exposed.as_deref());
                prop_assert_eq!(row.visibility == Visibility::Deferred, seen.deferred.contains(&row.id));
            }
        }
        let absent = seen.entries.iter().filter(|row| row.tokens == 0).count();
        prop_assert!(seen.findings.len() >= absent);
        prop_assert_eq!(seen.searching, !seen.deferred.is_empty());
        check_budget(&seen, &profile)?;
    }
}

fn check_budget(
    seen: &toolgate_exposure::Exposure,
    profile: &Profile,
) -> Result<(), TestCaseError> {
    let tools = || seen.entries.iter().filter(|row| row.id.kind == CapabilityKind::Tool);
    let listed = || tools().filter(|row| row.visibility == Visibility::Listed);
    let visible = tools().filter(|row| row.visibility != Visibility::Hidden).count();
    let mode = profile.expose.unwrap_or(ExposureMode::All);
    if mode == ExposureMode::Search
        || (mode == ExposureMode::Auto && visible > ExposureMode::AUTO_LIMIT)
    {
        prop_assert_eq!(listed().count(), 0);
        return Ok(());
    }
    let Some(budget) = profile.budget else {
        prop_assert!(!seen.searching);
        return Ok(());
    };
    let own = OWN.always + if seen.searching { OWN.finding } else { 0 };
    let sum = listed().map(|row| row.tokens).sum::<u32>() + own;
    prop_assert!(sum <= budget || listed().next().is_none(), "{} over {}", sum, budget);
    Ok(())
}
