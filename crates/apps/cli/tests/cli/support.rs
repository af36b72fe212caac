//! A home, configs and processes for one test.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

pub const TOOLGATE: &str = env!("CARGO_BIN_EXE_toolgate");
const SERVER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/server.py");
const TYPIST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cli/typist.py");
/// Nothing here takes this long unless it hangs.
const LIMIT: Duration = Duration::from_secs(30);

/// One test's place: a home, a folder to work in, and a config file that may be named.
pub struct Place {
    folder: TempDir,
}

impl Place {
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        std::fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    /// A place with a config file.
    pub fn with(config: &str) -> Self {
        let place = Self::new();
        std::fs::write(place.config(), config).unwrap();
        place
    }

    pub fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    /// Where verbs are run.
    pub fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    pub fn config(&self) -> PathBuf {
        self.folder.path().join("servers.toml")
    }

    /// A verb in this home, which reads the user's and the project's files.
    pub fn verb(&self, words: &[&str]) -> Command {
        self.command(TOOLGATE, words)
    }

    /// The same verb, reading the config file alone.
    pub fn configured(&self, words: &[&str]) -> Command {
        let mut command = self.verb(&[]);
        command.arg("--config").arg(self.config()).args(words);
        command
    }

    /// Another program in this home.
    pub fn command(&self, program: &str, words: &[&str]) -> Command {
        let mut command = Command::new(program);
        for variable in ["TOOLGATE_LOG", "NO_COLOR", "COLUMNS", "XDG_CONFIG_HOME", "XDG_STATE_HOME"]
        {
            command.env_remove(variable);
        }
        command.env("TOOLGATE_HOME", self.home()).env("HOME", self.folder.path());
        command.args(words).current_dir(self.work()).stdin(Stdio::null());
        command
    }

    /// The verb at a terminal, with somebody who types: pairs of what he waits for and says.
    pub fn typed(&self, script: &[(&str, &str)], words: &[&str]) -> Command {
        let mut command = self.command("python3", &[TYPIST]);
        command.args(script.iter().flat_map(|(wanted, typed)| [*wanted, *typed]));
        command.arg("--").arg(TOOLGATE).args(words);
        command
    }
}

/// An entry for the sample server, as a process.
pub fn sample(name: &str) -> String {
    format!("[servers.{name}]\ncommand = {TOOLGATE:?}\nargs = [\"sample-server\"]\n")
}

/// An entry for the server that shows what a client does to it.
pub fn witness(name: &str, folder: &Path) -> String {
    let env = format!("{{ WITNESS = {:?} }}", folder.display().to_string());
    format!("[servers.{name}]\ncommand = \"python3\"\nargs = [{SERVER:?}]\nenv = {env}\n")
}

/// How a verb ended, and everything it said.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub fn run(command: &mut Command) -> Said {
    said(command.output().unwrap())
}

/// Starts its arguments as a process that this one is no ancestor of, and waits until that is so.
/// The end of both outputs is its end; its exit code is then in the named file.
const OUTSIDE: &str = r#"
sh -c '
    parent=$1 code=$2; shift 2
    while grep -q "^PPid:[[:space:]]*$parent\$" /proc/$$/status; do :; done
    "$@" < "$OUTSIDE_INPUT"
    echo $? > "$code"
' outside $$ "$@" &
"#;

/// Runs a command to its end outside the process tree of this test, as an operator does in a
/// separate terminal: a test that is a client cannot approve its own calls.
pub fn run_outside(command: &mut Command) -> Said {
    run_outside_with(command, "")
}

/// The same; the command reads `input`.
pub fn run_outside_with(command: &mut Command, input: &str) -> Said {
    let folder = TempDir::new().unwrap();
    let (code, typed) = (folder.path().join("code"), folder.path().join("input"));
    std::fs::write(&typed, input).unwrap();
    let mut outside = Command::new("sh");
    outside.args(["-c", OUTSIDE, "outside"]).arg(&code);
    outside.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => outside.env(name, value),
            None => outside.env_remove(name),
        };
    }
    outside.env("OUTSIDE_INPUT", &typed).stdin(Stdio::null());
    outside.current_dir(command.get_current_dir().unwrap());
    let output = outside.output().unwrap();
    let code = std::fs::read_to_string(code).unwrap();
    let status = ExitStatus::from_raw(code.trim().parse::<i32>().unwrap() << 8);
    said(Output { status, ..output })
}

fn said(output: Output) -> Said {
    Said {
        code: output.status.code().expect("an exit code"),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A verb that goes on running. It is killed when dropped.
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = pipes.spawn().unwrap();
        let (sender, lines) = mpsc::channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        std::thread::spawn(move || {
            stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let stdin = child.stdin.take();
        Self { child, stdin, lines }
    }

    /// Starts `serve` on a free port and waits for its endpoint.
    pub fn serve(command: &mut Command) -> (Self, String) {
        let running = Self::start(command.args(["serve", "--listen", "127.0.0.1:0"]));
        let endpoint = running.line();
        assert!(endpoint.starts_with("http://127.0.0.1:"), "{endpoint}");
        (running, endpoint)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line on stdout.
    pub fn line(&self) -> String {
        self.lines.recv_timeout(LIMIT).expect("a line")
    }

    /// The answer to a request, on stdout.
    pub fn answer(&self, id: u32) -> Value {
        loop {
            let message: Value = serde_json::from_str(&self.line()).unwrap();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    pub fn send(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub fn close_stdin(&mut self) {
        self.stdin.take();
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.pid().try_into().unwrap()).unwrap(), signal).unwrap();
    }

    /// Waits for the end: the exit code, and what was said on stderr.
    pub fn end(mut self) -> (i32, String) {
        let status = self.child.wait().unwrap();
        let mut err = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        (status.code().expect("an exit code"), err)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What a client says first.
pub fn opening() -> [Value; 2] {
    let info = json!({ "name": "test", "version": "1" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
    [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
    ]
}

/// A call of a tool.
pub fn calling(id: u32, tool: &str) -> Value {
    let params = json!({ "name": tool, "arguments": {} });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

/// Waits for a state of the machine that announces itself to nobody.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The living processes with this text in their environment.
pub fn processes_with(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let environments =
        processes.filter_map(|entry| std::fs::read(entry.path().join("environ")).ok());
    environments.filter(|environ| String::from_utf8_lossy(environ).contains(mark)).count()
}
