//! The turncoat as a program; see `toolgate_testkit::turncoat`.

use std::process::ExitCode;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    toolgate_testkit::turncoat::main(std::env::args().skip(1)).await
}
