//! Turns the parts of a resource into one document.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};

use toolgate_reading::{DocumentFormat, ParsedDocument, Passage};

use super::ResourceSnapshot;
use super::part::ResourcePart;
use crate::error::ContextError;
use crate::ingest::{self, IngestRemark, MOST_PDF, MOST_TEXT};
use crate::pdf::PdfReader;

/// Parses all parts. Fails if there are parts and none can be parsed.
pub(super) async fn read(
    pdf: &PdfReader,
    resource: &ResourceSnapshot,
) -> Result<(ParsedDocument, Vec<IngestRemark>), ContextError> {
    let (mut documents, mut remarks) = (Vec::new(), Vec::new());
    for part in &resource.parts {
        match read_part(pdf, resource, part).await {
            Ok((document, losses)) => {
                let losses = losses.into_iter();
                remarks.extend(losses.map(|why| IngestRemark { path: part.uri.clone(), why }));
                documents.push((part, document));
            }
            Err(why) => remarks.push(IngestRemark { path: part.uri.clone(), why }),
        }
    }
    if let (true, Some(first)) = (documents.is_empty(), remarks.first()) {
        let (name, why) = (resource.uri.clone(), first.why.clone());
        return Err(ContextError::Text { name, why });
    }
    Ok((join_documents(resource, documents), remarks))
}

/// Parses one part on a blocking thread. Returns the document and what was lost.
async fn read_part(
    pdf: &PdfReader,
    resource: &ResourceSnapshot,
    part: &ResourcePart,
) -> Result<(ParsedDocument, Vec<String>), String> {
    let (format, bytes) = (part.format()?, part.body.bytes());
    let most = if format == DocumentFormat::Pdf { MOST_PDF } else { MOST_TEXT };
    if bytes.len() as u64 > most {
        return Err(format!("it is larger than {} MiB", most >> 20));
    }
    let (pdf, name, bytes) = (pdf.clone(), part_name(resource, part), bytes.to_vec());
    let reading = tokio::task::spawn_blocking(move || match format {
        DocumentFormat::Pdf => {
            let file = write_temp_file(&bytes)
                .map_err(|error| format!("cannot write a temporary file: {error}"))?;
            pdf.read_document(&name, file)
        }
        format => Ok(ingest::read_text(format, &name, bytes)),
    });
    reading.await.map_err(|error| format!("its parser failed: {error}"))?
}

/// Writes the bytes to an unnamed temporary file, because the PDF helper needs a file.
fn write_temp_file(bytes: &[u8]) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    file.write_all(bytes)?;
    file.rewind()?;
    Ok(file)
}

/// Returns the name of a part: the resource's name if it is the only part, else the end of its URI.
fn part_name(resource: &ResourceSnapshot, part: &ResourcePart) -> String {
    let given = resource.name.clone().filter(|name| !name.trim().is_empty());
    let only = resource.parts.len() == 1;
    let own = || Some(part.name()).filter(|name| !name.is_empty());
    given.filter(|_| only).or_else(own).unwrap_or_else(|| resource.uri.clone())
}

/// Joins all parts in order. If there are several, each passage gets its part's name as the
/// outermost heading, because line numbers count within a part.
fn join_documents(
    resource: &ResourceSnapshot,
    mut documents: Vec<(&ResourcePart, ParsedDocument)>,
) -> ParsedDocument {
    if resource.parts.len() == 1 && documents.len() == 1 {
        return documents.remove(0).1;
    }
    let title = resource.name.clone().filter(|name| !name.trim().is_empty());
    let title = title.unwrap_or_else(|| resource.uri.clone());
    let cut = documents.iter().find_map(|(_, document)| document.truncation.clone());
    let passages = documents.into_iter().flat_map(|(part, document)| {
        let ParsedDocument { title, passages, .. } = document;
        let under = if part.uri == resource.uri { title } else { part.uri.clone() };
        passages.into_iter().map(move |passage| nest_heading(&under, passage))
    });
    ParsedDocument { title, passages: passages.collect(), truncation: cut }
}

fn nest_heading(under: &str, passage: Passage) -> Passage {
    let heading = match passage.heading.as_str() {
        "" => under.to_owned(),
        heading if heading == under || heading.starts_with(&format!("{under} > ")) => {
            heading.to_owned()
        }
        heading => format!("{under} > {heading}"),
    };
    Passage { heading, ..passage }
}
