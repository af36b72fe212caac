//! Many rows with few statements.

use sqlx::query::Query;
use sqlx::sqlite::SqliteArguments;
use sqlx::{AssertSqlSafe, Sqlite, SqliteConnection};

/// A statement whose values are being bound.
pub(super) type Binding = Query<'static, Sqlite, SqliteArguments>;

/// How many rows one statement inserts at most.
const MOST: usize = 64;

/// Which rows go where.
pub(super) struct Insert {
    /// `insert into TABLE (COLUMNS) values`.
    pub(super) head: &'static str,
    /// How many columns a row has.
    pub(super) columns: usize,
    /// What follows the rows.
    pub(super) tail: &'static str,
}

impl Insert {
    /// Inserts the rows, whose values `bind` gives in the order of the columns.
    pub(super) async fn run<T>(
        &self,
        connection: &mut SqliteConnection,
        rows: impl ExactSizeIterator<Item = T>,
        bind: fn(Binding, T) -> Binding,
    ) -> Result<(), sqlx::Error> {
        let mut rows = rows;
        while rows.len() > 0 {
            // Powers of two only, so that few statements are ever prepared.
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
