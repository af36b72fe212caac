//! The recording proxy and its checker; see `toolgate_testkit::recorder`.

use std::process::ExitCode;

use clap::Parser;
use toolgate_testkit::recorder;

fn main() -> std::io::Result<ExitCode> {
    recorder::run(&recorder::Options::parse())
}
