//! Starts one installed version of the suite and reads its results.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use toolgate_e2e::peers;

use crate::shell;

/// An installed suite.
pub struct ConformanceSuite {
    pub version: &'static str,
    node: PathBuf,
    entry: PathBuf,
}

/// The result of one scenario.
#[derive(Debug, PartialEq, Eq)]
pub struct ScenarioResult {
    pub name: String,
    pub passed: usize,
    /// The checks that did not pass, with the suite's words.
    pub failed: Vec<String>,
    /// The suite names the scenario and checks nothing in it.
    pub unwritten: bool,
}

/// Scenarios that this version of the suite lists but always skips.
const UNWRITTEN: &str = "tasks-status-notifications";

impl ConformanceSuite {
    pub fn new(version: &'static str, folder: &str) -> Result<Self, String> {
        let found = peers::node().and_then(|node| Ok((node, peers::conformance(folder)?)));
        let (node, entry) = found.map_err(|error| error.to_string())?;
        Ok(Self { version, node, entry })
    }

    /// The suite in one direction, `server` or `client`.
    pub fn command(&self, direction: &str, out: &Path) -> Command {
        let mut command = shell::command(&self.node);
        command.arg(&self.entry).arg(direction).arg("-o").arg(out);
        command
    }
}

/// The scenarios whose results lie in a folder: one `checks.json` each.
pub fn results(out: &Path) -> Result<Vec<ScenarioResult>, String> {
    let mut scenarios = Vec::new();
    collect(out, &mut scenarios)?;
    scenarios.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(scenarios)
}

/// A scenario named `auth/x` lies one folder deeper, so folders are walked.
fn collect(folder: &Path, into: &mut Vec<ScenarioResult>) -> Result<(), String> {
    let at = |error: &dyn std::fmt::Display| format!("{}: {error}", folder.display());
    for entry in std::fs::read_dir(folder).map_err(|error| at(&error))?.flatten() {
        let path = entry.path();
        let checks = path.join("checks.json");
        if checks.is_file() {
            let text = std::fs::read_to_string(&checks).map_err(|error| at(&error))?;
            let checks: Value = serde_json::from_str(&text).map_err(|error| at(&error))?;
            into.push(scenario(&entry.file_name().to_string_lossy(), &checks));
        } else if path.is_dir() {
            collect(&path, into)?;
        }
    }
    Ok(())
}

fn scenario(folder: &str, checks: &Value) -> ScenarioResult {
    let mut scenario =
        ScenarioResult { name: name(folder), passed: 0, failed: Vec::new(), unwritten: false };
    for check in checks.as_array().into_iter().flatten() {
        match check["status"].as_str() {
            Some("SUCCESS") => scenario.passed += 1,
            Some("INFO" | "SKIPPED") => {}
            // A warning fails too: the suite itself counts it so for clients.
            _ => scenario.failed.push(format!("{}: {}", check["id"], check["errorMessage"])),
        }
    }
    let silent = scenario.passed == 0 && scenario.failed.is_empty();
    scenario.unwritten = silent && scenario.name == UNWRITTEN;
    if silent && !scenario.unwritten {
        scenario.failed.push("nothing was checked".to_owned());
    }
    scenario
}

/// `server-ping-2026-01-01T00-00-00-000Z` is the scenario `ping`.
fn name(folder: &str) -> String {
    const STAMP: usize = "-2026-01-01T00-00-00-000Z".len();
    let stem = folder.len().checked_sub(STAMP).and_then(|end| folder.get(..end)).unwrap_or(folder);
    stem.strip_prefix("server-").unwrap_or(stem).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_scenario_is_named_without_its_time() {
        assert_eq!(name("server-ping-2026-11-15T21-40-31-109Z"), "ping");
        assert_eq!(name("server-server-initialize-2026-11-15T21-40-30-818Z"), "server-initialize");
        assert_eq!(name("tools_call-2026-11-15T21-40-31-109Z"), "tools_call");
    }

    #[test]
    fn a_warning_an_unknown_status_and_silence_all_fail() {
        let judged = |checks| scenario("x", &checks).failed.len();
        assert_eq!(judged(json!([{"status": "SUCCESS"}, {"status": "INFO"}])), 0);
        assert_eq!(judged(json!([{"status": "SUCCESS"}, {"status": "WARNING"}])), 1);
        assert_eq!(judged(json!([{"status": "ODD"}])), 1);
        assert_eq!(judged(json!([])), 1);
        assert_eq!(judged(json!([{"status": "SKIPPED"}])), 1);
        let unwritten = "server-tasks-status-notifications-2026-11-15T21-40-31-109Z";
        assert!(scenario(unwritten, &json!([{"status": "SKIPPED"}])).unwritten);
        assert_eq!(scenario(unwritten, &json!([{"status": "FAILURE"}])).failed.len(), 1);
    }
}
