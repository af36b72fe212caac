//! Matches URIs against URI templates and extracts the values of the variables.
//!
//! Supports two forms of RFC 6570: `{name}` for one segment, and `{?a,b}` at the end for a query
//! whose members may come in any order or be missing. Templates come from this program, but URIs
//! are untrusted, so matching takes time linear in the URI's length for each variable. This module
//! does not expand templates.

use super::ArgumentValues;

/// A parsed URI template.
#[derive(Debug, Clone)]
pub(super) struct UriTemplate {
    /// The text before the first variable.
    start: String,
    /// The variables of the path, each with the text after it.
    variables: Vec<(String, String)>,
    /// The names of the query members; `None` if the template has no query.
    query: Option<Vec<String>>,
}

impl UriTemplate {
    /// Returns the pattern that only this URI matches.
    pub(super) fn literal(uri: &str) -> Self {
        Self { start: uri.to_owned(), variables: Vec::new(), query: None }
    }

    /// Parses a template. Unsupported expressions are literal text.
    pub(super) fn new(template: &str) -> Self {
        let (path, query) = match template.rsplit_once("{?") {
            Some((path, rest)) if rest.find('}') == Some(rest.len() - 1) => {
                let names = rest.trim_end_matches('}').split(',').filter(|name| !name.is_empty());
                (path, Some(names.map(str::to_owned).collect()))
            }
            _ => (template, None),
        };
        let mut pattern = Self { query, ..Self::literal(path) };
        while let Some((before, name, after)) = expression(pattern.last_literal()) {
            let next = (name.to_owned(), after.to_owned());
            *pattern.last_literal() = before.to_owned();
            pattern.variables.push(next);
        }
        pattern
    }

    fn last_literal(&mut self) -> &mut String {
        self.variables.last_mut().map_or(&mut self.start, |(_, after)| after)
    }

    /// Returns the decoded values of the variables, or `None` if the URI does not match. If several
    /// matches are possible, earlier variables are as short as possible.
    pub(super) fn values(&self, uri: &str) -> Option<ArgumentValues> {
        let (path, query) = match (&self.query, uri.split_once('?')) {
            (Some(_), Some((path, query))) => (path, query),
            _ => (uri, ""),
        };
        let mut values = self.segments(path)?;
        for member in query.split('&') {
            let (name, value) = member.split_once('=').unwrap_or((member, ""));
            let known = self.query.iter().flatten().find(|known| {
                decoded(name, true).as_ref() == Some(*known) && !values.contains_key(*known)
            });
            if let Some(name) = known {
                values.insert(name.clone(), decoded(value, true)?);
            }
        }
        Some(values)
    }

    /// Matches the path. A variable ends where the text after it begins for the first time, and the
    /// last one where the rest of the path is that text.
    fn segments(&self, path: &str) -> Option<ArgumentValues> {
        let mut rest = path.strip_prefix(self.start.as_str())?;
        let mut values = ArgumentValues::new();
        for (index, (name, after)) in self.variables.iter().enumerate() {
            let first = rest.chars().next()?.len_utf8();
            let end = match index + 1 == self.variables.len() {
                true => rest.strip_suffix(after.as_str())?.len(),
                false => first + rest[first..].find(after.as_str())?,
            };
            let value = &rest[..end];
            if value.is_empty() || value.contains(['/', '?', '#']) {
                return None;
            }
            values.insert(name.clone(), decoded(value, false)?);
            rest = &rest[end + after.len()..];
        }
        rest.is_empty().then_some(values)
    }
}

/// Returns the first `{name}`, with the text before and after it.
fn expression(text: &str) -> Option<(&str, &str, &str)> {
    let is_name = |name: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        !name.is_empty() && name.chars().all(plain)
    };
    text.match_indices('{').find_map(|(open, _)| {
        let (name, after) = text[open + 1..].split_once('}')?;
        is_name(name).then(|| (&text[..open], name, after))
    })
}

