//! What several files say of the local context: the user's and the system's count, a project's not.

use toolgate_model::{
    ConfigScope, ContextNamingStyle, ContextOfferMode, ContextSettings, Diagnostic,
};

use crate::world::{USER, World, entry};

const SYSTEM: &str = "/etc/toolgate/config.toml";
const PROJECT: &str = "toolgate.toml";

#[test]
fn the_nearest_of_the_users_and_the_systems_words_counts() {
    let world = World::new();
    world.file(
        SYSTEM,
        "[context]\noffer = 'never'\nnames = 'secondbrain'\nfolders = ['/srv/docs']\n",
    );
    world.file(USER, "[context]\noffer = 'always'\ntrusted = ['~/notes', 'own/../mine']\n");
    let plan = world.plan();
    let user = world.user_dir();
    let expected = ContextSettings {
        names: ContextNamingStyle::SecondBrain,
        offer: ContextOfferMode::Always,
        folders: vec!["/srv/docs".into()],
        trusted: vec![user.join("notes"), user.join("toolgate/mine")],
    };
    assert_eq!(plan.settings.context, expected);
    assert_eq!(plan.diagnostics, []);
}

#[test]
fn a_projects_file_has_no_say_in_it() {
    let world = World::new();
    let text = "[context]\noffer = 'never'\nfolders = ['/home']\ntrusted = ['.']\n\
                [servers.a]\ncommand = 'x'\ncompile = true\n";
    world.file(PROJECT, text);
    let plan = world.plan();
    assert_eq!(plan.settings.context, ContextSettings::default());
    assert!(!entry(&plan, "a").spec.compile);
    let told = |found: &&Diagnostic| {
        found.origin.scope == ConfigScope::Project
            && found.message.contains("has no effect in a project's file")
    };
    let lines: Vec<_> =
        plan.diagnostics.iter().filter(told).map(|found| found.origin.line).collect();
    assert_eq!(lines, [2, 3, 4, 7], "{:#?}", plan.diagnostics);
}

#[test]
fn a_named_file_counts_as_the_users() {
    let world = World::new();
    world.file("mine.toml", "[context]\nfolders = ['docs']\n");
    let file = world.path("mine.toml");
    let plan = world.named(&file, &toolgate_config::Environment::new(|_| None));
    assert_eq!(plan.settings.context.folders, [world.repository().join("docs")]);
}
