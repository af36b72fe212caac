//! A mode that reports what the server inherited at its start and should not have (T25). It looks
//! only at its own process.

use std::collections::BTreeMap;
use std::fs;

use serde_json::json;

use super::action::{HostileActionSequence, single_message};
use super::context::HookContext;

pub(super) fn environment(scene: &HookContext) -> HostileActionSequence {
    let variables: BTreeMap<String, String> =
        std::env::vars_os().map(|(name, value)| (lossy(&name), lossy(&value))).collect();
    single_message(scene.text(&json!(variables).to_string()))
}

pub(super) fn descriptors(scene: &HookContext) -> HostileActionSequence {
    single_message(scene.text(&json!(scene.shared.descriptors).to_string()))
}

/// The descriptors that are open now, except the one that reads them.
pub(super) fn open_descriptors() -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else {
        return BTreeMap::new();
    };
    // Collected first: an entry whose link is gone afterwards was the reader itself.
    let entries: Vec<fs::DirEntry> = entries.flatten().collect();
    let named = |entry: fs::DirEntry| {
        let target = fs::read_link(entry.path()).ok()?;
        Some((lossy(&entry.file_name()), lossy(target.as_os_str())))
    };
    entries.into_iter().filter_map(named).collect()
}

fn lossy(text: &std::ffi::OsStr) -> String {
    text.to_string_lossy().into_owned()
}
