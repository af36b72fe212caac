//! The prompt `summarize_local_context`: passages for a model to summarize.

use toolgate_host::local::{ArgumentValues, HandlerError, Prompt, PromptMessage};

use super::{completion, search_given};
use crate::passage::single_line;
use crate::service::{ContextService, PassageSearchResult};

/// The name of the prompt on both servers, whatever the naming style of the tools.
const NAME: &str = "summarize_local_context";

pub(super) fn summarize(service: &ContextService) -> Prompt {
    let (filling, completing) = (service.clone(), service.clone());
    Prompt::new(
        NAME,
        "Sum up what the user's own documents say about something, with citations",
        move |given| fill(filling.clone(), given),
    )
    .title("Summarize local context")
    .argument("query", "What to look for, in the user's words", true)
    .argument("limit", "How many passages to use, 1 to 50; 8 if not given", false)
    .complete("query", move |typed| completion::query(completing.clone(), typed))
    .complete("limit", |typed| async move {
        Ok::<_, HandlerError>(completion::limit(&typed.value))
    })
}

async fn fill(
    service: ContextService,
    given: ArgumentValues,
) -> Result<Vec<PromptMessage>, HandlerError> {
    let (asked, found) = search_given(&service, &given).await?;
    Ok(vec![PromptMessage::user(task(asked, &found)), PromptMessage::user(found.to_text())])
}

fn task(query: &str, found: &PassageSearchResult) -> String {
    let query = single_line(query);
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
