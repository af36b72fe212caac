//! Detects the format of a file by its name and its first bytes. Files that are neither text nor
//! PDF have no format.

use encoding_rs::{Encoding, UTF_8};

use crate::decode;

/// The format of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DocumentFormat {
    /// Plain text: paragraphs between empty lines.
    Text,
    /// Markdown.
    Markdown,
    /// HTML.
    Html,
    /// Source code.
    Source,
    /// PDF. This crate does not parse it; the caller provides its pages.
    Pdf,
}

const MARKDOWN: &str = " md markdown mdown mkd mkdn mdx qmd rmd ";

const HTML: &str = " html htm xhtml shtml ";

const SOURCE: &str = " ada adb ads asm awk bash bat c cc cjs clj cljs cljc cmake cmd coffee cpp cr cs cu cuh cxx d dart \
ejs el elm erl ex exs f f90 f95 fish for fs fsi fsx go gql gradle graphql groovy h hcl hh hpp hrl hs htc hxx \
idl ino java jl js jsx kt kts lean less lhs lisp lua m mjs ml mli mm mts cts nim nix nu pas php pl pm pp proto ps1 psm1 py \
pyi pyx r rb rkt rs s sass scala scm scss sh sol sql st sv svelte swift tcl tf thrift ts tsx v vb vala vhd \
vhdl vim vue wat wgsl glsl hlsl metal xsl zig zsh ";

/// Names of source files without an extension.
const SOURCE_NAMES: &str = " makefile gnumakefile dockerfile containerfile justfile rakefile gemfile \
vagrantfile jenkinsfile cmakelists.txt build.bazel workspace.bazel brewfile procfile snakefile \
sconstruct meson.build ";

/// Extensions of binary files.
const BINARY: &str = " 7z a aac aif apk ar avi avif bin bmp bz2 cab class dat db deb dll dmg doc docx ds_store dylib ear \
eot eps exe flac flv gif gz heic icns ico img iso jar jpeg jpg key lib lz4 lzma m4a m4v mid mkv mo mov \
mp3 mp4 mpeg mpg msi npy npz numbers o obj odp ods odt ogg ogv onnx opus otf pages parquet pcap pdb pickle pkl png \
ppt pptx ps psd pt pyc pyd pyo rar rlib rpm rtf safetensors so sqlite sqlite3 svg swf tar tgz tif tiff ttf \
war wasm wav webm webp whl wma wmv woff woff2 xls xlsx xz zip zst ";

impl DocumentFormat {
    /// Detects the format by a file's name and its first bytes (a few hundred are enough, some
    /// thousand are better). Returns `None` for a binary file.
    pub fn detect(name: &str, head: &[u8]) -> Option<Self> {
        if head.starts_with(b"%PDF-") {
            return Some(Self::Pdf);
        }
        if Encoding::for_bom(head).is_some_and(|(encoding, _)| encoding != UTF_8) {
            let even = head.len() & !1;
            return Self::detect(name, decode(head[..even].to_vec()).text.as_bytes());
        }
        let file = name.rsplit(['/', '\\']).next().unwrap_or(name).to_ascii_lowercase();
        let ending = file.rsplit_once('.').map_or("", |(_, ending)| ending);
        if is_in(BINARY, ending) || ending == "pdf" || !is_text(head) {
            return None;
        }
        Some(by_ending(&file, ending).unwrap_or_else(|| by_head(head)))
    }
}

fn by_ending(file: &str, ending: &str) -> Option<DocumentFormat> {
    let is_named = is_in(SOURCE_NAMES, file) || file.starts_with("dockerfile.");
    match ending {
        _ if is_named => Some(DocumentFormat::Source),
        _ if is_in(MARKDOWN, ending) => Some(DocumentFormat::Markdown),
        _ if is_in(HTML, ending) => Some(DocumentFormat::Html),
        _ if is_in(SOURCE, ending) => Some(DocumentFormat::Source),
        _ => None,
    }
}

