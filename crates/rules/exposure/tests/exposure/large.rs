//! Ten thousand tools, with lists as long: what is not linear does not end here.

use std::sync::Arc;

use toolgate_exposure::Visibility;
use toolgate_model::{Catalog, DeclaredTool, ExposureMode, Profile, ToolSelection};
use toolgate_wire::Revision;

use crate::world::{Server, definition, see};

const TOOLS: usize = 10_000;
const SERVERS: usize = 10;

#[test]
fn ten_thousand_tools_with_long_lists() {
    let names: Vec<_> = (0..TOOLS / SERVERS).map(|n| format!("tool_{n}")).collect();
    let mut servers: Vec<_> = (0..SERVERS)
        .map(|n| {
            let mut server = Server::new(&format!("server_{n}"), &[]);
            let mut catalog = Catalog::empty(Revision::LATEST_LEGACY);
            catalog.tools = names.iter().map(|name| definition(name, "Does it.")).collect();
            server.catalog = Arc::new(catalog);
            server
        })
        .collect();
    let entry = |name: &String| (name.clone(), DeclaredTool::default());
    servers[0].spec.selection = ToolSelection {
        include: names.clone(),
        exclude: names.iter().map(|name| format!("{name}_gone")).collect(),
        tools: names.iter().map(entry).collect(),
        listed_only: true,
        ..ToolSelection::default()
    };
    let paths = |n: usize| names.iter().map(move |name| format!("server_{n}/{name}"));
    let profile = Profile {
        tags: Some(Vec::new()),
        include: (0..SERVERS).flat_map(paths).collect(),
        exclude: paths(SERVERS).collect(),
        expose: Some(ExposureMode::All),
        budget: Some(5_000),
        ..Profile::default()
    };
    let seen = see(&servers, profile);
    assert_eq!(seen.entries.len(), TOOLS);
    assert_eq!(seen.findings, [] as [&str; 0]);
    let listed = seen.entries.iter().filter(|row| row.visibility == Visibility::Listed);
    let tokens: u32 = listed.map(|row| row.tokens).sum();
    assert!(tokens > 0 && tokens <= 5_000, "{tokens}");
    assert!(seen.entries.iter().all(|row| row.exposed.is_some()));
}
