//! What agents see, for sets of capabilities that agree, collide and attack.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // a failed test may panic

use toolgate_exposure::{ExposedNames, NameClaim, NamingOptions, UriOwner, expose};
use toolgate_model::{CapabilityId, CapabilityKind, PrefixMode, ServerName};

fn id(kind: CapabilityKind, server: &str, name: &str) -> CapabilityId {
    CapabilityId { server: ServerName::new(server).unwrap(), kind, name: name.into() }
}

fn tool(server: &str, name: &str) -> CapabilityId {
    id(CapabilityKind::Tool, server, name)
}

fn resource(server: &str, uri: &str) -> CapabilityId {
    id(CapabilityKind::Resource, server, uri)
}

fn claims(ids: &[CapabilityId]) -> Vec<NameClaim> {
    ids.iter().cloned().map(|id| NameClaim { id, alias: None }).collect()
}

fn exposed(ids: &[CapabilityId], prefix: PrefixMode) -> ExposedNames {
    expose(&claims(ids), &[], &NamingOptions { prefix, ..NamingOptions::default() })
}

fn name(exposed: &ExposedNames, id: &CapabilityId) -> String {
    exposed.name_of(id).unwrap().to_owned()
}

#[test]
fn a_tool_is_named_after_its_server() {
    let ids = [tool("git", "log"), tool("My Server", "read.file"), tool("x", "a/b:ü")];
    let exposed = exposed(&ids, PrefixMode::Always);
    assert_eq!(name(&exposed, &ids[0]), "git__log");
    assert_eq!(name(&exposed, &ids[1]), "My_Server__read_file");
    assert_eq!(name(&exposed, &ids[2]), "x__a_b__");
    assert_eq!(exposed.id_of(CapabilityKind::Tool, "git__log"), Some(&ids[0]));
    assert_eq!(exposed.id_of(CapabilityKind::Prompt, "git__log"), None);
}

#[test]
fn tools_and_prompts_have_namespaces_of_their_own() {
    let ids = [tool("git", "log"), id(CapabilityKind::Prompt, "git", "log")];
    let exposed = exposed(&ids, PrefixMode::Always);
    assert_eq!(name(&exposed, &ids[0]), name(&exposed, &ids[1]));
}

#[test]
fn a_collision_marks_all_its_parties() {
    let ids = [tool("a", "x.y"), tool("a", "x/y"), tool("a", "z")];
    let exposed = exposed(&ids, PrefixMode::Always);
    for id in &ids[..2] {
        let name = name(&exposed, id);
        assert_eq!(name.len(), "a__x_y_".len() + 8, "{name}");
        assert!(name.starts_with("a__x_y_"), "{name}");
    }
    assert_eq!(name(&exposed, &ids[2]), "a__z");
}

#[test]
fn servers_whose_names_run_into_their_tools_are_told_apart() {
    let ids = [tool("a", "_b"), tool("a_", "b")];
    let exposed = exposed(&ids, PrefixMode::Always);
    assert_ne!(name(&exposed, &ids[0]), name(&exposed, &ids[1]));
}

#[test]
fn a_long_name_is_cut_and_marked_and_leaves_room_for_the_clients_prefix() {
    let ids = [tool("server", &"x".repeat(70)), tool("server", &"x".repeat(71))];
    for prefix in PrefixMode::ALL {
        let exposed = exposed(&ids, prefix);
        let names = [0, 1].map(|at| name(&exposed, &ids[at]));
        assert_eq!(names.each_ref().map(|name| "mcp__toolgate__".len() + name.len()), [64, 64]);
        assert_ne!(names[0], names[1]);
        let digest = names[0].rsplit('_').next().unwrap();
        assert_eq!(digest.len(), 8, "the digest is whole: {names:?}");
    }
}

#[test]
fn a_server_that_imitates_a_marked_name_does_not_get_it() {
    let honest = [tool("a", "x.y"), tool("a", "x/y")];
    let marked = name(&exposed(&honest, PrefixMode::Always), &honest[0]);
    let mimic = tool("a", marked.strip_prefix("a__").unwrap());
    let all = [honest[0].clone(), honest[1].clone(), mimic.clone()];
    let exposed = exposed(&all, PrefixMode::Always);
    assert_ne!(name(&exposed, &mimic), name(&exposed, &honest[0]));
    assert_eq!(exposed.id_of(CapabilityKind::Tool, &name(&exposed, &mimic)), Some(&mimic));
}

#[test]
fn on_collision_only_the_colliding_carry_their_server() {
    let ids = [tool("a", "search"), tool("b", "search"), tool("b", "read")];
    let exposed = exposed(&ids, PrefixMode::OnCollision);
    let names: Vec<_> = ids.iter().map(|id| name(&exposed, id)).collect();
    assert_eq!(names, ["a__search", "b__search", "read"]);
}

