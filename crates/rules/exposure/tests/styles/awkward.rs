//! Awkward names, as they came out of the released programs: one server with six such tools,
//! configured under two names. LLxprt's follow from the rule it documents.

use toolgate_model::NamingStyle;

use super::{names, tool};

fn check(naming: NamingStyle, first: [&str; 6], second: [&str; 6]) {
    let long = "x".repeat(70);
    let raw = ["search", "tool-dash", "read.file", "a/b:c", "ünï", &long];
    let ids: Vec<_> = ["srv.one", "two_"]
        .into_iter()
        .flat_map(|server| raw.map(|name| tool(server, name)))
        .collect();
    let expected: Vec<_> = first.into_iter().chain(second).collect();
    assert_eq!(names(naming, &ids), expected, "{}", naming.as_str());
}

#[test]
fn claude_keeps_names_whole() {
    let long = "x".repeat(70);
    check(
        NamingStyle::Claude,
        [
            "mcp__srv_one__search",
            "mcp__srv_one__tool-dash",
            "mcp__srv_one__read_file",
            "mcp__srv_one__a_b_c",
            "mcp__srv_one___n_",
            &format!("mcp__srv_one__{long}"),
        ],
        [
            "mcp__two___search",
            "mcp__two___tool-dash",
            "mcp__two___read_file",
            "mcp__two___a_b_c",
            "mcp__two____n_",
            &format!("mcp__two___{long}"),
        ],
    );
    assert_eq!(format!("mcp__srv_one__{long}").len(), 84, "the length that was measured");
}

#[test]
fn codex_has_no_dashes() {
    let long = "x".repeat(70);
    check(
        NamingStyle::Codex,
        [
            "mcp__srv_one__search",
            "mcp__srv_one__tool_dash",
            "mcp__srv_one__read_file",
            "mcp__srv_one__a_b_c",
            "mcp__srv_one___n_",
            &format!("mcp__srv_one__{long}"),
        ],
        [
            "mcp__two___search",
            "mcp__two___tool_dash",
            "mcp__two___read_file",
            "mcp__two___a_b_c",
            "mcp__two____n_",
            &format!("mcp__two___{long}"),
        ],
    );
}

#[test]
fn gemini_leaves_the_middle_out() {
    check(
        NamingStyle::Gemini,
        [
            "mcp_srv.one_search",
            "mcp_srv.one_tool-dash",
            "mcp_srv.one_read.file",
            "mcp_srv.one_a_b:c",
            "mcp_srv.one__n_",
            &format!("mcp_srv.one_{}...{}", "x".repeat(18), "x".repeat(30)),
        ],
        [
            "mcp_two__search",
            "mcp_two__tool-dash",
            "mcp_two__read.file",
            "mcp_two__a_b:c",
            "mcp_two___n_",
            &format!("mcp_two__{}...{}", "x".repeat(21), "x".repeat(30)),
        ],
    );
}

#[test]
fn opencode_keeps_names_whole() {
    let long = "x".repeat(70);
    check(
        NamingStyle::Opencode,
        [
            "srv_one_search",
            "srv_one_tool-dash",
            "srv_one_read_file",
            "srv_one_a_b_c",
            "srv_one__n_",
            &format!("srv_one_{long}"),
        ],
        [
            "two__search",
            "two__tool-dash",
            "two__read_file",
            "two__a_b_c",
            "two___n_",
            &format!("two__{long}"),
        ],
    );
    assert_eq!(format!("srv_one_{long}").len(), 78, "the length that was measured");
}

#[test]
fn llxprt_names_the_first_server_bare() {
    check(
        NamingStyle::Llxprt,
        [
            "search",
            "tool-dash",
            "read.file",
            "a_b_c",
            "_n_",
            &format!("{}___{}", "x".repeat(28), "x".repeat(32)),
        ],
        [
            "two___search",
            "two___tool-dash",
            "two___read.file",
            "two___a_b_c",
            "two____n_",
            &format!("two___{}___{}", "x".repeat(22), "x".repeat(32)),
        ],
    );
}

#[test]
fn core_agent_has_no_dashes_and_sidekick_no_servers() {
    let ids = [tool("my-server", "tool-dash"), tool("file.system", "a/b:c")];
    assert_eq!(names(NamingStyle::CoreAgent, &ids), ["my_server_tool_dash", "file_system_a_b_c"]);
    assert_eq!(names(NamingStyle::Sidekick, &ids), ["tool-dash", "a/b_c"]);
}

#[test]
fn a_character_outside_the_basic_plane_counts_as_each_host_counts_it() {
    let ids = [tool("s", "a🙂b")];
    let found = |naming| names(naming, &ids).remove(0);
    assert_eq!(found(NamingStyle::Claude), "mcp__s__a__b");
    assert_eq!(found(NamingStyle::Gemini), "mcp_s_a__b");
    assert_eq!(found(NamingStyle::Codex), "mcp__s__a_b");
}

#[test]
fn a_prefix_that_is_there_is_not_added() {
    let ids = [tool("mcp__s", "t"), tool("mcp_s", "t")];
    assert_eq!(names(NamingStyle::Codex, &ids), ["mcp__s__t", "mcp__mcp_s__t"]);
    assert_eq!(names(NamingStyle::Gemini, &ids), ["mcp__s_t", "mcp_s_t"]);
    assert_eq!(names(NamingStyle::Claude, &ids), ["mcp__mcp__s__t", "mcp__mcp_s__t"]);
}
