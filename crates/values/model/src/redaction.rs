//! Redacts the arguments and address of a declared server by rule: it hides what follows a
//! secret-like flag, the values of headers and variables, and the userinfo and query of a URL.
//!
//! The same rules find the secret literals for a [`Mask`](crate::Mask), which removes known values
//! from later output. Text that could be a shell command is shown even where a secret is expected,
//! because users consent to what they see.

/// The replacement for hidden text.
pub(crate) const HIDDEN: &str = "***";
/// Words that precede a credential.
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
/// Complete names that do so.
const SECRET_NAMES: [&str; 9] =
    ["key", "pat", "pass", "pwd", "bearer", "cookie", "cookies", "setcookie", "jwt"];
/// Endings of names that refer to a secret but do not contain one.
const ABOUT: [&str; 18] = [
    "file", "path", "command", "cmd", "helper", "type", "mode", "method", "provider", "url", "uri",
    "endpoint", "env", "var", "limit", "budget", "server", "port",
];
/// Prefixes of the credentials of well-known services.
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
/// Prefixes of flags that switch something off and take no value.
const SWITCHES: [&str; 4] = ["no-", "disable-", "skip-", "without-"];

/// Returns true if a flag, variable, header or parameter of this name is likely to hold a
/// credential.
pub fn is_secret_like(name: &str) -> bool {
    let name = name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let last = name.rsplit(['-', '_', '.']).next().unwrap_or_default();
    if ABOUT.contains(&last) || SWITCHES.iter().any(|switch| name.starts_with(switch)) {
        return false;
    }
    let joined: String = name.chars().filter(|c| c.is_alphanumeric()).collect();
    // An author or an authority is not a secret.
    let joined = joined.replace("authority", "").replace("authorize", "auth");
    let joined = match joined.contains("authorization") {
        true => joined,
        false => joined.replace("author", ""),
    };
    SECRET_NAMES.contains(&joined.as_str())
        || ["key", "pat", "pwd"].contains(&last)
        || SECRET_WORDS.iter().any(|word| joined.contains(word))
}

/// Returns the arguments of a process, redacted for display.
pub fn redact_args(args: &[String]) -> Vec<String> {
    redact_each(args, false).into_iter().map(|shown| shown.text).collect()
}

/// Returns the arguments, redacted for a consent prompt: a value that some program could run as
/// code is not hidden, whatever flag it follows.
pub fn redact_args_for_consent(args: &[String]) -> Vec<String> {
    redact_each(args, true).into_iter().map(|shown| shown.text).collect()
}

/// Returns the value of an environment variable, redacted for a consent prompt. It is hidden if the
/// name marks it as secret or the value may be one. A loader variable decides what runs, so it is
/// shown in full.
pub fn redact_value_for_consent(name: &str, value: &str) -> String {
    let mut shown = RedactedText { is_consent: true, ..RedactedText::default() };
    match value {
        _ if crate::is_loader_variable(name) => shown.push_visible(value),
        _ if value.contains("${") && is_plain_setting(&without_variables(value)) => {
            return without_defaults(value);
        }
        _ if is_secret_like(name) || !is_plain_setting(value) => return HIDDEN.to_owned(),
        _ => _ = shown.push_arg(value, None),
    }
    shown.text
}

/// Returns true if a value cannot be a credential by its form: words, paths and small numbers.
/// Credentials mix letters and digits.
fn is_plain_setting(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let is_number = digits == value.len() && digits <= 5;
    (is_number || digits == 0) && !looks_like_token(value)
}

/// Returns a value without its variables.
fn without_variables(value: &str) -> String {
    let mut parts = value.split("${");
    let before = parts.next().unwrap_or_default().to_owned();
    let after = parts.map(|part| part.split_once('}').map_or(part, |(_, after)| after));
    after.fold(before, |text, part| text + part)
}

