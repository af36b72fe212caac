//! Inserts many rows with few statements.

use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Sqlite, SqliteConnection};

/// An insert statement to which values are bound.
pub(crate) type InsertQuery = Query<'static, Sqlite, SqliteArguments>;

/// The maximum number of rows per statement.
const MOST: usize = 64;

/// The parts of an insert statement for one table.
pub(crate) struct BulkInsert {
    /// `insert into TABLE (COLUMNS) values`.
    pub(crate) head: &'static str,
    /// The number of columns.
    pub(crate) columns: usize,
    /// The SQL after the rows.
    pub(crate) tail: &'static str,
}

impl BulkInsert {
    /// Inserts the rows. `bind` binds the values of a row in the order of the columns.
    pub(crate) async fn run<T>(
        &self,
        connection: &mut SqliteConnection,
        rows: impl ExactSizeIterator<Item = T>,
        bind: fn(InsertQuery, T) -> InsertQuery,
    ) -> sqlx::Result<()> {
        let mut rows = rows;
        while rows.len() > 0 {
            // Use only powers of two, so that SQLite prepares few different statements.
            let count = MOST.min(1 << rows.len().ilog2());
            let mut query = sqlx::query(AssertSqlSafe(self.sql(count)));
            for row in rows.by_ref().take(count) {
                query = bind(query, row);
            }
            query.execute(&mut *connection).await?;
        }
        Ok(())
    }

    fn sql(&self, count: usize) -> String {
        let row = format!("({})", vec!["?"; self.columns].join(","));
        format!("{} {} {}", self.head, vec![row; count].join(","), self.tail)
    }
}
