//! What in a value is a credential: the header that carries one, and the parts of it that may turn
//! up alone.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolgate_model::{hidden_in_url, is_secret_like};

/// How credentials announce themselves in a header.
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "apikey", "api-key", "digest"];
/// Shorter parts of a value are ordinary words.
const SHORTEST: usize = 4;

/// Whether a header is sent to say who we are: it must not come out empty.
pub(crate) fn is_header(name: &str, value: &str) -> bool {
    is_secret_like(name) || scheme(value).is_some()
}

/// What follows the scheme a value begins with.
fn scheme(value: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = value.trim_start().split_once(' ')?;
    let is_scheme = SCHEMES.contains(&scheme.to_ascii_lowercase().as_str());
    is_scheme.then(|| (scheme, rest.trim()))
}

/// The parts of a value that are secret by themselves: the token without its scheme, the password
/// of a URL or of `Basic`, what a cookie holds.
pub(crate) fn in_value(value: &str) -> Vec<String> {
    let mut found = hidden_in_url(value);
    if let Some((scheme, token)) = scheme(value) {
        found.push(token.to_owned());
        if scheme.eq_ignore_ascii_case("basic") {
            found.extend(in_basic(token));
        }
    }
    for pair in value.split(';') {
        if let Some((_, value)) = pair.split_once('=') {
            found.push(value.trim().to_owned());
        }
    }
    found.retain(|part| part.len() >= SHORTEST);
    found
}

fn in_basic(token: &str) -> Vec<String> {
    let decoded = STANDARD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let Some(decoded) = decoded else { return Vec::new() };
    let password = decoded.split_once(':').map(|(_, password)| password.to_owned());
    password.into_iter().chain([decoded]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_told_by_name_and_by_scheme() {
        for (name, value) in [
            ("Authorization", ""),
            ("Proxy-Authorization", ""),
            ("Cookie", ""),
            ("X-Api-Key", ""),
            ("X-Goog-Api-Key", ""),
            ("PRIVATE-TOKEN", ""),
            ("H", "Bearer ${env:X:-}"),
        ] {
            assert!(is_header(name, value), "{name}");
        }
        for name in ["Accept", "X-Trace", "X-Keyboard"] {
            assert!(!is_header(name, "a value"), "{name}");
        }
    }

    #[test]
    fn parts_that_may_turn_up_alone_are_found() {
        assert_eq!(in_value("Bearer canary"), ["canary"]);
        let basic = STANDARD.encode("me:canary");
        assert_eq!(in_value(&format!("Basic {basic}")), [&*basic, "canary", "me:canary"]);
        assert_eq!(in_value("session=canary; a=b"), ["canary"]);
        assert_eq!(in_value("pg://me:canary@host/db"), ["me:canary", "canary"]);
        assert!(in_value("just words").is_empty());
    }
}
