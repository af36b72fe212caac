//! What in a declared server may be a credential that is written out, and something else in its
//! place.
//!
//! A value that is a variable is no credential and stays; what stands in for an unset variable is.
//! Whoever carries a server decides about each find: keep it, put a variable there, leave it out.

use std::collections::BTreeMap;

use toolgate_host::config::template::{self, Piece, Source, Variable};
use toolgate_model::{Data, OAuth, Secret, ServerSpec, TransportSpec};
use toolgate_model::{hidden_in_args, hidden_in_url, is_secret_like};

use super::marked::Marked;

/// Words before a credential that are none.
const SCHEMES: [&str; 5] = ["bearer", "basic", "token", "apikey", "digest"];

/// Something that is written out and may be a credential.
#[derive(Debug)]
pub struct Literal {
    /// Where it stands: `env.TOKEN`.
    pub field: String,
    /// What it is called there: a key, a header, a flag, a parameter.
    pub name: String,
    /// What kind of place it is.
    pub place: Place,
    /// The value, where it is nothing but text.
    pub value: Option<Secret<String>>,
    /// The same value without what stands in for an unset variable, where that is all there is to
    /// hide.
    pub bare: Option<String>,
}

/// What kind of place a literal stands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// A variable of a process: it has its name there already.
    Env,
    /// A value of its own.
    Value,
    /// A piece of an argument or URL.
    Inside,
    /// A field only another host understands: no variable of ours means anything there.
    Foreign,
}

/// What is to stand in the place of a literal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Instead {
    /// Itself.
    Itself,
    /// This text, in our grammar.
    Text(String),
    /// Nothing.
    Nothing,
}

/// Decides about one literal.
pub type Choose<'c> = dyn FnMut(&Literal) -> Instead + 'c;

/// The server with every literal replaced by what was chosen for it.
pub fn replaced(spec: &ServerSpec, choose: &mut Choose<'_>) -> ServerSpec {
    let mut spec = spec.clone();
    match &mut spec.transport {
        TransportSpec::Stdio(stdio) => {
            values("env", Place::Env, &mut stdio.env, choose);
            stdio.args = args(&stdio.args, choose);
            // Some write the whole line there.
            stdio.command = args(std::slice::from_ref(&stdio.command), choose).concat();
        }
        TransportSpec::Http(http) => {
            values("headers", Place::Value, &mut http.headers, choose);
            http.url = url("url", &http.url, choose);
            helper(&mut http.headers_helper, choose);
            oauth(&mut http.auth.oauth, choose);
        }
        TransportSpec::BuiltIn => {}
    }
    for (dialect, kept) in &mut spec.extras {
        let data = foreign(&format!("extra.{dialect}"), "", kept.expose(), choose);
        *kept = Secret::new(data.unwrap_or(Data::Null));
    }
    spec
}

fn values(
    field: &str,
    place: Place,
    values: &mut BTreeMap<String, Secret<String>>,
    choose: &mut Choose<'_>,
) {
    let written = std::mem::take(values);
    values.extend(written.into_iter().filter_map(|(name, value)| {
        let text = at(&format!("{field}.{name}"), &name, place, value.expose(), choose)?;
        Some((name, Secret::new(text)))
    }));
}

/// What is to stand where this text does; `None`: nothing.
pub(super) fn at(
    field: &str,
    name: &str,
    place: Place,
    text: &str,
    choose: &mut Choose<'_>,
) -> Option<String> {
    if !holds_literal(text) {
        return Some(text.to_owned());
    }
    let bare = without_defaults(text);
    let literal = Literal {
        field: field.to_owned(),
        name: name.to_owned(),
        place,
        value: plain(text).map(Secret::new),
        bare: (!holds_literal(&bare)).then_some(bare),
    };
    match choose(&literal) {
        Instead::Itself => Some(text.to_owned()),
        Instead::Text(text) => Some(text),
        Instead::Nothing => None,
    }
}

/// Whether something in a text is neither a variable nor known to be harmless.
fn holds_literal(text: &str) -> bool {
    let pieces = template::pieces(text);
    let is_path = |piece: Option<&Piece>| {
        let folders = [Source::Project, Source::Home];
        matches!(piece, Some(Piece::Variable(variable)) if folders.contains(&variable.source))
    };
    if is_path(pieces.first()) {
        return false;
    }
    pieces.iter().any(|piece| match piece {
        Piece::Variable(variable) => variable.default.as_deref().is_some_and(|it| !it.is_empty()),
        Piece::Text(text) => {
            let words = text.split(|c: char| !c.is_alphanumeric()).filter(|it| !it.is_empty());
            let scheme = |word: &str| SCHEMES.iter().any(|known| word.eq_ignore_ascii_case(known));
            // A scheme alone, without any variable, is somebody's password "token".
            !words.clone().all(scheme) || pieces.len() == 1 && !text.is_empty()
        }
    })
}

fn without_defaults(text: &str) -> String {
    let mut pieces = template::pieces(text);
    for piece in &mut pieces {
        if let Piece::Variable(Variable { default, .. }) = piece {
            *default = default.take().filter(String::is_empty);
        }
    }
    template::render(&pieces)
}

/// The text itself, if it names no variable.
fn plain(text: &str) -> Option<String> {
    match &template::pieces(text)[..] {
        [] => Some(String::new()),
        [Piece::Text(text)] => Some(text.clone()),
        _ => None,
    }
}

