//! Rules are about servers and their own tools, never about names that only look like that; and what
//! nobody is asked about is still refused where a rule says so.

use serde_json::json;
use toolgate_testkit::turncoat::TurncoatFieldChange;

use super::{Coat, Stage, act, made, refused, tool_change};

fn tool_named(name: &str) -> TurncoatFieldChange {
    tool_change(name, "/description", json!("A tool."))
}

/// Joined with `_` the two are the same name.
#[test]
fn two_tools_whose_joined_names_are_one_are_still_two() {
    let (one, other) = ([tool_named("b_c")], [tool_named("c")]);
    let coats =
        [Coat { from: &one, ..Coat::named("a") }, Coat { from: &other, ..Coat::named("a_b") }];
    let stage = Stage::with("[policy]\nmode = \"yolo\"\ndeny = [\"mcp:a/b_c\"]\n", &coats);
    let gateway = stage.serve();
    let client = gateway.client_with(&["a_b__c", "a__act"]).unwrap();
    made(&act(&client, "a_b__c", "x"));
    made(&act(&client, "a__act", "x"));
    refused(&act(&client, "a__b_c", "x"));
    assert_eq!((stage.calls("a"), stage.calls("a_b")), (1, 1));
}

/// A rule in a spelling that could mean either is taken for both: it restricts.
#[test]
fn a_deny_that_can_be_read_in_two_ways_denies_both() {
    let (one, other) = ([tool_named("b_c")], [tool_named("c")]);
    let coats =
        [Coat { from: &one, ..Coat::named("a") }, Coat { from: &other, ..Coat::named("a_b") }];
    let stage = Stage::with("[policy]\nmode = \"yolo\"\ndeny = [\"mcp:a_b_c\"]\n", &coats);
    let gateway = stage.serve();
    let client = gateway.client_with(&["a__act", "a_b__act"]).unwrap();
    refused(&act(&client, "a__b_c", "x"));
    refused(&act(&client, "a_b__c", "x"));
    made(&act(&client, "a_b__act", "x"));
    assert_eq!((stage.calls("a"), stage.calls("a_b")), (0, 1));
}

/// `mcp__s__t` with `__` in the names.
#[test]
fn a_name_with_the_separator_in_it_is_not_another_servers() {
    let (one, other) = ([tool_named("b__c")], [tool_named("c")]);
    let coats =
        [Coat { from: &one, ..Coat::named("a") }, Coat { from: &other, ..Coat::named("a__b") }];
    let stage = Stage::with("[policy]\nmode = \"yolo\"\ndeny = [\"mcp:a__b/*\"]\n", &coats);
    let gateway = stage.serve();
    let client = gateway.client_with(&["a__act"]).unwrap();
    // Whatever the two are called now: what reaches a server is what that server was meant by.
    for tool in client.tools().unwrap() {
        act(&client, &tool, "x");
    }
    assert_eq!(stage.calls("a__b"), 0);
    assert!(stage.ledger("a").iter().any(|call| call["name"] == "b__c"));
}

/// Who wants not to be asked still wants his prohibitions kept, and his pins.
#[test]
fn yolo_and_trust_ask_nobody_and_deny_all_the_same() {
    let config = "[policy]\nmode = \"yolo\"\ndeny = [\"mcp:coat/act\"]\n[pins]\nrecheck = \"0s\"\n";
    let stage = Stage::new(config);
    let file = stage.setup.folder().join("toolgate.toml");
    let text = std::fs::read_to_string(&file).unwrap() + "trust = true\n";
    std::fs::write(&file, text).unwrap();
    let gateway = stage.serve();
    let client = gateway.client_with(&["coat__aside"]).unwrap();
    refused(&act(&client, "coat__act", "x"));
    made(&act(&client, "coat__aside", "x"));
    let change = tool_change("aside", "/description", json!("Does more."));
    stage.turn("coat", vec![change], false);
    refused(&act(&client, "coat__aside", "x"));
    assert_eq!(stage.calls("coat"), 1);
}

/// A rule with a condition looks at the arguments that are sent.
#[test]
fn a_condition_holds_of_the_arguments_that_are_sent() {
    let config = "[policy]\nmode = \"yolo\"\n\
        deny = [{ about = \"mcp:coat/*\", when = [{ at = \"/text\", glob = \"/etc/*\" }] }]\n";
    let stage = Stage::new(config);
    let gateway = stage.serve();
    let client = gateway.client_with(&["coat__act"]).unwrap();
    refused(&act(&client, "coat__act", "/etc/passwd"));
    made(&act(&client, "coat__act", "/srv/notes"));
    let spelled = r#"{"jsonrpc":"2.0","id":77,"method":"tools/call","params":{"name":"coat__act","arguments":{"te\u0078t":"\/e\u0074c\/shadow"}}}"#;
    let answer = client.post(spelled).unwrap();
    refused(&toolgate_e2e::mcp::answer(answer, &json!(77)).unwrap());
    let twice = r#"{"jsonrpc":"2.0","id":78,"method":"tools/call","params":{"name":"coat__act","arguments":{"text":"/srv/a","text":"/etc/shadow"}}}"#;
    let answer = toolgate_e2e::mcp::answer(client.post(twice).unwrap(), &json!(78)).unwrap();
    assert!(answer.get("error").is_some() || answer["result"]["isError"] == true, "{answer}");
    assert_eq!(stage.calls("coat"), 1);
}
