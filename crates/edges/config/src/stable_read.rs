//! Reads files that may be being written at the same time.
//!
//! Most programs truncate a file and then write it, so a reader in between sees nothing or half of
//! the file, and half a file may still be valid. New content is therefore accepted only if the file
//! was not modified for a moment; otherwise it is read again after a pause. A file that stays empty
//! is empty. `file_watcher` reports changes.

use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::file_watcher::FileStamp;
use crate::files::{self, ConfigLayer};
use crate::{ConfigError, ConfigSources, LastGoodFiles};

/// A file that was not modified for this long is not being written.
const STEADY: Duration = Duration::from_millis(100);
/// How long to wait for a file that is being written. Later changes are reported again.
const LONGEST: Duration = Duration::from_secs(1);

/// Reads every candidate file, after an earlier read.
pub(crate) fn read_all(
    sources: &ConfigSources,
    known: &LastGoodFiles,
) -> Result<Vec<ConfigLayer>, ConfigError> {
    let began = Instant::now();
    let mut first = true;
    loop {
        let read = files::read_all(sources);
        let doubtful = match &read {
            // Some programs delete a file before they write it.
            Ok(layers) => {
                known.has_unstable_changes(layers) || first && known.has_missing_files(layers)
            }
            Err(_) => first && !known.is_empty(),
        };
        if !doubtful || began.elapsed() >= LONGEST {
            return read;
        }
        first = false;
        thread::sleep(STEADY);
    }
}

/// Returns the text of a file, and whether nothing was writing it.
pub(crate) fn read_text(path: &Path) -> io::Result<(String, bool)> {
    let file = files::open(path)?;
    let before = FileStamp::of(&file.metadata()?);
    let text = files::read_open(&file, files::MAX_BYTES)?;
    let steady = is_old(&before) && before == FileStamp::of(&file.metadata()?);
    Ok((text, steady))
}

/// Returns true if the last write is long enough ago. A modification time in the future, perhaps
/// from another machine's clock, counts as old; otherwise the file would never be accepted.
fn is_old(stamp: &FileStamp) -> bool {
    let age = stamp.modified.and_then(|modified| modified.elapsed().ok());
    age.is_none_or(|age| age >= STEADY)
}

#[cfg(test)]
mod tests {
    // Real files, and threads that write them the way programs do.

    use std::fs::File;
    use std::path::PathBuf;
    use std::sync::mpsc::{self, TryRecvError};
    use std::time::SystemTime;
    use std::{fs, iter};

    use super::*;
    use crate::Home;

    const WHOLE: &str = "[servers.a]\ncommand = \"a\"\n[servers.b]\ncommand = \"b\"\n";

    /// A configuration file with its sources, as a test reads it again and again.
    struct Stage {
        _folder: tempfile::TempDir,
        file: PathBuf,
        sources: ConfigSources,
        known: LastGoodFiles,
    }

    impl Stage {
        fn new() -> Self {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("config.toml");
            fs::write(&file, WHOLE).unwrap();
            let home = Home::at(folder.path());
            let config = Some(file.clone());
            let sources =
                ConfigSources { config, project_dir: None, own_endpoints: Vec::new(), home };
            let mut stage =
                Self { _folder: folder, file, sources, known: LastGoodFiles::default() };
            stage.servers();
            stage
        }

        /// Reads the files again, and returns the names of the servers.
        fn servers(&mut self) -> Vec<String> {
            let mut layers = read_all(&self.sources, &self.known).unwrap();
            self.known.restore_broken(&mut layers);
            let servers = layers.iter().flat_map(|layer| &layer.parsed.servers);
            servers.map(|server| server.spec.name.to_string()).collect()
        }

        /// Returns true if the current content is accepted without a second read.
        fn is_believed_at_once(&self) -> bool {
            let layers = files::read_all(&self.sources).unwrap();
            !self.known.has_unstable_changes(&layers) && !self.known.has_missing_files(&layers)
        }

        /// Reads repeatedly while a thread keeps writing the file, until `enough` returns true.
        /// Returns `None` if the writer paused for too long.
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

    /// The names of the servers after every read.
    type Readings = Vec<Vec<String>>;
    /// Decides whether enough has been read.
    type Enough = fn(&[Vec<String>]) -> bool;

    /// Like [`Stage::while_somebody`], but also returns the stage. Tries again if a busy machine
    /// kept the writer from writing for too long: then the file counts as finished.
    fn read_while_somebody(writes: fn(&mut Writer), enough: Enough) -> (Stage, Readings) {
        loop {
            let mut stage = Stage::new();
            if let Some(read) = stage.while_somebody(writes, enough) {
                return (stage, read);
            }
        }
    }

    /// Writes the file as programs do, and records whether it paused for nearly as long as makes the
    /// file stable. The clock of a file system lags a little.
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
            // If a busy machine delays the writer for too long, the file counts as deleted.
            (!writing.join().unwrap().left_it_alone).then_some(servers)
        };
        assert_eq!(iter::repeat_with(in_time).flatten().next().unwrap(), ["a", "b"]);
    }

    #[test]
    fn a_file_that_stays_empty_is_believed() {
        let mut stage = Stage::new();
        let began = Instant::now();
        fs::write(&stage.file, "").unwrap();
        // After the timeout, the previous content of the file stays.
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
