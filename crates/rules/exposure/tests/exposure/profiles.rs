//! Profiles: what they import, include and exclude.

use toolgate_model::{CapabilityKind, NamingStyle, PrefixMode, Profile};

use crate::world::{Server, hidden, listed, row, see, see_built_in, texts, why};

fn servers() -> [Server; 3] {
    [
        Server::new("git", &["log", "push"]).tagged(&["mcp.git"]),
        Server::new("plain", &["ping"]),
        Server::new("files", &["read"])
            .with(CapabilityKind::Prompt, &["tidy"])
            .tagged(&["mcp.filesystem"]),
    ]
}

#[test]
fn built_in_profiles_import_what_they_should() {
    let seen = see_built_in(&servers(), "root");
    assert_eq!(why(&seen, "git", "log"), listed("profile root imports mcp (built in)"));
    assert_eq!(why(&seen, "plain", "ping"), listed("profile root imports mcp (built in)"));
    for profile in ["research", "transform", "suggest"] {
        let seen = see_built_in(&servers(), profile);
        let rule = format!("tags mcp.git: profile {profile} imports nothing (built in)");
        assert_eq!(why(&seen, "git", "log"), hidden(&rule));
        assert!(seen.entries.iter().all(|row| row.exposed.is_none()) && !seen.searching);
    }
    let seen = see_built_in(&servers(), "default");
    assert_eq!(why(&seen, "git", "log"), listed("profile default sees everything (built in)"));
}

#[test]
fn tags_are_imported_by_whole_parts_for_everything_of_a_server() {
    let tags = Some(texts(&["mcp.file", "mcp.git"]));
    let seen = see(&servers(), Profile { tags, ..Profile::default() });
    let not = "profile research imports mcp.file, mcp.git (profiles.toml:3)";
    assert_eq!(why(&seen, "files", "read"), hidden(&format!("tags mcp.filesystem: {not}")));
    assert_eq!(why(&seen, "files", "tidy"), hidden(&format!("tags mcp.filesystem: {not}")));
    assert_eq!(why(&seen, "plain", "ping"), hidden(&format!("tags mcp, mcp.plain: {not}")));
    assert_eq!(
        why(&seen, "git", "log"),
        listed("profile research imports mcp.git (profiles.toml:3)")
    );
}

#[test]
fn what_has_no_tags_is_imported_by_nobody() {
    let seen = see_built_in(&[Server::new("bare", &["t"]).tagged(&[])], "root");
    assert_eq!(why(&seen, "bare", "t"), hidden("no tags: profile root imports mcp (built in)"));
}

#[test]
fn lists_win_over_tags_and_exclude_over_include() {
    let profile = Profile {
        tags: Some(texts(&["mcp.filesystem"])),
        include: texts(&["git", "plain/*"]),
        exclude: texts(&["git/push", "*/read"]),
        ..Profile::default()
    };
    let seen = see(&servers(), profile);
    let of = |server, tool| why(&seen, server, tool);
    assert_eq!(of("git", "log"), listed(r#"include "git" of profile research (profiles.toml:3)"#));
    assert_eq!(
        of("git", "push"),
        hidden(r#"exclude "git/push" of profile research (profiles.toml:3)"#)
    );
    assert_eq!(
        of("plain", "ping"),
        listed(r#"include "plain/*" of profile research (profiles.toml:3)"#)
    );
    assert_eq!(
        of("files", "read"),
        hidden(r#"exclude "*/read" of profile research (profiles.toml:3)"#)
    );
    assert_eq!(
        of("files", "tidy"),
        listed("profile research imports mcp.filesystem (profiles.toml:3)")
    );
}

#[test]
fn a_profile_with_a_list_sees_that_and_one_that_says_nothing_sees_all() {
    let include = texts(&["git/log", "git/lgo", "gone/tool"]);
    let profile = Profile { tags: Some(Vec::new()), include, ..Profile::default() };
    let seen = see(&servers(), profile.clone());
    assert_eq!(
        why(&seen, "git", "log"),
        listed(r#"include "git/log" of profile research (profiles.toml:3)"#)
    );
    let rule = "tags mcp, mcp.plain: profile research imports nothing (profiles.toml:3)";
    assert_eq!(why(&seen, "plain", "ping"), hidden(rule));
    let told = r#"profile research includes "git/lgo", which server git does not offer"#;
    assert_eq!(seen.findings, [told], "of a server that is not here nothing is said");
    let seen = see(&servers(), Profile { tags: None, ..profile });
    let rule = "not in include of profile research (profiles.toml:3)";
    assert_eq!(why(&seen, "plain", "ping"), hidden(rule));
    let seen = see(&servers(), Profile::default());
    assert_eq!(
        why(&seen, "plain", "ping"),
        listed("profile research sees everything (profiles.toml:3)")
    );
}

#[test]
fn a_servers_slash_does_not_confuse_a_pattern() {
    let server = Server::new("@scope/pkg", &["tool"]);
    let include = texts(&["@scope/pkg"]);
    let seen = see(&[server], Profile { include, ..Profile::default() });
    let rule = r#"include "@scope/pkg" of profile research (profiles.toml:3)"#;
    assert_eq!(why(&seen, "@scope/pkg", "tool"), listed(rule));
    assert_eq!(seen.findings, [] as [&str; 0]);
}

#[test]
fn a_profile_has_names_of_its_own() {
    let profile = Profile { naming: Some(NamingStyle::Claude), ..Profile::default() };
    let seen = see(&servers(), profile);
    assert_eq!(row(&seen, "git", "log").exposed.as_deref(), Some("mcp__git__log"));
    let profile = Profile { prefix: Some(PrefixMode::OnCollision), ..Profile::default() };
    assert_eq!(row(&see(&servers(), profile), "git", "log").exposed.as_deref(), Some("log"));
}

#[test]
fn the_first_server_by_declaration_keeps_the_bare_name() {
    let servers = [Server::new("z", &["search"]), Server::new("a", &["search"])];
    let profile = Profile { naming: Some(NamingStyle::Llxprt), ..Profile::default() };
    let seen = see(&servers, profile);
    assert_eq!(row(&seen, "z", "search").exposed.as_deref(), Some("search"));
    assert_eq!(row(&seen, "a", "search").exposed.as_deref(), Some("a__search"));
}
