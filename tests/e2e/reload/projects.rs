//! Files of a project that change while the gateway serves: what they declare needs consent.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolgate_e2e::gateway::TestGateway;
use toolgate_e2e::marked_processes::{self, MarkedProcessGuard, find_marked};
use toolgate_e2e::process::run_outside;
use toolgate_e2e::{TestClient, binaries, within};

use super::{SOON, says, text};

/// A gateway in a project, whose user has nothing but a home.
pub struct Project {
    pub folder: TempDir,
}

impl Project {
    pub fn file(&self) -> PathBuf {
        self.folder.path().join(".mcp.json")
    }

    pub fn command(&self, verb: &[&str]) -> Command {
        let mut command = Command::new(binaries::find("toolgate").unwrap());
        let (folder, home) = (self.folder.path(), self.folder.path().join("home"));
        command.arg("--home").arg(&home).args(verb).current_dir(folder).env("HOME", home);
        command
    }

    pub fn write(&self, version: &str, mark: &str) {
        let command = binaries::find("fixture").unwrap();
        let env = json!({marked_processes::VARIABLE: mark, version: "1"});
        let entry = json!({"command": command, "args": ["--stdio"], "env": env});
        std::fs::write(self.file(), json!({"mcpServers": {"it": entry}}).to_string()).unwrap();
    }

    pub fn state(&self) -> String {
        let output = self.command(&["servers", "--json"]).output().unwrap();
        let overview: Value = serde_json::from_slice(&output.stdout).unwrap();
        let servers = overview["servers"].as_array().unwrap().iter();
        let own = servers.filter(|server| server["name"] == "it");
        own.map(|server| server["state"].as_str().unwrap_or_default().to_owned()).collect()
    }

    pub fn consent(&self) {
        let consented = run_outside(&self.command(&["consent", "it", "--yes"]), "").unwrap();
        assert!(consented.status.success(), "{}", text(&consented.stderr));
    }
}

#[test]
fn a_projects_entry_that_changed_needs_consent_again_and_goes_with_its_file() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let project = Project { folder: TempDir::new().unwrap() };
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let gateway = TestGateway::start(&mut project.command(&serve)).unwrap();
    // The file comes later than the gateway.
    project.write("ONE", &mark);
    says(&gateway.process, "reloaded: added it");
    says(&gateway.process, "  it: blocked: needs consent");
    assert_eq!(project.state(), "blocked");
    project.consent();
    assert!(within(SOON, || project.state() == "connected"), "{}", gateway.process.stderr());
    assert!(!find_marked(&mark).unwrap().is_empty());

    project.write("TWO", &mark);
    assert!(within(SOON, || project.state() == "blocked"), "{}", gateway.process.stderr());
    assert!(within(SOON, || find_marked(&mark).unwrap().is_empty()), "its old process is ended");
    project.consent();
    assert!(within(SOON, || project.state() == "connected"), "{}", gateway.process.stderr());

    std::fs::remove_file(project.file()).unwrap();
    assert!(within(SOON, || project.state().is_empty()), "{}", gateway.process.stderr());
    assert!(within(SOON, || find_marked(&mark).unwrap().is_empty()));
}

#[test]
fn a_consent_taken_back_lets_a_call_finish_and_nobody_begin() {
    let mark = marked_processes::new_mark();
    let _sweep = MarkedProcessGuard(mark.clone());
    let project = Project { folder: TempDir::new().unwrap() };
    project.write("ONE", &mark);
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let gateway = TestGateway::start(&mut project.command(&serve)).unwrap();
    project.consent();
    let client = gateway.client_with(&["it__test_slow"]).unwrap();
    // A call that is over once its caller has answered.
    let can = json!({"elicitation": {}});
    let other = TestClient::connect_with(&gateway.url, &can).unwrap();
    let (id, events) = other.begin("it__test_elicitation", &json!({"message": "?"}), "t").unwrap();
    let messages = events.map(|event| event.unwrap().data).filter(|data| !data.is_empty());
    let mut messages = messages.map(|data| serde_json::from_str::<Value>(&data).unwrap());
    let question = messages.find(|message| message["method"] == "elicitation/create").unwrap();
    let revoked = run_outside(&project.command(&["consent", "--revoke", "it"]), "").unwrap();
    assert!(revoked.status.success(), "{}", text(&revoked.stderr));
    assert_eq!(project.state(), "blocked");
    let refused = client.call("it__test_simple_text", &json!({})).unwrap();
    assert!(refused["error"].is_object(), "{refused}");
    assert!(!find_marked(&mark).unwrap().is_empty(), "the call is still under way");
    let answered = json!({"action": "accept", "content": {"username": "ada"}});
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": answered});
    other.post(&answer.to_string()).unwrap();
    let last = messages.find(|message| message["id"] == id && message["method"].is_null()).unwrap();
    assert!(last["result"].is_object() && last["result"]["isError"] != true, "{last}");
    assert!(last.to_string().contains("ada"), "{last}");
    assert!(within(SOON, || find_marked(&mark).unwrap().is_empty()), "its process is ended");
}
