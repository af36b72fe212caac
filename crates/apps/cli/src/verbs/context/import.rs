//! `context import`: adds the documents that `context export` wrote.
//!
//! A file is read twice, so that errors are found before anything is stored. A pipe is read once,
//! and each document is stored as it arrives. Imported text is untrusted unless the user passes
//! `--trusted`.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use toolgate_context::{Document, Library, NewDocument};

use super::document_json::DocumentJson;
use super::open_library;
use crate::cli_context::CliContext;
use crate::exit::{CliError, ErrorCode, Exit, OrFail as _, Result, cli_error};
use crate::out::{self, Spinner};

/// About how many bytes of text are stored at once.
const BATCH_BYTES: usize = 4 << 20;
/// The longest accepted line; no stored document has more text.
const MAX_LINE_BYTES: u64 = 512 << 20;

/// The arguments of `toolgate context import`.
#[derive(Debug, Args)]
#[command(
    after_help = "Documents that already exist and are newer stay as they are. Imported text \
    is untrusted unless --trusted is given.\n\n\
    Examples:\n  toolgate context import context.jsonl\n  \
    toolgate context export | toolgate context import -"
)]
pub struct ContextImportArgs {
    /// File to import, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Keep the trust that the file gives its documents
    #[arg(long)]
    trusted: bool,
    /// Also replace existing documents that are newer
    #[arg(long)]
    force: bool,
}

/// How many documents an import added, changed and skipped.
#[derive(Debug, Default, Serialize)]
struct ContextImportReport {
    added: u64,
    changed: u64,
    unchanged: u64,
    /// Documents that were skipped because the existing ones are newer.
    newer: u64,
    /// Documents that are trusted in the file and became untrusted.
    distrusted: u64,
}

pub async fn run(context: &CliContext, options: &ContextImportArgs) -> Result<Exit> {
    let stdin = options.file == Path::new("-");
    if !stdin {
        let mut lines = DocumentLinesReader::open(&options.file)?;
        while let Some(record) = lines.next()? {
            record.into_new_document(false).map_err(|why| lines.line_error(&why))?;
        }
    }
    let lines = match stdin {
        true => DocumentLinesReader::new("standard input".to_owned(), io::stdin()),
        false => DocumentLinesReader::open(&options.file)?,
    };
    let library = open_library(context).await?;
    let mut importer = DocumentImporter {
        library,
        options,
        report: ContextImportReport::default(),
        pending: Vec::new(),
        size: 0,
    };
    let imported = importer.import_all(lines).await;
    // Documents before an invalid line are complete and stay.
    let kept = importer.flush().await;
    let report = importer.report;
    if context.json {
        out::json(&report)?;
    }
    print_report(&report);
    imported.and(kept)?;
    Ok(Exit::Done)
}

fn print_report(report: &ContextImportReport) {
    let ContextImportReport { added, changed, unchanged, newer, distrusted } = report;
    out::note(&format!("{added} added, {changed} changed, {unchanged} unchanged"));
    if *newer > 0 {
        let many = out::count(*newer, "document");
        out::note(&format!("skipped {many} with a newer version here"));
        out::hint("use --force to replace them");
    }
    if *distrusted > 0 {
        let many = out::count(*distrusted, "document");
        out::note(&format!("{many} trusted in the file, untrusted here"));
        out::hint("use --trusted to keep the trust of a file that you exported yourself");
    }
}

/// Stores imported documents in batches and counts them.
struct DocumentImporter<'a> {
    library: Library,
    options: &'a ContextImportArgs,
    report: ContextImportReport,
    pending: Vec<NewDocument>,
    size: usize,
}

impl DocumentImporter<'_> {
    async fn import_all(&mut self, mut lines: DocumentLinesReader) -> Result<()> {
        let spinner = Spinner::new("importing documents");
        while let Some(record) = lines.next()? {
            let (is_trusted, believed) = (record.is_trusted(), self.options.trusted);
            let new = record.into_new_document(believed).map_err(|why| lines.line_error(&why))?;
            self.report.distrusted += u64::from(is_trusted && !believed);
            self.import_one(new).await?;
            spinner.set_text(&format!("importing documents: {}", lines.number));
        }
        Ok(())
    }

    async fn import_one(&mut self, new: NewDocument) -> Result<()> {
        // A file may contain a document twice. The later one must be compared with the earlier.
        if self.pending.iter().any(|waiting| waiting.key == new.key) {
            self.flush().await?;
        }
        let known = self.library.find_document(&new.key).await?;
        match known {
            Some(existing) if is_same(&existing, &new) => {
                self.report.unchanged += 1;
                return Ok(());
            }
            Some(Document { stamp, .. })
                if stamp.modified > new.stamp.modified && !self.options.force =>
            {
                self.report.newer += 1;
                return Ok(());
            }
            Some(_) => self.report.changed += 1,
            None => self.report.added += 1,
        }
        self.size += new.document.passages.iter().map(|it| it.text.len()).sum::<usize>();
        self.pending.push(new);
        if self.size >= BATCH_BYTES {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<()> {
        self.size = 0;
        let waiting = std::mem::take(&mut self.pending);
        if waiting.is_empty() {
            return Ok(());
        }
        Ok(self.library.keep(waiting).await?)
    }
}

fn is_same(existing: &Document, new: &NewDocument) -> bool {
    existing.stamp == new.stamp
        && existing.trust == new.trust
        && existing.origin == new.origin
        && existing.title == new.document.title
        && existing.passages == new.document.passages.len() as u64
}

/// Reads documents from the lines of a file or of standard input.
struct DocumentLinesReader {
    name: String,
    reader: Box<dyn BufRead>,
    /// The number of the current line.
    number: u64,
}

impl DocumentLinesReader {
    fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| {
            cli_error!(CliRead, "cannot read {}: {error}", path.display())
                .hint("run `toolgate context export --output FILE` to create a file to import")
        })?;
        Ok(Self::new(path.display().to_string(), file))
    }

    fn new(name: String, reader: impl io::Read + 'static) -> Self {
        Self { name, reader: Box::new(BufReader::new(reader)), number: 0 }
    }

    /// Returns the document in the next line. Skips empty lines.
    fn next(&mut self) -> Result<Option<DocumentJson>> {
        loop {
            let mut line = Vec::new();
            let read = (&mut self.reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line);
            let read =
                read.or_fail(ErrorCode::CliRead, format_args!("cannot read {}", self.name))?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            if read as u64 == MAX_LINE_BYTES {
                return Err(self.line_error("the line is too long"));
            }
            let text = std::str::from_utf8(&line);
            let text = text.map_err(|_| self.line_error("the line is not UTF-8"))?;
            if !text.trim().is_empty() {
                let record = DocumentJson::parse(text).map_err(|why| self.line_error(&why))?;
                return Ok(Some(record));
            }
        }
    }

    /// Returns the error about the current line.
    fn line_error(&self, why: &str) -> CliError {
        let Self { name, number, .. } = self;
        cli_error!(ContextImport, "cannot import line {number} of {name}: {why}")
            .hint("import a file that `toolgate context export` wrote")
    }
}
