//! Conversion of tasks, on messages as servers of each format send them.

use std::time::Duration;

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate_wire::Revision;

use super::*;

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap()
}

fn raw(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn flat() -> Value {
    json!({ "resultType": "task", "taskId": "t", "status": "working", "createdAt": "a",
        "lastUpdatedAt": "b", "ttlMs": 60000, "pollIntervalMs": 250, "odd": [1.50] })
}

fn nested() -> Value {
    json!({ "taskId": "t", "status": "working", "createdAt": "a", "lastUpdatedAt": "b",
        "ttl": 60000, "pollInterval": 250, "odd": [1.50] })
}

#[test]
fn a_server_has_the_form_of_its_revision_only() {
    let core = raw(&json!({ "tasks": { "requests": { "tools": { "call": {} } } } }));
    let extension = raw(&json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let (old, new) = (Revision::V2025_11_25, Revision::V2026_07_28);
    assert_eq!(TaskFormat::of_server(old, &core), Some(TaskFormat::Session));
    assert_eq!(TaskFormat::of_server(new, &extension), Some(TaskFormat::Extension));
    assert_eq!(TaskFormat::of_server(old, &extension), None);
    assert_eq!(TaskFormat::of_server(new, &core), None);
}

#[test]
fn a_client_has_the_extension_when_this_request_declares_it() {
    let declared = raw(&json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    assert_eq!(
        TaskFormat::of_client(Revision::V2026_07_28, &declared),
        Some(TaskFormat::Extension)
    );
    assert_eq!(TaskFormat::of_client(Revision::V2026_07_28, b"{}"), None);
    assert_eq!(TaskFormat::of_client(Revision::V2025_11_25, b"{}"), Some(TaskFormat::Session));
    assert_eq!(TaskFormat::of_client(Revision::V2025_06_18, &declared), None);
}

#[test]
fn the_extension_is_declared_beside_what_was_declared() {
    let tasks = json!({ "io.modelcontextprotocol/tasks": {} });
    let with = |capabilities: Value| json(&declare_extension(&Bytes::from(raw(&capabilities))));
    assert_eq!(with(json!({})), json!({ "extensions": tasks }));
    assert_eq!(with(json!({ "extensions": tasks })), json!({ "extensions": tasks }));
    assert_eq!(
        with(json!({ "roots": {}, "extensions": { "x/y": { "a": 1 } } })),
        json!({ "roots": {},
            "extensions": { "x/y": { "a": 1 }, "io.modelcontextprotocol/tasks": {} } })
    );
    assert_eq!(
        json(&declare_extension(&Bytes::from_static(b"null"))),
        json!({ "extensions": tasks })
    );
}

#[test]
fn an_error_that_misses_the_extension_is_told_from_others() {
    let error = |code: i32, data: Value| raw(&json!({ "code": code, "message": "", "data": data }));
    let missing = json(&missing_capability_data());
    assert!(is_missing_tasks_error(&error(-32021, missing.clone())));
    assert!(!is_missing_tasks_error(&error(-32602, missing)));
    let sampling = json!({ "requiredCapabilities": { "sampling": {} } });
    assert!(!is_missing_tasks_error(&error(-32021, sampling)));
}

#[test]
fn a_created_task_changes_its_form_and_nothing_else() {
    let made = creation_result(&raw(&flat()), TaskFormat::Extension, TaskFormat::Session).unwrap();
    assert_eq!(json(&made), json!({ "task": nested() }));
    let inner = raw(&nested());
    let made = creation_result(&inner, TaskFormat::Session, TaskFormat::Extension).unwrap();
    assert_eq!(json(&made), flat());
    assert!(String::from_utf8_lossy(&made).contains("1.5"), "numbers keep their spelling");
}

#[test]
fn a_task_without_a_time_to_live_lives_for_ever_in_both_forms() {
    let endless = raw(&json!({ "taskId": "t", "status": "working" }));
    let made = creation_result(&endless, TaskFormat::Session, TaskFormat::Extension).unwrap();
    assert_eq!(json(&made)["ttlMs"], Value::Null);
    let made = creation_result(&endless, TaskFormat::Extension, TaskFormat::Session).unwrap();
    assert_eq!(json(&made)["task"]["ttl"], Value::Null);
}

#[test]
fn only_a_task_is_taken_for_one() {
    assert!(task_in_result(&raw(&flat()), TaskFormat::Extension).is_some());
    assert!(
        task_in_result(br#"{"resultType":"complete","taskId":"t"}"#, TaskFormat::Extension)
            .is_none()
    );
    assert!(task_in_result(&raw(&json!({ "task": nested() })), TaskFormat::Session).is_some());
    assert!(task_in_result(br#"{"content":[],"task":"no"}"#, TaskFormat::Session).is_none());
}

#[test]
fn details_of_the_extension_are_not_shown_in_the_older_form() {
    let mut task = flat();
    task["status"] = json!("completed");
    task["result"] = json!({ "content": [] });
    let shown =
        json(&convert_task(&raw(&task), TaskFormat::Extension, TaskFormat::Session).unwrap());
    assert!(shown.get("result").is_none() && shown.get("resultType").is_none());
    assert_eq!((&shown["status"], &shown["ttl"]), (&json!("completed"), &json!(60000)));
}

#[test]
fn the_detail_stands_beside_the_task() {
    let task = raw(&nested());
    let table = [
        (TaskStatus::Working, None, json!({})),
        (
            TaskStatus::InputRequired,
            Some(("inputRequests", &b"{\"k\":{}}"[..])),
            json!({ "inputRequests": { "k": {} } }),
        ),
        (
            TaskStatus::Completed,
            Some(("result", &b"{\"content\":[]}"[..])),
            json!({ "result": { "content": [] } }),
        ),
        (
            TaskStatus::Failed,
            Some(("error", &b"{\"code\":1}"[..])),
            json!({ "error": { "code": 1 } }),
        ),
        (TaskStatus::Cancelled, None, json!({})),
    ];
    for (status, detail, beside) in table {
        let shown = json(&detailed_result(&task, TaskFormat::Session, status, detail).unwrap());
        let mut expected = flat();
        expected["resultType"] = json!("complete");
        expected["status"] = json!(status.as_str());
        for (key, value) in beside.as_object().unwrap() {
            expected[key] = value.clone();
        }
        assert_eq!(shown, expected);
    }
}

#[test]
fn the_mark_of_a_task_is_put_on_and_taken_off() {
    let mark = json!({ "taskId": "t" });
    for bare in [json!({ "a": 1 }), json!({ "a": 1, "_meta": { "x": 2 } })] {
        let marked = add_related_task(&raw(&bare), "t").unwrap();
        assert_eq!(json(&marked)["_meta"]["io.modelcontextprotocol/related-task"], mark);
        let clean = json(&remove_related_task(&marked).unwrap());
        assert_eq!((&clean["a"], &clean["_meta"]["x"]), (&json!(1), &bare["_meta"]["x"]));
        assert!(clean["_meta"].get("io.modelcontextprotocol/related-task").is_none());
    }
}

#[test]
fn questions_are_read_with_their_keys() {
    let ask = json!({ "method": "elicitation/create", "params": { "message": "?" } });
    let task = raw(&json!({ "inputRequests": { "k\"": ask, "r": { "method": "roots/list" } } }));
    let asked = input_requests(&task);
    assert_eq!(asked.len(), 2);
    assert_eq!((asked[0].0.as_str(), asked[0].1.as_str()), ("k\"", "elicitation/create"));
    assert_eq!(asked[1].2, "{}");
}

#[test]
fn every_tool_of_a_modern_server_with_tasks_may_be_one_for_2025_11_25_only() {
    let tool = br#"{"name":"t","inputSchema":{}}"#;
    let shown =
        mark_task_support(tool, Some(TaskFormat::Extension), Revision::V2025_11_25).unwrap();
    assert_eq!(json(&shown)["execution"], json!({ "taskSupport": "optional" }));
    assert!(mark_task_support(tool, Some(TaskFormat::Extension), Revision::V2025_06_18).is_none());
    assert!(mark_task_support(tool, Some(TaskFormat::Extension), Revision::V2026_07_28).is_none());
    assert!(mark_task_support(tool, Some(TaskFormat::Session), Revision::V2025_11_25).is_none());
    assert!(mark_task_support(tool, None, Revision::V2025_11_25).is_none());
}

#[test]
fn times_are_read_however_they_are_spelled() {
    let view = |ttl: Value| {
        let task = raw(&json!({ "taskId": "t", "ttl": ttl, "pollInterval": ttl }));
        TaskView::of(&task, TaskFormat::Session).map(|view| (view.ttl, view.poll)).unwrap()
    };
    let both = |time| (Some(time), Some(time));
    assert_eq!(view(json!(1500)), both(Duration::from_millis(1500)));
    assert_eq!(view(json!(1500.5)), both(Duration::from_micros(1_500_500)));
    assert_eq!(view(json!(0)), both(Duration::ZERO));
    assert_eq!(view(json!(1e300)), both(Duration::MAX));
    for none in [json!(null), json!(-1), json!("soon")] {
        assert_eq!(view(none), (None, None));
    }
}
