//! Chooses the file that a declaration belongs in, and edits that file.
//!
//! A project's servers go into `.mcp.json`, which other programs read too, unless the project has a
//! `toolgate.toml` or the entry has settings that only `toolgate.toml` can express. The user's
//! servers go into the user's own file. Files of other programs are only changed if the caller
//! names them.

use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, EditError, FileRef, ParsedFile, WrittenConfigText};
use toolgate_model::{ConfigScope, ServerName, ServerSpec};

use crate::{
    ConfigError, ConfigSources, EditOptions, EditOutcome, FileAccess, Home, edit_file, read_file,
};

/// The project file that only Toolgate reads.
const OURS: &str = "toolgate.toml";
/// The project file that many programs read.
const SHARED: &str = ".mcp.json";
/// Marks the root of a project, like the two files above.
const REPOSITORY: &str = ".git";

/// A file that declares servers, or that can be created to declare them.
#[derive(Debug, Clone)]
pub struct ConfigDocument {
    /// The dialect of the file.
    pub dialect: Dialect,
    /// The path and the scope of the file.
    pub at: FileRef,
}

impl ConfigDocument {
    /// Returns the user's own file.
    pub fn for_user(home: &Home) -> Self {
        let at = FileRef::new(home.config_file(), ConfigScope::User);
        Self { dialect: Dialect::Toolgate, at }
    }

    /// Returns the two files of the project in this folder: `toolgate.toml`, then the shared
    /// `.mcp.json`.
    pub fn for_project(root: &Path) -> [Self; 2] {
        [(OURS, Dialect::Toolgate), (SHARED, Dialect::McpJson)].map(|(name, dialect)| Self {
            dialect,
            at: FileRef::new(root.join(name), ConfigScope::Project),
        })
    }

    /// Returns the document at this path, and detects its dialect.
    pub fn from_path(path: &Path, scope: ConfigScope) -> Result<Self, ConfigError> {
        let failed = |source| ConfigError::Read { path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(failed)?;
        let text = read_file(&path)?.unwrap_or_default();
        Ok(Self { dialect: Dialect::detect(&path, &text), at: FileRef::new(path, scope) })
    }

    /// Returns the path of the file.
    pub fn path(&self) -> &Path {
        &self.at.path
    }

    /// Returns true if Toolgate may change the file without the caller naming it: Toolgate's own
    /// file, or a project's shared file.
    pub fn is_managed(&self) -> bool {
        let name = self.path().file_name();
        let is_shared = self.dialect == Dialect::McpJson && name.is_some_and(|it| it == SHARED);
        (self.dialect.is_toolgate() || is_shared) && self.at.scope != ConfigScope::System
    }

    /// Returns the text of the file; empty if the file does not exist.
    pub fn text(&self) -> Result<String, ConfigError> {
        Ok(read_file(self.path())?.unwrap_or_default())
    }

    /// Parses `text` as if it were the content of this file.
    pub fn read(&self, text: &str) -> ParsedFile {
        self.dialect.read(text, &self.at)
    }

    /// Returns true if the file has an entry with this name, valid or not.
    pub fn has(&self, name: &ServerName) -> Result<bool, ConfigError> {
        match self.text()? {
            text if text.trim().is_empty() => Ok(false),
            text => {
                Ok(self.dialect.remove(&text, name).map_err(|it| self.edit_error(it))?.is_some())
            }
        }
    }

    /// Returns the text of the file with this server added.
    pub fn with_server(
        &self,
        text: &str,
        spec: &ServerSpec,
    ) -> Result<WrittenConfigText, ConfigError> {
        self.dialect.set(text, spec, &self.at).map_err(|it| self.edit_error(it))
    }

    /// Changes the file atomically.
    pub fn change(
        &self,
        change: impl FnOnce(&str) -> Result<Option<String>, EditError>,
    ) -> Result<EditOutcome, ConfigError> {
        let access = match self.at.scope {
            ConfigScope::Project => FileAccess::Shared,
            _ => FileAccess::Private,
        };
        edit_file(self.path(), EditOptions { access, backup: false }, change)
    }

    /// Returns the server as this file would declare it; `None` if the file cannot express all of
    /// it.
    fn round_trip(&self, spec: &ServerSpec) -> Result<Option<ServerSpec>, ConfigError> {
        let written = self.with_server("", spec)?;
        if !written.losses.is_empty() {
            return Ok(None);
        }
        let declared = self.read(&written.text).servers;
        Ok(declared.into_iter().map(|declared| declared.spec).find(|read| read.name == spec.name))
    }

    fn edit_error(&self, source: EditError) -> ConfigError {
        ConfigError::Edit { path: self.path().to_owned(), source }
    }
}

/// Returns the folder in which a project's servers are declared: the nearest folder with one of the
/// two project files or a repository, else the folder in which the search begins.
pub fn project_root(sources: &ConfigSources) -> Option<PathBuf> {
    let folders = crate::files::project_folders(sources);
    let marked = |folder: &&PathBuf| {
        [OURS, SHARED, REPOSITORY].iter().any(|name| folder.join(name).exists())
    };
    folders.iter().find(marked).or(folders.first()).cloned()
}

/// Returns the file to write a project's server to: the file that already declares it, else
/// `toolgate.toml` if it exists, else the shared file if it can express the whole server.
pub fn project_document(root: &Path, spec: &ServerSpec) -> Result<ConfigDocument, ConfigError> {
    let [ours, shared] = ConfigDocument::for_project(root);
    let prefers_ours =
        ours.path().exists() && (ours.has(&spec.name)? || !shared.has(&spec.name)?);
    if prefers_ours {
        return Ok(ours);
    }
    // If both files read back the same server, the shared file is as good as Toolgate's own.
    let (here, there) = (ours.round_trip(spec)?, shared.round_trip(spec)?);
    let is_enough = there.is_some() && (here.is_none() || here == there);
    Ok(if is_enough { shared } else { ours })
}

#[cfg(test)]
mod tests {
    use toolgate_model::{HttpSpec, StdioSpec, TransportSpec};