/// Hides the default of a variable, which may be a secret.
fn without_defaults(text: &str) -> String {
    let Some((before, rest)) = text.split_once(":-") else { return text.to_owned() };
    let end = rest.rfind('}').unwrap_or(rest.len());
    format!("{before}:-{HIDDEN}{}", &rest[end..])
}

/// Returns true if a text looks like a credential: it starts like those of a known service.
pub fn looks_like_token(text: &str) -> bool {
    let text = text.trim();
    let is_long = |rest: &str| rest.len() >= 16 && !rest.contains(char::is_whitespace);
    let is_service = TOKEN_PREFIXES.iter().any(|it| text.strip_prefix(it).is_some_and(is_long));
    let is_jwt = text.starts_with("eyJ") && text.split('.').count() == 3 && is_long(text);
    is_service || is_jwt || text.starts_with("-----BEGIN ") && text.contains("PRIVATE KEY")
}

/// Returns the texts that [`redact_args`] hides.
pub fn secrets_in_args(args: &[String]) -> Vec<String> {
    redact_each(args, false).into_iter().flat_map(|shown| shown.hidden).collect()
}

/// Returns a URL without its user name and password and without its query values. Other texts are
/// returned unchanged.
pub fn redact_url(url: &str) -> String {
    let mut shown = RedactedText::default();
    shown.push_url(url);
    shown.text
}

/// Returns the texts that [`redact_url`] hides.
pub fn secrets_in_url(url: &str) -> Vec<String> {
    let mut shown = RedactedText::default();
    shown.push_url(url);
    shown.hidden
}

/// The kind of an argument, determined by the flag before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CommandArgumentKind {
    /// `Name: value`.
    Header,
    /// `NAME=value`.
    Variable,
    /// `user:password`.
    User,
    /// A credential.
    Secret,
}

impl CommandArgumentKind {
    /// Returns the kind of the argument after a flag.
    fn from_flag(flag: &str) -> Option<Self> {
        match flag {
            "-H" | "--header" | "--headers" => Some(Self::Header),
            "-e" | "--env" | "--environment" => Some(Self::Variable),
            "-u" | "--user" | "--proxy-user" => Some(Self::User),
            flag if flag.starts_with('-') && is_secret_like(flag) => Some(Self::Secret),
            _ => None,
        }
    }
}

fn redact_each(args: &[String], is_consent: bool) -> Vec<RedactedText> {
    let mut follows = None;
    let one = |arg: &String| {
        let mut shown = RedactedText { is_consent, ..RedactedText::default() };
        follows = shown.push_arg(arg, follows);
        shown
    };
    args.iter().map(one).collect()
}

/// A redacted text, and what was removed from it.
#[derive(Default)]
struct RedactedText {
    text: String,
    hidden: Vec<String>,
    /// Whether the text is for a consent prompt, which must not hide anything that could be run.
    is_consent: bool,
}

