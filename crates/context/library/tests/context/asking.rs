//! Searching and completing.

use proptest::prelude::*;

use crate::{Home, file, found, fresh_library};

async fn three() -> Home {
    let home = fresh_library().await;
    let documents = vec![
        file("/notes/deploy.md", "Deployment", &["The gateway is deployed with a rolling update."]),
        file("/notes/cats.md", "Cats", &["A cat sleeps. The gateway is mentioned once."]),
        file("/notes/budget.md", "Budget", &["Update of the budget: rolling costs, and costs."]),
    ];
    home.library.keep(documents).await.unwrap();
    home
}

#[tokio::test]
async fn the_document_with_more_of_the_words_comes_first() {
    let home = three().await;
    let found = found(&home.library, "how is the gateway deployed, rolling?").await;
    assert_eq!(found[0], "/notes/deploy.md");
}

#[tokio::test]
async fn scores_fall_and_the_limit_holds() {
    let home = three().await;
    let hits = home.library.search("gateway update costs", 2).await.unwrap();
    assert_eq!(hits.len(), 2);
    assert!(hits[0].score >= hits[1].score && hits[1].score > 0.0, "{hits:?}");
    assert!(home.library.search("gateway", 0).await.unwrap().is_empty());
    assert!(home.library.search("absent", 5).await.unwrap().is_empty());
}

#[tokio::test]
async fn words_in_quotes_must_stand_so() {
    let home = three().await;
    assert_eq!(found(&home.library, "\"rolling update\"").await, ["/notes/deploy.md"]);
    assert_eq!(found(&home.library, "budget \"rolling update\"").await, ["/notes/deploy.md"]);
    assert_eq!(found(&home.library, "\"update rolling\"").await, Vec::<String>::new());
    assert_eq!(found(&home.library, "\"rolling").await.len(), 2, "an open quote means nothing");
}

#[tokio::test]
async fn titles_and_paths_are_found() {
    let home = fresh_library().await;
    let library = &home.library;
    let documents = vec![
        file("/notes/heron/plain.md", "Untitled", &["nothing about birds"]),
        file("/notes/other.md", "The stork", &["nothing about birds"]),
    ];
    library.keep(documents).await.unwrap();
    assert_eq!(found(library, "heron").await, ["/notes/heron/plain.md"]);
    assert_eq!(found(library, "storks").await, ["/notes/other.md"]);
}

#[tokio::test]
async fn one_document_does_not_fill_the_page() {
    let home = fresh_library().await;
    let library = &home.library;
    let long = ["The harbour crane lifts."; 30];
    let mut documents = vec![file("/notes/long.md", "Harbour", &long)];
    for number in 0..5 {
        let text = "A crane in the harbour, beside a long row of other things that nobody lifts.";
        documents.push(file(&format!("/notes/{number}.md"), "Port", &[text]));
    }
    library.keep(documents).await.unwrap();
    let hits = library.search("harbour crane", 10).await.unwrap();
    let others = hits.iter().filter(|hit| hit.key != "/notes/long.md").count();
    assert_eq!(others, 5, "{hits:#?}");
}

#[tokio::test]
async fn between_equals_the_newer_one_wins() {
    let home = fresh_library().await;
    let mut documents: Vec<_> = ["/notes/a.md", "/notes/b.md", "/notes/c.md"]
        .map(|key| file(key, "T", &["same words"]))
        .into();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    documents[1].stamp.modified = i64::try_from(now.as_millis()).unwrap();
    home.library.keep(documents).await.unwrap();
    assert_eq!(found(&home.library, "words").await[0], "/notes/b.md");
}

#[tokio::test]
async fn no_query_is_an_error_or_endless() {
    let home = three().await;
    let long = "gateway update ".repeat(5_000);
    let distinct: String = (0..10_000).map(|number| format!("word{number} ")).collect();
    let odd = [
        "",
        " ",
        "*",
        "\"",
        "\"\"",
        "\"\"\"",
        "NEAR(",
        "NEAR(a b, 2)",
        "a AND",
        "OR",
        "NOT x",
        "title:x",
        "{title}: gateway",
        "^gateway",
        "gate*",
        "a-b",
        "'",
        "''; drop table terms; --",
        "\0",
        "gateway\0update",
        "(((((",
        "\u{202e}\u{200b}",
        "\u{1f600}",
        "日本語 テスト",
        "_",
        ".",
        "..._",
        "\"gateway\" \"update\" \"a b c",
        "the of and",
        "-gateway",
        "+gateway",
        "a\"b\"c\"",
        &long,
        &distinct,
    ];
    for query in odd {
        home.library.search(query, 10).await.unwrap();
        home.library.remember_query(query).await.unwrap();
        home.library.complete(query, 10).await.unwrap();
    }
    assert_eq!(found(&home.library, "gateway").await.len(), 2);
}

#[tokio::test]
async fn what_was_asked_is_completed_before_titles() {
    let home = three().await;
    let library = &home.library;
    for query in ["Budget of May", "budget of may", "deploying cats", " "] {
        library.remember_query(query).await.unwrap();
    }
    library.remember_query("BUDGET of may").await.unwrap();
    assert_eq!(library.complete("bud", 10).await.unwrap(), ["BUDGET of may", "Budget"]);
    assert_eq!(library.complete("DEP", 10).await.unwrap(), ["deploying cats", "Deployment"]);
    assert_eq!(library.complete("dep", 1).await.unwrap(), ["deploying cats"]);
    assert!(library.complete("x", 10).await.unwrap().is_empty());
}

#[tokio::test]
async fn case_and_diacritics_do_not_matter_to_completion() {
    let home = fresh_library().await;
    home.library.keep(vec![file("/notes/a.md", "Übersicht der Häfen", &["x"])]).await.unwrap();
    home.library.remember_query("Überweisung").await.unwrap();
    for prefix in ["über", "Uber", "UBER"] {
        let found = home.library.complete(prefix, 10).await.unwrap();
        assert_eq!(found, ["Überweisung", "Übersicht der Häfen"], "{prefix}");
    }
}

#[tokio::test]
async fn only_so_many_queries_are_remembered() {
    let home = fresh_library().await;
    home.library.remember_query(&"long ".repeat(100)).await.unwrap();
    assert!(home.library.complete("long", 10).await.unwrap().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(crate::model::cases(1_000)))]

    #[test]
    fn whatever_is_asked_there_is_an_answer(query in "\\PC{0,40}", raw in any::<Vec<u8>>()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let home = three().await;
            let raw = String::from_utf8_lossy(&raw);
            for query in [query.as_str(), &raw, &format!("\"{query}\" gateway")] {
                home.library.search(query, 5).await.unwrap();
                home.library.complete(query, 5).await.unwrap();
            }
        });
    }
}
