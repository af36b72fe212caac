//! The file itself: reopened, shared, damaged, too new, and made by another version.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::Connection as _;
use toolgate_library::Library;
use toolgate_store::StoreError;

use crate::{file, forget_folder, found, fresh_library};

#[tokio::test]
async fn it_is_there_after_a_restart() {
    let home = fresh_library().await;
    home.library.keep(vec![file("/notes/a.md", "A", &["lighthouse"])]).await.unwrap();
    home.library.remember_query("lighthouse keeper").await.unwrap();
    let path = home.library.path().to_owned();
    home.library.close().await;
    let library = Library::open(path).await.unwrap();
    assert_eq!(found(&library, "lighthouses").await, ["/notes/a.md"]);
    assert_eq!(library.complete("light", 5).await.unwrap(), ["lighthouse keeper"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_go_on_while_much_is_kept_and_see_whole_documents() {
    let home = fresh_library().await;
    let reader = Library::open(home.library.path()).await.unwrap();
    let ended = Arc::new(AtomicBool::new(false));
    let searching = tokio::spawn({
        let (ended, same) = (ended.clone(), home.library.clone());
        async move {
            let mut searches = 0;
            while !ended.load(Ordering::Relaxed) {
                for library in [&reader, &same] {
                    let hits = library.search("albatross", 1000).await.unwrap();
                    assert_eq!(hits.len() % 3, 0, "a document has three passages");
                    searches += 1;
                }
            }
            searches
        }
    });
    for batch in 0..20 {
        let documents = (0..10).map(|number| {
            file(
                &format!("/notes/{batch}/{number}.md"),
                "Bird",
                &["albatross", "albatross", "an albatross"],
            )
        });
        home.library.keep(documents.collect()).await.unwrap();
        if batch % 5 == 4 {
            forget_folder(&home.library, &format!("/notes/{batch}")).await;
        }
    }
    ended.store(true, Ordering::Relaxed);
    assert!(searching.await.unwrap() > 0);
    assert_eq!(home.library.status().await.unwrap().documents, 160);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_may_create_and_write_it_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("context.db");
    let writers: Vec<_> = (0..6)
        .map(|writer| {
            let path = path.clone();
            tokio::spawn(async move {
                let library = Library::open(path).await.unwrap();
                for number in 0..10 {
                    let key = format!("/notes/{writer}/{number}.md");
                    library.keep(vec![file(&key, "T", &["same word"])]).await.unwrap();
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let library = Library::open(path).await.unwrap();
    assert_eq!(library.status().await.unwrap().documents, 60);
    assert_eq!(library.search("word", 1000).await.unwrap().len(), 60);
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_by_name_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("context.db");
    let garbage = b"this is not a database at all ".repeat(100);
    std::fs::write(&path, &garbage).unwrap();
    let error = Library::open(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("context.db"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), garbage);
}

#[tokio::test]
async fn damage_inside_is_reported_as_such() {
    let home = fresh_library().await;
    let text = "some text that fills pages ".repeat(40);
    let documents = (0..200).map(|number| file(&format!("/notes/{number}.md"), "T", &[&text]));
    home.library.keep(documents.collect()).await.unwrap();
    let path = home.library.path().to_owned();
    home.library.close().await;
    let mut bytes = std::fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0xff);
    std::fs::write(&path, &bytes).unwrap();
    let outcome = match Library::open(&path).await {
        Ok(library) => {
            let mut outcome = library.search("text", 100).await.map(drop);
            for number in 0..200 {
                let read =
                    library.document_passages(&format!("/notes/{number}.md")).await.map(drop);
                outcome = outcome.and(read);
            }
            outcome
        }
        Err(error) => Err(error),
    };
    assert!(matches!(outcome, Err(StoreError::Damaged { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused_by_name() {
    let home = fresh_library().await;
    let path = home.library.path().to_owned();
    home.library.close().await;
    change(&path, "insert into _sqlx_migrations \
         (version, description, success, checksum, execution_time) values (999, 'later', 1, x'00', 0)")
        .await;
    let error = Library::open(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 999, .. }), "{error:?}");
}

#[tokio::test]
async fn an_index_of_other_terms_is_made_anew() {
    let home = fresh_library().await;
    let documents = vec![
        file("/notes/a.md", "Albatross", &["wings", "over the sea"]),
        file("/notes/b.md", "Bear", &["paws"]),
    ];
    home.library.keep(documents).await.unwrap();
    let before = home.library.search("wings sea", 10).await.unwrap();
    let path = home.library.path().to_owned();
    home.library.close().await;
    // The state that another version would leave, with terms that no query contains.
    change(&path, "insert into terms (terms) values ('delete-all')").await;
    change(&path, "insert into terms (rowid, body) values (1, 'flugel')").await;
    change(&path, "update frequencies set passages = 77; update documents set length = 77").await;
    change(&path, "update totals set terms = 0, length = 77").await;
    let library = Library::open(&path).await.unwrap();
    assert!(found(&library, "flugel").await.is_empty());
    let after = library.search("wings sea", 10).await.unwrap();
    let shape = |hits: &[toolgate_library::PassageHit]| -> Vec<(i64, String)> {
        hits.iter().map(|hit| (hit.passage, format!("{:.6}", hit.score))).collect()
    };
    assert_eq!(shape(&after), shape(&before));
    library.forget(&["/notes/a.md".into()]).await.unwrap();
    assert!(found(&library, "wings").await.is_empty());
    assert_eq!(found(&library, "paws").await, ["/notes/b.md"]);
}

async fn change(path: &std::path::Path, sql: &'static str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let mut connection = sqlx::SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_place_that_cannot_hold_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = Library::open(folder.path().join("missing/context.db")).await.unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn its_files_are_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = fresh_library().await;
    home.library.keep(vec![file("/notes/a.md", "A", &["x"])]).await.unwrap();
    found(&home.library, "x").await;
    for file in std::fs::read_dir(home.folder.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.file_name());
    }
}
