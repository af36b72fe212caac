//! The files under `tests/dialects`: one folder per dialect, each with its documented examples, a
//! file with every field, and odd cases.

#![allow(dead_code, unused_macros)] // each test uses its part

use std::path::{Path, PathBuf};

use toolgate_dialects::{
    Dialect, FileApprovalSettings, FileContextSettings, FileRef, FileSettings, ParsedFile,
    Permissions,
};
use toolgate_model::{ConfigScope, Origin};

/// Hands every dialect, and the name of a test for it, to another macro.
macro_rules! every_dialect {
    ($to:ident) => {
        $to! {
            toolgate: Toolgate,
            mcp_json: McpJson,
            claude_code: ClaudeCode,
            claude_desktop: ClaudeDesktop,
            codex: Codex,
            gemini: Gemini,
            llxprt: Llxprt,
            core_agent: CoreAgent,
            sidekick: Sidekick,
            nyzhi: Nyzhi,
            second_brain: SecondBrain,
            vscode: VsCode,
            cursor: Cursor,
            windsurf: Windsurf,
            cline: Cline,
            continue_dev: Continue,
            zed: Zed,
            opencode: OpenCode,
            opencode_v2: OpenCodeV2,
            goose: Goose,
            copilot: Copilot,
        }
    };
}

/// One file of one dialect.
pub struct Fixture {
    pub dialect: Dialect,
    /// Its name in the folder.
    pub name: String,
    pub text: String,
}

impl Fixture {
    /// Reads it as if it lay where its dialect's files lie.
    pub fn read(&self) -> ParsedFile {
        self.dialect.read(&self.text, &place(self.dialect))
    }
}

/// Where a dialect's file lies, as far as its reader is told.
pub fn place(dialect: Dialect) -> FileRef {
    let project = |path: &str| {
        FileRef::new(Path::new("/projects/app").join(path), ConfigScope::Project)
            .with_project("/projects/app")
    };
    let user = |path: &str| FileRef::new(Path::new("/home/me").join(path), ConfigScope::User);
    match dialect {
        Dialect::Toolgate => user(".config/toolgate/config.toml"),
        Dialect::McpJson => project(".mcp.json"),
        Dialect::ClaudeCode => user(".claude.json"),
        Dialect::ClaudeDesktop => user(".config/Claude/claude_desktop_config.json"),
        Dialect::Codex => user(".codex/config.toml"),
        Dialect::Gemini => user(".gemini/settings.json"),
        Dialect::Llxprt => user(".llxprt/settings.json"),
        Dialect::CoreAgent => project(".agents/mcp.json"),
        Dialect::Sidekick => user(".binaryninja/sidekick/config/mcp_tools_config.json"),
        Dialect::Nyzhi => project(".nyzhi/config.toml"),
        Dialect::SecondBrain => user("secondbrain.yaml"),
        Dialect::VsCode => project(".vscode/mcp.json"),
        Dialect::Cursor => project(".cursor/mcp.json"),
        Dialect::Windsurf => user(".codeium/windsurf/mcp_config.json"),
        Dialect::Cline => user(".cline/data/settings/cline_mcp_settings.json"),
        Dialect::Continue => user(".continue/config.yaml"),
        Dialect::Zed => user(".config/zed/settings.json"),
        Dialect::OpenCode | Dialect::OpenCodeV2 => project("opencode.json"),
        Dialect::Goose => user(".config/goose/config.yaml"),
        Dialect::Copilot => user(".copilot/mcp-config.json"),
    }
}

/// Settings without the places where they stand, which are other ones when they are written anew,
/// and without what could not be understood, which is not written.
pub fn said(settings: &FileSettings) -> FileSettings {
    let mut said = settings.clone();
    said.invalid_profiles.clear();
    said.profiles.values_mut().for_each(|it| it.origin = Origin::built_in());
    said.clients.values_mut().for_each(|it| it.origin = Origin::built_in());
    let Permissions { mode, allow, ask, deny, taint, yolo_floor } = &mut said.permissions;
    for rule in allow.iter_mut().chain(ask).chain(deny) {
        rule.position = (0, 0);
    }
    mode.iter_mut().for_each(|it| it.at = (0, 0));
    taint.iter_mut().chain(yolo_floor).for_each(|it| it.at = (0, 0));
    let FileApprovalSettings { via, clients, wait, expiry, from_client_terminal } =
        &mut said.approvals;
    from_client_terminal.iter_mut().for_each(|it| it.at = (0, 0));
    via.iter_mut().chain(clients.values_mut()).for_each(|it| it.at = (0, 0));
    wait.iter_mut().chain(expiry).chain(&mut said.recheck).for_each(|it| it.at = (0, 0));
    said.posture.iter_mut().for_each(|it| it.at = (0, 0));
    let FileContextSettings { offer, names, folders, trusted } = &mut said.context;
    offer.iter_mut().for_each(|it| it.at = (0, 0));
    names.iter_mut().for_each(|it| it.at = (0, 0));
    folders.iter_mut().chain(trusted).for_each(|it| it.at = (0, 0));
    said
}

/// The folder of a dialect's files.
pub fn folder(dialect: Dialect) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../tests/dialects");
    tests.join(dialect.as_str())
}

/// A dialect's files, by name.
pub fn of(dialect: Dialect) -> Vec<Fixture> {
    let folder = folder(dialect);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let paths = entries.map(|entry| entry.unwrap().path());
    // A snapshot that differs is left beside the other as `.snap.new`.
    let is_fixture = |path: &PathBuf| {
        path.is_file() && path.extension().is_some_and(|it| it != "snap" && it != "new")
    };
    let mut paths: Vec<_> = paths.filter(is_fixture).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{dialect} has no files");
    let fixture = |path: PathBuf| Fixture {
        dialect,
        name: path.file_name().unwrap().to_str().unwrap().to_owned(),
        text: std::fs::read_to_string(&path).unwrap(),
    };
    paths.into_iter().map(fixture).collect()
}
