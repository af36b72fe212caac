//! What is shown of a declared server's arguments and address, by rule: what follows a secret-like
//! flag, the values of headers and variables, and the userinfo and query of a URL are hidden.
//!
//! The same rules say which literals are secret, so that a [`Mask`](crate::Mask) can take them out
//! of what is written later. Nothing here knows any value: that is the mask's part. What could be
//! a command of a shell is shown, even where a secret would stand, because people are asked to
//! consent to what they see.

/// What stands for something hidden.
pub(crate) const HIDDEN: &str = "***";
/// Words that announce a credential behind them.
const SCHEMES: [&str; 3] = ["bearer", "basic", "token"];
/// Words in a name that make its value a secret.
const SECRET_WORDS: [&str; 10] = [
    "token",
    "secret",
    "password",
    "passwd",
    "passphrase",
    "apikey",
    "auth",
    "credential",
    "privatekey",
    "accesskey",
];
/// Whole names that do.
const SECRET_NAMES: [&str; 9] =
    ["key", "pat", "pass", "pwd", "bearer", "cookie", "cookies", "setcookie", "jwt"];
/// How names end that speak about a secret and hold none.
const ABOUT: [&str; 18] = [
    "file", "path", "command", "cmd", "helper", "type", "mode", "method", "provider", "url", "uri",
    "endpoint", "env", "var", "limit", "budget", "server", "port",
];
/// How the credentials of well-known services begin.
const TOKEN_PREFIXES: [&str; 24] = [
    "ghp_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "github_pat_",
    "glpat-",
    "sk-",
    "sk_live_",
    "sk_test_",
    "rk_live_",
    "xoxb-",
    "xoxp-",
    "xoxa-",
    "xapp-",
    "AKIA",
    "ASIA",
    "AIza",
    "ya29.",
    "npm_",
    "pypi-",
    "hf_",
    "dop_v1_",
    "lin_api_",
];
/// How names begin that switch something off and take no value.
const SWITCHES: [&str; 4] = ["no-", "disable-", "skip-", "without-"];

/// Whether a flag, variable, header or parameter of this name is likely to hold a credential.
pub fn is_secret_like(name: &str) -> bool {
    let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let last = name.rsplit(['-', '_', '.']).next().unwrap_or_default();
    if ABOUT.contains(&last) || SWITCHES.iter().any(|switch| name.starts_with(switch)) {
        return false;
    }
    let joined: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    // Who wrote a thing, and who vouches for it, are no secrets.
    let joined = joined.replace("authority", "").replace("authorize", "auth");
    let joined = match joined.contains("authorization") {
        true => joined,
        false => joined.replace("author", ""),
    };
    SECRET_NAMES.contains(&joined.as_str())
        || ["key", "pat", "pwd"].contains(&last)
        || SECRET_WORDS.iter().any(|word| joined.contains(word))
}

/// The arguments of a process as they may be shown.
pub fn shown_args(args: &[String]) -> Vec<String> {
    shown(args, false).into_iter().map(|shown| shown.text).collect()
}

/// The arguments as they are shown to whoever is to agree to them: a value that some program could
/// take for code is not hidden, whatever flag it follows.
pub fn consented_args(args: &[String]) -> Vec<String> {
    shown(args, true).into_iter().map(|shown| shown.text).collect()
}

/// The value of a variable of the environment as it is shown to whoever is to agree to it: hidden
/// where the name says that it is a secret, or the value may be one. A loader variable decides what
/// runs, so all of it is shown.
pub fn consented_value(name: &str, value: &str) -> String {
    let mut shown = Shown { is_consent: true, ..Shown::default() };
    match value {
        _ if crate::is_loader_variable(name) => shown.show(value),
        _ if value.contains("${") && is_plain_setting(&without_variables(value)) => {
            return without_defaults(value);
        }
        _ if is_secret_like(name) || !is_plain_setting(value) => return HIDDEN.to_owned(),
        _ => _ = shown.arg(value, None),
    }
    shown.text
}

