//! The examples of the documents that define our requirements: each file starts what it says.
//!
//! The files are those of `tests/dialects`. Every command in them is a stub that notes how it was
//! started and then is a real server; every endpoint is moved to one of ours on loopback that notes
//! what it was asked.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tempfile::TempDir;
use toolgate_e2e::binaries;

/// What a server of an example is expected to do.
struct Expected {
    dialect: &'static str,
    server: &'static str,
    does: Does,
}

enum Does {
    /// Starts this, with these variables.
    Start(&'static [&'static str], &'static [(&'static str, &'static str)]),
    /// Asks at this path, with these headers.
    Ask(&'static str, &'static [(&'static str, &'static str)]),
    /// Nothing, because of this.
    Wait(&'static str),
    /// Nothing: its example switches it off.
    Rest,
}

use Does::{Ask, Rest, Start, Wait};

const fn expected(dialect: &'static str, server: &'static str, does: Does) -> Expected {
    Expected { dialect, server, does }
}

const FILES: &str = "@modelcontextprotocol/server-filesystem";

/// Every server of every example, as its document describes it.
const EXAMPLES: &[Expected] = &[
    expected(
        "core-agent",
        "filesystem",
        Start(&["mcp-server-filesystem", "--root", "/tmp"], &[("LOG_LEVEL", "info")]),
    ),
    expected("core-agent", "github", Ask("/mcp/", &[("authorization", "Bearer gh-canary")])),
    expected("core-agent", "linear", Ask("/mcp", &[("authorization", "Bearer lin-canary")])),
    expected("sidekick", "my_tools", Start(&["python3", "/path/to/my_mcp_server.py"], &[])),
    expected(
        "sidekick",
        "filesystem",
        Start(&["uvx", "mcp-server-filesystem", "/home/user/allowed"], &[]),
    ),
    expected(
        "sidekick",
        "git",
        Start(
            &["uvx", "mcp-server-git", "--repository", "/path/to/repo"],
            &[("GIT_CONFIG_GLOBAL", "/dev/null")],
        ),
    ),
    expected("sidekick", "sample_mcp_server", Rest),
    expected("nyzhi", "filesystem", Start(&["npx", "-y", FILES, "/home/user/projects"], &[])),
    expected("nyzhi", "remote-api", Ask("/", &[("authorization", "Bearer your-token")])),
    expected(
        "mcp-json",
        "filesystem",
        Start(&["npx", "-y", FILES, "."], &[("NODE_ENV", "production")]),
    ),
    expected("mcp-json", "remote", Ask("/", &[("authorization", "Bearer token")])),
    expected("mcp-json", "api", Ask("/mcp", &[("authorization", "Bearer key-canary")])),
    expected(
        "mcp-json",
        "local",
        Start(
            &["server", "--cache", "/tmp/cache", "--literal", "$HOME"],
            &[("TOKEN", "key-canary")],
        ),
    ),
    expected("llxprt", "my-server", Start(&["npx", "-y", "@example/mcp-server"], &[])),
    expected("llxprt", "my-remote", Ask("/sse", &[])),
    expected("llxprt", "my-http", Ask("/mcp", &[])),
    expected("llxprt", "httpServer", Ask("/mcp", &[])),
    expected(
        "llxprt",
        "httpServerWithAuth",
        Ask(
            "/mcp",
            &[("authorization", "Bearer your-api-token"), ("x-custom-header", "custom-value")],
        ),
    ),
    expected("llxprt", "filteredServer", Start(&["python", "-m", "my_mcp_server"], &[])),
    expected("llxprt", "myIapProtectedServer", Ask("/sse", &[])),
    expected("llxprt", "nodeServer", Start(&["node", "filename.ts"], &[])),
    expected("llxprt", "my-oauth-server", Ask("/sse", &[])),
    expected("secondbrain", "example", Start(&["uvx", "example-mcp-server"], &[])),
    expected("secondbrain", "example", Wait("manifest_digest")),
];

#[test]
fn every_example_starts_what_it_says() {
    let mut seen = vec![0; EXAMPLES.len()];
    for (dialect, place) in [
        ("core-agent", ".agents/mcp.json"),
        ("sidekick", "mcp_tools_config.json"),
        ("nyzhi", ".nyzhi/config.toml"),
        ("mcp-json", ".mcp.json"),
        ("llxprt", ".llxprt/settings.json"),
        ("secondbrain", "secondbrain.yaml"),
    ] {
        for (name, text) in examples(dialect) {
            let stage = Stage::new();
            let played = stage.play(place, &text);
            let servers = played["servers"].as_array().unwrap();
            // Where an example has nothing to start, there is what is built in.
            for server in servers.iter().filter(|server| server["name"] != "context") {
                let found = EXAMPLES.iter().position(|it| it.holds(dialect, server, &stage));
                let found = found.unwrap_or_else(|| {
                    panic!("{dialect}/{name}: {server:#}\nstarted {:#?}", stage.started())
                });
                seen[found] += 1;
            }
        }
    }
    let missing = EXAMPLES.iter().zip(&seen).filter(|(_, seen)| **seen == 0);
    let missing: Vec<_> = missing.map(|(it, _)| (it.dialect, it.server)).collect();
    assert!(missing.is_empty(), "no example has {missing:?}");
}

impl Expected {
    fn holds(&self, dialect: &str, server: &Value, stage: &Stage) -> bool {
        if self.dialect != dialect || server["name"] != self.server {
            return false;
        }
        match self.does {
            Start(words, env) => {
                let fits = |it: &Started| {
                    it.words == words
                        && env
                            .iter()
                            .all(|(key, value)| it.env.get(*key).is_some_and(|it| it == value))
                };
                server["state"] == "connected" && stage.started().iter().any(fits)
            }
            Ask(path, headers) => stage.asked().iter().any(|it| {
                let sent = |(key, value): &(&str, &str)| {
                    it.headers.get(*key).is_some_and(|sent| sent == value)
                };
                it.path == path && headers.iter().all(sent)
            }),
            Wait(reason) => {
                server["state"] == "blocked" && server["reason"].to_string().contains(reason)
            }
            Rest => server["state"] == "disabled" && stage.started().is_empty(),
        }
    }
}

/// The example files of a dialect.
fn examples(dialect: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("dialects").join(dialect);
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension != "snap"));
    files.sort();
    let named = files.into_iter().map(|path| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read_to_string(path).unwrap())
    });
    named.filter(|(name, _)| name.starts_with("example")).collect()
}

