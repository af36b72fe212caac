//! Profiles of several files: which holds, and what is said about the other.

use toolgate_config::{NamingStyle, Plan};
use toolgate_model::{ConfigScope, Diagnostic, DiagnosticSeverity};

use crate::world::{USER, World};

const SYSTEM: &str = "/etc/toolgate/config.toml";
const PROJECT: &str = "toolgate.toml";

fn world(files: &[(&str, &str)]) -> Plan {
    let world = World::new();
    for (file, text) in files {
        world.file(file, text);
    }
    world.plan()
}

/// Where a profile holds from, and what it excludes.
fn held(plan: &Plan, name: &str) -> (ConfigScope, u32, Vec<String>) {
    let declared = plan.settings.profiles.get(name).unwrap();
    (declared.origin.scope, declared.origin.line, declared.profile.exclude)
}

fn told(plan: &Plan) -> Vec<(DiagnosticSeverity, ConfigScope, String)> {
    let told = |it: &Diagnostic| {
        let said = format!("{} | {}", it.message, it.hint.as_deref().unwrap_or_default());
        (it.severity, it.origin.scope, said)
    };
    plan.diagnostics.iter().map(told).collect()
}

#[test]
fn a_projects_file_adds_profiles_and_changes_none_of_the_users() {
    let plan = world(&[
        (PROJECT, "[profiles.a]\nexclude = ['p']\n[profiles.b]\nexclude = ['p']\n"),
        (USER, "\n[profiles.a]\nexclude = ['u']\n[profiles.c]\nexclude = ['u']\n"),
        (SYSTEM, "[profiles.c]\nexclude = ['s']\n[profiles.d]\nexclude = ['s']\n"),
    ]);
    let own = |word: &str| vec![word.to_owned()];
    assert_eq!(held(&plan, "a"), (ConfigScope::User, 2, own("u")));
    assert_eq!(held(&plan, "b"), (ConfigScope::Project, 3, own("p")));
    assert_eq!(held(&plan, "c"), (ConfigScope::User, 4, own("u")));
    assert_eq!(held(&plan, "d"), (ConfigScope::System, 3, own("s")));
    let told = told(&plan);
    assert_eq!(told.len(), 1, "{told:#?}");
    let (severity, scope, said) = &told[0];
    assert_eq!((*severity, *scope), (DiagnosticSeverity::Note, ConfigScope::Project));
    assert!(
        said.contains("profile \"a\" is also set in ") && said.contains("config.toml:2"),
        "{said}"
    );
}

#[test]
fn what_is_built_in_may_be_said_otherwise_by_the_user_and_not_by_a_project() {
    let text = "[profiles.research]\ntags = ['mcp.web']\n";
    let plan = world(&[(USER, text)]);
    let research = plan.settings.profiles.get("research").unwrap();
    assert_eq!(research.profile.tags, Some(vec!["mcp.web".to_owned()]));
    assert_eq!(plan.diagnostics, []);

    let plan = world(&[(PROJECT, text)]);
    let research = plan.settings.profiles.get("research").unwrap();
    assert_eq!(
        (research.profile.tags, research.origin.scope),
        (Some(vec![]), ConfigScope::BuiltIn)
    );
    let told = told(&plan);
    assert!(told.len() == 1 && told[0].2.contains("is built in"), "{told:#?}");
}

#[test]
fn a_project_gives_no_client_another_profile_where_the_user_says_what_everybody_sees() {
    let project = "[profiles.wide]\ninclude = ['*/*']\n[clients]\nb = { profile = 'wide' }\n";
    let plan = world(&[(PROJECT, project), (USER, "[profiles.default]\ntags = ['mcp.safe']\n")]);
    assert!(plan.settings.profiles.clients.is_empty());
    let told = told(&plan);
    assert!(told.len() == 1 && told[0].2.contains("client \"b\""), "{told:#?}");
}

#[test]
fn the_users_word_about_a_client_holds_against_the_projects() {
    let plan = world(&[
        (PROJECT, "[clients]\na = { profile = 'root' }\nb = { profile = 'research' }\n"),
        (USER, "[clients.a]\nprofile = 'suggest'\n"),
    ]);
    let clients = &plan.settings.profiles.clients;
    assert_eq!((clients["a"].as_str(), clients["b"].as_str()), ("suggest", "research"));
    let told = told(&plan);
    assert!(told.len() == 1 && told[0].2.contains("client \"a\""), "{told:#?}");
}

#[test]
fn a_client_with_a_profile_that_is_none_is_an_error_and_kept() {
    let plan = world(&[
        (PROJECT, "[profiles.writing]\n"),
        (USER, "[clients]\na = { profile = 'writting' }\nb = { profile = 'zzz' }\n"),
    ]);
    let told = told(&plan);
    assert_eq!(told.len(), 2, "{told:#?}");
    assert!(told.iter().all(|it| it.0 == DiagnosticSeverity::Error), "{told:#?}");
    assert!(told[0].2.contains("did you mean \"writing\"?"), "{told:#?}");
    assert!(told[1].2.contains("known profiles: default, research, root, "), "{told:#?}");
    // Else it would get the default one, which shows everything.
    assert_eq!(plan.settings.profiles.clients["a"], "writting");
}

#[test]
fn a_profile_with_a_mistake_shows_nothing() {
    let plan = world(&[(USER, "[profiles.default]\nexclude = 'a'\n")]);
    let default = plan.settings.profiles.get("default").unwrap();
    assert_eq!(default.profile.tags, Some(Vec::new()));
    assert_eq!(default.origin.line, 1);
    assert_eq!(told(&plan).len(), 1);
}

#[test]
fn naming_comes_from_the_nearest_file_that_says_it() {
    let files =
        [(PROJECT, "roots = []\n"), (USER, "naming = 'codex'\n"), (SYSTEM, "naming = 'zed'")];
    let plan = world(&files);
    assert_eq!(plan.settings.naming, NamingStyle::Codex);
    assert_eq!(world(&files[..1]).settings.naming, NamingStyle::Toolgate);
}

#[test]
fn a_projects_naming_does_not_rename_the_users_tools() {
    let plan = world(&[
        (PROJECT, "naming = 'sidekick'\nprefix = 'never'\n"),
        (USER, "naming = 'codex'\n"),
    ]);
    assert_eq!(plan.settings.naming, NamingStyle::Codex);
    assert_eq!(plan.settings.prefix, toolgate_config::PrefixMode::default());
    let told = told(&plan);
    assert!(told.len() == 2 && told.iter().all(|it| it.2.contains("would rename")), "{told:#?}");
}
