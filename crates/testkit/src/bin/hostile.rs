//! A server that misbehaves in one chosen way; see `toolgate_testkit::hostile`.

use clap::Parser;
use toolgate_testkit::hostile;

fn main() -> std::io::Result<()> {
    hostile::run(hostile::Options::parse())
}
