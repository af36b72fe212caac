//! `cargo xtask test` and its stages, in the order in which they fail soonest.
//!
//! Every cargo stage names the whole workspace and the same profile: with one feature resolution
//! for all of them nothing is compiled twice, and the binaries under test are the ones built here.

use std::time::Instant;

use crate::Outcome;
use crate::{conformance, deny, layers, peers, shell};

struct Stage {
    name: &'static str,
    says: &'static str,
    run: fn() -> Outcome,
}

const STAGES: &[Stage] = &[
    Stage { name: "fmt", says: "formatting", run: fmt_check },
    Stage { name: "layers", says: "the architecture's own rules", run: layers::check },
    Stage { name: "deny", says: "licences and banned crates", run: deny::check },
    Stage { name: "clippy", says: "lints, as errors", run: clippy },
    Stage { name: "build", says: "every binary and test", run: build },
    Stage { name: "tests", says: "unit and integration tests", run: tests },
    Stage { name: "doc", says: "documentation examples", run: doc_tests },
    Stage { name: "peers", says: "released servers and clients, installed", run: peers::install },
    Stage { name: "e2e", says: "the real binary against real peers", run: end_to_end },
    Stage { name: "conformance", says: "the official suite", run: conformance::check },
];

/// Runs all stages, or those named with `--only`.
pub fn test(arguments: &[String]) -> Outcome {
    if arguments == ["--list"] {
        STAGES.iter().for_each(|stage| println!("{:<12} {}", stage.name, stage.says));
        return Ok(());
    }
    let chosen = chosen(arguments)?;
    let begun = Instant::now();
    let mut times = Vec::new();
    for stage in chosen {
        eprintln!("\n== {}: {}", stage.name, stage.says);
        let stage_begun = Instant::now();
        (stage.run)().map_err(|reason| format!("stage `{}` failed: {reason}", stage.name))?;
        times.push(format!("{} {:.1?}", stage.name, stage_begun.elapsed()));
    }
    eprintln!("\nall stages passed in {:.0?} ({})", begun.elapsed(), times.join(", "));
    Ok(())
}

fn chosen(arguments: &[String]) -> Result<Vec<&'static Stage>, String> {
    let mut names = Vec::new();
    let mut rest = arguments.iter();
    while let Some(option) = rest.next() {
        match (option.as_str(), rest.next()) {
            ("--only", Some(name)) => names.push(name.as_str()),
            _ => {
                return Err(format!("`{option}`: usage is `test [--only STAGE]… [--list]`"));
            }
        }
    }
    if let Some(unknown) = names.iter().find(|name| STAGES.iter().all(|s| s.name != **name)) {
        return Err(format!("no stage `{unknown}`; `cargo xtask test --list` names them"));
    }
    Ok(STAGES.iter().filter(|s| names.is_empty() || names.contains(&s.name)).collect())
}

/// `cargo fmt --check` on the whole workspace.
pub fn fmt_check() -> Outcome {
    shell::run(shell::cargo().args(["fmt", "--all", "--check"]))
}

fn clippy() -> Outcome {
    let lint = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    shell::run(shell::cargo().args(lint))
}

/// `--all-targets` and not `--bins`: dev-dependencies take part in the feature resolution, and the
/// test stages would otherwise compile everything a second time.
pub fn build() -> Outcome {
    shell::run(shell::cargo().args(["build", "--workspace", "--all-targets"]))
}

fn tests() -> Outcome {
    test_run(
        &["--workspace", "--filterset", "not package(toolgate-e2e)"],
        &["--workspace", "--exclude", "toolgate-e2e", "--all-targets"],
    )
}

fn end_to_end() -> Outcome {
    test_run(
        &["--workspace", "--filterset", "package(toolgate-e2e)"],
        &["--package", "toolgate-e2e"],
    )
}

/// Runs tests with nextest where it is, and with cargo's own runner elsewhere.
fn test_run(nextest_options: &[&str], cargo_options: &[&str]) -> Outcome {
    match nextest() {
        true => shell::run(shell::cargo().args(["nextest", "run"]).args(nextest_options)),
        false => shell::run(shell::cargo().arg("test").args(cargo_options)),
    }
}

fn doc_tests() -> Outcome {
    shell::run(shell::cargo().args(["test", "--doc", "--workspace"]))
}

/// Everything that counts, at the full counts (`toolgate_e2e::count`).
pub fn soak() -> Outcome {
    build()?;
    peers::install()?;
    let mut command = shell::cargo();
    match nextest() {
        true => command.args(["nextest", "run", "--workspace", "--profile", "soak"]),
        false => command.args(["test", "--workspace"]),
    };
    shell::run(command.env("TOOLGATE_SOAK", "1"))
}

/// Whether nextest is on the machine; building it would take longer than it saves.
fn nextest() -> bool {
    shell::capture(shell::cargo().args(["nextest", "--version"])).is_ok()
}

#[cfg(test)]
mod tests {
    use super::chosen;

    fn names(arguments: &[&str]) -> Result<Vec<&'static str>, String> {
        let arguments: Vec<String> = arguments.iter().map(|&a| a.to_owned()).collect();
        Ok(chosen(&arguments)?.iter().map(|stage| stage.name).collect())
    }

    #[test]
    fn stages_run_in_their_order_whatever_the_order_asked_for() {
        assert_eq!(names(&["--only", "clippy", "--only", "fmt"]).unwrap(), ["fmt", "clippy"]);
        assert_eq!(names(&[]).unwrap().len(), super::STAGES.len());
    }

    #[test]
    fn an_unknown_stage_or_option_is_refused() {
        assert!(names(&["--only", "fnt"]).unwrap_err().contains("`fnt`"));
        assert!(names(&["--only"]).is_err());
        assert!(names(&["clippy"]).is_err());
    }
}
