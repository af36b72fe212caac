//! The prompt `summarize_local_context`: what was found, for a model to sum up.

use toolgate_host::local::{Fault, Message, Prompt, Values};

use super::completion;
use crate::arguments::{query, typed_limit};
use crate::desk::{Desk, Found};
use crate::passage::{line, marked};

/// Its name on both faces, whatever tools are called.
const NAME: &str = "summarize_local_context";

pub(super) fn summarize(desk: &Desk) -> Prompt {
    let (filling, completing) = (desk.clone(), desk.clone());
    Prompt::new(
        NAME,
        "Sum up what the user's own documents say about something, with citations",
        move |given| fill(filling.clone(), given),
    )
    .title("Summarize local context")
    .argument("query", "What to look for, in the user's words", true)
    .argument("limit", "How many passages to use, 1 to 50; 8 if not given", false)
    .complete("query", move |typed| completion::query(completing.clone(), typed))
    .complete("limit", |typed| async move { Ok::<_, Fault>(completion::limit(&typed.value)) })
}

async fn fill(desk: Desk, given: Values) -> Result<Vec<Message>, Fault> {
    let asked = given.get("query").map(String::as_str).unwrap_or_default();
    let asked = query("query", asked).map_err(Fault::Invalid)?;
    let limit = typed_limit(given.get("limit").map(String::as_str)).map_err(Fault::Invalid)?;
    let found = desk.find(asked, limit).await?;
    Ok(vec![Message::user(task(asked, &found)), Message::user(passages(&found))])
}

fn task(query: &str, found: &Found) -> String {
    let query = line(query);
    match found.passages.len() {
        0 => format!(
            "I asked for a summary of what my documents say about \"{query}\". The next message says \
             why there is none. Tell me so, and do not make one up."
        ),
        count => format!(
            "Sum up what my documents say about \"{query}\". The next message holds the {count} \
             passages that fit best, numbered. Use nothing else. Cite the passages you use by number, \
             like [1]. Say what they leave open, and where they disagree."
        ),
    }
}

fn passages(found: &Found) -> String {
    let notice = found.notice();
    match found.passages.len() {
        0 => notice,
        _ => format!("{notice}\n\n{}", marked(&found.passages)),
    }
}
