//! `policy test`: a table of calls, and what is expected to be decided about each.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::explain::{SOME_CLIENT, ask};
use crate::context::Context;
use crate::control::{Supposed, Told};
use crate::exit::{Exit, Failure};
use crate::out::{self, Table, visible};
use crate::reach::Reach;
use crate::station::Terms;

#[derive(Debug, Args)]
#[command(
    after_help = "A case, in TOML or JSON:\n  [[case]]\n  server = \"git\"\n  tool = \"push\"      \
    # or resource = \"URI\", prompt = \"NAME\", method = \"NAME\"\n  expect = \"deny\"    # or \"ask\", or \"allow\"\n  \
    arguments = { force = true }\n  client = \"claude-code\"\n  profile = \"default\"\n  \
    because = \"mcp:git/push\"    # part of the reason\n\n\
    Examples:\n  toolgate policy test policy-cases.toml\n  toolgate policy test cases.json --json"
)]
pub struct Test {
    /// The file
    file: PathBuf,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    case: Vec<Case>,
}

/// One call, and what is expected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    server: String,
    tool: Option<String>,
    resource: Option<String>,
    prompt: Option<String>,
    method: Option<String>,
    #[serde(default)]
    arguments: Map<String, Value>,
    client: Option<String>,
    profile: Option<String>,
    expect: Expected,
    because: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Expected {
    Allow,
    Ask,
    Deny,
}

impl Expected {
    fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// A case and what came of it.
struct Tried<'a> {
    number: usize,
    case: &'a Case,
    told: Told,
}

impl Tried<'_> {
    fn holds(&self) -> bool {
        let reason = self.case.because.as_ref();
        self.told.effect == self.case.expect.as_str()
            && reason.is_none_or(|reason| self.told.because.contains(reason))
    }

    /// The stable shape.
    fn shape(&self) -> Value {
        let Told { server, kind, name, effect, because, .. } = &self.told;
        json!({
            "case": self.number, "server": server, "kind": kind, "name": name,
            "expected": self.case.expect.as_str(), "effect": effect, "because": because,
            "holds": self.holds(),
        })
    }
}

pub async fn run(context: &Context, options: &Test) -> Result<Exit, Failure> {
    let Cases { case: cases } = read(&options.file)?;
    let supposed = cases.iter().enumerate().map(|(at, case)| supposed(context, at + 1, case));
    let supposed = supposed.collect::<Result<Vec<_>, _>>()?;
    let reach = Reach::find(context, Terms { idle: true, ..Terms::default() }).await?;
    let mut tried = Vec::new();
    let mut failed = None;
    for ((case, supposed), number) in cases.iter().zip(&supposed).zip(1..) {
        match ask(&reach, supposed).await {
            Ok(told) => tried.push(Tried { number, case, told }),
            Err(failure) => {
                failed =
                    Some(Failure { what: format!("{} (case {number})", failure.what), ..failure });
                break;
            }
        }
    }
    reach.close().await;
    match failed {
        Some(failure) => Err(failure),
        None => tell(context, &tried),
    }
}

fn tell(context: &Context, tried: &[Tried<'_>]) -> Result<Exit, Failure> {
    let different: Vec<_> = tried.iter().filter(|it| !it.holds()).collect();
    if context.json {
        out::json(&tried.iter().map(Tried::shape).collect::<Vec<_>>())?;
    } else if !different.is_empty() {
        let mut table = Table::new(&["CASE", "WHAT", "EXPECTED", "DECIDED", "BECAUSE"]);
        for it in &different {
            let expected = match &it.case.because {
                Some(reason) => format!("{}: {}", it.case.expect.as_str(), visible(reason)),
                None => it.case.expect.as_str().to_owned(),
            };
            table.row([
                it.number.to_string(),
                format!("{}/{}", visible(&it.told.server), visible(&it.told.name)),
                expected,
                it.told.effect.clone(),
                visible(&it.told.because),
            ]);
        }
        out::data(table.text().as_bytes())?;
    }
    out::note(&format!("{} of {} decided as expected", tried.len() - different.len(), tried.len()));
    Ok(if different.is_empty() { Exit::Done } else { Exit::Failed })
}

fn read(file: &Path) -> Result<Cases, Failure> {
    let named = visible(&file.display().to_string());
    let wrong = |why: String| {
        Failure::usage(format!("read the cases in {named}: {why}"))
            .hint("`toolgate policy test --help` shows a case")
    };
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let cases: Cases = match file.extension().is_some_and(|ext| ext == "json") {
        true => serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?,
        false => toml_edit::de::from_str(&text).map_err(|error| wrong(error.to_string()))?,
    };
    match cases.case.is_empty() {
        true => Err(wrong("there is none".to_owned())),
        false => Ok(cases),
    }
}

fn supposed(context: &Context, number: usize, case: &Case) -> Result<Supposed, Failure> {
    let named = [
        ("tool", &case.tool),
        ("resource", &case.resource),
        ("prompt", &case.prompt),
        ("method", &case.method),
    ];
    let mut named = named.into_iter().filter_map(|(kind, name)| Some((kind, name.as_ref()?)));
    let (Some((kind, name)), None) = (named.next(), named.next()) else {
        return Err(Failure::usage(format!("understand case {number}"))
            .hint("it names one of `tool`, `resource`, `prompt` and `method`"));
    };
    let profile = case.profile.as_deref().unwrap_or_else(|| context.seeing());
    Ok(Supposed {
        server: case.server.clone(),
        kind: kind.to_owned(),
        name: name.clone(),
        client: case.client.clone().unwrap_or_else(|| SOME_CLIENT.to_owned()),
        profile: profile.to_owned(),
        arguments: Value::from(case.arguments.clone()).to_string(),
    })
}
