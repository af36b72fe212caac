//! Any series of keeping and forgetting leaves what a plain map would hold, and finds exactly it.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::{file, forget_folder, found, fresh_library};

/// The times a property is tried: all with `TOOLGATE_SOAK`, else a tenth.
pub(crate) fn cases(all: u32) -> u32 {
    if std::env::var_os("TOOLGATE_SOAK").is_some() { all } else { all / 10 }
}

/// What is done to a library. A text is named by its number, and says words that no other says.
#[derive(Debug, Clone)]
enum Step {
    Keep(Vec<(u8, u16)>),
    Forget(u8),
    ForgetFolder,
    Reopen,
    Tidy,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::collection::vec((0..8_u8, any::<u16>()), 1..6).prop_map(Step::Keep),
        3 => (0..8_u8).prop_map(Step::Forget),
        1 => Just(Step::ForgetFolder),
        1 => Just(Step::Reopen),
        1 => Just(Step::Tidy),
    ]
}

/// Files 0 to 3 are in one folder, the others in another.
fn key(number: u8) -> String {
    format!("/notes/{}/{number}.md", if number < 4 { "low" } else { "high" })
}

/// A word of letters only, so that no part of it is a word of another text.
fn word(text: u16, passage: usize) -> String {
    let letters = format!("{text:05}{passage}");
    let letter = |digit: u8| char::from(b'q' + (digit - b'0') % 5);
    let tail: String = letters.bytes().map(|digit| char::from(b'a' + (digit - b'0'))).collect();
    format!("zq{}{tail}x", letter(letters.as_bytes()[4]))
}

fn passages(text: u16) -> Vec<String> {
    let count = usize::from(text % 3) + 1;
    (0..count).map(|passage| format!("common words and {}", word(text, passage))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(300)))]

    #[test]
    fn a_library_holds_what_a_map_would(steps in prop::collection::vec(step(), 1..12)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(follow(steps));
    }
}

async fn follow(steps: Vec<Step>) {
    let mut home = fresh_library().await;
    let mut model: BTreeMap<String, u16> = BTreeMap::new();
    let mut texts: Vec<u16> = Vec::new();
    for step in steps {
        match step {
            Step::Keep(documents) => {
                let fresh = documents.iter().map(|(number, text)| {
                    let passages = passages(*text);
                    let passages: Vec<&str> = passages.iter().map(String::as_str).collect();
                    file(&key(*number), "Title", &passages)
                });
                home.library.keep(fresh.collect()).await.unwrap();
                texts.extend(documents.iter().map(|(_, text)| *text));
                model.extend(documents.iter().map(|(number, text)| (key(*number), *text)));
            }
            Step::Forget(number) => {
                let forgotten = home.library.forget(&[key(number)]).await.unwrap();
                assert_eq!(forgotten == 1, model.remove(&key(number)).is_some());
            }
            Step::ForgetFolder => {
                forget_folder(&home.library, "/notes/low").await;
                model.retain(|key, _| !key.starts_with("/notes/low/"));
            }
            Step::Reopen => {
                let path = home.library.path().to_owned();
                home.library.close().await;
                home.library = toolgate_library::Library::open(path).await.unwrap();
            }
            Step::Tidy => while home.library.tidy().await.unwrap() {},
        }
    }
    compare(&home.library, &model, &texts).await;
}

async fn compare(
    library: &toolgate_library::Library,
    model: &BTreeMap<String, u16>,
    texts: &[u16],
) {
    let keys: Vec<String> = model.keys().cloned().collect();
    assert_eq!(library.keys("", 100).await.unwrap(), keys);
    let status = library.status().await.unwrap();
    assert_eq!(status.documents, keys.len() as u64);
    let all: usize = model.values().map(|text| passages(*text).len()).sum();
    assert_eq!(status.passages, all as u64);
    for &text in texts {
        let having: Vec<String> =
            model.iter().filter(|(_, kept)| **kept == text).map(|(key, _)| key.clone()).collect();
        for passage in 0..passages(text).len() {
            let mut found = found(library, &word(text, passage)).await;
            found.sort();
            assert_eq!(found, having, "{text} {passage}");
        }
    }
    for (key, text) in model {
        let kept = library.document_passages(key).await.unwrap();
        let kept: Vec<String> = kept.into_iter().map(|hit| hit.text).collect();
        assert_eq!(kept, passages(*text));
    }
}
