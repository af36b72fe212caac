//! `context export`: every document as a line of JSON, whole.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::json;
use toolgate_context::Library;

use super::record::Record;
use super::{existing, failed, shown};
use crate::context::Context;
use crate::exit::{Exit, Failure};
use crate::out::{self, Spinner};

/// So many documents are looked up at once.
const PAGE: usize = 200;
/// So much is given to stdout at once.
const CHUNK: usize = 64 << 10;
/// What an export is called in a folder.
const NAME: &str = "context.jsonl";

#[derive(Debug, Args)]
#[command(
    after_help = "Each line is one document: where it came from, its digest, time and trust, \
    and all its passages. `toolgate context import` takes them in again.\n\n\
    Examples:\n  toolgate context export > context.jsonl\n  \
    toolgate context export --output backup.jsonl"
)]
pub struct Export {
    /// Write to this file, or to context.jsonl in this folder
    #[arg(short, long, value_name = "FILE|DIR")]
    output: Option<PathBuf>,
}

pub async fn run(context: &Context, options: &Export) -> Result<Exit, Failure> {
    let mut target = Target::open(options.output.as_deref())?;
    let mut count = 0;
    if let Some(library) = existing(context).await? {
        count = write(&library, &mut target).await?;
    }
    match target.end()? {
        Some(file) if context.json => out::json(&json!({ "documents": count, "file": file }))?,
        Some(file) => {
            let many = shown::count(count, "document");
            out::note(&format!("{many} in {}", out::visible(&file.display().to_string())));
        }
        None if count == 0 => out::note("the local context is empty"),
        None => {}
    }
    Ok(Exit::Done)
}

/// Writes all documents, in the order of their keys; how many they are.
async fn write(library: &Library, target: &mut Target) -> Result<u64, Failure> {
    let spinner = Spinner::new("writing the local context");
    let (mut after, mut count) = (String::new(), 0);
    loop {
        let cards = library.documents(&after, PAGE).await.map_err(|error| failed(&error))?;
        let Some(last) = cards.last() else { return Ok(count) };
        after = last.key.clone();
        for card in cards {
            let hits = library.document(&card.key).await.map_err(|error| failed(&error))?;
            // Changed between the two looks: as it is now.
            let now = library.card(&card.key).await.map_err(|error| failed(&error))?;
            let Some(card) = now else { continue };
            let line = serde_json::to_string(&Record::of(card, hits))
                .map_err(|error| Failure::failed(format!("write JSON: {error}")))?;
            target.write(&line)?;
            count += 1;
        }
        spinner.say(&format!("writing the local context: {}", shown::count(count, "document")));
    }
}

/// Where the lines go. A file is there under its name once it is whole: an export that fails spoils
/// no older one.
enum Target {
    Stdout(String),
    File { path: PathBuf, part: PathBuf, file: BufWriter<File> },
}

impl Target {
    fn open(output: Option<&Path>) -> Result<Self, Failure> {
        let Some(output) = output else { return Ok(Self::Stdout(String::new())) };
        let path = if output.is_dir() { output.join(NAME) } else { output.to_owned() };
        let mut part = path.clone().into_os_string();
        part.push(".part");
        let part = PathBuf::from(part);
        let file = File::create(&part).map_err(|error| unwritten(&path, &error))?;
        Ok(Self::File { path, part, file: BufWriter::new(file) })
    }

    fn write(&mut self, line: &str) -> Result<(), Failure> {
        match self {
            Self::Stdout(waiting) => {
                waiting.push_str(line);
                waiting.push('\n');
                if waiting.len() >= CHUNK {
                    out::data(waiting.as_bytes())?;
                    waiting.clear();
                }
                Ok(())
            }
            Self::File { path, file, .. } => {
                writeln!(file, "{line}").map_err(|error| unwritten(path, &error))
            }
        }
    }

    /// The file, if it is one.
    fn end(self) -> Result<Option<PathBuf>, Failure> {
        let (path, part, file) = match self {
            Self::Stdout(waiting) => return out::data(waiting.as_bytes()).map(|()| None),
            Self::File { path, part, file } => (path, part, file),
        };
        let whole = file.into_inner().map_err(|error| error.into_error());
        let kept = whole.and_then(|file| file.sync_all());
        kept.and_then(|()| std::fs::rename(&part, &path))
            .map_err(|error| unwritten(&path, &error))?;
        Ok(Some(path))
    }
}

fn unwritten(path: &Path, error: &std::io::Error) -> Failure {
    Failure::failed(format!("write {}: {error}", path.display()))
}
