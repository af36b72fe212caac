//! Describes to the user what a consent covers. [`ServerSpec::consent_digest`] is what the consent
//! is bound to.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use toolgate_dialects::template::TemplateVariable;
use toolgate_model::{
    AuthProvider, AuthSpec, EnvFile, HttpSpec, Secret, ServerSpec, StdioSpec, TransportSpec,
    is_loader_variable, redact_args_for_consent, redact_url, redact_value_for_consent,
};

use crate::variables;

/// Describes everything a consent is bound to. Unusual characters are escaped. Values of headers,
/// and other possible credentials that cannot be executed, are hidden. Files that the project can
/// change without a new consent are listed as not pinned.
pub fn consent_text(spec: &ServerSpec) -> String {
    let (mut text, how) = match &spec.transport {
        TransportSpec::Stdio(stdio) => (process_text(stdio), "it takes"),
        TransportSpec::Http(http) => (endpoint_text(http), "it is sent"),
        TransportSpec::BuiltIn => return "built in".to_owned(),
    };
    write_variables(&mut text, how, spec);
    text
}

fn process_text(stdio: &StdioSpec) -> String {
    let mut text = format!("command: {:?}", stdio.command);
    for arg in redact_args_for_consent(&stdio.args) {
        let _ = write!(text, "\n    arg: {arg:?}");
    }
    if let Some(cwd) = &stdio.cwd {
        let _ = write!(text, "\n folder: {:?}", cwd.display().to_string());
    }
    let of_file = stdio.files.env_file.as_ref().and_then(|file| file.variables.as_ref());
    let loads = of_file.into_iter().flatten().filter(|(name, _)| !stdio.env.contains_key(*name));
    let loads = loads.chain(&stdio.env).filter(|(name, _)| is_loader_variable(name));
    values(&mut text, " loader", loads);
    values(&mut text, "    env", stdio.env.iter().filter(|(name, _)| !is_loader_variable(name)));
    if let Some(file) = &stdio.env_file {
        let _ = write!(text, "\nenvfile: {:?}", file.display().to_string());
        content(&mut text, stdio.files.env_file.as_ref());
    }
    names(&mut text, "inherit", stdio.env_inherit.iter());
    for file in &stdio.files.project {
        let _ = match &file.digest {
            Some(digest) => write!(text, "\n pinned: {:?} ({digest})", file.written),
            None => write!(text, "\nnot pinned: {:?}, which the project can change", file.written),
        };
    }
    text
}

/// Describes the content of an env file when it was read.
fn content(text: &mut String, file: Option<&EnvFile>) {
    let Some(file) = file else { return };
    let _ = match &file.digest {
        Some(digest) => write!(text, " ({digest})"),
        None => write!(text, " (cannot be read now)"),
    };
    let others = |(name, _): &(&String, _)| !is_loader_variable(name);
    let set: &BTreeMap<_, _> = file.variables.as_ref().unwrap_or(const { &BTreeMap::new() });
    values(text, "   sets", set.iter().filter(others));
}

/// Writes variables with their values, where a value may be shown.
fn values<'a>(
    text: &mut String,
    label: &str,
    values: impl Iterator<Item = (&'a String, &'a Secret<String>)>,
) {
    for (name, value) in values {
        let value = redact_value_for_consent(name, value.expose());
        let _ = write!(text, "\n{label}: {name:?} = {value:?}");
    }
}

fn endpoint_text(http: &HttpSpec) -> String {
    let mut text = format!("url: {:?}", redact_url(&http.url));
    names(&mut text, "headers", http.headers.keys());
    if let Some(helper) = &http.headers_helper {
        let helper = redact_args_for_consent(std::slice::from_ref(helper.expose()));
        let _ = write!(text, "\nruns for more headers: {:?}", helper.concat());
    }
    login(&mut text, &http.auth);
    text
}

/// Describes how the user is authenticated to the server, and which other hosts take part.
fn login(text: &mut String, auth: &AuthSpec) {
    let _ = match &auth.provider {
        AuthProvider::GoogleCredentials => write!(text, "\nlogs in with your Google credentials"),
        AuthProvider::ServiceAccount { audience, account } => {
            write!(text, "\nlogs in as the Google service account {account:?} for {audience:?}")
        }
        _ => Ok(()),
    };
    let oauth = &auth.oauth;
    let places = [
        &oauth.issuer,
        &oauth.metadata_url,
        &oauth.authorization_url,
        &oauth.token_url,
        &oauth.registration_url,
        &oauth.redirect_uri,
    ];
    let hosts: BTreeSet<_> = places.into_iter().flatten().filter_map(|url| host(url)).collect();
    names(text, "logs in at", hosts.iter());
}

/// Returns the host of a URL. The rest may contain secrets, and does not say which host receives
/// data.
fn host(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    authority.rsplit('@').next().map(str::to_owned)
}

/// Lists the variables that the server receives: names, never values.
fn write_variables(text: &mut String, how: &str, spec: &ServerSpec) {
    let variables = variables::server_variables(spec).into_iter();
    let variables = variables.filter(|variable| variable.source.is_of_user());
    let named = variables.map(|it| TemplateVariable { default: None, ..it }.to_string());
    let named: BTreeSet<_> = named.collect();
    if !named.is_empty() {
        let named: Vec<_> = named.into_iter().map(|it| format!("{it:?}")).collect();
        let _ = write!(text, "\n{how} the values of {}", named.join(", "));
    }
}

fn names<'a>(text: &mut String, label: &str, names: impl Iterator<Item = &'a String>) {
    let names: Vec<_> = names.map(|name| format!("{name:?}")).collect();
    if !names.is_empty() {
        let _ = write!(text, "\n{label}: {}", names.join(", "));
    }
}
