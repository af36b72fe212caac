//! The benchmark's upstream server; see `toolgate_testkit::echo`.

use clap::Parser;
use toolgate_testkit::echo;

// The gateway's allocator, so that no figure differs because of it.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::io::Result<()> {
    echo::run(&echo::Options::parse())
}
