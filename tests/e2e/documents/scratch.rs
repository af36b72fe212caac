//! A scratch folder that stands for the reader's machine: a home, a project, and the programs that
//! the pages start. Packages that `npx` and `uvx` would download are the installed released ones.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use toolgate_e2e::{binaries, peers};

use crate::page::{BlockKind, Page, root};

/// A home with a project in it, and the programs on its `PATH`.
pub struct Scratch {
    folder: TempDir,
}

/// A process group that ends with its owner.
struct Background(Child);

impl Drop for Background {
    fn drop(&mut self) {
        let group = rustix::process::Pid::from_child(&self.0);
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::TERM);
        let _ = self.0.wait();
    }
}

impl Scratch {
    pub fn new() -> Self {
        let scratch = Self { folder: TempDir::new().unwrap() };
        for name in ["bin", "home/project/.git"] {
            std::fs::create_dir_all(scratch.path(name)).unwrap();
        }
        let toolgate = binaries::find("toolgate").unwrap();
        let node = peers::node().unwrap();
        let packages = peers::root().join("npm/node_modules");
        let python = peers::root().join("python-servers/bin");
        // A gateway takes a free port, because other tests may use the usual one.
        scratch.program(
            "toolgate",
            &format!(
                "case \" $* \" in *\" serve --stdio\"*|*\" context serve\"*|*\" --help \"*) ;; \
                 *\" serve \"*) exec {toolgate:?} \"$@\" --listen 127.0.0.1:0 ;; esac\n\
                 exec {toolgate:?} \"$@\""
            ),
        );
        scratch.program(
            "npx",
            &format!(
                "[ \"$1\" = -y ] && shift\npackage=${{1%@[0-9]*}}; shift\n\
                 exec {node:?} {packages:?}/\"$package\"/dist/index.js \"$@\""
            ),
        );
        scratch.program("uvx", &format!("program=$1; shift\nexec {python:?}/\"$program\" \"$@\""));
        scratch
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A shell in the project, as the reader has one.
    fn shell(&self, script: &str) -> Command {
        let mut shell = Command::new("sh");
        let path = std::env::var("PATH").unwrap();
        shell.args(["-e", "-c", script]).current_dir(self.path("home/project")).env_clear();
        shell.env("PATH", format!("{}:{path}", self.path("bin").display()));
        shell.env("HOME", self.path("home")).env("LANG", "C.UTF-8").env("EDITOR", "true");
        shell.env("GITHUB_TOKEN", "gh-example").stdin(Stdio::null());
        shell
    }

    /// Runs the blocks of a page in their order.
    pub fn play(page: &Page) -> Result<(), String> {
        let scratch = Self::new();
        let mut background = Vec::new();
        scratch.run(&page.setup, 0).map_err(|why| format!("{}: setup: {why}", page.name))?;
        for block in &page.blocks {
            let outcome = match &block.kind {
                Ok(BlockKind::Run(code)) => scratch.run(&block.text, *code),
                Ok(BlockKind::Background) => scratch.start(&block.text, &mut background),
                Ok(BlockKind::File(name)) => scratch.write(name, &block.text),
                _ => Ok(()),
            };
            outcome.map_err(|why| format!("{}:{}: {why}", page.name, block.line))?;
        }
        Ok(())
    }

    fn run(&self, script: &str, expected: i32) -> Result<(), String> {
        let output = self.shell(script).output().unwrap();
        if output.status.code() == Some(expected) {
            return Ok(());
        }
        let [out, err] =
            [output.stdout, output.stderr].map(|it| String::from_utf8_lossy(&it).into_owned());
        Err(format!("ended with {}, not {expected}\n{script}{out}{err}", output.status))
    }

    fn start(&self, script: &str, running: &mut Vec<Background>) -> Result<(), String> {
        let mut shell = self.shell(&format!("exec {script}"));
        let mut child = shell.stdout(Stdio::piped()).process_group(0).spawn().unwrap();
        let mut line = String::new();
        let out = child.stdout.take().unwrap();
        running.push(Background(child));
        BufReader::new(out).read_line(&mut line).unwrap();
        (!line.is_empty()).then_some(()).ok_or_else(|| format!("ended without a line\n{script}"))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), String> {
        let path = self.path("home/project").join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).map_err(|error| format!("{name}: {error}"))
    }

    /// Reads a configuration: it has no error and no unknown field. Other warnings are about what
    /// this machine lacks.
    pub fn check_config(&self, text: &str, extension: &str) -> Result<(), String> {
        let name = format!("example.{extension}");
        self.write(&name, text)?;
        let check = format!("toolgate --json --config {name} config check");
        let output = self.shell(&check).output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
        let all = report["diagnostics"].as_array().unwrap().iter();
        let is_bad = |it: &&Value| {
            let message = it["message"].as_str().unwrap_or_default();
            it["severity"] == "error" || message.contains("unknown field")
        };
        let bad: Vec<_> = all.filter(is_bad).map(Value::to_string).collect();
        if bad.is_empty() { Ok(()) } else { Err(bad.join("\n")) }
    }

    /// Reads every `toolgate` command of a block: clap accepts its verb and its options.
    pub fn parse_commands(&self, text: &str) -> Result<(), String> {
        for line in text.replace("\\\n", " ").lines() {
            let line = line.split(" #").next().unwrap_or_default().trim();
            let Some(start) = line.find("toolgate ") else { continue };
            let command = line[start..].split(['|', '>', '&', ';']).next().unwrap_or_default();
            let command = match command.split_once(" -- ") {
                Some((ours, _)) => format!("{ours} --help"),
                None => format!("{command} --help"),
            };
            if line[..start].trim_end().ends_with(['-', '/']) {
                continue;
            }
            self.run(&command, 0)?;
        }
        Ok(())
    }
}

#[test]
fn the_scratch_folder_has_the_programs() {
    let scratch = Scratch::new();
    assert!(root().join("docs").is_dir());
    scratch.run("toolgate --version; command -v npx uvx", 0).unwrap();
    let unknown = scratch.parse_commands("toolgate add --no-such-option x -- y\n");
    assert!(unknown.unwrap_err().contains("--no-such-option"));
    let wrong = scratch.check_config("[servers.x]\ncomand = \"y\"\n", "toml");
    assert!(wrong.unwrap_err().contains("comand"));
}
