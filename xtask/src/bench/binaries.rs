//! The programs under test, built as they are used: with the release profile.
//!
//! It does NOT choose another profile for the gateway than for the floor.

use std::env;
use std::path::PathBuf;

use super::plan::Plan;
use crate::{shell, workspace};

/// Where the programs are.
#[derive(Debug)]
pub struct Binaries {
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

impl Binaries {
    /// Builds what the plan needs and finds it.
    pub fn build(plan: &Plan) -> Result<Self, String> {
        let own_gateway = plan.gateway && plan.toolgate.is_none();
        if plan.build {
            build_release(!plan.cases.is_empty() || plan.instructions, own_gateway)?;
        }
        let target = target_folder()?;
        let program =
            |name: &str| target.join("release").join(format!("{name}{}", env::consts::EXE_SUFFIX));
        Ok(Binaries {
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
        None => Err("find the target folder in cargo's metadata".to_owned()),
    }
}
