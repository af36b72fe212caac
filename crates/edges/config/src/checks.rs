//! Checks that `config check` runs on a plan: servers that cannot start, credentials in plain text,
//! and profiles and rules that match nothing. Readers report errors in the files themselves.

use toolgate_model::{
    Diagnostic, Effect, ErrorCode, HttpSpec, Origin, StdioSpec, TransportSpec, imports_tag,
    is_secret_like, looks_like_token, matches_tool_pattern, secrets_in_args,
};
use toolgate_policy::Policy;

use crate::{Plan, PlanEntry, StartStatus, credentials};

impl Plan {
    /// Returns all diagnostics of the plan, sorted by file and line.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut found = self.diagnostics.clone();
        for entry in &self.entries {
            found.extend(check_blocked(entry));
            found.extend(odd_name(entry));
            found.extend(check_plaintext_credentials(entry));
        }
        found.extend(self.ineffective_profiles());
        found.extend(self.ineffective_rules());
        sort_by_place(&mut found);
        found
    }

    /// Warns about tags and patterns of profiles that match no declared server.
    pub fn ineffective_profiles(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if self.entries.is_empty() {
            return found;
        }
        let tags: Vec<_> = self.entries.iter().flat_map(|it| it.spec.possible_tags()).collect();
        for (name, declared) in &self.settings.profiles.declared {
            let profile = &declared.profile;
            let mut tell = |what: String, hint: &str| {
                let message = format!("profile {name:?}: {what}");
                let origin = declared.origin.clone();
                found.push(
                    Diagnostic::warning(ErrorCode::ConfigProfile, origin, message).hint(hint),
                );
            };
            for tag in profile.tags.iter().flatten() {
                if !tags.iter().any(|borne| imports_tag(tag, borne)) {
                    tell(
                        format!("no server or tool has the tag {tag:?}"),
                        "a tool has `mcp.SERVER`, and tags like `mcp.SERVER.read` if its \
                         server is trusted; or set `tags` in the server's entry",
                    );
                }
            }
            for pattern in profile.include.iter().chain(&profile.exclude) {
                let server = pattern.split('/').next().unwrap_or_default();
                if !self
                    .entries
                    .iter()
                    .any(|it| matches_tool_pattern(server, it.spec.name.as_str()))
                {
                    tell(
                        format!("the pattern {pattern:?} matches no declared server"),
                        "run `toolgate list` to see the servers",
                    );
                }
            }
        }
        found
    }

    /// Warns about rules that match no declared server. `policy check` compares rules with the
    /// tools that servers offer.
    fn ineffective_rules(&self) -> Vec<Diagnostic> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let (policy, _) = Policy::compile(&self.settings.governance);
        let policy = policy.with_servers(self.entries.iter().map(|entry| &entry.spec.name));
        let servers: Vec<_> =
            self.entries.iter().map(|it| (&it.spec.name, it.spec.possible_tags())).collect();
        let to_warning = |(effect, text, origin): (Effect, &str, &Origin)| {
            let message = format!("the {effect} rule `{text}` matches no declared server");
            Diagnostic::warning(ErrorCode::PolicyUnusedRule, origin.clone(), message)
                .hint("run `toolgate list` or `toolgate policy check` for details")
        };
        policy.unused_rules(&servers).into_iter().map(to_warning).collect()
    }
}

/// Sorts diagnostics by file, line and column.
pub(crate) fn sort_by_place(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by_cached_key(|found| {
        let Origin { file, line, column, .. } = &found.origin;
        (file.clone(), *line, *column)
    });
}

/// Warns about an entry that lacks a variable or has an invalid address.
fn check_blocked(entry: &PlanEntry) -> Option<Diagnostic> {
    let StartStatus::Blocked(block) = &entry.start_status else { return None };
    let message = format!("server \"{}\" cannot start: {}", entry.spec.name, block.reason);
    let warning = Diagnostic::warning(block.code, entry.origin.clone(), message);
    Some(Diagnostic { hint: block.hint.clone(), ..warning.about(&entry.spec.name) })
}

/// Warns about a name with whitespace: many hosts do not accept it, and shells need quotes for it.
fn odd_name(entry: &PlanEntry) -> Option<Diagnostic> {
    let name = entry.spec.name.as_str();
    name.contains(char::is_whitespace).then(|| {
        let message = format!("server {name:?} has a space in its name");
        let joined = name.split_whitespace().collect::<Vec<_>>().join("-");
        Diagnostic::warning(ErrorCode::ConfigServerName, entry.origin.clone(), message)
            .about(&entry.spec.name)
            .hint(format!("rename it to {joined:?}"))
    })
}

/// Warns about credentials in plain text. Names the field, and never shows the value.
fn check_plaintext_credentials(entry: &PlanEntry) -> Vec<Diagnostic> {
    let mut fields = Vec::new();
    match &entry.spec.transport {
        TransportSpec::Stdio(StdioSpec { env, args, .. }) => {
            let is_credential = |name: &str, value: &str| {
                is_literal(value) && (is_secret_like(name) || looks_like_token(value))
            };
            let named = env.iter().filter(|(name, value)| is_credential(name, value.expose()));
            fields.extend(named.map(|(name, _)| format!("env.{name}")));
            let has = secrets_in_args(args).iter().any(|it| is_literal(it));
            if has || args.iter().any(|arg| looks_like_token(arg)) {
                fields.push("args".to_owned());
            }
        }
        TransportSpec::Http(HttpSpec { headers, url, .. }) => {
            let is_credential = |name: &str, value: &str| {
                is_literal(value) && credentials::is_credential_header(name, value)
            };
            let named = headers.iter().filter(|(name, it)| is_credential(name, it.expose()));
            fields.extend(named.map(|(name, _)| format!("headers.{name}")));
            if has_credential(url) {
                fields.push("url".to_owned());
            }
        }
        TransportSpec::BuiltIn => {}
    }
    let to_warning = |field: String| {
        let name = &entry.spec.name;
        let message = format!("server \"{name}\": `{field}` contains a credential in plain text");
        let hint = match entry.dialect.secret_reference(name.as_str()) {
            Some(variable) => {
                format!(
                    "store it with `toolgate secret set {name}`, and write `{variable}` instead"
                )
            }
            None => format!(
                "import the server into your own config, and store it with `toolgate secret set {name}`"
            ),
        };
        Diagnostic::warning(ErrorCode::ConfigPlainCredential, entry.origin.clone(), message)
            .about(&entry.spec.name)
            .hint(hint)
    };
    fields.into_iter().map(to_warning).collect()
}

/// Returns true if the value contains no variables.
fn is_literal(value: &str) -> bool {
    !value.is_empty() && !value.contains("${")
}

/// Returns true if the URL contains a password, or a query parameter that looks like a credential
/// by its name or its value.
fn has_credential(url: &str) -> bool {
    let authority = url.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let query = url.split_once('?').map_or("", |(_, query)| query);
    let is_one = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or(("", pair));
        is_literal(value) && (is_secret_like(name) || looks_like_token(value))
    };
    user.contains(':') && is_literal(user) || query.split('&').any(is_one)
}
