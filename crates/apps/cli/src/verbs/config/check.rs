//! `config check`: prints every diagnostic about the config files, with its position and a hint.

use serde_json::json;

use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out;
use crate::verbs::diagnostics;

pub fn run(context: &CliContext) -> Result<Exit> {
    let plan = toolgate_host::read_files(&context.setup_options()?)?;
    let servers = plan.entries.len();
    let checked = out::count(servers, "server");
    diagnostics::print(context, &plan.check(), json!({ "servers": servers }), &checked)
}
