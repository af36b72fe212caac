//! Lists: every page of them, and none without an end.

use serde_json::{Value, json};
use toolgate_model::CapabilityKind;
use toolgate_session::SessionError;

use crate::peer::{Server, connected};

async fn pages(server: &mut Server, cursors: &[Option<&str>]) {
    for (number, cursor) in cursors.iter().enumerate() {
        let request = server.expect("tools/list").await;
        let before = number.checked_sub(1).and_then(|before| cursors[before]);
        assert_eq!(request["params"]["cursor"].as_str(), before);
        let mut page = json!({ "tools": [{ "name": format!("t{number}") }] });
        if let Some(cursor) = cursor {
            page["nextCursor"] = Value::from(*cursor);
        }
        server.answer(&request, page).await;
    }
}

#[tokio::test]
async fn all_pages_are_read_and_an_empty_cursor_is_a_cursor() {
    let (session, mut server, _) = connected().await;
    let cursors = [Some("a"), Some(""), None];
    let (list, ()) = tokio::join!(session.list(CapabilityKind::Tool), pages(&mut server, &cursors));
    let names: Vec<_> = list.unwrap().into_iter().map(|it| it.name.to_string()).collect();
    assert_eq!(names, ["t0", "t1", "t2"]);
}

#[tokio::test]
async fn a_cursor_that_comes_back_is_an_error_not_a_cut() {
    let (session, mut server, _) = connected().await;
    let cursors = [Some("a"), Some("b"), Some("a")];
    let (list, ()) = tokio::join!(session.list(CapabilityKind::Tool), pages(&mut server, &cursors));
    let error = list.unwrap_err();
    assert!(
        matches!(&error, SessionError::Protocol(why) if why.contains("same cursor")),
        "{error}"
    );
}

#[tokio::test]
async fn ever_fresh_cursors_are_an_error_too() {
    let (session, mut server, _) = connected().await;
    let names: Vec<_> = (0..100).map(|n| n.to_string()).collect();
    let cursors: Vec<_> = names.iter().map(|name| Some(name.as_str())).collect();
    let (list, ()) = tokio::join!(session.list(CapabilityKind::Tool), pages(&mut server, &cursors));
    let error = list.unwrap_err();
    assert!(matches!(&error, SessionError::Protocol(why) if why.contains("100 pages")), "{error}");
}

#[tokio::test]
async fn a_definition_without_a_name_hides_no_other() {
    let (session, mut server, _) = connected().await;
    let served = async {
        let request = server.expect("tools/list").await;
        let tools =
            json!([{ "name": "a", "odd": [1.0] }, { "title": "nameless" }, { "name": "b" }]);
        server.answer(&request, json!({ "tools": tools })).await;
    };
    let (list, ()) = tokio::join!(session.list(CapabilityKind::Tool), served);
    let list = list.unwrap();
    assert_eq!(list.len(), 2);
    assert_eq!(list[0].raw, r#"{"name":"a","odd":[1.0]}"#);
}

#[tokio::test]
async fn of_two_definitions_under_one_name_the_first_counts() {
    let (session, mut server, _) = connected().await;
    let served = async {
        let request = server.expect("tools/list").await;
        let tools = json!([{ "name": "a", "z": 1 }, { "name": "b" }]);
        server.answer(&request, json!({ "tools": tools, "nextCursor": "more" })).await;
        let request = server.expect("tools/list").await;
        server.answer(&request, json!({ "tools": [{ "name": "a", "z": 2 }] })).await;
    };
    let (list, ()) = tokio::join!(session.list(CapabilityKind::Tool), served);
    let raw: Vec<_> = list.unwrap().into_iter().map(|definition| definition.raw).collect();
    assert_eq!(raw, [r#"{"name":"a","z":1}"#, r#"{"name":"b"}"#]);
}
