//! Removes settings from a project's servers that only the user or the system may set.
//!
//! A user who clones a repository has not read it. Its files may declare servers and make rules
//! stricter, but cannot grant trust. Every removed setting is reported.

use toolgate_model::{
    ApprovalMode, ConfigScope, DeclaredTool, Diagnostic, Origin, ServerSpec, has_tag_word,
};
use toolgate_policy::Policy;

use crate::Plan;
use crate::strict_setting::project_limit;

/// Last parts of tags by which an operator declares that a call changes nothing, or can be
/// repeated.
const HARMLESS: [&str; 3] = ["read-only", "read", "idempotent"];

/// Removes every setting that loosens a restriction from a server that a project's file declares.
pub(crate) fn tighten(spec: &mut ServerSpec, origin: &Origin) -> Vec<Diagnostic> {
    let mut removed = Vec::new();
    if std::mem::take(&mut spec.trust) {
        removed.push((
            "`trust`".to_owned(),
            "set it in your own config, or with `toolgate add --trust`",
        ));
    }
    if spec.sampling.take().is_some() {
        removed.push(("`sampling`".to_owned(), "set it in your own config"));
    }
    if std::mem::take(&mut spec.compile) {
        removed.push(("`compile`".to_owned(), "set it in your own config"));
    }
    let own = "set it in your own config, to call it without approval";
    if spec.selection.approval.take_if(|it| *it == ApprovalMode::Never).is_some() {
        removed.push(("`approval` = \"never\"".to_owned(), own));
    }
    let never = |(name, tool): (&String, &mut DeclaredTool)| {
        tool.approval.take_if(|it| *it == ApprovalMode::Never).map(|_| name.clone())
    };
    let never: Vec<_> = spec.selection.tools.iter_mut().filter_map(never).collect();
    if !never.is_empty() {
        removed.push((format!("`approval` = \"never\" of {}", never.join(", ")), own));
    }
    let tags = spec.selection.tools.values_mut().map(|tool| &mut tool.tags);
    for tags in tags.chain([&mut spec.tags]).flatten() {
        for tag in tags.extract_if(.., |tag| is_harmless(tag)) {
            let hint = "declare the server in your own config, if the tag is right";
            removed.push((format!("the tag {tag:?}"), hint));
        }
    }
    let name = &spec.name;
    let tell = |(what, hint): (String, &str)| {
        let message = format!("server \"{name}\": {what} has no effect in a project's file");
        project_limit(origin.clone(), message, hint).about(name)
    };
    removed.into_iter().map(tell).collect()
}

/// Reports the allow rules that would apply to a project's server if the user had declared it.
/// Allow rules apply only to servers that the user declares, so that a project cannot claim a name
/// or a tag.
pub(crate) fn report_unused_rules(plan: &mut Plan) {
    let is_proposed = |entry: &&crate::PlanEntry| entry.origin.scope == ConfigScope::Project;
    if !plan.entries.iter().any(|entry| is_proposed(&entry)) {
        return;
    }
    let (policy, _) = Policy::compile(&plan.settings.governance);
    let policy = policy.with_servers(plan.entries.iter().map(|entry| &entry.spec.name));
    for entry in plan.entries.iter().filter(is_proposed) {
        let spec = &entry.spec;
        let rules = policy.allow_rules_for(&spec.name, &spec.possible_tags());
        if !rules.is_empty() {
            let rules: Vec<_> = rules.iter().map(|rule| format!("`{rule}`")).collect();
            let message = format!(
                "server \"{}\" is declared by a project, so allow rules do not apply to it: {}",
                spec.name,
                rules.join(", ")
            );
            let hint = "declare it in your own config, if these rules should apply to it";
            let warning = project_limit(entry.origin.clone(), message, hint);
            plan.diagnostics.push(warning.about(&spec.name));
        }
    }
}

fn is_harmless(tag: &String) -> bool {
    HARMLESS.iter().any(|word| has_tag_word(std::slice::from_ref(tag), word))
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
        spec.selection.approval = Some(ApprovalMode::Never);
        let tool = |approval, tags: &[&str]| DeclaredTool {
            approval: Some(approval),
            tags: Some(tags.iter().map(ToString::to_string).collect()),
            ..DeclaredTool::default()
        };
        spec.selection.tools.insert("log".into(), tool(ApprovalMode::Never, &["idempotent", "x"]));
        spec.selection.tools.insert("push".into(), tool(ApprovalMode::Always, &["reader"]));
        let removed = tighten(&mut spec, &Origin::built_in());
        assert_eq!(removed.len(), 7, "{removed:#?}");
        let mut left = ServerSpec { tags: Some(vec!["mcp.git".into()]), ..plain };
        let log = DeclaredTool { approval: None, ..tool(ApprovalMode::Never, &["x"]) };
        left.selection.tools.insert("log".into(), log);
        left.selection.tools.insert("push".into(), tool(ApprovalMode::Always, &["reader"]));
        assert_eq!(spec, left);
        assert_eq!(tighten(&mut spec, &Origin::built_in()), []);
    }
}
