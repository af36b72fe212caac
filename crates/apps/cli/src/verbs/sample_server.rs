//! `sample-server`: runs the built-in sample server on stdin and stdout.

use tokio::io::{stdin, stdout};
use toolgate_host::sample_server;

use crate::exit::{Exit, Result};

pub async fn run() -> Result<Exit> {
    sample_server().serve_on(stdin(), stdout()).await;
    Ok(Exit::Done)
}
