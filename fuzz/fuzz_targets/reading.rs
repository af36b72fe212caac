//! What must hold of the passages of any document: they are bounded, in order, on lines there are,
//! and where the text is taken as it stands, they are pieces of it.

use toolgate_reading::{DocumentFormat, PassageLocation, read, terms};

pub fn check(format: DocumentFormat, input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let document = read(format, "a/file", text);
    let lines = text.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let mut rest = text;
    let mut before = 1;
    for passage in &document.passages {
        assert!(passage.text.contains(char::is_alphanumeric) && passage.text.len() <= 4000);
        let PassageLocation::Lines(first, last) = passage.place else { panic!("a text has lines") };
        assert!(before <= first && first <= last && last as usize <= lines, "{passage:?}");
        before = first;
        if format != DocumentFormat::Html {
            let at =
                rest.find(&passage.text).expect("it stands in the text, behind the one before");
            rest = &rest[at + passage.text.len()..];
        }
    }
    words(text);
}

/// A text is known by whatever its own words ask for.
fn words(text: &str) {
    let mut kept = String::new();
    terms::index(text, &mut kept);
    for term in terms::query_term_strings(text) {
        assert!(kept.split(' ').any(|known| known == term), "{term:?}");
    }
}
