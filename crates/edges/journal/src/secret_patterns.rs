//! Detects unknown secrets by their form: private keys, tokens of well-known providers, JWTs,
//! values after an authorization scheme or a secret-like name, logins in URLs, and long random
//! words.
//!
//! It redacts too much rather than too little: people read the text to learn what happened, and the
//! digest beside it proves what was sent.

use std::borrow::Cow;
use std::ops::Range;

use toolgate_model::is_secret_like;

/// The replacement of a secret.
pub(crate) const HIDDEN: &str = "***";

/// The prefixes of tokens of well-known providers, by the minimum length of the token.
const TOKEN_PREFIXES: [(usize, &str); 5] = [
    (15, "glpat- xoxb- xoxp- xoxa- xoxs- xoxr- xapp-"),
    (16, "sk_live_ sk_test_ rk_live_ rk_test_"),
    (
        20,
        "ghp_ gho_ ghu_ ghs_ ghr_ sk- AKIA ASIA ya29. 1//0 hf_ shpat_ whsec_ lin_api_ PRIVATE+KEY+",
    ),
    (30, "github_pat_ npm_ pypi- SG. dop_v1_ AGE-SECRET-KEY-"),
    (35, "AIza"),
];
/// The minimum length of a token.
const SHORTEST_TOKEN: usize = 15;
/// The minimum length of a random word.
const RANDOM: usize = 32;
/// The minimum length of a credential after a scheme.
const AFTER_SCHEME: usize = 8;

/// Returns the text with everything that looks like a secret replaced.
pub(crate) fn redact_secrets(text: &str) -> Cow<'_, str> {
    let mut found = SecretFinder { text, found: Vec::new() };
    found.find_private_keys();
    found.find_in_words();
    found.into_redacted()
}

/// Returns true if values under this name are secret. A fast check rejects most names.
pub(crate) fn is_secret_name(name: &str) -> bool {
    may_be_secret(name) && is_secret_like(name)
}

/// Every secret-like name contains one of these, if only letters and digits count.
const STEMS: [&[u8]; 11] =
    [b"tok", b"sec", b"pas", b"key", b"aut", b"cre", b"pat", b"pwd", b"bea", b"coo", b"jwt"];

fn may_be_secret(name: &str) -> bool {
    let mut letters = [0_u8; 64];
    let mut count = 0;
    for byte in name.bytes() {
        if !byte.is_ascii() || count == letters.len() {
            return true;
        }
        if byte.is_ascii_alphanumeric() {
            letters[count] = byte.to_ascii_lowercase();
            count += 1;
        }
    }
    letters[..count].windows(3).any(|window| STEMS.contains(&window))
}

/// A text and the ranges of the secrets found in it.
struct SecretFinder<'t> {
    text: &'t str,
    found: Vec<Range<usize>>,
}

impl<'t> SecretFinder<'t> {
    /// Finds PEM blocks, except certificates and public keys.
    fn find_private_keys(&mut self) {
        const BEGIN: &str = "-----BEGIN ";
        const END: &str = "-----END ";
        let mut from = 0;
        while let Some(begin) = self.text[from..].find(BEGIN).map(|at| from + at) {
            let label = &self.text[begin + BEGIN.len()..];
            let label = label.split("-----").next().unwrap_or_default();
            let end = self.text[begin..].find(END).map(|at| begin + at + END.len());
            let end = end.and_then(|end| Some(end + self.text[end..].find("-----")? + 5));
            let end = end.unwrap_or(self.text.len());
            if !label.contains("CERTIFICATE") && !label.contains("PUBLIC") {
                self.found.push(begin..end);
            }
            from = end;
        }
    }

