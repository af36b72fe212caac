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

    use std::fs;
    use std::path::PathBuf;

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

        /// Does something to the file again and again for so long, and reads meanwhile.
        fn while_somebody(&mut self, writes: fn(&Path), long: Duration) -> Vec<Vec<String>> {
            let (file, until) = (self.file.clone(), Instant::now() + long);
            let writing = thread::spawn(move || {
                while Instant::now() < until {
                    writes(&file);
                }
            });
            let mut read = Vec::new();
            while !writing.is_finished() {
                read.push(self.servers());
            }
            writing.join().unwrap();
            read
        }
    }

    fn pause() {
        thread::sleep(Duration::from_millis(20));
    }

    #[test]
    fn a_file_that_is_emptied_and_written_again_and_again_loses_nothing() {
        let mut stage = Stage::new();
        let writes = |file: &Path| {
            fs::write(file, "").unwrap();
            pause();
            fs::write(file, &WHOLE[..27]).unwrap();
            pause();
            fs::write(file, WHOLE).unwrap();
        };
        for read in stage.while_somebody(writes, Duration::from_millis(2500)) {
            assert_eq!(read, ["a", "b"]);
        }
        assert_eq!(stage.servers(), ["a", "b"]);
    }

    #[test]
    fn a_file_that_is_deleted_and_written_again_loses_nothing() {
        let mut stage = Stage::new();
        let file = stage.file.clone();
        fs::remove_file(&file).unwrap();
        let writing = thread::spawn(move || {
            pause();
            fs::write(file, WHOLE).unwrap();
        });
        assert_eq!(stage.servers(), ["a", "b"]);
        writing.join().unwrap();
    }

    #[test]
    fn a_file_that_stays_empty_is_believed() {
        let mut stage = Stage::new();
        fs::write(&stage.file, "").unwrap();
        let began = Instant::now();
        assert!(stage.servers().is_empty());
        assert!(began.elapsed() >= STEADY / 2, "it was believed at once");
        assert!(began.elapsed() < LONGEST);
    }

    #[test]
    fn what_did_not_change_is_not_waited_for() {
        let mut stage = Stage::new();
        fs::write(&stage.file, WHOLE).unwrap();
        let began = Instant::now();
        assert_eq!(stage.servers(), ["a", "b"]);
        assert!(began.elapsed() < STEADY);
    }

    #[test]
    fn something_new_is_believed_though_the_writing_never_ends() {
        let mut stage = Stage::new();
        let writes = |file: &Path| {
            let more = format!("{WHOLE}[servers.c]\ncommand = \"c\"\n");
            let beside = file.with_extension("new");
            fs::write(&beside, more).unwrap();
            fs::rename(beside, file).unwrap();
            pause();
        };
        let read = stage.while_somebody(writes, Duration::from_millis(1500));
        // The first reading may be older than the first writing.
        assert!(read.iter().any(|read| read == &["a", "b", "c"]), "{read:?}");
    }

    #[test]
    fn a_file_from_the_future_is_believed() {
        let mut stage = Stage::new();
        fs::write(&stage.file, "").unwrap();
        let file = File::options().write(true).open(&stage.file).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
        let began = Instant::now();
        assert!(stage.servers().is_empty());
        assert!(began.elapsed() < STEADY);
    }
}
