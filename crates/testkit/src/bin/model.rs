//! The scripted model endpoint; see `toolgate_testkit::model`.

use clap::Parser;
use toolgate_testkit::model;

fn main() -> std::io::Result<()> {
    model::run(&model::Options::parse())
}
