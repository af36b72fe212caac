//! `policy check`: prints every diagnostic about the rules, with its position and a hint.

use serde_json::json;
use toolgate_host::policy::check;

use crate::cli_context::CliContext;
use crate::exit::{Exit, Result};
use crate::out;
use crate::verbs::diagnostics;

pub async fn run(context: &CliContext) -> Result<Exit> {
    let checked = check(&context.load_setup().await?).await?;
    if let [first, ..] = &checked.unknown[..] {
        let names: Vec<_> = checked.unknown.iter().map(|name| name.as_str()).collect();
        out::remark(&format!(
            "the capabilities of {} are not known yet, so rules about them are not checked; run \
             `toolgate discover {}`",
            names.join(", "),
            first
        ));
    }
    let (rules, mode) = (checked.rules, checked.mode);
    let facts = json!({ "rules": rules, "mode": mode, "unknown": checked.unknown });
    let what = format!("{}, mode {mode}", out::count(rules, "rule"));
    diagnostics::print(context, &checked.diagnostics, facts, &what)
}
