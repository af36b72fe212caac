//! The benchmark's bare proxy; see `toolgate_testkit::floor`.

use clap::Parser;
use toolgate_testkit::floor;

// The gateway's allocator, so that no figure differs because of it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::io::Result<()> {
    floor::run(&floor::Options::parse())
}
