//! PDFs are read by a helper process with bounds on its memory and time, because a PDF is a program
//! by anybody, and no parser of them is without faults.
//!
//! The helper is our own binary run again: it gets the open file, finds the text of every page
//! (`pdf_pages`), and answers a line for each. What cannot be read that way is refused with a reason.
//! There is no recognition of scanned pages.

use std::fs::File;
use std::io::{self, BufRead as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolgate_host::{Bounds, Ending, Helper, confined};

use crate::pdf_pages;

/// The first argument of a helper call. A program's own verbs never begin with underscores.
const VERB: &str = "__pdf";

/// What a helper may use. A page of text is some kilobytes: even a book stays far below.
const BOUNDS: Bounds = Bounds {
    memory: 512 << 20,
    cpu: Duration::from_secs(20),
    time: Duration::from_secs(60),
    output: 32 << 20,
};

/// Set once `main` has shown that it answers helper calls.
static ANSWERED: AtomicBool = AtomicBool::new(false);

/// Must be called first thing in `main`, after the host's. Returns `None` in the ordinary case; if
/// this process was started to read a PDF, it does that and returns the code to exit with.
pub fn helper_main() -> Option<ExitCode> {
    if std::env::args_os().nth(1).as_deref() != Some(VERB.as_ref()) {
        ANSWERED.store(true, Ordering::Relaxed);
        return None;
    }
    let told = pdf_pages::read(&mut io::stdin().lock(), &mut |line| {
        let mut text = serde_json::to_string(&line)?;
        text.push('\n');
        io::stdout().write_all(text.as_bytes())
    });
    Some(if told.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A line of a helper's answer.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Line {
    /// What the document calls itself.
    Title(String),
    /// The text of the next page.
    Page(String),
    /// The next page cannot be read whole: what was found of it.
    Damaged(String),
    /// Nothing of it can be read, and why.
    Refused(String),
}

/// The text of a PDF.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    /// What it calls itself; empty if it does not.
    pub(crate) title: String,
    /// The text of each page; empty where there is none.
    pub(crate) pages: Vec<String>,
    /// The numbers of pages that cannot be read whole.
    pub(crate) damaged: Vec<usize>,
}

/// Reads PDFs. Cheap to clone.
#[derive(Debug, Clone)]
pub struct PdfReader(Option<Helper>);

impl PdfReader {
    /// With this very program, if its `main` called [`helper_main`]; otherwise PDFs are refused.
    pub fn current() -> Self {
        Self(ANSWERED.load(Ordering::Relaxed).then(Helper::own))
    }

    /// With a program that calls [`helper_main`] first thing in its `main`, such as `toolgate`.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(Some(Helper::at(path)))
    }

    /// PDFs are refused.
    pub fn none() -> Self {
        Self(None)
    }

    /// The text of a PDF, or why there is none. Blocks.
    pub(crate) fn read(&self, file: File) -> Result<Pages, String> {
        let helper = self.0.as_ref().ok_or("this program has no helper that reads PDF")?;
        match confined(helper, &[VERB], file, &BOUNDS) {
            Ok(Ending::Answered(answer)) => gathered(&answer),
            Ok(Ending::Overtime) => Err(format!(
                "reading it takes more than {} seconds of a processor",
                BOUNDS.cpu.as_secs()
            )),
            Ok(Ending::Overlong) => {
                Err(format!("it has more than {} MiB of text", BOUNDS.output >> 20))
            }
            Ok(Ending::Died { said, .. }) => Err(cause_of_death(&said)),
            Err(error) => Err(format!("its helper process did not start: {error}")),
        }
    }
}

/// The system says why on stderr, for whoever looks there.
fn cause_of_death(said: &str) -> String {
    if said.contains("memory allocation") {
        format!("reading it takes more than {} MiB of memory", BOUNDS.memory >> 20)
    } else if said.contains("overflowed its stack") {
        "it is nested too deeply".to_owned()
    } else {
        "it is damaged in a way that ends its reader".to_owned()
    }
}

fn gathered(answer: &[u8]) -> Result<Pages, String> {
    let mut pages = Pages::default();
    for line in answer.lines() {
        let line = line.ok().and_then(|line| serde_json::from_str(&line).ok());
        match line.ok_or("its helper process answered something else")? {
            Line::Title(title) => pages.title = title,
            Line::Page(text) => pages.pages.push(text),
            Line::Damaged(text) => {
                pages.pages.push(text);
                pages.damaged.push(pages.pages.len());
            }
            Line::Refused(why) => return Err(why),
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

    fn lines(lines: &[Line]) -> Vec<u8> {
        let line = |line| serde_json::to_string(line).unwrap() + "\n";
        lines.iter().map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn pages_come_back_in_order_with_the_damaged_ones_named() {
        let answer = lines(&[
            Line::Title("Plan".into()),
            Line::Page("one\ntwo".into()),
            Line::Damaged(String::new()),
            Line::Page("three".into()),
        ]);
        let pages = ["one\ntwo", "", "three"].map(str::to_owned).to_vec();
        let read = Pages { title: "Plan".into(), pages, damaged: vec![2] };
        assert_eq!(gathered(&answer), Ok(read));
    }

    #[test]
    fn a_document_without_text_says_why() {
        let blank = gathered(&lines(&[Line::Page(" \n".into())])).unwrap_err();
        assert!(blank.contains("scanned"), "{blank}");
        let damaged = gathered(&lines(&[Line::Damaged(String::new())])).unwrap_err();
        assert!(damaged.contains("none of its pages"), "{damaged}");
        let refused = gathered(&lines(&[Line::Refused("it is locked".into())]));
        assert_eq!(refused.unwrap_err(), "it is locked");
    }

    #[test]
    fn without_a_helper_a_pdf_is_refused() {
        let file = File::open(std::env::current_exe().unwrap()).unwrap();
        assert!(PdfReader::none().read(file).unwrap_err().contains("no helper"));
    }
}
