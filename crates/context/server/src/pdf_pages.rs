//! Extracts the text of a PDF page by page, inside the helper process.
//!
//! The PDF library panics on some files. A page that makes it panic is reported as damaged, and the
//! other pages are still read. Errors that cannot be caught end only this process. Documents that
//! need a password are refused.

use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use pdf_extract::{Document, Error, Object, PlainTextOutput, output_doc_page};

use crate::pdf::PdfHelperLine;

/// The stack size of the parser thread. Real documents nest too deeply for the default.
const STACK: usize = 64 << 20;

/// The maximum length of a title, in characters.
const MOST_TITLE: usize = 300;

/// Receives each line of the helper's output.
type PdfLineCallback<'a> = &'a mut (dyn FnMut(PdfHelperLine) -> io::Result<()> + Send);

/// Reads a PDF and passes its text to the callback line by line. Returns an error only if reading
/// the input or writing the output fails.
pub(crate) fn read(input: &mut dyn Read, emit: PdfLineCallback<'_>) -> io::Result<()> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    // The parent does not read panic messages.
    std::panic::set_hook(Box::new(|_| {}));
    thread::scope(|scope| {
        let reading =
            thread::Builder::new().stack_size(STACK).spawn_scoped(
                scope,
                || match open_document(&bytes) {
                    Ok(document) => pages(&document, emit),
                    Err(why) => emit(PdfHelperLine::Refused(why)),
                },
            )?;
        reading.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    })
}

fn open_document(bytes: &[u8]) -> Result<Document, String> {
    let encrypted = || Err("it is encrypted".to_owned());
    match catch_unwind(|| Document::load_mem(bytes)) {
        // A document that opens without a password is already decrypted here.
        Ok(Ok(document)) if document.trailer.get(b"Encrypt").is_ok() => encrypted(),
        Ok(Ok(document)) => Ok(document),
        Ok(Err(Error::InvalidPassword | Error::Decryption(_))) => encrypted(),
        Ok(Err(error)) => Err(format!("it is damaged: {error}")),
        Err(_) => Err("it is damaged".to_owned()),
    }
}

fn pages(document: &Document, emit: PdfLineCallback<'_>) -> io::Result<()> {
    if let Some(title) = catch_unwind(AssertUnwindSafe(|| title(document))).ok().flatten() {
        emit(PdfHelperLine::Title(title))?;
    }
    let numbers = catch_unwind(AssertUnwindSafe(|| document.get_pages()));
    let numbers = numbers.unwrap_or_default();
    if numbers.is_empty() {
        return emit(PdfHelperLine::Refused("it is damaged: it has no readable page".to_owned()));
    }
    for number in numbers.into_keys() {
        emit(page(document, number))?;
    }
    Ok(())
}

fn page(document: &Document, number: u32) -> PdfHelperLine {
    let mut text = String::new();
    let read = catch_unwind(AssertUnwindSafe(|| {
        output_doc_page(document, &mut PlainTextOutput::new(&mut text), number)
    }));
    if matches!(read, Ok(Ok(()))) {
        PdfHelperLine::Page(text)
    } else {
        PdfHelperLine::Damaged(text)
    }
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
