//! The bulk server as a program; see `toolgate_testkit::bulk`.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    toolgate_testkit::bulk::main(std::env::args().skip(1)).await
}
