//! `cargo xtask bench`: the cost of the gateway, compared to a direct connection and a bare proxy.
//!
//! One run starts everything (upstream, floor, gateway over HTTP and over stdio) and interleaves
//! the measurements, so that load on the machine affects all alike. The relevant figures are
//! ratios, because they hold on other machines too. It does not compare with earlier runs. A missed
//! target shows in the table and is not an error.

mod binaries;
mod docs;
mod eras;
mod figures;
mod instructions;
mod listing;
mod measure;
mod pinning;
mod plan;
pub mod process;
mod setup;
mod table;

use std::fs;

use serde_json::Value;

use binaries::BenchBinaries;
use figures::BenchFigures;
use listing::ListingBenchSetup;
use plan::BenchPlan;
use setup::{BenchResources, BenchSetup};

/// Runs the benchmark that the arguments describe.
pub fn run(args: &[String]) -> Result<(), String> {
    if args.iter().any(|arg| arg == "--help") {
        println!("{}", plan::USAGE);
        return Ok(());
    }
    let plan = BenchPlan::parse(args)?;
    let binaries = BenchBinaries::build(&plan)?;
    let site = BenchResources::prepare(binaries, plan.layout)?;
    if plan.instructions {
        return instructions::count(&plan, &site);
    }
    println!("{}", site.pinning);
    let figures = measure_all(&plan, &site)
        .map_err(|error| format!("{error}\nlogs: {}", site.scratch.display()))?;
    site.clean();
    println!("\n{}", table::render(&figures));
    write_json(&plan, &site, &figures.to_json())?;
    if plan.write {
        docs::update(&figures)?;
    }
    Ok(())
}

fn measure_all(plan: &BenchPlan, site: &BenchResources) -> Result<BenchFigures, String> {
    let mut figures = BenchFigures::new(site.pinning.to_string(), plan.rounds);
    if plan.gateway && !plan.cases.is_empty() {
        figures.idle_rss = Some(setup::idle_rss(site)?);
    }
    let listing = plan.listing.then(|| ListingBenchSetup::prepare(site)).transpose()?;
    // Every stage a case needs, started once and kept to the end.
    let mut stages: Vec<BenchSetup> = Vec::new();
    for case in &plan.cases {
        if !stages.iter().any(|stage| stage.serves(case)) {
            stages.push(BenchSetup::start(site, case, plan.gateway)?);
        }
    }
    for round in 1..=plan.rounds {
        if let Some(listing) = &listing {
            let cpu = listing.measure()?;
            eprintln!("round {round} {:<28} cpu {cpu:.2} ms", listing::NAME);
            figures.listing_ms.push(cpu);
        }
        for case in &plan.cases {
            let stage = stages.iter().find(|stage| stage.serves(case));
            for target in stage.into_iter().flat_map(|stage| &stage.targets) {
                let run = measure::run(site, case, target)?;
                eprintln!("round {round} {:<11} {:<16} {run}", case.name, target.name);
                figures.add(case.name, target.name, run);
            }
        }
    }
    figures.loaded_rss = setup::gateway_rss(&stages)?;
    Ok(figures)
}

fn write_json(plan: &BenchPlan, site: &BenchResources, figures: &Value) -> Result<(), String> {
    let file = site.results.join(format!("{}.json", plan.name));
    let text = format!("{figures:#}\n");
    fs::write(&file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    println!("results: target/bench/{}.json", plan.name);
    Ok(())
}
