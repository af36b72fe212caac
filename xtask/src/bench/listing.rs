//! The cost of reading many files: `toolgate list --offline` with 200 servers in 12 files.
//!
//! The files have different dialects and their usual locations, in a project and in a temporary
//! user folder. The figure is the CPU time of the whole process, not the wall-clock time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use toolgate_dialects::{Dialect, FileRef, FileSettings};
use toolgate_model::{
    ConfigScope, HttpSpec, Secret, ServerName, ServerSpec, StdioSpec, TransportSpec,
};

use super::pinning::BenchProcessRole;
use super::process::children_nanos;
use super::setup::BenchResources;

/// Its name on the command line.
pub const NAME: &str = "list-offline";
/// How many servers there are in all.
const SERVERS: usize = 200;
/// The kernel counts what children cost in ticks of 10 ms, so a figure is the mean of so many
/// starts: half a millisecond each way at most.
const STARTS: u32 = 40;
/// Where the project lies, seen from the user's folder.
const PROJECT: &str = "code/app";

/// The files: below the project's folder or the user's.
#[rustfmt::skip]
const FILES: [(ConfigScope, &str, Dialect); 12] = [
    (ConfigScope::Project, "toolgate.toml", Dialect::Toolgate),
    (ConfigScope::Project, ".mcp.json", Dialect::McpJson),
    (ConfigScope::Project, ".gemini/settings.json", Dialect::Gemini),
    (ConfigScope::Project, ".codex/config.toml", Dialect::Codex),
    (ConfigScope::Project, ".vscode/mcp.json", Dialect::VsCode),
    (ConfigScope::Project, ".cursor/mcp.json", Dialect::Cursor),
    (ConfigScope::User, ".config/toolgate/config.toml", Dialect::Toolgate),
    (ConfigScope::User, ".claude.json", Dialect::ClaudeCode),
    (ConfigScope::User, ".codeium/windsurf/mcp_config.json", Dialect::Windsurf),
    (ConfigScope::User, ".config/opencode/opencode.json", Dialect::OpenCode),
    (ConfigScope::User, ".config/goose/config.yaml", Dialect::Goose),
    (ConfigScope::User, ".config/zed/settings.json", Dialect::Zed),
];

/// A user folder and a project with the configuration files of the benchmark.
#[derive(Debug)]
pub struct ListingBenchSetup<'s> {
    site: &'s BenchResources,
    user: PathBuf,
}

impl<'s> ListingBenchSetup<'s> {
    /// Writes the files and makes sure that every server is found in them.
    pub fn prepare(site: &'s BenchResources) -> Result<Self, String> {
        let listing = ListingBenchSetup { site, user: site.scratch.join("listing") };
        write_files(&listing.user)
            .map_err(|error| format!("cannot write the files to list: {error}"))?;
        listing.check()?;
        Ok(listing)
    }

    /// CPU of one start, in milliseconds.
    pub fn measure(&self) -> Result<f64, String> {
        let before = children_nanos()?;
        for _ in 0..STARTS {
            let mut start = self.command();
            start.stdout(Stdio::null()).stderr(Stdio::null());
            let ended =
                start.status().map_err(|error| format!("cannot start {start:?}: {error}"))?;
            if !ended.success() {
                return Err(format!("{start:?} ended with {ended}"));
            }
        }
        let spent = children_nanos()?.saturating_sub(before);
        Ok(spent as f64 / 1e6 / f64::from(STARTS))
    }

    fn check(&self) -> Result<(), String> {
        let mut start = self.command();
        start.arg("--json");
        let output = start.output().map_err(|error| format!("cannot start {start:?}: {error}"))?;
        let told = String::from_utf8_lossy(&output.stderr);
        let rows: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("cannot parse the output of {NAME}: {error}\n{told}"))?;
        match rows["servers"].as_array().map_or(0, Vec::len) {
            SERVERS => Ok(()),
            found => Err(format!("{NAME} lists {found} servers instead of {SERVERS}\n{told}")),
        }
    }

    fn command(&self) -> Command {
        let site = self.site;
        let mut command = site.pinning.command(BenchProcessRole::Measured, &site.binaries.toolgate);
        // Excludes the files of the current user, which would be listed too.
        command.env_clear().env("HOME", &self.user).current_dir(self.user.join(PROJECT));
        command.args(["list", "--offline"]);
        command
    }
}

fn write_files(user: &Path) -> Result<(), String> {
    let project = user.join(PROJECT);
    fs::create_dir_all(project.join(".git")).map_err(|error| error.to_string())?;
    let each = SERVERS / FILES.len();
    let more = SERVERS % FILES.len();
    for (number, (scope, name, dialect)) in FILES.into_iter().enumerate() {
        let folder = if scope == ConfigScope::Project { &project } else { user };
        let path = folder.join(name);
        let servers = (0..each + usize::from(number < more))
            .map(|at| server(&format!("s{number}-{at}"), at))
            .collect::<Result<Vec<_>, _>>()?;
        let at = FileRef::new(path.clone(), scope).with_project(&project);
        let written = dialect.write(&servers, &FileSettings::default(), &at);
        let text = written.map_err(|error| format!("{name}: {error}"))?.text;
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(&path, text)).map_err(|error| format!("{name}: {error}"))?;
    }
    Ok(())
}

/// A server as people declare them: two processes for every endpoint.
fn server(name: &str, number: usize) -> Result<ServerSpec, String> {
    let transport = if number % 3 == 2 {
        let headers = [("X-Team".to_owned(), Secret::new("platform".to_owned()))];
        let url = format!("https://{name}.example.com/mcp");
        TransportSpec::Http(HttpSpec { url, headers: headers.into(), ..HttpSpec::default() })
    } else {
        let env = [("LOG_LEVEL".to_owned(), Secret::new("info".to_owned()))];
        TransportSpec::Stdio(StdioSpec {
            command: "npx".to_owned(),
            args: vec!["-y".to_owned(), format!("@example/server-{name}"), "--verbose".to_owned()],
            env: env.into(),
            ..StdioSpec::default()
        })
    };
    let name = ServerName::new(name).map_err(|error| error.to_string())?;
    Ok(ServerSpec::new(name, transport))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_reads_as_its_dialect_without_a_word() {
        let folder = std::env::temp_dir().join(format!("toolgate-listing-{}", std::process::id()));
        write_files(&folder).unwrap();
        let mut found = 0;
        for (scope, name, dialect) in FILES {
            let below =
                if scope == ConfigScope::Project { folder.join(PROJECT) } else { folder.clone() };
            let path = below.join(name);
            let text = fs::read_to_string(&path).unwrap();
            let reading = dialect.read(&text, &FileRef::new(path, scope).with_project(&below));
            assert_eq!(reading.diagnostics, [], "{name}");
            found += reading.servers.len();
        }
        fs::remove_dir_all(&folder).unwrap();
        assert_eq!(found, SERVERS);
    }
}
