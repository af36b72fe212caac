//! Requests in a person's words, each with the tools that would serve it, and how well a ranking
//! finds them.
//!
//! The sets stand under `tests/search`, in halves: one to tune on, one that is only measured. What
//! is searched and by whom is the test's business.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::broken;

/// A half of a labelled set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DatasetHalf {
    /// May be looked at and tuned on.
    Tuning,
    /// Is only measured.
    HeldOut,
}

impl DatasetHalf {
    /// The half a request belongs to, by the request alone: the parity of its FNV-1a hash.
    pub fn of(text: &str) -> Self {
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        if hash.is_multiple_of(2) { Self::Tuning } else { Self::HeldOut }
    }

    /// How it is called in a file's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Tuning => "tuning",
            Self::HeldOut => "held_out",
        }
    }
}

/// One request.
#[derive(Debug, Clone)]
pub struct LabelledRequest {
    /// What the person says.
    pub text: String,
    /// Every tool that would do, as `server/tool`.
    pub tools: Vec<String>,
}

impl LabelledRequest {
    /// The server of its first tool, for figures by server.
    pub fn server(&self) -> &str {
        self.tools.first().and_then(|tool| tool.split('/').next()).unwrap_or_default()
    }
}

/// A file under `tests/search`.
pub fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("search").join(name)
}

/// Reads a file of requests: `request TAB tool [tool...]`, with `#` before a comment.
pub fn read(name: &str) -> io::Result<Vec<LabelledRequest>> {
    rows(name)?
        .into_iter()
        .map(|(text, tools)| {
            let tools = tools.split_whitespace().map(str::to_owned).collect();
            Ok(LabelledRequest { text, tools })
        })
        .collect()
}

/// The rows of a file of two columns.
pub fn rows(name: &str) -> io::Result<Vec<(String, String)>> {
    let text = fs::read_to_string(file(name))?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (left, right) = line
                .split_once('\t')
                .ok_or_else(|| broken(format!("{name}: a line without a tab: {line}")))?;
            Ok((left.to_owned(), right.to_owned()))
        })
        .collect()
}

/// How many of the first places count.
pub const PLACES: usize = 5;

/// How well a ranking did on a set.
///
/// A request counts as found within five if any of its tools is among the first five; `strict` is
/// the part of its tools that are.
#[derive(Debug, Clone, Copy, Default)]
pub struct RankingScores {
    /// How many requests were asked.
    pub requests: usize,
    first: f64,
    five: f64,
    strict: f64,
    reciprocal: f64,
}

impl RankingScores {
    /// Counts one request and what was found for it, best first.
    pub fn count(&mut self, request: &LabelledRequest, found: &[String]) {
        let place = found.iter().position(|tool| request.tools.contains(tool));
        let among = found.iter().take(PLACES).filter(|tool| request.tools.contains(tool)).count();
        let possible = request.tools.len().clamp(1, PLACES);
        self.requests += 1;
        self.strict += among as f64 / possible as f64;
        if let Some(place) = place {
            self.first += f64::from(place == 0);
            self.five += f64::from(place < PLACES);
            self.reciprocal += 1.0 / (place + 1) as f64;
        }
    }

    /// The part of the requests with a right tool in the first place.
    pub fn first(&self) -> f64 {
        self.mean(self.first)
    }

    /// The part of the requests with a right tool in the first five places: recall@5.
    pub fn five(&self) -> f64 {
        self.mean(self.five)
    }

    /// How much of each request's tools is in the first five places, on average.
    pub fn strict(&self) -> f64 {
        self.mean(self.strict)
    }

    /// The mean of one over the place of the first right tool.
    pub fn reciprocal(&self) -> f64 {
        self.mean(self.reciprocal)
    }

    fn mean(&self, sum: f64) -> f64 {
        sum / self.requests.max(1) as f64
    }
}

impl fmt::Display for RankingScores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, five) = (100.0 * self.first(), 100.0 * self.five());
        let (strict, reciprocal) = (100.0 * self.strict(), self.reciprocal());
        write!(f, "{:4} {first:6.1} {five:6.1} {strict:6.1} {reciprocal:6.3}", self.requests)
    }
}

/// The scores of one ranking over a set: all together, and by server.
#[derive(Debug, Default)]
pub struct RankingReport {
    /// All requests.
    pub all: RankingScores,
    /// Those of each server.
    pub by_server: BTreeMap<String, RankingScores>,
    /// Requests without a right tool in the first five places, and what came first instead.
    pub misses: Vec<(LabelledRequest, Vec<String>)>,
}

impl RankingReport {
    /// Asks a ranking for every request.
    pub fn of(requests: &[LabelledRequest], mut rank: impl FnMut(&str) -> Vec<String>) -> Self {
        let mut report = Self::default();
        for request in requests {
            let mut found = rank(&request.text);
            report.all.count(request, &found);
            report.by_server.entry(request.server().to_owned()).or_default().count(request, &found);
            found.truncate(PLACES);
            if !found.iter().any(|tool| request.tools.contains(tool)) {
                report.misses.push((request.clone(), found));
            }
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_counts_by_the_best_of_its_tools_and_strictly_by_all_of_them() {
        let tools = ["a/one", "a/two"].map(str::to_owned).to_vec();
        let request = LabelledRequest { text: "do it".to_owned(), tools };
        let found = ["b/x", "a/two", "b/y", "b/z", "b/w", "a/one"].map(str::to_owned);
        let mut scores = RankingScores::default();
        scores.count(&request, &found);
        scores.count(&request, &[]);
        assert_eq!((scores.first(), scores.five()), (0.0, 0.5));
        assert_eq!((scores.strict(), scores.reciprocal()), (0.25, 0.25));
    }
}
