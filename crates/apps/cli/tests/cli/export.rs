//! `export`: our servers in every dialect, and credentials in none unless they were asked for.

use std::path::Path;

use crate::support::{Place, run};

/// Every dialect, and a file by whose name it is known.
pub const DIALECTS: [(&str, &str); 21] = [
    ("toolgate", "toolgate.toml"),
    ("mcp-json", ".mcp.json"),
    ("claude-code", ".claude.json"),
    ("claude-desktop", "claude_desktop_config.json"),
    ("codex", ".codex/config.toml"),
    ("gemini", ".gemini/settings.json"),
    ("llxprt", ".llxprt/settings.json"),
    ("core-agent", ".agents/mcp.json"),
    ("sidekick", "mcp_tools_config.json"),
    ("nyzhi", ".nyzhi/config.toml"),
    ("secondbrain", "secondbrain.yaml"),
    ("vscode", ".vscode/mcp.json"),
    ("cursor", ".cursor/mcp.json"),
    ("windsurf", "windsurf/mcp_config.json"),
    ("cline", "cline_mcp_settings.json"),
    ("continue", ".continue/config.yaml"),
    ("zed", ".zed/settings.json"),
    ("opencode", "opencode.json"),
    ("opencode-v2", "opencode.json"),
    ("goose", "goose/config.yaml"),
    ("copilot", "mcp-config.json"),
];

/// Servers with a canary wherever a credential may stand.
pub const SERVERS: &str = r#"
[servers.local]
command = "npx"
args = ["-y", "pkg", "--api-key", "canary-arg", "--token=canary-flag", "postgres://me:canary-pw@db/x"]
env = { TOKEN = "canary-env", LEVEL = "canary-level", FROM = "${env:FROM}", ELSE = "${env:ELSE:-canary-default}" }

[servers.remote]
url = "https://me:canary-user@example.com/mcp?key=canary-query"
headers = { Authorization = "Bearer canary-header", X-Ours = "Bearer ${env:OURS}" }

[servers.plain]
command = "uvx"
args = ["thing", "--port", "80"]

[servers.off]
command = "never"
enabled = false
"#;

#[test]
fn no_dialect_gets_a_credential_unasked() {
    let place = Place::with(SERVERS);
    for (dialect, _) in DIALECTS {
        let plain = run(&mut place.configured(&["export", "--to", dialect]));
        assert_eq!(plain.code, 0, "{dialect}: {plain:?}");
        assert!(!plain.out.contains("canary") && !plain.err.contains("canary"), "{plain:?}");
        assert!(plain.out.contains("uvx") && !plain.out.contains("never"), "{dialect}: {plain:?}");
        for field in ["`env.TOKEN` of local", "`args[3]` of local", "--with-secrets"] {
            assert!(plain.err.contains(field), "{dialect} {field}: {plain:?}");
        }
        let report = run(&mut place.configured(&["export", "--to", dialect, "--json"]));
        assert!(!report.out.contains("canary") && !report.err.contains("canary"), "{report:?}");
        assert_eq!(report.json()["text"], plain.out.as_str(), "{dialect}");
        assert!(report.json()["secrets"].as_array().unwrap().len() >= 8, "{report:?}");

        let open = run(&mut place.configured(&["export", "--to", dialect, "--with-secrets"]));
        assert_eq!(open.code, 0, "{dialect}: {open:?}");
        assert!(open.out.contains("canary-env"), "{dialect}: {open:?}");
        assert!(!open.err.contains("canary"), "{dialect}: {open:?}");
    }
}

#[test]
fn what_is_hidden_becomes_a_variable_where_there_are_any() {
    let place = Place::with(SERVERS);
    let said = run(&mut place.configured(&["export", "--to", "mcp-json", "local", "remote"]));
    let file: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let (local, remote) = (&file["mcpServers"]["local"], &file["mcpServers"]["remote"]);
    assert_eq!(local["env"]["TOKEN"], "${TOKEN}");
    assert_eq!(local["env"]["FROM"], "${FROM}");
    assert_eq!(local["env"]["ELSE"], "${ELSE}");
    assert_eq!(local["args"][3], "${LOCAL_API_KEY}");
    assert_eq!(local["args"][4], "--token=${LOCAL_TOKEN}");
    assert_eq!(remote["headers"]["Authorization"], "${REMOTE_AUTHORIZATION}");
    assert_eq!(remote["headers"]["X-Ours"], "Bearer ${OURS}");
    assert_eq!(remote["url"], "https://${REMOTE_USERINFO}@example.com/mcp?key=${REMOTE_KEY}");

    let none = run(&mut place.configured(&["export", "--to", "sidekick", "local"]));
    let file: serde_json::Value = serde_json::from_str(&none.out).unwrap();
    let command = &file["servers"][0]["server_config"]["command"];
    assert_eq!(command[0], "npx", "{none:?}");
    assert!(!command.to_string().contains("api-key"), "the flag goes with its value: {command}");
    assert!(none.err.contains(": left out"), "{none:?}");
}

#[test]
fn losses_are_told_and_names_pick() {
    let place =
        Place::with(&format!("{SERVERS}\n[servers.tagged]\ncommand = \"x\"\ntags = [\"a.b\"]\n"));
    let said = run(&mut place.configured(&["export", "--to", "mcp-json", "tagged", "--json"]));
    assert_eq!(said.json()["servers"], serde_json::json!(["tagged"]));
    let losses = said.json()["losses"].clone();
    assert_eq!((&losses[0]["server"], &losses[0]["field"]), (&"tagged".into(), &"tags".into()));
    assert!(said.err.contains("not carried: `tags` of tagged"), "{said:?}");
    let off = run(&mut place.configured(&["export", "--to", "mcp-json", "off"]));
    assert!(off.out.contains("never"), "a name picks what is switched off: {off:?}");
    assert_eq!(run(&mut place.configured(&["export", "--to", "mcp-json", "nobody"])).code, 1);
    assert_eq!(run(&mut place.configured(&["export", "--to", "nonsense"])).code, 2);
    assert_eq!(run(&mut place.configured(&["export"])).code, 2);
}

#[test]
fn a_file_keeps_what_it_has_unless_it_is_replaced() {
    let place = Place::with(SERVERS);
    let file = place.work().join("mcp.json");
    let name = file.to_str().unwrap();
    std::fs::write(&file, "{\n  // mine\n  \"mcpServers\": { \"a\": { \"command\": \"x\" } }\n}\n")
        .unwrap();
    let words = ["export", "--to", "mcp-json", "plain", "-o", name];
    let said = run(&mut place.configured(&words));
    assert_eq!((said.code, said.out.as_str()), (0, ""), "{said:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("// mine") && text.contains("\"a\"") && text.contains("uvx"), "{text}");
    let backup = Path::new(name).with_file_name("mcp.json.toolgate-backup-1");
    assert!(!std::fs::read_to_string(backup).unwrap().contains("uvx"));

    let said = run(place.configured(&words).arg("--replace"));
    assert_eq!(said.code, 0, "{said:?}");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(!text.contains("// mine") && text.contains("uvx"), "{text}");

    std::fs::write(&file, "{ \"mcpServers\": [\"canary\" }").unwrap();
    let said = run(&mut place.configured(&words));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("--replace") && !said.err.contains("canary"), "{said:?}");
}
