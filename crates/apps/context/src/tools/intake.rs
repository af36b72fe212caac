//! What a model may take in: what lies in folders the user chose, and nothing hidden.
//!
//! A model that can name any path could make any file of the user part of what it is shown. So a path
//! counts only below the folder the server was started in and the folders of the configuration; the
//! user himself takes in whatever he wants with the command.

use std::path::{Component, Path, PathBuf};

use crate::ingest::Options;
use crate::pdf::PdfReader;

/// What `ingest` may do.
#[derive(Debug, Clone)]
pub struct Intake {
    folders: Vec<PathBuf>,
    /// How PDFs are read.
    pub(super) pdf: PdfReader,
    /// What counts of a folder.
    pub(super) options: Options,
}

impl Intake {
    /// Takes in what lies below these folders. A folder that is the root of a file system or the
    /// user's home holds everything of his: it is left out.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>, home: Option<&Path>) -> Self {
        let home = home.and_then(|home| home.canonicalize().ok());
        let folders = folders.into_iter().filter_map(|folder| folder.canonicalize().ok());
        let is_narrow =
            |folder: &PathBuf| folder.parent().is_some() && Some(folder) != home.as_ref();
        let folders = folders.filter(is_narrow).collect();
        Self { folders, pdf: PdfReader::current(), options: Options::default() }
    }

    /// Reads PDFs with this reader.
    #[must_use]
    pub fn pdf(self, pdf: PdfReader) -> Self {
        Self { pdf, ..self }
    }

    /// Takes in under these options.
    #[must_use]
    pub fn options(self, options: Options) -> Self {
        Self { options, ..self }
    }

    /// The path that is meant, if it may be taken in; why not otherwise.
    pub(super) fn allowed(&self, path: &str) -> Result<PathBuf, String> {
        let found = Path::new(path)
            .canonicalize()
            .map_err(|error| format!("`{path}` cannot be read: {error}"))?;
        let below = self.folders.iter().find_map(|folder| found.strip_prefix(folder).ok());
        match below {
            None if self.folders.is_empty() => {
                Err(format!("`{path}` lies in no folder that may be taken in from here"))
            }
            None => Err(format!("`{path}` does not lie below {}", self.named())),
            Some(below) if is_hidden(below) => Err(format!("`{path}` is hidden")),
            Some(_) => Ok(found),
        }
    }

    fn named(&self) -> String {
        let named: Vec<_> = self.folders.iter().map(|it| format!("`{}`", it.display())).collect();
        named.join(" or ")
    }
}

fn is_hidden(path: &Path) -> bool {
    path.components().any(|part| match part {
        Component::Normal(name) => name.to_string_lossy().starts_with('.'),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_counts_below_the_folders_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let make = |name: &str| {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "text").unwrap();
            path.display().to_string()
        };
        let (inside, hidden) = (make("open/notes/a.md"), make("open/.ssh/key"));
        let (outside, beside) = (make("other/b.md"), make("open-too/c.md"));
        let intake = Intake::new([root.join("open")], None);
        assert_eq!(intake.allowed(&inside), Ok(PathBuf::from(&inside)));
        assert!(intake.allowed(&hidden).unwrap_err().contains("hidden"));
        for path in [&outside, &beside, &format!("{}/open/../other/b.md", root.display())] {
            assert!(intake.allowed(path).unwrap_err().contains("does not lie below"), "{path}");
        }
        assert!(intake.allowed(&format!("{}/nothing", root.display())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_counts_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (open, other) = (folder.path().join("open"), folder.path().join("other"));
        std::fs::create_dir(&open).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, open.join("link")).unwrap();
        let intake = Intake::new([open.clone()], None);
        let link = open.join("link").display().to_string();
        assert!(intake.allowed(&link).unwrap_err().contains("does not lie below"));
    }

    #[test]
    fn folders_that_hold_everything_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().to_path_buf();
        let at_home = Intake::new([here.clone(), PathBuf::from("/")], Some(&here));
        assert!(at_home.allowed(&here.display().to_string()).is_err());
        let elsewhere = Intake::new([here.clone()], None);
        assert!(elsewhere.allowed(&here.display().to_string()).is_ok());
    }
}
