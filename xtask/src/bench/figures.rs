//! Computes medians and ratios from all runs and compares the ratios with their targets. `table`
//! formats them.

use std::collections::BTreeMap;
use std::fs;
use std::thread;

use serde_json::{Value, json};

use super::eras::{LEGACY, MODERN, PAIRINGS};
use super::measure::BenchRun;
use super::plan::{CASES, ERAS, PROFILES};

/// The names of the ways, in the order of the table.
pub const TARGETS: [&str; 8] = [
    "direct",
    "floor",
    "gateway-http",
    "gateway-stdio",
    PAIRINGS[0].name,
    PAIRINGS[1].name,
    PAIRINGS[2].name,
    PAIRINGS[3].name,
];

/// All figures of one benchmark.
#[derive(Debug)]
pub struct BenchFigures {
    /// How processes were bound to cores.
    pub pinning: String,
    /// How many rounds the medians are taken over.
    pub rounds: u32,
    /// Memory of an idle gateway with ten upstreams, in bytes.
    pub idle_rss: Option<u64>,
    /// Memory of the largest gateway after the load, in bytes.
    pub loaded_rss: Option<u64>,
    /// CPU of one `list --offline` in each round, in milliseconds.
    pub listing_ms: Vec<f64>,
    runs: BTreeMap<(&'static str, &'static str), Vec<BenchRun>>,
}

/// A figure with its target.
#[derive(Debug)]
pub struct BenchGoal {
    /// What is compared.
    pub about: &'static str,
    /// What was found; nothing if a part of it was not measured.
    pub found: Option<f64>,
    /// The most it may be.
    pub limit: f64,
    /// `×`, `MB` or `ms`.
    pub unit: &'static str,
}

impl BenchGoal {
    /// Whether the limit is kept.
    pub fn met(&self) -> Option<bool> {
        self.found.map(|found| found <= self.limit)
    }
}

impl BenchFigures {
    /// No figures yet.
    pub fn new(pinning: String, rounds: u32) -> Self {
        let (idle_rss, loaded_rss) = (None, None);
        let (listing_ms, runs) = (Vec::new(), BTreeMap::new());
        BenchFigures { pinning, rounds, idle_rss, loaded_rss, listing_ms, runs }
    }

    /// Adds one run.
    pub fn add(&mut self, case: &'static str, target: &'static str, run: BenchRun) {
        self.runs.entry((case, target)).or_default().push(run);
    }

    /// The median of each figure of a case at a target.
    pub fn median(&self, case: &'static str, target: &'static str) -> Option<BenchRun> {
        let runs = self.runs.get(&(case, target))?;
        let of = |figure: fn(&BenchRun) -> f64| median(runs.iter().map(figure).collect());
        Some(BenchRun {
            calls_per_s: of(|run| run.calls_per_s)?,
            p50_us: of(|run| run.p50_us)?,
            p99_us: of(|run| run.p99_us)?,
            cpu_us: of(|run| run.cpu_us)?,
        })
    }

    /// CPU per call of a target over the floor's.
    pub fn cpu_over_floor(&self, case: &'static str, target: &'static str) -> Option<f64> {
        Some(self.median(case, target)?.cpu_us / self.median(case, "floor")?.cpu_us)
    }

    /// CPU per call of a pairing of eras over that of legacy on both sides, round by round: what
    /// slows one round down falls on both sides of its ratio.
    pub fn cpu_over_legacy(&self, target: &'static str) -> Option<f64> {
        let of = |target| self.runs.get(&(ERAS, target));
        let rounds = of(target)?.iter().zip(of(LEGACY)?);
        median(rounds.map(|(run, legacy)| run.cpu_us / legacy.cpu_us).collect())
    }

    /// How much latency a target adds to the upstream's own, over what the floor adds.
    fn added_over_floor(&self, case: &'static str, target: &'static str) -> Option<f64> {
        let direct = self.median(case, "direct")?.p50_us;
        let floor = self.median(case, "floor")?.p50_us - direct;
        Some((self.median(case, target)?.p50_us - direct) / floor)
    }

    /// The figures that decide, with their limits.
    pub fn goals(&self) -> [BenchGoal; 10] {
        let times = |about, found, limit| BenchGoal { about, found, limit, unit: "×" };
        let size = |about, bytes: Option<u64>, limit| BenchGoal {
            about,
            found: bytes.map(|bytes| bytes as f64 / 1e6),
            limit,
            unit: "MB",
        };
        let cpu = |case, target| self.cpu_over_floor(case, target);
        let added = self.added_over_floor("echo-c1", "gateway-http");
        [
            times(
                "CPU per call, echo, 32 callers, decided, pinned and on record: gateway / floor",
                cpu("echo-c32", "gateway-http"),
                2.1,
            ),
            times(
                "CPU per call, 64 KiB, 8 callers: gateway / floor",
                cpu("blob64k-c8", "gateway-http"),
                1.6,
            ),
            times("p50 added over direct, echo, 1 caller: gateway / floor", added, 1.5),
            times(
                "CPU per call, echo, 32 callers: gateway to stdio / floor",
                cpu("echo-c32", "gateway-stdio"),
                1.0,
            ),
            times(
                "CPU per call, tools/list of 1000: gateway / floor",
                cpu("list1000-c1", "gateway-http"),
                1.0,
            ),
            times(
                "CPU per call, tools/list of 1000, four profiles: gateway / floor",
                cpu(PROFILES, "gateway-http"),
                1.0,
            ),
            times(
                "CPU per call, echo, 32 callers: modern-to-modern / legacy-to-legacy",
                self.cpu_over_legacy(MODERN),
                1.05,
            ),
            size("RSS idle with ten upstreams", self.idle_rss, 25.0),
            size("RSS after the load, largest gateway", self.loaded_rss, 60.0),
            BenchGoal {
                about: "CPU of `list --offline`, 200 servers in 12 files",
                found: median(self.listing_ms.clone()),
                limit: 50.0,
                unit: "ms",
            },
        ]
    }

