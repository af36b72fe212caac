//! `context import`: takes in what `context export` wrote.
//!
//! A file is read twice: what is wrong in it is found before anything is kept. From a pipe it is
//! read once, and whole documents are kept as they come. Text of a file is anybody's word unless the
//! user says that he believes it.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use toolgate_context::{Card, Fresh, Library};

use super::record::Record;
use super::{failed, library, shown};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner};

/// About so many bytes of text are kept at once.
const BATCH: usize = 4 << 20;
/// A longer line is no document of ours: none may have so much text.
const LONGEST: u64 = 512 << 20;

#[derive(Debug, Args)]
#[command(after_help = "Documents that are here already and newer stay as they are. Text is \
    untrusted here unless --trusted is given.\n\n\
    Examples:\n  toolgate context import context.jsonl\n  \
    toolgate context export | toolgate context import -")]
pub struct Import {
    /// What to take in; - reads standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Believe the file where it says that text is trusted
    #[arg(long)]
    trusted: bool,
    /// Replace documents that are newer here
    #[arg(long)]
    force: bool,
}

/// What became of the documents.
#[derive(Debug, Default, Serialize)]
struct Report {
    added: u64,
    changed: u64,
    unchanged: u64,
    /// Those that are newer here.
    newer: u64,
    /// Those that were trusted where they come from, and are not here.
    distrusted: u64,
}

pub async fn run(context: &Context, options: &Import) -> Result<Exit, Failure> {
    let stdin = options.file == Path::new("-");
    if !stdin {
        let mut lines = Lines::open(&options.file)?;
        while let Some((record, line)) = lines.next()? {
            record.fresh(false).map_err(|why| lines.wrong(line, &why))?;
        }
    }
    let lines = if stdin { Lines::stdin() } else { Lines::open(&options.file)? };
    let library = library(context).await?;
    let mut intake =
        Intake { library, options, report: Report::default(), waiting: Vec::new(), size: 0 };
    let taken = intake.all(lines).await;
    // What came before a line that is wrong is whole.
    let kept = intake.keep().await;
    let report = intake.report;
    if context.json {
        out::json(&report)?;
    }
    tell(&report);
    taken.and(kept)?;
    Ok(Exit::Done)
}

fn tell(report: &Report) {
    let Report { added, changed, unchanged, newer, distrusted } = report;
    out::note(&format!("{added} added, {changed} changed, {unchanged} unchanged"));
    let hint = out::cyan("hint:");
    if *newer > 0 {
        let many = shown::count(*newer, "document");
        out::note(&format!("{many} left as they are: newer here\n{hint} --force replaces them"));
    }
    if *distrusted > 0 {
        let many = shown::count(*distrusted, "document");
        out::note(&format!(
            "{many} trusted by the file, untrusted here\n{hint} --trusted believes a file you wrote \
             yourself"
        ));
    }
}

/// Documents on their way in.
struct Intake<'a> {
    library: Library,
    options: &'a Import,
    report: Report,
    waiting: Vec<Fresh>,
    size: usize,
}

impl Intake<'_> {
    async fn all(&mut self, mut lines: Lines) -> Result<(), Failure> {
        let spinner = Spinner::new("taking documents in");
        while let Some((record, line)) = lines.next()? {
            let (is_trusted, believed) = (record.is_trusted(), self.options.trusted);
            let fresh = record.fresh(believed).map_err(|why| lines.wrong(line, &why))?;
            self.report.distrusted += u64::from(is_trusted && !believed);
            self.one(fresh).await?;
            spinner.say(&format!("taking documents in: {line}"));
        }
        Ok(())
    }

    async fn one(&mut self, fresh: Fresh) -> Result<(), Failure> {
        // Twice the same in one file: the later one counts, and must see the earlier.
        if self.waiting.iter().any(|waiting| waiting.key == fresh.key) {
            self.keep().await?;
        }
        let known = self.library.card(&fresh.key).await.map_err(|error| failed(&error))?;
        match known {
            Some(card) if is_same(&card, &fresh) => {
                self.report.unchanged += 1;
                return Ok(());
            }
            Some(card) if card.stamp.modified > fresh.stamp.modified && !self.options.force => {
                self.report.newer += 1;
                return Ok(());
            }
            Some(_) => self.report.changed += 1,
            None => self.report.added += 1,
        }
        self.size += fresh.document.passages.iter().map(|it| it.text.len()).sum::<usize>();
        self.waiting.push(fresh);
        if self.size >= BATCH {
            self.keep().await?;
        }
        Ok(())
    }

    async fn keep(&mut self) -> Result<(), Failure> {
        self.size = 0;
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        self.library.keep(waiting).await.map_err(|error| failed(&error))
    }
}

fn is_same(card: &Card, fresh: &Fresh) -> bool {
    card.stamp == fresh.stamp
        && card.trust == fresh.trust
        && card.origin == fresh.origin
        && card.title == fresh.document.title
        && card.passages == fresh.document.passages.len() as u64
}

/// The lines of a file, each of them a document.
struct Lines {
    name: String,
    reader: Box<dyn BufRead>,
    number: u64,
}

impl Lines {
    fn open(path: &Path) -> Result<Self, Failure> {
        let file = File::open(path).map_err(|error| {
            Failure::failed(format!("read {}: {error}", path.display()))
                .hint("`toolgate context export --output FILE` writes such a file")
        })?;
        Ok(Self::of(path.display().to_string(), Box::new(BufReader::new(file))))
    }

    fn stdin() -> Self {
        Self::of("standard input".to_owned(), Box::new(BufReader::new(io::stdin())))
    }

    fn of(name: String, reader: Box<dyn BufRead>) -> Self {
        Self { name, reader, number: 0 }
    }

    /// The next document, and its line. Empty lines are none.
    fn next(&mut self) -> Result<Option<(Record, u64)>, Failure> {
        loop {
            let mut line = Vec::new();
            let read = (&mut self.reader).take(LONGEST).read_until(b'\n', &mut line);
            let read =
                read.map_err(|error| Failure::failed(format!("read {}: {error}", self.name)))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 == LONGEST {
                return Err(self.wrong(self.number, "it is too long"));
            }
            let text = std::str::from_utf8(&line);
            let text = text.map_err(|_| self.wrong(self.number, "it is not UTF-8"))?;
            if text.trim().is_empty() {
                continue;
            }
            let record = Record::parse(text).map_err(|why| self.wrong(self.number, &why))?;
            return Ok(Some((record, self.number)));
        }
    }

    fn wrong(&self, line: u64, why: &str) -> Failure {
        Failure::failed(format!("take in line {line} of {}: {why}", self.name))
            .hint("each line is a document as `toolgate context export` writes it")
    }
}
