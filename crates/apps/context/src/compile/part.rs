//! A part of a resource, and how it is to be read: its type says so if it can, then its name, then
//! its bytes.

use toolgate_reading::Format;

use crate::ingest;

/// One of the contents of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Its own URI, which need not be the resource's.
    pub uri: String,
    /// Its MIME type as the server gives it, where it gives one.
    pub mime: Option<String>,
    /// What it holds.
    pub body: Body,
}

/// What a part holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// Text.
    Text(String),
    /// Bytes, which may be text nevertheless.
    Blob(Vec<u8>),
}

impl Body {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Self::Text(text) => text.as_bytes(),
            Self::Blob(bytes) => bytes,
        }
    }
}

impl Part {
    /// Its type in lower case without parameters; empty where it has none.
    pub(super) fn mime(&self) -> String {
        let whole = self.mime.as_deref().unwrap_or_default();
        whole.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    /// The last part of its URI's path, decoded: what a file of it would be called.
    pub(super) fn name(&self) -> String {
        let path = self.uri.split(['?', '#']).next().unwrap_or_default();
        let last = path.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        decoded(last)
    }

    /// How it is written; otherwise, why it cannot be read.
    pub(super) fn format(&self) -> Result<Format, String> {
        let mime = self.mime();
        if let Some(format) = by_mime(&mime) {
            return Ok(format);
        }
        let head = self.body.bytes();
        let head = head.get(..HEAD).unwrap_or(head);
        let by_name = ingest::format(&self.name(), head);
        match (&self.body, by_name) {
            // The name may say PDF of what is text: the server knows better.
            (Body::Text(_), Some(Format::Pdf) | None) => Ok(Format::Text),
            (Body::Blob(_), _) if is_media(&mime) => {
                Err(format!("it is {mime}, which has no text"))
            }
            (_, Some(format)) => Ok(format),
            (Body::Blob(_), None) => Err(match mime.as_str() {
                "" => "it is binary".to_owned(),
                mime => format!("it is {mime}, which cannot be read"),
            }),
        }
    }
}

/// So many bytes tell what something is.
const HEAD: usize = 8 << 10;

/// What a type leaves no doubt about. `text/plain` is not here: servers say it of everything, and
/// the name may know more.
fn by_mime(mime: &str) -> Option<Format> {
    match mime {
        "text/html" | "application/xhtml+xml" => Some(Format::Html),
        "text/markdown" | "text/x-markdown" => Some(Format::Markdown),
        "application/pdf" | "application/x-pdf" => Some(Format::Pdf),
        _ => None,
    }
}

fn is_media(mime: &str) -> bool {
    let kind = mime.split('/').next().unwrap_or_default();
    matches!(kind, "image" | "audio" | "video" | "font") && mime != "image/svg+xml"
}

/// The text with its percent-encoding undone, where it has some that makes sense.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let pair = behind.get(..2).filter(|_| *first == b'%').and_then(|pair| {
            let digits = std::str::from_utf8(pair).ok()?;
            u8::from_str_radix(digits, 16)
                .ok()
                .filter(|_| digits.bytes().all(|c| c.is_ascii_hexdigit()))
        });
        match pair {
            Some(byte) => {
                bytes.push(byte);
                rest = &behind[2..];
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(uri: &str, mime: &str, body: Body) -> Part {
        let mime = (!mime.is_empty()).then(|| mime.to_owned());
        Part { uri: uri.into(), mime, body }
    }

    fn text(uri: &str, mime: &str) -> Part {
        part(uri, mime, Body::Text("words\n".into()))
    }

    #[test]
    fn the_type_says_how_a_part_is_read_and_the_name_where_it_does_not() {
        for (uri, mime, format) in [
            ("x://page", "text/html; charset=utf-8", Format::Html),
            ("x://page", "Text/Markdown", Format::Markdown),
            ("x://a/plan.md", "", Format::Markdown),
            ("x://a/plan.md?version=3#top", "text/plain", Format::Markdown),
            ("x://handbook", "", Format::Text),
            ("x://odd.pdf", "text/plain", Format::Text),
        ] {
            assert_eq!(text(uri, mime).format(), Ok(format), "{uri} {mime}");
        }
        let pdf = part("x://report", "application/pdf", Body::Blob(b"%PDF-1.7".to_vec()));
        assert_eq!(pdf.format(), Ok(Format::Pdf));
    }

    #[test]
    fn bytes_that_are_no_text_are_refused_by_name() {
        let image = part("x://logo.png", "image/png", Body::Blob(vec![0x89, b'P', 0, 1]));
        assert_eq!(image.format(), Err("it is image/png, which has no text".into()));
        let thing = part("x://thing", "application/zip", Body::Blob(vec![b'P', b'K', 0, 0]));
        assert_eq!(thing.format(), Err("it is application/zip, which cannot be read".into()));
        assert_eq!(part("x://t", "", Body::Blob(vec![0, 1])).format(), Err("it is binary".into()));
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
