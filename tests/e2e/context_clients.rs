//! The local context, driven by clients nobody here wrote: the MCP Inspector's command line and the
//! Python SDKs, on every surface it has; what they are given fits the schemas they were told.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolgate_e2e::gateway::GatewaySetup;
use toolgate_e2e::peers;

use crate::plan::{Carrier, Era, Peer, names};

const MINUTES: &str = "# Planning, 3 March 2026\n\n\
Attendees: Ada, Grace, Linus\n\n\
## Database\n\nDecision: we use SQLite for the archive because it needs no operator.\n\n\
## Actions\n\n- [ ] @grace writes the migration by 2026-03-20\n- [x] @ada books the room\n\n\
Who tells the customers about the downtime?\n";

const HANDBOOK: &str = "# Handbook of the lighthouse\n\n\
## Lamp\n\nThe lamp turns once in twelve seconds. It is lit at sunset.\n\n\
## Stores\n\nThe keeper orders forty litres of oil each month from the harbour office.\n";

/// What the tools are called with, by their plain names.
fn arguments() -> [(&'static str, Value); 8] {
    [
        ("ask", json!({"question": "How much oil does the keeper order each month?"})),
        ("ingest", json!({"name": "remark.md", "text": "# Remark\n\nThe foghorn is loud.\n"})),
        ("pack", json!({"task": "light the lamp", "budget": 500})),
        ("open_loops", json!({})),
        ("decision_extract", json!({"query": "archive database"})),
        ("grounded_answer", json!({"question": "How much oil does the keeper order each month?"})),
        ("recall", json!({"query": "lamp", "limit": 3})),
        ("meeting_extract", json!({"text": MINUTES})),
    ]
}

/// A home whose library holds two documents.
struct House {
    setup: GatewaySetup,
    papers: PathBuf,
}

impl House {
    fn new() -> Self {
        let setup = GatewaySetup::new("").unwrap();
        let papers = setup.folder().join("papers");
        std::fs::create_dir(&papers).unwrap();
        std::fs::write(papers.join("minutes.md"), MINUTES).unwrap();
        std::fs::write(papers.join("handbook.md"), HANDBOOK).unwrap();
        let said = setup.run(&["context", "ingest", papers.to_str().unwrap()]).unwrap();
        assert!(said.status.success(), "{said:?}");
        Self { setup, papers }
    }

    fn stdio(&self, names: &str) -> Vec<String> {
        self.setup.words(&["context", "serve", "--names", names])
    }

    /// The same in a file of the Inspector's: it would take options of ours for its own.
    fn session(&self, names: &str) -> [String; 4] {
        let words = self.stdio(names);
        let entry = json!({"command": words[0], "args": words[1..]});
        let file = self.setup.folder().join("inspected.json");
        std::fs::write(&file, json!({"mcpServers": {"it": entry}}).to_string()).unwrap();
        ["--config", &file.display().to_string(), "--server", "it"].map(str::to_owned)
    }
}

/// What a set of names makes of a tool's and a URI's.
fn named(set: &str, tool: &str) -> String {
    if set == "secondbrain" { format!("sb_{tool}") } else { tool.to_owned() }
}

fn uri(set: &str, rest: &str) -> String {
    format!("{set}://context/{rest}")
}

/// The Inspector's answer to one method. It keeps its own files in a home of its own.
fn inspect(home: &Path, target: &[String], era: &str, words: &[&str]) -> Value {
    let mut command = Command::new(peers::node().unwrap());
    command.arg(peers::inspector().unwrap()).arg("--cli").args(target);
    command.args(["--format", "json", "--quiet", "--protocol-era", era]).args(words);
    let output = command.env("HOME", home).stdin(Stdio::null()).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let told = || String::from_utf8_lossy(&output.stderr).into_owned();
    let answer: Value = serde_json::from_str(text.trim())
        .unwrap_or_else(|_| panic!("{words:?}: {text}\n{}", told()));
    // Its envelope, where it makes one.
    match answer.get("result") {
        Some(result) => result.clone(),
        None => answer,
    }
}

/// Checks a call's structured content against the schema its tool declares.
fn assert_fits(tools: &[Value], name: &str, result: &Value) {
    let tool = tools.iter().find(|tool| tool["name"] == name);
    let tool = tool.unwrap_or_else(|| panic!("{name} is not listed"));
    assert_ne!(result["isError"], true, "{name}: {result}");
    let schema = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
    let faults: Vec<_> =
        schema.iter_errors(&result["structuredContent"]).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{name}: {faults:?}\n{result}");
}

/// Only one tool writes, and it says so.
fn assert_honest(tools: &[Value]) {
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        let writes = name.ends_with("ingest");
        assert_eq!(tool["annotations"]["readOnlyHint"], !writes, "{tool}");
        assert!(tool["outputSchema"].is_object(), "{tool}");
        assert!(!writes || tool["description"].as_str().unwrap().contains("only if"), "{tool}");
    }
}

