//! The load generator; see `toolgate_testkit::load`.

use clap::Parser;
use toolgate_testkit::load;

// The gateway's allocator, so that no figure differs because of it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::io::Result<()> {
    load::run(&load::Options::parse())
}
