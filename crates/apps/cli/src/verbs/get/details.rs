//! The output of `get`: everything about one entry except credentials.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use toolgate_host::config::consent_text;
use toolgate_host::{
    ConfigScope, HttpSpec, PlanEntry, PoolScope, ServerTimeouts, StartStatus, StdioSpec,
    TransportSpec,
};
use toolgate_model::{AuthProvider, OAuthSpec, ToolSelection, redact_args, redact_url};

use crate::control::ServerRow;
use crate::out::{escape_invisible, escape_invisible_lines};

/// The JSON output of `get`: the row of `list` and all details.
#[derive(Debug, Serialize)]
pub struct ServerDetailsJson {
    #[serde(flatten)]
    row: ServerRow,
    dialect: &'static str,
    losers: Vec<ShadowJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    switched_by: Option<String>,
    standing: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<PathBuf>,
    env: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env_file: Option<PathBuf>,
    env_inherit: Vec<String>,
    headers: Vec<String>,
    timeouts: TimeoutsJson,
    pool: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    tools: ToolSelectionJson,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    auth: BTreeMap<&'static str, String>,
    trust: bool,
    compile: bool,
    required: bool,
    starts: String,
}

/// A declaration of the same name that is not in effect, as JSON.
#[derive(Debug, Serialize)]
struct ShadowJson {
    origin: String,
    scope: ConfigScope,
    dialect: &'static str,
    transport: &'static str,
    starts: String,
}

impl ShadowJson {
    fn of(shadow: &PlanEntry) -> Self {
        Self {
            origin: shadow.origin.to_string(),
            scope: shadow.origin.scope,
            dialect: shadow.dialect.as_str(),
            transport: shadow.spec.transport.as_str(),
            starts: consent_text(&shadow.spec),
        }
    }
}

/// The timeouts of a server in milliseconds, as JSON.
#[derive(Debug, Serialize)]
struct TimeoutsJson {
    start_ms: u128,
    #[serde(skip_serializing_if = "Option::is_none")]
    call_ms: Option<u128>,
    max_ms: u128,
}

/// The tool selection of a server as JSON.
#[derive(Debug, Serialize)]
struct ToolSelectionJson {
    include: Vec<String>,
    exclude: Vec<String>,
    listed_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<&'static str>,
    named: BTreeMap<String, ToolSettingsJson>,
}

/// The settings of one tool as JSON.
#[derive(Debug, Serialize)]
struct ToolSettingsJson {
    enabled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    alias: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tags: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval: Option<&'static str>,
}

impl ServerDetailsJson {
    pub fn of(entry: &PlanEntry) -> Self {
        let spec = &entry.spec;
        let (standing, reason) = describe_standing(entry);
        let none = StdioSpec::default();
        let (stdio, http) = match &spec.transport {
            TransportSpec::Stdio(stdio) => (stdio, None),
            TransportSpec::Http(http) => (&none, Some(http)),
            TransportSpec::BuiltIn => (&none, None),
        };
        Self {
            row: ServerRow { reason, ..ServerRow::from_entry(entry) },
            dialect: entry.dialect.as_str(),
            losers: entry.shadows.iter().map(ShadowJson::of).collect(),
            switched_by: entry.switched_by.as_ref().map(ToString::to_string),
            standing,
            description: spec.description.clone(),
            cwd: stdio.cwd.clone(),
            env: stdio.env.keys().cloned().collect(),
            env_file: stdio.env_file.clone(),
            env_inherit: stdio.env_inherit.clone(),
            headers: http.map(|http| http.headers.keys().cloned().collect()).unwrap_or_default(),
            timeouts: TimeoutsJson::of(spec.timeouts),
            pool: match spec.pool {
                PoolScope::Shared => "shared",
                PoolScope::PerCaller => "per_caller",
            },
            tags: spec.tags.clone(),
            tools: ToolSelectionJson::of(&spec.selection),
            auth: http.map(auth).unwrap_or_default(),
            trust: spec.trust,
            compile: spec.compile,
            required: spec.required,
            starts: entry.consent_text(),
        }
    }

