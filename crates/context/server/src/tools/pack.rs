//! `pack`: the best passages for a task within a token budget.

use serde_json::{Value, json};
use toolgate_host::local::{Tool, ToolOutput};

use super::{read_only_tool, schema};
use crate::arguments::ToolArguments;
use crate::packing::{self, PassagePack};
use crate::passage::{NOTICE, QuotedPassage, format_passages};
use crate::service::{ContextService, describe_error, record_query};

/// The default budget in tokens.
const BUDGET: usize = 4_000;
/// The minimum and maximum budget in tokens.
const BUDGETS: (usize, usize) = (100, 100_000);

pub(super) fn tool(service: &ContextService) -> Tool {
    let (least, most) = BUDGETS;
    let budget = json!({
        "type": "integer", "minimum": least, "maximum": most, "default": BUDGET,
        "description": format!("How many tokens the passages may cost together; {BUDGET} if not given"),
    });
    let input = schema::arguments(
        [
            ("task", schema::query("What is to be done, in a sentence or a few words")),
            ("budget", budget),
        ],
        &["task"],
    );
    read_only_tool(
        service,
        &service.names.tool_name("pack"),
        "Gather what the user's documents hold for a task: the best passages that fit into a budget \
         of tokens, none saying again what a better one says, numbered for citation ([1], [2], …). \
         Use it before starting work that the user's notes or code may know something about.",
        input,
        |service, call| async move { run(&service, &call.arguments).await },
    )
    .title("Pack context for a task")
    .output_schema(output())
}

fn output() -> Value {
    let mut passage = schema::passage_members();
    passage.push(("citation", schema::integer("What to cite it by: [1], [2], …")));
    passage.push(("tokens", schema::integer("What its text costs, estimated")));
    let passages = schema::list(schema::object(passage), "The passages, best first");
    schema::object([
        ("task", schema::text("What is to be done")),
        ("budget", schema::integer("The token budget")),
        ("tokens", schema::integer("The estimated tokens of all passages")),
        ("passages", passages),
        schema::notice(),
    ])
}

async fn run(service: &ContextService, arguments: &Value) -> Result<ToolOutput, String> {
    let arguments = ToolArguments(arguments);
    let task = arguments.query("task")?;
    let budget = arguments.number("budget", BUDGETS, BUDGET)?;
    let packed = match service.library().await? {
        Some(library) => {
            record_query(library.clone(), task);
            packing::pack(&library, task, budget).await.map_err(describe_error)?
        }
        None => PassagePack::default(),
    };
    let notice = match (packed.passages.is_empty(), packed.over_budget) {
        (true, true) => format!("every matching passage costs more than {budget} tokens"),
        (true, false) => service.no_match_notice().await?,
        (false, _) => NOTICE.to_owned(),
    };
    Ok(output_of(task, budget, packed, &notice))
}

fn output_of(task: &str, budget: usize, packed: PassagePack, notice: &str) -> ToolOutput {
    let (used, mut cited, mut passages) = (packed.tokens, Vec::new(), Vec::new());
    for (picked, number) in packed.passages.into_iter().zip(1..) {
        let passage = QuotedPassage::from(picked.hit);
        let mut shown = json!(passage);
        shown["citation"] = json!(number);
        shown["tokens"] = json!(picked.tokens);
        cited.push(shown);
        passages.push(passage);
    }
    let text = match passages.len() {
        0 => notice.to_owned(),
        count => {
            let marked = format_passages(&passages);
            format!("{count} passages, about {used} of {budget} tokens. {notice}\n\n{marked}")
        }
    };
    let structured = json!({
        "task": task, "budget": budget, "tokens": used, "passages": cited, "notice": notice,
    });
    ToolOutput::Both { text, structured }
}
