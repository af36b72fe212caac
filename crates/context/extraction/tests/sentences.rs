//! Where sentences end, and where they only seem to.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs, reason = "tests")]

use toolgate_extraction::sentences;

fn cut(text: &str) -> Vec<&str> {
    sentences(text).into_iter().map(|range| &text[range]).collect()
}

#[test]
fn abbreviations_initials_and_numbers_do_not_end_a_sentence() {
    let text =
        "Dr. Weber met J. R. Jones at 3.5 km, i.e. near the gate. They spoke, e.g. about fees.";
    assert_eq!(
        cut(text),
        [
            "Dr. Weber met J. R. Jones at 3.5 km, i.e. near the gate.",
            "They spoke, e.g. about fees."
        ]
    );
    assert_eq!(cut("See fig. 3 for details. It helps.").len(), 2);
    assert_eq!(cut("We sell apples, pears, etc. Nothing else is sold.").len(), 2);
    assert_eq!(cut("Lists, maps, etc. are handled.").len(), 1);
    assert_eq!(cut("It arrived at 5 p.m. on Friday.").len(), 1);
}

#[test]
fn versions_addresses_and_file_names_stay_whole() {
    let text =
        "Use v1.2.3 of main.rs from https://example.org/a.b?c=d. Then run it. Node.js 20.1 works.";
    assert_eq!(
        cut(text),
        [
            "Use v1.2.3 of main.rs from https://example.org/a.b?c=d.",
            "Then run it.",
            "Node.js 20.1 works."
        ]
    );
    assert_eq!(cut("Call `a. B` twice. Then stop."), ["Call `a. B` twice.", "Then stop."]);
}

#[test]
fn quotes_and_brackets_belong_to_their_sentence() {
    assert_eq!(cut("He said “Go.” Then he left."), ["He said “Go.”", "Then he left."]);
    assert_eq!(cut("\"Really?\" she asked. Yes!"), ["\"Really?\" she asked.", "Yes!"]);
    assert_eq!(cut("(It is open.) It stays so."), ["(It is open.)", "It stays so."]);
    assert_eq!(cut("Wait... what? No!"), ["Wait... what?", "No!"]);
}

#[test]
fn other_languages_have_their_habits() {
    assert_eq!(
        cut("Am 3. Oktober kam z. B. Herr Dr. Lang. Er blieb bis zum 5. Mai."),
        ["Am 3. Oktober kam z. B. Herr Dr. Lang.", "Er blieb bis zum 5. Mai."]
    );
    assert_eq!(cut("¿Cómo estás? ¡Muy bien! Gracias."), ["¿Cómo estás?", "¡Muy bien!", "Gracias."]);
    assert_eq!(
        cut("今日は晴れ。明日は雨？わからない！"),
        ["今日は晴れ。", "明日は雨？", "わからない！"]
    );
    assert_eq!(
        cut("Mme. Duval est là. Elle attend M. Petit."),
        ["Mme. Duval est là.", "Elle attend M. Petit."]
    );
}

#[test]
fn headings_items_rows_and_code_are_sentences_of_their_own() {
    let text = "\
# A title

Some words. More
words.
- first item. It has two.
- second item
  goes on
1. third

| a | b |
|---|---|
| 1. x | 2 |

```sh
run it. Now.
```
Under
-----
> quoted words. And more.
";
    assert_eq!(
        cut(text),
        [
            "A title",
            "Some words.",
            "More\nwords.",
            "first item. It has two.",
            "second item\n  goes on",
            "third",
            "| a | b |",
            "| 1. x | 2 |",
            "run it. Now.",
            "Under",
            "quoted words.",
            "And more.",
        ]
    );
}

#[test]
fn labels_begin_a_new_line() {
    assert_eq!(
        cut("Date: today\nPresent: Anna, Bob\nWe began"),
        ["Date: today", "Present: Anna, Bob\nWe began"]
    );
    assert!(cut("").is_empty());
    assert!(cut(" \n\t\n---\n").is_empty());
}