    /// Returns all details as text. Empty ones are left out.
    pub fn text(&self) -> String {
        let mut text = format!("{}\n", escape_invisible(&self.row.name));
        for (label, value) in self.lines() {
            if !value.is_empty() {
                let _ =
                    writeln!(text, "  {:<14} {}", format!("{label}:"), escape_invisible(&value));
            }
        }
        for ShadowJson { origin, scope, dialect, .. } in &self.losers {
            let origin = escape_invisible(origin);
            let _ = writeln!(text, "  {:<14} {origin} ({scope}, {dialect})", "wins over:");
        }
        let starts = escape_invisible_lines(&self.starts).replace('\n', "\n    ");
        let _ = write!(text, "  consent covers:\n    {starts}\n");
        text
    }

    fn lines(&self) -> Vec<(&'static str, String)> {
        let path = |path: &Option<PathBuf>| {
            path.as_ref().map(|path| path.display().to_string()).unwrap_or_default()
        };
        let standing = match &self.row.reason {
            Some(reason) => format!("{}: {reason}", self.standing),
            None => self.standing.to_owned(),
        };
        let flag = |flag: bool| if flag { "yes".to_owned() } else { String::new() };
        let TimeoutsJson { start_ms, call_ms, max_ms } = &self.timeouts;
        let silent =
            call_ms.map(|time| format!("call without progress {time} ms, ")).unwrap_or_default();
        let auth: Vec<_> = self.auth.iter().map(|(key, value)| format!("{key} {value}")).collect();
        vec![
            ("description", self.description.clone().unwrap_or_default()),
            ("status", standing),
            ("switched by", self.switched_by.clone().unwrap_or_default()),
            ("declared in", format!("{} ({}, {})", self.row.origin, self.row.scope, self.dialect)),
            ("transport", self.row.transport.clone()),
            ("target", self.row.target()),
            ("folder", path(&self.cwd)),
            ("variables", self.env.join(", ")),
            ("variable file", path(&self.env_file)),
            ("inherits", self.env_inherit.join(", ")),
            ("headers", self.headers.join(", ")),
            ("auth", auth.join(", ")),
            ("timeouts", format!("start {start_ms} ms, {silent}call {max_ms} ms")),
            ("pool", if self.pool == "shared" { String::new() } else { self.pool.to_owned() }),
            ("tags", self.tags.as_ref().map(|tags| tags.join(", ")).unwrap_or_default()),
            ("tools", self.tools.text()),
            ("trusted", flag(self.trust)),
            ("compile", flag(self.compile)),
            ("required", flag(self.required)),
        ]
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

impl TimeoutsJson {
    fn of(timeouts: ServerTimeouts) -> Self {
        let ms = |time: Duration| time.as_millis();
        Self {
            start_ms: ms(timeouts.start()),
            call_ms: timeouts.call.map(ms),
            max_ms: ms(timeouts.max()),
        }
    }
}

impl ToolSelectionJson {
    fn of(selection: &ToolSelection) -> Self {
        let named = selection.tools.iter().map(|(name, tool)| {
            let approval = tool.approval.map(|approval| approval.as_str());
            let (alias, tags) = (tool.alias.clone(), tool.tags.clone());
            (name.clone(), ToolSettingsJson { enabled: tool.enabled, alias, tags, approval })
        });
        Self {
            include: selection.include.clone(),
            exclude: selection.exclude.clone(),
            listed_only: selection.listed_only,
            approval: selection.approval.map(|approval| approval.as_str()),
            named: named.collect(),
        }
    }

    fn text(&self) -> String {
        let mut parts = Vec::new();
        let mut add = |label: &str, words: &[String]| {
            if !words.is_empty() {
                parts.push(format!("{label} {}", words.join(", ")));
            }
        };
        add("only", &self.include);
        add("not", &self.exclude);
        let named: Vec<_> = self
            .named
            .iter()
            .map(|(name, tool)| match (&tool.alias, tool.enabled) {
                (_, false) => format!("{name} (off)"),
                (Some(alias), true) => format!("{name} (as {alias})"),
                (None, true) => name.clone(),
            })
            .collect();
        add(if self.listed_only { "only the listed" } else { "listed" }, &named);
        if let Some(approval) = self.approval {
            add("approval", &[approval.to_owned()]);
        }
        parts.join("; ")
    }
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
