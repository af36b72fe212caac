//! The output of `get`: everything about one entry except credentials.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::{Map, Value, json};
use toolgate_host::config::consent_text;
use toolgate_host::{HttpSpec, PlanEntry, PoolScope, StartStatus, StdioSpec, TransportSpec};
use toolgate_model::{ApprovalMode, AuthProvider, OAuthSpec, ToolSelection};
use toolgate_model::{redact_args, redact_url};

use crate::control::ServerRow;
use crate::out::{escape_invisible, escape_invisible_lines};

/// Everything about one server: the row of `list` and all details.
pub struct ServerDetails<'e> {
    entry: &'e PlanEntry,
    row: ServerRow,
    standing: &'static str,
    /// The process, or an empty one for other transports.
    stdio: StdioSpec,
    /// The endpoint, or an empty one for other transports.
    http: HttpSpec,
    pool: &'static str,
}

impl<'e> ServerDetails<'e> {
    pub fn of(entry: &'e PlanEntry) -> Self {
        let (standing, reason) = describe_standing(entry);
        let (stdio, http) = match entry.spec.transport.clone() {
            TransportSpec::Stdio(stdio) => (stdio, HttpSpec::default()),
            TransportSpec::Http(http) => (StdioSpec::default(), http),
            TransportSpec::BuiltIn => Default::default(),
        };
        let row = ServerRow { reason, ..ServerRow::from_entry(entry) };
        let pool = match entry.spec.pool {
            PoolScope::Shared => "shared",
            PoolScope::PerCaller => "per_caller",
        };
        Self { entry, row, standing, stdio, http, pool }
    }

    /// Returns all details in their stable JSON form.
    pub fn json(&self) -> Value {
        let Self { entry, stdio, http, .. } = self;
        let (spec, selection) = (&entry.spec, &entry.spec.selection);
        let approval = |mode: Option<ApprovalMode>| mode.map(|mode| mode.as_str());
        let tools = selection.tools.iter().map(|(name, tool)| {
            let (enabled, alias, tags) = (tool.enabled, &tool.alias, &tool.tags);
            let approval = approval(tool.approval);
            let tool =
                json!({ "enabled": enabled, "alias": alias, "tags": tags, "approval": approval });
            (name.clone(), tool)
        });
        let auth = auth(http);
        let details = json!({
            "dialect": entry.dialect.as_str(),
            "losers": entry.shadows.iter().map(shadow_json).collect::<Vec<_>>(),
            "switched_by": entry.switched_by.as_ref().map(ToString::to_string),
            "standing": self.standing,
            "description": spec.description,
            "cwd": stdio.cwd,
            "env": stdio.env.keys().collect::<Vec<_>>(),
            "env_file": stdio.env_file,
            "env_inherit": stdio.env_inherit,
            "headers": http.headers.keys().collect::<Vec<_>>(),
            "timeouts": {
                "start_ms": spec.timeouts.start().as_millis(),
                "call_ms": spec.timeouts.call.map(|time| time.as_millis()),
                "max_ms": spec.timeouts.max().as_millis(),
            },
            "pool": self.pool,
            "tags": spec.tags,
            "tools": {
                "include": selection.include,
                "exclude": selection.exclude,
                "listed_only": selection.listed_only,
                "approval": approval(selection.approval),
                "named": tools.collect::<Map<_, _>>(),
            },
            "auth": (!auth.is_empty()).then_some(auth),
            "trust": spec.trust,
            "compile": spec.compile,
            "required": spec.required,
            "starts": entry.consent_text(),
        });
        let mut all = json!(self.row);
        if let (Value::Object(all), Value::Object(details)) = (&mut all, details) {
            all.extend(details);
        }
        drop_nulls(&mut all);
        all
    }

