//! How well the search finds tools of released servers for requests in a person's words, beside a
//! plain BM25 over the same tools.
//!
//! A program of its own, so that tuning the search builds little:
//!
//! ```text
//! TOOLGATE_SEARCH_MISSES=1 cargo nextest run -p toolgate-e2e --test search_quality --no-capture tuning
//! ```
//!
//! That shows the figures and the misses of the half to tune on. Misses of the other half are shown
//! only with `TOOLGATE_SEARCH_HELD_OUT` as well; whoever tunes leaves that alone.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    missing_docs,
    reason = "tests: a broken expectation ends the test at once"
)]

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use toolgate_e2e::bm25::Bm25Index;
use toolgate_e2e::corpus::{self, CorpusTool};
use toolgate_e2e::labelled_requests::{self, DatasetHalf, LabelledRequest, RankingReport};
use toolgate_model::{Definition, ServerName};
use toolgate_search::{CapabilityIndex, IndexedCapability};

/// How far down a right tool still counts for the mean reciprocal rank.
const DEPTH: usize = 50;

/// The most the plain BM25 may find for the set to be worth its name.
const BM25_AT_MOST: f64 = 0.75;

/// How much more the search finds, in parts of all requests.
const AHEAD_BY: f64 = 0.08;

/// The fewest requests in a half.
const FEWEST: usize = 160;

/// Both rankings over the same tools.
struct Rankings {
    ids: Vec<String>,
    plain: Bm25Index,
    ours: CapabilityIndex,
}

impl Rankings {
    fn over(tools: &[CorpusTool]) -> Self {
        let text = |tool: &CorpusTool| {
            let definition = tool.definition().unwrap();
            format!("{} {}", tool.name, definition["description"].as_str().unwrap_or_default())
        };
        let texts: Vec<_> = tools.iter().map(text).collect();
        let mut ours = CapabilityIndex::default();
        for server in tools.chunk_by(|one, next| one.server == next.server) {
            let name = ServerName::new(&server[0].server).unwrap();
            ours.set(&name, server.iter().map(|tool| document(&name, tool)).collect());
        }
        Self {
            ids: tools.iter().map(|tool| format!("{}/{}", tool.server, tool.name)).collect(),
            plain: Bm25Index::new(texts.iter().map(String::as_str)),
            ours,
        }
    }

    fn plain(&self, request: &str) -> Vec<String> {
        self.plain.search(request, DEPTH).into_iter().map(|place| self.ids[place].clone()).collect()
    }

    fn ours(&self, request: &str) -> Vec<String> {
        let hits = self.ours.search(request, DEPTH, &|_| true);
        hits.iter().map(|hit| format!("{}/{}", hit.id.server, hit.id.name)).collect()
    }

    /// Both reports over a set, printed under its name.
    fn compare(&self, name: &str, requests: &[LabelledRequest]) -> (RankingReport, RankingReport) {
        let plain = RankingReport::of(requests, |request| self.plain(request));
        let ours = RankingReport::of(requests, |request| self.ours(request));
        print_table(name, &plain, &ours);
        (plain, ours)
    }
}

fn document(server: &ServerName, tool: &CorpusTool) -> IndexedCapability {
    let raw = tool.raw.clone().into_bytes().into();
    let definition = Definition { name: tool.name.as_str().into(), raw };
    IndexedCapability::from_tool(server, &definition, &["mcp".to_owned()])
}

fn print_table(name: &str, plain: &RankingReport, ours: &RankingReport) {
    let head = "   n     @1     @5  all@5    MRR";
    println!("\n{name:22} |{head}   BM25 |{head}   search");
    println!("{:22} |{}        |{}", "all", plain.all, ours.all);
    for (server, scores) in &plain.by_server {
        println!("{server:22} |{scores}        |{}", ours.by_server[server]);
    }
}

/// The misses of a half, for whoever asked for them.
fn print_misses(half: DatasetHalf, report: &RankingReport) {
    let asked = |variable: &str| std::env::var_os(variable).is_some();
    let shown = asked("TOOLGATE_SEARCH_MISSES")
        && (half == DatasetHalf::Tuning || asked("TOOLGATE_SEARCH_HELD_OUT"));
    for (request, found) in report.misses.iter().filter(|_| shown) {
        println!("\n{}\n  wanted {}", request.text, request.tools.join(" "));
        println!("  found  {}", found.join(" "));
    }
}

