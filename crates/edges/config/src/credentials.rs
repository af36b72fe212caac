//! Finds credentials in values: headers that carry one, and parts of a value that are secret by
//! themselves.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolgate_model::{is_secret_like, secrets_in_url};

/// Authentication schemes with which a credential in a header begins.
const SCHEMES: [&str; 6] = ["bearer", "basic", "token", "apikey", "api-key", "digest"];
/// Shorter parts of a value are treated as ordinary words.
const SHORTEST: usize = 4;

/// Returns true if the header authenticates the client. Such a header must not be empty.
pub(crate) fn is_credential_header(name: &str, value: &str) -> bool {
    is_secret_like(name) || scheme(value).is_some()
}

/// Splits a value into its authentication scheme and the rest.
fn scheme(value: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = value.trim_start().split_once(' ')?;
    let is_scheme = SCHEMES.contains(&scheme.to_ascii_lowercase().as_str());
    is_scheme.then(|| (scheme, rest.trim()))
}

/// Returns the parts of a value that are secret by themselves: the token without its scheme, the
/// password of a URL or of `Basic`, and the values of cookies.
pub(crate) fn credential_parts(value: &str) -> Vec<String> {
    let mut found = secrets_in_url(value);
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
            assert!(is_credential_header(name, value), "{name}");
        }
        for name in ["Accept", "X-Trace", "X-Keyboard"] {
            assert!(!is_credential_header(name, "a value"), "{name}");
        }
    }

    #[test]
    fn parts_that_may_turn_up_alone_are_found() {
        assert_eq!(credential_parts("Bearer canary"), ["canary"]);
        let basic = STANDARD.encode("me:canary");
        assert_eq!(credential_parts(&format!("Basic {basic}")), [&*basic, "canary", "me:canary"]);
        assert_eq!(credential_parts("session=canary; a=b"), ["canary"]);
        assert_eq!(credential_parts("pg://me:canary@host/db"), ["me:canary", "canary"]);
        assert!(credential_parts("just words").is_empty());
    }
}
