//! The first stage: passages worth reading, by the index's own ranking.
//!
//! Only the rarest words bring candidates, as many as together stand in at most [`TOUCHED`]
//! passages: a word that stands in a tenth of a million passages costs much to go through and tells
//! little. It still counts where the candidates are ranked. Where every word is common, candidates
//! have several of them; and one common word alone is looked for among the newest passages.

use sqlx::SqliteConnection;
use toolgate_reading::Place;

use super::asked::{Weighed, Word};
use super::rank::Candidate;
use crate::context::totals::Totals;
use crate::context::{Hit, Origin, Trust};

/// How many passages the index may touch to rank them.
const TOUCHED: i64 = 8_000;

/// How often a word that is asked again and again counts here.
const REPEATED: usize = 3;

/// How many candidates are read at least.
const READ: usize = 64;

/// The candidates in one row, since each row costs two threads a meeting. What a term weighs in a
/// title, in headings, in a path and in a text is said here; a heading stands in the text too.
const RANKED: &str = "select json_group_array(json_array(json_array(p.id, p.document, \
     p.heading, p.text, p.first, p.last), json_array(d.key, d.folder, d.server, d.uri, d.title, \
     d.modified, d.trusted, d.length))) \
     from (select rowid from terms where terms match $1 and rowid >= $2 \
         and rank match 'bm25(0.5, 0.3, 0.3, 1.0)' order by rank limit $3) best \
     join passages p on p.id = best.rowid join documents d on d.id = p.document";

/// A candidate as a row holds it.
type Row = (
    (i64, i64, String, String, u32, Option<u32>),
    (String, Option<String>, Option<String>, Option<String>, String, i64, u8, i64),
);

/// Where to look for candidates.
#[derive(Debug, PartialEq)]
struct Look {
    /// In the index's own language.
    matching: String,
    /// From which passage on.
    since: i64,
}

/// The candidates, in no order.
pub(super) async fn find(
    connection: &mut SqliteConnection,
    query: &Weighed,
    totals: &Totals,
    limit: usize,
) -> Result<Vec<Candidate>, sqlx::Error> {
    let most = READ.max(limit);
    let mut found: Vec<Candidate> = Vec::new();
    for look in looks(query, totals) {
        if found.len() < most {
            let more = see(connection, look, most).await?;
            let is_known = |hit: &Hit| found.iter().any(|known| known.hit.passage == hit.passage);
            let more: Vec<_> = more.into_iter().filter(|more| !is_known(&more.hit)).collect();
            found.extend(more);
        }
    }
    Ok(found)
}

async fn see(
    connection: &mut SqliteConnection,
    look: Look,
    most: usize,
) -> Result<Vec<Candidate>, sqlx::Error> {
    let most = i64::try_from(most).unwrap_or(i64::MAX);
    let query = sqlx::query_scalar(RANKED).bind(look.matching).bind(look.since).bind(most);
    let found: String = query.fetch_one(connection).await?;
    let rows: Vec<Row> =
        serde_json::from_str(&found).map_err(|error| sqlx::Error::Decode(Box::new(error)))?;
    Ok(rows.into_iter().map(candidate).collect())
}

fn candidate(row: Row) -> Candidate {
    let ((passage, document, heading, text, first, last), of) = row;
    let (key, folder, server, uri, title, modified, trusted, document_length) = of;
    let hit = Hit {
        passage,
        key,
        origin: Origin::read(folder, server, uri),
        title,
        heading,
        text,
        place: last.map_or(Place::Page(first), |last| Place::Lines { first, last }),
        modified,
        trust: if trusted == 0 { Trust::Untrusted } else { Trust::Trusted },
        score: 0.0,
    };
    Candidate { hit, document, document_length }
}

/// Where to look, one after the other until there are enough.
fn looks(query: &Weighed, totals: &Totals) -> Vec<Look> {
    let everywhere =
        |matching: Vec<String>, how: &str| Look { matching: matching.join(how), since: 0 };
    if !query.phrases.is_empty() {
        let phrases = query.phrases.iter().map(|terms| format!("\"{}\"", terms.join(" ")));
        return vec![everywhere(phrases.collect(), " AND ")];
    }
    let bringing = bringing(&query.words);
    if !bringing.is_empty() {
        return vec![everywhere(bringing.iter().map(any).collect(), " OR ")];
    }
    let Some(rarest) = query.words.first() else { return Vec::new() };
    let all_of = together(&query.words, totals.passages).iter();
    let all_of: Vec<String> = all_of.map(|word| format!("({})", any(word))).collect();
    let newest = Look { matching: any(rarest), since: newest(rarest, totals) };
    if all_of.len() > 1 { vec![everywhere(all_of, " AND "), newest] } else { vec![newest] }
}

/// Any form of a word, said as often as it was asked, since the index adds up what is said.
fn any(word: &Word) -> String {
    let quoted: Vec<String> = word.terms.iter().map(|term| format!("\"{term}\"")).collect();
    vec![quoted.join(" OR "); word.times.min(REPEATED)].join(" OR ")
}

/// The words that bring candidates, of words sorted by rarity.
fn bringing(words: &[Word]) -> &[Word] {
    let mut touched = 0;
    let count = words.iter().take_while(|word| {
        touched += word.passages;
        touched <= TOUCHED
    });
    &words[..count.count()]
}

/// So many of the words, the rarest, that few enough passages are likely to have them all.
fn together(words: &[Word], all: i64) -> &[Word] {
    let mut likely = all as f64;
    let count = words.iter().take_while(|word| {
        let still_many = likely > TOUCHED as f64;
        likely *= word.passages as f64 / all.max(1) as f64;
        still_many
    });
    &words[..count.count()]
}

/// From which passage on a word is likely to stand in few enough passages.
fn newest(word: &Word, totals: &Totals) -> i64 {
    let share = (TOUCHED as f64 / word.passages.max(1) as f64).min(1.0);
    totals.next_passage - (totals.next_passage as f64 * share).ceil() as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(term: &str, passages: i64) -> Word {
        Word { terms: vec![term.to_owned()], passages, times: 1, weight: 1.0 }
    }

    fn looked(words: Vec<Word>) -> Vec<Look> {
        let totals = Totals {
            documents: 100_000,
            passages: 1_000_000,
            bytes: 0,
            length: 0,
            next_passage: 1_000_001,
            latest: None,
        };
        looks(&Weighed { words, phrases: Vec::new() }, &totals)
    }

    #[test]
    fn rare_words_bring_candidates_and_common_ones_do_not() {
        let looks = looked(vec![word("rare", 10), word("known", 5_000), word("common", 500_000)]);
        let expected = Look { matching: "\"rare\" OR \"known\"".to_owned(), since: 0 };
        assert_eq!(looks, [expected]);
    }

    #[test]
    fn of_common_words_several_must_be_there() {
        let looks = looked(vec![word("a", 50_000), word("b", 90_000), word("c", 500_000)]);
        assert_eq!(looks[0].matching, "(\"a\") AND (\"b\")");
        assert_eq!((looks[1].matching.as_str(), looks.len()), ("\"a\"", 2));
        assert!(looks[1].since > 800_000, "{looks:?}");
    }

    #[test]
    fn one_common_word_is_looked_for_among_the_newest() {
        let looks = looked(vec![word("a", 500_000)]);
        assert_eq!(looks.len(), 1);
        assert!(looks[0].since > 950_000, "{looks:?}");
        assert!(looked(Vec::new()).is_empty());
    }
}
