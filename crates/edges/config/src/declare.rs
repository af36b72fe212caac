//! Which file a declaration belongs in, and how that file is changed.
//!
//! A project's servers go into `.mcp.json`, which other programs read too, unless the project has a
//! `toolgate.toml` or the entry says something only that can say. What the user says goes into his
//! own file. Files of other programs are changed only by those who name them.

use std::path::{Path, PathBuf};

use toolgate_dialects::{Dialect, EditError, FileRef, Reading, Written};
use toolgate_model::{Scope, ServerName, ServerSpec};

use crate::{Access, ConfigError, Edited, Editing, Home, Sources, edit_file, read_file};

/// The file of a project that only we read.
const OURS: &str = "toolgate.toml";
/// The file of a project that many programs read.
const SHARED: &str = ".mcp.json";
/// What marks the top of a project beside the files themselves.
const REPOSITORY: &str = ".git";

/// A file that declares servers, or could.
#[derive(Debug, Clone)]
pub struct Document {
    /// How it is written.
    pub dialect: Dialect,
    /// Where it lies, and whose word it is.
    pub at: FileRef,
}

impl Document {
    /// The user's own file.
    pub fn of_user(home: &Home) -> Self {
        let at = FileRef::new(home.config_file(), Scope::User);
        Self { dialect: Dialect::Toolgate, at }
    }

    /// The two files of the project in this folder: the one only we read, then the shared one.
    pub fn of_project(root: &Path) -> [Self; 2] {
        [(OURS, Dialect::Toolgate), (SHARED, Dialect::McpJson)].map(|(name, dialect)| Self {
            dialect,
            at: FileRef::new(root.join(name), Scope::Project),
        })
    }

    /// A file that was named, in whatever dialect it is written.
    pub fn named(path: &Path, scope: Scope) -> Result<Self, ConfigError> {
        let failed = |source| ConfigError::Read { path: path.to_owned(), source };
        let path = std::path::absolute(path).map_err(failed)?;
        let text = read_file(&path)?.unwrap_or_default();
        Ok(Self { dialect: Dialect::of(&path, &text), at: FileRef::new(path, scope) })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.at.path
    }

    /// Whether it is ours to change without being named: our own, or a project's shared one.
    pub fn is_ours(&self) -> bool {
        let name = self.path().file_name();
        let is_shared = self.dialect == Dialect::McpJson && name.is_some_and(|it| it == SHARED);
        (self.dialect.is_ours() || is_shared) && self.at.scope != Scope::System
    }

    /// What it holds; nothing, if it does not exist.
    pub fn text(&self) -> Result<String, ConfigError> {
        Ok(read_file(self.path())?.unwrap_or_default())
    }

    /// What a text in its place would say.
    pub fn read(&self, text: &str) -> Reading {
        self.dialect.read(text, &self.at)
    }

    /// Whether it has an entry of this name, usable or not.
    pub fn has(&self, name: &ServerName) -> Result<bool, ConfigError> {
        match self.text()? {
            text if text.trim().is_empty() => Ok(false),
            text => Ok(self.dialect.remove(&text, name).map_err(|it| self.failed(it))?.is_some()),
        }
    }

    /// What it would hold with this server in it.
    pub fn with(&self, text: &str, spec: &ServerSpec) -> Result<Written, ConfigError> {
        self.dialect.set(text, spec, &self.at).map_err(|it| self.failed(it))
    }

    /// Changes it: whole or not at all.
    pub fn change(
        &self,
        change: impl FnOnce(&str) -> Result<Option<String>, EditError>,
    ) -> Result<Edited, ConfigError> {
        let access = match self.at.scope {
            Scope::Project => Access::Shared,
            _ => Access::Private,
        };
        edit_file(self.path(), Editing { access, backup: false }, change)
    }

    /// The server as this file would declare it, if it can say everything about it.
    fn said(&self, spec: &ServerSpec) -> Result<Option<ServerSpec>, ConfigError> {
        let written = self.with("", spec)?;
        if !written.losses.is_empty() {
            return Ok(None);
        }
        let declared = self.read(&written.text).servers;
        Ok(declared.into_iter().map(|declared| declared.spec).find(|read| read.name == spec.name))
    }

    fn failed(&self, source: EditError) -> ConfigError {
        ConfigError::Edit { path: self.path().to_owned(), source }
    }
}

/// The folder a project's servers are declared in: the nearest that has a file of ours or is a
/// repository, else the one the search begins at.
pub fn project_root(sources: &Sources) -> Option<PathBuf> {
    let folders = crate::files::project_folders(sources);
    let marked = |folder: &&PathBuf| {
        [OURS, SHARED, REPOSITORY].iter().any(|name| folder.join(name).exists())
    };
    folders.iter().find(marked).or(folders.first()).cloned()
}

/// The file a project's server is to be written into: where it is declared already, else ours where
/// there is one, else the shared one, if it can say everything about the server.
pub fn project_document(root: &Path, spec: &ServerSpec) -> Result<Document, ConfigError> {
    let [ours, shared] = Document::of_project(root);
    let prefers_ours =
        ours.path().exists() && (ours.has(&spec.name)? || !shared.has(&spec.name)?);
    if prefers_ours {
        return Ok(ours);
    }
    // What both read back alike, the shared one says as well as ours.
    let (here, there) = (ours.said(spec)?, shared.said(spec)?);
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

    fn sources(home: &Path, project: &Path) -> Sources {
        Sources { project_dir: Some(project.to_owned()), ..Sources::new(Home::at(home)) }
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
