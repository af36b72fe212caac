//! One part of a resource, and the detection of its format: by MIME type, then by name, then by
//! content.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use toolgate_reading::DocumentFormat;

/// One item of a resource's `contents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourcePart {
    /// The URI of the part, which can differ from the resource's.
    pub uri: String,
    /// The MIME type that the server states, if any.
    pub mime: Option<String>,
    /// The content.
    pub body: ResourceBody,
}

/// The content of a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Bytes, which can be text as well.
    Blob(Vec<u8>),
}

impl ResourceBody {
    /// Returns the content as bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Blob(bytes) => bytes,
        }
    }
}

impl ResourcePart {
    /// Returns the MIME type in lower case without parameters, or an empty string.
    pub(super) fn mime(&self) -> String {
        let whole = self.mime.as_deref().unwrap_or_default();
        whole.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// Returns the last segment of the URI's path, percent-decoded.
    pub(super) fn name(&self) -> String {
        let path = self.uri.split(['?', '#']).next().unwrap_or_default();
        let last = path.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let decoded = percent_decode_str(last).decode_utf8();
        decoded.map_or_else(|_| last.to_owned(), Cow::into_owned)
    }

    /// Returns the format, or the reason why the part cannot be read.
    pub(super) fn format(&self) -> Result<DocumentFormat, String> {
        let mime = self.mime();
        if let Some(format) = format_from_mime(&mime) {
            return Ok(format);
        }
        let head = self.body.bytes();
        let head = head.get(..HEAD).unwrap_or(head);
        let by_name = DocumentFormat::detect(&self.name(), head);
        match (&self.body, by_name) {
            // The server sent text, so a name that ends in `.pdf` is wrong.
            (ResourceBody::Text(_), Some(DocumentFormat::Pdf) | None) => Ok(DocumentFormat::Text),
            (ResourceBody::Blob(_), _) if is_media(&mime) => {
                Err(format!("it is {mime}, which has no text"))
            }
            (_, Some(format)) => Ok(format),
            (ResourceBody::Blob(_), None) => Err(match mime.as_str() {
                "" => "it is binary".to_owned(),
                mime => format!("it is {mime}, which cannot be read"),
            }),
        }
    }
}

/// The number of bytes used to detect the format.
const HEAD: usize = 8 << 10;

/// Returns the format if the MIME type is specific. `text/plain` is not: servers use it for
/// everything, and the name can tell more.
fn format_from_mime(mime: &str) -> Option<DocumentFormat> {
    match mime {
        "text/html" | "application/xhtml+xml" => Some(DocumentFormat::Html),
        "text/markdown" | "text/x-markdown" => Some(DocumentFormat::Markdown),
        "application/pdf" | "application/x-pdf" => Some(DocumentFormat::Pdf),
        _ => None,
    }
}

fn is_media(mime: &str) -> bool {
    let kind = mime.split('/').next().unwrap_or_default();
    matches!(kind, "image" | "audio" | "video" | "font") && mime != "image/svg+xml"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(uri: &str, mime: &str, body: ResourceBody) -> ResourcePart {
        let mime = (!mime.is_empty()).then(|| mime.to_owned());
        ResourcePart { uri: uri.into(), mime, body }
    }

    fn text(uri: &str, mime: &str) -> ResourcePart {
        part(uri, mime, ResourceBody::Text("words\n".into()))
    }

    #[test]
    fn the_type_says_how_a_part_is_read_and_the_name_where_it_does_not() {
        for (uri, mime, format) in [
            ("x://page", "text/html; charset=utf-8", DocumentFormat::Html),
            ("x://page", "Text/Markdown", DocumentFormat::Markdown),
            ("x://a/plan.md", "", DocumentFormat::Markdown),
            ("x://a/plan.md?version=3#top", "text/plain", DocumentFormat::Markdown),
            ("x://handbook", "", DocumentFormat::Text),
            ("x://odd.pdf", "text/plain", DocumentFormat::Text),
        ] {
            assert_eq!(text(uri, mime).format(), Ok(format), "{uri} {mime}");
        }
        let pdf = part("x://report", "application/pdf", ResourceBody::Blob(b"%PDF-1.7".to_vec()));
        assert_eq!(pdf.format(), Ok(DocumentFormat::Pdf));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_by_name() {
        let image = part("x://logo.png", "image/png", ResourceBody::Blob(vec![0x89, b'P', 0, 1]));
        assert_eq!(image.format(), Err("it is image/png, which has no text".into()));
        let thing =
            part("x://thing", "application/zip", ResourceBody::Blob(vec![b'P', b'K', 0, 0]));
        assert_eq!(thing.format(), Err("it is application/zip, which cannot be read".into()));
        assert_eq!(
            part("x://t", "", ResourceBody::Blob(vec![0, 1])).format(),
            Err("it is binary".into())
        );
    }

    #[test]
    fn a_name_is_the_end_of_the_path_as_a_person_writes_it() {
        for (uri, name) in [
            ("file:///home/me/M%C3%A4rz%20plan.md", "März plan.md"),
            ("wiki://handbook/", "handbook"),
            ("urn:isbn:12", "12"),
            ("x://a%zz%f", "a%zz%f"),
            ("x://%ff", "%ff"),
            ("", ""),
        ] {
            assert_eq!(text(uri, "").name(), name, "{uri}");
        }
    }
}