    /// Checks every word and the text after it.
    fn find_in_words(&mut self) {
        let bytes = self.text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            if !is_word(bytes[at]) {
                at += 1;
                continue;
            }
            let start = at;
            while at < bytes.len() && is_word(bytes[at]) {
                at += 1;
            }
            self.check_word(start..at);
        }
    }

    fn check_word(&mut self, word: Range<usize>) {
        let text = &self.text[word.clone()];
        if text.len() >= SHORTEST_TOKEN && is_token(text) {
            self.found.push(word.clone());
        }
        let rest = &self.text.as_bytes()[word.end..];
        match rest.first() {
            Some(b' ') => self.check_scheme(text, word.end + 1),
            Some(b':') if rest.starts_with(b"://") => self.check_login(word.end + 3),
            Some(b':' | b'=' | b'"' | b'\'' | b'\\') => self.check_assignment(text, word.end),
            _ => {}
        }
    }

    /// Finds the credential after a scheme, as in `Bearer …`.
    fn check_scheme(&mut self, word: &str, from: usize) {
        let is = |scheme: &str| word.eq_ignore_ascii_case(scheme);
        let (bearer, other) = (is("bearer"), is("basic") || is("token"));
        if !bearer && !other {
            return;
        }
        let credential =
            self.range_until(from, |byte| byte.is_ascii_whitespace() || is_quote(byte));
        let text = &self.text[credential.clone()];
        let is_prose = text.bytes().all(|byte| byte.is_ascii_lowercase() || is_stop(byte));
        if text.len() >= AFTER_SCHEME && (bearer || !is_prose) {
            self.found.push(credential);
        }
    }

    /// Finds the name and password before a host.
    fn check_login(&mut self, from: usize) {
        let ends =
            |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b'/' | b'?' | b'#' | b'"');
        let authority = self.range_until(from, ends);
        if let Some(at) = self.text[authority.clone()].rfind('@')
            && &self.text[from..from + at] != "git"
        {
            self.found.push(from..from + at);
        }
    }

    /// Finds the value of a secret-like name, as in `password=…` or `"token": "…"`.
    fn check_assignment(&mut self, name: &str, from: usize) {
        let bytes = self.text.as_bytes();
        let skip = |mut at: usize, which: fn(u8) -> bool| {
            while bytes.get(at).copied().is_some_and(which) {
                at += 1;
            }
            at
        };
        let sign = skip(skip(from, |byte| is_quote(byte) || byte == b'\\'), |byte| byte == b' ');
        if !matches!(bytes.get(sign), Some(b':' | b'=')) || !is_secret_name(name) {
            return;
        }
        let open = skip(sign + 1, |byte| byte == b' ' || byte == b'\\');
        let quote = bytes.get(open).copied().filter(|byte| is_quote(*byte));
        let value = match quote {
            Some(quote) => self.quoted_range(open + 1, quote),
            None => self.range_until(open, is_end),
        };
        let word = &self.text[value.clone()];
        let schemes = ["bearer", "basic", "token", "digest"];
        let is_scheme = schemes.iter().any(|scheme| word.eq_ignore_ascii_case(scheme));
        // The scheme itself is not secret; the credential after it is.
        let value = match is_scheme && bytes.get(value.end) == Some(&b' ') {
            true => {
                self.range_until(value.end + 1, |byte| byte.is_ascii_whitespace() || is_quote(byte))
            }
            false => value,
        };
        if !value.is_empty() {
            self.found.push(value);
        }
    }

    /// Returns the range up to the next such quote. An escaped quote also ends it.
    fn quoted_range(&self, from: usize, quote: u8) -> Range<usize> {
        let value = self.range_until(from, |byte| byte == quote);
        let text = &self.text[value.clone()];
        value.start..value.end - (text.len() - text.trim_end_matches('\\').len())
    }

    fn range_until(&self, from: usize, ends: impl Fn(u8) -> bool) -> Range<usize> {
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        let length = rest.iter().position(|byte| ends(*byte)).unwrap_or(rest.len());
        from.min(self.text.len())..from.min(self.text.len()) + length
    }

    /// Returns the text with the found ranges replaced.
    fn into_redacted(mut self) -> Cow<'t, str> {
        if self.found.is_empty() {
            return Cow::Borrowed(self.text);
        }
        self.found.sort_by_key(|range| (range.start, range.end));
        let mut cut = String::with_capacity(self.text.len());
        let mut shown = 0;
        for range in self.found {
            if range.start >= shown {
                cut.push_str(&self.text[shown..range.start]);
                cut.push_str(HIDDEN);
            }
            shown = shown.max(range.end);
        }
        cut.push_str(&self.text[shown..]);
        Cow::Owned(cut)
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'')
}

fn is_stop(byte: u8) -> bool {
    matches!(byte, b'.' | b',' | b';' | b':' | b'!' | b'?' | b'-' | b')')
}

/// Returns true for a byte that ends an unquoted value.
fn is_end(byte: u8) -> bool {
    byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b'&' | b';' | b',' | b'}' | b')')
}

