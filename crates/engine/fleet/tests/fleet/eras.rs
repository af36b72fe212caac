//! Which era a server speaks: found out, remembered, and doubted.

use std::path::Path;

use toolgate_model::{StdioSpec, TransportSpec};
use toolgate_wire::Era;

use crate::{details, fleet, member, name, spec};

/// A legacy server that notes what it is asked, and does with a question for its era what the test
/// says.
fn server(folder: &Path, probed: &str) -> TransportSpec {
    let asked = folder.join("asked");
    let script = format!(
        r#"while read -r line; do
             id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
             case "$line" in
               *server/discover*) echo discover >> "{asked}"; {probed} ;;
               *'"initialize"'*) echo initialize >> "{asked}"
                 echo '{{"jsonrpc":"2.0","id":'$id',"result":{{"protocolVersion":"2025-06-18","capabilities":{{"extensions":{{"test/it":{{}}}}}},"serverInfo":{{"name":"it","version":"1"}}}}}}' ;;
             esac
           done"#,
        asked = asked.display()
    );
    let args = vec!["-c".into(), script];
    TransportSpec::Stdio(StdioSpec { command: "sh".into(), args, ..StdioSpec::default() })
}

const UNKNOWN: &str =
    r#"echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"?"}}'"#;

fn asked(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("asked")).unwrap();
    text.lines().map(str::to_owned).collect()
}

#[tokio::test]
async fn a_server_is_asked_for_its_era_once() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(server(folder.path(), UNKNOWN));
    let (fleet, store) = fleet(member(spec.clone())).await;
    for _ in 0..2 {
        let report = fleet.test_connection(&name()).await.unwrap();
        assert!(details(&report).contains(&"2025-06-18 over stdio".into()), "{report:?}");
    }
    assert_eq!(asked(folder.path()), ["discover", "initialize", "initialize"]);
    assert_eq!(store.era(&spec.digest()).await.unwrap().unwrap().era, Era::Legacy);
}

#[tokio::test]
async fn a_server_that_dies_of_the_question_is_started_again_and_not_asked_the_next_time() {
    let folder = tempfile::tempdir().unwrap();
    let (fleet, _store) = fleet(member(spec(server(folder.path(), "exit 1")))).await;
    let again = |report| details(report).iter().any(|told| told.contains("started again"));
    let first = fleet.test_connection(&name()).await.unwrap();
    assert!(first.phases.iter().all(|phase| phase.failure.is_none()), "{first:?}");
    assert!(again(&first), "{first:?}");
    assert!(details(&first).contains(&"2025-06-18 over stdio".into()), "{first:?}");
    let second = fleet.test_connection(&name()).await.unwrap();
    assert!(!again(&second), "{second:?}");
    assert_eq!(asked(folder.path()), ["discover", "initialize", "initialize"]);
}

#[tokio::test]
async fn a_server_found_modern_is_not_demoted_in_silence() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec(server(folder.path(), UNKNOWN));
    let (fleet, store) = fleet(member(spec.clone())).await;
    store.save_era(&spec.digest(), Some(Era::Modern)).await.unwrap();
    let loud = fleet.test_connection(&name()).await.unwrap();
    let failure = loud.phases.last().unwrap().failure.clone().unwrap();
    assert!(failure.hint.unwrap().contains("answers like an older server now"));
    assert_eq!(asked(folder.path()), ["discover"]);
    assert_eq!(store.era(&spec.digest()).await.unwrap(), None);
    let next = fleet.test_connection(&name()).await.unwrap();
    assert!(details(&next).contains(&"2025-06-18 over stdio".into()), "{next:?}");
}

#[tokio::test]
async fn a_legacy_verdict_falls_with_the_handshake_it_led_to() {
    let folder = tempfile::tempdir().unwrap();
    let args = vec!["-c".into(), "read line; exit 1".into()];
    let stdio = StdioSpec { command: "sh".into(), args, ..StdioSpec::default() };
    let spec = spec(TransportSpec::Stdio(StdioSpec { cwd: Some(folder.path().into()), ..stdio }));
    let (fleet, store) = fleet(member(spec.clone())).await;
    store.save_era(&spec.digest(), Some(Era::Legacy)).await.unwrap();
    let report = fleet.test_connection(&name()).await.unwrap();
    assert!(report.phases.last().unwrap().failure.is_some(), "{report:?}");
    assert_eq!(store.era(&spec.digest()).await.unwrap(), None);
}

#[tokio::test]
async fn a_modern_server_that_starts_slowly_and_dies_of_the_wrong_greeting_comes_up() {
    // Longer than the silence after which a server on a pipe is greeted.
    let script = r#"sleep 2.2
      while read -r line; do
        id=$(printf %s "$line" | sed 's/.*"id":\([0-9]*\).*/\1/')
        case "$line" in
          *server/discover*)
            echo '{"jsonrpc":"2.0","id":'$id',"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"extensions":{"test/it":{}}}}}' ;;
          *) echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32022,"message":"no"}}'
            exit 1 ;;
        esac
      done"#;
    let args = vec!["-c".into(), script.into()];
    let stdio = StdioSpec { command: "sh".into(), args, ..StdioSpec::default() };
    let spec = spec(TransportSpec::Stdio(stdio));
    let (fleet, store) = fleet(member(spec.clone())).await;
    let report = fleet.test_connection(&name()).await.unwrap();
    assert!(report.phases.iter().all(|phase| phase.failure.is_none()), "{report:?}");
    assert!(details(&report).contains(&"2026-07-28 over stdio".into()), "{report:?}");
    assert_eq!(store.era(&spec.digest()).await.unwrap().unwrap().era, Era::Modern);
}

#[tokio::test]
async fn a_server_that_ends_by_itself_is_started_twice_at_most_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let script = "echo started >> asked; echo 'no such module' >&2; exit 3".into();
    let args = vec!["-c".into(), script];
    let stdio = StdioSpec { command: "sh".into(), args, ..StdioSpec::default() };
    let spec = spec(TransportSpec::Stdio(StdioSpec { cwd: Some(folder.path().into()), ..stdio }));
    let (fleet, _store) = fleet(member(spec)).await;
    let report = fleet.test_connection(&name()).await.unwrap();
    let failure = report.phases.last().unwrap().failure.clone().unwrap();
    assert!(failure.cause.contains("the server process ended (exit status: 3)"), "{failure:?}");
    assert!(failure.stderr.contains("no such module"), "{failure:?}");
    assert_eq!(asked(folder.path()).len(), 2);
}
