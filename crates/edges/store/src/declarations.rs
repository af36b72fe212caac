//! What is known about single declarations: the detected era, and how often a server with an unknown
//! catalog was started.

use std::time::SystemTime;

use sqlx::Row as _;
use sqlx::sqlite::SqliteRow;
use toolgate_model::Digest;
use toolgate_wire::Era;

use crate::columns::{self, malformed};
use crate::sqlite::now_millis;
use crate::{StateStore, StoreError};

/// The maximum number of declarations with an era, and with a count. The oldest are deleted first:
/// their era is detected again, and their count starts again at zero.
const KEPT: i64 = 1024;

const SAVE_ERA: &str = "insert into eras (spec, era, found_at) values ($1, $2, $3) \
     on conflict (spec) do update set era = excluded.era, found_at = excluded.found_at";

const PRUNE_ERAS: &str = "delete from eras where spec not in \
     (select spec from eras order by found_at desc, spec limit $1)";

const COUNT_ATTEMPT: &str = "insert into attempts (spec, tries, tried_at) values ($1, 1, $2) \
     on conflict (spec) do update set tries = attempts.tries + 1, tried_at = excluded.tried_at \
     returning tries";

const PRUNE_ATTEMPTS: &str = "delete from attempts where spec not in \
     (select spec from attempts order by tried_at desc, spec limit $1)";

/// A stored era.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DetectedEra {
    /// The era.
    pub era: Era,
    /// When it was detected.
    pub found_at: SystemTime,
}

impl StateStore {
    /// Stores the detected era of a server that is declared as `spec`. `None` deletes it.
    pub async fn save_era(&self, spec: &Digest, era: Option<Era>) -> Result<(), StoreError> {
        let Some(era) = era else {
            let query = sqlx::query("delete from eras where spec = $1").bind(spec.to_string());
            return self.execute("delete an era", query).await.map(drop);
        };
        let save = async {
            let mut transaction = self.begin().await?;
            let query = sqlx::query(SAVE_ERA).bind(spec.to_string()).bind(era_name(era));
            query.bind(now_millis()).execute(&mut *transaction).await?;
            sqlx::query(PRUNE_ERAS).bind(KEPT).execute(&mut *transaction).await?;
            transaction.commit().await
        };
        self.run("store an era", save).await
    }

    /// Returns the last detected era. The caller decides how long it is valid.
    pub async fn era(&self, spec: &Digest) -> Result<Option<DetectedEra>, StoreError> {
        let read = |row: &SqliteRow| {
            let era: &str = row.try_get("era")?;
            let known = [Era::Legacy, Era::Modern].into_iter().find(|it| era_name(*it) == era);
            let unknown = || malformed(format!("unknown era {era:?}"));
            let era = known.ok_or_else(unknown)?;
            Ok(DetectedEra { era, found_at: columns::time(row, "found_at")? })
        };
        let query = sqlx::query("select era, found_at from eras where spec = $1");
        self.find("read an era", query.bind(spec.to_string()), read).await
    }

    /// Counts an attempt to start a server that is declared as `spec`. Returns the number of
    /// earlier attempts.
    pub async fn count_attempt(&self, spec: &Digest) -> Result<u32, StoreError> {
        let count = async {
            let mut transaction = self.begin().await?;
            let query = sqlx::query_scalar::<_, i64>(COUNT_ATTEMPT).bind(spec.to_string());
            let tries = query.bind(now_millis()).fetch_one(&mut *transaction).await?;
            sqlx::query(PRUNE_ATTEMPTS).bind(KEPT).execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(u32::try_from(tries - 1).unwrap_or(u32::MAX))
        };
        self.run("count an attempt", count).await
    }
}

fn era_name(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}
