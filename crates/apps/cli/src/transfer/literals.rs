//! Finds literal credentials in a declared server and replaces them.
//!
//! A variable is not a credential and stays, but its default value may be one. The caller decides
//! about each literal: keep it, replace it by a variable, or remove it.

use std::collections::BTreeMap;

use toolgate_host::config::template::{self, ConfigTemplatePart, TemplateVariable, VariableSource};
use toolgate_model::{ConfigValue, OAuthSpec, Secret, ServerSpec, TransportSpec};
use toolgate_model::{is_secret_like, secrets_in_args, secrets_in_url};

use super::marked_text::PlaceholderText;

/// Authentication schemes that may precede a credential.
const SCHEMES: [&str; 5] = ["bearer", "basic", "token", "apikey", "digest"];

/// A literal value that may be a credential.
#[derive(Debug)]
pub struct CredentialLiteral {
    /// The field that holds it, such as `env.TOKEN`.
    pub field: String,
    /// Its name there: a key, a header, a flag or a parameter.
    pub name: String,
    /// The kind of field.
    pub location: LiteralLocation,
    /// The value, if it is plain text without variables.
    pub value: Option<Secret<String>>,
    /// The value without the defaults of its variables, if only these may be credentials.
    pub without_defaults: Option<String>,
}

/// The kind of field that holds a literal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LiteralLocation {
    /// An environment variable, which already has a name.
    Env,
    /// A value of its own.
    Value,
    /// A part of an argument or URL.
    Embedded,
    /// A field that only another client understands, so that our variables have no effect there.
    Foreign,
}

/// What replaces a literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LiteralReplacement {
    /// The literal itself.
    Keep,
    /// This text, in our template syntax.
    Text(String),
    /// Nothing: the field is removed.
    Remove,
}

/// Chooses the replacement of one literal.
pub type CredentialReplacer<'c> = dyn FnMut(&CredentialLiteral) -> LiteralReplacement + 'c;

/// Returns the server with every literal replaced as `choose` decides.
pub fn replace_literals(spec: &ServerSpec, choose: &mut CredentialReplacer<'_>) -> ServerSpec {
    let mut spec = spec.clone();
    match &mut spec.transport {
        TransportSpec::Stdio(stdio) => {
            replace_values("env", LiteralLocation::Env, &mut stdio.env, choose);
            stdio.args = replace_args(&stdio.args, choose);
            // Some files have the whole command line in this field.
            stdio.command = replace_args(std::slice::from_ref(&stdio.command), choose).concat();
        }
        TransportSpec::Http(http) => {
            replace_values("headers", LiteralLocation::Value, &mut http.headers, choose);
            http.url = replace_url("url", &http.url, choose);
            replace_headers_helper(&mut http.headers_helper, choose);
            replace_oauth(&mut http.auth.oauth, choose);
        }
        TransportSpec::BuiltIn => {}
    }
    for (dialect, kept) in &mut spec.extras {
        let data = replace_foreign(&format!("extra.{dialect}"), "", kept.expose(), choose);
        *kept = Secret::new(data.unwrap_or(ConfigValue::Null));
    }
    spec
}

fn replace_values(
    field: &str,
    place: LiteralLocation,
    values: &mut BTreeMap<String, Secret<String>>,
    choose: &mut CredentialReplacer<'_>,
) {
    let written = std::mem::take(values);
    values.extend(written.into_iter().filter_map(|(name, value)| {
        let text = replace_text(&format!("{field}.{name}"), &name, place, value.expose(), choose)?;
        Some((name, Secret::new(text)))
    }));
}

/// Returns the replacement of a text, or `None` if it is to be removed. A text without a literal is
/// returned unchanged.
pub(super) fn replace_text(
    field: &str,
    name: &str,
    place: LiteralLocation,
    text: &str,
    choose: &mut CredentialReplacer<'_>,
) -> Option<String> {
    if !has_literal(text) {
        return Some(text.to_owned());
    }
    let bare = without_defaults(text);
    let literal = CredentialLiteral {
        field: field.to_owned(),
        name: name.to_owned(),
        location: place,
        value: plain_text(text).map(Secret::new),
        without_defaults: (!has_literal(&bare)).then_some(bare),
    };
    match choose(&literal) {
        LiteralReplacement::Keep => Some(text.to_owned()),
        LiteralReplacement::Text(text) => Some(text),
        LiteralReplacement::Remove => None,
    }
}

