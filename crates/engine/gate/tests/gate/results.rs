//! Results above a profile's limit: what is shown, what is kept, who reads it and how.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};
use toolgate_gate::{Caller, CallerId, Client, Gate, GatewaySettings, Principal};
use toolgate_model::{CapabilityKind, Profile};
use toolgate_transport::spool;
use toolgate_wire::{Frame, MessageLimits, Revision};

use crate::fleet::{Nobody, Played, gate, listed, pass, profiles, seeing, tools};

const META: &str = "dev.toolgate/result";
const LEGACY: Revision = Revision::LATEST_LEGACY;

/// `short` takes a thousand tokens at once, `default` everything.
fn manner() -> GatewaySettings {
    let short = Profile { result_limit: Some(1000), ..Profile::default() };
    GatewaySettings { profiles: profiles([("short", short)]), ..GatewaySettings::default() }
}

/// A tool that answers with what it is given.
async fn mirror() -> Arc<Gate> {
    let tool = json!({ "name": "give", "inputSchema": { "type": "object" },
        "outputSchema": { "type": "object" } });
    let server = Played::new(json!({ "tools": {} }), move |method, params| match method {
        "tools/list" => json!({ "tools": [tool] }),
        _ => params["arguments"]["result"].clone(),
    });
    let (gate, fleet) = gate(&[("s", &server)], manner()).await;
    // The fleet goes on as long as somebody holds it.
    std::mem::forget(fleet);
    gate
}

async fn give(gate: &Gate, caller: &Arc<Caller>, result: &Value) -> Value {
    let params = json!({ "name": "s__give", "arguments": { "result": result } });
    pass(gate, caller, "tools/call", params).await.unwrap()
}