    use super::*;

    fn process(name: &str) -> ServerSpec {
        let stdio = StdioSpec { command: "npx".into(), ..StdioSpec::default() };
        ServerSpec::new(ServerName::new(name).unwrap(), TransportSpec::Stdio(stdio))
    }

    fn sources(home: &Path, project: &Path) -> ConfigSources {
        ConfigSources {
            project_dir: Some(project.to_owned()),
            ..ConfigSources::new(Home::at(home))
        }
    }

    #[test]
    fn a_project_begins_where_its_files_or_its_repository_are() {
        let folder = tempfile::tempdir().unwrap();
        let (root, deep) = (folder.path().join("r"), folder.path().join("r/a/b"));
        std::fs::create_dir_all(&deep).unwrap();
        let found = || project_root(&sources(folder.path(), &deep)).unwrap();
        assert_eq!(found(), deep, "nothing marks another");
        std::fs::create_dir(root.join(".git")).unwrap();
        assert_eq!(found(), root);
        std::fs::write(root.join("a/.mcp.json"), "{}").unwrap();
        assert_eq!(found(), root.join("a"));
    }

    #[test]
    fn a_plain_server_is_shared_and_a_particular_one_is_ours() {
        let folder = tempfile::tempdir().unwrap();
        let file = |spec: &ServerSpec| {
            let document = project_document(folder.path(), spec).unwrap();
            document.path().file_name().unwrap().to_string_lossy().into_owned()
        };
        assert_eq!(file(&process("a")), SHARED);
        let http = HttpSpec { url: "https://example.com".into(), ..HttpSpec::default() };
        let name = ServerName::new("h").unwrap();
        assert_eq!(file(&ServerSpec::new(name, TransportSpec::Http(http))), SHARED);
        let tagged = ServerSpec { tags: Some(vec!["x".into()]), ..process("a") };
        assert_eq!(file(&tagged), OURS);

        std::fs::write(folder.path().join(SHARED), r#"{"mcpServers":{"a":{"command":"x"}}}"#)
            .unwrap();
        std::fs::write(folder.path().join(OURS), "").unwrap();
        assert_eq!(file(&process("b")), OURS, "there is one");
        assert_eq!(file(&process("a")), SHARED, "it stands there already");
    }
}
