//! Reads the files that a process is started with: when the configuration is read, so that a
//! consent can be bound to their content, and again when the process starts.
//!
//! Before a consent, only regular files up to a size limit are read, and their content is not used.
//! Paths that depend on another file or on a secret are skipped.

use std::path::{Path, PathBuf};

use toolgate_dialects::template::{self, TemplateVariable, VariableSource};
use toolgate_model::{
    ConfigScope, Digest, EnvFile, LaunchFiles, LaunchProjectFile, Posture, Secret, StdioSpec,
    TransportSpec, is_loader_variable,
};

use crate::{Environment, PlanEntry, env_file, files};

/// Larger files are not pinned.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Records in an entry the current content of its files. In the governed posture, files of the
/// project are pinned.
pub(crate) fn read(entry: &mut PlanEntry, environment: &Environment, posture: Posture) {
    let environment = environment.for_entry(entry);
    let is_proposed = entry.origin.scope == ConfigScope::Project;
    let project = entry.variable_context.project.clone().filter(|_| is_proposed);
    let TransportSpec::Stdio(stdio) = &mut entry.spec.transport else { return };
    let env_file = stdio.env_file.as_deref();
    let env_file = env_file.and_then(|path| read_env_file(path, &environment, is_proposed));
    let mut files = LaunchFiles { env_file, project: Vec::new() };
    if let Some(project) = project {
        let named = LaunchProjectFileFinder { project, environment: &environment, posture };
        files.project = named.all(stdio, files.env_file.as_ref());
    }
    stdio.files = files;
}

fn read_env_file(path: &Path, environment: &Environment, is_proposed: bool) -> Option<EnvFile> {
    let path = match path.to_str() {
        Some(text) => PathBuf::from(expand(text, environment, is_proposed)?),
        None => path.to_owned(),
    };
    let text = environment.file(&path).ok();
    let digest = text.as_ref().map(|text| Digest::of(text.as_bytes()));
    let variables = text
        .and_then(|text| env_file::parse(&text).ok())
        .map(|set| set.into_iter().map(|(name, value)| (name, Secret::new(value))).collect());
    Some(EnvFile { path, digest, variables })
}

/// Expands the variables of a text. For servers that a project proposes, files and secrets are not
/// read.
fn expand(text: &str, environment: &Environment, is_proposed: bool) -> Option<String> {
    let look_up = |variable: &TemplateVariable| match variable.source {
        VariableSource::File | VariableSource::Secret if is_proposed => None,
        _ => environment.look_up(variable).ok().flatten(),
    };
    template::expand(text, &look_up).ok()
}

/// Finds the files of a project that a process is started with.
struct LaunchProjectFileFinder<'e> {
    project: PathBuf,
    environment: &'e Environment,
    posture: Posture,
}

impl LaunchProjectFileFinder<'_> {
    fn all(&self, stdio: &StdioSpec, env_file: Option<&EnvFile>) -> Vec<LaunchProjectFile> {
        let folder = stdio.cwd.as_deref().and_then(Path::to_str);
        let folder = folder.and_then(|cwd| expand(cwd, self.environment, true)).map(PathBuf::from);
        let folder = folder.unwrap_or_else(|| self.project.clone());
        let mut found: Vec<LaunchProjectFile> = Vec::new();
        let mut look = |text: &str, is_folder_meant: bool| {
            let Some(written) = expand(text, self.environment, true) else { return };
            // `--config=server.json`
            let value = written.split_once('=').map(|(_, value)| value);
            for part in [Some(written.as_str()), value].into_iter().flatten() {
                let path = folder.join(part);
                // Most arguments are not files, and one check is enough to see that.
                if !(path.is_file() || is_folder_meant && path.is_dir()) {
                    continue;
                }
                let (Ok(path), Ok(project)) = (path.canonicalize(), self.project.canonicalize())
                else {
                    continue;
                };
                if path.starts_with(&project) && !found.iter().any(|it| it.path == path) {
                    let digest = self.digest(&path);
                    found.push(LaunchProjectFile { written: text.to_owned(), path, digest });
                }
            }
        };
        // A command without a separator is looked up on `PATH`, never in the folder.
        if stdio.command.contains(['/', '\\']) || stdio.command.contains("${") {
            look(&stdio.command, false);
        }
        stdio.args.iter().for_each(|arg| look(arg, false));
        let of_file = env_file.and_then(|file| file.variables.as_ref()).into_iter().flatten();
        for (_, value) in stdio.env.iter().chain(of_file).filter(|(it, _)| is_loader_variable(it)) {
            // Lists of folders, and options that contain paths.
            let parts = value.expose().split([':', ';', ' ', '=']).filter(|part| !part.is_empty());
            parts.for_each(|part| look(part, true));
        }
        found
    }

    fn digest(&self, path: &Path) -> Option<Digest> {
        let governed = self.posture == Posture::Governed;
        let bytes = governed.then(|| files::read_bytes(path, MAX_BYTES).ok()).flatten()?;
        Some(Digest::of(&bytes))
    }
}
