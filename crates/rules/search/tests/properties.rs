//! Properties of every catalog and every request.
//!
//! A tenth of the cases runs every time; all of them with `TOOLGATE_SOAK` set.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use proptest::prelude::*;
use toolgate_model::{CapabilityId, Definition, ServerName};
use toolgate_search::{CapabilityHit, CapabilityIndex, IndexedCapability, tokens};

fn cases() -> u32 {
    if std::env::var_os("TOOLGATE_SOAK").is_some() { 5_000 } else { 500 }
}

/// One tool as its server would send it.
#[derive(Debug, Clone)]
struct Tool {
    name: String,
    description: String,
    parameter: String,
    tags: Vec<String>,
}

const WORDS: &[&str] = &[
    "weather",
    "forecast",
    "city",
    "delete",
    "remove",
    "file",
    "files",
    "folder",
    "directory",
    "GitHub",
    "issue",
    "createIssue",
    "list",
    "search",
    "price",
    "stock",
    "translate",
    "天气预报",
    "文件",
    "Übersetzung",
    "send",
    "message",
    "time zone",
    "timezone",
    "the",
    "of",
    "s3",
    "PDFs",
];

fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        8 => proptest::sample::select(WORDS).prop_map(str::to_owned),
        1 => "\\PC{0,12}",
        1 => any::<String>(),
    ];
    proptest::collection::vec(word, 0..12).prop_map(|words| words.join(" "))
}

fn tool() -> impl Strategy<Value = Tool> {
    let tags = proptest::collection::vec("[a-z.]{1,12}", 0..3);
    (text(), text(), text(), tags).prop_map(|(name, description, parameter, tags)| Tool {
        name,
        description,
        parameter,
        tags,
    })
}

/// Servers by number, each with its tools; a later one of the same number replaces the earlier.
fn servers() -> impl Strategy<Value = Vec<(u8, Vec<Tool>)>> {
    proptest::collection::vec((0..5_u8, proptest::collection::vec(tool(), 0..6)), 0..8)
}

fn name(number: u8) -> ServerName {
    ServerName::new(&format!("server-{number}")).unwrap()
}

fn documents(server: &ServerName, tools: &[Tool]) -> Vec<IndexedCapability> {
    let document = |tool: &Tool| {
        let raw = serde_json::json!({
            "name": tool.name,
            "description": tool.description,
            "inputSchema": {"properties": {tool.parameter.clone(): {"description": tool.description}}},
        });
        let raw = raw.to_string().into_bytes().into();
        let definition = Definition { name: tool.name.as_str().into(), raw };
        IndexedCapability::from_tool(server, &definition, &tool.tags)
    };
    tools.iter().map(document).collect()
}

fn built<'a>(servers: impl IntoIterator<Item = &'a (u8, Vec<Tool>)>) -> CapabilityIndex {
    let mut index = CapabilityIndex::default();
    for (number, tools) in servers {
        let server = name(*number);
        index.set(&server, documents(&server, tools));
    }
    index
}

/// Only the last of each number, in the order of the numbers.
fn settled(servers: &[(u8, Vec<Tool>)]) -> Vec<(u8, Vec<Tool>)> {
    let last: std::collections::BTreeMap<u8, Vec<Tool>> = servers.iter().cloned().collect();
    last.into_iter().collect()
}

fn all(index: &CapabilityIndex, query: &str) -> Vec<CapabilityHit> {
    index.search(query, usize::MAX, &|_| true)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn a_changed_index_answers_like_one_built_anew(servers in servers(), query in text()) {
        let changed = built(&servers);
        let settled = settled(&servers);
        let anew = built(&settled);
        let backwards = built(settled.iter().rev());
        prop_assert_eq!(changed.len(), anew.len());
        let hits = all(&anew, &query);
        prop_assert_eq!(&all(&changed, &query), &hits);
        prop_assert_eq!(&all(&backwards, &query), &hits);
        prop_assert_eq!(&all(&anew.clone(), &query), &hits);
    }

    #[test]
    fn a_removed_server_leaves_no_trace(servers in servers(), extra in proptest::collection::vec(tool(), 0..6), query in text()) {
        let mut index = built(&servers);
        let before = all(&index, &query);
        let gone = name(9);
        index.set(&gone, documents(&gone, &extra));
        index.remove(&gone);
        prop_assert_eq!(all(&index, &query), before);
        for number in 0..5 {
            index.remove(&name(number));
        }
        prop_assert!(index.is_empty());
        prop_assert!(all(&index, &query).is_empty());
    }

    #[test]
    fn hits_are_seen_finite_and_in_order(servers in servers(), query in text(), limit in 0..12_usize) {
        let index = built(&servers);
        let sees = |id: &CapabilityId| id.name.len().is_multiple_of(2);
        let hits = index.search(&query, limit, &sees);
        prop_assert!(hits.len() <= limit);
        prop_assert!(hits.iter().all(|hit| sees(&hit.id) && hit.score.is_finite() && hit.score >= 0.0));
        let ordered = hits.windows(2).all(|two| {
            two[0].score > two[1].score || two[0].score == two[1].score && two[0].id < two[1].id
        });
        prop_assert!(ordered, "{:?}", hits);
        // What a caller does not see takes no place from what it sees.
        let mut seen = all(&index, &query);
        seen.retain(|hit| sees(&hit.id));
        seen.truncate(limit);
        prop_assert_eq!(hits, seen);
    }

    #[test]
    fn every_reason_can_be_read(servers in servers(), query in text()) {
        let index = built(&servers);
        for hit in all(&index, &query) {
            for reason in &hit.matches {
                prop_assert!(!reason.word.is_empty() && !reason.query_word.is_empty(), "{:?}", reason);
                prop_assert!(!reason.to_string().chars().any(char::is_control), "{reason}");
            }
        }
    }

    #[test]
    fn any_bytes_have_an_estimate(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let whole = tokens::estimate(&bytes);
        prop_assert!(whole as usize <= 2 * bytes.len());
        prop_assert_eq!(whole == 0, bytes.is_empty() || bytes == b" ");
    }
}

#[test]
fn huge_and_deep_texts_are_bounded() {
    let server = name(0);
    let deep =
        format!("{}{}", "{\"properties\":{\"a\":".repeat(200), "{}".to_owned() + &"}}".repeat(200));
    let raw = format!(
        "{{\"name\":\"big\",\"description\":\"{}\",\"inputSchema\":{deep}}}",
        "weather \u{202e} ".repeat(500_000)
    );
    let definition = Definition { name: "big".into(), raw: raw.into_bytes().into() };
    let mut index = CapabilityIndex::default();
    index.set(&server, vec![IndexedCapability::from_tool(&server, &definition, &[])]);
    assert_eq!(all(&index, "weather").len(), 1);
}

#[test]
fn odd_requests_are_answered() {
    let server = name(0);
    let tool = Tool {
        name: "get_weather".into(),
        description: "Weather of a city".into(),
        parameter: "city".into(),
        tags: Vec::new(),
    };
    let mut index = CapabilityIndex::default();
    index.set(&server, documents(&server, &[tool]));
    for nothing in ["", " ", "\0", "?!", "the of and"] {
        assert!(all(&index, nothing).is_empty(), "{nothing:?}");
    }
    assert!(index.search("weather", 0, &|_| true).is_empty());
    assert!(index.search("weather", 5, &|_| false).is_empty());
    for long in ["weather ".repeat(12_500), "x".repeat(100_000), "天气".repeat(20_000)] {
        all(&index, &long);
    }
    assert_eq!(all(&index, &"the weather ".repeat(10_000)).len(), 1);
}
