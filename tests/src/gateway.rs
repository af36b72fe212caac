//! The gateway under test: a home and a config of its own in a temporary folder.
//!
//! Nothing of the user's machine is read: `--home` and `--config` name everything.

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::process::{TestProcess, run_outside};
use crate::{TestClient, binaries, broken};

/// How long a start may take on a busy machine; servers that never start are cut by their own limit.
const START: Duration = Duration::from_secs(60);

/// A config and a home, from which gateways and other verbs are started.
pub struct GatewaySetup {
    folder: TempDir,
    program: PathBuf,
    keys: Mutex<HashMap<String, String>>,
}

impl GatewaySetup {
    /// The caller whose key, if there is one, our own plain clients use.
    pub const CLIENT: &str = "client";

    /// A home whose config is this text.
    pub fn new(config: &str) -> io::Result<Self> {
        let folder = TempDir::new()?;
        std::fs::create_dir(folder.path().join("home"))?;
        std::fs::write(folder.path().join("toolgate.toml"), config)?;
        let keys = Mutex::default();
        Ok(Self { folder, program: binaries::find("toolgate")?, keys })
    }

    /// Its temporary folder, for files the test's servers need.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its home.
    pub fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    /// The command line of a verb, as a client that spawns would write it.
    pub fn words(&self, verb: &[&str]) -> Vec<String> {
        let config = self.folder().join("toolgate.toml");
        let paths = [&self.program, &self.home(), &config].map(|path| path.display().to_string());
        let [program, home, config] = paths;
        let mut words = vec![program, "--home".into(), home, "--config".into(), config];
        words.extend(verb.iter().map(|&word| word.to_owned()));
        words
    }

    /// A command for a verb.
    pub fn command(&self, verb: &[&str]) -> Command {
        let words = self.words(verb);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(self.folder());
        command
    }

    /// Runs a verb to its end, as the operator in a separate terminal: outside this process tree.
    pub fn run(&self, verb: &[&str]) -> io::Result<Output> {
        run_outside(&self.command(verb), "")
    }

    /// The same, giving the operator's passphrase.
    pub fn run_with_passphrase(&self, verb: &[&str], passphrase: &str) -> io::Result<Output> {
        let verb = [verb, &["--passphrase-stdin"]].concat();
        run_outside(&self.command(&verb), &format!("{passphrase}\n"))
    }

    /// The key of a caller as an `Authorization` value. It is made when it is first asked for: to be
    /// asked for before there is a gateway, since a client of one makes no keys.
    pub fn key(&self, name: &str) -> io::Result<String> {
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(key) = keys.get(name) {
            return Ok(key.clone());
        }
        let made = self.run(&["keys", "add", name])?;
        let key = String::from_utf8_lossy(&made.stdout).trim().to_owned();
        if key.is_empty() {
            let said = String::from_utf8_lossy(&made.stderr).into_owned();
            return Err(broken(format!("no key for {name}: {said}")));
        }
        keys.insert(name.to_owned(), format!("Bearer {key}"));
        Ok(format!("Bearer {key}"))
    }

    /// Starts `serve` on a free port.
    pub fn serve(&self) -> io::Result<TestGateway> {
        self.serve_with(&[])
    }

    /// Starts `serve` on a free port, with further options.
    pub fn serve_with(&self, options: &[&str]) -> io::Result<TestGateway> {
        let mut verb = vec!["serve", "--listen", "127.0.0.1:0"];
        verb.extend(options);
        let gateway = TestGateway::start(&mut self.command(&verb))?;
        let keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(TestGateway { key: keys.get(Self::CLIENT).cloned(), ..gateway })
    }

    /// Starts `serve --stdio`.
    pub fn serve_stdio(&self) -> io::Result<TestProcess> {
        TestProcess::start(&mut self.command(&["serve", "--stdio"]))
    }
}

/// A gateway that serves over HTTP.
pub struct TestGateway {
    /// The process.
    pub process: TestProcess,
    /// The endpoint it announced.
    pub url: String,
    /// The `Authorization` of its clients, where it requires a key.
    pub key: Option<String>,
}

impl TestGateway {
    /// Starts a `serve` command and waits for the endpoint on its first line.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let process = TestProcess::start(command)?;
        let url = announced_url(&process)?;
        Ok(Self { process, url, key: None })
    }

    /// A session of our own plain client.
    pub fn client(&self) -> io::Result<TestClient> {
        TestClient::connect_as(self.key.clone(), &self.url, &json!({}))
    }

    /// A session, once these tools are listed: servers start while the gateway already serves.
    pub fn client_with(&self, tools: &[&str]) -> io::Result<TestClient> {
        let client = self.client()?;
        client.await_tools(tools, START)?;
        Ok(client)
    }
}

/// A server that listens, with its address on its first line.
pub struct TestServer {
    /// The process.
    pub process: TestProcess,
    /// Its endpoint.
    pub url: String,
}

impl TestServer {
    /// Starts a testkit program with `--http` on a free port.
    pub fn start(program: &str) -> io::Result<Self> {
        Self::start_with(program, "127.0.0.1:0", &[])
    }

    /// Starts it on this address, with further options.
    pub fn start_with(program: &str, address: &str, options: &[&str]) -> io::Result<Self> {
        Self::start_as(program, &[&["--http", address], options].concat())
    }

    /// Starts it with options that say where it listens.
    pub fn start_as(program: &str, options: &[&str]) -> io::Result<Self> {
        Self::run(Command::new(binaries::find(program)?).args(options))
    }

    /// Starts any command that announces its address like that.
    pub fn run(command: &mut Command) -> io::Result<Self> {
        let process = TestProcess::start(command)?;
        let url = announced_url(&process)?;
        Ok(Self { process, url })
    }
}

fn announced_url(process: &TestProcess) -> io::Result<String> {
    let line = process.line(START)?;
    let url = line.split_whitespace().find(|word| word.starts_with("http://"));
    url.map(str::to_owned).ok_or_else(|| broken(format!("no address on the first line: {line}")))
}

/// The config entry of a server that is started.
pub fn stdio_entry(name: &str, command: &[String], env: &[(&str, &str)]) -> String {
    let env: String =
        env.iter().map(|(key, value)| format!("{key} = {}, ", quoted(value))).collect();
    let [program, args @ ..] = command else {
        return String::new();
    };
    let args: Vec<String> = args.iter().map(|word| quoted(word)).collect();
    let (program, args) = (quoted(program), args.join(", "));
    let env = env.trim_end_matches(", ");
    format!("[servers.{name}]\ncommand = {program}\nargs = [{args}]\nenv = {{ {env} }}\n")
}

/// The config entry of a server that is reached.
pub fn http_entry(name: &str, url: &str) -> String {
    format!("[servers.{name}]\nurl = {}\n", quoted(url))
}

/// The config entry of a server that may ask the models of its callers.
pub fn sampling(entry: &str) -> String {
    format!("{entry}sampling = {{ concurrency = 16 }}\n")
}

/// The command line of a testkit program.
pub fn testkit(program: &str, arguments: &[&str]) -> io::Result<Vec<String>> {
    let path = binaries::find(program)?.display().to_string();
    Ok(std::iter::once(path).chain(arguments.iter().map(|&word| word.to_owned())).collect())
}

/// A JSON string is a TOML basic string for everything a path or an argument holds.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}
