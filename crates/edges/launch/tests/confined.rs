//! Tasks of our own within bounds, well-behaved and not.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "these are tests")]

use std::fs::File;
use std::io::{Seek as _, Write as _};
use std::time::{Duration, Instant};

use toolgate_launch::{ConfinedLimits, ConfinedOutcome, LaunchHelperProgram, run_confined};

const BOUNDS: ConfinedLimits = ConfinedLimits {
    memory: 256 << 20,
    cpu: Duration::from_secs(1),
    time: Duration::from_secs(20),
    output: 1 << 20,
};

fn task(what: &str, input: &str, bounds: ConfinedLimits) -> ConfinedOutcome {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(input.as_bytes()).unwrap();
    file.rewind().unwrap();
    let helper = LaunchHelperProgram::at_path(env!("CARGO_BIN_EXE_launch-probe"));
    run_confined(&helper, &["task", what], file, &bounds).unwrap()
}

fn answer(ending: ConfinedOutcome) -> String {
    match ending {
        ConfinedOutcome::Answered(bytes) => String::from_utf8(bytes).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_task_gets_the_file_and_its_answer_comes_back() {
    let long = "some words\n".repeat(50_000);
    assert_eq!(answer(task("echo", &long, BOUNDS)), long);
    assert_eq!(answer(task("env", "", BOUNDS)), "0", "it has no environment");
}

#[test]
fn one_that_uses_up_its_time_is_ended() {
    assert!(matches!(task("spin", "", BOUNDS), ConfinedOutcome::TimedOut), "of a processor");
    let begun = Instant::now();
    let short = ConfinedLimits { time: Duration::from_millis(300), ..BOUNDS };
    assert!(matches!(task("sleep", "", short), ConfinedOutcome::TimedOut), "by the clock");
    assert!(begun.elapsed() < Duration::from_secs(10));
}

#[test]
fn one_that_takes_too_much_memory_dies_alone() {
    let ConfinedOutcome::Died { stderr: said, .. } = task("eat", "", BOUNDS) else {
        panic!("it lives")
    };
    assert!(said.contains("memory allocation"), "{said}");
}

#[test]
fn one_that_answers_too_much_is_ended() {
    assert!(matches!(task("flood", "", BOUNDS), ConfinedOutcome::OutputTooLong));
}

#[test]
fn one_that_writes_a_file_or_fails_has_no_answer() {
    assert!(matches!(task("write", "", BOUNDS), ConfinedOutcome::Died { .. }));
    let _ = std::fs::remove_file(std::path::Path::new("/tmp").join("toolgate-launch-task"));
    assert!(matches!(task("no such task", "", BOUNDS), ConfinedOutcome::Died { .. }));
}

#[test]
fn without_a_helper_nothing_is_started() {
    let nothing = File::open("/dev/null").unwrap();
    assert!(
        run_confined(&LaunchHelperProgram::none(), &["task", "echo"], nothing, &BOUNDS).is_err()
    );
}
