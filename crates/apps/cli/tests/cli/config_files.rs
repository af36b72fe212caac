//! `config`, `secret`, `completions` and `man`.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{Place, Running, TOOLGATE, eventually, processes_with, run, sample};

#[test]
fn every_fault_is_told_with_its_place_and_what_to_do() {
    let place = Place::new();
    let file = place.work().join(".mcp.json");
    let text = "{\n  \"mcpServers\": {\n    \"a\": { \"comand\": \"x\" },\n    \"b\": { \"command\": \"y\", \"arg\": [] }\n  }\n}\n";
    std::fs::write(&file, text).unwrap();
    let said = run(&mut place.verb(&["config", "check"]));
    assert_eq!(said.code, 2, "{said:?}");
    let place_of = |line: &str| format!("{}:{line}", file.display());
    assert!(said.out.contains(&place_of("3:5: error: ")), "{said:?}");
    assert!(said.out.contains(&place_of("4:")), "{said:?}");
    for part in ["^^", "hint: did you mean `command`?", "hint: did you mean `args`?"] {
        assert!(said.out.contains(part), "{part}: {said:?}");
    }
    assert!(said.err.ends_with("1 server: 1 error, 2 warnings\n"), "{said:?}");
    let json = run(&mut place.verb(&["config", "check", "--json"]));
    assert_eq!(json.code, 2);
    assert_eq!(json.json()["errors"], 1);
    let first = &json.json()["diagnostics"][0];
    assert_eq!((&first["line"], &first["file"]), (&json!(3), &json!(file)));

    std::fs::write(&file, "{ \"mcpServers\": { \"b\": { \"command\": \"y\" } } }").unwrap();
    let said = run(&mut place.verb(&["config", "check"]));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    assert!(said.err.contains("1 server: 0 errors, 0 warnings"), "{said:?}");
}

#[test]
fn a_person_sees_faults_in_colour() {
    let place = Place::new();
    std::fs::write(place.work().join(".mcp.json"), "{").unwrap();
    let said = run(&mut place.typed(&[], &["config", "check"]));
    assert!(said.out.contains("\u{1b}[31;1merror:"), "{said:?}");
    let plain = run(place.typed(&[], &["config", "check"]).env("NO_COLOR", "1"));
    assert!(!plain.out.contains("\u{1b}[31"), "{plain:?}");
}