async fn read(gate: &Gate, caller: &Arc<Caller>, uri: &str) -> Result<Value, String> {
    let read = pass(gate, caller, "resources/read", json!({ "uri": uri })).await;
    read.map_err(|refusal| refusal.message)
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

fn long() -> String {
    (0..4000).map(|number| format!("{number}: zażółć \"日本\"\n")).collect()
}

fn uri(shown: &Value) -> String {
    shown["_meta"][META]["uri"].as_str().expect("it is kept").to_owned()
}

#[tokio::test]
async fn what_is_within_the_limit_or_of_another_profile_passes_as_it_is() {
    let gate = mirror().await;
    let small = json!({ "content": [{ "type": "text", "text": "x".repeat(3000) }],
        "structuredContent": { "a": 1 } });
    assert_eq!(give(&gate, &seeing("short", LEGACY), &small).await, small);
    let large = text(&long());
    assert_eq!(give(&gate, &seeing("default", LEGACY), &large).await, large);
}

#[tokio::test]
async fn the_first_and_the_last_part_are_shown_and_everything_else_stays() {
    let gate = mirror().await;
    let mut result = text(&long());
    result["structuredContent"] = json!({ "left": "out" });
    result["isError"] = json!(true);
    result["_meta"] = json!({ "theirs": 1.5 });
    result["unknown"] = json!([1, 2]);
    let me = seeing("short", LEGACY);
    let shown = give(&gate, &me, &result).await;
    let texts: Vec<_> = shown["content"].as_array().unwrap()[..3]
        .iter()
        .map(|block| block["text"].as_str().unwrap())
        .collect();
    assert!(long().starts_with(texts[0]) && texts[0].ends_with('\n'), "{}", texts[0]);
    assert!(long().ends_with(texts[2]) && texts[0].len() > texts[2].len());
    let uri = uri(&shown);
    assert!(texts[1].contains(&format!("{uri}?offset={}", texts[0].len())), "{}", texts[1]);
    assert!(texts[1].contains("form=structured"), "{}", texts[1]);
    assert!(texts.concat().len() < 4000);
    assert_eq!(shown["content"][3]["type"], "resource_link");
    assert_eq!(shown["content"][3]["uri"], uri.as_str());
    assert_eq!((&shown["isError"], &shown["unknown"]), (&json!(true), &json!([1, 2])));
    assert_eq!(shown["_meta"]["theirs"], 1.5);
    assert_eq!(shown["_meta"][META]["bytes"], result.to_string().len());
    assert!(shown.get("structuredContent").is_none());
    let raw = read(&gate, &me, &format!("{uri}?form=raw&length=1000000")).await.unwrap();
    let raw = raw["contents"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(raw).unwrap(), result);
    let output = read(&gate, &me, &format!("{uri}?form=structured")).await.unwrap();
    assert_eq!(output["contents"][0]["text"], r#"{"left":"out"}"#);
}

#[tokio::test]
async fn every_revision_is_shown_what_it_knows() {
    let gate = mirror().await;
    for revision in Revision::ALL {
        let me = seeing("short", revision);
        let shown = give(&gate, &me, &text(&long())).await;
        let links = shown["content"].as_array().unwrap().iter();
        let links = links.filter(|block| block["type"] == "resource_link").count();
        assert_eq!(links == 1, revision.has_resource_links(), "{revision}");
        let modern = revision.era() == toolgate_wire::Era::Modern;
        assert_eq!(shown.get("resultType").is_some(), modern, "{revision}");
        let page = read(&gate, &me, &uri(&shown)).await.unwrap();
        assert_eq!(page.get("resultType").is_some(), modern, "{revision}");
        assert!(long().starts_with(page["contents"][0]["text"].as_str().unwrap()));
    }
}

#[tokio::test]
async fn pages_make_the_whole_text_however_they_are_cut() {
    let gate = mirror().await;
    let me = seeing("short", LEGACY);
    let uri = uri(&give(&gate, &me, &text(&long())).await);
    for length in [7, 100, 4099, 1_000_000] {
        let (mut whole, mut at) = (String::new(), 0);
        // A few pages are enough where they are small.
        for _ in 0..200 {
            let page = read(&gate, &me, &format!("{uri}?offset={at}&length={length}")).await;
            let page = page.unwrap();
            whole.push_str(page["contents"][0]["text"].as_str().unwrap());
            match page["_meta"][META]["nextOffset"].as_u64() {
                Some(next) => at = next,
                None => break,
            }
        }
        assert!(long().starts_with(&whole) && whole.len() > 1000, "in pages of {length}");
        assert!(length < 1000 || whole == long(), "in pages of {length}");
    }
    // Less than a character: that character.
    let mut at = 0;
    for character in long().chars().take(40) {
        let page = read(&gate, &me, &format!("{uri}?offset={at}&length=1")).await.unwrap();
        assert_eq!(page["contents"][0]["text"], character.to_string(), "at {at}");
        at = page["_meta"][META]["nextOffset"].as_u64().unwrap();
    }
    // Amid a character: on with the next one.
    let accent = long().find('ż').unwrap();
    let page = read(&gate, &me, &format!("{uri}?offset={}&length=3", accent + 1)).await.unwrap();
    assert_eq!(page["contents"][0]["text"], "ó");
    let beyond = read(&gate, &me, &format!("{uri}?offset=9999999")).await.unwrap_err();
    assert!(beyond.contains("is past the end"), "{beyond}");
    let lines = read(&gate, &me, &format!("{uri}?lines=3999-")).await.unwrap();
    assert_eq!(lines["contents"][0]["text"], "3998: zażółć \"日本\"\n3999: zażółć \"日本\"\n");
}

#[tokio::test]
async fn a_search_tells_places_and_how_to_go_on() {
    let gate = mirror().await;
    let me = seeing("short", LEGACY);
    let uri = uri(&give(&gate, &me, &text(&long())).await);
    let found = read(&gate, &me, &format!("{uri}?search=ZA%C5%BB%C3%93&context=5")).await.unwrap();
    let matches = found["_meta"][META]["matches"].as_array().unwrap();
    assert_eq!(matches.len(), 20);
    let first = long().find("zażó").unwrap();
    assert_eq!(matches[0], first);
    let lines: Vec<_> = found["contents"][0]["text"].as_str().unwrap().lines().collect();
    assert_eq!(lines[0], format!("@{first}: 0: zażółć "));
    let next = found["_meta"][META]["nextOffset"].as_u64().unwrap();
    let more = read(&gate, &me, &format!("{uri}?search=zaż&offset={next}")).await.unwrap();
    assert_eq!(more["_meta"][META]["matches"][0], next);
    let none = read(&gate, &me, &format!("{uri}?search=ZA%C5%BB&case=exact")).await.unwrap();
    assert_eq!(none["_meta"][META]["matches"], json!([]));
}

#[tokio::test]
async fn a_kept_result_is_its_principals_alone() {
    let gate = mirror().await;
    let me = seeing("short", LEGACY);
    let uri = uri(&give(&gate, &me, &text(&long())).await);
    let refused = read(&gate, &seeing("short", LEGACY), &uri).await.unwrap_err();
    assert!(refused.contains("no result is kept"), "{refused}");
    let unknown = read(&gate, &me, "toolgate://results/00").await.unwrap_err();
    assert_eq!(refused.replace(&uri, ""), unknown.replace("toolgate://results/00", ""));
    // Two visits of one principal are one owner.
    let visit = || {
        let id = CallerId::fresh();
        let (nobody, none) = (Arc::new(Nobody::of(id)), Bytes::from_static(b"{}"));
        let caller = Caller::new(id, Client::default(), LEGACY, none, nobody);
        Arc::new(
            caller.with_profile("short".into()).with_principal(Principal::from_name(b"somebody")),
        )
    };
    let shared = give(&gate, &visit(), &text(&long())).await;
    assert!(read(&gate, &visit(), &self::uri(&shared)).await.is_ok());
    // So are two sessions of somebody who stands behind both.
    let session = |behind: &[u8]| {
        let id = CallerId::fresh();
        let (nobody, none) = (Arc::new(Nobody::of(id)), Bytes::from_static(b"{}"));
        let caller = Caller::new(id, Client::default(), LEGACY, none, nobody);
        Arc::new(
            caller.with_profile("short".into()).with_result_owner(Principal::from_name(behind)),
        )
    };
    let kept = self::uri(&give(&gate, &session(b"me"), &text(&long())).await);
    assert!(read(&gate, &session(b"me"), &kept).await.is_ok());
    assert!(read(&gate, &session(b"you"), &kept).await.is_err());
}

#[tokio::test]
async fn a_model_reads_on_with_a_tool_that_says_what_is_wrong() {
    let gate = mirror().await;
    let me = seeing("short", LEGACY);
    assert_eq!(tools(&gate, &me).await, ["read_result", "s__give"]);
    assert_eq!(tools(&gate, &seeing("default", LEGACY)).await, ["s__give"]);
    let definitions = listed(&gate, CapabilityKind::Tool, &me).await;
    assert!(definitions[1].get("outputSchema").is_none());
    let definitions = listed(&gate, CapabilityKind::Tool, &seeing("default", LEGACY)).await;
    assert!(definitions[0].get("outputSchema").is_some());
    assert_eq!(listed(&gate, CapabilityKind::Template, &me).await.len(), 1);
    let uri = uri(&give(&gate, &me, &text(&long())).await);
    let call = async |arguments: Value| {
        let params = json!({ "name": "read_result", "arguments": arguments });
        pass(&gate, &me, "tools/call", params).await.unwrap()
    };
    let page = call(json!({ "uri": uri, "offset": 0, "length": 18 })).await;
    assert_eq!(page["content"][0]["text"], long()[..18]);
    let note = page["content"][1]["text"].as_str().unwrap();
    assert!(note.contains("offset=18"), "{note}");
    for (arguments, why) in [
        (json!({}), "`uri` is missing"),
        (json!({ "uri": uri, "offset": -1 }), "whole number"),
        (json!({ "uri": "toolgate://results/ff" }), "call the tool again"),
        (json!({ "uri": uri, "form": "structured" }), "no structured"),
    ] {
        let failed = call(arguments).await;
        assert_eq!(failed["isError"], true);
        assert!(failed.to_string().contains(why), "{failed}");
    }
    let everything = call(json!({ "uri": uri, "length": 1_000_000 })).await;
    assert!(everything.to_string().len() < 5000, "a model is not given more than it takes");
    let places = call(json!({ "uri": uri, "search": "za", "context": 4000 })).await;
    assert!(places.to_string().len() < 5000, "nor more places of a text");
}

#[tokio::test]
async fn pictures_stay_while_they_are_small_and_links_stay() {
    let gate = mirror().await;
    let me = seeing("short", LEGACY);
    let picture = |bytes: usize| json!({ "type": "image", "mimeType": "image/png", "data": "A".repeat(bytes) });
    let link = json!({ "type": "resource_link", "uri": "file:///x", "name": "x" });
    let small = json!({ "content": [picture(200_000), link] });
    assert_eq!(give(&gate, &me, &small).await, small);
    let both = json!({ "content": [picture(200_000), link, picture(1 << 20)] });
    let shown = give(&gate, &me, &both).await;
    let kinds: Vec<_> =
        shown["content"].as_array().unwrap().iter().map(|block| block["type"].clone()).collect();
    assert_eq!(kinds, ["text", "text", "image", "resource_link", "resource_link"]);
    let note = shown["content"][1]["text"].as_str().unwrap();
    assert!(note.contains("[image image/png, 768 KiB]: left out, kept as"), "{note}");
    let part = format!("{}?part=2", uri(&shown));
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "resources/read",
        "params": { "uri": part } });
    let request = Frame::parse(request.to_string().into(), &MessageLimits::default()).unwrap();
    let answer = gate.pass(&request, &me, Arc::new(Nobody::of(me.id))).await.unwrap();
    let answer = spool::load_frame(answer).await.unwrap();
    let answer: Value = serde_json::from_slice(answer.result().unwrap()).unwrap();
    assert_eq!(answer["contents"][0]["blob"], "A".repeat(1 << 20));
}