impl RedactedText {
    fn push_visible(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn push_hidden(&mut self, text: &str) {
        if self.is_consent && may_be_code(text) {
            self.text.push_str(text);
        } else if !text.is_empty() {
            self.text.push_str(HIDDEN);
            self.hidden.push(text.to_owned());
        }
    }

    /// Adds one argument. Returns the kind of the next one.
    fn push_arg(
        &mut self,
        arg: &str,
        follows: Option<CommandArgumentKind>,
    ) -> Option<CommandArgumentKind> {
        match follows {
            Some(follows) if !is_flag(arg) => {
                self.push_value(arg, follows);
                return None;
            }
            _ => {}
        }
        if self.push_json(arg) || self.push_credential_line(arg) {
            return None;
        }
        if arg.contains(char::is_whitespace) {
            self.push_script(arg);
            return None;
        }
        self.push_word(arg)
    }

    /// Adds a text of several words, split as a shell would.
    fn push_script(&mut self, mut rest: &str) {
        let mut follows = None;
        while !rest.is_empty() {
            let (gap, after) = rest.split_at(rest.len() - rest.trim_start().len());
            self.push_visible(gap);
            let (word, after) = after.split_at(word_length(after));
            rest = after;
            // Never hide what a shell would run in a consent prompt.
            if word.contains("$(") || word.contains('`') {
                self.push_visible(word);
                follows = None;
                continue;
            }
            follows = match follows {
                Some(kind) if !is_flag(word) => {
                    self.push_value(word, kind);
                    None
                }
                _ => self.push_word(word),
            };
            let scheme = word.trim_matches(['"', '\'', ':']);
            if ["bearer", "basic"].contains(&scheme.to_ascii_lowercase().as_str()) {
                follows = Some(CommandArgumentKind::Secret);
            }
        }
    }

    /// Adds one word. Returns the kind of the next one.
    fn push_word(&mut self, word: &str) -> Option<CommandArgumentKind> {
        if let Some((name, value)) = word.split_once('=') {
            let follows = CommandArgumentKind::from_flag(name);
            let follows =
                follows.or_else(|| is_secret_like(name).then_some(CommandArgumentKind::Secret));
            self.push_visible(&word[..=name.len()]);
            match follows {
                Some(follows) if !name.contains("://") => self.push_value(value, follows),
                _ => {
                    self.text.truncate(self.text.len() - name.len() - 1);
                    self.push_url(word);
                }
            }
            return None;
        }
        let glued = |flag| word.strip_prefix(flag).filter(|rest| rest.contains(':'));
        if let Some(header) = glued("-H") {
            self.push_visible("-H");
            self.push_value(header, CommandArgumentKind::Header);
            return None;
        }
        self.push_url(word);
        CommandArgumentKind::from_flag(word)
    }

    /// Adds a value of a known kind. Quotes around it are shown.
    fn push_value(&mut self, value: &str, follows: CommandArgumentKind) {
        for quote in ['"', '\''] {
            let inside = value.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
            if let Some(inside) = inside {
                self.text.push(quote);
                self.push_value(inside, follows);
                return self.text.push(quote);
            }
        }
        let split = match follows {
            CommandArgumentKind::Header => value.find([':', '=']),
            CommandArgumentKind::Variable => value.find('=').filter(|end| is_name(&value[..*end])),
            CommandArgumentKind::User => value.find(':'),
            CommandArgumentKind::Secret => None,
        };
        match (split, follows) {
            // Interpreters use the same flag to take code, and a word may start it.
            (Some(_), CommandArgumentKind::Variable) if self.is_consent && !is_plain(value) => {
                self.push_visible(value)
            }
            (Some(end), _) => {
                let start = end + 1;
                let start = start + value[start..].len() - value[start..].trim_start().len();
                self.push_visible(&value[..start]);
                self.push_hidden(&value[start..]);
            }
            (None, CommandArgumentKind::Header | CommandArgumentKind::Secret) => {
                self.push_hidden(value)
            }
            (None, CommandArgumentKind::Variable | CommandArgumentKind::User) => {
                self.push_word(value);
            }
        }
    }

    /// Adds an argument such as `Authorization: Bearer …`. Returns false if it is not one.
    fn push_credential_line(&mut self, arg: &str) -> bool {
        let Some((name, rest)) = arg.split_once(':') else { return false };
        let name = name.trim_start_matches(['"', '\'']);
        let is_header = name.chars().all(|c| c == '-' || c == '_' || c.is_ascii_alphanumeric());
        let is_one = is_header && !rest.starts_with("//") && is_secret_like(name);
        if is_one {
            self.push_value(arg, CommandArgumentKind::Header);
        }
        is_one
    }

    /// Adds a JSON value with its secret-like members hidden. Returns false if it is not JSON.
    fn push_json(&mut self, arg: &str) -> bool {
        if !arg.trim_start().starts_with(['{', '[']) {
            return false;
        }
        let Ok(mut value) = serde_json::from_str(arg) else { return false };
        let before = self.hidden.len();
        self.redact_members(&mut value, false);
        match self.hidden.len() == before {
            true => self.push_visible(arg),
            false => self.push_visible(&value.to_string()),
        }
        true
    }

    fn redact_members(&mut self, value: &mut serde_json::Value, is_secret: bool) {
        match value {
            serde_json::Value::Object(members) => {
                for (name, member) in members {
                    let holds = ["env", "headers"].contains(&name.as_str());
                    self.redact_members(member, is_secret || holds || is_secret_like(name));
                }
            }
            serde_json::Value::Array(items) => {
                items.iter_mut().for_each(|item| self.redact_members(item, is_secret));
            }
            serde_json::Value::String(text) if self.is_consent && may_be_code(text) => {}
            serde_json::Value::String(text) if is_secret => {
                self.hidden.push(std::mem::replace(text, HIDDEN.to_owned()));
            }
            serde_json::Value::String(text) => {
                let mut shown = Self { is_consent: self.is_consent, ..Self::default() };
                shown.push_url(text);
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

    /// Adds a word that may contain URLs.
    fn push_url(&mut self, word: &str) {
        let Some((scheme, rest)) = word.split_once("://") else { return self.push_visible(word) };
        self.push_visible(scheme);
        self.push_visible("://");
        let rest = self.push_userinfo(rest);
        let end = rest.find(['?', '#']).unwrap_or(rest.len());
        let (path, query) = rest.split_at(end);
        self.push_url(path);
        let (query, fragment) = query.split_at(query.find('#').unwrap_or(query.len()));
        for (index, pair) in query.split(['?', '&']).enumerate().skip(1) {
            self.push_visible(if index == 1 { "?" } else { "&" });
            match pair.split_once('=') {
                Some((name, value)) => {
                    self.push_visible(name);
                    self.push_visible("=");
                    self.push_hidden(value);
                }
                None => self.push_hidden(pair),
            }
        }
        if let Some(fragment) = fragment.strip_prefix('#') {
            self.push_visible("#");
            self.push_hidden(fragment);
        }
    }

    /// Hides the userinfo before the host. Returns the rest.
    fn push_userinfo<'t>(&mut self, rest: &'t str) -> &'t str {
        let mut end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let port = rest[..end].rsplit_once(':').map(|(_, port)| port);
        let is_port = |port: &str| port.chars().all(|c| c.is_ascii_digit() || c == ']');
        // A slash in a password ends the host early: what follows the colon is not a port, and an
        // `@` follows.
        if !rest[..end].contains('@') && port.is_some_and(|port| !is_port(port)) {
            end = rest.rfind('@').map_or(end, |at| at + 1);
        }
        let Some((user, _)) = rest[..end].rsplit_once('@') else { return rest };
        let password = user.split_once(':').map(|(_, password)| password.to_owned());
        self.push_hidden(user);
        self.hidden.extend(password.filter(|password| !password.is_empty()));
        self.push_visible("@");
        &rest[user.len() + 1..]
    }
}

/// Returns true if an argument is a flag of its own rather than the value of another. A credential
/// may start with one dash.
fn is_flag(arg: &str) -> bool {
    arg.starts_with("--") || (arg.starts_with('-') && arg.chars().count() == 2)
}

/// Returns true if a shell or an interpreter could run something in this value. Blanks are fine
/// after the scheme of a credential and between the parts of a cookie.
fn may_be_code(value: &str) -> bool {
    let token = match value.split_once(' ') {
        Some((scheme, token)) if SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) => token,
        _ => value,
    };
    let is_cookie = token.split("; ").all(|part| part.contains('=') && is_plain(part));
    let signs = |c: char| c.is_whitespace() || ";|&<>$`(){}\"'\\".contains(c);
    !is_cookie && token.contains(signs)
}

/// Returns true if a text is one word without characters that are special to a shell.
fn is_plain(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || "_-.:/+=@,".contains(c))
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
}

/// Returns the length of the first word of a text; a quoted part of it may contain blanks.
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