#[test]
fn without_prefix_names_stay_as_written_until_they_collide() {
    let ids = [tool("a", "dir/read.file"), tool("a", "same"), tool("b", "same"), tool("a", "ü")];
    let exposed = exposed(&ids, PrefixMode::Never);
    assert_eq!(name(&exposed, &ids[0]), "dir/read.file");
    assert!(name(&exposed, &ids[1]).starts_with("a__same_"));
    assert!(name(&exposed, &ids[2]).starts_with("b__same_"));
    assert_eq!(name(&exposed, &ids[3]), "_");
    let told = "tool a/same and tool b/same would all be named \"same\"; a digest or an \
                alias tells them apart";
    assert_eq!(exposed.notes, [told]);
}

#[test]
fn the_embedders_tools_keep_their_bare_names() {
    let host = ServerName::new("host").unwrap();
    let ids = [tool("host", "search"), tool("b", "search"), tool("host", "b__search")];
    for prefix in PrefixMode::ALL {
        let exposed = expose(
            &claims(&ids),
            &[],
            &NamingOptions { prefix, own: vec![host.clone()], ..NamingOptions::default() },
        );
        assert_eq!(name(&exposed, &ids[0]), "search");
        assert_eq!(name(&exposed, &ids[2]), "b__search");
        let theirs = name(&exposed, &ids[1]);
        assert!(theirs.starts_with("b__search_"), "{theirs}");
    }
}

#[test]
fn several_servers_may_be_this_programs_own() {
    let own = ["host", "context"].map(|name| ServerName::new(name).unwrap());
    let style = NamingOptions { own: own.to_vec(), ..NamingOptions::default() };
    let ids =
        [tool("host", "add"), tool("context", "search"), tool("b", "search"), tool("host", "both")];
    let exposed = expose(&claims(&ids), &[], &style);
    let bare = ids.each_ref().map(|id| name(&exposed, id));
    assert_eq!(bare, ["add", "search", "b__search", "both"]);
    // One that both have is nobody's, whoever comes first.
    let shared = [ids[3].clone(), tool("context", "both")];
    let exposed = expose(&claims(&shared), &[], &style);
    for id in &shared {
        let theirs = name(&exposed, id);
        assert!(theirs.contains("both_"), "{theirs}");
    }
}

#[test]
fn an_unusable_name_is_quarantined_and_harms_nobody() {
    let ids =
        [tool("a", "x\u{202e}y"), tool("a", ""), tool("a", "fine"), tool("a", &"n".repeat(257))];
    let exposed = exposed(&ids, PrefixMode::Always);
    assert_eq!(exposed.quarantined.len(), 3);
    assert_eq!(exposed.name_of(&ids[0]), None);
    assert_eq!(name(&exposed, &ids[2]), "a__fine");
}

#[test]
fn a_uri_of_one_server_stays_as_written() {
    let ids = [resource("a", "file:///x"), resource("b", "file:///y")];
    let exposed = exposed(&ids, PrefixMode::Always);
    assert_eq!(name(&exposed, &ids[0]), "file:///x");
    let (b, raw) = (&ids[1].server, "file:///y");
    assert_eq!(exposed.find_uri_owner(raw), UriOwner::Server { server: b, uri: raw.into() });
    assert_eq!(exposed.exposed_uri(b, raw), raw);
    assert_eq!(exposed.find_uri_owner("file:///z"), UriOwner::Unknown);
}

#[test]
fn a_uri_of_two_servers_is_tagged_for_both() {
    let ids = [resource("a", "file:///x"), resource("B b", "file:///x")];
    let exposed = exposed(&ids, PrefixMode::Always);
    assert_eq!(name(&exposed, &ids[0]), "toolgate+a:file:///x");
    assert_eq!(name(&exposed, &ids[1]), "toolgate+b-b:file:///x");
    assert_eq!(exposed.find_uri_owner("file:///x"), UriOwner::Unknown);
    let tagged = "toolgate+b-b:file:///other";
    let there = UriOwner::Server { server: &ids[1].server, uri: "file:///other".into() };
    assert_eq!(exposed.find_uri_owner(tagged), there);
}

#[test]
fn a_uri_that_pretends_to_be_tagged_reaches_only_its_own_server() {
    let ids = [resource("git", "file:///x"), resource("evil", "toolgate+git:file:///x")];
    let exposed = exposed(&ids, PrefixMode::Always);
    let shown = name(&exposed, &ids[1]);
    assert_eq!(shown, "toolgate+evil:toolgate+git:file:///x");
    let there = UriOwner::Server { server: &ids[1].server, uri: "toolgate+git:file:///x".into() };
    assert_eq!(exposed.find_uri_owner(&shown), there);
    let sent = exposed.exposed_uri(&ids[1].server, "toolgate+git:file:///secret");
    assert_eq!(sent, "toolgate+evil:toolgate+git:file:///secret");
}

