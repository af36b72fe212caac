//! What a project's file says of a server that is for the user or the system to say.
//!
//! Whoever clones a repository has not read it: a file in it may declare servers, and make things
//! stricter, but it vouches for nothing. Each word that is left out is told.

use toolgate_model::{Approval, Diagnostic, Origin, Scope, ServerSpec, ToolSpec, says};
use toolgate_policy::Policy;

use crate::Plan;
use crate::layers::note;

/// Words of tags by which an operator says that a call changes nothing, or may be made twice.
const HARMLESS: [&str; 3] = ["read-only", "read", "idempotent"];

/// Takes out of a server that a project's file declares whatever would open something.
pub(crate) fn tighten(spec: &mut ServerSpec, origin: &Origin) -> Vec<Diagnostic> {
    let mut told = Vec::new();
    if std::mem::take(&mut spec.trust) {
        told.push((
            "`trust`".to_owned(),
            "say it in your own config, or with `toolgate add --trust`",
        ));
    }
    if spec.sampling.take().is_some() {
        told.push(("`sampling`".to_owned(), "say it in your own config"));
    }
    if std::mem::take(&mut spec.compile) {
        told.push(("`compile`".to_owned(), "say it in your own config"));
    }
    let own = "say it in your own config, if nobody is to be asked";
    if spec.selection.approval.take_if(|it| *it == Approval::Never).is_some() {
        told.push(("`approval` = \"never\"".to_owned(), own));
    }
    let never = |(name, tool): (&String, &mut ToolSpec)| {
        tool.approval.take_if(|it| *it == Approval::Never).map(|_| name.clone())
    };
    let never: Vec<_> = spec.selection.tools.iter_mut().filter_map(never).collect();
    if !never.is_empty() {
        told.push((format!("`approval` = \"never\" of {}", never.join(", ")), own));
    }
    let tags = spec.selection.tools.values_mut().map(|tool| &mut tool.tags);
    for tags in tags.chain([&mut spec.tags]).flatten() {
        for tag in tags.extract_if(.., |tag| is_harmless(tag)) {
            let hint = "declare the server in your own config, if you know that it is so";
            told.push((format!("the tag {tag:?}"), hint));
        }
    }
    let name = &spec.name;
    let tell = |(what, hint): (String, &str)| {
        let message = format!("server \"{name}\": {what} has no effect in a project's file");
        note(origin.clone(), message, Some(hint.to_owned()))
    };
    told.into_iter().map(tell).collect()
}

/// Tells which rules that allow would be about a project's server if it were the user's own: such
/// rules are bound to what the user declares, not to whoever takes a name or a tag.
pub(crate) fn tell_of_rules(plan: &mut Plan) {
    let is_proposed = |entry: &&crate::Entry| entry.origin.scope == Scope::Project;
    if !plan.entries.iter().any(|entry| is_proposed(&entry)) {
        return;
    }
    let (policy, _) = Policy::of(&plan.settings.governance);
    let policy = policy.knowing(plan.entries.iter().map(|entry| &entry.spec.name));
    for entry in plan.entries.iter().filter(is_proposed) {
        let spec = &entry.spec;
        let rules = policy.allowing(&spec.name, &spec.possible_tags());
        if !rules.is_empty() {
            let rules: Vec<_> = rules.iter().map(|rule| format!("`{rule}`")).collect();
            let message = format!(
                "server \"{}\" is a project's, so rules that allow do not count for it: {}",
                spec.name,
                rules.join(", ")
            );
            let hint = "declare it in your own config, if these rules mean it".to_owned();
            plan.diagnostics.push(note(entry.origin.clone(), message, Some(hint)));
        }
    }
}

fn is_harmless(tag: &String) -> bool {
    HARMLESS.iter().any(|word| says(std::slice::from_ref(tag), word))
}

#[cfg(test)]
mod tests {
    use toolgate_model::{SamplingLimits, ServerName, StdioSpec, TransportSpec};

    use super::*;

    #[test]
    fn a_project_vouches_for_nothing() {
        let name = ServerName::new("git").unwrap();
        let plain = ServerSpec::new(name, TransportSpec::Stdio(StdioSpec::default()));
        let mut spec = ServerSpec {
            trust: true,
            sampling: Some(SamplingLimits::default()),
            compile: true,
            tags: Some(vec!["mcp.git".into(), "mcp.read-only".into()]),
            ..plain.clone()
        };
        spec.selection.approval = Some(Approval::Never);
        let tool = |approval, tags: &[&str]| ToolSpec {
            approval: Some(approval),
            tags: Some(tags.iter().map(ToString::to_string).collect()),
            ..ToolSpec::default()
        };
        spec.selection.tools.insert("log".into(), tool(Approval::Never, &["idempotent", "x"]));
        spec.selection.tools.insert("push".into(), tool(Approval::Always, &["reader"]));
        let told = tighten(&mut spec, &Origin::built_in());
        assert_eq!(told.len(), 7, "{told:#?}");
        let mut left = ServerSpec { tags: Some(vec!["mcp.git".into()]), ..plain };
        let log = ToolSpec { approval: None, ..tool(Approval::Never, &["x"]) };
        left.selection.tools.insert("log".into(), log);
        left.selection.tools.insert("push".into(), tool(Approval::Always, &["reader"]));
        assert_eq!(spec, left);
        assert_eq!(tighten(&mut spec, &Origin::built_in()), []);
    }
}
