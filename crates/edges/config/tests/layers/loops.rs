//! Toolgate in the files of hosts it is installed in: gateways must not start gateways.

use toolgate_config::{ConfigSources, Dialect, Environment, known_files, load};

use crate::world::{World, declaring, names};

#[test]
fn an_installed_toolgate_is_left_out_of_every_dialect() {
    let forms: [(&str, &[&str]); 5] = [
        ("toolgate", &["serve", "--stdio"]),
        ("toolgate", &["mcp", "serve", "--stdio"]),
        ("/opt/bin/toolgate", &["--home", "/h", "serve", "--stdio"]),
        ("env", &["TOOLGATE_LOG=debug", "toolgate", "serve", "--stdio"]),
        ("sh", &["-c", "exec /opt/bin/toolgate serve --stdio"]),
    ];
    for dialect in Dialect::ALL {
        for (command, args) in forms {
            let world = World::new();
            let files = known_files(&world.sources());
            // Its second version lies in the same file as the first.
            let placed = if dialect == Dialect::OpenCodeV2 { Dialect::OpenCode } else { dialect };
            let file = files.iter().find(|it| it.dialect == placed).unwrap();
            std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
            std::fs::write(file.path(), declaring(dialect, "gate", command, args)).unwrap();
            let plan = world.plan();
            assert_eq!(names(&plan), [""; 0], "{dialect} {command} {args:?}");
            let said: Vec<_> = plan.diagnostics.iter().map(|it| it.message.as_str()).collect();
            assert!(said.iter().any(|it| it.contains("inside the gateway")), "{dialect} {said:?}");
        }
    }
}

#[test]
fn its_own_endpoint_is_left_out_however_it_is_written() {
    let world = World::new();
    world.file(
        ".mcp.json",
        r#"{"mcpServers": {
            "a": {"type": "http", "url": "http://localhost:7420/mcp"},
            "b": {"type": "http", "url": "http://127.0.0.1:7420/sse"},
            "c": {"type": "http", "url": "${GATE}"},
            "d": {"type": "http", "url": "http://localhost:7421/mcp"}}}"#,
    );
    let own_endpoints = vec!["http://127.0.0.1:7420/mcp".to_owned()];
    let sources = ConfigSources { own_endpoints, ..world.sources() };
    let env = Environment::new(|_| Some("http://[::1]:7420/mcp".to_owned()));
    let plan = load(&sources, &|_, _| true, &env).unwrap();
    assert_eq!(names(&plan), ["c", "d"]);
    let standing = format!("{:?}", plan.entries[0].start_status);
    assert!(standing.contains("points at this gateway itself"), "{standing}");
}

/// Our binary under another name: this test is the program that runs.
#[cfg(unix)]
#[test]
fn the_program_that_runs_is_known_by_any_name() {
    let world = World::new();
    let own = std::env::current_exe().unwrap();
    let link = world.root().join("gate");
    std::os::unix::fs::symlink(&own, &link).unwrap();
    let entry =
        |command: &str, args: &str| format!(r#"{{"command": {command:?}, "args": [{args}]}}"#);
    let (own, link) = (own.to_str().unwrap(), link.to_str().unwrap());
    let script = format!(r#""-c", "cd / && exec {link} serve --stdio""#);
    let text = format!(
        r#"{{"mcpServers": {{"a": {}, "b": {}, "c": {}, "d": {}}}}}"#,
        entry(own, r#""serve", "--stdio""#),
        entry(link, r#""--home", "/h", "serve""#),
        entry("sh", &script),
        entry(link, r#""other-verb""#),
    );
    world.file(".mcp.json", &text);
    assert_eq!(names(&world.plan()), ["d"]);
}
