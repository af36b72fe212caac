//! Where hosts would give one name twice.

use std::collections::BTreeSet;

use toolgate_exposure::{NameBounds, NameClaim, NamingOptions, expose};
use toolgate_model::{CapabilityId, CapabilityKind, NamingStyle, PrefixMode, ServerName};

use super::{exposed, names, style, tool};

fn aliased(id: CapabilityId, alias: &str) -> NameClaim {
    NameClaim { id, alias: Some(alias.into()) }
}

#[test]
fn codex_marks_servers_and_tools_with_its_own_digests() {
    let ids = [tool("srv-one", "search"), tool("srv.one", "search"), tool("srv.one", "read")];
    let servers = [
        "mcp__srv_one_5516cb0cc910__search",
        "mcp__srv_one_7060d506179d__search",
        "mcp__srv_one_7060d506179d__read",
    ];
    assert_eq!(names(NamingStyle::Codex, &ids), servers);
    let ids = [tool("s", "a.b"), tool("s", "a/b")];
    let tools = ["mcp__s__a_b_77c2543178c5", "mcp__s__a_b_68c8272a5002"];
    assert_eq!(names(NamingStyle::Codex, &ids), tools);
    let ids = [tool("a__", "t"), tool("a.-", "t")];
    let before_the_end = ["mcp__a_471264430b0c____t", "mcp__a_d94d2dd21d53____t"];
    assert_eq!(names(NamingStyle::Codex, &ids), before_the_end);
    let long = [tool("s", &"x".repeat(130))];
    let cut = format!("mcp__s__{}_d903801d5e4c", "x".repeat(107));
    assert_eq!(names(NamingStyle::Codex, &long), [cut]);
}

#[test]
fn what_codex_keeps_apart_in_two_parts_is_apart_in_one() {
    let ids = [tool("a", "b__c"), tool("a__b", "c")];
    let found = names(NamingStyle::Codex, &ids);
    assert_ne!(found[0], found[1]);
    assert!(found.iter().all(|name| name.starts_with("mcp__a__b__c_")), "{found:?}");
}

#[test]
fn llxprt_goes_by_the_configuration_and_not_by_who_came_first() {
    let ids = [tool("a", "search"), tool("b", "search"), tool("c", "search")];
    let claims: Vec<_> = ids.iter().cloned().map(|id| NameClaim { id, alias: None }).collect();
    let [a, b, c] = [&ids[0].server, &ids[1].server, &ids[2].server];
    for (order, expected) in [
        ([a, b, c], ["search", "b__search", "c__search"]),
        ([c, a, b], ["a__search", "b__search", "search"]),
    ] {
        let exposed = expose(&claims, &order, &style(NamingStyle::Llxprt));
        assert_eq!(ids.each_ref().map(|id| exposed.name_of(id).unwrap()), expected);
        assert_eq!(exposed.notes, &[] as &[String], "as that host does it");
    }
}

#[test]
fn llxprt_tools_that_cut_to_the_same_name_are_told_apart() {
    let long = |middle: &str| format!("{}{middle}{}", "h".repeat(28), "t".repeat(32));
    // Of one server there is no first; of two the second carries its server's name, and if that
    // cuts to the same again, a digest.
    let ids = [tool("s", &long("first")), tool("s", &long("other"))];
    let found = names(NamingStyle::Llxprt, &ids);
    assert!(found.iter().all(|name| name.len() == 63 && name.starts_with("s__hhh")), "{found:?}");
    assert_ne!(found[0], found[1]);
    let ids = [tool("s", &long("first")), tool("z", &long("first")), tool("z", &long("other"))];
    let found = names(NamingStyle::Llxprt, &ids);
    assert_eq!(found[0], format!("{}___{}", "h".repeat(28), "t".repeat(32)));
    let both = |name: &String| name.starts_with("z__hhh") && !name.ends_with('t');
    assert!(found[1] != found[2] && found[1..].iter().all(both), "{found:?}");
}

#[test]
fn llxprt_joins_prompts_that_meet_by_one_underscore() {
    let prompt = |server| CapabilityId { kind: CapabilityKind::Prompt, ..tool(server, "plan") };
    assert_eq!(names(NamingStyle::Llxprt, &[prompt("a"), prompt("b")]), ["plan", "b_plan"]);
}

#[test]
fn an_alias_stands_for_the_tool_in_every_style() {
    let id = tool("files", "list_directory");
    for (naming, expected) in [
        (NamingStyle::Toolgate, "files__list_dir"),
        (NamingStyle::Claude, "mcp__files__list_dir"),
        (NamingStyle::CoreAgent, "files_list_dir"),
        (NamingStyle::Llxprt, "list_dir"),
        (NamingStyle::Gemini, "mcp_files_list_dir"),
        (NamingStyle::Codex, "mcp__files__list_dir"),
        (NamingStyle::Opencode, "files_list_dir"),
        (NamingStyle::Sidekick, "list_dir"),
    ] {
        let exposed = expose(&[aliased(id.clone(), "list_dir")], &[], &style(naming));
        assert_eq!(exposed.name_of(&id), Some(expected));
        assert_eq!(exposed.id_of(CapabilityKind::Tool, expected), Some(&id));
    }
}

#[test]
fn an_alias_that_cannot_be_shown_is_not_taken() {
    let id = tool("a", "t");
    let exposed = expose(&[aliased(id.clone(), "x\u{202e}")], &[], &style(NamingStyle::Sidekick));
    assert_eq!(exposed.name_of(&id), Some("t"));
    assert!(exposed.notes[0].starts_with("the alias of tool a/t cannot be used"));
}

