//! Files and texts as people have them: broken, commented, linked, under odd names, written by two.

use serde_json::{Value, json};

use crate::support::{Place, run};

/// Names that need quotes somewhere, or look like something else.
const NAMES: [&str; 9] =
    ["my server", "a.b", "ünïcödé", "q\"uote", "it's", "a--b", "日本", "a/b", "x\\y"];

#[test]
fn odd_names_come_back_out_of_either_file() {
    for scope in ["project", "user"] {
        let place = Place::new();
        for name in NAMES {
            for words in [
                &["add", name, "npx", name, "-s", scope][..],
                &["get", name],
                &["disable", name],
                &["enable", name],
            ] {
                let said = run(&mut place.verb(words));
                assert_eq!(said.code, 0, "{words:?}: {said:?}");
            }
        }
        let rows = run(&mut place.verb(&["list", "--offline", "--json"])).json()["servers"].clone();
        let rows = rows.as_array().unwrap().iter();
        let names: Vec<_> = rows.filter_map(|row| row["name"].as_str()).collect();
        let added: Vec<_> = names.into_iter().filter(|name| *name != "sample").collect();
        let mut expected = NAMES;
        expected.sort_unstable();
        assert_eq!(added, expected, "{scope}");
        for name in NAMES {
            let said = run(&mut place.verb(&["remove", name]));
            assert_eq!(said.code, 0, "{name}: {said:?}");
        }
    }
}

#[test]
fn many_may_write_at_once_and_through_a_link() {
    let place = Place::new();
    let (real, link) = (place.work().join("real.json"), place.work().join(".mcp.json"));
    std::fs::write(&real, "{\r\n\t// kept\r\n\t\"mcpServers\": {}\r\n}\r\n").unwrap();
    std::os::unix::fs::symlink("real.json", &link).unwrap();
    let added: Vec<_> = (0..6)
        .map(|n| {
            let (name, command) = (format!("s{n}"), format!("c{n}"));
            place.verb(&["add", &name, &command]).spawn().unwrap()
        })
        .collect();
    for mut child in added {
        assert!(child.wait().unwrap().success());
    }
    assert!(link.is_symlink());
    let text = std::fs::read_to_string(&real).unwrap();
    assert!(text.contains("// kept") && !text.replace("\r\n", "").contains('\n'), "{text:?}");
    let rows = run(&mut place.verb(&["list", "--offline", "--json"])).json()["servers"].clone();
    assert_eq!(rows.as_array().unwrap().len(), 6, "{text}");
}

#[test]
fn a_file_that_cannot_be_read_is_left_as_it_is() {
    let place = Place::new();
    let file = place.work().join(".mcp.json");
    let broken = "{ \"mcpServers\": { \"x\": {";
    std::fs::write(&file, broken).unwrap();
    for words in [&["add", "a", "npx"][..], &["remove", "x"], &["disable", "x"], &["get", "x"]] {
        let said = run(&mut place.verb(words));
        assert_ne!(said.code, 0, "{words:?}: {said:?}");
        assert!(said.err.contains(".mcp.json"), "{words:?}: {said:?}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), broken, "{words:?}");
    }
    assert_eq!(run(&mut place.verb(&["add", "a", "npx"])).code, 2);
}

#[test]
fn an_entry_may_have_comments() {
    let place = Place::new();
    let entry = "{ /* why */ \"command\": \"x\", \"args\": [\"1\",], } // end";
    let said = run(&mut place.verb(&["add-json", "s", entry]));
    assert_eq!(said.code, 0, "{said:?}");
    let text = std::fs::read_to_string(place.work().join(".mcp.json")).unwrap();
    let written: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(written["mcpServers"]["s"], json!({ "command": "x", "args": ["1"] }));
    let said = run(&mut place.verb(&["add-json", "t", "{\"command\": canary}"]));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.err.contains("line 1, column 13") && !said.err.contains("canary"), "{said:?}");
}

#[test]
fn a_shell_completes_verbs_options_and_known_names() {
    let place = Place::new();
    let script = run(&mut place.verb(&["completions", "bash"]));
    std::fs::write(place.work().join("toolgate.bash"), script.out).unwrap();
    for (typed, offered) in [
        ("re", "remove"),
        ("mcp ad", "add-json"),
        ("add --sc", "--scope"),
        ("add --transport s", "sse"),
        ("export --to co", "codex"),
        ("install claude", "claude-code"),
    ] {
        let line = format!(
            "source toolgate.bash; COMP_WORDS=(toolgate {typed}); \
             COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); complete -p toolgate > /dev/null && \
             _clap_complete_toolgate toolgate \"${{COMP_WORDS[COMP_CWORD]}}\" \
             \"${{COMP_WORDS[COMP_CWORD-1]}}\"; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let folder = std::path::Path::new(crate::support::TOOLGATE).parent().unwrap();
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let mut shell = place.command("bash", &["-c", &line]);
        let said = run(shell.env("PATH", path));
        assert!(said.out.lines().any(|it| it.trim() == offered), "{typed}: {said:?}");
    }
}