#[test]
fn the_files_are_listed_in_the_order_they_win() {
    let place = Place::new();
    run(&mut place.verb(&["add", "a", "npx", "-s", "user"]));
    run(&mut place.verb(&["add", "a", "node"]));
    std::fs::create_dir(place.work().join(".vscode")).unwrap();
    std::fs::write(place.work().join(".vscode/mcp.json"), r#"{"servers":{"b":{"command":"x"}}}"#)
        .unwrap();
    let files = run(&mut place.verb(&["config", "files", "--json"])).json();
    let shown: Vec<_> = files
        .as_array()
        .unwrap()
        .iter()
        .map(|file| (&file["dialect"], &file["servers"], &file["used"]))
        .collect();
    let row =
        |dialect: &str, servers: u32, used: u32| (json!(dialect), json!(servers), json!(used));
    let expected = [row("mcp-json", 1, 1), row("vscode", 1, 1), row("toolgate", 2, 1)];
    assert_eq!(shown, expected.iter().map(|(a, b, c)| (a, b, c)).collect::<Vec<_>>(), "{files}");
    let all = run(&mut place.verb(&["config", "files", "--all"])).out;
    assert!(all.contains("codex") && all.contains("toolgate.toml"), "{all}");
}

#[test]
fn the_path_and_the_schema_are_printed() {
    let place = Place::new();
    let said = run(&mut place.verb(&["config", "path"]));
    assert_eq!(said.out, format!("{}\n", place.home().join("config.toml").display()));
    let said = run(&mut place.verb(&["config", "schema"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.json()["properties"]["servers"].is_object(), "{}", said.out);
}

#[test]
fn a_secret_is_kept_and_never_shown() {
    let place = Place::new();
    let canary = "canary-secret-9z";
    let mut running = Running::start(&mut place.verb(&["secret", "set", "api"]));
    running.send(&json!(canary));
    running.close_stdin();
    let (code, err) = running.end();
    assert_eq!(code, 0, "{err}");
    assert!(!err.contains(canary), "{err}");
    let said = run(&mut place.verb(&["secret", "list"]));
    assert_eq!(said.out, "api\n");
    assert_eq!(run(&mut place.verb(&["secret", "list", "--json"])).json(), json!(["api"]));
    assert_eq!(run(&mut place.verb(&["secret", "remove", "api"])).code, 0);
    assert_eq!(run(&mut place.verb(&["secret", "remove", "api"])).code, 1);
    assert_eq!(run(&mut place.verb(&["secret", "list"])).out, "");
    assert_eq!(run(&mut place.verb(&["secret", "set", "api"])).code, 2, "nothing was piped in");
    assert_eq!(run(&mut place.verb(&["secret", "set", "api", canary])).code, 2, "no argument");
}

#[test]
fn a_secret_reaches_the_server_that_names_it() {
    let place = Place::new();
    let witness = place.work().join("seen");
    let script = format!("printf %s \"$KEY\" > {}", witness.display());
    let words = ["add", "s", "-s", "user", "-e", "KEY=${secret:api}", "--", "sh", "-c", &script];
    assert_eq!(run(&mut place.verb(&words)).code, 0);
    let blocked = run(&mut place.verb(&["get", "s", "--json"])).json();
    assert_eq!(blocked["standing"], "blocked", "{blocked}");
    assert!(blocked["reason"].as_str().unwrap().contains("secret"), "{blocked}");
    let mut running = Running::start(&mut place.verb(&["secret", "set", "api"]));
    running.send(&json!(7531));
    running.close_stdin();
    assert_eq!(running.end().0, 0);
    run(&mut place.verb(&["list"]));
    assert_eq!(std::fs::read_to_string(&witness).unwrap(), "7531");
}

#[test]
fn a_typed_secret_is_not_echoed() {
    let place = Place::new();
    let canary = "canary-typed-8y";
    let said = run(&mut place.typed(&[("Value of api:", canary)], &["secret", "set", "api"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.out.contains(canary), "{said:?}");
    assert_eq!(run(&mut place.verb(&["secret", "list"])).out, "api\n");
}

#[test]
fn shells_complete_verbs_and_the_names_of_servers_tools_and_profiles() {
    let place = Place::with(&format!("{}[profiles.research]\n", sample("files")));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let said = run(&mut place.verb(&["completions", shell]));
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.out.contains("TOOLGATE_COMPLETE"), "{shell}: {said:?}");
    }
    assert_eq!(run(&mut place.verb(&["completions", "abacus"])).code, 2);
    let completed = |words: &[&str]| {
        let index = words.len().to_string();
        let mut asked = place.verb(&["--", "toolgate"]);
        asked.args(words).env("TOOLGATE_COMPLETE", "bash").env("_CLAP_COMPLETE_INDEX", index);
        let said = run(asked.env("_CLAP_IFS", "\n"));
        assert_eq!((said.code, said.err.as_str()), (0, ""), "{words:?}: {said:?}");
        let names = said.out.lines().filter(|line| !line.starts_with("--"));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    for verb in ["add-json", "remove", "doctor", "help"] {
        assert_eq!(completed(&[&verb[..4]])[0], verb);
    }
    assert!(
        !completed(&[""]).contains(&"conformance-client".to_owned()),
        "hidden verbs are hidden"
    );
    let config = place.config().display().to_string();
    let with = |words: &[&str]| completed(&[&["--config", &config], words].concat());
    assert_eq!(with(&["call", ""]), ["files"]);
    assert_eq!(with(&["discover", "fi"]), ["files"]);
    assert_eq!(with(&["call", "files", ""]), Vec::<String>::new(), "nothing is known yet");
    assert!(!place.home().exists(), "completion creates nothing");
    assert_eq!(run(&mut place.configured(&["discover", "files"])).code, 0);
    assert_eq!(with(&["call", "files", "e"]), ["echo"]);
    assert_eq!(with(&["policy", "explain", "files", "no"]), ["now"]);
    assert_eq!(with(&["discover", "--as", "res"]), ["research"]);
}

#[test]
fn there_is_a_page_for_every_verb() {
    let place = Place::new();
    let said = run(&mut place.verb(&["man"]));
    assert!(said.code == 0 && said.out.contains(".TH toolgate 1"), "{said:?}");
    assert_eq!(run(&mut place.verb(&["man", "pages"])).code, 0);
    let page = |name: &str| std::fs::read_to_string(place.work().join("pages").join(name)).unwrap();
    assert!(page("toolgate-add.1").contains("\\-\\-scope"));
    assert!(page("toolgate-config-check.1").contains("Check the config files"));
    assert!(page("toolgate.1").contains("toolgate\\-add(1)"));
    assert!(!place.work().join("pages/toolgate-mcp.1").exists());
}

#[test]
fn permissions_beside_servers_are_shown_and_a_project_allows_nothing() {
    let place = Place::new();
    let folder = place.work().join(".nyzhi");
    std::fs::create_dir(&folder).unwrap();
    let text = "[agent.trust]\nmode = \"limited\"\nallow_tools = [\"mcp__fs__read\"]\n";
    std::fs::write(folder.join("config.toml"), text).unwrap();
    let said = run(&mut place.verb(&["--json", "config", "files"]));
    let files = said.json();
    let [file] = &files.as_array().unwrap()[..] else { panic!("{files}") };
    let rules = json!({ "mode": "limited", "allow": ["mcp__fs__read"], "ask": [], "deny": [] });
    assert_eq!(file["permissions"], rules);
    let said = run(&mut place.verb(&["config", "files"]));
    assert!(said.out.contains("permissions: mode limited; allow mcp__fs__read"), "{said:?}");
    let said = run(&mut place.verb(&["config", "check"]));
    let told = "config.toml:3:16: note: the rule allow \"mcp__fs__read\" has no effect";
    assert!(said.code == 0 && said.out.contains(told), "{said:?}");
}

#[test]
fn a_rule_that_cannot_be_understood_is_found_by_a_check() {
    let place = Place::new();
    let config = place.work().join("toolgate.toml");
    std::fs::write(&config, "[policy]\ndeny = [\"mcp:git/push\", \"git push\"]\n").unwrap();
    let said = run(&mut place.verb(&["config", "check"]));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.out.contains("toolgate.toml:2:25: error: "), "{said:?}");
}

/// A place with these files of the user (`~/…`) and of the project.
fn place_with(files: &[(&str, &str)]) -> Place {
    let place = Place::new();
    for (path, text) in files {
        let path = match path.strip_prefix("~/") {
            Some(rest) => place.home().parent().unwrap().join(rest),
            None => place.work().join(path),
        };
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    place
}

/// Everything `config check` tells, as severity, message and hint in one line each.
fn findings(place: &Place) -> Vec<String> {
    let said = run(&mut place.verb(&["config", "check", "--json"]));
    let found = said.json()["diagnostics"].as_array().unwrap().clone();
    let line = |it: &Value| format!("{}: {} | {}", it["severity"], it["message"], it["hint"]);
    found.iter().map(line).collect()
}

#[test]
fn a_check_finds_what_cannot_work_and_what_should_not_stand_there() {
    let place = place_with(&[(
        "~/home/config.toml",
        "[servers.x]\nurl = \"https://\"\n\
         [servers.\"my server\"]\ncommand = \"true\"\n\
         [servers.y]\ncommand = \"true\"\nargs = [\"y\"]\nenv = { A = \"${env:NO_SUCH_VARIABLE}\" }\n\
         [servers.z]\ncommand = \"true\"\nargs = [\"z\"]\n\
         env = { GITHUB_TOKEN = \"canary\", B = \"ghp_canary0123456789canary\" }\n\
         [profiles.p]\ntags = [\"mcp.web\"]\ninclude = [\"files/read\"]\n\
         [policy]\nallow = [\"tag:mcp.git\"]\ndeny = [\"mcp:shell/run\", \"tag:mcp.z\"]\n",
    )]);
    let found = findings(&place);
    for (part, hint) in [
        ("has no host", ""),
        ("has a space in its name", "my-server"),
        ("NO_SUCH_VARIABLE is not set", ""),
        ("`env.GITHUB_TOKEN` contains a credential", "toolgate secret set z"),
        ("`env.B` contains a credential", "${secret:z}"),
        ("no server or tool has the tag \\\"mcp.web\\\"", "mcp.SERVER"),
        ("\\\"files/read\\\" matches no declared server", ""),
        ("`tag:mcp.git` matches no declared server", ""),
        ("`mcp:shell/run` matches no declared server", ""),
    ] {
        let fits = |line: &&String| line.contains(part) && line.contains(hint);
        assert!(found.iter().any(|line| fits(&line)), "{part}: {found:#?}");
    }
    assert_eq!(found.len(), 9, "{found:#?}");
    assert!(!found.concat().contains("canary"), "{found:#?}");
}

#[test]
fn an_address_without_a_host_is_not_added() {
    let place = place_with(&[]);
    for url in ["https://", "https:///mcp", "http://:80/", "https://a b/"] {
        let said = run(&mut place.verb(&["add", "x", url]));
        assert_eq!(said.code, 2, "{url}: {said:?}");
        assert!(said.err.contains("has no host"), "{url}: {said:?}");
    }
    let said = run(&mut place.verb(&["add", "x", "https://${env:HOST}/mcp"]));
    assert_eq!(said.code, 0, "{said:?}");
}

const RULES_OF_CORE_AGENT: &str = r#"{ "model": { "name": "x" }, "servers": 7, "permissions": { "deny": ["mcp:s_echo"], "allow": ["mcp:s_now"] } }"#;

#[test]
fn permissions_of_core_agent_beside_its_servers_hold_for_user_and_project() {
    let server = sample("s");
    for file in ["~/.agents/config.json", ".agents/config.json"] {
        let place = place_with(&[("~/home/config.toml", &server), (file, RULES_OF_CORE_AGENT)]);
        let said = run(&mut place.verb(&["call", "s", "echo", "text=hi"]));
        assert_eq!(said.code, 3, "{file}: {said:?}");
        assert!(said.err.contains("config.json"), "{file}: {said:?}");
        let said = run(&mut place.verb(&["policy", "explain", "s", "now", "--json"]));
        let expected = if file.starts_with('~') { "allowed" } else { "client_approves" };
        assert_eq!(said.json()["outcome"], expected, "a project only tightens: {said:?}");
        let found = findings(&place);
        assert!(!found.iter().any(|line| line.contains("unknown")), "{found:#?}");
    }
}

#[test]
fn a_users_entry_gives_variables_to_a_server_of_another_file() {
    let entry = json!({ "version": 1, "servers": { "s": {
        "transport": "stdio", "command": TOOLGATE, "args": ["sample-server"] } } });
    let place = place_with(&[
        ("~/.agents/mcp.json", &entry.to_string()),
        ("~/home/config.toml", "[servers.s]\nenv_inherit = [\"OVERLAY_*\"]\n"),
    ]);
    let said = run(&mut place.verb(&["get", "s", "--json"]));
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["env_inherit"], json!(["OVERLAY_*"]), "{said:?}");
    let mark = format!("overlay-mark-{}", std::process::id());
    let (_gateway, _) = Running::serve(place.verb(&[]).env("OVERLAY_X", &mark));
    eventually("the server with the variable", || {
        // The gateway has it too.
        processes_with(&mark) >= 2
    });
    let project = place_with(&[
        ("~/.agents/mcp.json", &entry.to_string()),
        ("toolgate.toml", "[servers.s]\nenv_inherit = [\"OVERLAY_X\"]\n"),
    ]);
    let said = run(&mut project.verb(&["get", "s", "--json"]));
    assert_eq!(said.json()["env_inherit"], json!([]), "{said:?}");
}

#[test]
fn a_hint_says_only_what_its_file_can_express() {
    let header = json!({ "Authorization": "Bearer ${env:NO_SUCH_VARIABLE}" });
    let core_agent = json!({ "version": 1, "servers": { "a": {
        "transport": "http", "url": "http://127.0.0.1:9/mcp", "headers": header } } });
    let claude = json!({ "mcpServers": { "b": {
        "command": "true", "env": { "A": "${NO_SUCH_VARIABLE}" } } } });
    let ours = "[servers.c]\ncommand = \"true\"\nargs = [\"${env:NO_SUCH_VARIABLE}\"]\n";
    let place = place_with(&[
        ("~/.agents/mcp.json", &core_agent.to_string()),
        ("~/.claude.json", &claude.to_string()),
        ("~/home/config.toml", ours),
    ]);
    let reason = |name: &str| {
        let said = run(&mut place.verb(&["get", name, "--json"]));
        said.json()["reason"].as_str().unwrap_or_default().to_owned()
    };
    assert!(reason("a").contains("NO_SUCH_VARIABLE is not set"), "{}", reason("a"));
    assert!(!reason("a").contains(":-"), "{}", reason("a"));
    assert!(reason("b").contains("`${NO_SUCH_VARIABLE:-default}`"), "{}", reason("b"));
    assert!(reason("c").contains("`${env:NO_SUCH_VARIABLE:-default}`"), "{}", reason("c"));
}

#[test]
fn the_transport_that_llxprt_documents_is_no_mistake() {
    let entry = json!({ "mcpServers": { "h": {
        "url": "https://mcp.example.com/mcp", "transport": "streamable-http" } } });
    let place = place_with(&[(".llxprt/settings.json", &entry.to_string())]);
    assert_eq!(findings(&place), Vec::<String>::new());
    let said = run(&mut place.verb(&["get", "h", "--json"]));
    assert_eq!(said.json()["transport"], "http", "{said:?}");
    let place = place_with(&[(".gemini/settings.json", &entry.to_string())]);
    assert_eq!(findings(&place).len(), 1, "Gemini CLI does not read it");
}

/// The examples of the guides to profiles and rules in one file, with a server here in the place of
/// the one that they fetch.
fn guides(folder: &Path) -> String {
    const GUIDES: [&str; 2] = [
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/guides/profiles.md")),
        include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/guides/policy.md")),
    ];
    let block = |text: &'static str| text.split("```toml\n").nth(1)?.split("```").next();
    let config = GUIDES.map(|text| block(text).unwrap()).join("\n");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/changing.py");
    let args = "args = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]";
    assert!(config.contains(args), "{config}");
    let env = format!("env = {{ CHANGING = {:?} }}", folder.display().to_string());
    config
        .replace("command = \"npx\"", "command = \"python3\"")
        .replace(args, &format!("args = [{script:?}]\n{env}"))
}

#[test]
fn the_examples_of_the_guides_mean_something() {
    let folder = tempfile::TempDir::new().unwrap();
    let tool = json!({ "name": "read_file", "inputSchema": { "type": "object" },
        "annotations": { "readOnlyHint": true } });
    std::fs::write(folder.path().join("tool.json"), tool.to_string()).unwrap();
    let place = place_with(&[("~/home/config.toml", &guides(folder.path()))]);
    let verb = |words: &[&str]| run(&mut place.verb(words));
    let said = verb(&["config", "check", "--json"]);
    assert_eq!(said.json()["diagnostics"], json!([]), "{said:?}");
    let said = verb(&["discover", "filesystem"]);
    assert_eq!(said.code, 0, "{said:?}");
    let seen = || {
        let lines = verb(&["exposure", "--as", "research", "--json"]).json();
        let line = lines.as_array().unwrap().iter().find(|it| it["name"] == "read_file").cloned();
        line.unwrap_or_default()
    };
    assert_eq!(seen()["visible"], true, "{}", seen());
    let effect = |words: &[&str]| {
        let said = verb(&[&["policy", "explain"], words, &["--json"]].concat());
        said.json()["effect"].clone()
    };
    assert_eq!(effect(&["filesystem", "read_file"]), "allow");
    assert_eq!(effect(&["filesystem", "delete_all"]), "deny");
    let etc = r#"{"path":"/etc/passwd"}"#;
    assert_eq!(effect(&["filesystem", "write_file", "--arguments", etc]), "deny");
    let said = verb(&["policy", "check", "--json"]);
    // This server offers one tool, so a rule about another matches nothing.
    let told = said.json()["diagnostics"].to_string();
    assert!(!told.contains("read_*") && !told.contains("tag:mcp"), "{told}");

    // The word of a server that is not trusted gives no tag.
    let untrusted = guides(folder.path()).replace("trust = true", "");
    std::fs::write(place.home().join("config.toml"), untrusted).unwrap();
    assert_eq!(seen()["visible"], false, "{}", seen());
    let found = verb(&["config", "check"]).out;
    assert!(found.contains("no server or tool has the tag \"mcp.filesystem.read\""), "{found}");
}
