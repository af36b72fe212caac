//! Finds the program of a command before it is started.
//!
//! A bare name is searched only on the child's `PATH`, never in the working folder, where a cloned
//! repository could have planted a program of that name.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::error::LaunchError;

/// Finds `program` on `path_env` (the child's `PATH`), or relative to `cwd` if it contains a
/// folder.
pub fn resolve_program(
    program: &OsStr,
    path_env: Option<&OsStr>,
    cwd: &Path,
) -> Result<PathBuf, LaunchError> {
    let is_bare = Path::new(program).components().count() <= 1;
    let folders: Vec<PathBuf> = match is_bare {
        true => std::env::split_paths(path_env.unwrap_or_default())
            .filter(|folder| folder.is_absolute())
            .collect(),
        false => vec![cwd.to_owned()],
    };
    let mut refused = None;
    for found in folders.iter().flat_map(|folder| candidates(&folder.join(program))) {
        if !found.is_file() {
            continue;
        }
        if is_executable(&found) {
            return Ok(found);
        }
        refused.get_or_insert(found);
    }
    Err(match refused {
        Some(path) => LaunchError::NotExecutable { path },
        None => {
            let searched = match is_bare {
                true => describe_search_path(&folders),
                false => cwd.join(program).display().to_string(),
            };
            LaunchError::NotFound { program: program.to_owned(), searched }
        }
    })
}

fn describe_search_path(folders: &[PathBuf]) -> String {
    if folders.is_empty() {
        return "an empty PATH".to_owned();
    }
    let listed: Vec<_> = folders.iter().map(|folder| folder.display().to_string()).collect();
    listed.join(", ")
}

#[cfg(unix)]
fn candidates(path: &Path) -> [PathBuf; 1] {
    [path.to_owned()]
}

#[cfg(windows)]
fn candidates(path: &Path) -> Vec<PathBuf> {
    let with = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    ["", ".exe", ".cmd", ".bat", ".com"].into_iter().map(with).collect()
}

#[cfg(unix)]
fn is_executable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

#[cfg(windows)]
fn is_executable(path: &Path) -> bool {
    path.extension().is_some()
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use toolgate_model::CodedError as _;

    fn file(folder: &Path, name: &str, mode: u32) {
        std::fs::write(folder.join(name), "").unwrap();
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(folder.join(name), permissions).unwrap();
    }

    #[test]
    fn the_first_executable_on_the_path_is_found() {
        let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        file(first.path(), "tool", 0o644);
        file(second.path(), "tool", 0o755);
        let path = std::env::join_paths([first.path(), second.path()]).unwrap();
        let found = resolve_program("tool".as_ref(), Some(&path), Path::new("/")).unwrap();
        assert_eq!(found, second.path().join("tool"));
    }

    #[test]
    fn a_program_planted_in_the_working_folder_is_not_found_by_its_bare_name() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "npx", 0o755);
        for path in ["", ".", "::", "./"] {
            let found = resolve_program("npx".as_ref(), Some(path.as_ref()), folder.path());
            assert!(matches!(found, Err(LaunchError::NotFound { .. })), "PATH={path}");
        }
    }

    #[test]
    fn a_relative_path_is_meant_from_the_working_folder() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "tool", 0o755);
        let found = resolve_program("./tool".as_ref(), None, folder.path()).unwrap();
        assert_eq!(found, folder.path().join("./tool"));
    }

    #[test]
    fn a_file_without_permission_and_a_missing_one_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        file(folder.path(), "plain", 0o644);
        let path = Some(folder.path().as_os_str());
        let plain = resolve_program("plain".as_ref(), path, Path::new("/")).unwrap_err();
        assert!(matches!(plain, LaunchError::NotExecutable { .. }));
        let missing = resolve_program("missing".as_ref(), path, Path::new("/")).unwrap_err();
        assert!(missing.hint().unwrap().contains("install it"), "{missing}");
        assert!(missing.to_string().contains(&folder.path().display().to_string()));
    }
}