#[test]
fn an_alias_that_is_anothers_name_is_told_with_both() {
    let (one, other) = (tool("a", "find"), tool("b", "search"));
    let claims = [aliased(one.clone(), "search"), NameClaim { id: other.clone(), alias: None }];
    let exposed = expose(&claims, &[], &style(NamingStyle::Sidekick));
    let found = [&one, &other].map(|id| exposed.name_of(id).unwrap());
    assert!(found[0].starts_with("a__search_") && found[1].starts_with("b__search_"), "{found:?}");
    let [note] = &exposed.notes[..] else { panic!("{:?}", exposed.notes) };
    assert!(note.contains("tool a/find") && note.contains("tool b/search"), "{note}");
}

#[test]
fn the_gateways_own_names_and_the_embedders_win_in_every_style() {
    let host = ServerName::new("host").unwrap();
    let ids = [tool("host", "read"), tool("host", "tool_search"), tool("b", "tool_search")];
    for naming in NamingStyle::ALL {
        for prefix in PrefixMode::ALL {
            // What a server would have to be called to come out as the gateway's own tool.
            let mimics = [tool("tool", "search"), tool("tool", "_search"), tool("x", "read")];
            let all: Vec<_> = ids
                .iter()
                .chain(&mimics)
                .cloned()
                .map(|id| NameClaim { id, alias: None })
                .collect();
            let style = NamingOptions {
                naming,
                prefix,
                own: vec![host.clone()],
                reserved: vec!["tool_search", "call_tool"],
            };
            let exposed = expose(&all, &[], &style);
            assert_eq!(exposed.name_of(&ids[0]), Some("read"), "{}", naming.as_str());
            assert_eq!(exposed.id_of(CapabilityKind::Tool, "tool_search"), None);
            let names: BTreeSet<_> = all.iter().map(|claim| exposed.name_of(&claim.id)).collect();
            assert!(names.len() == all.len() && !names.contains(&None), "{names:?}");
        }
    }
}

#[test]
fn llxprt_prefixes_what_meets_the_gateways_own_name() {
    let id = tool("b", "tool_search");
    let style = NamingOptions { reserved: vec!["tool_search"], ..style(NamingStyle::Llxprt) };
    let exposed = expose(&[NameClaim { id: id.clone(), alias: None }], &[], &style);
    assert_eq!(exposed.name_of(&id), Some("b__tool_search"));
}

/// Names whose digests are known in advance, each imitated by the next.
#[test]
fn imitated_digests_stay_apart_in_every_style() {
    for naming in NamingStyle::ALL {
        let (one, other) = match naming {
            NamingStyle::Llxprt | NamingStyle::Sidekick => (tool("a", "x y"), tool("a", "x\"y")),
            _ => (tool("a", "x y"), tool("a", "x/y")),
        };
        let before = names(naming, &[tool("a", "zz")]).remove(0).replace("zz", "");
        let mut ids = vec![one, other];
        for _ in 0..4 {
            let exposed = exposed(naming, &ids);
            let marked = exposed.name_of(ids.last().unwrap()).unwrap();
            ids.push(tool("a", marked.strip_prefix(&*before).unwrap()));
        }
        let found = names(naming, &ids);
        let apart: BTreeSet<_> = found.iter().collect();
        assert_eq!(apart.len(), ids.len(), "{} {found:?}", naming.as_str());
        let bounds = NameBounds::of(&style(naming));
        assert!(found.iter().all(|name| bounds.allow(name)), "{found:?}");
    }
}

/// Whoever makes a tool meet another's name and then every digest of it does not hide it.
#[test]
fn nobody_can_take_all_of_anothers_names() {
    for naming in [NamingStyle::Llxprt, NamingStyle::Sidekick, NamingStyle::Toolgate] {
        let style = NamingOptions { prefix: PrefixMode::Never, ..style(naming) };
        let victim = tool("a", "x y");
        let mut ids = vec![victim.clone(), tool("a", "x\"y")];
        let expose = |ids: &[CapabilityId]| {
            let claims: Vec<_> =
                ids.iter().cloned().map(|id| NameClaim { id, alias: None }).collect();
            expose(&claims, &[], &style)
        };
        for _ in 0..5 {
            let marked = expose(&ids).name_of(&victim).unwrap().to_owned();
            ids.extend(["hostile", "other"].map(|server| tool(server, &marked)));
        }
        let exposed = expose(&ids);
        assert!(exposed.quarantined.is_empty(), "{:?}", exposed.quarantined);
        let names: BTreeSet<_> = ids.iter().map(|id| exposed.name_of(id)).collect();
        let apart: BTreeSet<_> = ids.iter().collect();
        assert_eq!(names.len(), apart.len(), "{}", naming.as_str());
    }
}

#[test]
fn what_is_too_long_for_the_provider_is_marked() {
    let (server, name) = ("s".repeat(100), "n".repeat(200));
    for naming in
        [NamingStyle::Claude, NamingStyle::Opencode, NamingStyle::CoreAgent, NamingStyle::Sidekick]
    {
        let found = names(naming, &[tool(&server, &name)]);
        let bounds = NameBounds::of(&style(naming));
        assert_eq!(found[0].len(), bounds.max, "{}", naming.as_str());
        let digest = found[0].rsplit_once('_').unwrap().1;
        assert!(digest.len() == 8 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{found:?}");
    }
}
