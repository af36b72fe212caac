//! The passages of Markdown texts.

use crate::{DocumentFormat, ParsedDocument, PassageLocation, read};

fn document(text: &str) -> ParsedDocument {
    read(DocumentFormat::Markdown, "notes/some_file.md", text)
}

/// The heading, lines and text of every passage.
fn shape(text: &str) -> Vec<(String, (u32, u32), String)> {
    let passages = document(text).passages.into_iter();
    passages
        .map(|passage| match passage.place {
            PassageLocation::Lines(first, last) => (passage.heading, (first, last), passage.text),
            PassageLocation::Page(_) => unreachable!("a text has lines"),
        })
        .collect()
}

fn one(heading: &str, lines: (u32, u32), text: &str) -> (String, (u32, u32), String) {
    (heading.to_owned(), lines, text.to_owned())
}

#[test]
fn sections_are_passages_under_their_headings() {
    let text = "# Guide\n\nIntro.\n\n## Install\n\nRun it.\n\n- a\n- b\n\n## Use\nText\n";
    assert_eq!(
        shape(text),
        [
            one("Guide", (1, 3), "# Guide\n\nIntro."),
            one("Guide > Install", (5, 10), "## Install\n\nRun it.\n\n- a\n- b"),
            one("Guide > Use", (12, 13), "## Use\nText"),
        ]
    );
    assert_eq!(document(text).title, "Guide");
}

#[test]
fn a_heading_goes_with_what_is_below_it() {
    let text = "# A\n## B\ntext\n## C\n## D\n";
    assert_eq!(
        shape(text),
        [
            one("A > B", (1, 3), "# A\n## B\ntext"),
            one("A > C", (4, 4), "## C"),
            one("A > D", (5, 5), "## D"),
        ]
    );
}

#[test]
fn underlined_headings_count() {
    let text = "Title\n=====\n\nSome text\nof two lines\n\nPart\n---\nmore\n";
    assert_eq!(
        shape(text),
        [
            one("Title", (1, 5), "Title\n=====\n\nSome text\nof two lines"),
            one("Title > Part", (7, 9), "Part\n---\nmore"),
        ]
    );
    assert_eq!(document(text).title, "Title");
}

#[test]
fn what_stands_in_a_listing_is_no_heading() {
    let text = "# A\n\n```sh\n# comment\n\n## more\n~~~\n```\n\n~~~~\n# x\n~~~\n~~~~\n# B\nend";
    let shape = shape(text);
    let headings: Vec<_> = shape.iter().map(|(heading, ..)| heading.as_str()).collect();
    assert_eq!(headings, ["A", "B"]);
    assert_eq!(shape[0].1, (1, 13));
}

#[test]
fn a_listing_without_end_goes_to_the_end() {
    let text = "# A\n```\n# x\n# y\n";
    assert_eq!(shape(text), [one("A", (1, 4), "# A\n```\n# x\n# y")]);
}

#[test]
fn front_matter_gives_the_title_and_is_kept() {
    let text = "---\ntitle: The plan\ntags: [a]\n---\n\n# Other\nx\n";
    assert_eq!(document(text).title, "The plan");
    assert_eq!(
        shape(text),
        [
            one("", (1, 4), "---\ntitle: The plan\ntags: [a]\n---"),
            one("Other", (6, 7), "# Other\nx"),
        ]
    );
}

#[test]
fn without_a_heading_the_name_is_the_title() {
    assert_eq!(document("just text").title, "some file");
    assert_eq!(document("## Second\ntext").title, "Second");
    assert_eq!(document("text\n## Second\n").title, "some file");
}

#[test]
fn long_sections_are_parted_at_paragraphs() {
    let paragraph = "A sentence of the usual length stands here. ".repeat(12);
    let text = format!("# Long\n\n{}", format!("{paragraph}\n\n").repeat(10));
    let passages = document(&text).passages;
    assert!(passages.len() >= 4, "{}", passages.len());
    for passage in &passages {
        assert_eq!(passage.heading, "Long");
        assert!(passage.text.len() <= 1600 && passage.text.len() > 400, "{}", passage.text.len());
        assert!(passage.text.ends_with('.'), "{}", passage.text);
    }
}

#[test]
fn a_table_and_a_listing_stay_whole_where_they_fit() {
    let table = "| name | value |\n".repeat(150);
    let listing = format!("```\n{}```\n", "let x = 1;\n".repeat(200));
    let text = format!("# T\n\n{table}\n# L\n\n{listing}");
    assert_eq!(document(&text).passages.len(), 2);
}

#[test]
fn lines_end_as_they_like() {
    let text = "# A\r\n\r\none\r\n\r\n## B\r\ntwo\r\n";
    assert_eq!(
        shape(text),
        [one("A", (1, 3), "# A\r\n\r\none"), one("A > B", (5, 6), "## B\r\ntwo")]
    );
}

#[test]
fn a_rule_is_no_heading() {
    let text = "# A\n\none\n\n---\n\ntwo\n- item\n---\nx\n";
    assert_eq!(shape(text).len(), 1);
}