/// Returns true if a text has a part that is neither a variable nor known to be harmless.
fn has_literal(text: &str) -> bool {
    let pieces = template::parse_template(text);
    let is_path = |piece: Option<&ConfigTemplatePart>| {
        let folders = [VariableSource::Project, VariableSource::Home];
        matches!(piece, Some(ConfigTemplatePart::Variable(variable)) if folders.contains(&variable.source))
    };
    if is_path(pieces.first()) {
        return false;
    }
    pieces.iter().any(|piece| match piece {
        ConfigTemplatePart::Variable(variable) => {
            variable.default.as_deref().is_some_and(|it| !it.is_empty())
        }
        ConfigTemplatePart::Text(text) => {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
            let scheme = |word: &str| SCHEMES.iter().any(|known| word.eq_ignore_ascii_case(known));
            // A scheme without any variable may itself be the credential, such as "token".
            !words.clone().all(scheme) || pieces.len() == 1 && !text.is_empty()
        }
    })
}

fn without_defaults(text: &str) -> String {
    let mut pieces = template::parse_template(text);
    for piece in &mut pieces {
        if let ConfigTemplatePart::Variable(TemplateVariable { default, .. }) = piece {
            *default = default.take().filter(String::is_empty);
        }
    }
    template::render(&pieces)
}

