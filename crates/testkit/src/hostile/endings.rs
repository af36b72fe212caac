//! Processes that end too early, too late, or not where their parent can see them (T27).
//!
//! The grandchild is made by starting this binary again, twice: `setsid` in the first, nothing but
//! sleep in the second. It does NOT live longer than any hostile process may.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use clap::ValueEnum;

use super::Options;
use super::act::{Act, Chunks, Play, acts, says};
use super::scene::Scene;

/// A step on the way to a grandchild.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum Stage {
    /// Leave the session, start the sleeper, print its pid, end.
    Detach,
    /// Sleep.
    Sleep,
}

pub(super) fn daemonize(scene: &Scene) -> Play {
    let started = again(Stage::Detach, &scene.world.options, Stdio::piped());
    let pid = started.and_then(|mut child| {
        let mut pid = String::new();
        if let Some(mut out) = child.stdout.take() {
            out.read_to_string(&mut pid)?;
        }
        child.wait()?;
        pid.trim().parse().map_err(io::Error::other)
    });
    match pid {
        Ok(pid) => {
            let _ = scene.world.grandchild.set(pid);
            acts([])
        }
        Err(error) => {
            acts([Act::Stderr(Bytes::from(format!("no grandchild: {error}\n"))), Act::Exit(1)])
        }
    }
}

pub(super) fn name_grandchild(scene: &Scene) -> Play {
    let pid = scene.world.grandchild.get().copied().unwrap_or_default();
    says(scene.text(&pid.to_string()))
}

/// What a process started by `daemonize` does.
pub(super) fn play_grandchild(stage: Stage, options: &Options) -> io::Result<()> {
    match stage {
        Stage::Detach => {
            rustix::process::setsid()?;
            println!("{}", again(Stage::Sleep, options, Stdio::null())?.id());
        }
        Stage::Sleep => std::thread::sleep(Duration::from_secs(options.lifetime)),
    }
    Ok(())
}

fn again(stage: Stage, options: &Options, stdout: Stdio) -> io::Result<Child> {
    let stage = match stage {
        Stage::Detach => "detach",
        Stage::Sleep => "sleep",
    };
    #[expect(clippy::disallowed_methods, reason = "escaping from `launch` is what is tested")]
    Command::new(std::env::current_exe()?)
        .args(["--grandchild", stage, "--mark", &options.mark])
        .args(["--lifetime", &options.lifetime.to_string()])
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::null())
        .spawn()
}

pub(super) fn stay(_: &Scene) -> Play {
    acts([Act::Stay])
}

pub(super) fn exit_in_answer(scene: &Scene) -> Play {
    let answer = scene.ordinary();
    let half: Chunks = Box::new(std::iter::once(answer.slice(..answer.len() / 2)));
    // The pause leaves the half answer time to be on its way over HTTP.
    let pause = Duration::from_millis(20);
    acts([Act::Stream(half, pause), Act::Exit(3)])
}

pub(super) fn exit_at_once(_: &Scene) -> Play {
    acts([Act::Stderr(Bytes::from_static(b"error: cannot find module 'left-pad'\n")), Act::Exit(1)])
}
