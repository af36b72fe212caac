//! Released agents, each with a home of its own, a scripted model and nothing else to reach.
//!
//! An agent is configured as its user would: its settings name the model endpoint, and
//! `toolgate install` writes the gateway into its file. Proxy variables lead to a closed port, so
//! that nothing but this machine is reached.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::gateway::{TestGateway, TestServer};
use crate::process::TestProcess;
use crate::{binaries, broken, peers, within};

/// How long an agent may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A released agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agent {
    /// Anthropic's.
    ClaudeCode,
    /// OpenAI's.
    Codex,
    /// GitHub's.
    Copilot,
    /// Google's.
    Gemini,
    /// The open-source one.
    OpenCode,
}

/// What an agent is told to do; the script decides what the model makes of it.
const PROMPT: &str = "Follow the script.";

impl Agent {
    /// Its name for `toolgate install`.
    pub fn id(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }

    /// What it calls itself when it connects.
    pub fn calls_itself(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex-mcp-client",
            Self::Copilot => "copilot-cli",
            Self::Gemini => "gemini-cli-mcp-client",
            Self::OpenCode => "opencode",
        }
    }

    /// What it puts before the names of the gateway's tools.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::ClaudeCode => "mcp__toolgate__",
            Self::Codex => "mcp__toolgate",
            Self::Copilot => "toolgate-",
            Self::Gemini => "mcp_toolgate_",
            Self::OpenCode => "toolgate_",
        }
    }

    /// The settings that name the model endpoint: a file under its user's home, and what it holds.
    fn settings(self, model: &str) -> Option<(&'static str, String)> {
        match self {
            Self::ClaudeCode | Self::Copilot => None,
            Self::Codex => Some((".codex/config.toml", codex_settings(model))),
            Self::Gemini => Some((".gemini/settings.json", gemini_settings().to_string())),
            Self::OpenCode => {
                Some((".config/opencode/opencode.json", opencode_settings(model).to_string()))
            }
        }
    }

    /// The command that runs it without a terminal.
    fn command(self, model: &str) -> io::Result<Command> {
        let package = |file: &str| peers::client(file);
        let mut command;
        match self {
            Self::ClaudeCode => {
                command = Command::new(package("@anthropic-ai/claude-code-linux-x64/claude")?);
                command.args(["-p", PROMPT, "--model", "claude-sonnet-4-5"]);
                command.args(["--allowedTools", "mcp__toolgate"]);
                command.env("ANTHROPIC_BASE_URL", model).env("ANTHROPIC_API_KEY", "none");
                command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
                // Its own search would hide the tools that it was given.
                command.env("DISABLE_AUTOUPDATER", "1").env("ENABLE_TOOL_SEARCH", "false");
            }
            Self::Codex => {
                let program = "@openai/codex/vendor/x86_64-unknown-linux-musl/bin/codex";
                command = Command::new(package(program)?);
                command.args(["exec", "--skip-git-repo-check", PROMPT]).env("MODEL_KEY", "none");
            }
            Self::Copilot => {
                let program = package("@github/copilot-linux-x64/copilot")?;
                let cache = copilot_cache(&program)?;
                command = Command::new(program);
                command.args(["-p", PROMPT, "--allow-all-tools"]).env("COPILOT_OFFLINE", "true");
                command.env("COPILOT_CACHE_HOME", &cache).env("COPILOT_AUTO_UPDATE", "false");
                command.env("COPILOT_PROVIDER_BASE_URL", format!("{model}/v1"));
                command.env("COPILOT_PROVIDER_API_KEY", "none").env("COPILOT_MODEL", "scripted");
            }
            Self::Gemini => {
                command = Command::new(peers::node()?);
                command.arg(package("@google/gemini-cli/bundle/gemini.js")?);
                command.args(["--yolo", "--model", "gemini-2.5-pro", "-p", PROMPT]);
                command.env("GOOGLE_GEMINI_BASE_URL", model).env("GEMINI_API_KEY", "none");
                command.env("GEMINI_CLI_TRUST_WORKSPACE", "true");
                // One process, so that killing it kills it.
                command.env("GEMINI_CLI_NO_RELAUNCH", "true");
            }
            Self::OpenCode => {
                command = Command::new(package("opencode-linux-x64-baseline/bin/opencode")?);
                command.args(["run", "--model", "scripted/scripted", PROMPT]);
                command.env("OPENCODE_DISABLE_MODELS_FETCH", "1");
                command.env("OPENCODE_DISABLE_AUTOUPDATE", "1");
                command.env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1");
            }
        }
        Ok(command)
    }
}

