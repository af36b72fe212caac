//! Reads PDFs in a helper process with limits on memory and time, because PDFs are complex
//! untrusted input and their parsers have faults.
//!
//! The helper is this binary, started again: it gets the open file on stdin, extracts the text of
//! every page (`pdf_pages`), and answers one JSON line per page. It does not recognize text in
//! scanned pages.

use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolgate_host::{ConfinedLimits, ConfinedOutcome, LaunchHelperProgram, run_confined};
use toolgate_reading::ParsedDocument;

use crate::pdf_pages;

/// The first argument of a helper call. CLI verbs never begin with underscores.
const VERB: &str = "__pdf";

/// The limits of the helper. A page of text is a few kilobytes, so books stay far below.
const BOUNDS: ConfinedLimits = ConfinedLimits {
    memory: 512 << 20,
    cpu: Duration::from_secs(20),
    time: Duration::from_secs(60),
    output: 32 << 20,
};

/// True once `main` has called [`helper_main`].
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Runs the PDF helper if this process was started as one, and returns its exit code; returns
/// `None` otherwise. Call it at the start of `main`, after the host's helper function.
pub fn helper_main() -> Option<ExitCode> {
    if std::env::args_os().nth(1).as_deref() != Some(VERB.as_ref()) {
        ANSWERED.store(true, Ordering::Relaxed);
        return None;
    }
    let result = pdf_pages::read(&mut io::stdin().lock(), &mut |line| {
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        io::stdout().write_all(text.as_bytes())
    });
    Some(if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One line of a helper's output.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PdfHelperLine {
    /// The title from the document's metadata.
    Title(String),
    /// The text of the next page.
    Page(String),
    /// The partial text of the next page, which cannot be read completely.
    Damaged(String),
    /// The reason why the document cannot be read at all.
    Refused(String),
}

/// The text of a PDF by page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct PdfPages {
    /// The title from the metadata; empty if there is none.
    pub(crate) title: String,
    /// The text of each page; empty if a page has none.
    pub(crate) pages: Vec<String>,
    /// The numbers of pages that cannot be read completely, from 1.
    pub(crate) damaged: Vec<usize>,
}

/// Reads PDFs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PdfReader(Option<LaunchHelperProgram>);

impl PdfReader {
    /// Uses this program as the helper if its `main` called [`helper_main`]; otherwise refuses
    /// PDFs.
    pub fn current() -> Self {
        Self(ANSWERED.load(Ordering::Relaxed).then(LaunchHelperProgram::current_exe))
    }

    /// Uses another program as the helper, whose `main` calls [`helper_main`], such as `toolgate`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(Some(LaunchHelperProgram::at_path(path)))
    }

    /// Refuses all PDFs.
    pub fn disabled() -> Self {
        Self(None)
    }

    /// Parses a PDF. Returns the document and notes on losses, or the reason why it cannot be read.
    /// Blocks.
    pub(crate) fn read_document(
        &self,
        name: &str,
        file: File,
    ) -> Result<(ParsedDocument, Vec<String>), String> {
        let PdfPages { title, pages, damaged } = self.read(file)?;
        let mut document = toolgate_reading::pages(name, &pages);
        if !title.trim().is_empty() {
            document.title = title.trim().to_owned();
        }
        let mut notes: Vec<_> = document.truncation.iter().cloned().collect();
        if let [first, rest @ ..] = damaged.as_slice() {
            let more =
                if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
            notes.push(format!("page {first}{more} could not be read completely"));
        }
        Ok((document, notes))
    }

    fn read(&self, file: File) -> Result<PdfPages, String> {
        let helper = self.0.as_ref().ok_or("this program has no helper to read PDFs")?;
        match run_confined(helper, &[VERB], file, &BOUNDS) {
            Ok(ConfinedOutcome::Answered(answer)) => parse_helper_output(&answer),
            Ok(ConfinedOutcome::TimedOut) => Err(format!(
                "reading it takes more than {} seconds of CPU time",
                BOUNDS.cpu.as_secs()
            )),
            Ok(ConfinedOutcome::OutputTooLong) => {
                Err(format!("it has more than {} MiB of text", BOUNDS.output >> 20))
            }
            Ok(ConfinedOutcome::Died { stderr, .. }) => Err(describe_helper_crash(&stderr)),
            Err(error) => Err(format!("cannot start the helper process: {error}")),
        }
    }
}

/// Returns the reason for a crash. The Rust runtime prints it to stderr before it aborts.
fn describe_helper_crash(stderr: &str) -> String {
    if stderr.contains("memory allocation") {
        format!("reading it takes more than {} MiB of memory", BOUNDS.memory >> 20)
    } else if stderr.contains("overflowed its stack") {
        "it is nested too deeply".to_owned()
    } else {
        "it is damaged and crashes the PDF reader".to_owned()
    }
}

fn parse_helper_output(answer: &[u8]) -> Result<PdfPages, String> {
    let mut pages = PdfPages::default();
    for line in answer.lines() {
        let line = line.ok().and_then(|line| serde_json::from_str(&line).ok());
        match line.ok_or("the helper process sent an unexpected answer")? {
            PdfHelperLine::Title(title) => pages.title = title,
            PdfHelperLine::Page(text) => pages.pages.push(text),
            PdfHelperLine::Damaged(text) => {
                pages.pages.push(text);
                pages.damaged.push(pages.pages.len());
            }
            PdfHelperLine::Refused(why) => return Err(why),
        }
    }
    let blank = pages.pages.iter().all(|page| page.trim().is_empty());
    match (blank, pages.damaged.is_empty()) {
        (false, _) => Ok(pages),
        (true, false) => Err("none of its pages can be read".into()),
        (true, true) => Err("it has no text: its pages may be scanned".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lines: &[PdfHelperLine]) -> Vec<u8> {
        let line = |line| serde_json::to_string(line).unwrap() + "\n";
        lines.iter().map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn pages_come_back_in_order_with_the_damaged_ones_named() {
        let answer = lines(&[
            PdfHelperLine::Title("Plan".into()),
            PdfHelperLine::Page("one\ntwo".into()),
            PdfHelperLine::Damaged(String::new()),
            PdfHelperLine::Page("three".into()),
        ]);
        let pages = ["one\ntwo", "", "three"].map(str::to_owned).to_vec();
        let read = PdfPages { title: "Plan".into(), pages, damaged: vec![2] };
        assert_eq!(parse_helper_output(&answer), Ok(read));
    }

    #[test]
    fn a_document_without_text_says_why() {
        let blank = parse_helper_output(&lines(&[PdfHelperLine::Page(" \n".into())])).unwrap_err();
        assert!(blank.contains("scanned"), "{blank}");
        let damaged =
            parse_helper_output(&lines(&[PdfHelperLine::Damaged(String::new())])).unwrap_err();
        assert!(damaged.contains("none of its pages"), "{damaged}");
        let refused = parse_helper_output(&lines(&[PdfHelperLine::Refused("it is locked".into())]));
        assert_eq!(refused.unwrap_err(), "it is locked");
    }

    #[test]
    fn without_a_helper_a_pdf_is_refused() {
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        assert!(PdfReader::disabled().read(file).unwrap_err().contains("no helper"));
    }
}
