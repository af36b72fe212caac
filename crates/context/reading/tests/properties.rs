//! Properties of every document, every text and every query.
//!
//! A tenth of the cases runs every time; all of them with `TOOLGATE_SOAK` set.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use proptest::prelude::*;
use toolgate_reading::{
    DocumentFormat, ParsedDocument, PassageLocation, decode, pages, read, terms,
};

fn cases(all: u32) -> ProptestConfig {
    let soak = std::env::var_os("TOOLGATE_SOAK").is_some();
    ProptestConfig::with_cases(if soak { all } else { all / 10 })
}

/// What documents are made of, good and bad.
const PIECES: &[&str] = &[
    "# Heading\n",
    "## Two ##\n",
    "Title\n=====\n",
    "Part\n---\n",
    "\n",
    "\r\n",
    "\n\n\n",
    "---\n",
    "---\ntitle: x\n---\n",
    "```rust\n",
    "```\n",
    "~~~~\n",
    "- item\n- other\n",
    "| a | b |\n|---|---|\n",
    "> quoted\n",
    "    indented\n",
    "A sentence. Another one! ",
    "word ",
    "longwordwithoutanyblank",
    "fn parse(a: u32) -> u32 {\n",
    "}\n",
    "class Reader(Base):\n",
    "    def read(self):\n",
    "        return 1\n",
    "/* comment\n",
    " */\n",
    "/// docs\n",
    "impl<T> X for Y {\n",
    "<p>",
    "</p>",
    "<h1>",
    "</h1>",
    "<h2 class='a'>",
    "<div><ul><li>",
    "<pre>",
    "</pre>",
    "<script>",
    "</script>",
    "<nav>",
    "</nav>",
    "<!-- ",
    " -->",
    "<title>T</title>",
    "<a href=\"x",
    "\"",
    "&amp;&nbsp;&#65;&bogus;",
    "<",
    "&",
    "天気がいい。",
    "Größe ",
    "e\u{301}",
    "\u{feff}",
    "\u{ad}",
    "1.2.3 ",
    "parseConfig snake_case kebab-case ",
    "don't l’homme ",
    "\t",
    "\u{0}",
    "🎉",
];

fn document() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        12 => proptest::sample::select(PIECES).prop_map(str::to_owned),
        2 => proptest::sample::select(PIECES).prop_map(|piece| piece.repeat(300)),
        1 => any::<String>(),
        1 => "\\PC{0,40}",
    ];
    proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Where a line begins, by counting.
fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
    std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect()
}

fn lines(document: &ParsedDocument) -> Vec<(u32, u32)> {
    let place = |place: &PassageLocation| match place {
        PassageLocation::Lines(first, last) => (*first, *last),
        PassageLocation::Page(_) => panic!("a text has lines"),
    };
    document.passages.iter().map(|passage| place(&passage.place)).collect()
}

/// What holds of a document of any format.
fn check_all(document: &ParsedDocument, text: &str) {
    let count = u32::try_from(line_starts(text).len()).unwrap();
    let mut before = 1;
    for (passage, (first, last)) in document.passages.iter().zip(lines(document)) {
        assert!(passage.text.contains(char::is_alphanumeric), "{:?}", passage.text);
        assert!(passage.text.len() <= 4000, "{}", passage.text.len());
        assert!(passage.heading.len() <= 2000);
        assert!(
            before <= first && first <= last && last <= count,
            "{before} {first} {last} {count}"
        );
        before = first;
    }
    assert_eq!(document.truncation, None);
}

/// Passages stand in the text as they are, one behind the other, on the lines they say; and no
/// letter is in none of them.
fn check_verbatim(document: &ParsedDocument, text: &str) {
    let starts = line_starts(text);
    let mut at = 0;
    for (passage, (first, last)) in document.passages.iter().zip(lines(document)) {
        let from = starts[first as usize - 1].max(at);
        let found = from + text[from..].find(&passage.text).expect("it stands there");
        assert!(
            !text[at..found].contains(char::is_alphanumeric),
            "left out: {:?}",
            &text[at..found]
        );
        let line = |at: usize| starts.partition_point(|start| *start <= at);
        assert_eq!(
            (line(found), line(found + passage.text.len() - 1)),
            (first as usize, last as usize)
        );
        at = found + passage.text.len();
    }
    assert!(!text[at..].contains(char::is_alphanumeric), "left out: {:?}", &text[at..]);
}

proptest! {
    #![proptest_config(cases(20_000))]

    #[test]
    fn text_comes_apart_and_nothing_is_lost(text in document()) {
        for format in [DocumentFormat::Text, DocumentFormat::Markdown, DocumentFormat::Source] {
            let document = read(format, "a/name.txt", &text);
            check_all(&document, &text);
            check_verbatim(&document, &text);
        }
    }

    #[test]
    fn html_comes_apart(text in document()) {
        check_all(&read(DocumentFormat::Html, "a/name.html", &text), &text);
    }

    #[test]
    fn pages_come_apart_on_their_pages(texts in proptest::collection::vec(document(), 0..5)) {
        let document = pages("x.pdf", &texts);
        let mut before = 1;
        for passage in &document.passages {
            let PassageLocation::Page(page) = passage.place else { panic!("it has pages") };
            prop_assert!(page >= before);
            prop_assert!(texts[page as usize - 1].contains(&passage.text));
            before = page;
        }
    }

    #[test]
    fn terms_are_tokens_and_a_text_is_found_by_its_own_words(text in document()) {
        let mut kept = String::new();
        terms::index(&text, &mut kept);
        let is_token = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c) || !c.is_ascii();
        for term in kept.split_terminator(' ') {
            prop_assert!(!term.is_empty() && term.chars().all(is_token), "{term:?}");
            prop_assert!(term.len() <= 200);
        }
        let known: std::collections::HashSet<&str> = kept.split(' ').collect();
        for term in terms::query_term_strings(&text) {
            prop_assert!(known.contains(term.as_str()), "{term:?} of {text:?}");
        }
    }

    #[test]
    fn any_word_has_terms(word in "\\PC{0,60}") {
        for asked in terms::query_terms(&word) {
            prop_assert!(!asked.term.is_empty());
            prop_assert!(asked.other_stems.iter().all(|other| other.len() > 1 && other.ends_with('_')));
        }
    }

    #[test]
    fn any_letters_have_stems(word in "[a-zäöüßéèêçñãőűøåæþıřžšąęł']{1,40}|[а-яёїіґ]{1,40}|[α-ωάέή]{1,40}|[ا-يًٌّ]{1,40}|[अ-हा-ौ्]{1,40}") {
        prop_assert!(terms::query_terms(&word).iter().all(|asked| !asked.term.is_empty()), "{word}");
    }

    #[test]
    fn a_memory_makes_no_difference(texts in proptest::collection::vec(document(), 1..6)) {
        let mut indexer = terms::TermIndexer::new();
        for text in &texts {
            let (mut one, mut other) = (String::new(), String::new());
            indexer.index(text, &mut one);
            terms::index(text, &mut other);
            prop_assert_eq!(one, other);
        }
    }

    #[test]
    fn any_bytes_have_a_format_or_none(name in "\\PC{0,20}", bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        let format = DocumentFormat::detect(&name, &bytes);
        prop_assert!(format.is_none() || !bytes.contains(&0) || bytes.starts_with(b"%PDF-") || bytes[0] >= 0xfe);
        let decoded = decode(bytes.clone());
        prop_assert!(decoded.note.is_some() || std::str::from_utf8(&bytes).is_ok() || bytes[0] >= 0xfe);
    }
}