fn codex_settings(model: &str) -> String {
    format!(
        "model = \"scripted\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\n\
         [model_providers.scripted]\nname = \"scripted\"\nbase_url = \"{model}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"MODEL_KEY\"\n\n[analytics]\nenabled = false\n\n"
    )
}

fn gemini_settings() -> Value {
    json!({
        "general": { "enableAutoUpdate": false },
        "privacy": { "usageStatisticsEnabled": false },
        "security": { "auth": { "selectedType": "gemini-api-key" } },
        "telemetry": { "enabled": false },
    })
}

fn opencode_settings(model: &str) -> Value {
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": format!("{model}/v1"), "apiKey": "none" },
        "models": { "scripted": { "name": "scripted" } },
    });
    json!({
        "autoupdate": false,
        "share": "disabled",
        "provider": { "scripted": provider },
        "small_model": "scripted/scripted",
    })
}

/// Where Copilot unpacks itself, once for all tests: 235 MB.
fn copilot_cache(program: &Path) -> io::Result<PathBuf> {
    let cache = peers::root().join("npm-clients").join("copilot-cache");
    fs::create_dir_all(&cache)?;
    let lock = fs::File::create(cache.join("lock"))?;
    flock(&lock, FlockOperation::LockExclusive)?;
    if !cache.join("unpacked").exists() {
        let mut command = Command::new(program);
        command.arg("--version").env_clear().env("HOME", &cache);
        let unpacked = command.env("COPILOT_CACHE_HOME", &cache).output()?;
        if !unpacked.status.success() {
            let said = String::from_utf8_lossy(&unpacked.stderr).into_owned();
            return Err(broken(format!("Copilot does not start: {said}")));
        }
        fs::write(cache.join("unpacked"), "")?;
    }
    Ok(cache)
}

/// A user with one agent, a gateway's home, and a scripted model.
pub struct AgentSetup {
    /// Which agent.
    pub agent: Agent,
    folder: TempDir,
    model: TestServer,
}

/// What the model was asked, once.
#[derive(Debug, Clone)]
pub struct ModelRequest {
    /// The tools of the gateway that it was offered, without the agent's prefix.
    pub tools: Vec<String>,
    /// The results of the calls so far.
    pub results: Vec<String>,
}

impl AgentSetup {
    /// A user whose gateway has this configuration and whose model calls these tools, each `(tool,
    /// arguments)`. Nothing is installed yet.
    pub fn new(agent: Agent, config: &str, steps: &[Value]) -> io::Result<Self> {
        let folder = TempDir::new()?;
        let at = |name: &str| folder.path().join(name);
        for name in ["home", "user", "work"] {
            fs::create_dir(at(name))?;
        }
        fs::write(at("home").join("config.toml"), config)?;
        fs::write(at("script"), json!({ "server": "toolgate", "steps": steps }).to_string())?;
        let paths = [at("script"), at("record")].map(|path| path.display().to_string());
        let model = TestServer::start_as("model", &["--script", &paths[0], "--record", &paths[1]])?;
        if let Some((file, text)) = agent.settings(&model.url) {
            let file = at("user").join(file);
            fs::create_dir_all(file.parent().unwrap_or(&file))?;
            fs::write(file, text)?;
        }
        Ok(Self { agent, folder, model })
    }

    /// Its temporary folder.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// A verb of the gateway's program, as its user runs it.
    pub fn toolgate(&self, verb: &[&str]) -> io::Result<Command> {
        let mut command = Command::new(binaries::find("toolgate")?);
        command.arg("--home").arg(self.folder().join("home")).args(verb);
        self.at_home(&mut command);
        Ok(command)
    }

