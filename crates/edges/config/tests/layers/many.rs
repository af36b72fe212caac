//! Many servers in many files.

use toolgate_config::{Environment, StartStatus, known_files};

use crate::world::World;

#[test]
fn two_hundred_servers_in_twelve_files_are_all_there_and_ready() {
    let world = World::new();
    let is_map = |dialect: &str| {
        ["cursor", "mcp-json", "claude-desktop", "gemini", "llxprt", "windsurf"].contains(&dialect)
    };
    let files: Vec<_> = known_files(&world.sources())
        .into_iter()
        .filter(|file| is_map(file.dialect.as_str()))
        .take(12)
        .collect();
    assert_eq!(files.len(), 12, "{files:#?}");
    let mut declared = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let each = if number < 8 { 17 } else { 16 };
        let names: Vec<_> = (0..each).map(|at| format!("s{number}-{at}")).collect();
        // The same command everywhere, so that every entry has to be told from the others.
        let entry = |name: &String| {
            format!(r#""{name}": {{"command": "x", "args": ["same"], "env": {{"K": "{name}"}}}}"#)
        };
        let entries: Vec<_> = names.iter().map(entry).collect();
        std::fs::create_dir_all(file.path().parent().unwrap()).unwrap();
        let text = format!(r#"{{"mcpServers": {{{}}}}}"#, entries.join(","));
        std::fs::write(file.path(), text).unwrap();
        declared.extend(names);
    }
    assert_eq!(declared.len(), 200);
    let plan = world.plan_with(&Environment::new(|_| None));
    let names: Vec<_> = plan.entries.iter().map(|entry| entry.spec.name.to_string()).collect();
    assert_eq!(names, declared, "nearest file first, and in its order");
    assert!(plan.entries.iter().all(|entry| entry.start_status == StartStatus::Ready));
    assert_eq!(plan.diagnostics, []);
}