#[tokio::test]
async fn a_result_that_never_was_in_memory_is_bounded_alike() {
    let gate = mirror().await;
    let me = seeing("short", LEGACY);
    let huge = long().repeat(40);
    let shown = give(&gate, &me, &text(&huge)).await;
    assert!(shown.to_string().len() < 6000);
    let uri = uri(&shown);
    let middle = huge.len() / 2;
    let page = read(&gate, &me, &format!("{uri}?offset={middle}&length=1000000")).await.unwrap();
    let page_text = page["contents"][0]["text"].as_str().unwrap();
    let start = usize::try_from(page["_meta"][META]["offset"].as_u64().unwrap()).unwrap();
    assert!(huge[start..].starts_with(page_text) && page_text.len() > 999_990);
    let raw = read(&gate, &me, &format!("{uri}?form=raw&length=4000000")).await.unwrap();
    let raw = raw["contents"][0]["text"].as_str().unwrap();
    assert!(text(&huge).to_string().starts_with(raw));
}

/// What is written to a caller, with what lies beside.
async fn written(gate: &Gate, caller: &Arc<Caller>, result: &Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "s__give", "arguments": { "result": result } } });
    let request = Frame::parse(request.to_string().into(), &MessageLimits::default()).unwrap();
    let answer = gate.pass(&request, caller, Arc::new(Nobody::of(caller.id))).await.unwrap();
    let answer = spool::load_frame(answer).await.unwrap();
    serde_json::from_slice(answer.result().unwrap()).unwrap()
}

