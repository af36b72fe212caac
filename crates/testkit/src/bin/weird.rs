//! The weird server as a program; see `toolgate_testkit::weird`.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    toolgate_testkit::weird::main(std::env::args().skip(1)).await
}