/// What the answers are about, whoever asked.
fn assert_right(name: &str, result: &Value) {
    let text = result["structuredContent"].to_string();
    let expected = match name {
        "ask" | "grounded_answer" => "forty litres of oil",
        "ingest" => "remark.md",
        "pack" | "recall" => "twelve seconds",
        "open_loops" => "writes the migration",
        "decision_extract" => "we use SQLite",
        _ => "Grace",
    };
    assert!(text.contains(expected), "{name}: {text}");
}

#[test]
fn the_inspector_drives_every_tool_resource_and_prompt_over_stdio() {
    for (set, era) in [("toolgate", "legacy"), ("secondbrain", "modern")] {
        let house = House::new();
        let (home, target) = (house.setup.folder(), house.session(set));
        let ask = |words: &[&str]| inspect(home, &target, era, words);
        let listed = ask(&["--method", "tools/list"]);
        let tools = listed["tools"].as_array().unwrap();
        assert_eq!(tools.len(), 8, "{listed}");
        assert_honest(tools);
        for (plain, arguments) in arguments() {
            let (name, text) = (named(set, plain), arguments.to_string());
            let words = ["--method", "tools/call", "--tool-name", &name, "--tool-args-json", &text];
            let result = ask(&words);
            assert_fits(tools, &name, &result);
            assert_right(plain, &result);
        }
        drive_the_rest(set, &ask);
    }
}

/// Resources, templates and prompts.
fn drive_the_rest(set: &str, ask: &dyn Fn(&[&str]) -> Value) {
    let listed = ask(&["--method", "resources/list"]).to_string();
    assert!(listed.contains(&uri(set, "help")) && listed.contains(&uri(set, "status")), "{listed}");
    let templates = ask(&["--method", "resources/templates/list"]).to_string();
    assert!(templates.contains(&uri(set, "search{?query,limit}")), "{templates}");
    let searched = uri(set, "search?query=lamp&limit=1");
    for (uri, expected) in
        [(uri(set, "help"), "ingest"), (uri(set, "status"), "documents"), (searched, "twelve")]
    {
        let read = ask(&["--method", "resources/read", "--uri", &uri]).to_string();
        assert!(read.contains(expected), "{uri}: {read}");
    }
    assert!(ask(&["--method", "prompts/list"]).to_string().contains("summarize_local_context"));
    let prompt = ["--method", "prompts/get", "--prompt-name", "summarize_local_context"];
    let filled = ask(&[&prompt[..], &["--prompt-args", "query=lamp"]].concat()).to_string();
    assert!(filled.contains("twelve seconds") && filled.contains("untrusted"), "{filled}");
}

#[test]
fn the_inspector_drives_the_gateways_own_surface_over_http() {
    let house = House::new();
    let gateway = house.setup.serve().unwrap();
    gateway.client_with(&["search_local_context"]).unwrap();
    let target = [gateway.url.clone(), "--transport".to_owned(), "http".to_owned()];
    for era in ["legacy", "modern"] {
        let ask = |words: &[&str]| inspect(house.setup.folder(), &target, era, words);
        let listed = ask(&["--method", "tools/list"]);
        let tools = listed["tools"].as_array().unwrap();
        assert_honest(tools);
        let words = ["--method", "tools/call", "--tool-name", "search_local_context"];
        let result = ask(&[&words[..], &["--tool-arg", "query=lamp"]].concat());
        assert_fits(tools, "search_local_context", &result);
        assert_right("recall", &result);
        drive_the_rest("toolgate", &ask);
    }
}

