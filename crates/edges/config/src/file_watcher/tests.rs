//! Real files, changed in every way people and editors change them.

use std::os::unix::fs::symlink;

use super::*;

async fn tells(watch: &mut FileWatcher) -> bool {
    tokio::time::timeout(Duration::from_secs(10), watch.changed()).await.is_ok()
}

async fn is_silent(watch: &mut FileWatcher) -> bool {
    tokio::time::timeout(3 * QUIET, watch.changed()).await.is_err()
}

fn replace(file: &Path, text: &str) {
    let beside = file.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, file).unwrap();
}

#[tokio::test]
async fn writing_renaming_and_deleting_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let mut watch = FileWatcher::new([file.clone()]);
    assert!(is_silent(&mut watch).await);
    let changes: [fn(&Path); 4] = [
        |file| fs::write(file, "a").unwrap(),
        |file| fs::write(file, "b").unwrap(),
        |file| replace(file, "c"),
        |file| fs::remove_file(file).unwrap(),
    ];
    for change in changes {
        change(&file);
        assert!(tells(&mut watch).await);
        assert!(is_silent(&mut watch).await);
    }
}

#[tokio::test]
async fn what_lies_beside_the_file_and_reading_it_mean_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    fs::write(&file, "a").unwrap();
    let mut watch = FileWatcher::new([file.clone()]);
    fs::write(folder.path().join("other"), "b").unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "a");
    assert!(is_silent(&mut watch).await);
}

#[tokio::test]
async fn a_file_whose_folders_come_later_is_noticed_and_its_folder_may_come_again() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("deep");
    let file = deep.join(".vscode/mcp.json");
    let mut watch = FileWatcher::new([file.clone()]);
    for _ in 0..2 {
        fs::create_dir(&deep).unwrap();
        assert!(tells(&mut watch).await);
        fs::create_dir(file.parent().unwrap()).unwrap();
        assert!(tells(&mut watch).await);
        fs::write(&file, "{}").unwrap();
        assert!(tells(&mut watch).await);
        fs::remove_dir_all(&deep).unwrap();
        assert!(tells(&mut watch).await);
        assert!(is_silent(&mut watch).await);
    }
}

#[tokio::test]
async fn of_a_folder_every_file_is_meant() {
    let folder = tempfile::tempdir().unwrap();
    let servers = folder.path().join("servers");
    let mut watch = FileWatcher::new([servers.clone()]);
    fs::create_dir(&servers).unwrap();
    assert!(tells(&mut watch).await);
    for name in ["one.yaml", "two.yaml"] {
        fs::write(servers.join(name), "").unwrap();
        assert!(tells(&mut watch).await);
    }
    fs::write(folder.path().join("three.yaml"), "").unwrap();
    assert!(is_silent(&mut watch).await);
}

#[tokio::test]
async fn links_are_followed_and_may_be_swapped() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for version in ["1", "2"] {
        fs::create_dir(at(version)).unwrap();
        fs::write(at(version).join("config.toml"), version).unwrap();
    }
    // As configuration is mounted into containers: the folder behind a link is swapped.
    symlink("1", at("data")).unwrap();
    fs::create_dir(at("here")).unwrap();
    symlink("../data/config.toml", at("here").join("config.toml")).unwrap();
    let mut watch = FileWatcher::new([at("here").join("config.toml")]);

    fs::write(at("1").join("config.toml"), "changed").unwrap();
    assert!(tells(&mut watch).await, "the target itself");
    symlink("2", at("data.new")).unwrap();
    fs::rename(at("data.new"), at("data")).unwrap();
    assert!(tells(&mut watch).await, "a link on the way");
    fs::write(at("2").join("config.toml"), "changed").unwrap();
    assert!(tells(&mut watch).await, "the new target");
    assert!(is_silent(&mut watch).await);
    fs::write(at("1").join("config.toml"), "changed again").unwrap();
    assert!(is_silent(&mut watch).await, "the old target");
}

/// Returns a watcher on a paused clock, with the signal through which the test reports changes.
/// Real events arrive at unpredictable times.
fn told_by_hand(file: &Path) -> (FileWatcher, Arc<WatchSignal>) {
    let signal = Arc::<WatchSignal>::default();
    (FileWatcher::with([file.to_owned()].into(), signal.clone(), None), signal)
}

#[tokio::test(start_paused = true)]
async fn a_storm_is_one_change_and_who_stops_waiting_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let (mut watch, signal) = told_by_hand(&file);
    for round in 0..20 {
        fs::write(&file, round.to_string()).unwrap();
        signal.wake.notify_one();
        let waited = tokio::time::timeout(QUIET / 10, watch.changed()).await;
        assert!(waited.is_err(), "it is still changing");
    }
    assert!(tells(&mut watch).await);
    assert!(is_silent(&mut watch).await);
}

#[tokio::test(start_paused = true)]
async fn a_storm_without_end_is_told_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let (mut watch, signal) = told_by_hand(&file);
    let writing = tokio::spawn(async move {
        loop {
            fs::write(&file, "a").unwrap();
            signal.wake.notify_one();
            sleep(QUIET / 10).await;
        }
    });
    let began = Instant::now();
    assert!(tells(&mut watch).await);
    assert_eq!(began.elapsed(), LATEST);
    writing.abort();
}

#[tokio::test(start_paused = true)]
async fn files_that_cannot_be_watched_are_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let (mut watch, _signal) = told_by_hand(&file);
    for text in ["a", "other"] {
        fs::write(&file, text).unwrap();
        assert!(tells(&mut watch).await);
    }
    assert!(is_silent(&mut watch).await);
}

#[tokio::test]
async fn other_files_can_be_watched_instead() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (folder.path().join("one"), folder.path().join("two"));
    let mut watch = FileWatcher::new([one.clone()]);
    watch.set_files([two.clone()]);
    fs::write(&one, "").unwrap();
    assert!(is_silent(&mut watch).await);
    fs::write(&two, "").unwrap();
    assert!(tells(&mut watch).await);
}

#[test]
fn a_link_to_itself_ends() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("link");
    symlink("link", &link).unwrap();
    assert!(!lookups(&link.join("config.toml")).is_empty());
}
