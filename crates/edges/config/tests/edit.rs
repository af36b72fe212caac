//! Files changed in place: real files, links and modes, and several writers at once, in threads and
//! in processes.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use toolgate_config::{ConfigError, EditOptions, EditOutcome, FileAccess, edit_file, read_file};

const SHARED: EditOptions = EditOptions { access: FileAccess::Shared, backup: false };
const PRIVATE: EditOptions = EditOptions { access: FileAccess::Private, backup: false };
/// Names the file a process of this test counts in.
const COUNTED: &str = "TOOLGATE_TEST_COUNTED";

fn put(path: &Path, editing: EditOptions, text: &str) -> Result<EditOutcome, ConfigError> {
    edit_file(path, editing, |_| Ok(Some(text.to_owned())))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The names in a folder.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// The whole chain of an error, as a person reads it.
fn told(error: &ConfigError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

#[test]
fn a_file_is_created_with_its_folders_and_read_by_whom_it_concerns() {
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("deep/er/config.toml");
    let edited = put(&own, PRIVATE, "x").unwrap();
    assert!(edited.changed && edited.created && edited.backup.is_none());
    assert_eq!(edited.path, own);
    assert_eq!((mode(&own), mode(own.parent().unwrap())), (0o600, 0o700));
    let shared = folder.path().join("project/.mcp.json");
    put(&shared, SHARED, "{}").unwrap();
    assert_eq!(mode(&shared) & 0o600, 0o600);
    assert_eq!(mode(&shared) & !0o644, 0, "{:o}", mode(&shared));
    assert_eq!(names(own.parent().unwrap()), ["config.toml"]);
}

#[test]
fn mode_link_and_line_ends_stay() {
    let folder = tempfile::tempdir().unwrap();
    let real = folder.path().join("dotfiles/settings.json");
    put(&real, SHARED, "{\r\n}\r\n").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    let link = folder.path().join("settings.json");
    symlink("dotfiles/settings.json", &link).unwrap();
    let over = folder.path().join("over.json");
    symlink(&link, &over).unwrap();

    let edited = edit_file(&over, SHARED, |text| Ok(Some(format!("{text}//\r\n")))).unwrap();
    assert_eq!(edited.path.canonicalize().unwrap(), real.canonicalize().unwrap());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\r\n}\r\n//\r\n");
    assert_eq!(mode(&real), 0o640);
    for link in [&link, &over] {
        assert!(link.symlink_metadata().unwrap().is_symlink());
    }
    assert_eq!(names(folder.path()), ["dotfiles", "over.json", "settings.json"]);
    assert_eq!(names(real.parent().unwrap()), ["settings.json"]);
}

#[test]
fn a_link_to_nothing_leads_to_a_new_file_and_a_circle_nowhere() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink("not/yet", &link).unwrap();
    assert_eq!(read_file(&link).unwrap(), None);
    assert!(put(&link, SHARED, "x").unwrap().created);
    assert_eq!(fs::read_to_string(folder.path().join("not/yet")).unwrap(), "x");

    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    symlink(&two, &one).unwrap();
    symlink(&one, &two).unwrap();
    let error = put(&one, SHARED, "x").unwrap_err();
    assert!(told(&error).contains("too many symbolic links"), "{}", told(&error));
}

#[test]
fn nothing_is_written_where_nothing_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    for answer in [None, Some(String::new())] {
        let edited = edit_file(&path, PRIVATE, |text| {
            assert_eq!(text, "");
            Ok(answer.clone())
        });
        assert_eq!(edited.unwrap().created, answer.is_some());
    }
    put(&path, PRIVATE, "same").unwrap();
    let before = fs::metadata(&path).unwrap();
    assert!(!put(&path, PRIVATE, "same").unwrap().changed);
    let refused = |_: &str| {
        let error = toolgate_dialects::Dialect::McpJson
            .remove("[", &toolgate_model::ServerName::new("a").unwrap())
            .unwrap_err();
        Err(error)
    };
    let error = edit_file(&path, PRIVATE, refused).unwrap_err();
    assert!(matches!(error, ConfigError::Edit { .. }), "{error:?}");
    let after = fs::metadata(&path).unwrap();
    use std::os::unix::fs::MetadataExt as _;
    assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
    assert_eq!(names(folder.path()), ["x"]);
}