/// How a stub was started.
#[derive(Debug)]
struct Started {
    words: Vec<String>,
    env: BTreeMap<String, String>,
}

/// What the endpoint was asked.
#[derive(Debug, Clone)]
struct Asked {
    path: String,
    headers: BTreeMap<String, String>,
}

/// A place with stubs for every command and one endpoint for every address.
struct Stage {
    folder: TempDir,
    authority: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Stage {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        for name in ["bin", "records", "home", "work/bin"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let authority = listener.local_addr().unwrap().to_string();
        let asked = Arc::default();
        let stage = Self { folder, authority, asked };
        for name in ["npx", "uvx", "python", "python3", "node", "mcp-server-filesystem"] {
            stage.stub("bin", name);
        }
        stage.stub("work/bin", "server");
        let asked = stage.asked.clone();
        std::thread::spawn(move || listen(&listener, &asked));
        stage
    }

    /// A command that notes how it was started and then is a real server. Each has a world of
    /// process numbers of its own, so that these tell nobody apart.
    fn stub(&self, folder: &str, name: &str) {
        let fixture = binaries::find("fixture").unwrap();
        let records = self.folder.path().join("records");
        let text = format!(
            "#!/bin/sh\n{{ printf 'word %s\\n' '{name}' \"$@\"; env | sed 's/^/env /'; }} \
             > \"$(mktemp '{}/XXXXXX')\"\nexec '{}' --stdio\n",
            records.display(),
            fixture.display()
        );
        let path = self.folder.path().join(folder).join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Brings up what a file declares and says how its servers stand.
    fn play(&self, place: &str, text: &str) -> Value {
        let file = self.folder.path().join("work").join(place);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(&file, self.moved(text)).unwrap();
        let path = std::env::var("PATH").unwrap();
        let bin = self.folder.path().join("bin");
        let output = Command::new(binaries::find("toolgate").unwrap())
            .arg("--home")
            .arg(self.folder.path().join("home"))
            .arg("--config")
            .arg(&file)
            .args(["--json", "servers", "--wait", "20"])
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("HOME", self.folder.path())
            .env("GITHUB_TOKEN", "gh-canary")
            .env("LINEAR_TOKEN", "lin-canary")
            .env("API_KEY", "key-canary")
            .current_dir(self.folder.path().join("work"))
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(!said.contains("canary") && !shown.contains("canary"), "{said}{shown}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    /// The text with every endpoint moved to ours.
    fn moved(&self, text: &str) -> String {
        let mut moved = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("http") {
            let (before, from) = rest.split_at(start);
            moved.push_str(before);
            let address =
                from.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
            let Some((_, address)) = address else {
                moved.push_str("http");
                rest = &from[4..];
                continue;
            };
            let end = address.find(['/', '"', '}', '\n']).unwrap_or(address.len());
            moved.push_str(&format!("http://{}", self.authority));
            rest = &address[end..];
        }
        moved.push_str(rest);
        moved
    }

    fn started(&self) -> Vec<Started> {
        let records = std::fs::read_dir(self.folder.path().join("records")).unwrap();
        let texts = records.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
        texts.map(|text| Started::read(&text)).collect()
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

impl Started {
    fn read(record: &str) -> Self {
        let words = record.lines().filter_map(|line| line.strip_prefix("word "));
        let env = record.lines().filter_map(|line| line.strip_prefix("env ")?.split_once('='));
        Self {
            words: words.map(str::to_owned).collect(),
            env: env.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
        }
    }
}

/// Notes what is asked and knows nothing.
fn listen(listener: &TcpListener, asked: &Mutex<Vec<Asked>>) {
    for stream in listener.incoming() {
        let Ok(mut stream) = stream else { continue };
        let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let Some(first) = lines.next() else { continue };
        let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
        let headers = lines.take_while(|line| !line.is_empty());
        let headers = headers.filter_map(|line| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_ascii_lowercase(), value.to_owned()))
        });
        let headers = headers.collect();
        asked.lock().unwrap().push(Asked { path, headers });
        let _ = stream
            .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
    }
}