fn by_head(head: &[u8]) -> DocumentFormat {
    let near = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    let begins = |with: &str| {
        near.get(..with.len()).is_some_and(|it| it.eq_ignore_ascii_case(with.as_bytes()))
    };
    if begins("<!doctype html") || begins("<html") {
        DocumentFormat::Html
    } else if head.starts_with(b"#!") {
        DocumentFormat::Source
    } else {
        DocumentFormat::Text
    }
}

/// Returns true if a list of words, separated by spaces, contains `word`.
fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == word)
}

/// One byte in this many can be invalid UTF-8. Text in an older encoding stays below; images do
/// not.
const ONE_IN: usize = 5;

fn is_text(head: &[u8]) -> bool {
    const OTHERS: [&[u8]; 4] = [b"{\\rtf", b"%!PS", b"\x1f\x8b", b"PK\x03\x04"];
    if head.contains(&0) || OTHERS.iter().any(|magic| head.starts_with(magic)) {
        return false;
    }
    let odd = |byte: &&u8| matches!(byte, 1..=8 | 14..=26 | 28..=31 | 127);
    let controls = head.iter().filter(odd).count();
    // The head can end within a character.
    let invalid: usize = head.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    (controls * 4 + invalid.saturating_sub(3)) * ONE_IN <= head.len()
}

#[cfg(test)]
mod tests {
    use super::DocumentFormat::{self, Html, Markdown, Pdf, Source, Text};

    #[test]
    fn names_tell_the_format() {
        for (name, format) in [
            ("a/README.md", Some(Markdown)),
            ("x.MARKDOWN", Some(Markdown)),
            ("page.htm", Some(Html)),
            ("src/main.rs", Some(Source)),
            ("x.h", Some(Source)),
            ("Makefile", Some(Source)),
            ("Dockerfile.dev", Some(Source)),
            ("CMakeLists.txt", Some(Source)),
            ("notes.txt", Some(Text)),
            ("data.csv", Some(Text)),
            ("Cargo.toml", Some(Text)),
            ("x.yaml", Some(Text)),
            ("LICENSE", Some(Text)),
            ("minutes.rst", Some(Text)),
            ("a name that ends with a full stop. ", Some(Text)),
            ("photo.JPG", None),
            ("a.zip", None),
            ("broken.pdf", None),
            ("lib.so", None),
        ] {
            assert_eq!(DocumentFormat::detect(name, b"some text\n"), format, "{name}");
        }
    }

    #[test]
    fn bytes_tell_the_format() {
        assert_eq!(DocumentFormat::detect("x.bin.txt", b"%PDF-1.7\n\0"), Some(Pdf));
        assert_eq!(DocumentFormat::detect("page", b"\n <!DOCTYPE HTML>"), Some(Html));
        assert_eq!(DocumentFormat::detect("script", b"#!/bin/sh\n"), Some(Source));
        assert_eq!(DocumentFormat::detect("notes.md", b"abc\0def"), None);
        assert_eq!(DocumentFormat::detect("data", b"\x1f\x8b\x08\x01\x01"), None);
        assert_eq!(DocumentFormat::detect("x.txt", b"\xff\xfea\0b\0"), Some(Text));
        assert_eq!(DocumentFormat::detect("x.txt", b""), Some(Text));
    }

    #[test]
    fn older_encodings_are_text_and_noise_is_not() {
        let latin = b"Gr\xfc\xdfe aus M\xfcnchen, der Bericht ist fertig und geht morgen hinaus.";
        assert_eq!(DocumentFormat::detect("x.txt", latin), Some(Text));
        let noise: Vec<u8> = (1..=255).cycle().take(1000).collect();
        assert_eq!(DocumentFormat::detect("x.txt", &noise), None);
        let cut = "ä".repeat(100);
        assert_eq!(DocumentFormat::detect("x.txt", &cut.as_bytes()[..101]), Some(Text));
    }
}