#[test]
fn the_text_before_is_kept_where_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claude.json");
    let editing = EditOptions { backup: true, ..PRIVATE };
    assert_eq!(put(&path, editing, "one").unwrap().backup, None);
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let first = put(&path, editing, "two").unwrap().backup.unwrap();
    let second = put(&path, editing, "three").unwrap().backup.unwrap();
    assert_eq!(put(&path, editing, "three").unwrap().backup, None);
    assert_eq!(fs::read_to_string(&first).unwrap(), "one");
    assert_eq!(fs::read_to_string(&second).unwrap(), "two");
    assert_eq!(mode(&first), 0o640);
    assert_eq!(
        names(folder.path()),
        ["claude.json", "claude.json.toolgate-backup-1", "claude.json.toolgate-backup-2"]
    );
}

#[test]
fn what_is_no_plain_text_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x");
    fs::create_dir(&path).unwrap();
    let error = put(&path, SHARED, "x").unwrap_err();
    assert!(told(&error).contains("not a regular file"), "{}", told(&error));

    let bytes = folder.path().join("bytes");
    fs::write(&bytes, [0xff, 0xfe]).unwrap();
    let error = put(&bytes, SHARED, "x").unwrap_err();
    assert!(told(&error).contains("not valid UTF-8"), "{}", told(&error));
    assert_eq!(fs::read(&bytes).unwrap(), [0xff, 0xfe]);

    let large = folder.path().join("large");
    fs::File::create(&large).unwrap().set_len(5 * 1024 * 1024).unwrap();
    let error = put(&large, SHARED, "x").unwrap_err();
    assert!(told(&error).contains("larger than"), "{}", told(&error));
    assert_eq!(names(folder.path()), ["bytes", "large", "x"]);
}

/// Not even the administrator can create a file there.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_is_named_with_the_reason() {
    let error = put(Path::new("/proc/self/toolgate.toml"), SHARED, "x").unwrap_err();
    let told = told(&error);
    assert!(told.starts_with("cannot write /proc/self/toolgate.toml: "), "{told}");
}

/// Adds one to the number in a file.
fn count(path: &Path) {
    let edited = edit_file(path, SHARED, |text| {
        let number: u32 = if text.is_empty() { 0 } else { text.trim().parse().unwrap() };
        Ok(Some(format!("{}\n", number + 1)))
    });
    assert!(edited.unwrap().changed);
}

#[test]
fn writers_in_threads_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("count");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..50).for_each(|_| count(&path)));
        }
    });
    assert_eq!(fs::read_to_string(&path).unwrap(), "200\n");
    assert_eq!(names(folder.path()), ["count"]);
}

/// The other half of [`writers_in_processes_lose_nothing`]: it does nothing when run by itself.
#[test]
fn counting_process() {
    if let Some(path) = std::env::var_os(COUNTED) {
        (0..50).for_each(|_| count(Path::new(&path)));
    }
}

#[test]
fn writers_in_processes_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("count");
    let start = || {
        #[expect(clippy::disallowed_methods, reason = "the writers are this test itself")]
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "counting_process"]).env(COUNTED, &path);
        command.stdout(std::process::Stdio::null()).spawn().unwrap()
    };
    let (mut one, mut two) = (start(), start());
    // A reader never sees anything but a whole number.
    while one.try_wait().unwrap().is_none() {
        if let Some(text) = read_file(&path).unwrap() {
            text.trim().parse::<u32>().unwrap();
            assert!(text.ends_with('\n'));
        }
        std::thread::yield_now();
    }
    assert!(one.wait().unwrap().success() && two.wait().unwrap().success());
    assert_eq!(fs::read_to_string(&path).unwrap(), "100\n");
    assert_eq!(names(folder.path()), ["count"]);
}

/// Killed at any moment, a writer leaves a whole number behind, and the next one goes on.
#[test]
fn a_killed_writer_leaves_a_whole_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("count");
    for round in 0..10 {
        #[expect(clippy::disallowed_methods, reason = "the writer is this test itself")]
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "counting_process"]).env(COUNTED, &path);
        let mut writer = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        let before = number(&path);
        // It is in the middle of its work when it has counted a little further.
        while number(&path) <= before + round && writer.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let left = number(&path);
        count(&path);
        assert_eq!(number(&path), left + 1);
        assert_eq!(names(folder.path()), ["count"], "what it left is swept away");
    }
}

fn number(path: &Path) -> u32 {
    read_file(path).unwrap().map_or(0, |text| text.trim().parse().unwrap())
}
