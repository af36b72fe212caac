//! The parts of a resource as one document.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use toolgate_reading::{Document, Format, Passage, pages};

use super::Resource;
use super::part::Part;
use crate::error::ContextError;
use crate::ingest::{self, MOST_PDF, MOST_TEXT, Remark};
use crate::pdf::PdfReader;

/// What was read.
pub(super) struct Read {
    /// All of it.
    pub document: Document,
    /// What is missing of it.
    pub remarks: Vec<Remark>,
}

/// Reads all parts. Fails if there are some and none of them can be read.
pub(super) async fn read(pdf: &PdfReader, resource: &Resource) -> Result<Read, ContextError> {
    let (mut documents, mut remarks) = (Vec::new(), Vec::new());
    for part in &resource.parts {
        match one(pdf, resource, part).await {
            Ok((document, losses)) => {
                let losses = losses.into_iter();
                remarks.extend(losses.map(|why| Remark { path: part.uri.clone(), why }));
                documents.push((part, document));
            }
            Err(why) => remarks.push(Remark { path: part.uri.clone(), why }),
        }
    }
    if let (true, Some(first)) = (documents.is_empty(), remarks.first()) {
        let (name, why) = (resource.uri.clone(), first.why.clone());
        return Err(ContextError::Text { name, why });
    }
    Ok(Read { document: joined(resource, documents), remarks })
}

/// One part, and what was lost in reading it. Reading takes its time and must not hold up the rest.
async fn one(
    pdf: &PdfReader,
    resource: &Resource,
    part: &Part,
) -> Result<(Document, Vec<String>), String> {
    let (format, bytes) = (part.format()?, part.body.bytes());
    let most = if format == Format::Pdf { MOST_PDF } else { MOST_TEXT };
    if bytes.len() as u64 > most {
        return Err(format!("it is larger than {} MiB", most >> 20));
    }
    let (pdf, name, bytes) = (pdf.clone(), named(resource, part), bytes.to_vec());
    let reading = tokio::task::spawn_blocking(move || match format {
        Format::Pdf => of_pdf(&pdf, &name, &bytes),
        format => Ok(ingest::document(format, &name, bytes)),
    });
    reading.await.map_err(|error| format!("its reader failed: {error}"))?
}

/// A PDF is given to its reader as a file: the bytes become one that has no name.
fn of_pdf(pdf: &PdfReader, name: &str, bytes: &[u8]) -> Result<(Document, Vec<String>), String> {
    let file = nameless(bytes).map_err(|error| format!("it cannot be put aside: {error}"))?;
    let read = pdf.read(file)?;
    let title = Some(read.title.trim()).filter(|title| !title.is_empty());
    let document = pages(title.unwrap_or(name), &read.pages);
    let damaged = read.damaged.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let loss = (!damaged.is_empty()).then(|| format!("pages that cannot be read whole: {damaged}"));
    let losses = document.cut.iter().cloned().chain(loss).collect();
    Ok((document, losses))
}

fn nameless(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// What a part is called where it does not say itself.
fn named(resource: &Resource, part: &Part) -> String {
    let given = resource.name.clone().filter(|name| !name.trim().is_empty());
    let only = resource.parts.len() == 1;
    let own = || Some(part.name()).filter(|name| !name.is_empty());
    given.filter(|_| only).or_else(own).unwrap_or_else(|| resource.uri.clone())
}

/// All parts in order. Where there are several, each passage stands under its part's name: places
/// count within a part.
fn joined(resource: &Resource, mut documents: Vec<(&Part, Document)>) -> Document {
    if resource.parts.len() == 1 && documents.len() == 1 {
        return documents.remove(0).1;
    }
    let title = resource.name.clone().filter(|name| !name.trim().is_empty());
    let title = title.unwrap_or_else(|| resource.uri.clone());
    let cut = documents.iter().find_map(|(_, document)| document.cut.clone());
    let passages = documents.into_iter().flat_map(|(part, document)| {
        let Document { title, passages, .. } = document;
        let under = if part.uri == resource.uri { title } else { part.uri.clone() };
        passages.into_iter().map(move |passage| below(&under, passage))
    });
    Document { title, passages: passages.collect(), cut }
}

fn below(under: &str, passage: Passage) -> Passage {
    let heading = match passage.heading.as_str() {
        "" => under.to_owned(),
        heading if heading == under || heading.starts_with(&format!("{under} > ")) => {
            heading.to_owned()
        }
        heading => format!("{under} > {heading}"),
    };
    Passage { heading, ..passage }
}