/// Returns the plain text if it has no variables.
fn plain_text(text: &str) -> Option<String> {
    match &template::parse_template(text)[..] {
        [] => Some(String::new()),
        [ConfigTemplatePart::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

/// Replaces those parts of arguments that are masked when they are shown.
fn replace_args(args: &[String], choose: &mut CredentialReplacer<'_>) -> Vec<String> {
    let marked: Vec<_> = args.iter().map(|arg| PlaceholderText::of(arg)).collect();
    let texts: Vec<_> = marked.iter().map(|arg| arg.text.clone()).collect();
    let mut written: Vec<String> = Vec::with_capacity(args.len());
    let mut seen = 0;
    for (index, arg) in marked.into_iter().enumerate() {
        // The meaning of an argument depends on those before it.
        let hidden = secrets_in_args(&texts[..=index]).split_off(seen);
        seen += hidden.len();
        let before = index.checked_sub(1).and_then(|before| texts.get(before));
        let field = format!("args[{index}]");
        let is_whole = hidden.first() == Some(&arg.text);
        match arg.replace_hidden(&field, before.map_or("", String::as_str), hidden, choose) {
            Some(text) => written.push(text),
            // Remove the flag too, or it would take the next argument as its value.
            None if is_whole => drop(written.pop()),
            None => {}
        }
    }
    written
}

/// Replaces those parts of a URL that are masked when it is shown.
fn replace_url(field: &str, text: &str, choose: &mut CredentialReplacer<'_>) -> String {
    let marked = PlaceholderText::of(text);
    let hidden = secrets_in_url(&marked.text);
    marked.replace_hidden(field, field, hidden, choose).unwrap_or_default()
}

/// Replaces the helper command if one of its arguments may be a credential.
fn replace_headers_helper(
    helper: &mut Option<Secret<String>>,
    choose: &mut CredentialReplacer<'_>,
) {
    let Some(command) = helper.as_ref().map(Secret::expose) else { return };
    let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
    if !secrets_in_args(&words).is_empty() {
        let (field, place) = ("headers_helper", LiteralLocation::Foreign);
        *helper = replace_text(field, field, place, command, choose).map(Secret::new);
    }
}

fn replace_oauth(oauth: &mut OAuthSpec, choose: &mut CredentialReplacer<'_>) {
    let secret = oauth.client_secret.take();
    oauth.client_secret = secret.and_then(|secret| {
        let (field, name) = ("oauth.client_secret", "client_secret");
        replace_text(field, name, LiteralLocation::Value, secret.expose(), choose).map(Secret::new)
    });
    let places = [
        ("oauth.issuer", &mut oauth.issuer),
        ("oauth.metadata_url", &mut oauth.metadata_url),
        ("oauth.authorization_url", &mut oauth.authorization_url),
        ("oauth.token_url", &mut oauth.token_url),
        ("oauth.registration_url", &mut oauth.registration_url),
        ("oauth.redirect_uri", &mut oauth.redirect_uri),
        ("oauth.resource", &mut oauth.resource),
    ];
    for (field, place) in places {
        if let Some(text) = place {
            *text = replace_url(field, text, choose);
        }
    }
    for text in &mut oauth.audiences {
        *text = replace_url("oauth.audiences", text, choose);
    }
}

/// Replaces literals in fields of another client: values of secret-like keys, and URLs with
/// secrets.
fn replace_foreign(
    field: &str,
    key: &str,
    data: &ConfigValue,
    choose: &mut CredentialReplacer<'_>,
) -> Option<ConfigValue> {
    match data {
        ConfigValue::Text(text) if is_secret_like(key) || !secrets_in_url(text).is_empty() => {
            replace_text(field, key, LiteralLocation::Foreign, text, choose).map(ConfigValue::Text)
        }
        ConfigValue::List(items) => {
            let items = items.iter().filter_map(|item| replace_foreign(field, key, item, choose));
            Some(ConfigValue::List(items.collect()))
        }
        ConfigValue::Table(members) => {
            let members = members.iter().filter_map(|(name, value)| {
                // Everything below a secret-like key counts as secret.
                let key = if is_secret_like(key) { key } else { name };
                let value = replace_foreign(&format!("{field}.{name}"), key, value, choose)?;
                Some((name.clone(), value))
            });
            Some(ConfigValue::Table(members.collect()))
        }
        other => Some(other.clone()),
    }
}

/// Returns the name of an environment variable from words, such as `SERVER_HEADER`.
pub fn variable_name(words: &[&str]) -> String {
    let word = |word: &&str| {
        let mapped = word.chars().map(|c| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_uppercase(),
            _ => '_',
        });
        mapped.collect::<String>()
    };
    words.iter().map(word).collect::<Vec<_>>().join("_")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left(
        args: &[&str],
        instead: impl Fn(&CredentialLiteral) -> LiteralReplacement,
    ) -> (Vec<String>, Vec<String>) {
        let given: Vec<_> = args.iter().map(ToString::to_string).collect();
        let mut fields = Vec::new();
        let written = super::replace_args(&given, &mut |literal| {
            fields.push(literal.name.clone());
            instead(literal)
        });
        (written, fields)
    }

    #[test]
    fn an_argument_loses_what_is_hidden_of_it() {
        let variable = |literal: &CredentialLiteral| {
            LiteralReplacement::Text(format!("${{env:{}}}", variable_name(&[&literal.name])))
        };
        let args = ["--api-key", "canary", "--token=canary", "-e", "PW=canary", "x", "--port", "8"];
        let (written, names) = left(&args, variable);
        assert_eq!(
            written,
            [
                "--api-key",
                "${env:API_KEY}",
                "--token=${env:TOKEN}",
                "-e",
                "PW=${env:PW}",
                "x",
                "--port",
                "8"
            ]
        );
        assert_eq!(names, ["api-key", "token", "PW"]);
        let (written, _) = left(&args, |_| LiteralReplacement::Remove);
        assert_eq!(written, ["-e", "PW=", "x", "--port", "8"]);
        let (written, _) = left(&args, |_| LiteralReplacement::Keep);
        assert_eq!(written, args);
    }

    #[test]
    fn variables_stay_but_not_what_stands_in_for_them() {
        let nothing = |literal: &CredentialLiteral| match &literal.without_defaults {
            Some(bare) => LiteralReplacement::Text(bare.clone()),
            None => LiteralReplacement::Remove,
        };
        let args = ["--token", "${env:T}", "--key=${env:K:-canary}", "postgres://${env:U}@h/x"];
        let (written, _) = left(&args, nothing);
        assert_eq!(written, ["--token", "${env:T}", "--key=${env:K}", "postgres://${env:U}@h/x"]);
    }

    #[test]
    fn a_url_loses_user_query_and_fragment() {
        let text = "https://me:canary@example.com/a?key=canary&b=${env:B}#canary";
        let variable = |literal: &CredentialLiteral| {
            LiteralReplacement::Text(format!("${{env:{}}}", literal.name))
        };
        assert_eq!(
            replace_url("url", text, &mut |it| variable(it)),
            "https://${env:userinfo}@example.com/a?key=${env:key}&b=${env:B}#${env:fragment}"
        );
        let bare = replace_url("url", text, &mut |_| LiteralReplacement::Remove);
        assert!(!bare.contains("canary") && bare.starts_with("https://example.com/a?"), "{bare}");
    }

    #[test]
    fn a_scheme_before_a_variable_is_no_credential() {
        for (text, holds) in [
            ("Bearer ${env:TOKEN}", false),
            ("${secret:x}", false),
            ("${project}/data", false),
            ("", false),
            ("Bearer canary", true),
            ("token", true),
            ("canary-${env:X}", true),
            ("${env:X:-canary}", true),
            ("${env:X:-}", false),
        ] {
            assert_eq!(has_literal(text), holds, "{text}");
        }
    }

    #[test]
    fn fields_of_other_hosts_lose_what_is_called_secret() {
        let data = ConfigValue::Table(vec![
            ("alwaysLoad".into(), ConfigValue::Bool(true)),
            ("apiKey".into(), ConfigValue::text("canary")),
            ("auth".into(), ConfigValue::Table(vec![("x".into(), ConfigValue::text("canary"))])),
            ("site".into(), ConfigValue::text("https://u:canary@h")),
        ]);
        let left =
            replace_foreign("extra.x", "", &data, &mut |_| LiteralReplacement::Remove).unwrap();
        assert!(!format!("{left:?}").contains("canary"), "{left:?}");
        assert_eq!(left.get("alwaysLoad"), Some(&ConfigValue::Bool(true)));
    }
}