    /// The figures for a machine to read.
    pub fn to_json(&self) -> Value {
        let run = |run: &BenchRun| {
            json!({
                "calls_per_s": run.calls_per_s,
                "p50_us": run.p50_us,
                "p99_us": run.p99_us,
                "cpu_us_per_call": run.cpu_us,
            })
        };
        let cases: Vec<Value> = self
            .runs
            .iter()
            .map(|((case, target), runs)| {
                let median = self.median(case, target).map(|median| run(&median));
                let runs: Vec<Value> = runs.iter().map(run).collect();
                json!({ "case": case, "target": target, "median": median, "runs": runs })
            })
            .collect();
        let goal = |goal: &BenchGoal| {
            json!({
                "about": goal.about,
                "found": goal.found,
                "limit": goal.limit,
                "unit": goal.unit,
                "met": goal.met(),
            })
        };
        json!({
            "machine": machine(),
            "pinning": self.pinning,
            "rounds": self.rounds,
            "cases": cases,
            "goals": self.goals().iter().map(goal).collect::<Vec<_>>(),
            "idle_rss_bytes": self.idle_rss,
            "loaded_rss_bytes": self.loaded_rss,
            "list_offline_cpu_ms": self.listing_ms,
        })
    }

    /// The cases that were measured, in the order of the plan.
    pub fn cases(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        CASES
            .iter()
            .filter(|case| self.runs.keys().any(|(name, _)| *name == case.name))
            .map(|case| (case.name, case.about))
    }
}

/// The machine, without anything that names it.
pub fn machine() -> String {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let read = |file| fs::read_to_string(file).unwrap_or_default();
    let cpus = read("/proc/cpuinfo");
    let model = cpus.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model);
    format!("{cores} cores ({model}), Linux {}", read("/proc/sys/kernel/osrelease").trim())
}

fn median(mut figures: Vec<f64>) -> Option<f64> {
    figures.sort_by(f64::total_cmp);
    let upper = *figures.get(figures.len() / 2)?;
    let lower = *figures.get((figures.len().max(1) - 1) / 2)?;
    Some((lower + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(p50_us: f64, cpu_us: f64) -> BenchRun {
        BenchRun { calls_per_s: 1.0, p50_us, p99_us: 0.0, cpu_us }
    }

    #[test]
    fn medians_do_not_follow_one_bad_run() {
        assert_eq!(median(vec![3.0, 1000.0, 1.0]), Some(3.0));
        assert_eq!(median(vec![1.0, 3.0]), Some(2.0));
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn added_latency_is_compared_and_not_latency() {
        let mut figures = BenchFigures::new(String::new(), 1);
        figures.add("echo-c1", "direct", run(40.0, 20.0));
        figures.add("echo-c1", "floor", run(100.0, 50.0));
        assert!(figures.goals().iter().all(|goal| goal.met().is_none()));
        figures.add("echo-c1", "gateway-http", run(130.0, 60.0));
        let goals = figures.goals();
        assert_eq!((goals[2].found, goals[2].met()), (Some(1.5), Some(true)));
        assert_eq!(figures.cpu_over_floor("echo-c1", "gateway-http"), Some(1.2));
    }

    #[test]
    fn eras_are_compared_round_by_round() {
        let mut figures = BenchFigures::new(String::new(), 3);
        // The machine was twice and four times as slow in the later rounds.
        for slow in [1.0, 2.0, 4.0] {
            figures.add(ERAS, LEGACY, run(1.0, 30.0 * slow));
            figures.add(ERAS, MODERN, run(1.0, 33.0 * slow));
        }
        assert_eq!(figures.cpu_over_legacy(MODERN), Some(1.1));
        assert_eq!(figures.goals()[6].met(), Some(false));
    }

    #[test]
    fn one_slow_start_does_not_decide() {
        let mut figures = BenchFigures::new(String::new(), 3);
        figures.listing_ms = vec![20.0, 90.0, 30.0];
        let goals = figures.goals();
        let goal = goals.last().unwrap();
        assert_eq!((goal.found, goal.met()), (Some(30.0), Some(true)));
    }

    #[test]
    fn a_megabyte_is_a_million_bytes() {
        let mut figures = BenchFigures::new(String::new(), 1);
        figures.idle_rss = Some(25 << 20);
        assert_eq!(figures.goals()[7].met(), Some(false));
    }
}
