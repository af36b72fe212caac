//! `cargo xtask bench-context`: the cost of the local context, compared to a bare FTS5 table in the
//! same run.
//!
//! It generates files, ingests them into a bare table and with `toolgate context ingest`, and runs
//! the same queries on both. It also queries a library of a million passages. The relevant figures
//! are ratios. A missed target is not an error; the targets are shown beside the figures.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::bench::process::children_nanos;
use crate::{VerbResult, shell, workspace};

const USAGE: &str = "\
usage: cargo xtask bench-context [--files N] [--mb N] [--passages N] [--no-build]

  --files N       how many files are ingested (10000)
  --mb N          how many megabytes they have together (100)
  --passages N    how many passages the large library has (1000000; 0: leave it out)
  --no-build      take the programs as they are";

/// How often the memory of a running process is looked at.
const LOOK: Duration = Duration::from_millis(5);

/// The options of the command line.
struct ContextBenchPlan {
    files: u64,
    megabytes: u64,
    passages: u64,
    build: bool,
}

impl ContextBenchPlan {
    fn parse(arguments: &[String]) -> Result<Self, String> {
        let mut plan = Self { files: 10_000, megabytes: 100, passages: 1_000_000, build: true };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let field = match argument.as_str() {
                "--files" => &mut plan.files,
                "--mb" => &mut plan.megabytes,
                "--passages" => &mut plan.passages,
                "--no-build" => {
                    plan.build = false;
                    continue;
                }
                _ => return Err(USAGE.to_owned()),
            };
            let number = arguments.next().and_then(|number| number.parse().ok());
            *field = number.ok_or(USAGE)?;
        }
        Ok(plan)
    }
}

/// Runs it.
pub fn run(arguments: &[String]) -> VerbResult {
    let plan = ContextBenchPlan::parse(arguments)?;
    let bench = ContextBench::prepare(&plan)?;
    let outcome = bench.measure(&plan);
    // What is left of it only takes room.
    let _ = fs::remove_dir_all(&bench.scratch);
    outcome
}

/// The folders and programs of one benchmark run.
struct ContextBench {
    program: PathBuf,
    toolgate: PathBuf,
    scratch: PathBuf,
}

/// The cost of one process.
struct ProcessCost {
    wall: f64,
    cpu: f64,
    peak: u64,
    printed: String,
}

impl ContextBench {
    fn prepare(plan: &ContextBenchPlan) -> Result<Self, String> {
        if plan.build {
            for package in [
                ["-p", "toolgate-library", "--example", "context_bench"],
                ["-p", "toolgate-cli", "--bin", "toolgate"],
            ] {
                shell::run(shell::cargo().args(["build", "--release"]).args(package))?;
            }
        }
        let metadata = workspace::metadata(&["--no-deps"])?;
        let target = metadata["target_directory"].as_str();
        let target = PathBuf::from(target.ok_or("find the target folder in cargo's metadata")?);
        let scratch = target.join(format!("bench-context-{}", std::process::id()));
        fs::create_dir_all(scratch.join("files")).map_err(|error| error.to_string())?;
        let release = target.join("release");
        let program = release.join("examples").join("context_bench");
        Ok(Self { program, toolgate: release.join("toolgate"), scratch })
    }

    fn measure(&self, plan: &ContextBenchPlan) -> VerbResult {
        let files = self.scratch.join("files");
        let (number, bytes) = (plan.files.to_string(), (plan.megabytes * 1_000_000).to_string());
        self.own("make", &[&files, Path::new(&number), Path::new(&bytes)])?;

        let bare = self.scratch.join("bare.db");
        let bare_cost = self.own("bare-ingest", &[&files, &bare])?;
        let first = self.ingest(&files)?;
        let again = self.ingest(&files)?;
        line(
            "bare FTS5 insert loop",
            &format!("{:.1} s, CPU {:.1} s", bare_cost.wall, bare_cost.cpu),
        );
        let told = format!(
            "{:.1} s, CPU {:.1} s: {:.2} of the bare rate (target: at least 0.6)",
            first.wall,
            first.cpu,
            bare_cost.wall / first.wall
        );
        line("context ingest", &told);
        let peak = first.peak / 1_000_000;
        line("its memory at most", &format!("{peak} MB (target: under 300)"));
        line("again, nothing changed", &format!("CPU {:.2} s (target: under 2)", again.cpu));

        let library = context_file(&self.scratch.join("home")).ok_or("find context.db")?;
        let ours = self.measure_search("search", &[&library])?;
        for how in ["any", "all"] {
            let theirs = self.measure_search("bare-search", &[&bare, Path::new(how)])?;
            let told = format!(
                "mean {:.2} ms to {:.2} ms of CPU: {:.2} times (target: at most 2)",
                ours.mean,
                theirs.mean,
                ours.mean / theirs.mean
            );
            line(&format!("search to bare bm25(), {how} words"), &told);
        }
        if plan.passages > 0 { self.large(plan.passages) } else { Ok(()) }
    }

