//! The project's development tool: `cargo xtask VERB`.
//!
//! Contributors and CI run the same checks through it. It contains no product code and builds
//! nothing that ships.

mod bench;
mod bench_context;
mod conformance;
mod deny;
mod dist;
mod docs;
mod layers;
mod names;
mod peers;
mod shell;
mod stages;
mod workspace;

use std::process::ExitCode;

/// The result of a verb: nothing, or an error message.
type VerbResult = Result<(), String>;

const USAGE: &str = "\
usage: cargo xtask VERB

  test [--only STAGE]… [--list]   everything the project promises, in order
    [--repeat N] [--load]         several times, beside two busy loops
  fmt-check                       formatting
  layers                          dependencies point downwards, files keep to their budget
  names [--check | --sample N]    every type and its meaning; one name for one concept
  deny                            licences and banned crates (deny.toml)
  peers                           install the released peers under target/peers
  conformance [--write]           the official suite, through the gateway; --write: docs/conformance.md
  docs [--check]                  the reference of the command line, docs/reference/cli.md
  dist [--check]                  a tarball and a Debian package, in target/dist; --check: of the
                                  debug binary, to test the packing
  soak                            the tests that count, at their full counts
  bench [ARGS]                    the benchmark
  bench-context [ARGS]            what the local context costs, beside a bare FTS5 table";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(reason) => {
            eprintln!("xtask: {reason}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> VerbResult {
    let Some((verb, rest)) = arguments.split_first() else {
        return Err(USAGE.to_owned());
    };
    match verb.as_str() {
        "test" => stages::test(rest),
        "fmt-check" => stages::fmt_check(),
        "layers" => layers::check(),
        "names" => names::run(rest),
        "deny" => deny::check(),
        "peers" => peers::install(),
        "conformance" => conformance::run(rest),
        "docs" => docs::run(rest),
        "dist" => dist::run(rest),
        "soak" => stages::soak(),
        "bench" => bench::run(rest),
        "bench-context" => bench_context::run(rest),
        other => Err(format!("no verb named `{other}`\n{USAGE}")),
    }
}