/// Whether a value cannot be a credential by its form: words, paths and small numbers. Credentials
/// mix letters and digits.
fn is_plain_setting(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits == value.len() && digits <= 5;
    (is_number || digits == 0) && !looks_like_token(value)
}

/// What stands beside the variables in a value.
fn without_variables(value: &str) -> String {
    let mut parts = value.split("${");
    let before = parts.next().unwrap_or_default().to_owned();
    let after = parts.map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    after.fold(before, |text, part| text + part)
}

/// What stands in for an unset variable may be a secret.
fn without_defaults(text: &str) -> String {
    let Some((before, rest)) = text.split_once(":-") else { return text.to_owned() };
    let end = rest.rfind('}').unwrap_or(rest.len());
    format!("{before}:-{HIDDEN}{}", &rest[end..])
}

/// Whether a text is a credential by its form: it begins as those of a known service do.
pub fn looks_like_token(text: &str) -> bool {
    let text = text.trim();
    let is_long = |rest: &str| rest.len() >= 16 && !rest.contains(char::is_whitespace);
    let is_service = TOKEN_PREFIXES.iter().any(|it| text.strip_prefix(it).is_some_and(is_long));
    let is_jwt = text.starts_with("eyJ") && text.split('.').count() == 3 && is_long(text);
    is_service || is_jwt || text.starts_with("-----BEGIN ") && text.contains("PRIVATE KEY")
}

/// What [`shown_args`] hides.
pub fn hidden_in_args(args: &[String]) -> Vec<String> {
    shown(args, false).into_iter().flat_map(|shown| shown.hidden).collect()
}

/// A URL as it may be shown: without the user's name and password, and without the values of its
/// query. Other texts are returned as they are.
pub fn shown_url(url: &str) -> String {
    let mut shown = Shown::default();
    shown.url(url);
    shown.text
}

/// What [`shown_url`] hides.
pub fn hidden_in_url(url: &str) -> Vec<String> {
    let mut shown = Shown::default();
    shown.url(url);
    shown.hidden
}

/// What an argument is, after the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Follows {
    /// `Name: value`.
    Header,
    /// `NAME=value`.
    Variable,
    /// `user:password`.
    User,
    /// A credential.
    Secret,
}

impl Follows {
    /// What a flag announces.
    fn flag(flag: &str) -> Option<Self> {
        match flag {
            "-H" | "--header" | "--headers" => Some(Self::Header),
            "-e" | "--env" | "--environment" => Some(Self::Variable),
            "-u" | "--user" | "--proxy-user" => Some(Self::User),
            flag if flag.starts_with('-') && is_secret_like(flag) => Some(Self::Secret),
            _ => None,
        }
    }
}

fn shown(args: &[String], is_consent: bool) -> Vec<Shown> {
    let mut follows = None;
    let one = |arg: &String| {
        let mut shown = Shown { is_consent, ..Shown::default() };
        follows = shown.arg(arg, follows);
        shown
    };
    args.iter().map(one).collect()
}

/// A text as it may be shown, and what was left out of it.
#[derive(Default)]
struct Shown {
    text: String,
    hidden: Vec<String>,
    /// Whether somebody is to agree to what he sees, so that nothing is hidden that could be run.
    is_consent: bool,
}