/// Arguments: what is hidden when they are shown.
fn args(args: &[String], choose: &mut Choose<'_>) -> Vec<String> {
    let marked: Vec<_> = args.iter().map(|arg| Marked::of(arg)).collect();
    let texts: Vec<_> = marked.iter().map(|arg| arg.text.clone()).collect();
    let mut written: Vec<String> = Vec::with_capacity(args.len());
    let mut seen = 0;
    for (index, arg) in marked.into_iter().enumerate() {
        // What an argument is depends on those before it.
        let hidden = hidden_in_args(&texts[..=index]).split_off(seen);
        seen += hidden.len();
        let before = index.checked_sub(1).and_then(|before| texts.get(before));
        let field = format!("args[{index}]");
        let is_whole = hidden.first() == Some(&arg.text);
        match arg.replaced(&field, before.map_or("", String::as_str), hidden, choose) {
            Some(text) => written.push(text),
            // The flag before it would take the next argument for its value.
            None if is_whole => drop(written.pop()),
            None => {}
        }
    }
    written
}

/// A URL: what is hidden when it is shown.
fn url(field: &str, text: &str, choose: &mut Choose<'_>) -> String {
    let marked = Marked::of(text);
    let hidden = hidden_in_url(&marked.text);
    marked.replaced(field, field, hidden, choose).unwrap_or_default()
}

/// A command is none, but an argument of it may be.
fn helper(helper: &mut Option<Secret<String>>, choose: &mut Choose<'_>) {
    let Some(command) = helper.as_ref().map(Secret::expose) else { return };
    let words: Vec<_> = command.split_whitespace().map(str::to_owned).collect();
    if !hidden_in_args(&words).is_empty() {
        let text = at("headers_helper", "headers_helper", Place::Foreign, command, choose);
        *helper = text.map(Secret::new);
    }
}

fn oauth(oauth: &mut OAuth, choose: &mut Choose<'_>) {
    let secret = oauth.client_secret.take();
    oauth.client_secret = secret.and_then(|secret| {
        let (field, name) = ("oauth.client_secret", "client_secret");
        at(field, name, Place::Value, secret.expose(), choose).map(Secret::new)
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
            *text = url(field, text, choose);
        }
    }
    for text in &mut oauth.audiences {
        *text = url("oauth.audiences", text, choose);
    }
}

/// Fields of another host: by their names, and by what looks like a URL.
fn foreign(field: &str, key: &str, data: &Data, choose: &mut Choose<'_>) -> Option<Data> {
    match data {
        Data::Text(text) if is_secret_like(key) || !hidden_in_url(text).is_empty() => {
            at(field, key, Place::Foreign, text, choose).map(Data::Text)
        }
        Data::List(items) => {
            let items = items.iter().filter_map(|item| foreign(field, key, item, choose));
            Some(Data::List(items.collect()))
        }
        Data::Table(members) => {
            let members = members.iter().filter_map(|(name, value)| {
                // Whatever stands below a secret-like key is as secret as that.
                let key = if is_secret_like(key) { key } else { name };
                let value = foreign(&format!("{field}.{name}"), key, value, choose)?;
                Some((name.clone(), value))
            });
            Some(Data::Table(members.collect()))
        }
        other => Some(other.clone()),
    }
}

/// A name for a variable of the environment: `SERVER_HEADER`.
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

    fn left(args: &[&str], instead: impl Fn(&Literal) -> Instead) -> (Vec<String>, Vec<String>) {
        let given: Vec<_> = args.iter().map(ToString::to_string).collect();
        let mut fields = Vec::new();
        let written = super::args(&given, &mut |literal| {
            fields.push(literal.name.clone());
            instead(literal)
        });
        (written, fields)
    }

    #[test]
    fn an_argument_loses_what_is_hidden_of_it() {
        let variable = |literal: &Literal| {
            Instead::Text(format!("${{env:{}}}", variable_name(&[&literal.name])))
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
        let (written, _) = left(&args, |_| Instead::Nothing);
        assert_eq!(written, ["-e", "PW=", "x", "--port", "8"]);
        let (written, _) = left(&args, |_| Instead::Itself);
        assert_eq!(written, args);
    }

    #[test]
    fn variables_stay_but_not_what_stands_in_for_them() {
        let nothing = |literal: &Literal| match &literal.bare {
            Some(bare) => Instead::Text(bare.clone()),
            None => Instead::Nothing,
        };
        let args = ["--token", "${env:T}", "--key=${env:K:-canary}", "postgres://${env:U}@h/x"];
        let (written, _) = left(&args, nothing);
        assert_eq!(written, ["--token", "${env:T}", "--key=${env:K}", "postgres://${env:U}@h/x"]);
    }

    #[test]
    fn a_url_loses_user_query_and_fragment() {
        let text = "https://me:canary@example.com/a?key=canary&b=${env:B}#canary";
        let variable = |literal: &Literal| Instead::Text(format!("${{env:{}}}", literal.name));
        assert_eq!(
            url("url", text, &mut |it| variable(it)),
            "https://${env:userinfo}@example.com/a?key=${env:key}&b=${env:B}#${env:fragment}"
        );
        let bare = url("url", text, &mut |_| Instead::Nothing);
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
            assert_eq!(holds_literal(text), holds, "{text}");
        }
    }

    #[test]
    fn fields_of_other_hosts_lose_what_is_called_secret() {
        let data = Data::Table(vec![
            ("alwaysLoad".into(), Data::Flag(true)),
            ("apiKey".into(), Data::text("canary")),
            ("auth".into(), Data::Table(vec![("x".into(), Data::text("canary"))])),
            ("site".into(), Data::text("https://u:canary@h")),
        ]);
        let left = foreign("extra.x", "", &data, &mut |_| Instead::Nothing).unwrap();
        assert!(!format!("{left:?}").contains("canary"), "{left:?}");
        assert_eq!(left.get("alwaysLoad"), Some(&Data::Flag(true)));
    }
}
