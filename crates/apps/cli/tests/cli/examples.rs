//! Every example of every help text is run as it is written, by a shell, where its things exist.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use crate::support::{Place, TOOLGATE, run};

/// Verbs, and verbs of verbs, whose help is read.
const VERBS: [&str; 71] = [
    "explain",
    "discover",
    "search",
    "exposure",
    "call",
    "read-resource",
    "compile-resource",
    "context",
    "context ingest",
    "context search",
    "context pack",
    "context status",
    "context forget",
    "context export",
    "context import",
    "context serve",
    "prompt",
    "doctor",
    "score",
    "report",
    "add",
    "add-json",
    "list",
    "get",
    "remove",
    "enable",
    "disable",
    "consent",
    "import",
    "export",
    "install",
    "uninstall",
    "audit",
    "audit tail",
    "audit export",
    "audit verify",
    "approvals",
    "approvals list",
    "approvals show",
    "approvals approve",
    "approvals deny",
    "approvals grants",
    "approvals revoke",
    "approvals watch",
    "pins",
    "pins list",
    "pins diff",
    "pins approve",
    "pins forget",
    "lock",
    "policy",
    "policy allow",
    "policy ask",
    "policy deny",
    "policy check",
    "policy explain",
    "policy test",
    "policy replay",
    "config",
    "config check",
    "config files",
    "config schema",
    "config path",
    "secret",
    "secret set",
    "secret list",
    "secret remove",
    "completions",
    "man",
    "serve",
    "sample-server",
];

/// What goes on until it is ended, or shows pages to a person; other tests run these.
fn is_endless(line: &str) -> bool {
    line.starts_with("toolgate serve")
        || line == "toolgate sample-server"
        || line == "toolgate approvals watch"
        || line.starts_with("toolgate context serve")
        || line.starts_with("toolgate co") && line.contains("--watch")
        || line.ends_with("| man -l -")
        || line.starts_with("$EDITOR")
}

/// How it ends where nobody can be asked.
fn expected(line: &str) -> i32 {
    match line {
        "toolgate consent filesystem" => 3,
        "toolgate import" => 3,
        // No call of this name waits here; `approvals` has them with real ones.
        _ if line.contains(" 4k7m2q9xwd") || line.contains(" 8s3nfe0ypa") => 1,
        "toolgate approvals revoke --server filesystem" => 1,
        _ => 0,
    }
}

fn examples(help: &str) -> Vec<String> {
    let Some(at) = help.find("\nExample") else { return Vec::new() };
    let after = help[at..].trim_start().split_once(':').map_or("", |(_, after)| after);
    let lines = after.lines().map(str::trim).filter(|line| line.contains("toolgate "));
    lines.map(str::to_owned).collect()
}

fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A place that has what the examples speak of.
fn furnished(line: &str) -> Place {
    let place = Place::new();
    let user = place.home().parent().unwrap().to_owned();
    let entry = |name: &str| {
        format!(
            "[servers.{name}]\ncommand = {TOOLGATE:?}\nargs = [\"sample-server\"]\n\
             env = {{ NAME = \"{name}\" }}\ncompile = true\n"
        )
    };
    let entries = ["filesystem", "sample", "github", "git"].map(entry);
    let filesystem = json!({ "command": TOOLGATE, "args": ["sample-server"] });
    let foreign = json!({ "mcpServers": { "github": { "command": "npx", "args": ["github"] } } });
    write(&place.work().join("entry.json"), &filesystem.to_string());
    write(&place.work().join("queries.txt"), "say something again\nadd numbers\n");
    let case = json!({ "case": [{ "server": "git", "tool": "push", "expect": "allow" }] });
    write(&place.work().join("cases.json"), &case.to_string());
    let case = "[[case]]\nserver = \"git\"\ntool = \"push\"\nexpect = \"allow\"\n";
    write(&place.work().join("policy-cases.toml"), case);
    write(&place.work().join("next.toml"), "[policy]\nmode = \"limited\"\n");
    let is_import = line.starts_with("toolgate import");
    for file in [user.join(".cursor/mcp.json"), place.work().join("mcp.json")] {
        write(&file, &foreign.to_string());
    }
    write(&user.join(".config/Claude/claude_desktop_config.json"), &foreign.to_string());
    let project = line.contains(".vscode/mcp.json") || line.contains("consent filesystem");
    if project {
        let servers = json!({ "servers": { "filesystem": filesystem } });
        write(&place.work().join(".vscode/mcp.json"), &servers.to_string());
    } else if !is_import {
        write(&place.home().join("config.toml"), &entries.concat());
    }
    for notes in [user.join("notes"), place.work().join("notes")] {
        write(&notes.join("old.md"), "# Keys\n\nWe rotate keys for every release.\n");
    }
    write(&user.join("bin/pass"), "#!/bin/sh\necho value\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(user.join("bin/pass"), mode).unwrap();
    for folder in [".local/share/bash-completion/completions", ".config/fish/completions", "zsh"] {
        std::fs::create_dir_all(user.join(folder)).unwrap();
    }
    place
}

/// What must have been done before.
fn before(line: &str) -> Option<String> {
    let secret = "echo value | toolgate secret set github";
    match line {
        "toolgate consent filesystem --revoke" => {
            Some("toolgate consent filesystem --yes".to_owned())
        }
        "toolgate exposure --why sample/echo" => Some("toolgate discover sample".to_owned()),
        "toolgate context forget --server sample --yes" => {
            Some("toolgate compile-resource sample toolgate://sample/help".to_owned())
        }
        "toolgate context import context.jsonl" => {
            Some("toolgate context ingest notes && toolgate context export > context.jsonl".into())
        }
        _ if line.starts_with("toolgate context") && !line.contains("ingest") => {
            Some("toolgate context ingest notes".to_owned())
        }
        "toolgate lock --check" => Some("toolgate lock".to_owned()),
        _ if line.starts_with("toolgate pins") => {
            Some("toolgate discover filesystem && toolgate discover sample".to_owned())
        }
        "toolgate secret remove github" => Some(secret.to_owned()),
        "toolgate enable filesystem" => Some("toolgate disable filesystem".to_owned()),
        _ if line.starts_with("toolgate uninstall") => {
            let install = line.replacen("uninstall", "install", 1).replace(" --dry-run", "");
            Some(format!("{install} --approve client"))
        }
        _ => None,
    }
}

fn shell(place: &Place, line: &str) -> crate::support::Said {
    let user = place.home().parent().unwrap().to_owned();
    let programs = Path::new(TOOLGATE).parent().unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{}:{path}", user.join("bin").display(), programs.display());
    // What is typed where something is asked for.
    let line = format!("echo typed | {{ {line}; }}").replace("${fpath[1]}", "$HOME/zsh");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(place.work()).stdin(Stdio::null());
    command.env("PATH", path).env("TOOLGATE_HOME", place.home()).env("HOME", &user);
    for variable in ["TOOLGATE_LOG", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "CODEX_HOME"] {
        command.env_remove(variable);
    }
    run(&mut command)
}

#[test]
fn every_example_does_what_it_shows() {
    let nowhere = Place::new();
    let mut count = 0;
    for verb in VERBS {
        let words: Vec<_> = verb.split(' ').chain(["--help"]).collect();
        let help = run(&mut nowhere.verb(&words)).out;
        let found = examples(&help);
        assert!(!found.is_empty(), "{verb}: {help}");
        for line in found.iter().filter(|line| !is_endless(line)) {
            let place = furnished(line);
            if let Some(first) = before(line) {
                let said = shell(&place, &first);
                assert_eq!(said.code, 0, "{first}: {said:?}");
            }
            let said = shell(&place, line);
            assert_eq!(said.code, expected(line), "{line}: {said:?}");
            count += 1;
        }
    }
    assert!(count > 50, "only {count} examples were found");
}
