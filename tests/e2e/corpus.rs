//! The corpus of released servers: it is there, whole, and what the tests over it may count on.

use std::collections::{BTreeMap, BTreeSet};

use toolgate_e2e::corpus;

#[test]
fn every_released_server_lists_its_tools_offline() {
    let tools = corpus::tools().unwrap();
    let mut servers = BTreeMap::<&str, usize>::new();
    for tool in &tools {
        *servers.entry(&tool.server).or_default() += 1;
        let schema = &tool.definition().unwrap()["inputSchema"];
        assert!(schema.is_object(), "{}/{} has the schema {schema}", tool.server, tool.name);
    }
    assert_eq!(servers.keys().copied().collect::<BTreeSet<_>>(), corpus::servers().collect());
    assert!(servers.len() >= 20 && tools.len() >= 400, "{} tools: {servers:?}", tools.len());
}