    /// Returns all details as text. Empty ones are left out.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", escape_invisible(&self.row.name));
        for (label, value) in self.lines() {
            if !value.is_empty() {
                let label = format!("{label}:");
                let _ = writeln!(text, "  {label:<14} {}", escape_invisible(&value));
            }
        }
        for PlanEntry { origin, dialect, .. } in &self.entry.shadows {
            let (scope, origin) = (origin.scope, escape_invisible(&origin.to_string()));
            let _ = writeln!(text, "  {:<14} {origin} ({scope}, {dialect})", "wins over:");
        }
        let starts = escape_invisible_lines(&self.entry.consent_text()).replace('\n', "\n    ");
        let _ = write!(text, "  consent covers:\n    {starts}\n");
        text
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let Self { entry, row, stdio, http, .. } = self;
        let spec = &entry.spec;
        let path = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
        };
        let names = |names: Vec<&String>| {
            names.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
        };
        let standing = match &row.reason {
            Some(reason) => format!("{}: {reason}", self.standing),
            None => self.standing.to_owned(),
        };
        let flag = |flag: bool| if flag { "yes".to_owned() } else { String::new() };
        let (start, max) = (spec.timeouts.start().as_millis(), spec.timeouts.max().as_millis());
        let silent = spec.timeouts.call.map(|time| time.as_millis());
        let silent = silent.map(|ms| format!("call without progress {ms} ms, "));
        let silent = silent.unwrap_or_default();
        let auth: Vec<_> = auth(http).iter().map(|(key, value)| format!("{key} {value}")).collect();
        vec![
            ("description", spec.description.clone().unwrap_or_default()),
            ("status", standing),
            (
                "switched by",
                entry.switched_by.as_ref().map(ToString::to_string).unwrap_or_default(),
            ),
            ("declared in", format!("{} ({}, {})", row.origin, row.scope, entry.dialect)),
            ("transport", row.transport.clone()),
            ("target", row.target()),
            ("folder", path(&stdio.cwd)),
            ("variables", names(stdio.env.keys().collect())),
            ("variable file", path(&stdio.env_file)),
            ("inherits", stdio.env_inherit.join(", ")),
            ("headers", names(http.headers.keys().collect())),
            ("auth", auth.join(", ")),
            ("timeouts", format!("start {start} ms, {silent}call {max} ms")),
            ("pool", if self.pool == "shared" { String::new() } else { self.pool.to_owned() }),
            ("tags", spec.tags.as_ref().map(|tags| tags.join(", ")).unwrap_or_default()),
            ("tools", selection_text(&spec.selection)),
            ("trusted", flag(spec.trust)),
            ("compile", flag(spec.compile)),
            ("required", flag(spec.required)),
        ]
    }
}

/// Returns a declaration of the same name that is not in effect, as JSON.
fn shadow_json(shadow: &PlanEntry) -> Value {
    json!({
        "origin": shadow.origin.to_string(),
        "scope": shadow.origin.scope,
        "dialect": shadow.dialect.as_str(),
        "transport": shadow.spec.transport.as_str(),
        "starts": consent_text(&shadow.spec),
    })
}

/// Removes the members without a value.
fn drop_nulls(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|_, member| !member.is_null());
        members.values_mut().for_each(drop_nulls);
    }
}

fn describe_standing(entry: &PlanEntry) -> (&'static str, Option<String>) {
    match &entry.start_status {
        StartStatus::Ready => ("ready", None),
        StartStatus::Disabled => ("disabled", None),
        StartStatus::NeedsConsent => {
            let name = &entry.spec.name;
            ("needs_consent", Some(format!("run `toolgate consent {name}` to allow it to start")))
        }
        StartStatus::Blocked(block) => ("blocked", Some(block.to_string())),
    }
}

fn selection_text(selection: &ToolSelection) -> String {
    let mut parts = Vec::new();
    let mut add = |label: &str, words: &[String]| {
        if !words.is_empty() {
            parts.push(format!("{label} {}", words.join(", ")));
        }
    };
    add("only", &selection.include);
    add("not", &selection.exclude);
    let named = selection.tools.iter().map(|(name, tool)| match (&tool.alias, tool.enabled) {
        (_, false) => format!("{name} (off)"),
        (Some(alias), true) => format!("{name} (as {alias})"),
        (None, true) => name.clone(),
    });
    let named: Vec<_> = named.collect();
    add(if selection.listed_only { "only the listed" } else { "listed" }, &named);
    if let Some(approval) = selection.approval {
        add("approval", &[approval.as_str().to_owned()]);
    }
    parts.join("; ")
}

/// Returns the authentication settings. Secrets are masked.
fn auth(http: &HttpSpec) -> BTreeMap<&'static str, String> {
    let OAuthSpec {
        client_id,
        client_secret,
        issuer,
        metadata_url,
        authorization_url,
        token_url,
        registration_url,
        redirect_uri,
        callback_port,
        scopes,
        audiences,
        resource,
        token_param,
    } = &http.auth.oauth;
    let provider = match &http.auth.provider {
        AuthProvider::Discovered => None,
        AuthProvider::Off => Some("off".to_owned()),
        AuthProvider::OAuth => Some("oauth".to_owned()),
        AuthProvider::GoogleCredentials => Some("google_credentials".to_owned()),
        AuthProvider::ServiceAccount { account, .. } => Some(format!("service account {account}")),
        AuthProvider::Foreign(name) => Some(name.clone()),
    };
    let url = |url: &Option<String>| url.as_deref().map(redact_url);
    let list = |words: &[String]| (!words.is_empty()).then(|| words.join(" "));
    let settings = [
        ("provider", provider),
        ("client_id", client_id.clone()),
        ("client_secret", client_secret.as_ref().map(|_| "***".to_owned())),
        ("issuer", url(issuer)),
        ("metadata_url", url(metadata_url)),
        ("authorization_url", url(authorization_url)),
        ("token_url", url(token_url)),
        ("registration_url", url(registration_url)),
        ("redirect_uri", url(redirect_uri)),
        ("callback_port", callback_port.map(|port| port.to_string())),
        ("scopes", list(scopes)),
        ("audiences", list(&redact_args(audiences))),
        ("resource", url(resource)),
        ("token_param", token_param.clone()),
        ("headers_helper", http.headers_helper.as_ref().map(|_| "***".to_owned())),
    ];
    settings.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
}
