//! Measures the processor time of indexing and searching. It prints the times and asserts
//! nothing about them: `cargo nextest run --release -p toolgate-search --test cost --no-capture`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use toolgate_model::{Definition, ServerName};
use toolgate_search::{CapabilityIndex, IndexedCapability};

const TOOLS: [&str; 2] = [include_str!("probes/tools.tsv"), include_str!("probes/apis.tsv")];
const REQUESTS: [&str; 2] =
    [include_str!("probes/requests.tsv"), include_str!("probes/stories.tsv")];

/// An optimised build measures; any other only shows that it runs.
const SERVERS: usize = if cfg!(debug_assertions) { 25 } else { 500 };
const TOOLS_OF_A_SERVER: usize = 20;

fn rows<'a>(texts: &[&'a str]) -> Vec<Vec<&'a str>> {
    let lines = texts.iter().flat_map(|text| text.lines());
    lines.filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect()).collect()
}

/// Processor time of this thread so far, in milliseconds; wall time where the system does not say.
fn cpu() -> f64 {
    static BEGIN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanos = told.as_deref().and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanos.map_or_else(
        || BEGIN.get_or_init(std::time::Instant::now).elapsed().as_secs_f64() * 1e3,
        |nanos| nanos / 1e6,
    )
}

/// Tools with as many words as those of released servers have on average, about 70, made by mixing
/// our own.
fn definition(number: usize, rows: &[Vec<&str>]) -> Definition {
    let row = |step: usize| &rows[(number * 31 + step * 57) % rows.len()];
    let name = format!("{}_{number}", row(0)[1]);
    let description: Vec<&str> = (0..3).map(|step| row(step)[2]).collect();
    let properties: serde_json::Map<String, serde_json::Value> = (0..3)
        .map(|step| {
            (
                format!("{}_{step}", row(step)[1]),
                serde_json::json!({"type": "string", "description": row(step)[2]}),
            )
        })
        .collect();
    let raw = serde_json::json!({
        "name": name,
        "description": description.join(" "),
        "inputSchema": {"type": "object", "properties": properties},
    });
    Definition { name: name.as_str().into(), raw: raw.to_string().into_bytes().into() }
}

#[test]
fn what_ten_thousand_tools_cost() {
    let rows_of_tools = rows(&TOOLS);
    let servers: Vec<(ServerName, Vec<Definition>)> = (0..SERVERS)
        .map(|server| {
            let name = ServerName::new(&format!("server-{server}")).unwrap();
            let numbers = server * TOOLS_OF_A_SERVER..(server + 1) * TOOLS_OF_A_SERVER;
            (name, numbers.map(|number| definition(number, &rows_of_tools)).collect())
        })
        .collect();
    let bytes: usize = servers.iter().flat_map(|server| &server.1).map(|tool| tool.raw.len()).sum();
    let set = |index: &mut CapabilityIndex, (server, tools): &(ServerName, Vec<Definition>)| {
        let documents =
            tools.iter().map(|tool| IndexedCapability::from_tool(server, tool, &[])).collect();
        index.set(server, documents);
    };
    let begin = cpu();
    let mut index = CapabilityIndex::default();
    servers.iter().for_each(|server| set(&mut index, server));
    let indexed = cpu();
    assert_eq!(index.len(), SERVERS * TOOLS_OF_A_SERVER);
    let requests = rows(&REQUESTS);
    for request in &requests {
        assert!(index.search(request[0], 5, &|_| true).len() <= 5);
    }
    let searched = cpu();
    servers.iter().take(100).for_each(|server| set(&mut index, server));
    let updated = cpu();
    drop(index.clone());
    let cloned = cpu();
    println!(
        "{} tools of {} bytes: {:.0} ms to index (lexicon read too)",
        index.len(),
        bytes / index.len(),
        indexed - begin
    );
    println!(
        "a query: {:.3} ms, mean of {}",
        (searched - indexed) / requests.len() as f64,
        requests.len()
    );
    println!(
        "one server replaced: {:.2} ms; a clone: {:.1} ms",
        (updated - searched) / 100.0,
        cloned - updated
    );
}
