//! What a model may ingest: files in folders that the user chose, and nothing hidden.
//!
//! A model that can name any path could read any file of the user through the library. So a path
//! must be below the folder in which the server was started, or below a folder of the
//! configuration. The user can ingest any path with the command.

use std::path::{Component, Path, PathBuf};

use crate::ingest::IngestOptions;
use crate::pdf::PdfReader;

/// The paths that `ingest` may read, and how.
#[derive(Debug, Clone)]
pub struct IngestPermissions {
    folders: Vec<PathBuf>,
    /// Reads PDFs.
    pub(super) pdf: PdfReader,
    /// The options of the ingest.
    pub(super) options: IngestOptions,
}

impl IngestPermissions {
    /// Permits paths below these folders. The root of a file system and the user's home are
    /// dropped, because they contain everything.
    pub fn new(folders: impl IntoIterator<Item = PathBuf>, home: Option<&Path>) -> Self {
        let home = home.and_then(|home| home.canonicalize().ok());
        let folders = folders.into_iter().filter_map(|folder| folder.canonicalize().ok());
        let is_narrow =
            |folder: &PathBuf| folder.parent().is_some() && Some(folder) != home.as_ref();
        let folders = folders.filter(is_narrow).collect();
        Self { folders, pdf: PdfReader::current(), options: IngestOptions::default() }
    }

    /// Sets the PDF reader.
    #[must_use]
    pub fn pdf(self, pdf: PdfReader) -> Self {
        Self { pdf, ..self }
    }

    /// Sets the options.
    #[must_use]
    pub fn options(self, options: IngestOptions) -> Self {
        Self { options, ..self }
    }

    /// Returns the canonical path if it may be ingested, or the reason why not.
    pub(super) fn check_path(&self, path: &str) -> Result<PathBuf, String> {
        let found = Path::new(path)
            .canonicalize()
            .map_err(|error| format!("cannot read `{path}`: {error}"))?;
        let below = self.folders.iter().find_map(|folder| found.strip_prefix(folder).ok());
        match below {
            None if self.folders.is_empty() => {
                Err(format!("no folder may be ingested here, so `{path}` is not allowed"))
            }
            None => Err(format!("`{path}` does not lie below {}", self.folder_list())),
            Some(below) if is_hidden(below) => {
                Err(format!("`{path}` is hidden or in a hidden folder"))
            }
            Some(_) => Ok(found),
        }
    }

    fn folder_list(&self) -> String {
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
        let permissions = IngestPermissions::new([root.join("open")], None);
        assert_eq!(permissions.check_path(&inside), Ok(PathBuf::from(&inside)));
        assert!(permissions.check_path(&hidden).unwrap_err().contains("hidden"));
        for path in [&outside, &beside, &format!("{}/open/../other/b.md", root.display())] {
            assert!(
                permissions.check_path(path).unwrap_err().contains("does not lie below"),
                "{path}"
            );
        }
        assert!(permissions.check_path(&format!("{}/nothing", root.display())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_counts_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (open, other) = (folder.path().join("open"), folder.path().join("other"));
        std::fs::create_dir(&open).unwrap();
        std::fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, open.join("link")).unwrap();
        let permissions = IngestPermissions::new([open.clone()], None);
        let link = open.join("link").display().to_string();
        assert!(permissions.check_path(&link).unwrap_err().contains("does not lie below"));
    }

    #[test]
    fn folders_that_hold_everything_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().to_path_buf();
        let at_home = IngestPermissions::new([here.clone(), PathBuf::from("/")], Some(&here));
        assert!(at_home.check_path(&here.display().to_string()).is_err());
        let elsewhere = IngestPermissions::new([here.clone()], None);
        assert!(elsewhere.check_path(&here.display().to_string()).is_ok());
    }
}