    fn large(&self, passages: u64) -> VerbResult {
        let library = self.scratch.join("large.db");
        self.own("fill", &[&library, Path::new(&passages.to_string())])?;
        let spent = self.measure_search("search", &[&library])?;
        let told = format!(
            "CPU p50 {:.1} ms, p90 {:.1} ms, p99 {:.1} ms (target: p50 under 50)",
            spent.p50, spent.p90, spent.p99
        );
        line(&format!("search in {passages} passages"), &told);
        Ok(())
    }

    fn own(&self, verb: &str, arguments: &[&Path]) -> Result<ProcessCost, String> {
        let mut command = shell::command(&self.program);
        command.arg(verb).args(arguments);
        cost(command)
    }

    fn ingest(&self, files: &Path) -> Result<ProcessCost, String> {
        let mut command = shell::command(&self.toolgate);
        command.arg("--home").arg(self.scratch.join("home"));
        command.args(["--json", "context", "ingest"]).arg(files);
        cost(command)
    }

    fn measure_search(&self, verb: &str, arguments: &[&Path]) -> Result<SearchTimes, String> {
        let printed = self.own(verb, arguments)?.printed;
        let figures: Value = serde_json::from_str(&printed)
            .map_err(|error| format!("cannot parse {printed:?}: {error}"))?;
        let figure = |name: &str| {
            figures[name].as_f64().ok_or_else(|| format!("find `{name}` in {printed:?}"))
        };
        Ok(SearchTimes {
            mean: figure("mean")?,
            p50: figure("p50")?,
            p90: figure("p90")?,
            p99: figure("p99")?,
        })
    }
}

/// The CPU time of searches, in milliseconds.
struct SearchTimes {
    mean: f64,
    p50: f64,
    p90: f64,
    p99: f64,
}

fn line(what: &str, told: &str) {
    println!("{what:<34} {told}");
}

/// Runs a command to its end and looks at it meanwhile. It must print little.
fn cost(mut command: Command) -> Result<ProcessCost, String> {
    eprintln!("$ {command:?}");
    let (begun, before) = (Instant::now(), children_nanos()?);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    let child = command.spawn().map_err(|error| format!("cannot start {command:?}: {error}"))?;
    let pid = child.id();
    let (printed, peak) = thread::scope(|scope| {
        let ended = scope.spawn(|| ended(child));
        let mut peak = 0;
        while !ended.is_finished() {
            peak = peak.max(memory(pid));
            thread::sleep(LOOK);
        }
        (
            ended
                .join()
                .map_err(|_| "cannot wait for the measured program".to_owned())
                .and_then(|printed| printed),
            peak,
        )
    });
    let wall = begun.elapsed().as_secs_f64();
    let cpu = (children_nanos()? - before) as f64 / 1e9;
    Ok(ProcessCost { wall, cpu, peak, printed: printed? })
}

fn ended(child: Child) -> Result<String, String> {
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("a measured program ended with {}", output.status));
    }
    String::from_utf8(output.stdout).map_err(|error| error.to_string())
}

/// The most memory a process had so far, in bytes; nothing once it has ended.
fn memory(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kibibytes.unwrap_or_default() * 1024
}

fn context_file(folder: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?;
    entries.flatten().map(|entry| entry.path()).find_map(|path| {
        let is_it = path.file_name().is_some_and(|name| name == "context.db");
        if is_it { Some(path) } else { context_file(&path) }
    })
}
