//! `--instructions`: counts the instructions of the gateway per call with valgrind.
//!
//! A count does not depend on the load of the machine, so it shows smaller differences than a
//! clock. It omits the kernel and the cost of cache misses, so it does not replace the clock. Each
//! figure is the difference of two runs, which excludes the startup.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::json;

use super::eras::{EraPairing, PAIRINGS};
use super::plan::BenchPlan;
use super::setup::{self, BenchResources};
use crate::shell;

/// Calls of the shorter run; the gateway has opened its connections and filled its pools by then.
const BEFORE: u64 = 500;
/// Calls that the longer run makes more.
const COUNTED: u64 = 2_000;
/// Tools of the upstream.
const TOOLS: u32 = 3;

/// Counts every pairing of eras and prints the table.
pub fn count(plan: &BenchPlan, site: &BenchResources) -> Result<(), String> {
    if shell::capture(shell::command("valgrind").arg("--version")).is_err() {
        return Err("--instructions requires valgrind, which is not installed".to_owned());
    }
    let mut rows = Vec::new();
    for pairing in &PAIRINGS {
        let per_call = per_call(site, pairing).map_err(|error| {
            format!("cannot count {}: {error}\nlogs: {:?}", pairing.name, site.scratch)
        })?;
        eprintln!("{:<16} {per_call:>9.0} instructions/call", pairing.name);
        rows.push((pairing.name, per_call));
    }
    site.clean();
    println!("\n| client-to-upstream | instructions/call | / legacy-to-legacy |\n|---|---:|---:|");
    let legacy = rows.first().map_or(f64::NAN, |(_, per_call)| *per_call);
    for (name, per_call) in &rows {
        println!("| {name} | {per_call:.0} | {:.3} |", per_call / legacy);
    }
    let figures =
        rows.iter().map(|(name, per_call)| json!({ "pairing": name, "per_call": per_call }));
    super::write_json(plan, site, &json!({ "instructions": figures.collect::<Vec<_>>() }))
}

fn per_call(site: &BenchResources, pairing: &EraPairing) -> Result<f64, String> {
    let fewer = run(site, pairing, BEFORE)?;
    let more = run(site, pairing, BEFORE + COUNTED)?;
    Ok((more as f64 - fewer as f64) / COUNTED as f64)
}

/// A whole life of a gateway with so many calls in it.
fn run(site: &BenchResources, pairing: &EraPairing, calls: u64) -> Result<u64, String> {
    let name = format!("{}-{calls}", pairing.name);
    let echo = site.echo(&format!("echo-{name}"), pairing.upstream, TOOLS)?;
    let counts = site.log(&format!("counts-{name}"));
    let gateway = site.gateway_in(counting(site, &counts), &name, &setup::http_entry(&echo))?;
    setup::wait_until_listed(site, &gateway.url, pairing.client, TOOLS)?;
    let output = site
        .load()
        .args(["--url", &gateway.url, "--case", "echo", "--concurrency", "8"])
        .args(["--tool-name", &format!("{}echo", setup::PREFIX)])
        .args(["--calls", &calls.to_string()])
        .args(pairing.client.flag())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    gateway.finish()?;
    let told =
        fs::read_to_string(&counts).map_err(|error| format!("cannot read {counts:?}: {error}"))?;
    collected(&told).ok_or_else(|| format!("no count in {counts:?}"))
}

fn counting(site: &BenchResources, counts: &std::path::Path) -> Command {
    let mut valgrind = shell::command("valgrind");
    valgrind.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    valgrind.arg(format!("--log-file={}", counts.display()));
    valgrind.arg(&site.binaries.toolgate);
    valgrind
}

/// The figure in callgrind's last words.
fn collected(told: &str) -> Option<u64> {
    let line = told.lines().find_map(|line| line.split_once("Collected :"));
    line?.1.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_count_is_found_among_the_other_words() {
        let told = "==7== Events    : Ir\n==7== Collected : 158265263\n==7== \n";
        assert_eq!(collected(told), Some(158_265_263));
        assert_eq!(collected("==7== Terminated\n"), None);
    }
}
