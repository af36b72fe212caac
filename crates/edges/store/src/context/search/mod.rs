//! Searching: the index names candidates, and those are read and ranked here.
//!
//! The work is bounded whatever is asked and however much there is: a query has so many terms, they
//! bring so many candidates (see `looks`), and so many of those are read.

mod asked;
mod candidates;
mod chosen;
mod feedback;
mod looks;
mod rank;
mod sighting;

use super::{Hit, Library, frequencies, totals};
use crate::StoreError;
use asked::Query;
use rank::Usual;
use sighting::Lookout;

/// How many hits a search gives at most.
const MOST: usize = 1000;

pub(super) async fn search(
    library: &Library,
    query: &str,
    limit: usize,
) -> Result<Vec<Hit>, StoreError> {
    let query = Query::parse(query);
    let limit = limit.min(MOST);
    if query.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let found = found(library, query, limit).await;
    found.map_err(|source| library.failed("search the local context", source))
}

async fn found(library: &Library, query: Query, limit: usize) -> Result<Vec<Hit>, sqlx::Error> {
    // One transaction: everything is read from one state of the file.
    let mut reader = library.readers().begin().await?;
    let totals = totals::read(&mut reader).await?;
    let usual = Usual::new(&totals);
    let known = frequencies::of(&mut reader, query.terms()).await?;
    let query = query.weighed(&known, totals.passages);
    let candidates = candidates::find(&mut reader, &query, &totals, limit).await?;
    let mut lookout = Lookout::new(&query.words);
    let mut read = rank::weigh(candidates, &mut lookout, &query, &usual);
    let named = feedback::named(&read, &lookout, &usual);
    let known = frequencies::of(&mut reader, named.iter().map(|named| &*named.term)).await?;
    drop(reader);
    let asked = query.words.iter().map(|word| word.times as f64).sum();
    feedback::add((&mut read, &lookout), named, (&known, totals.passages), (asked, &usual));
    Ok(chosen::best(read, limit))
}