#[test]
fn servers_that_fold_into_one_tag_get_different_tags() {
    let ids = [resource("Git", "x:1"), resource("git", "x:1"), resource("g_t", "x:1")];
    let exposed = exposed(&ids, PrefixMode::Always);
    let names: std::collections::BTreeSet<_> = ids.iter().map(|id| name(&exposed, id)).collect();
    assert_eq!(names.len(), 3);
}

#[test]
fn a_uri_from_a_template_finds_its_server() {
    let ids = [
        id(CapabilityKind::Template, "a", "test://{id}/data"),
        id(CapabilityKind::Template, "b", "file:///{+path}"),
        id(CapabilityKind::Template, "c", "file:///{name}"),
    ];
    let exposed = exposed(&ids, PrefixMode::Always);
    let uri = "test://7/data";
    assert_eq!(
        exposed.find_uri_owner(uri),
        UriOwner::Server { server: &ids[0].server, uri: uri.into() }
    );
    let both = UriOwner::Ambiguous(vec![&ids[1].server, &ids[2].server]);
    assert_eq!(exposed.find_uri_owner("file:///x"), both);
    assert_eq!(exposed.exposed_uri(&ids[1].server, "file:///x"), "toolgate+b:file:///x");
    assert_eq!(exposed.exposed_uri(&ids[1].server, "file:///x/y"), "file:///x/y");
    let through = |server, uri| exposed.templates_for(server, uri).collect::<Vec<_>>();
    assert_eq!(through(&ids[1].server, "file:///x"), [&ids[1]]);
    assert_eq!(through(&ids[2].server, "file:///x"), [&ids[2]]);
    assert_eq!(through(&ids[2].server, "file:///x/y"), Vec::<&CapabilityId>::new());
}

#[test]
fn a_template_of_two_servers_is_tagged_for_both() {
    let ids = [
        id(CapabilityKind::Template, "a", "test://{id}"),
        id(CapabilityKind::Template, "b", "test://{id}"),
    ];
    let exposed = exposed(&ids, PrefixMode::Always);
    assert_eq!(name(&exposed, &ids[0]), "toolgate+a:test://{id}");
    let there = UriOwner::Server { server: &ids[1].server, uri: "test://7".into() };
    assert_eq!(exposed.find_uri_owner("toolgate+b:test://7"), there);
}

#[test]
fn a_user_interface_of_two_servers_stays_one_when_tagged() {
    let ids = [resource("a", "ui://chart/view"), resource("B b", "ui://chart/view")];
    let exposed = exposed(&ids, PrefixMode::Always);
    assert_eq!(name(&exposed, &ids[0]), "ui://toolgate+a/chart/view");
    let shown = name(&exposed, &ids[1]);
    assert_eq!(shown, "ui://toolgate+b-b/chart/view");
    let there = UriOwner::Server { server: &ids[1].server, uri: "ui://chart/view".into() };
    assert_eq!(exposed.find_uri_owner(&shown), there);
}

#[test]
fn a_user_interface_that_pretends_to_be_tagged_reaches_only_its_own_server() {
    let ids = [resource("git", "ui://x"), resource("evil", "ui://toolgate+git/x")];
    let exposed = exposed(&ids, PrefixMode::Always);
    assert_eq!(name(&exposed, &ids[1]), "ui://toolgate+evil/toolgate+git/x");
    let sent = exposed.exposed_uri(&ids[1].server, "ui://toolgate+git/secret");
    assert_eq!(sent, "ui://toolgate+evil/toolgate+git/secret");
}

#[test]
fn a_server_that_offers_nothing_has_a_tag_for_what_it_sends() {
    let (silent, other) = (ServerName::new("silent").unwrap(), ServerName::new("other").unwrap());
    let ids = [CapabilityId { server: other, kind: CapabilityKind::Tool, name: "t".into() }];
    let exposed = expose(&claims(&ids), &[&silent], &NamingOptions::default());
    let tagged = exposed.tagged_uri(&silent, "skill://s").unwrap();
    let back = UriOwner::Server { server: &silent, uri: "skill://s".into() };
    assert_eq!(exposed.find_uri_owner(&tagged), back);
    assert_eq!(
        expose(&claims(&ids), &[], &NamingOptions::default()).tagged_uri(&silent, "skill://s"),
        None
    );
}
