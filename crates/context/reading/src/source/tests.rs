//! The passages of source code.

use crate::{DocumentFormat, PassageLocation, read};

fn shape(text: &str) -> Vec<(String, (u32, u32))> {
    let passages = read(DocumentFormat::Source, "src/file.rs", text).passages.into_iter();
    passages
        .map(|passage| match passage.place {
            PassageLocation::Lines(first, last) => (passage.heading, (first, last)),
            PassageLocation::Page(_) => unreachable!("a program has lines"),
        })
        .collect()
}

/// A body of so many lines.
fn body(indent: &str, lines: usize) -> String {
    format!("{indent}let value = compute_the_next_value(previous, factor);\n").repeat(lines)
}

#[test]
fn functions_come_with_their_comments() {
    let text = format!(
        "//! A file.\n\nuse std::fmt;\n\n/// Reads.\n#[inline]\npub fn read() {{\n{}}}\n\nfn other(\n    a: u32,\n) -> u32\nwhere\n    u32: Copy,\n{{\n{}}}\n",
        body("    ", 12),
        body("    ", 12),
    );
    assert_eq!(shape(&text), [("fn read".to_owned(), (1, 20)), ("fn other".to_owned(), (22, 40)),]);
}

#[test]
fn methods_stand_under_their_class() {
    let text = format!(
        "import os\n\nclass Reader(Base):\n    \"\"\"Reads.\"\"\"\n\n    @property\n    def name(self):\n{}\n    def read(self):\n{}\n\ndef main():\n{}",
        body("        ", 14),
        body("        ", 14),
        body("    ", 14),
    );
    let shape = shape(&text);
    let headings: Vec<_> = shape.iter().map(|(heading, _)| heading.as_str()).collect();
    assert_eq!(headings, ["class Reader > def name", "class Reader > def read", "def main"]);
    assert_eq!(shape[0].1, (1, 21));
}

#[test]
fn small_neighbours_share_a_passage() {
    let text = "fn a() {\n    1\n}\n\nfn b() {\n    2\n}\n\nfn c() {\n    3\n}\n";
    assert_eq!(shape(text), [("fn a, fn b, fn c".to_owned(), (1, 11))]);
}

#[test]
fn what_follows_an_item_is_not_in_it() {
    let text =
        format!("fn a() {{\n{}}}\n\nstatic X: u32 = 1;\nstatic Y: u32 = 2;\n", body("    ", 12));
    assert_eq!(shape(&text), [("fn a".to_owned(), (1, 14)), (String::new(), (16, 17))]);
}

#[test]
fn a_long_function_is_parted_under_its_name() {
    let text = format!("fn long() {{\n{}}}\n", body("    ", 200));
    let shape = shape(&text);
    assert!(shape.len() > 5);
    assert!(shape.iter().all(|(heading, _)| heading == "fn long"));
    assert_eq!(shape.last().map(|last| last.1.1), Some(202));
}
