//! `pack`: the best passages for a task within a number of tokens.

use serde_json::{Value, json};
use toolgate_host::local::{Output, Tool};

use super::{reading, schema};
use crate::arguments::Arguments;
use crate::desk::{Desk, remember, told};
use crate::packing::{self, Packed};
use crate::passage::{NOTICE, Passage, marked};

/// The tokens that are filled where nobody says.
const BUDGET: usize = 4_000;
/// The fewest and the most somebody may want.
const BUDGETS: (usize, usize) = (100, 100_000);

pub(super) fn tool(desk: &Desk) -> Tool {
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
    reading(
        desk,
        &desk.names.tool("pack"),
        "Gather what the user's documents hold for a task: the best passages that fit into a budget \
         of tokens, none saying again what a better one says, numbered for citation ([1], [2], …). \
         Use it before starting work that the user's notes or code may know something about.",
        input,
        |desk, call| async move { run(&desk, &call.arguments).await },
    )
    .title("Pack context for a task")
    .output_schema(output())
}

fn output() -> Value {
    let citation = |schema: Value| {
        let mut schema = schema;
        schema["properties"]["citation"] = schema::whole("What to cite it by: [1], [2], …");
        schema["properties"]["tokens"] = schema::whole("What its text costs, estimated");
        if let Some(required) = schema["required"].as_array_mut() {
            required.extend([json!("citation"), json!("tokens")]);
        }
        schema
    };
    schema::object([
        ("task", schema::text("What is to be done")),
        ("budget", schema::whole("How many tokens the passages might cost")),
        ("tokens", schema::whole("What they cost together, estimated")),
        ("passages", schema::list(citation(schema::passage()), "The passages, best first")),
        schema::notice(),
    ])
}

async fn run(desk: &Desk, arguments: &Value) -> Result<Output, String> {
    let arguments = Arguments(arguments);
    let task = arguments.query("task")?;
    let budget = arguments.number("budget", BUDGETS, BUDGET)?;
    let packed = match desk.library().await? {
        Some(library) => {
            remember(library.clone(), task);
            packing::pack(&library, task, budget).await.map_err(told)?
        }
        None => Packed::default(),
    };
    let notice = match (packed.passages.is_empty(), packed.too_dear) {
        (true, true) => format!("no passage that fits costs less than {budget} tokens"),
        (true, false) => desk.why_nothing().await?,
        (false, _) => NOTICE.to_owned(),
    };
    Ok(output_of(task, budget, packed, &notice))
}

fn output_of(task: &str, budget: usize, packed: Packed, notice: &str) -> Output {
    let (used, mut cited, mut passages) = (packed.tokens, Vec::new(), Vec::new());
    for (picked, number) in packed.passages.into_iter().zip(1..) {
        let passage = Passage::from(picked.hit);
        let mut shown = json!(passage);
        shown["citation"] = json!(number);
        shown["tokens"] = json!(picked.tokens);
        cited.push(shown);
        passages.push(passage);
    }
    let text = match passages.len() {
        0 => notice.to_owned(),
        count => {
            let marked = marked(&passages);
            format!("{count} passages, about {used} of {budget} tokens. {notice}\n\n{marked}")
        }
    };
    let structured = json!({
        "task": task, "budget": budget, "tokens": used, "passages": cited, "notice": notice,
    });
    Output::Both { text, structured }
}
