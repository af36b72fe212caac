//! Files that are read while somebody is writing them.
//!
//! Most programs empty a file and then write it, so who reads in between finds nothing, or half of
//! it, and half a file may well be a valid one. What a file newly says is therefore believed only if
//! nobody had touched it for a moment; else it is read again after a pause. A file that stays empty
//! is empty. Who is told of changes, and when, is the business of `watch`.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::files::{self, Layer};
use crate::{ConfigError, LastGood, Sources};

/// A file that nobody touched for so long is not being written.
const STEADY: Duration = Duration::from_millis(100);
/// So long it is waited for; whoever writes on will be heard of again.
const LONGEST: Duration = Duration::from_secs(1);

/// Reads every file that may speak, after an earlier time.
pub(crate) fn read_all(sources: &Sources, known: &LastGood) -> Result<Vec<Layer>, ConfigError> {
    let began = Instant::now();
    let mut first = true;
    loop {
        let read = files::read_all(sources);
        let doubtful = match &read {
            // Some programs delete a file before they write it.
            Ok(layers) => known.doubts(layers) || first && known.misses(layers),
            Err(_) => first && !known.is_empty(),
        };
        if !doubtful || began.elapsed() >= LONGEST {
            return read;
        }
        first = false;
        thread::sleep(STEADY);
    }
}

/// The text of a file, and whether nobody was writing it.
pub(crate) fn read_text(path: &Path) -> io::Result<(String, bool)> {
    let file = files::open(path)?;
    let before = Stamp::of(&file)?;
    let text = files::read_open(&file)?;
    let steady = before.is_old() && before == Stamp::of(&file)?;
    Ok((text, steady))
}

/// What every writing changes.
#[derive(PartialEq, Eq)]
struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
}

impl Stamp {
    fn of(file: &File) -> io::Result<Self> {
        let metadata: Metadata = file.metadata()?;
        Ok(Self { len: metadata.len(), modified: metadata.modified().ok() })
    }

    /// A file from the future, by another machine's clock perhaps, says nothing about its age: it
    /// must not be doubted for ever.
    fn is_old(&self) -> bool {
        let age = self.modified.and_then(|modified| modified.elapsed().ok());
        age.is_none_or(|age| age >= STEADY)
    }
}

#[cfg(test)]
mod tests {
    // Real files, and threads that write them the way programs do.

    use std::path::PathBuf;
    use std::sync::mpsc::{self, TryRecvError};
    use std::{fs, iter};

    use super::*;
    use crate::Home;

    const WHOLE: &str = "[servers.a]\ncommand = \"a\"\n[servers.b]\ncommand = \"b\"\n";

    struct Stage {
        _folder: tempfile::TempDir,
        file: PathBuf,
        sources: Sources,
        known: LastGood,
    }

    impl Stage {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("config.toml");
            fs::write(&file, WHOLE).unwrap();
            let home = Home::at(folder.path());
            let config = Some(file.clone());
            let sources = Sources { config, project_dir: None, own_endpoints: Vec::new(), home };
            let mut stage = Self { _folder: folder, file, sources, known: LastGood::default() };
            stage.servers();
            stage
        }

        /// The servers after reading once more, by their names.
        fn servers(&mut self) -> Vec<String> {
            let mut layers = read_all(&self.sources, &self.known).unwrap();
            self.known.settle(&mut layers);
            let servers = layers.iter().flat_map(|layer| &layer.reading.servers);
            servers.map(|server| server.spec.name.to_string()).collect()
        }

        /// Whether what the file says now is not looked at again.
        fn is_believed_at_once(&self) -> bool {
            let layers = files::read_all(&self.sources).unwrap();
            !self.known.doubts(&layers) && !self.known.misses(&layers)
        }