fn is_token(word: &str) -> bool {
    let made = |(least, prefixes): &(usize, &str)| {
        word.len() >= *least && prefixes.split(' ').any(|prefix| word.starts_with(prefix))
    };
    let is_jwt = word.starts_with("eyJ") && word.matches('.').count() >= 2;
    TOKEN_PREFIXES.iter().any(made) || is_jwt || word.split('.').any(is_random)
}

/// Returns true if a word is longer and more mixed than words of a language or digests.
fn is_random(word: &str) -> bool {
    if word.len() < RANDOM {
        return false;
    }
    let count = |which: fn(&u8) -> bool| word.bytes().filter(which).count();
    let starts = |pair: &[u8]| !pair[0].is_ascii_digit() && pair[1].is_ascii_digit();
    let digits = word.as_bytes().windows(2).filter(|pair| starts(pair)).count();
    count(u8::is_ascii_uppercase) >= 2 && count(u8::is_ascii_lowercase) >= 2 && digits >= 2
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_looks_secret_is_hidden_and_nothing_beside_it() {
        for (given, shown) in [
            ("use ghp_0123456789abcdefghij now", "use *** now"),
            ("Authorization: Bearer abc.def-123", "Authorization: Bearer ***"),
            ("curl -H 'X-Api-Key: k1-canary' https://h/", "curl -H 'X-Api-Key: ***' https://h/"),
            ("https://me:canary@host:1/p?q=1", "https://***@host:1/p?q=1"),
            ("https://h/?token=canary&x=1", "https://h/?token=***&x=1"),
            ("ssh://git@host/repo", "ssh://git@host/repo"),
            (r#"{"password": "can ary", "a": 1}"#, r#"{"password": "***", "a": 1}"#),
            (r#"{\"password\":\"canary\",\"a\":1}"#, r#"{\"password\":\"***\",\"a\":1}"#),
            ("x eyJhbGciOi.eyJzdWIi.c2lnbmF0dXJl y", "x *** y"),
            ("AKIAIOSFODNN7CANARY1", "***"),
            ("k=Zx81kQpW72LmNv03TyRb65UcHs94DfGj", "k=***"),
            ("a -----BEGIN RSA PRIVATE KEY-----\nx\n-----END RSA PRIVATE KEY----- b", "a *** b"),
            ("-----BEGIN PRIVATE KEY-----\ncut off", "***"),
        ] {
            assert_eq!(redact_secrets(given), shown);
        }
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "",
            "the token of thanks is a basic understanding",
            "/usr/share/some-long-folder-name/with.many.dots/file-2026.txt",
            "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
            "9b2d1f0e-7c41-4f1e-9f7a-3a1c1d2e3f40",
            "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
            "https://example.com:443/path?q=a@b",
            "SELECT id FROM users WHERE name = 'x'",
            "author: somebody",
        ] {
            assert_eq!(redact_secrets(text), text);
        }
    }

    proptest! {
        #[test]
        fn hiding_twice_is_hiding_once(text in "\\PC{0,80}") {
            let once = redact_secrets(&text).into_owned();
            prop_assert_eq!(redact_secrets(&once), once.clone());
        }

        #[test]
        fn pieces_of_secrets_in_any_order_never_panic(
            parts in proptest::collection::vec(
                proptest::sample::select(vec![
                    "-----BEGIN ", "PRIVATE KEY-----", "-----END ", "token", "=", ":", "\"", "\\",
                    "://", "@", "é", "Bearer ", " ghp_0123456789abcdefghij ", " ", "&", "eyJ", ".",
                ]), 0..12),
        ) {
            let text = parts.concat();
            let once = redact_secrets(&text).into_owned();
            prop_assert!(!once.contains("ghp_0123456789abcdefghij"), "{text:?}: {once:?}");
        }

        #[test]
        fn no_secret_name_is_overlooked(name in "[a-zA-Z_.-]{0,12}(tok|en|sec|ret|Pass|_key|auth|pat|jwt|-)[a-zA-Z_-]{0,6}") {
            prop_assert_eq!(is_secret_name(&name), is_secret_like(&name));
        }

        #[test]
        fn no_short_name_is_overlooked(
            parts in proptest::collection::vec(proptest::sample::select(vec![
                "a", "p", "i", "k", "e", "y", "t", "o", "n", "w", "d", "-", "_", "é", "author",
                "cookie", "bearer", "credential", "accesskey", "private", "key",
            ]), 0..8),
        ) {
            let name = parts.concat();
            prop_assert_eq!(is_secret_name(&name), is_secret_like(&name));
        }
    }
}