/// Tools of our own writing, as if one server offered them: nothing to install, other domains.
fn everyday_tools() -> Vec<CorpusTool> {
    let tool = |(name, description): (String, String)| {
        let schema = json!({"type": "object"});
        let definition =
            json!({"name": name, "description": description, "inputSchema": schema}).to_string();
        CorpusTool { server: "everyday".to_owned(), name, raw: definition }
    };
    labelled_requests::rows("everyday_tools.tsv").unwrap().into_iter().map(tool).collect()
}

fn requests(set: &str, half: DatasetHalf) -> Vec<LabelledRequest> {
    labelled_requests::read(&format!("{set}{}.tsv", half.name())).unwrap()
}

/// Checks both halves of a set, and gives how many requests each server has.
fn checked(set: &str, tools: &[CorpusTool], fewest: usize) -> BTreeMap<String, usize> {
    let known: BTreeSet<_> =
        tools.iter().map(|tool| format!("{}/{}", tool.server, tool.name)).collect();
    let mut servers = BTreeMap::<String, usize>::new();
    let mut seen = BTreeSet::new();
    for half in [DatasetHalf::Tuning, DatasetHalf::HeldOut] {
        let requests = requests(set, half);
        assert!(requests.len() >= fewest, "{half:?} has {} requests", requests.len());
        for request in requests {
            assert_eq!(DatasetHalf::of(&request.text), half, "{}", request.text);
            assert!(seen.insert(request.text.to_lowercase()), "twice: {}", request.text);
            assert!(!request.tools.is_empty(), "{}", request.text);
            for tool in &request.tools {
                assert!(known.contains(tool), "{}: there is no {tool}", request.text);
            }
            *servers.entry(request.server().to_owned()).or_default() += 1;
        }
    }
    servers
}

#[test]
fn the_requests_are_split_by_their_rule_and_name_tools_there_are() {
    let servers = checked("", &corpus::tools().unwrap(), FEWEST);
    let missing: Vec<_> =
        corpus::servers().filter(|server| !servers.contains_key(*server)).collect();
    assert!(missing.is_empty(), "no request for {missing:?}");
    checked("everyday_", &everyday_tools(), 60);
}

#[test]
fn tuning_half_of_released_servers() {
    let rankings = Rankings::over(&corpus::tools().unwrap());
    let (plain, ours) = rankings.compare("tuning half", &requests("", DatasetHalf::Tuning));
    print_misses(DatasetHalf::Tuning, &ours);
    assert!(ours.all.five() >= plain.all.five() + AHEAD_BY, "{} against {}", ours.all, plain.all);
}

#[test]
fn held_out_requests_are_found_more_often_than_by_plain_bm25() {
    let rankings = Rankings::over(&corpus::tools().unwrap());
    let (plain, ours) = rankings.compare("held-out half", &requests("", DatasetHalf::HeldOut));
    print_misses(DatasetHalf::HeldOut, &ours);
    assert!(plain.all.five() <= BM25_AT_MOST, "too easy: {}", plain.all);
    assert!(ours.all.five() >= plain.all.five() + AHEAD_BY, "{} against {}", ours.all, plain.all);
}

#[test]
fn tuning_half_of_everyday_tools() {
    let rankings = Rankings::over(&everyday_tools());
    let (plain, ours) =
        rankings.compare("everyday, tuning", &requests("everyday_", DatasetHalf::Tuning));
    print_misses(DatasetHalf::Tuning, &ours);
    assert!(ours.all.five() >= plain.all.five() + AHEAD_BY, "{} against {}", ours.all, plain.all);
}

#[test]
fn held_out_requests_for_everyday_tools_are_found_more_often_than_by_plain_bm25() {
    let rankings = Rankings::over(&everyday_tools());
    let (plain, ours) =
        rankings.compare("everyday, held-out", &requests("everyday_", DatasetHalf::HeldOut));
    print_misses(DatasetHalf::HeldOut, &ours);
    assert!(plain.all.five() <= BM25_AT_MOST, "too easy: {}", plain.all);
    assert!(ours.all.five() >= plain.all.five() + AHEAD_BY, "{} against {}", ours.all, plain.all);
}
