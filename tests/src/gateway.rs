//! The gateway under test: a home and a config of its own in a temporary folder.
//!
//! Nothing of the user's machine is read: `--home` and `--config` name everything.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::process::Running;
use crate::{Client, binaries, broken};

/// How long a start may take on a busy machine; servers that never start are cut by their own limit.
const START: Duration = Duration::from_secs(60);

/// A config and a home, from which gateways and other verbs are started.
pub struct Setup {
    folder: TempDir,
    program: PathBuf,
}

impl Setup {
    /// A home whose config is this text.
    pub fn new(config: &str) -> io::Result<Self> {
        let folder = TempDir::new()?;
        std::fs::create_dir(folder.path().join("home"))?;
        std::fs::write(folder.path().join("toolgate.toml"), config)?;
        Ok(Self { folder, program: binaries::find("toolgate")? })
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

    /// Runs a verb to its end.
    pub fn run(&self, verb: &[&str]) -> io::Result<Output> {
        self.command(verb).stdin(Stdio::null()).output()
    }

    /// Starts `serve` on a free port.
    pub fn serve(&self) -> io::Result<Gateway> {
        self.serve_with(&[])
    }

    /// Starts `serve` on a free port, with further options.
    pub fn serve_with(&self, options: &[&str]) -> io::Result<Gateway> {
        let mut verb = vec!["serve", "--listen", "127.0.0.1:0"];
        verb.extend(options);
        Gateway::start(&mut self.command(&verb))
    }

    /// Starts `serve --stdio`.
    pub fn serve_stdio(&self) -> io::Result<Running> {
        Running::start(&mut self.command(&["serve", "--stdio"]))
    }
}

/// A gateway that serves over HTTP.
pub struct Gateway {
    /// The process.
    pub process: Running,
    /// The endpoint it announced.
    pub url: String,
}

impl Gateway {
    /// Starts a `serve` command and waits for the endpoint on its first line.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        let process = Running::start(command)?;
        let url = announced_url(&process)?;
        Ok(Self { process, url })
    }

    /// A session of our own plain client.
    pub fn client(&self) -> io::Result<Client> {
        Client::connect(&self.url)
    }

    /// A session, once these tools are listed: servers start while the gateway already serves.
    pub fn client_with(&self, tools: &[&str]) -> io::Result<Client> {
        let client = self.client()?;
        client.await_tools(tools, START)?;
        Ok(client)
    }
}

/// A server that listens, with its address on its first line.
pub struct Listening {
    /// The process.
    pub process: Running,
    /// Its endpoint.
    pub url: String,
}

impl Listening {
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
        let process = Running::start(command)?;
        let url = announced_url(&process)?;
        Ok(Self { process, url })
    }
}

fn announced_url(process: &Running) -> io::Result<String> {
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
