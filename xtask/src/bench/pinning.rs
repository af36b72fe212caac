//! Binds the processes of the benchmark to cores. This process itself is not bound.
//!
//! Separate cores keep the load generator from slowing down what it measures. On a virtual machine,
//! every message then wakes another core, which costs the floor and the gateway alike.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::shell;

/// The core layout that the command line requests.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum CpuCoreLayout {
    /// What is measured on core 0, everything else on core 1.
    Split,
    /// Everything on core 0.
    Together,
    /// Wherever the kernel likes.
    Free,
}

impl CpuCoreLayout {
    /// Reads the command line's word for it.
    pub fn parse(word: &str) -> Result<Self, String> {
        match word {
            "split" => Ok(CpuCoreLayout::Split),
            "together" => Ok(CpuCoreLayout::Together),
            "free" => Ok(CpuCoreLayout::Free),
            _ => Err(format!("--pin must be split, together or free, got {word:?}")),
        }
    }
}

/// Whether a program generates the load or is measured.
#[derive(Clone, Copy, Debug)]
pub enum BenchProcessRole {
    /// The floor or the gateway.
    Measured,
    /// The upstream or the load generator.
    Around,
}

/// The binding of processes to cores, as far as the machine supports it.
#[derive(Debug)]
pub struct CpuPinning {
    layout: CpuCoreLayout,
    taskset: PathBuf,
}

impl CpuPinning {
    /// The layout asked for, or a free one where there is no `taskset` or only one core.
    pub fn find(asked: CpuCoreLayout) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut programs = std::env::split_paths(&path).map(|folder| folder.join("taskset"));
        match programs.find(|program| program.is_file()) {
            Some(taskset) if cores >= 2 => CpuPinning { layout: asked, taskset },
            _ => CpuPinning { layout: CpuCoreLayout::Free, taskset: PathBuf::new() },
        }
    }

    /// The program and the first words of a command line that runs `program` on its side.
    pub fn words(&self, side: BenchProcessRole, program: &Path) -> (String, Vec<String>) {
        let core = match (self.layout, side) {
            (CpuCoreLayout::Free, _) => return (program.display().to_string(), Vec::new()),
            (CpuCoreLayout::Split, BenchProcessRole::Around) => "1",
            (CpuCoreLayout::Split, BenchProcessRole::Measured) | (CpuCoreLayout::Together, _) => {
                "0"
            }
        };
        let words = ["-c".to_owned(), core.to_owned(), program.display().to_string()];
        (self.taskset.display().to_string(), words.to_vec())
    }

    /// A command that runs `program` on its side.
    pub fn command(&self, side: BenchProcessRole, program: &Path) -> Command {
        let (first, rest) = self.words(side, program);
        let mut command = shell::command(first);
        command.args(rest);
        command
    }
}

impl fmt::Display for CpuPinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.layout {
            CpuCoreLayout::Split => "gateway and floor on core 0, load and upstream on core 1",
            CpuCoreLayout::Together => "all processes on core 0",
            CpuCoreLayout::Free => "processes not bound to cores",
        })
    }
}
