//! What is deferred, and what lists cost.

use toolgate_exposure::{Exposure, TokenCost, Visibility, cost_report, summary};
use toolgate_model::{CapabilityId, CapabilityKind, ExposureMode, Profile};

use crate::world::{OWN, Server, row, see, texts, why};

fn many(count: usize) -> Server {
    let names: Vec<_> = (0..count).map(|n| format!("tool_{n:02}")).collect();
    Server::new("many", &names.iter().map(String::as_str).collect::<Vec<_>>())
}

fn exposing(expose: ExposureMode) -> Profile {
    Profile { expose: Some(expose), ..Profile::default() }
}

fn listed_tokens(exposure: &Exposure) -> u64 {
    let listed = exposure.entries.iter().filter(|row| row.visibility == Visibility::Listed);
    listed.map(|row| u64::from(row.tokens)).sum()
}

#[test]
fn by_search_every_tool_is_deferred_and_nothing_else() {
    let server = many(2).with(CapabilityKind::Prompt, &["plan"]);
    let seen = see(&[server], exposing(ExposureMode::Search));
    let rule = "deferred: profile research exposes by search (profiles.toml:3)".to_owned();
    assert_eq!(why(&seen, "many", "tool_00"), (Visibility::Deferred, rule));
    assert_eq!(row(&seen, "many", "plan").visibility, Visibility::Listed);
    assert!(seen.searching && seen.deferred.len() == 2);
    let nothing =
        see(&[many(0).with(CapabilityKind::Prompt, &["plan"])], exposing(ExposureMode::Search));
    assert!(!nothing.searching, "there is nothing to search for");
}

#[test]
fn automatically_tools_are_deferred_when_they_are_not_few() {
    let few = see(&[many(ExposureMode::AUTO_LIMIT)], exposing(ExposureMode::Auto));
    assert!(!few.searching && few.deferred.is_empty());
    let more = see(&[many(ExposureMode::AUTO_LIMIT + 1)], exposing(ExposureMode::Auto));
    assert!(more.searching && more.deferred.len() == ExposureMode::AUTO_LIMIT + 1);
    let rule = "deferred: 16 tools, profile research lists up to 15 (profiles.toml:3)".to_owned();
    assert_eq!(why(&more, "many", "tool_00"), (Visibility::Deferred, rule));
    assert_eq!((more.expose, few.expose), (ExposureMode::Auto, ExposureMode::Auto));
}

