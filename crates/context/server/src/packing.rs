//! Selects the best passages for a task within a token budget. The callers decide how to show them.

use toolgate_extraction::SourcePassage;
use toolgate_library::{Library, PassageHit};
use toolgate_store::StoreError;

/// The number of candidates. Duplicates are dropped, so there must be more than can fit.
const WIDTH: usize = 200;

/// The passages selected for a task.
#[derive(Debug, Clone, Default)]
pub struct PassagePack {
    /// The passages, best first.
    pub passages: Vec<PackedPassage>,
    /// The estimated cost of all texts, in tokens.
    pub tokens: usize,
    /// True if passages match the task but none fits the budget.
    pub over_budget: bool,
}

/// A selected passage.
#[derive(Debug, Clone)]
pub struct PackedPassage {
    /// The passage.
    pub hit: PassageHit,
    /// The estimated cost of its text, in tokens.
    pub tokens: usize,
}

/// Selects passages for a task that together cost at most `budget` tokens. A passage that repeats a
/// better one is left out.
pub async fn pack(library: &Library, task: &str, budget: usize) -> Result<PassagePack, StoreError> {
    let found = library.search(task, WIDTH).await?;
    let sources: Vec<_> = found.iter().map(source_passage).collect();
    let chosen = toolgate_extraction::pack(task, &sources, budget, &tokens);
    let too_dear = chosen.is_empty() && !found.is_empty();
    let mut found: Vec<_> = found.into_iter().map(Some).collect();
    let mut packed = PassagePack { over_budget: too_dear, ..PassagePack::default() };
    for index in chosen {
        let Some(hit) = found.get_mut(index).and_then(Option::take) else { continue };
        let tokens = tokens(&hit.text);
        packed.tokens += tokens;
        packed.passages.push(PackedPassage { hit, tokens });
    }
    Ok(packed)
}

fn source_passage(
    PassageHit { title, key, heading, text, score, .. }: &PassageHit,
) -> SourcePassage<'_> {
    SourcePassage { title, path: key, heading, text, score: *score }
}

fn tokens(text: &str) -> usize {
    usize::try_from(toolgate_host::tokens(text.as_bytes())).unwrap_or(usize::MAX)
}
