//! Which core a process of the benchmark runs on.
//!
//! Splitting keeps the load generator from taking time from what it measures; on a virtual machine
//! it also makes every message wake another core, which costs the floor and the gateway alike. It
//! does NOT bind this process.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use crate::shell;

/// What the command line asks for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Layout {
    /// What is measured on core 0, everything else on core 1.
    Split,
    /// Everything on core 0.
    Together,
    /// Wherever the kernel likes.
    Free,
}

impl Layout {
    /// Reads the command line's word for it.
    pub fn parse(word: &str) -> Result<Self, String> {
        match word {
            "split" => Ok(Layout::Split),
            "together" => Ok(Layout::Together),
            "free" => Ok(Layout::Free),
            _ => Err(format!("--pin takes split, together or free, not {word:?}")),
        }
    }
}

/// On which side of the measurement a program stands.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    /// The floor or the gateway.
    Measured,
    /// The upstream or the load generator.
    Around,
}

/// How processes are bound to cores, as far as the machine lets us.
#[derive(Debug)]
pub struct Pinning {
    layout: Layout,
    taskset: PathBuf,
}

impl Pinning {
    /// The layout asked for, or a free one where there is no `taskset` or only one core.
    pub fn find(asked: Layout) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let mut programs = std::env::split_paths(&path).map(|folder| folder.join("taskset"));
        match programs.find(|program| program.is_file()) {
            Some(taskset) if cores >= 2 => Pinning { layout: asked, taskset },
            _ => Pinning { layout: Layout::Free, taskset: PathBuf::new() },
        }
    }

    /// The program and the first words of a command line that runs `program` on its side.
    pub fn words(&self, side: Side, program: &Path) -> (String, Vec<String>) {
        let core = match (self.layout, side) {
            (Layout::Free, _) => return (program.display().to_string(), Vec::new()),
            (Layout::Split, Side::Around) => "1",
            (Layout::Split, Side::Measured) | (Layout::Together, _) => "0",
        };
        let words = ["-c".to_owned(), core.to_owned(), program.display().to_string()];
        (self.taskset.display().to_string(), words.to_vec())
    }

    /// A command that runs `program` on its side.
    pub fn command(&self, side: Side, program: &Path) -> Command {
        let (first, rest) = self.words(side, program);
        let mut command = shell::command(first);
        command.args(rest);
        command
    }
}

impl fmt::Display for Pinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.layout {
            Layout::Split => "gateway and floor on core 0, load and upstream on core 1",
            Layout::Together => "all processes on core 0",
            Layout::Free => "processes not bound to cores",
        })
    }
}
