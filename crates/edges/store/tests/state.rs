//! State that survives: reopened, shared, killed, damaged and too new.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use std::path::Path;
use std::sync::Arc;

use toolgate_model::{Catalog, CodedError as _, Definition, Digest, ServerName};
use toolgate_store::{ConsentSet, StateStore, StoreError};
use toolgate_wire::{Era, Revision};

fn name(text: &str) -> ServerName {
    ServerName::new(text).unwrap()
}

fn digest(text: &str) -> Digest {
    Digest::of_parts([text.as_bytes()])
}

fn definition(name: &str, raw: &'static str) -> Definition {
    Definition { name: name.into(), raw: raw.into() }
}

fn catalog() -> Catalog {
    Catalog {
        capabilities: r#"{"tools":{},"x-unknown":1.50}"#.into(),
        server_info: r#"{"name":"ü","version":"1"}"#.into(),
        instructions: Some("Be \"careful\"\n".into()),
        tools: vec![
            definition("b", "{\"name\":\"b\", \"n\": 1e3 }"),
            definition("a", r#"{"name":"a","inputSchema":{}}"#),
        ],
        resources: vec![definition("file:///x", r#"{"uri":"file:///x"}"#)],
        templates: vec![definition("file:///{y}", r#"{"uriTemplate":"file:///{y}"}"#)],
        prompts: vec![definition("p", r#"{"name":"p"}"#)],
        ..Catalog::empty(Revision::V2025_06_18)
    }
}

async fn open(folder: &Path) -> Result<StateStore, StoreError> {
    StateStore::open(folder.join("state.db")).await
}

#[tokio::test]
async fn an_era_is_that_of_one_declaration_until_it_is_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await.unwrap();
    let (one, two) = (digest("one"), digest("two"));
    state.save_era(&one, Some(Era::Modern)).await.unwrap();
    state.save_era(&one, Some(Era::Legacy)).await.unwrap();
    state.save_era(&two, Some(Era::Modern)).await.unwrap();
    state.close().await;

    let state = open(folder.path()).await.unwrap();
    let found = state.era(&one).await.unwrap().unwrap();
    assert_eq!(found.era, Era::Legacy);
    assert!(found.found_at.elapsed().unwrap() < std::time::Duration::from_secs(60));
    state.save_era(&one, None).await.unwrap();
    assert_eq!(state.era(&one).await.unwrap(), None);
    assert_eq!(state.era(&two).await.unwrap().unwrap().era, Era::Modern);
    assert_eq!(state.era(&digest("three")).await.unwrap(), None);
}

#[tokio::test]
async fn a_consent_holds_for_what_was_shown_and_nothing_else() {
    let state: Arc<StateStore> = Arc::new(StateStore::in_memory().await.unwrap());
    state.give_consent(&name("git"), &digest("one"), "npx git").await.unwrap();
    state.give_consent(&name("git"), &digest("one"), "npx git, again").await.unwrap();
    state.give_consent(&name("git"), &digest("two"), "npx git --other").await.unwrap();
    let consents = state.consents().await.unwrap();
    assert_eq!(consents.len(), 2);
    assert!(consents.iter().any(|consent| consent.shown == "npx git, again"));

    let set: ConsentSet = consents.into_iter().collect();
    assert!(
        set.contains(&name("git"), &digest("one")) && set.contains(&name("git"), &digest("two"))
    );
    assert!(!set.contains(&name("git"), &digest("three")));
    assert!(!set.contains(&name("other"), &digest("one")));
    assert!(state.revoke_consents(&name("git")).await.unwrap());
    assert!(!state.revoke_consents(&name("git")).await.unwrap());
    assert_eq!(state.consents().await.unwrap(), []);
}

#[tokio::test]
async fn a_catalog_comes_back_byte_for_byte_after_reopening() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await.unwrap();
    state.save_catalog(&name("git"), &digest("spec"), &catalog()).await.unwrap();
    state.close().await;

    let state = open(folder.path()).await.unwrap();
    let saved = state.catalog(&name("git"), &digest("spec")).await.unwrap().unwrap();
    assert_eq!(saved.catalog, catalog());
    assert!(saved.saved_at.elapsed().unwrap().as_secs() < 60);
    assert_eq!(state.catalog(&name("git"), &digest("other")).await.unwrap(), None);
    assert_eq!(state.catalog(&name("hg"), &digest("spec")).await.unwrap(), None);
}

#[tokio::test]
async fn a_newer_catalog_replaces_the_older_whole() {
    let state = StateStore::in_memory().await.unwrap();
    state.save_catalog(&name("git"), &digest("spec"), &catalog()).await.unwrap();
    let empty = Catalog::empty(Revision::V2024_11_05);
    state.save_catalog(&name("git"), &digest("spec"), &empty).await.unwrap();
    let saved = state.catalog(&name("git"), &digest("spec")).await.unwrap().unwrap();
    assert_eq!(saved.catalog, empty);
}

#[tokio::test]
async fn catalogs_of_old_declarations_do_not_pile_up() {
    let state = StateStore::in_memory().await.unwrap();
    let specs: Vec<_> = (0..10).map(|index| digest(&index.to_string())).collect();
    for spec in &specs {
        state.save_catalog(&name("git"), spec, &catalog()).await.unwrap();
    }
    let mut kept = 0;
    for spec in &specs {
        kept += usize::from(state.catalog(&name("git"), spec).await.unwrap().is_some());
    }
    assert_eq!(kept, 4);
}

#[tokio::test]
async fn what_was_acknowledged_survives_without_a_close() {
    let folder = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await.unwrap();
    state.give_consent(&name("git"), &digest("one"), "shown").await.unwrap();
    state.save_catalog(&name("git"), &digest("spec"), &catalog()).await.unwrap();
    // The files as a killed process leaves them: the journal not yet folded into the database.
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), copy.path().join(file.file_name())).unwrap();
    }
    assert!(copy.path().join("state.db-wal").metadata().unwrap().len() > 0);
    drop(state);

    for place in [folder.path(), copy.path()] {
        let state = open(place).await.unwrap();
        assert_eq!(state.consents().await.unwrap().len(), 1);
        let saved = state.catalog(&name("git"), &digest("spec")).await.unwrap().unwrap();
        assert_eq!(saved.catalog, catalog());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_handles_write_at_the_same_time() {
    let folder = tempfile::tempdir().unwrap();
    let handles = [open(folder.path()).await.unwrap(), open(folder.path()).await.unwrap()];
    let writers: Vec<_> = handles
        .into_iter()
        .enumerate()
        .map(|(writer, state)| {
            tokio::spawn(async move {
                for index in 0..50 {
                    let server = name(&format!("{writer}-{index}"));
                    state.give_consent(&server, &digest("x"), "").await.unwrap();
                    state.save_catalog(&name("shared"), &digest("x"), &catalog()).await.unwrap();
                    let saved = state.catalog(&name("shared"), &digest("x")).await.unwrap();
                    assert_eq!(saved.unwrap().catalog, catalog());
                }
            })
        })
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let state = open(folder.path()).await.unwrap();
    assert_eq!(state.consents().await.unwrap().len(), 100);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_may_create_it_at_the_same_time() {
    for _ in 0..10 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.db");
        let openings: Vec<_> =
            (0..8).map(|_| tokio::spawn(StateStore::open(path.clone()))).collect();
        for opening in openings {
            let state = opening.await.unwrap().unwrap();
            assert_eq!(state.consents().await.unwrap(), []);
        }
    }
}

#[tokio::test]
async fn a_file_of_a_newer_version_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await.unwrap();
    state.give_consent(&name("git"), &digest("one"), "shown").await.unwrap();
    state.close().await;
    let path = folder.path().join("state.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let newer = "insert into _sqlx_migrations \
                 (version, description, success, checksum, execution_time) \
                 values (999, 'later', 1, x'00', 0)";
    sqlx::query(newer).execute(&pool).await.unwrap();
    pool.close().await;
    let before = std::fs::read(&path).unwrap();

    let error = open(folder.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::NewerSchema { found: 999, known: 7, .. }), "{error:?}");
    assert!(error.to_string().contains("state.db"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_file_of_an_older_version_keeps_what_it_has_and_gains_what_it_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(&path);
    let state = open(folder.path()).await.unwrap();
    state.give_consent(&name("git"), &digest("one"), "shown").await.unwrap();
    state.close().await;
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    let tables = ["keys", "pending", "grants", "pins", "charges", "attempts", "trusts", "eras"];
    for table in tables {
        let undo = sqlx::AssertSqlSafe(format!("drop table {table}"));
        sqlx::query(undo).execute(&pool).await.unwrap();
    }
    let undo = "delete from _sqlx_migrations where version >= 2";
    sqlx::query(undo).execute(&pool).await.unwrap();
    pool.close().await;

    let state = open(folder.path()).await.unwrap();
    state.save_era(&digest("one"), Some(Era::Legacy)).await.unwrap();
    assert_eq!(state.consents().await.unwrap().len(), 1);
    assert_eq!(state.trusts().await.unwrap(), []);
    assert_eq!(state.count_attempt(&digest("one")).await.unwrap(), 0);
}

#[tokio::test]
async fn attempts_are_counted_for_each_declaration() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await.unwrap();
    for before in 0..3 {
        assert_eq!(state.count_attempt(&digest("one")).await.unwrap(), before);
    }
    state.close().await;
    let state = open(folder.path()).await.unwrap();
    assert_eq!(state.count_attempt(&digest("one")).await.unwrap(), 3);
    assert_eq!(state.count_attempt(&digest("two")).await.unwrap(), 0);
}

#[tokio::test]
async fn a_trust_is_in_one_identity_of_one_name_until_it_is_taken_back() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await.unwrap();
    let (git, one) = (name("git"), digest("one"));
    state.save_trust(&git, &one).await.unwrap();
    state.save_trust(&git, &one).await.unwrap();
    state.save_trust(&name("other"), &one).await.unwrap();
    state.close().await;

    let state = open(folder.path()).await.unwrap();
    let trusts = state.trusts().await.unwrap();
    assert_eq!(trusts.len(), 2);
    assert!(trusts[0].is_for(&git, &one));
    assert!(!trusts[0].is_for(&git, &digest("two")) && !trusts[1].is_for(&git, &one));
    assert!(state.revoke_trust(&git).await.unwrap());
    assert!(!state.revoke_trust(&git).await.unwrap());
    assert_eq!(state.trusts().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_damaged_file_is_refused_by_name_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    let garbage = b"this is not a database at all ".repeat(100);
    std::fs::write(&path, &garbage).unwrap();
    let error = open(folder.path()).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(error.to_string().contains("state.db"), "{error}");
    assert!(error.hint().unwrap().contains("move it away"), "{error}");
    assert_eq!(std::fs::read(&path).unwrap(), garbage);
}

#[tokio::test]
async fn damage_inside_the_file_is_told_apart_from_a_failed_query() {
    let folder = tempfile::tempdir().unwrap();
    let state = open(folder.path()).await.unwrap();
    for index in 0..200 {
        state
            .give_consent(&name(&format!("s{index}")), &digest("x"), &"shown ".repeat(50))
            .await
            .unwrap();
    }
    state.close().await;
    let path = folder.path().join("state.db");
    let mut bytes = std::fs::read(&path).unwrap();
    let half = bytes.len() / 2;
    bytes[half..].fill(0xff);
    std::fs::write(&path, &bytes).unwrap();

    let outcome = match open(folder.path()).await {
        Ok(state) => state.consents().await.map(drop),
        Err(error) => Err(error),
    };
    assert!(matches!(outcome, Err(StoreError::Damaged { .. })), "{outcome:?}");
}

#[tokio::test]
async fn a_place_that_cannot_hold_a_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let error = StateStore::open(folder.path().join("missing/state.db")).await.unwrap_err();
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn its_files_are_for_the_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.db");
    std::fs::write(&path, "").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let state = open(folder.path()).await.unwrap();
    state.give_consent(&name("git"), &digest("one"), "shown").await.unwrap();
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let file = file.unwrap();
        let mode = file.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", file.file_name());
    }
}
