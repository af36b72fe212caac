//! `sample-server`: the built-in sample on stdin and stdout.

use tokio::io::{stdin, stdout};
use toolgate_host::sample_server;

use crate::exit::{Exit, Failure};

pub async fn run() -> Result<Exit, Failure> {
    sample_server().serve_on(stdin(), stdout()).await;
    Ok(Exit::Done)
}
