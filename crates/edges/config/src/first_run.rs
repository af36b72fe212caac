//! Creates an example configuration on the first run.

use std::io::{self, Write as _};
use std::path::Path;

use crate::{ConfigError, Home};

/// The example configuration, with a placeholder for the path of the program.
const EXAMPLE: &str = include_str!("example.toml");

/// Returns the example configuration. Its sample entry starts `program`, which need not be on the
/// `PATH`.
pub fn example(program: &Path) -> String {
    // A JSON string is also a TOML string.
    let quoted = serde_json::Value::from(program.to_string_lossy()).to_string();
    EXAMPLE.replace("\"TOOLGATE\"", &quoted)
}

/// Creates the user's configuration if it does not exist. Returns true if it was created. The
/// sample entry starts `program`.
///
/// The file is created atomically. An existing file is never changed, even if it appears meanwhile.
pub fn ensure_user_config(home: &Home, program: &Path) -> Result<bool, ConfigError> {
    home.create()?;
    let path = home.config_file();
    write_new(&path, &example(program)).map_err(|source| ConfigError::Write { path, source })
}

fn write_new(path: &Path, text: &str) -> io::Result<bool> {
    if path.symlink_metadata().is_ok() {
        return Ok(false);
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Ok(_) => Ok(true),
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(failed) => Err(failed.error),
    }
}

#[cfg(test)]
mod tests {
    use toolgate_dialects::{Dialect, FileRef};
    use toolgate_model::{ConfigScope, TransportSpec};

    use super::*;

    const PROGRAM: &str = r#"/opt/my "own" tools\\toolgate"#;

    #[test]
    fn the_first_run_writes_an_example_and_the_second_leaves_it() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path().join("home"));
        assert!(ensure_user_config(&home, PROGRAM.as_ref()).unwrap());
        std::fs::write(home.config_file(), "# mine").unwrap();
        assert!(!ensure_user_config(&home, PROGRAM.as_ref()).unwrap());
        assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), "# mine");
        assert_eq!(std::fs::read_dir(folder.path().join("home")).unwrap().count(), 1);
    }

    #[test]
    fn many_first_runs_at_once_create_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let created = std::thread::scope(|scope| {
            let run = || ensure_user_config(&home, PROGRAM.as_ref());
            let runs: Vec<_> = (0..8).map(|_| scope.spawn(run)).collect();
            runs.into_iter().map(|run| run.join().unwrap().unwrap()).filter(|it| *it).count()
        });
        assert_eq!(created, 1);
        assert_eq!(std::fs::read_to_string(home.config_file()).unwrap(), example(PROGRAM.as_ref()));
    }

    #[test]
    fn the_example_and_what_it_comments_out_are_valid() {
        let at = FileRef::new("/h/config.toml", ConfigScope::User);
        let example = example(PROGRAM.as_ref());
        let reading = Dialect::Toolgate.read(&example, &at);
        assert_eq!(reading.diagnostics, []);
        let sample = &reading.servers[0].spec;
        assert!(!sample.enabled);
        let TransportSpec::Stdio(stdio) = &sample.transport else { panic!("{sample:?}") };
        assert_eq!(stdio.command, PROGRAM);

        let uncommented: Vec<_> = example
            .lines()
            .map(|line| {
                line.strip_prefix("# ").filter(|rest| rest.contains(['=', '['])).unwrap_or(line)
            })
            .filter(|line| !line.starts_with('#'))
            .collect();
        let reading = Dialect::Toolgate.read(&uncommented.join("\n"), &at);
        assert_eq!(reading.diagnostics, []);
        assert_eq!(reading.servers.len(), 3);
    }
}
