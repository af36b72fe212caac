//! Builds the programs under test, all with the release profile.

use std::env;
use std::path::PathBuf;

use super::plan::BenchPlan;
use crate::{shell, workspace};

/// The paths of the programs.
#[derive(Debug)]
pub struct BenchBinaries {
    /// Cargo's target folder.
    pub target: PathBuf,
    /// The upstream.
    pub echo: PathBuf,
    /// The bare proxy.
    pub floor: PathBuf,
    /// The load generator.
    pub load: PathBuf,
    /// The gateway.
    pub toolgate: PathBuf,
}

impl BenchBinaries {
    /// Builds what the plan needs and finds it.
    pub fn build(plan: &BenchPlan) -> Result<Self, String> {
        let own_gateway = plan.gateway && plan.toolgate.is_none();
        if plan.build {
            build_release(!plan.cases.is_empty() || plan.instructions, own_gateway)?;
        }
        let target = target_folder()?;
        let program =
            |name: &str| target.join("release").join(format!("{name}{}", env::consts::EXE_SUFFIX));
        Ok(BenchBinaries {
            echo: program("echo"),
            floor: program("floor"),
            load: program("load"),
            toolgate: plan.toolgate.clone().unwrap_or_else(|| program("toolgate")),
            target,
        })
    }
}

/// Builds everything with one command, so that a shared dependency is compiled once.
fn build_release(with_peers: bool, with_gateway: bool) -> Result<(), String> {
    let mut cargo = shell::cargo();
    cargo.args(["build", "--release"]);
    if with_peers {
        cargo.args(["-p", "toolgate-testkit", "--bin", "echo", "--bin", "floor", "--bin", "load"]);
    }
    if with_gateway {
        cargo.args(["-p", "toolgate-cli", "--bin", "toolgate"]);
    }
    shell::run(&mut cargo)
}

fn target_folder() -> Result<PathBuf, String> {
    let metadata = workspace::metadata(&["--no-deps"])?;
    match metadata["target_directory"].as_str() {
        Some(folder) => Ok(folder.into()),
        None => Err("cargo metadata names no target folder".to_owned()),
    }
}
