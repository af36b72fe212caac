//! A user with a home folder, a repository in it, and an administrator.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use toolgate_config::{ConfigSources, Dialect, Environment, Home, Plan, PlanEntry, load};
use toolgate_dialects::{FileRef, FileSettings};
use toolgate_model::{ConfigScope, ServerName, ServerSpec, StdioSpec, TransportSpec};

pub struct World {
    folder: TempDir,
}

impl World {
    pub fn new() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.repository().join(".git")).unwrap();
        world
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    pub fn user_dir(&self) -> PathBuf {
        self.root().join("user")
    }

    pub fn repository(&self) -> PathBuf {
        self.user_dir().join("code/app")
    }

    pub fn home(&self) -> Home {
        let user = self.user_dir().to_str().unwrap().to_owned();
        let env = move |name: &str| (name == "HOME").then(|| user.clone());
        let home = Home::find(Some(self.user_dir().join("toolgate")), &env).unwrap();
        home.with_system_below(&self.root().join("etc"))
    }

    pub fn sources(&self) -> ConfigSources {
        ConfigSources { project_dir: Some(self.repository()), ..ConfigSources::new(self.home()) }
    }

    /// Writes a file: `~/…` the user's, `/etc/…` the administrator's, else the project's.
    pub fn file(&self, path: &str, text: &str) -> &Self {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        self
    }

    pub fn path(&self, path: &str) -> PathBuf {
        match (path.strip_prefix("~/"), path.strip_prefix("/etc/")) {
            (Some(rest), _) => self.user_dir().join(rest),
            (_, Some(rest)) => self.root().join("etc").join(rest),
            _ => self.repository().join(path),
        }
    }

    pub fn plan(&self) -> Plan {
        self.plan_with(&Environment::new(|_| None))
    }

    /// The plan of somebody who consents to everything.
    pub fn plan_with(&self, environment: &Environment) -> Plan {
        load(&self.sources(), &|_, _| true, environment).unwrap()
    }

    /// The plan of one named file.
    pub fn named(&self, path: &Path, environment: &Environment) -> Plan {
        let sources = ConfigSources { config: Some(path.to_owned()), ..self.sources() };
        load(&sources, &|_, _| false, environment).unwrap()
    }
}

/// The user's own configuration.
pub const USER: &str = "~/toolgate/config.toml";

pub fn entry<'a>(plan: &'a Plan, name: &str) -> &'a PlanEntry {
    plan.entry(&ServerName::new(name).unwrap()).unwrap_or_else(|| panic!("no {name}: {plan:#?}"))
}

pub fn stdio(spec: &ServerSpec) -> &StdioSpec {
    match &spec.transport {
        TransportSpec::Stdio(stdio) => stdio,
        other => panic!("{other:?}"),
    }
}

pub fn names(plan: &Plan) -> Vec<&str> {
    plan.entries.iter().map(|entry| entry.spec.name.as_str()).collect()
}

/// A text in a dialect that declares one process.
pub fn declaring(dialect: Dialect, name: &str, command: &str, args: &[&str]) -> String {
    let stdio = StdioSpec {
        command: command.to_owned(),
        args: args.iter().map(ToString::to_string).collect(),
        ..StdioSpec::default()
    };
    let name = ServerName::new(name).unwrap();
    let mut spec = ServerSpec::new(name, TransportSpec::Stdio(stdio));
    if dialect == Dialect::Sidekick {
        spec.selection.listed_only = true;
    }
    let at = FileRef::new("/nowhere/file", ConfigScope::User);
    dialect.write(&[spec], &FileSettings::default(), &at).unwrap().text
}
