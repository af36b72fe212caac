//! Measures the search quality on a catalog and requests of our own, with other words than the
//! tools: `tests/probes`. The labelled set over released servers is in the end-to-end tests.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use toolgate_model::{CapabilityId, Definition, ServerName};
use toolgate_search::{CapabilityHit, CapabilityIndex, IndexedCapability, MatchKind};

const TOOLS: [&str; 2] = [include_str!("probes/tools.tsv"), include_str!("probes/apis.tsv")];
/// Short requests, and requests within a story.
const REQUESTS: [&str; 2] =
    [include_str!("probes/requests.tsv"), include_str!("probes/stories.tsv")];

/// Long requests with much that is not what is asked for, and ones that speak of other tools too.
const LONG: [&str; 2] = [include_str!("probes/long.tsv"), include_str!("probes/distracted.tsv")];
/// Requests in the tools' own words.
const NEAR: [&str; 1] = [include_str!("probes/near.tsv")];

/// What is held at least, in percent: a tool that serves among the first five.
const HELD: usize = 75;
const HELD_OF_LONG: usize = 92;
const HELD_OF_NEAR: usize = 98;

fn rows<'a>(texts: &[&'a str]) -> Vec<Vec<&'a str>> {
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect()
}

fn document(server: &ServerName, row: &[&str]) -> IndexedCapability {
    let &[_, name, description, parameters] = row else { panic!("{row:?}") };
    let properties: serde_json::Map<String, serde_json::Value> = parameters
        .split("; ")
        .filter_map(|parameter| parameter.split_once(": "))
        .map(|(name, about)| (name.to_owned(), serde_json::json!({ "description": about })))
        .collect();
    let raw = serde_json::json!({
        "name": name, "description": description,
        "inputSchema": { "type": "object", "properties": properties },
    });
    let definition = Definition { name: name.into(), raw: raw.to_string().into_bytes().into() };
    IndexedCapability::from_tool(server, &definition, &[])
}

fn catalog() -> CapabilityIndex {
    let mut servers = std::collections::BTreeMap::<&str, Vec<IndexedCapability>>::new();
    let rows = rows(&TOOLS);
    for row in &rows {
        let server = ServerName::new(row[0]).unwrap();
        servers.entry(row[0]).or_default().push(document(&server, row));
    }
    let mut index = CapabilityIndex::default();
    for (server, documents) in servers {
        index.set(&ServerName::new(server).unwrap(), documents);
    }
    index
}

fn shown(id: &CapabilityId) -> String {
    format!("{}/{}", id.server, id.name)
}

fn reasons(hit: &CapabilityHit) -> String {
    hit.matches.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

fn check(texts: &[&str], held: usize) {
    let index = catalog();
    let (mut first, mut five) = (0, 0);
    let requests = rows(texts);
    for row in &requests {
        let [request, wanted] = row[..] else { panic!("{row:?}") };
        let hits = index.search(request, 5, &|_| true);
        let place =
            hits.iter().position(|hit| wanted.split(' ').any(|tool| shown(&hit.id) == tool));
        first += usize::from(place == Some(0));
        five += usize::from(place.is_some());
        if place.is_none() {
            println!("{request:?} wants {wanted}");
            for hit in hits.iter().take(3) {
                println!("    {} {:.2} {}", shown(&hit.id), hit.score, reasons(hit));
            }
        }
    }
    println!("first {first}, in five {five}, of {}", requests.len());
    assert!(five * 100 >= requests.len() * held, "{five} of {}", requests.len());
}

#[test]
fn requests_in_other_words_find_their_tool() {
    check(&REQUESTS, HELD);
}

#[test]
fn what_is_told_does_not_hide_what_is_asked() {
    check(&LONG, HELD_OF_LONG);
}

#[test]
fn requests_in_the_same_words_find_their_tool() {
    check(&NEAR, HELD_OF_NEAR);
}

/// The first hit, and how the words of its reasons stand for those of the request.
fn first(request: &str) -> (String, Vec<MatchKind>) {
    let hits = catalog().search(request, 1, &|_| true);
    let hit = hits.first().unwrap_or_else(|| panic!("nothing for {request:?}"));
    (shown(&hit.id), hit.matches.iter().map(|reason| reason.kind).collect())
}

#[test]
fn slips_are_forgiven() {
    for (request, tool) in [
        ("tranlsate this to french", "lingo/translate_text"),
        ("find recepies with rice", "pantry/find_recipes"),
        ("reserv a tabel at the restaurant", "TableNow/reserveTable"),
    ] {
        assert_eq!(first(request).0, tool, "{request}");
    }
    assert!(first("tranlsate this to french").1.contains(&MatchKind::Typo));
}

#[test]
fn other_languages_find_tools_in_their_own() {
    for (request, tool) in [
        ("wie wird das Wetter morgen in Köln", "wetter/wettervorhersage"),
        ("北京今天天气怎么样", "tianqi/查询天气"),
        ("请把这句话翻译成英文", "tianqi/翻译文本"),
    ] {
        assert_eq!(first(request).0, tool, "{request}");
    }
}

#[test]
fn a_reason_can_be_read_by_a_person() {
    let index = catalog();
    let hits = index.search("what's inside the Downloads folder", 5, &|_| true);
    let hit = hits.iter().find(|hit| shown(&hit.id) == "files/list_directory").unwrap();
    let reasons = reasons(hit);
    assert!(reasons.contains(r#"name: "directory" for "folder" (synonym)"#), "{reasons}");
}

#[test]
fn a_question_prefers_tools_that_tell() {
    let index = catalog();
    let hits = index.search("which pull requests are open?", 5, &|_| true);
    assert_eq!(shown(&hits[0].id), "forge/list_pull_requests");
}