impl Shown {
    fn show(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn hide(&mut self, text: &str) {
        if self.is_consent && may_be_code(text) {
            self.text.push_str(text);
        } else if !text.is_empty() {
            self.text.push_str(HIDDEN);
            self.hidden.push(text.to_owned());
        }
    }

    /// One argument; gives what the next one is.
    fn arg(&mut self, arg: &str, follows: Option<Follows>) -> Option<Follows> {
        match follows {
            Some(follows) if !is_flag(arg) => {
                self.value(arg, follows);
                return None;
            }
            _ => {}
        }
        if self.json(arg) || self.credential_line(arg) {
            return None;
        }
        if arg.contains(char::is_whitespace) {
            self.script(arg);
            return None;
        }
        self.word(arg)
    }

    /// A text of several words, as a shell would take it.
    fn script(&mut self, mut rest: &str) {
        let mut follows = None;
        while !rest.is_empty() {
            let (gap, after) = rest.split_at(rest.len() - rest.trim_start().len());
            self.show(gap);
            let (word, after) = after.split_at(word_length(after));
            rest = after;
            // What a shell would run is never hidden from whoever is to consent to it.
            if word.contains("$(") || word.contains('`') {
                self.show(word);
                follows = None;
                continue;
            }
            follows = match follows {
                Some(kind) if !is_flag(word) => {
                    self.value(word, kind);
                    None
                }
                _ => self.word(word),
            };
            let scheme = word.trim_matches(['"', '\'', ':']);
            if ["bearer", "basic"].contains(&scheme.to_ascii_lowercase().as_str()) {
                follows = Some(Follows::Secret);
            }
        }
    }

    /// One word; gives what the next one is.
    fn word(&mut self, word: &str) -> Option<Follows> {
        if let Some((name, value)) = word.split_once('=') {
            let follows = Follows::flag(name);
            let follows = follows.or_else(|| is_secret_like(name).then_some(Follows::Secret));
            self.show(&word[..=name.len()]);
            match follows {
                Some(follows) if !name.contains("://") => self.value(value, follows),
                _ => {
                    self.text.truncate(self.text.len() - name.len() - 1);
                    self.url(word);
                }
            }
            return None;
        }
        let glued = |flag| word.strip_prefix(flag).filter(|rest| rest.contains(':'));
        if let Some(header) = glued("-H") {
            self.show("-H");
            self.value(header, Follows::Header);
            return None;
        }
        self.url(word);
        Follows::flag(word)
    }

    /// A value whose kind is known; quotes around it are shown.
    fn value(&mut self, value: &str, follows: Follows) {
        for quote in ['"', '\''] {
            let inside = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
            if let Some(inside) = inside {
                self.text.push(quote);
                self.value(inside, follows);
                return self.text.push(quote);
            }
        }
        let split = match follows {
            Follows::Header => value.find([':', '=']),
            Follows::Variable => value.find('=').filter(|end| is_name(&value[..*end])),
            Follows::User => value.find(':'),
            Follows::Secret => None,
        };
        match (split, follows) {
            // The same flag hands code to interpreters, and a word may begin that, too.
            (Some(_), Follows::Variable) if self.is_consent && !is_plain(value) => self.show(value),
            (Some(end), _) => {
                let start = end + 1;
                let start = start + value[start..].len() - value[start..].trim_start().len();
                self.show(&value[..start]);
                self.hide(&value[start..]);
            }
            (None, Follows::Header | Follows::Secret) => self.hide(value),
            (None, Follows::Variable | Follows::User) => drop(self.word(value)),
        }
    }

    /// `Authorization: Bearer …` and its like, as one argument. `false`: it is none.
    fn credential_line(&mut self, arg: &str) -> bool {
        let Some((name, rest)) = arg.split_once(':') else { return false };
        let name = name.trim_start_matches(['"', '\'']);
        let is_header = name.chars().all(|c| c == '-' || c == '_' || c.is_ascii_alphanumeric());
        let is_one = is_header && !rest.starts_with("//") && is_secret_like(name);
        if is_one {
            self.value(arg, Follows::Header);
        }
        is_one
    }

    /// An object of JSON whose secret-like members are hidden. `false`: it is none.
    fn json(&mut self, arg: &str) -> bool {
        if !arg.trim_start().starts_with(['{', '[']) {
            return false;
        }
        let Ok(mut value) = serde_json::from_str(arg) else { return false };
        let before = self.hidden.len();
        self.members(&mut value, false);
        match self.hidden.len() == before {
            true => self.show(arg),
            false => self.show(&value.to_string()),
        }
        true
    }

    fn members(&mut self, value: &mut serde_json::Value, is_secret: bool) {
        match value {
            serde_json::Value::Object(members) => {
                for (name, member) in members {
                    let holds = ["env", "headers"].contains(&name.as_str());
                    self.members(member, is_secret || holds || is_secret_like(name));
                }
            }
            serde_json::Value::Array(items) => {
                items.iter_mut().for_each(|item| self.members(item, is_secret));
            }
            serde_json::Value::String(text) if self.is_consent && may_be_code(text) => {}
            serde_json::Value::String(text) if is_secret => {
                self.hidden.push(std::mem::replace(text, HIDDEN.to_owned()));
            }
            serde_json::Value::String(text) => {
                let mut shown = Self { is_consent: self.is_consent, ..Self::default() };
                shown.url(text);
                *text = shown.text;
                self.hidden.append(&mut shown.hidden);
            }
            serde_json::Value::Number(number) if is_secret => {
                self.hidden.push(number.to_string());
                *value = HIDDEN.into();
            }
            _ => {}
        }
    }

    /// A word that may hold URLs.
    fn url(&mut self, word: &str) {
        let Some((scheme, rest)) = word.split_once("://") else { return self.show(word) };
        self.show(scheme);
        self.show("://");
        let rest = self.user_of(rest);
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        let (path, query) = rest.split_at(end);
        self.url(path);
        let (query, fragment) = query.split_at(query.find('#').unwrap_or(query.len()));
        for (index, pair) in query.split(['?', '&']).enumerate().skip(1) {
            self.show(if index == 1 { "?" } else { "&" });
            match pair.split_once('=') {
                Some((name, value)) => {
                    self.show(name);
                    self.show("=");
                    self.hide(value);
                }
                None => self.hide(pair),
            }
        }
        if let Some(fragment) = fragment.strip_prefix('#') {
            self.show("#");
            self.hide(fragment);
        }
    }

    /// Hides who is named before the host; gives what follows him.
    fn user_of<'t>(&mut self, rest: &'t str) -> &'t str {
        let mut end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let port = rest[..end].rsplit_once(':').map(|(_, port)| port);
        let is_port = |port: &str| port.chars().all(|c| c.is_ascii_digit() || c == ']');
        // A password with a slash in it ends the host early: it is no port, and an `@` follows.
        if !rest[..end].contains('@') && port.is_some_and(|port| !is_port(port)) {
            end = rest.rfind('@').map_or(end, |at| at + 1);
        }
        let Some((user, _)) = rest[..end].rsplit_once('@') else { return rest };
        let password = user.split_once(':').map(|(_, password)| password.to_owned());
        self.hide(user);
        self.hidden.extend(password.filter(|password| !password.is_empty()));
        self.show("@");
        &rest[user.len() + 1..]
    }
}

