//! The text of a PDF, page by page: what the helper process does.
//!
//! The library that reads PDFs panics on some files. A page that makes it panic is lost and told,
//! and the others are read; what it cannot survive at all ends this process, which is there for that.
//! Passwords are not asked for: only a document that opens without one is read.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use pdf_extract::{Document, Error, Object, PlainTextOutput, output_doc_page};

use crate::pdf::Line;

/// Real documents nest deeper than the stack of a thread usually is.
const STACK: usize = 64 << 20;

/// Titles are a line, whatever somebody put there.
const MOST_TITLE: usize = 300;

type Told<'a> = &'a mut (dyn FnMut(Line) -> io::Result<()> + Send);

/// Reads a PDF and tells its text. An error means that it could not be told.
pub(crate) fn read(input: &mut dyn Read, told: Told<'_>) -> io::Result<()> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    // What a panic says is of use to nobody here.
    std::panic::set_hook(Box::new(|_| {}));
    thread::scope(|scope| {
        let reading =
            thread::Builder::new().stack_size(STACK).spawn_scoped(scope, || {
                match opened(&bytes) {
                    Ok(document) => pages(&document, told),
                    Err(why) => told(Line::Refused(why)),
                }
            })?;
        reading.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    })
}

fn opened(bytes: &[u8]) -> Result<Document, String> {
    let encrypted = || Err("it is encrypted".to_owned());
    match catch_unwind(|| Document::load_mem(bytes)) {
        // One that opens without a password is decrypted by now.
        Ok(Ok(document)) if document.trailer.get(b"Encrypt").is_ok() => encrypted(),
        Ok(Ok(document)) => Ok(document),
        Ok(Err(Error::InvalidPassword | Error::Decryption(_))) => encrypted(),
        Ok(Err(error)) => Err(format!("it is damaged: {error}")),
        Err(_) => Err("it is damaged".to_owned()),
    }
}

fn pages(document: &Document, told: Told<'_>) -> io::Result<()> {
    if let Some(title) = catch_unwind(AssertUnwindSafe(|| title(document))).ok().flatten() {
        told(Line::Title(title))?;
    }
    let numbers = catch_unwind(AssertUnwindSafe(|| document.get_pages()));
    let numbers = numbers.unwrap_or_default();
    if numbers.is_empty() {
        return told(Line::Refused("it is damaged: no page can be found".to_owned()));
    }
    for number in numbers.into_keys() {
        told(page(document, number))?;
    }
    Ok(())
}

fn page(document: &Document, number: u32) -> Line {
    let mut text = String::new();
    let read = catch_unwind(AssertUnwindSafe(|| {
        output_doc_page(document, &mut PlainTextOutput::new(&mut text), number)
    }));
    if matches!(read, Ok(Ok(()))) { Line::Page(text) } else { Line::Damaged(text) }
}

fn title(document: &Document) -> Option<String> {
    let information = document.trailer.get(b"Info").ok()?;
    let information = match information {
        Object::Reference(id) => document.get_object(*id).ok()?,
        direct => direct,
    };
    let title = information.as_dict().ok()?.get(b"Title").ok()?;
    let title = pdf_extract::decode_text_string(title).ok()?;
    let title: String = title.trim().chars().take(MOST_TITLE).collect();
    (!title.is_empty()).then_some(title)
}
