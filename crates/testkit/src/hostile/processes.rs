//! Modes whose processes end too early, too late, or out of their parent's sight (T27).
//!
//! The grandchild is created by starting this binary twice: the first process calls `setsid`, the
//! second only sleeps. It has the same time limit as every hostile process.

use std::io::{self, Read};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use clap::ValueEnum;

use super::Options;
use super::action::{
    ByteChunks, HostileAction, HostileActionSequence, action_sequence, single_message,
};
use super::context::HookContext;

/// A step of creating a grandchild process.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub enum GrandchildStage {
    /// Leave the session, start the sleeper, print its pid, end.
    Detach,
    /// Sleep.
    Sleep,
}

pub(super) fn daemonize(scene: &HookContext) -> HostileActionSequence {
    let started = respawn_self(GrandchildStage::Detach, &scene.shared.options, Stdio::piped());
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
            let _ = scene.shared.grandchild.set(pid);
            action_sequence([])
        }
        Err(error) => action_sequence([
            HostileAction::Stderr(Bytes::from(format!("no grandchild: {error}\n"))),
            HostileAction::Exit(1),
        ]),
    }
}

pub(super) fn name_grandchild(scene: &HookContext) -> HostileActionSequence {
    let pid = scene.shared.grandchild.get().copied().unwrap_or_default();
    single_message(scene.text(&pid.to_string()))
}

/// What a process started by `daemonize` does.
pub(super) fn play_grandchild(stage: GrandchildStage, options: &Options) -> io::Result<()> {
    match stage {
        GrandchildStage::Detach => {
            rustix::process::setsid()?;
            println!("{}", respawn_self(GrandchildStage::Sleep, options, Stdio::null())?.id());
        }
        GrandchildStage::Sleep => std::thread::sleep(Duration::from_secs(options.lifetime)),
    }
    Ok(())
}

fn respawn_self(stage: GrandchildStage, options: &Options, stdout: Stdio) -> io::Result<Child> {
    let stage = match stage {
        GrandchildStage::Detach => "detach",
        GrandchildStage::Sleep => "sleep",
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

pub(super) fn stay(_: &HookContext) -> HostileActionSequence {
    action_sequence([HostileAction::Stay])
}

pub(super) fn exit_in_answer(scene: &HookContext) -> HostileActionSequence {
    let answer = scene.ordinary_response();
    let half: ByteChunks = Box::new(std::iter::once(answer.slice(..answer.len() / 2)));
    // The pause leaves the half answer time to be on its way over HTTP.
    let pause = Duration::from_millis(20);
    action_sequence([HostileAction::Stream(half, pause), HostileAction::Exit(3)])
}

pub(super) fn exit_at_once(_: &HookContext) -> HostileActionSequence {
    action_sequence([
        HostileAction::Stderr(Bytes::from_static(b"error: cannot find module 'left-pad'\n")),
        HostileAction::Exit(1),
    ])
}
