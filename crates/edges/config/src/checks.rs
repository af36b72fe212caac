//! What `config check` tells beside what is wrong with the files themselves: entries that cannot work
//! now, credentials that are written out, and profiles and rules that can be about nothing.

use toolgate_model::{
    Diagnostic, Effect, HttpSpec, Origin, StdioSpec, TransportSpec, hidden_in_args, imports,
    is_secret_like, looks_like_token, matches,
};
use toolgate_policy::Policy;

use crate::layers::note;
use crate::{Entry, Plan, Standing, credentials};

impl Plan {
    /// Everything there is to tell of the files, by file and line.
    pub fn check(&self) -> Vec<Diagnostic> {
        let mut found = self.diagnostics.clone();
        for entry in &self.entries {
            found.extend(unreachable(entry));
            found.extend(odd_name(entry));
            found.extend(written_out(entry));
        }
        found.extend(self.idle_profiles());
        found.extend(self.idle_rules());
        found.sort_by_cached_key(|found| {
            let Origin { file, line, column, .. } = &found.origin;
            (file.clone(), *line, *column)
        });
        found
    }

    /// Tags and patterns of profiles that nothing can bear.
    pub fn idle_profiles(&self) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        if self.entries.is_empty() {
            return found;
        }
        let tags: Vec<_> = self.entries.iter().flat_map(|it| it.spec.possible_tags()).collect();
        for (name, declared) in &self.settings.profiles.declared {
            let profile = &declared.profile;
            let mut tell = |what: String, hint: &str| {
                let message = format!("profile {name:?}: {what}");
                found.push(note(declared.origin.clone(), message, Some(hint.to_owned())));
            };
            for tag in profile.tags.iter().flatten() {
                if !tags.iter().any(|borne| imports(tag, borne)) {
                    tell(
                        format!("nothing bears the tag {tag:?}"),
                        "a tool bears `mcp.SERVER`, and `mcp.SERVER.read` and its like if its \
                         server is trusted; or name `tags` in the server's entry",
                    );
                }
            }
            for pattern in profile.include.iter().chain(&profile.exclude) {
                let server = pattern.split('/').next().unwrap_or_default();
                if !self.entries.iter().any(|it| matches(server, it.spec.name.as_str())) {
                    tell(
                        format!("the pattern {pattern:?} is about no server that is declared"),
                        "`toolgate list` shows them",
                    );
                }
            }
        }
        found
    }

    /// Rules that no server can be meant by. What servers offer is for `policy check`.
    fn idle_rules(&self) -> Vec<Diagnostic> {
        if self.entries.is_empty() {
            return Vec::new();
        }
        let (policy, _) = Policy::of(&self.settings.governance);
        let policy = policy.knowing(self.entries.iter().map(|entry| &entry.spec.name));
        let servers: Vec<_> =
            self.entries.iter().map(|it| (&it.spec.name, it.spec.possible_tags())).collect();
        let told = |(effect, text, origin): (Effect, &str, &Origin)| {
            let message = format!("the {effect} rule `{text}` is about nothing that is declared");
            let hint = "`toolgate list` shows the servers, `toolgate policy check` more".to_owned();
            note(origin.clone(), message, Some(hint))
        };
        policy.idle_rules(&servers).into_iter().map(told).collect()
    }
}

/// An entry that waits for a variable, or whose address is none.
fn unreachable(entry: &Entry) -> Option<Diagnostic> {
    let Standing::Blocked(reason) = &entry.standing else { return None };
    let message = format!("server \"{}\" cannot start: {reason}", entry.spec.name);
    Some(note(entry.origin.clone(), message, None))
}

/// Many hosts cannot say a name with blanks, and none of the usual shells without quotes.
fn odd_name(entry: &Entry) -> Option<Diagnostic> {
    let name = entry.spec.name.as_str();
    name.contains(char::is_whitespace).then(|| {
        let message = format!("server {name:?} has a blank in its name");
        let hint = format!("call it {:?}", name.split_whitespace().collect::<Vec<_>>().join("-"));
        note(entry.origin.clone(), message, Some(hint))
    })
}

/// Credentials that stand in a file. Each is named by its field and never shown.
fn written_out(entry: &Entry) -> Vec<Diagnostic> {
    let mut fields = Vec::new();
    match &entry.spec.transport {
        TransportSpec::Stdio(StdioSpec { env, args, .. }) => {
            let is_credential = |name: &str, value: &str| {
                is_literal(value) && (is_secret_like(name) || looks_like_token(value))
            };
            let named = env.iter().filter(|(name, value)| is_credential(name, value.expose()));
            fields.extend(named.map(|(name, _)| format!("env.{name}")));
            let has = hidden_in_args(args).iter().any(|it| is_literal(it));
            if has || args.iter().any(|arg| looks_like_token(arg)) {
                fields.push("args".to_owned());
            }
        }
        TransportSpec::Http(HttpSpec { headers, url, .. }) => {
            let is_credential =
                |name: &str, value: &str| is_literal(value) && credentials::is_header(name, value);
            let named = headers.iter().filter(|(name, it)| is_credential(name, it.expose()));
            fields.extend(named.map(|(name, _)| format!("headers.{name}")));
            if has_credential(url) {
                fields.push("url".to_owned());
            }
        }
        TransportSpec::BuiltIn => {}
    }
    let told = |field: String| {
        let name = &entry.spec.name;
        let message =
            format!("server \"{name}\": `{field}` holds a credential that is written out");
        let hint = match entry.dialect.secret(name.as_str()) {
            Some(variable) => {
                format!("keep it with `toolgate secret set {name}`, and write `{variable}` instead")
            }
            None => format!(
                "import the server into your own config, and keep it with `toolgate secret set {name}`"
            ),
        };
        note(entry.origin.clone(), message, Some(hint))
    };
    fields.into_iter().map(told).collect()
}

/// Whether a value is itself, and not what a variable holds.
fn is_literal(value: &str) -> bool {
    !value.is_empty() && !value.contains("${")
}

/// Whether a URL holds a password, or a parameter that is a credential by its name or form.
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
