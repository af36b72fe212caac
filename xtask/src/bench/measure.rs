//! One run of the load generator, with the server's CPU read at its start and its end.
//!
//! It does NOT tolerate a wrong answer: a run with an error is no measurement.

use std::fmt;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Stdio};

use serde_json::Value;

use super::eras::Era;
use super::plan::Case;
use super::process::Cpu;
use super::stage::{Site, Target};

/// What one run found.
#[derive(Clone, Copy, Debug)]
pub struct Run {
    /// Calls per second.
    pub calls_per_s: f64,
    /// The median latency in microseconds.
    pub p50_us: f64,
    /// The 99th percentile in microseconds.
    pub p99_us: f64,
    /// CPU of the server per call in microseconds.
    pub cpu_us: f64,
}

impl fmt::Display for Run {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Run { calls_per_s, p50_us, p99_us, cpu_us } = self;
        write!(
            f,
            "{calls_per_s:>8.0}/s  p50 {p50_us:>7.0}  p99 {p99_us:>7.0}  cpu {cpu_us:>7.1} µs"
        )
    }
}

/// Measures one case at one target.
pub fn run(site: &Site, case: &Case, target: &Target) -> Result<Run, String> {
    let failed = |error: String| format!("measure {} at {}: {error}", case.name, target.name);
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
    Ok(Run {
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
        return Err("the load generator did not get ready".to_owned());
    }
    let before = Cpu::of(pid)?;
    input.write_all(b"\n").map_err(|error| error.to_string())?;
    let report = lines.next().ok_or("the load generator ended without a report")?;
    let spent = Cpu::of(pid)?.since(&before);
    Ok((serde_json::from_str(&report).map_err(|error| error.to_string())?, spent))
}

/// Whether the endpoint lists exactly so many tools to such a client now.
pub fn lists(site: &Site, url: &str, client: Era, tools: u32) -> Result<(), String> {
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
