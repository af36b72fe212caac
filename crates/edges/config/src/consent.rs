//! What a consent is about, as the user is shown it. What it is bound to is the identity of the
//! server, [`ServerSpec::digest`].

use std::collections::BTreeSet;
use std::fmt::Write as _;

use toolgate_dialects::template::{Source, Variable};
use toolgate_model::{
    Auth, AuthProvider, HttpSpec, ServerSpec, StdioSpec, TransportSpec, consented_args, shown_url,
};

use crate::variables;

/// Everything a consent is bound to, as text. Odd characters are shown escaped; values of variables
/// and headers, and whatever else may be a credential and could not be run, not at all.
pub fn consent_text(spec: &ServerSpec) -> String {
    let (mut text, how) = match &spec.transport {
        TransportSpec::Stdio(stdio) => (process_text(stdio), "it takes"),
        TransportSpec::Http(http) => (endpoint_text(http), "it is sent"),
        TransportSpec::BuiltIn => return "built in".to_owned(),
    };
    taken(&mut text, how, spec);
    text
}

fn process_text(stdio: &StdioSpec) -> String {
    let mut text = format!("command: {:?}", stdio.command);
    for arg in consented_args(&stdio.args) {
        let _ = write!(text, "\n    arg: {arg:?}");
    }
    if let Some(cwd) = &stdio.cwd {
        let _ = write!(text, "\n folder: {:?}", cwd.display().to_string());
    }
    names(&mut text, "    env", stdio.env.keys());
    if let Some(file) = &stdio.env_file {
        let _ = write!(text, "\nenvfile: {:?}", file.display().to_string());
    }
    names(&mut text, "inherit", stdio.env_inherit.iter());
    text
}

fn endpoint_text(http: &HttpSpec) -> String {
    let mut text = format!("url: {:?}", shown_url(&http.url));
    names(&mut text, "headers", http.headers.keys());
    if let Some(helper) = &http.headers_helper {
        let helper = consented_args(std::slice::from_ref(helper.expose()));
        let _ = write!(text, "\nruns for more headers: {:?}", helper.concat());
    }
    login(&mut text, &http.auth);
    text
}

/// Says as whom the user would be known there, and who else has a part in it.
fn login(text: &mut String, auth: &Auth) {
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

/// The host of a URL: the rest may be a secret, and does not say who is told.
fn host(url: &str) -> Option<String> {
    let (_, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    authority.rsplit('@').next().map(str::to_owned)
}

/// Says what of the user's is handed over by variables: names, never values.
fn taken(text: &mut String, how: &str, spec: &ServerSpec) {
    let of_user = |variable: &Variable| {
        matches!(variable.source, Source::Env | Source::File | Source::Secret)
    };
    let variables = variables::named(spec).into_iter().filter(of_user);
    // A default may be a secret, and says nothing of what is taken.
    let named = variables.map(|it| Variable { default: None, ..it }.to_string());
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