#[test]
fn what_is_over_a_budget_is_deferred_by_its_cost() {
    let server = Server::new("s", &["small_a", "small_b"])
        .described("large", &"word ".repeat(800))
        .described("larger", &"word ".repeat(900))
        .described("named", &"word ".repeat(1_000));
    let budgeted = |budget| Profile {
        include: texts(&["s/*", "s/named"]),
        budget: Some(budget),
        ..Profile::default()
    };
    let whole = listed_tokens(&see(std::slice::from_ref(&server), budgeted(u32::MAX)));
    let whole = u32::try_from(whole).unwrap() + OWN.always;
    let exact = see(std::slice::from_ref(&server), budgeted(whole));
    assert!(!exact.searching, "what fits is listed");
    let servers = [server];
    let tight = see(&servers, budgeted(whole - 1));
    let deferred = |seen: &Exposure| {
        let all = seen.entries.iter().filter(|row| row.visibility == Visibility::Deferred);
        all.map(|row| row.id.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(deferred(&tight), ["larger"], "the most expensive that is not named");
    assert!(listed_tokens(&tight) + u64::from(OWN.always + OWN.finding) < u64::from(whole));
    let rule = format!("deferred: over the budget of {} tokens (profiles.toml:3)", whole - 1);
    assert_eq!(why(&tight, "s", "larger"), (Visibility::Deferred, rule));
    let none = see(&servers, budgeted(0));
    assert_eq!(deferred(&none).len(), 5);
    let named = row(&tight, "s", "named").tokens + OWN.always + OWN.finding;
    assert_eq!(
        deferred(&see(&servers, budgeted(named))),
        ["large", "larger", "small_a", "small_b"]
    );
}

#[test]
fn a_definition_costs_what_its_name_makes_it() {
    let servers = [Server::new("a_server_with_a_long_name", &["t"])];
    let bare = Profile { prefix: Some(toolgate_model::PrefixMode::Never), ..Profile::default() };
    let tokens = |profile| row(&see(&servers, profile), "a_server_with_a_long_name", "t").tokens;
    assert!(tokens(Profile::default()) > tokens(bare));
}

#[test]
fn the_ledger_adds_up_in_every_mode() {
    let servers = [many(20), Server::new("one", &["alone"])];
    let about = |id: &CapabilityId| {
        let server = servers.iter().find(|server| server.spec.name == id.server)?;
        let tool = server.catalog.tools.iter().find(|tool| tool.name == id.name)?;
        Some(&*tool.raw)
    };
    for mode in ExposureMode::ALL {
        let seen = see(&servers, exposing(mode));
        let costs = cost_report(&seen, &about);
        let tools: u64 = seen.entries.iter().map(|row| u64::from(row.tokens)).sum();
        assert_eq!(costs.profile.all, tools + 7);
        assert_eq!(costs.profile.search, 107);
        assert_eq!(costs.profile.sent, in_mode(&costs.profile, mode), "{}", mode.as_str());
        let all: u64 = costs.servers.values().map(|cost| cost.all).sum();
        assert_eq!((all, costs.tools.len(), costs.servers.len()), (tools, 21, 2));
        let told = costs.profile.auto - 107;
        assert!(told > 0 && told < tools, "a line costs less than a definition");
        let text = summary(&seen, &about);
        assert_eq!(text.is_empty(), mode != ExposureMode::Auto);
        if mode == ExposureMode::Auto {
            assert!(text.starts_with("many:\n- many__tool_00: Does it.\n"), "{text}");
            assert!(text.ends_with("\none:\n- one__alone: Does it.\n"), "{text}");
        }
    }
    let few = see(&servers[1..], exposing(ExposureMode::Auto));
    let costs = cost_report(&few, &about);
    assert_eq!((costs.profile.auto, costs.profile.sent), (costs.profile.all, costs.profile.all));
}

#[test]
fn a_summary_is_bounded_and_says_how_many_are_left() {
    let names: Vec<_> = (0..2_000).map(|n| format!("tool_{n:04}")).collect();
    let server = Server::new("many", &names.iter().map(String::as_str).collect::<Vec<_>>());
    let seen = see(&[server], exposing(ExposureMode::Auto));
    let text = summary(&seen, &|_| None);
    let told = text.matches("\n- ").count();
    assert!(text.len() < 9_000 && told > 100, "{told} {}", text.len());
    assert!(text.ends_with(&format!("\nand {} more\n", 2_000 - told)), "{told}");
}

/// A budget holds in every mode, whatever is said instead of definitions.
#[test]
fn a_line_about_each_is_within_the_budget_too() {
    let sent = |count, budget| {
        let profile = Profile { budget: Some(budget), ..exposing(ExposureMode::Auto) };
        let seen = see(&[many(count)], profile);
        (cost_report(&seen, &|_| None).profile.sent, summary(&seen, &|_| None))
    };
    let (cost, text) = sent(100, 400);
    assert!(cost <= 400 && text.contains("tool_00") && text.contains("more"), "{cost}: {text}");
    let (cost, text) = sent(100, 50);
    assert_eq!((cost, text.as_str()), (107, ""), "nothing but the tools that find others");
    // Few tools that cost too much: what is deferred is found, and nothing is said of it.
    let (cost, text) = sent(ExposureMode::AUTO_LIMIT, 200);
    assert!(cost <= 200 && text.is_empty(), "{cost}: {text}");
}

fn in_mode(cost: &TokenCost, mode: ExposureMode) -> u64 {
    match mode {
        ExposureMode::All => cost.all,
        ExposureMode::Search => cost.search,
        ExposureMode::Auto => cost.auto,
    }
}
