//! Runs the load generator once and reads the server's CPU time before and after. A run with an
//! error is not a measurement.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::eras::BenchEra;
use super::plan::BenchCase;
use super::process::CpuTime;
use super::setup::{BenchResources, BenchTarget};

/// The result of one run.
#[derive(Clone, Copy, Debug)]
pub struct BenchRun {
    /// Calls per second.
    pub calls_per_s: f64,
    /// The median latency in microseconds.
    pub p50_us: f64,
    /// The 99th percentile in microseconds.
    pub p99_us: f64,
    /// CPU of the server per call in microseconds.
    pub cpu_us: f64,
}

impl fmt::Display for BenchRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BenchRun { calls_per_s, p50_us, p99_us, cpu_us } = self;
        write!(
            f,
            "{calls_per_s:>8.0}/s  p50 {p50_us:>7.0}  p99 {p99_us:>7.0}  cpu {cpu_us:>7.1} µs"
        )
    }
}

/// Measures one case at one target.
pub fn run(
    site: &BenchResources,
    case: &BenchCase,
    target: &BenchTarget,
) -> Result<BenchRun, String> {
    let failed =
        |error: String| format!("cannot measure {} at {}: {error}", case.name, target.name);
    let mut load = site
        .load()
        .args(["--url", &target.url, "--case", case.load, "--paginate", "--wait"])
        .args(["--concurrency", &case.concurrency.to_string()])
        .args(["--calls", &case.calls.to_string()])
        .args(["--warmup", &(case.calls / 10).max(1).to_string()])
        .args(["--expect-tools", &case.tools.to_string()])
        .args(["--tool-name", &format!("{}{}", target.prefix, case.load)])
        .args(target.also.iter().flat_map(|url| ["--also", url]))
        .args(target.client.flag())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| failed(error.to_string()))?;
    let measured = between(&mut load, target.pid);
    if measured.is_err() {
        // Ended already, unless the failure was ours.
        let _ = load.kill();
    }
    load.wait().map_err(|error| failed(error.to_string()))?;
    let (report, nanos) = measured.map_err(failed)?;
    let number = |key: &str| report[key].as_f64().unwrap_or_default();
    if number("errors") > 0.0 || number("calls") < 1.0 {
        return Err(failed(report.to_string()));
    }
    Ok(BenchRun {
        calls_per_s: number("calls_per_s"),
        p50_us: number("p50_us"),
        p99_us: number("p99_us"),
        cpu_us: nanos as f64 / 1000.0 / number("calls"),
    })
}

/// Gives the signal to begin and reads the clock on both sides of the measured part.
fn between(load: &mut Child, pid: u32) -> Result<(Value, u64), String> {
    let (Some(mut input), Some(output)) = (load.stdin.take(), load.stdout.take()) else {
        return Err("the load generator has no pipes".to_owned());
    };
    let mut lines = BufReader::new(output).lines().map_while(Result::ok);
    if lines.next().as_deref() != Some("ready") {
        return Err("the load generator did not become ready".to_owned());
    }
    let before = CpuTime::of(pid)?;
    input.write_all(b"\n").map_err(|error| error.to_string())?;
    let report = lines.next().ok_or("the load generator ended without a report")?;
    let spent = CpuTime::of(pid)?.since(&before);
    Ok((serde_json::from_str(&report).map_err(|error| error.to_string())?, spent))
}

/// Whether the endpoint lists exactly so many tools to such a client now.
pub fn lists(site: &BenchResources, url: &str, client: BenchEra, tools: u32) -> Result<(), String> {
    let output = site
        .load()
        .args(["--url", url, "--case", "list", "--paginate", "--calls", "1"])
        .args(client.flag())
        .args(["--expect-tools", &tools.to_string()])
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
}
