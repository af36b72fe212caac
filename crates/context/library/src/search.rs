//! Searches the library: the index returns candidates, and this module reads and ranks them.
//!
//! The work is bounded for every query and every library size: the number of terms, of candidates
//! (see `index_queries`) and of passages to read is limited.

mod candidates;
mod feedback;
mod index_queries;
mod library_query;
mod rank;
mod selection;
mod term_matches;

use crate::{Library, LibraryResult, PassageHit, frequencies, totals};
use library_query::LibraryQuery;
use rank::AverageLengths;
use term_matches::TermMatcher;

/// The maximum number of hits.
const MOST: usize = 1000;

impl Library {
    /// Returns the best passages, best first. A phrase in double quotes must occur literally,
    /// unless the rest of the query is a whole sentence. No other character has a special meaning.
    pub async fn search(&self, query: &str, limit: usize) -> LibraryResult<Vec<PassageHit>> {
        let query = LibraryQuery::parse(query);
        let limit = limit.min(MOST);
        if query.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        self.run("search the local context", run_search(self, query, limit)).await
    }
}

async fn run_search(
    library: &Library,
    query: LibraryQuery,
    limit: usize,
) -> sqlx::Result<Vec<PassageHit>> {
    // In one transaction all queries read the same state of the file.
    let mut reader = library.readers.begin().await?;
    let totals = totals::read(&mut reader).await?;
    let usual = AverageLengths::new(&totals);
    let known = frequencies::load_frequencies(&mut reader, query.terms()).await?;
    let query = query.into_weighted(&known, totals.passages);
    let candidates = candidates::find(&mut reader, &query, &totals, limit).await?;
    let mut matcher = TermMatcher::new(&query.words);
    let mut read = rank::rank_candidates(candidates, &mut matcher, &query, &usual);
    let named = feedback::find_feedback_terms(&read, &matcher, &usual);
    let known =
        frequencies::load_frequencies(&mut reader, named.iter().map(|named| &*named.term)).await?;
    drop(reader);
    let asked = query.words.iter().map(|word| word.times as f64).sum();
    feedback::add_feedback(
        (&mut read, &matcher),
        named,
        (&known, totals.passages),
        (asked, &usual),
    );
    Ok(selection::select_best(read, limit))
}
