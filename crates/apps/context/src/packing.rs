//! The best passages for a task within a number of tokens, as they are kept. How they are shown, and
//! to whom, is for the faces to know.

use toolgate_gleaning::Leaf;
use toolgate_store::StoreError;
use toolgate_store::context::{Hit, Library};

/// How many passages are looked at. Those that say the same go, so there must be more than fit.
const WIDTH: usize = 200;

/// What was chosen for a task.
#[derive(Debug, Clone, Default)]
pub struct Packed {
    /// The passages, best first.
    pub passages: Vec<Picked>,
    /// What their texts cost together, in tokens.
    pub tokens: usize,
    /// Whether something fits the task that did not fit the budget alone.
    pub too_dear: bool,
}

/// A passage that was chosen.
#[derive(Debug, Clone)]
pub struct Picked {
    /// The passage.
    pub hit: Hit,
    /// What its text costs, in tokens, estimated.
    pub tokens: usize,
}

/// Chooses passages for a task that cost no more than `budget` tokens together, none of which says
/// again what a better one says.
pub async fn pack(library: &Library, task: &str, budget: usize) -> Result<Packed, StoreError> {
    let found = library.search(task, WIDTH).await?;
    let chosen = toolgate_gleaning::pack(task, &leaves(&found), budget, &tokens);
    let too_dear = chosen.is_empty() && !found.is_empty();
    let mut found: Vec<_> = found.into_iter().map(Some).collect();
    let mut packed = Packed { too_dear, ..Packed::default() };
    for index in chosen {
        let Some(hit) = found.get_mut(index).and_then(Option::take) else { continue };
        let tokens = tokens(&hit.text);
        packed.tokens += tokens;
        packed.passages.push(Picked { hit, tokens });
    }
    Ok(packed)
}

fn leaves(hits: &[Hit]) -> Vec<Leaf<'_>> {
    hits.iter().map(leaf).collect()
}

fn leaf(Hit { title, key, heading, text, score, .. }: &Hit) -> Leaf<'_> {
    Leaf { title, path: key, heading, text, score: *score }
}

fn tokens(text: &str) -> usize {
    usize::try_from(toolgate_host::tokens(text.as_bytes())).unwrap_or(usize::MAX)
}
