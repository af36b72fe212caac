//! Measures the processor time of a decision over a thousand rules. It prints and asserts nothing
//! about time: `cargo nextest run --release -p toolgate-policy cost --no-capture`.

use std::hint::black_box;

use toolgate_model::{
    ArgumentCondition, CapabilityId, CapabilityKind, ConfigScope, Effect, ExpectedArgumentValue,
    GovernanceSettings, RuleSpec,
};
use toolgate_policy::Policy;

use crate::world::{Call, said, server, set, tool};

/// Only an optimised build measures; any other just checks that it runs.
const ROUNDS: usize = if cfg!(debug_assertions) { 200 } else { 200_000 };
const RULES: usize = 1_000;

/// Processor time of this thread so far, in nanoseconds; wall time where the system does not say.
fn cpu() -> f64 {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.as_deref().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanos
        .unwrap_or_else(|| BEGIN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64() * 1e9)
}

/// A thousand rules of one shape.
fn rules(shape: impl Fn(usize) -> (Effect, RuleSpec)) -> GovernanceSettings {
    let mut all = set(ConfigScope::User, &[]);
    all.rules = (0..RULES).map(shape).collect();
    said([all])
}

fn plain(text: String) -> RuleSpec {
    text.into()
}

fn shapes() -> Vec<(&'static str, GovernanceSettings)> {
    let effect = |at: usize| Effect::ALL[at % 3];
    let when = |at: usize| ArgumentCondition {
        pointer: "/path".into(),
        expected: ExpectedArgumentValue::Glob(format!("/{at}/*")),
    };
    vec![
        (
            "pairs of 50 servers",
            rules(|at| (effect(at), plain(format!("mcp:server-{}/tool_{at}", at % 50)))),
        ),
        (
            "joined names",
            rules(|at| (effect(at), plain(format!("mcp:server_{}_tool_{at}", at % 50)))),
        ),
        ("tags", rules(|at| (effect(at), plain(format!("tag:mcp.area{at}"))))),
        (
            "patterns of one server's tools",
            rules(|at| (effect(at), plain(format!("mcp:server-7/get_{at}_*")))),
        ),
        (
            "patterns of servers and tools",
            rules(|at| (effect(at), plain(format!("mcp:*{at}/*_{at}")))),
        ),
        (
            "conditions on one tool",
            rules(|at| {
                (
                    effect(at),
                    RuleSpec { when: vec![when(at)], ..plain("mcp:server-7/tool_7".into()) },
                )
            }),
        ),
    ]
}

/// Resources and prompts are decided without preparation, because any URI may be read.
#[test]
fn what_a_decision_over_a_thousand_rules_costs_of_what_is_not_prepared() {
    let effect = |at: usize| Effect::ALL[at % 3];
    let shapes = [
        (
            "patterns of one server's resources",
            rules(|at| (effect(at), plain(format!("resource:server-7/file:///{at}/*")))),
        ),
        (
            "ends of resources, whose ever",
            rules(|at| (effect(at), plain(format!("resource:*/**.{at}")))),
        ),
        (
            "patterns of servers",
            rules(|at| (effect(at), plain(format!("resource:*-{at}/file:///**")))),
        ),
        (
            "tools of that server",
            rules(|at| (effect(at), plain(format!("mcp:server-7/get_{at}_*")))),
        ),
        (
            "joined names of tools",
            rules(|at| (effect(at), plain(format!("mcp:server_7_tool_{at}")))),
        ),
    ];
    let notes = tool("server-7", "file:///home/somebody/notes.txt");
    let id = CapabilityId { kind: CapabilityKind::Resource, ..notes };
    let call = Call::of(id);
    let (asked, facts) = (call.asked(), call.facts());
    for (shape, said) in shapes {
        let (policy, bad) = Policy::compile(&said);
        let policy = policy.with_servers(&[server("server-7"), server("server-8")]);
        assert_eq!(bad, []);
        let expected = policy.prepare(asked.id, asked.tags).decide(&asked, &facts).effect;
        let begin = cpu();
        for _ in 0..ROUNDS {
            assert_eq!(black_box(policy.decide(&asked, &facts)).effect, expected);
        }
        let each = (cpu() - begin) / ROUNDS as f64;
        println!("{RULES} rules, {shape}: {each:.0} ns not prepared");
    }
}

#[test]
fn what_a_decision_over_a_thousand_rules_costs() {
    let servers: Vec<_> = (0..50).map(|at| server(&format!("server-{at}"))).collect();
    let mut call = Call::of(tool("server-7", "tool_7"));
    call.tags = vec!["mcp.area7.read".to_owned()];
    call.arguments = r#"{"path":"/home/somebody/notes.txt","limit":20}"#;
    let (asked, facts) = (call.asked(), call.facts());
    for (shape, said) in shapes() {
        let begin = cpu();
        let (policy, bad) = Policy::compile(&said);
        let policy = policy.with_servers(&servers);
        let read = cpu();
        assert_eq!(bad, []);
        let prepared = policy.prepare(asked.id, asked.tags);
        let expected = policy.decide(&asked, &facts);
        assert_eq!(prepared.decide(&asked, &facts), expected);
        let of = |decide: &dyn Fn() -> Effect, rounds: usize| {
            let begin = cpu();
            (0..rounds).for_each(|_| assert_eq!(black_box(decide()), expected.effect));
            (cpu() - begin) / rounds as f64
        };
        let quick = of(&|| prepared.decide(black_box(&asked), black_box(&facts)).effect, ROUNDS);
        let whole = of(&|| policy.decide(black_box(&asked), black_box(&facts)).effect, ROUNDS / 20);
        println!(
            "{RULES} rules, {shape}: {quick:.0} ns prepared, {whole:.0} ns not; {:.1} ms to read",
            (read - begin) / 1e6,
        );
    }
}