/// Every step of the Python peers on a server of the eight tools.
fn steps(set: &str) -> Vec<Value> {
    let search = uri(set, "search{?query,limit}");
    let until: Vec<_> = arguments().iter().map(|(name, _)| named(set, name)).collect();
    let mut steps = vec![json!({"do": "list", "until": until}), json!({"do": "tools"})];
    steps.extend(arguments().into_iter().map(
        |(name, arguments)| json!({"do": "call", "name": named(set, name), "arguments": arguments}),
    ));
    let prompt = "summarize_local_context";
    steps.extend([
        json!({"do": "read", "uri": uri(set, "help")}),
        json!({"do": "read", "uri": uri(set, "status")}),
        json!({"do": "read", "uri": uri(set, "search?query=lamp")}),
        json!({"do": "prompt", "name": prompt, "arguments": {"query": "oil"}}),
        json!({"do": "templates"}),
        json!({"do": "complete", "template": search,
            "argument": {"name": "query", "value": "Hand"}}),
        json!({"do": "complete", "template": search, "argument": {"name": "limit", "value": ""}}),
        json!({"do": "complete", "prompt": prompt, "argument": {"name": "query", "value": "plan"}}),
    ]);
    steps
}

#[test]
fn the_python_sdks_drive_every_surface_in_both_eras() {
    for (peer, set) in [
        (Peer::Python, "secondbrain"),
        (Peer::Python2(Era::Modern), "toolgate"),
        (Peer::Python2(Era::Legacy), "secondbrain"),
    ] {
        let house = House::new();
        let report = peer.play(&Carrier::Stdio(house.stdio(set)), steps(set));
        let tools = report.steps[1].as_array().unwrap();
        assert_honest(tools);
        for ((name, _), step) in arguments().iter().zip(&report.steps[2..]) {
            assert_fits(tools, &named(set, name), &step["result"]);
            assert_right(name, &step["result"]);
        }
        let asked = report.asked("sampling/createMessage");
        assert!(!asked.is_empty(), "{peer:?} was never asked to phrase an answer");
        let rest = &report.steps[10..];
        for (step, expected) in rest.iter().zip([
            "ingest",
            "documents",
            "twelve seconds",
            "forty litres",
            "search{?query,limit}",
            "Handbook of the lighthouse",
            "8",
            "Planning, 3 March 2026",
        ]) {
            assert!(step.to_string().contains(expected), "{peer:?} {expected}: {step}");
        }
    }
}

#[test]
fn the_python_sdks_find_the_gateways_own_surface() {
    let house = House::new();
    let gateway = house.setup.serve().unwrap();
    for peer in [Peer::Python, Peer::Python2(Era::Modern)] {
        let steps = vec![
            json!({"do": "list", "until": ["search_local_context"]}),
            json!({"do": "tools"}),
            json!({"do": "call", "name": "search_local_context", "arguments": {"query": "lamp"}}),
            json!({"do": "templates"}),
            json!({"do": "complete", "prompt": "summarize_local_context",
                "argument": {"name": "query", "value": "Hand"}}),
        ];
        let report = peer.play(&Carrier::Http(gateway.url.clone()), steps);
        assert!(names(&report.steps[0]["resources"], "toolgate://context/status"), "{report:?}");
        assert!(names(&report.steps[0]["prompts"], "summarize_local_context"), "{report:?}");
        let tools = report.steps[1].as_array().unwrap();
        assert_fits(tools, "search_local_context", &report.steps[2]["result"]);
        let source = house.papers.join("handbook.md").display().to_string();
        let found = report.steps[2]["result"]["structuredContent"].to_string();
        assert!(found.contains(&source) && found.contains("untrusted"), "{found}");
        assert!(report.steps[3].to_string().contains("toolgate://context/search{?query,limit}"));
        assert!(report.steps[4].to_string().contains("Handbook of the lighthouse"), "{report:?}");
    }
}
