//! `cargo xtask test` and its stages, in the order in which they fail soonest.
//!
//! Every cargo stage names the whole workspace and the same profile: with one feature resolution
//! for all of them nothing is compiled twice, and the binaries under test are the ones built here.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

use crate::VerbResult;
use crate::{conformance, deny, dist, docs, layers, names, peers, shell};

/// One stage of `cargo xtask test`.
struct TestStage {
    name: &'static str,
    says: &'static str,
    run: fn() -> VerbResult,
}

const STAGES: &[TestStage] = &[
    TestStage { name: "fmt", says: "formatting", run: fmt_check },
    TestStage { name: "layers", says: "the architecture's own rules", run: layers::check },
    TestStage { name: "names", says: "one name for one concept", run: names::check },
    TestStage { name: "deny", says: "licences and banned crates", run: deny::check },
    TestStage { name: "clippy", says: "lints, as errors", run: clippy },
    TestStage { name: "build", says: "every binary and test", run: build },
    TestStage { name: "docs", says: "the reference of the command line", run: docs::check },
    TestStage { name: "dist", says: "the packages, with the debug binary", run: dist::check },
    TestStage { name: "tests", says: "unit and integration tests", run: tests },
    TestStage { name: "doc", says: "documentation examples", run: doc_tests },
    TestStage {
        name: "peers",
        says: "released servers and clients, installed",
        run: peers::install,
    },
    TestStage { name: "e2e", says: "the real binary against real peers", run: end_to_end },
    TestStage { name: "conformance", says: "the official suite", run: conformance::check },
];

const USAGE: &str = "[--only STAGE]… [--repeat N] [--load] [--list]";

/// Runs all stages, or those named with `--only`; several times with `--repeat`, and beside two
/// busy loops with `--load`, to find tests that depend on luck.
pub fn test(arguments: &[String]) -> VerbResult {
    if arguments == ["--list"] {
        STAGES.iter().for_each(|stage| println!("{:<12} {}", stage.name, stage.says));
        return Ok(());
    }
    let plan = TestPlan::read(arguments)?;
    // Ends with this function, however that ends.
    let _load = plan.load.then(CpuLoadGuard::start);
    let begun = Instant::now();
    for round in 1..=plan.rounds {
        let mut times = Vec::new();
        for stage in &plan.stages {
            eprintln!("\n== {}: {}{}", stage.name, stage.says, plan.which(round));
            let stage_begun = Instant::now();
            (stage.run)().map_err(|reason| {
                format!("stage `{}` failed{}: {reason}", stage.name, plan.which(round))
            })?;
            times.push(format!("{} {:.1?}", stage.name, stage_begun.elapsed()));
        }
        let (which, times) = (plan.which(round), times.join(", "));
        eprintln!("\nall stages passed in {:.0?}{which} ({times})", begun.elapsed());
    }
    Ok(())
}

/// What is run, how often, and beside what.
struct TestPlan {
    stages: Vec<&'static TestStage>,
    rounds: u32,
    load: bool,
}

impl TestPlan {
    fn read(arguments: &[String]) -> Result<Self, String> {
        let (mut names, mut rounds, mut load) = (Vec::new(), 1, false);
        let mut rest = arguments.iter().map(String::as_str);
        while let Some(option) = rest.next() {
            let bad = || format!("`{option}`: usage is `test {USAGE}`");
            match option {
                "--only" => names.push(rest.next().ok_or_else(bad)?),
                "--repeat" => {
                    let count = rest.next().and_then(|count| count.parse().ok());
                    rounds = count.filter(|count| *count > 0).ok_or_else(bad)?;
                }
                "--load" => load = true,
                _ => return Err(bad()),
            }
        }
        if let Some(unknown) = names.iter().find(|name| STAGES.iter().all(|s| s.name != **name)) {
            return Err(format!("no stage named `{unknown}`; run `cargo xtask test --list`"));
        }
        let chosen = |stage: &&TestStage| names.is_empty() || names.contains(&stage.name);
        Ok(Self { stages: STAGES.iter().filter(chosen).collect(), rounds, load })
    }

    /// Which round it is, where there are several.
    fn which(&self, round: u32) -> String {
        match self.rounds {
            1 => String::new(),
            rounds => format!(", round {round} of {rounds}"),
        }
    }
}

/// Two threads that do nothing but take processor time from the tests, until it is dropped.
struct CpuLoadGuard(Arc<AtomicBool>);