/// Decodes percent-encoded text. Returns `None` if the encoding is invalid. In a query, `+` is a
/// space; template expansion encodes a literal plus.
fn decoded(text: &str, in_query: bool) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            b'+' if in_query => b' ',
            b'#' => return None, // a fragment cannot be part of a resource URI
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values(template: &str, uri: &str) -> Option<Vec<(String, String)>> {
        UriTemplate::new(template).values(uri).map(|values| values.into_iter().collect())
    }

    fn found(pairs: &[(&str, &str)]) -> Option<Vec<(String, String)>> {
        Some(pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect())
    }

    #[test]
    fn a_query_has_its_members_in_any_order_or_none() {
        let search = "t://context/search{?query,limit}";
        assert_eq!(values(search, "t://context/search"), found(&[]));
        assert_eq!(values(search, "t://context/search?"), found(&[]));
        let both = found(&[("limit", "3"), ("query", "a b")]);
        assert_eq!(values(search, "t://context/search?query=a%20b&limit=3"), both);
        assert_eq!(values(search, "t://context/search?limit=3&query=a+b"), both);
        assert_eq!(
            values(search, "t://context/search?x=%zz&%zz&query=1&query=2&limit"),
            found(&[("limit", ""), ("query", "1")])
        );
        assert_eq!(values(search, "t://context/searching?query=a"), None);
        assert_eq!(values(search, "t://context/search/x?query=a"), None);
    }

    #[test]
    fn what_nobody_can_have_encoded_fits_nothing() {
        for value in ["%", "%4", "%4g", "%ff", "%+1", "a#b"] {
            assert_eq!(values("x:y{?q}", &format!("x:y?q={value}")), None, "{value}");
        }
        assert_eq!(values("x:{a}", "x:%ff"), None);
    }

    #[test]
    fn a_segment_is_one_and_as_short_as_it_can_be() {
        assert_eq!(values("x:{a}/{b}", "x:1/2"), found(&[("a", "1"), ("b", "2")]));
        assert_eq!(values("x:{a}/{b}", "x:1/2/3"), None);
        assert_eq!(values("x:{a}/{b}", "x:1/"), None);
        assert_eq!(values("x:{a}-{b}", "x:1-2-3"), found(&[("a", "1"), ("b", "2-3")]));
        assert_eq!(values("x:{a}-z", "x:1-z-z"), found(&[("a", "1-z")]));
        assert_eq!(values("x:{a}", "x:+ü"), found(&[("a", "+ü")]));
        assert_eq!(values("x:{a}", "x:a?b"), None);
    }

    #[test]
    fn other_forms_stand_for_themselves() {
        assert_eq!(values("x:{+a}", "x:{+a}"), found(&[]));
        assert_eq!(values("x:{+a}", "x:1"), None);
        assert_eq!(values("x:{", "x:{"), found(&[]));
        assert_eq!(values("x:{?a}b", "x:{?a}b"), found(&[]));
    }

    #[test]
    fn a_long_uri_costs_no_more_than_its_length() {
        let uri = format!("x:{}", "-".repeat(100_000));
        assert_eq!(values("x:{a}-{b}-{c}-{d}!", &uri), None);
    }

    /// As RFC 6570 expands a simple variable.
    fn encoded(text: &str) -> String {
        let keep = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        let each = |byte: u8| match keep(byte) {
            true => char::from(byte).to_string(),
            false => format!("%{byte:02X}"),
        };
        text.bytes().map(each).collect()
    }

    /// A tenth in the normal run, and all of them in the long one.
    fn cases() -> ProptestConfig {
        let soak = std::env::var_os("TOOLGATE_SOAK").is_some();
        ProptestConfig::with_cases(if soak { 100_000 } else { 10_000 })
    }

    proptest! {
        #![proptest_config(cases())]

        /// Whatever a template was expanded with is found in what came out.
        #[test]
        fn what_was_put_in_comes_out(
            segments in prop::collection::vec(".{1,8}", 0..4),
            members in prop::collection::btree_map("[a-z]{1,3}", ".{0,8}", 0..4),
            strangers in prop::collection::vec("[A-Z%]{1,3}(=[^&#]{0,4})?", 0..3),
            order in any::<u64>(),
        ) {
            let names: Vec<_> = (0..segments.len()).map(|at| format!("s{at}")).collect();
            let path = names.iter().map(|name| format!("/{{{name}}}")).collect::<String>();
            let keys: Vec<_> = members.keys().cloned().collect();
            let template = format!("x:y{path}{{?{}}}", keys.join(","));
            let filled = segments.iter().map(|text| format!("/{}", encoded(text)));
            let mut query: Vec<_> =
                members.iter().map(|(key, value)| format!("{key}={}", encoded(value))).collect();
            query.extend(strangers);
            let turn = if query.is_empty() { 0 } else { order as usize % query.len() };
            query.rotate_left(turn);
            let uri = format!("x:y{}?{}", filled.collect::<String>(), query.join("&"));
            let mut expected: ArgumentValues = names.into_iter().zip(segments).collect();
            expected.extend(members);
            prop_assert_eq!(UriTemplate::new(&template).values(&uri), Some(expected), "{}", uri);
        }

        /// Nothing that anybody asks for breaks it, and what fits has every segment.
        #[test]
        fn any_uri_is_taken_or_not(
            template in "(x|:|/|[{][ab][}]|[{]|[}]){0,6}([{][?]a,b[}])?",
            uri in "(x|:|/|[?]|&|=|a|%41|%|ü|#){0,12}",
        ) {
            if let Some(values) = UriTemplate::new(&template).values(&uri) {
                for name in ["a", "b"] {
                    let named = template.split("{?").next().unwrap().contains(&format!("{{{name}}}"));
                    prop_assert!(!named || !values[name].is_empty(), "{} {}", template, uri);
                }
            }
        }
    }
}
