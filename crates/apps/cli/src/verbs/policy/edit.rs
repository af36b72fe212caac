//! `policy allow`, `policy ask` and `policy deny`: add a rule to a config file or remove it, and show
//! what it decides.

use clap::Args;
use serde_json::json;
use toolgate_host::ConfigScope;
use toolgate_host::config::ConfigDocument;
use toolgate_host::policy::{Effect, rule_problem};

use crate::cli_context::CliContext;
use crate::control::{ControlRequest, ExposureReport, ExposureRowJson};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{Exit, Result, cli_error};
use crate::operator::authorize;
use crate::out::{self, TextTable};
use crate::server_access::ServerAccess;
use crate::verbs::declaration::messages::display_path;
use crate::verbs::declaration::{files, reload_gateway, scope::ScopeArg};

/// The arguments of `toolgate policy allow`, `policy ask` and `policy deny`.
#[derive(Debug, Args)]
pub struct PolicyEditArgs {
    /// Rule: mcp:SERVER/TOOL, or tag:TAG; * matches any text
    rule: String,
    /// Remove the rule
    #[arg(long)]
    remove: bool,
    /// Change your own file (the default) or this project's, which can only ask and deny
    #[arg(short, long, value_enum, value_name = "SCOPE", default_value = "user")]
    scope: ScopeArg,
}

pub async fn run(context: &CliContext, options: &PolicyEditArgs, effect: Effect) -> Result<Exit> {
    let rule = options.rule.as_str();
    if let Some(problem) = rule_problem(effect, rule) {
        return Err(cli_error!(PolicyInvalidRule, "invalid rule `{rule}`: {problem}")
            .hint("write mcp:SERVER/TOOL, for example mcp:git/push or mcp:files/read_*"));
    }
    let file = choose_file(context, options, effect)?;
    let setup = context.load_setup().await?;
    let verb = if options.remove { "remove" } else { "add" };
    authorize(context, setup.plan(), &format!("{verb} the rule {effect} {rule}")).await?;
    let mut concerned = match options.remove {
        true => decided_by(&fetch_exposure(context).await?, rule),
        false => Vec::new(),
    };
    if file.path() == context.home.config_file() {
        context.ensure_config()?;
    }
    let keys = ["policy", effect.as_str()];
    let edited = file.change(|text| file.dialect.change_list(text, &keys, rule, !options.remove));
    let changed = edited?.changed;
    reload_gateway(context).await;
    let now = fetch_exposure(context).await?;
    concerned.extend(decided_by(&now, rule));
    let decided: Vec<_> =
        now.lines.iter().filter(|line| concerned.contains(&id_of(line))).collect();
    let path = display_path(file.path());
    let (action, text) = match (options.remove, changed) {
        (true, true) => ("removed", format!("removed {effect} `{rule}` from {path}")),
        (true, false) => ("absent", format!("{path} has no rule {effect} `{rule}`")),
        (false, true) => ("added", format!("added {effect} `{rule}` to {path}")),
        (false, false) => ("present", format!("{path} already has the rule {effect} `{rule}`")),
    };
    out::note(&text);
    let rows: Vec<_> = decided.iter().map(|line| row_json(line)).collect();
    let value = json!({
        "rule": rule, "effect": effect, "action": action, "file": file.path(), "decides": rows,
    });
    if decided.is_empty() {
        out::note("it decides about no capability that is known now");
    }
    out::print(context, &value, || table(&decided))
}

/// Returns the file to change. Rules are edited in Toolgate's own format only.
fn choose_file(
    context: &CliContext,
    options: &PolicyEditArgs,
    effect: Effect,
) -> Result<ConfigDocument> {
    let scope = options.scope.to_scope();
    if scope == ConfigScope::Project && effect == Effect::Allow && !options.remove {
        return Err(cli_error!(ConfigProjectLimit, "a project's file cannot allow calls")
            .hint("remove `-s project` to change your own file"));
    }
    let file = files::own_document(context, scope, |root| {
        let [ours, _] = ConfigDocument::for_project(root);
        Ok(ours)
    })?;
    match file.dialect.is_toolgate() {
        true => Ok(file),
        false => {
            let path = display_path(file.path());
            Err(cli_error!(ConfigDialect, "{path} is not in Toolgate's format")
                .hint("remove --config to change your own file"))
        }
    }
}

/// Returns what the profile sees by the files as they are now, without starting a server.
async fn fetch_exposure(context: &CliContext) -> Result<ExposureReport> {
    let access = ServerAccess::embed(context, EmbeddedGatewayOptions::idle_and_quiet()).await?;
    let profile = context.profile_or_default().to_owned();
    let exposed = access.ask(&ControlRequest::Exposure { profile }).await;
    access.close().await;
    exposed
}

/// The server, kind and name of a capability.
type CapabilityKey = (String, String, String);

fn id_of(line: &ExposureRowJson) -> CapabilityKey {
    (line.server.clone(), line.kind.clone(), line.name.clone())
}

/// Returns the capabilities that a rule decides about.
fn decided_by(exposed: &ExposureReport, rule: &str) -> Vec<CapabilityKey> {
    let named = format!("rule `{rule}` (");
    let is_decided = |line: &&ExposureRowJson| {
        line.because.contains(&named)
            || line.decision.as_ref().is_some_and(|it| it.because.contains(&named))
    };
    exposed.lines.iter().filter(is_decided).map(id_of).collect()
}

fn row_json(line: &ExposureRowJson) -> serde_json::Value {
    let ExposureRowJson { server, kind, name, decision, .. } = line;
    json!({ "server": server, "kind": kind, "name": name, "decision": decision })
}

fn table(lines: &[&ExposureRowJson]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut table = TextTable::new(&["SERVER", "KIND", "NAME", "CALLS", "BECAUSE"]).with_states(3);
    for line in lines {
        let decision = line.decision.as_ref();
        let effect = decision.map_or("deny", |decision| &decision.effect);
        let because = decision.map_or(&line.because, |decision| &decision.because);
        table.row([&line.server, &line.kind, &line.name, effect, because]);
    }
    table.text()
}