    /// Runs a verb that must succeed; what it printed.
    pub fn run(&self, verb: &[&str]) -> io::Result<String> {
        let output = self.toolgate(verb)?.stdin(std::process::Stdio::null()).output()?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(broken(format!("`toolgate {}`: {said}", verb.join(" "))))
    }

    /// Writes the gateway into the agent's file.
    pub fn install(&self, options: &[&str]) -> io::Result<()> {
        self.run(&[&["install", self.agent.id(), "--yes"], options].concat()).map(drop)
    }

    /// Starts a gateway of its own on this address.
    pub fn serve(&self, address: &str) -> io::Result<TestGateway> {
        TestGateway::start(&mut self.toolgate(&["serve", "--listen", address])?)
    }

    /// Starts the agent, with further options.
    pub fn start(&self, options: &[&str]) -> io::Result<TestProcess> {
        let mut command = self.agent.command(&self.model.url)?;
        let command = command.args(options);
        self.at_home(command);
        let nowhere = "http://127.0.0.1:9";
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"] {
            command.env(name, nowhere);
        }
        for name in ["NO_PROXY", "no_proxy"] {
            command.env(name, "127.0.0.1,localhost");
        }
        let mut running = TestProcess::start(command)?;
        running.close_stdin();
        Ok(running)
    }

    fn at_home(&self, command: &mut Command) {
        let kept: Vec<_> =
            command.get_envs().map(|(k, v)| (k.to_owned(), v.map(ToOwned::to_owned))).collect();
        command.env_clear();
        command.envs(kept.into_iter().filter_map(|(key, value)| Some((key, value?))));
        command.env("PATH", "/usr/bin:/bin").env("HOME", self.folder().join("user"));
        command.env("TERM", "dumb").env("NO_COLOR", "1").current_dir(self.folder().join("work"));
    }

    /// What the model was asked so far, requests without tools aside: titles and the like.
    pub fn requests(&self) -> Vec<ModelRequest> {
        let text = fs::read_to_string(self.folder().join("record")).unwrap_or_default();
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let words = |value: &Value| -> Vec<String> {
            value
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect()
        };
        let with_tools = lines.map(|line| (words(&line["tools"]), words(&line["results"])));
        let with_tools = with_tools.filter(|(tools, _)| !tools.is_empty());
        let prefix = self.agent.prefix();
        let ours = |tools: Vec<String>| {
            let mut ours: Vec<_> = tools
                .iter()
                .filter_map(|name| name.strip_prefix(prefix))
                .map(str::to_owned)
                .collect();
            ours.sort();
            ours
        };
        with_tools.map(|(tools, results)| ModelRequest { tools: ours(tools), results }).collect()
    }

    /// Waits until the model was told so many tool results; the request that told the last of them.
    pub fn results(&self, count: usize, agent: &mut TestProcess) -> io::Result<ModelRequest> {
        let mut found = None;
        within(PATIENCE, || {
            found = self.requests().into_iter().find(|request| request.results.len() >= count);
            found.is_some() || agent.wait(Duration::ZERO).is_ok()
        });
        // It may have been written between the last look and the agent's end.
        let found =
            found.or_else(|| self.requests().into_iter().find(|it| it.results.len() >= count));
        found.ok_or_else(|| self.describe_failure(agent, &format!("not {count} results")))
    }

    /// Runs the agent to its end; everything the model was asked.
    pub fn finish(&self, options: &[&str]) -> io::Result<Vec<ModelRequest>> {
        let mut agent = self.start(options)?;
        let status = agent
            .wait(PATIENCE)
            .map_err(|error| self.describe_failure(&agent, &error.to_string()))?;
        match status.success() {
            true => Ok(self.requests()),
            false => Err(self.describe_failure(&agent, &status.to_string())),
        }
    }

    fn describe_failure(&self, agent: &TestProcess, what: &str) -> io::Error {
        let (id, requests, stderr) = (self.agent.id(), self.requests(), agent.stderr());
        broken(format!("{id}: {what}\nthe model was asked {requests:#?}\nstderr:\n{stderr}"))
    }
}