        /// What is read while somebody writes the file again and again, until that is enough;
        /// nothing if the writer left the file alone for long.
        fn while_somebody(&mut self, writes: fn(&mut Writer), enough: Enough) -> Option<Readings> {
            let mut writer = Writer::of(&self.file);
            writes(&mut writer);
            let (end, ended) = mpsc::channel::<()>();
            let writing = thread::spawn(move || {
                while let Err(TryRecvError::Empty) = ended.try_recv() {
                    writes(&mut writer);
                }
                writer
            });
            let mut read = Vec::new();
            while !enough(&read) {
                read.push(self.servers());
            }
            drop(end);
            let writer = writing.join().unwrap();
            (!writer.left_it_alone).then_some(read)
        }
    }

    /// The names of the servers in every reading.
    type Readings = Vec<Vec<String>>;
    type Enough = fn(&[Vec<String>]) -> bool;

    /// The same, and on what stage. Whom a busy machine keeps from writing for long has finished, for
    /// all that can be known, and shows nothing: then it is tried again.
    fn read_while_somebody(writes: fn(&mut Writer), enough: Enough) -> (Stage, Readings) {
        loop {
            let mut stage = Stage::new();
            if let Some(read) = stage.while_somebody(writes, enough) {
                return (stage, read);
            }
        }
    }

    /// Writes the file the way programs do, and notes whether it left the file alone for nearly as long as makes it steady. A file system's clock is a little behind.
    struct Writer {
        file: PathBuf,
        last: Instant,
        left_it_alone: bool,
    }

    impl Writer {
        fn of(file: &Path) -> Self {
            Self { file: file.to_owned(), last: Instant::now(), left_it_alone: false }
        }

        fn does(&mut self, something: impl FnOnce(&Path)) {
            let begun = Instant::now();
            something(&self.file);
            self.left_it_alone |= self.last.elapsed() >= STEADY * 3 / 4;
            self.last = begun;
        }

        fn write(&mut self, text: &str) {
            self.does(|file| fs::write(file, text).unwrap());
        }

        fn replace(&mut self, text: &str) {
            self.does(|file| {
                let beside = file.with_extension("new");
                fs::write(&beside, text).unwrap();
                fs::rename(beside, file).unwrap();
            });
        }
    }

    fn pause() {
        thread::sleep(Duration::from_millis(20));
    }

    #[test]
    fn a_file_that_is_emptied_and_written_again_and_again_loses_nothing() {
        let writes = |writer: &mut Writer| {
            writer.write("");
            pause();
            writer.write(&WHOLE[..27]);
            pause();
            writer.write(WHOLE);
        };
        let (mut stage, read) = read_while_somebody(writes, |read| read.len() >= 4);
        for read in read {
            assert_eq!(read, ["a", "b"]);
        }
        assert_eq!(stage.servers(), ["a", "b"]);
    }

    #[test]
    fn a_file_that_is_deleted_and_written_again_loses_nothing() {
        let in_time = || {
            let mut stage = Stage::new();
            let mut writer = Writer::of(&stage.file);
            fs::remove_file(&stage.file).unwrap();
            let writing = thread::spawn(move || {
                pause();
                writer.write(WHOLE);
                writer
            });
            let servers = stage.servers();
            // Whom a busy machine keeps from writing for long has deleted it, for all that can be
            // known.
            (!writing.join().unwrap().left_it_alone).then_some(servers)
        };
        assert_eq!(iter::repeat_with(in_time).flatten().next().unwrap(), ["a", "b"]);
    }

    #[test]
    fn a_file_that_stays_empty_is_believed() {
        let mut stage = Stage::new();
        let began = Instant::now();
        fs::write(&stage.file, "").unwrap();
        // Whoever gives up waiting keeps what the file said before.
        assert!(stage.servers().is_empty());
        assert!(began.elapsed() >= STEADY / 2, "it was believed at once");
    }

    #[test]
    fn what_did_not_change_is_not_waited_for() {
        let mut stage = Stage::new();
        fs::write(&stage.file, WHOLE).unwrap();
        assert!(stage.is_believed_at_once());
        assert_eq!(stage.servers(), ["a", "b"]);
    }

    #[test]
    fn something_new_is_believed_though_the_writing_never_ends() {
        let writes = |writer: &mut Writer| {
            writer.replace(&format!("{WHOLE}[servers.c]\ncommand = \"c\"\n"));
            pause();
        };
        fn is_new(read: &Vec<String>) -> bool {
            read == &["a", "b", "c"]
        }
        let (_, read) =
            read_while_somebody(writes, |read| read.iter().any(is_new) || read.len() >= 20);
        assert!(read.iter().any(is_new), "{read:?}");
    }

    #[test]
    fn a_file_from_the_future_is_believed() {
        let mut stage = Stage::new();
        fs::write(&stage.file, "").unwrap();
        let file = File::options().write(true).open(&stage.file).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
        assert!(stage.is_believed_at_once());
        assert!(stage.servers().is_empty());
    }
}
