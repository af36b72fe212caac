//! Every pair of revisions: what the caller's revision knows arrives unchanged, and nothing else is
//! lost.

use serde_json::{Value, json};
use toolgate_bridge::translate_result;
use toolgate_wire::{Era, Revision};

use crate::{passage, response};

/// A block of every type, with the revision that introduced it; the last type is unknown to all.
fn blocks() -> [(Value, Revision); 6] {
    let about = json!({ "priority": 1 });
    [
        (json!({ "type": "text", "text": "é \u{2028}", "annotations": about }), Revision::ALL[0]),
        (json!({ "type": "image", "data": "AA==", "mimeType": "image/png" }), Revision::ALL[0]),
        (
            json!({ "type": "resource", "resource": { "uri": "x://r", "text": "t" } }),
            Revision::ALL[0],
        ),
        (
            json!({ "type": "audio", "data": "AAAA", "mimeType": "audio/wav", "annotations": about }),
            Revision::V2025_03_26,
        ),
        (
            json!({ "type": "resource_link", "uri": "x://l", "name": "l", "annotations": about }),
            Revision::V2025_06_18,
        ),
        (json!({ "type": "later", "uri": "x://n", "resultType": 1 }), Revision::ALL[0]),
    ]
}

/// The result without the members that the bridge may add or remove.
fn crossed(said: &Value, method: &str, from: Revision, to: Revision) -> Value {
    let shown = translate_result(response(said), &passage(method, from, to), None);
    let mut shown: Value = serde_json::from_slice(shown.result().unwrap()).unwrap();
    let own = ["resultType", "ttlMs", "cacheScope"];
    assert!(to.era() == Era::Modern || own.iter().all(|key| shown.get(key).is_none()));
    shown.as_object_mut().unwrap().retain(|key, _| !own.contains(&key.as_str()));
    let meta = shown["_meta"].as_object_mut().unwrap();
    meta.remove("io.modelcontextprotocol/serverInfo");
    shown
}

fn pairs() -> impl Iterator<Item = (Revision, Revision)> {
    Revision::ALL.into_iter().flat_map(|from| Revision::ALL.map(|to| (from, to)))
}

#[test]
fn a_block_crosses_as_it_is_or_in_words() {
    let meta = json!({ "strange \"key\"": { "resultType": "no", "ttlMs": 1 }, "": [1.5] });
    for (from, to) in pairs() {
        for (block, since) in blocks() {
            if since > from {
                continue;
            }
            let call = json!({ "content": [block], "_meta": meta, "odd": { "uri": "x://odd" } });
            let message = json!({ "role": "user", "content": block });
            let prompt = json!({ "messages": [message], "_meta": meta, "odd": 1 });
            let mut called = crossed(&call, "tools/call", from, to);
            let mut got = crossed(&prompt, "prompts/get", from, to);
            if since > to {
                for shown in [&mut called["content"][0], &mut got["messages"][0]["content"]] {
                    assert_eq!(shown["type"], "text", "{from} to {to}: {block}");
                    assert_eq!(shown["annotations"], block["annotations"]);
                    *shown = block.clone();
                }
            }
            assert_eq!((called, got), (call, prompt), "{from} to {to}");
        }
    }
}

#[test]
fn output_of_every_type_reaches_every_revision() {
    let object = json!({ "uri": "x://own", "resultType": "own" });
    for (from, to) in pairs().filter(|(from, _)| from.has_structured_output()) {
        let modern = from.era() == Era::Modern;
        let scalars = [json!(null), json!([1, [2]]), json!("s"), json!(1.5), json!(true)];
        for output in scalars.into_iter().filter(|_| modern).chain([object.clone()]) {
            let said = json!({ "content": [], "structuredContent": output, "_meta": {} });
            let wraps = modern && to.era() == Era::Legacy && to.has_structured_output();
            let expected = match wraps && !output.is_object() {
                true => json!({ "result": output }),
                false => output,
            };
            let shown = crossed(&said, "tools/call", from, to);
            assert_eq!(shown["structuredContent"], expected, "{from} to {to}");
        }
    }
}
