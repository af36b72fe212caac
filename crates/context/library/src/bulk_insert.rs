//! Inserts many rows with few statements.

use sqlx::query_builder::Separated;
use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

/// The values of one row.
pub(crate) type InsertRow<'q> = Separated<'q, Sqlite, &'static str>;

/// The maximum number of rows per statement.
const MOST: usize = 64;

/// Inserts rows. `head` is `insert into TABLE (COLUMNS)`, and `tail` follows the rows. The numbers
/// of rows are powers of two, so that there are few statements, which stay prepared.
pub(crate) async fn bulk_insert<T>(
    connection: &mut SqliteConnection,
    (head, tail): (&str, &'static str),
    rows: Vec<T>,
    push: fn(InsertRow<'_>, T),
) -> sqlx::Result<()> {
    let mut rows = rows.into_iter();
    while rows.len() > 0 {
        let count = MOST.min(1 << rows.len().ilog2());
        let mut query = QueryBuilder::new(head);
        query.push_values(rows.by_ref().take(count), push).push(tail);
        query.build().execute(&mut *connection).await?;
    }
    Ok(())
}
