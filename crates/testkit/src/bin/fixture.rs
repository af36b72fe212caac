//! The conformance fixture as a program; see `toolgate_testkit::fixture`.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    toolgate_testkit::fixture::main(std::env::args().skip(1)).await
}
