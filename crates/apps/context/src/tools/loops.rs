//! `open_loops`: open tasks, unanswered questions, promises.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};
use toolgate_gleaning::{Kind, OpenLoop, open_loops};
use toolgate_host::local::{Output, Tool};

use super::scope::{self, Scope};
use super::{reading, schema};
use crate::cite::{Quote, leaves, listed, words};
use crate::desk::Desk;

pub(super) fn tool(desk: &Desk) -> Tool {
    reading(
        desk,
        &desk.names.tool("open_loops"),
        "Find what is still open in the user's documents: tasks not done, questions nobody answered, \
         promises somebody made, with owner and due date where they are stated, each in the words of \
         the document and cited.",
        scope::input("open things"),
        |desk, call| async move { run(&desk, &call.arguments).await },
    )
    .title("Find open loops")
    .output_schema(output())
}

fn output() -> Value {
    let mut open = schema::quote();
    open.extend([
        ("kind", schema::one_of(&["task", "question", "promise"], "What kind of thing is open")),
        ("owner", schema::stated("Whose it is, where that is stated")),
        ("due", schema::stated("When it is due, in the words it is stated in")),
        ("date", schema::stated("The same as YYYY-MM-DD, where a whole date is stated")),
    ]);
    scope::output(("loops", schema::list(schema::object(open), "What is open")))
}

/// Something that is open.
#[derive(Debug, Clone, Serialize)]
struct Open {
    #[serde(flatten)]
    quote: Quote,
    kind: &'static str,
    owner: Option<String>,
    due: Option<String>,
    date: Option<String>,
}

impl Open {
    fn of(open: OpenLoop, scope: &Scope) -> Option<Self> {
        Some(Self {
            quote: Quote::of(open.span, &scope.passages)?,
            kind: match open.kind {
                Kind::Task => "task",
                Kind::Question => "question",
                Kind::Promise => "promise",
            },
            owner: open.owner.and_then(|it| words(it, &scope.passages)),
            due: open.due.and_then(|it| words(it, &scope.passages)),
            date: open.date,
        })
    }

    /// What is known of it beside its words.
    fn known(&self) -> String {
        let mut known = self.kind.to_owned();
        for (what, stated) in [("owner", &self.owner), ("due", &self.due), ("date", &self.date)] {
            if let Some(stated) = stated {
                // Writing to a String cannot fail.
                let _ = write!(known, "; {what}: {stated}");
            }
        }
        known
    }
}

async fn run(desk: &Desk, arguments: &Value) -> Result<Output, String> {
    let scope = Scope::of(desk, arguments).await?;
    let found = open_loops(&leaves(&scope.passages));
    let total = found.len();
    let open: Vec<_> =
        found.into_iter().take(scope.limit).filter_map(|it| Open::of(it, &scope)).collect();
    let notice = scope.notice(total, "open loops");
    let quotes: Vec<_> = open.iter().map(|it| (&it.quote, it.known())).collect();
    let text = listed(&notice, &quotes);
    let structured = json!({
        "loops": open, "scope": scope.kind, "looked_at": scope.passages.len(), "total": total,
        "notice": notice,
    });
    Ok(Output::Both { text, structured })
}
