//! Hostile documents: megabytes of one construct, through every parser and the term indexer.
//!
//! No time is measured: work that is not linear would take hours at these sizes. The tests assert
//! that all output is bounded.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use toolgate_reading::{DocumentFormat, read, terms};

/// How much of each.
const SIZE: usize = 1 << 20;

/// The most passages a document has.
const MOST: usize = 1 << 14;

const TEXTS: [DocumentFormat; 4] =
    [DocumentFormat::Text, DocumentFormat::Markdown, DocumentFormat::Source, DocumentFormat::Html];

/// Each is repeated until it is large, between what begins and what ends it.
const HOSTILE: &[(&str, &str, &str)] = &[
    ("", "\n", ""),
    ("", " ", ""),
    ("", "\t", "x"),
    ("", "x", ""),
    ("", "é", ""),
    ("", "漢", ""),
    ("", "🎉", ""),
    ("", "\u{301}", ""),
    ("", "\u{ad}", ""),
    ("", "_", "x"),
    ("a", "_", "b"),
    ("", "a_", ""),
    ("", "a-", ""),
    ("", "1.", "1"),
    ("1", ",111", ""),
    ("", "aB", ""),
    ("", "'", ""),
    ("", "a'", ""),
    ("", "# a\n", ""),
    ("", "#", ""),
    ("# ", "[", ""),
    ("# ", "](", ""),
    ("# ", "<", ""),
    ("", "# a\n## b\n### c\n", ""),
    ("", "a\n===\n", ""),
    ("", "a\n\n", ""),
    ("", "```\n", ""),
    ("", "~~~~\n~~~\n", ""),
    ("---\n", "title: x\n", ""),
    ("", "---\n", ""),
    ("", "|", ""),
    ("", "- a\n", ""),
    ("", "> ", ""),
    ("", "    ", "x"),
    ("", "<", ""),
    ("", "<a", ""),
    ("", "<a ", ""),
    ("", "<a href=\"", ""),
    ("", "<div>", "x"),
    ("", "<nav>", "x"),
    ("", "</nav>", "x"),
    ("", "<h1>", "x"),
    ("", "<h1>x</h1>", ""),
    ("", "<pre>\n", "x"),
    ("", "<li>", "x"),
    ("", "<td>", "x"),
    ("", "<br>", "x"),
    ("", "<p>x", ""),
    ("", "<!--", ""),
    ("", "<!", ""),
    ("", "</", ""),
    ("<script>", "</scrip", ""),
    ("<title>", "x", ""),
    ("", "&", ""),
    ("", "&amp;", ""),
    ("", "&#", ""),
    ("", "&#x1;", ""),
    ("", "fn a() {\n", ""),
    ("", "/*", ""),
    ("", "/*\n", ""),
    ("", "// a\n", "fn b() {}\n"),
    ("", "(", ""),
    ("fn a", "<", ""),
    ("impl<", "<", ""),
    ("", "class A:\n def b():\n  class C:\n", ""),
    ("", "create table ", ""),
    ("", "pub(", ""),
];

fn repeated(begin: &str, piece: &str, end: &str, size: usize) -> String {
    format!("{begin}{}{end}", piece.repeat(size / piece.len()))
}

#[test]
fn every_reader_bounds_what_it_makes_of_it() {
    for (begin, piece, end) in HOSTILE {
        let text = repeated(begin, piece, end, SIZE);
        for format in TEXTS {
            let document = read(format, "name", &text);
            let case = format!("{format:?} {begin:?} {piece:?} {end:?}");
            assert!(document.passages.len() <= MOST, "{case}");
            assert_eq!(document.truncation.is_some(), document.passages.len() == MOST, "{case}");
            assert!(document.title.len() <= 2000, "{case}");
            for passage in &document.passages {
                assert!(passage.text.len() <= 4000 && passage.heading.len() <= 2000, "{case}");
            }
        }
    }
}

#[test]
fn terms_are_bounded_by_their_text() {
    for (begin, piece, end) in HOSTILE {
        let text = repeated(begin, piece, end, SIZE);
        let mut kept = String::new();
        terms::index(&text, &mut kept);
        let case = format!("{begin:?} {piece:?} {end:?}");
        // Parts, whole and blanks: a few bytes for each.
        assert!(kept.len() <= 8 * text.len() + 64, "{case}: {}", kept.len());
        assert!(terms::query_terms(&text).len() <= 256, "{case}");
    }
}

#[test]
fn words_that_are_all_different_are_all_kept() {
    let mut indexer = terms::TermIndexer::new();
    let mut kept = String::new();
    for text in 0..40_u32 {
        let words: String = (0..10_000_u32).map(|word| format!("w{text}x{word} ")).collect();
        kept.clear();
        indexer.index(&words, &mut kept);
        assert!(kept.len() >= words.len());
    }
}

#[test]
fn a_line_without_end_is_cut_and_says_so() {
    let size = if std::env::var_os("TOOLGATE_SOAK").is_some() { 200 << 20 } else { 40 << 20 };
    let text = "lorem ipsum ".repeat(size / 12);
    for format in TEXTS {
        let document = read(format, "line.txt", &text);
        assert_eq!(document.passages.len(), MOST, "{format:?}");
        let cut = document.truncation.expect("it says so");
        assert!(cut.contains("too large") && cut.contains("line 1"), "{cut}");
    }
}
