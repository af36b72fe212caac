//! `policy test`: checks the decisions about a list of calls against the expected ones.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use toolgate_model::Effect;

use super::explain::DEFAULT_CLIENT;
use crate::cli_context::CliContext;
use crate::control::{ControlRequest, ExplanationJson, HypotheticalCallJson};
use crate::embedded_gateway::EmbeddedGatewayOptions;
use crate::exit::{CliError, Exit, Result, cli_error};
use crate::out::{self, TextTable, escape_invisible};
use crate::server_access::ServerAccess;

/// The arguments of `toolgate policy test`.
#[derive(Debug, Args)]
#[command(
    after_help = "A case, in TOML or JSON:\n  [[case]]\n  server = \"git\"\n  tool = \"push\"      \
    # or resource = \"URI\", prompt = \"NAME\", method = \"NAME\"\n  expect = \"deny\"    # or \"ask\", or \"allow\"\n  \
    arguments = { force = true }\n  client = \"claude-code\"\n  profile = \"default\"\n  \
    because = \"mcp:git/push\"    # part of the reason\n\n\
    Examples:\n  toolgate policy test policy-cases.toml\n  toolgate policy test cases.json --json"
)]
pub struct PolicyTestArgs {
    /// File with the cases
    file: PathBuf,
}

/// A file with policy cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyCaseFile {
    case: Vec<PolicyCase>,
}

/// One call and its expected decision.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyCase {
    server: String,
    tool: Option<String>,
    resource: Option<String>,
    prompt: Option<String>,
    method: Option<String>,
    #[serde(default)]
    arguments: Map<String, Value>,
    client: Option<String>,
    profile: Option<String>,
    expect: Effect,
    because: Option<String>,
}

/// A case and the decision about it.
struct PolicyCaseResult<'a> {
    number: usize,
    case: &'a PolicyCase,
    explanation: ExplanationJson,
}

impl PolicyCaseResult<'_> {
    fn is_as_expected(&self) -> bool {
        let reason = self.case.because.as_ref();
        self.explanation.effect == self.case.expect.as_str()
            && reason.is_none_or(|reason| self.explanation.because.contains(reason))
    }

    /// Returns the result in its stable JSON form.
    fn to_json(&self) -> Value {
        let ExplanationJson { server, kind, name, effect, because, .. } = &self.explanation;
        json!({
            "case": self.number, "server": server, "kind": kind, "name": name,
            "expected": self.case.expect, "effect": effect, "because": because,
            "holds": self.is_as_expected(),
        })
    }
}

pub async fn run(context: &CliContext, options: &PolicyTestArgs) -> Result<Exit> {
    let PolicyCaseFile { case: cases } = read_cases(&options.file)?;
    let hypothetical =
        cases.iter().enumerate().map(|(at, case)| call_from_case(context, at + 1, case));
    let hypothetical = hypothetical.collect::<Result<Vec<_>, _>>()?;
    let access = ServerAccess::find(context, EmbeddedGatewayOptions::idle()).await?;
    let trying = async {
        let mut tried = Vec::new();
        for ((case, hypothetical), number) in cases.iter().zip(hypothetical).zip(1..) {
            let explained = access.ask(&ControlRequest::Explain(hypothetical)).await;
            let explanation = explained.map_err(|failure: CliError| {
                let message = format!("{failure} (case {number})");
                CliError { message, ..failure }
            })?;
            tried.push(PolicyCaseResult { number, case, explanation });
        }
        Ok(tried)
    };
    let tried: Result<Vec<_>> = trying.await;
    access.close().await;
    print_results(context, &tried?)
}

fn print_results(context: &CliContext, tried: &[PolicyCaseResult<'_>]) -> Result<Exit> {
    let different: Vec<_> = tried.iter().filter(|it| !it.is_as_expected()).collect();
    if context.json {
        out::json(&tried.iter().map(PolicyCaseResult::to_json).collect::<Vec<_>>())?;
    } else if !different.is_empty() {
        let headings = ["CASE", "WHAT", "EXPECTED", "DECIDED", "BECAUSE"];
        let mut table = TextTable::new(&headings).with_states(3);
        for it in &different {
            let expected = it.case.expect.as_str();
            let expected = match &it.case.because {
                Some(reason) => format!("{expected}: {reason}"),
                None => expected.to_owned(),
            };
            let ExplanationJson { server, name, effect, because, .. } = &it.explanation;
            let what = format!("{server}/{name}");
            table.row([&it.number.to_string(), &what, &expected, effect, because]);
        }
        out::data(table.text().as_bytes())?;
    }
    let expected = tried.len() - different.len();
    out::note(&format!("{expected} of {} decided as expected", tried.len()));
    Ok(if different.is_empty() { Exit::Done } else { Exit::Failed })
}

fn read_cases(file: &Path) -> Result<PolicyCaseFile> {
    let named = escape_invisible(&file.display().to_string());
    let wrong = |why: String| {
        cli_error!(PolicyCases, "cannot read the cases in {named}: {why}")
            .hint("run `toolgate policy test --help` to see an example")
    };
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let cases: PolicyCaseFile = match file.extension().is_some_and(|ext| ext == "json") {
        true => serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?,
        false => toml_edit::de::from_str(&text).map_err(|error| wrong(error.to_string()))?,
    };
    match cases.case.is_empty() {
        true => Err(wrong("the file has no cases".to_owned())),
        false => Ok(cases),
    }
}

fn call_from_case(
    context: &CliContext,
    number: usize,
    case: &PolicyCase,
) -> Result<HypotheticalCallJson> {
    let named = [
        ("tool", &case.tool),
        ("resource", &case.resource),
        ("prompt", &case.prompt),
        ("method", &case.method),
    ];
    let mut named = named.into_iter().filter_map(|(kind, name)| Some((kind, name.as_ref()?)));
    let (Some((kind, name)), None) = (named.next(), named.next()) else {
        return Err(cli_error!(PolicyCases, "case {number} does not name exactly one capability")
            .hint("set one of `tool`, `resource`, `prompt` and `method`"));
    };
    let profile = case.profile.as_deref().unwrap_or_else(|| context.profile_or_default());
    Ok(HypotheticalCallJson {
        server: case.server.clone(),
        kind: kind.to_owned(),
        name: name.clone(),
        client: case.client.clone().unwrap_or_else(|| DEFAULT_CLIENT.to_owned()),
        profile: profile.to_owned(),
        arguments: Value::from(case.arguments.clone()).to_string(),
    })
}