/// Blocks whose length is where nobody looks for it.
fn odd() -> Value {
    let long = "x".repeat(1_100_000);
    json!({ "content": [
        { "type": "hologram", "data": long },
        { "type": "resource_link", "uri": "file:///x", "name": "x", "description": long },
        { "type": "resource_link", "uri": long, "name": "y" },
        { "type": "image", "mimeType": long, "data": "AAAA" },
    ] })
}

#[tokio::test]
async fn no_block_brings_what_is_left_out_back() {
    let gate = mirror().await;
    let shown = written(&gate, &seeing("short", LEGACY), &odd()).await;
    let len = shown.to_string().len();
    assert!(len < 6000, "{len} bytes are shown");
    assert!(uri(&shown).starts_with("toolgate://results/"));
    let first = shown["content"][0]["text"].as_str().unwrap();
    let words = "[hologram]\n[resource file:///x]\n[resource …]\n[image …, 3 B]";
    assert_eq!(first, words);
}

#[tokio::test]
async fn words_for_an_old_client_hold_nothing_that_lies_beside() {
    let gate = mirror().await;
    let mut result = odd();
    result["content"][3] = json!({ "type": "audio", "mimeType": "audio/wav",
        "data": "AAAA".repeat(300_000) });
    let old = seeing("default", Revision::V2024_11_05);
    let shown = written(&gate, &old, &result).await;
    assert_eq!(shown["content"][0], result["content"][0]);
    let words = |at: usize| shown["content"][at]["text"].as_str().unwrap_or_default().to_owned();
    assert_eq!(words(1), "[resource \"x\" at file:///x: …]");
    assert_eq!(words(2), "[resource \"y\" at …]");
    assert!(words(3).starts_with("[audio, audio/wav, 900000 bytes"), "{}", words(3));
}