/// Whether an argument is a flag of its own rather than somebody's value. A credential may begin
/// with one dash.
fn is_flag(arg: &str) -> bool {
    arg.starts_with("--") || (arg.starts_with('-') && arg.chars().count() == 2)
}

/// Whether a shell or an interpreter that is handed this value could run something by it. Blanks are
/// fine behind the scheme of a credential, and between the parts of a cookie.
fn may_be_code(value: &str) -> bool {
    let token = match value.split_once(' ') {
        Some((scheme, token)) if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => token,
        _ => value,
    };
    let is_cookie = token.split("; ").all(|part| part.contains('=') && is_plain(part));
    let signs = |c: char| c.is_whitespace() || ";|&<>$`(){}\"'\\".contains(c);
    !is_cookie && token.contains(signs)
}

/// Whether a text is one word in which nothing means anything to anybody.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || "_-.:/+=@,".contains(c))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// The length of the word a text begins with; a quoted part of it may hold blanks.
fn word_length(text: &str) -> usize {
    let mut before = ' ';
    let mut quote = None;
    for (index, c) in text.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c.is_whitespace() => return index,
            None if "\"'".contains(c) && " =:".contains(before) => {
                quote = text[index + 1..].contains(c).then_some(c);
            }
            None => {}
        }
        before = c;
    }
    text.len()
}

#[cfg(test)]
mod tests;