impl CpuLoadGuard {
    fn start() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..2 {
            let over = over.clone();
            thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(over)
    }
}

impl Drop for CpuLoadGuard {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// `cargo fmt --check` on the whole workspace.
pub fn fmt_check() -> VerbResult {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))
}

fn clippy() -> VerbResult {
    let lint = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell::run(shell::cargo().args(lint))?;
    // The fuzz targets are a workspace of their own. Running them needs a nightly compiler; checking
    // them keeps them up to date.
    let fuzz = ["clippy", "--manifest-path", "fuzz/Cargo.toml", "--target-dir", "target"];
    shell::run(shell::cargo().args(fuzz).args(["--", "-D", "warnings"]))
}

/// `--all-targets` and not `--bins`: dev-dependencies take part in the feature resolution, and the
/// test stages would otherwise compile everything a second time.
pub fn build() -> VerbResult {
    shell::run(shell::cargo().args(["build", "--workspace", "--all-targets"]))
}

fn tests() -> VerbResult {
    test_run(
        &["--workspace", "--filterset", "not package(toolgate-e2e)"],
        &["--workspace", "--exclude", "toolgate-e2e", "--all-targets"],
    )
}

fn end_to_end() -> VerbResult {
    test_run(
        &["--workspace", "--filterset", "package(toolgate-e2e)"],
        &["--package", "toolgate-e2e"],
    )
}

/// Runs tests with nextest where it is, and with cargo's own runner elsewhere.
fn test_run(nextest_options: &[&str], cargo_options: &[&str]) -> VerbResult {
    match nextest() {
        true => shell::run(shell::cargo().args(["nextest", "run"]).args(nextest_options)),
        false => shell::run(shell::cargo().arg("test").args(cargo_options)),
    }
}

fn doc_tests() -> VerbResult {
    shell::run(shell::cargo().args(["test", "--doc", "--workspace"]))
}

/// Everything that counts, at the full counts (`toolgate_e2e::count`).
pub fn soak() -> VerbResult {
    build()?;
    peers::install()?;
    let mut command = shell::cargo();
    match nextest() {
        true => command.args(["nextest", "run", "--workspace", "--profile", "soak"]),
        false => command.args(["test", "--workspace"]),
    };
    shell::run(command.env("TOOLGATE_SOAK", "1"))
}

/// Whether nextest is on the machine; building it would take longer than it saves.
fn nextest() -> bool {
    shell::capture(shell::cargo().args(["nextest", "--version"])).is_ok()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{CpuLoadGuard, TestPlan};

    fn plan(arguments: &[&str]) -> Result<TestPlan, String> {
        let arguments: Vec<String> = arguments.iter().map(|&a| a.to_owned()).collect();
        TestPlan::read(&arguments)
    }

    fn names(arguments: &[&str]) -> Result<Vec<&'static str>, String> {
        Ok(plan(arguments)?.stages.iter().map(|stage| stage.name).collect())
    }

    #[test]
    fn stages_are_repeated_beside_a_load_if_that_is_asked_for() {
        let usual = plan(&["--only", "fmt"]).unwrap();
        assert_eq!((usual.rounds, usual.load, usual.which(1)), (1, false, String::new()));
        let loaded = plan(&["--repeat", "5", "--only", "tests", "--load"]).unwrap();
        assert_eq!((loaded.rounds, loaded.load, loaded.stages.len()), (5, true, 1));
        assert_eq!(loaded.which(2), ", round 2 of 5");
        for wrong in [&["--repeat"][..], &["--repeat", "0"], &["--repeat", "x"], &["--load", "3"]] {
            assert!(plan(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn a_load_ends_with_its_owner() {
        let load = CpuLoadGuard::start();
        let threads = Arc::downgrade(&load.0);
        drop(load);
        while threads.strong_count() > 0 {
            std::thread::yield_now();
        }
    }

    #[test]
    fn stages_run_in_their_order_whatever_the_order_asked_for() {
        assert_eq!(names(&["--only", "clippy", "--only", "fmt"]).unwrap(), ["fmt", "clippy"]);
        assert_eq!(names(&[]).unwrap().len(), super::STAGES.len());
    }

    #[test]
    fn an_unknown_stage_or_option_is_refused() {
        assert!(names(&["--only", "fnt"]).unwrap_err().contains("`fnt`"));
        assert!(names(&["--only"]).is_err());
        assert!(names(&["clippy"]).is_err());
    }
}
