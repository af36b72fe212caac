//! A recorder between the gateway and those it talks with, and the check of what it recorded: every
//! message of the gateway is right in the revision it speaks there.
//!
//! A recording is a folder: one file for what listens, one for everything that is started.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use toolgate_e2e::gateway::TestServer;
use toolgate_e2e::{binaries, peers};
use toolgate_testkit::recorder::{
    MessageDirection, ProtocolSchemas, RecordedSide, RecordedTraffic,
};

/// Starts a recorder in front of an endpoint.
pub fn before(url: &str, folder: &Path) -> TestServer {
    std::fs::create_dir_all(folder).unwrap();
    let mut command = Command::new(binaries::find("recorder").unwrap());
    let log = folder.join("http");
    TestServer::run(command.arg("--log").arg(log).args(["--to", url])).unwrap()
}

/// The command line of a recorder around a program.
pub fn around(words: Vec<String>, folder: &Path) -> Vec<String> {
    std::fs::create_dir_all(folder).unwrap();
    let recorder = binaries::find("recorder").unwrap();
    let [log, recorder] = [&folder.join("stdio"), &recorder].map(|path| path.display().to_string());
    [recorder, "--log".to_owned(), log, "--".to_owned()].into_iter().chain(words).collect()
}

fn recordings(folder: &Path) -> impl Iterator<Item = RecordedTraffic> {
    let logs = std::fs::read_dir(folder).unwrap();
    logs.map(|log| RecordedTraffic::read(&log.unwrap().path()).unwrap())
}

/// What was said to the servers of a recording.
pub fn said_to_servers(folder: &Path) -> Vec<Value> {
    let said = |recording: RecordedTraffic| {
        recording.messages(MessageDirection::ToServer).collect::<Vec<_>>()
    };
    recordings(folder).flat_map(said).collect()
}

/// What the gateway, which was `side` of this recording, said wrong.
pub fn wrong(folder: &Path, side: RecordedSide) -> Vec<String> {
    let schemas = ProtocolSchemas::load(&peers::root().join("schemas")).unwrap();
    let checked: Vec<_> =
        recordings(folder).map(|recording| recording.check(&schemas, side)).collect();
    let messages: usize = checked.iter().map(|checked| checked.messages).sum();
    assert!(messages > 0, "nothing was recorded in {}", folder.display());
    println!("{messages} messages of the gateway as {side:?}");
    let broken = checked.iter().filter(|checked| !checked.violations.is_empty());
    broken.map(ToString::to_string).collect()
}
