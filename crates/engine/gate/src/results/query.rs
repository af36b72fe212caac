//! Queries of kept results, from the query part of a URI or the arguments of a tool.

use toolgate_wire::{scan, string};

use super::PREFIX;
use super::keep::{RAW, STRUCTURED, TEXT, part};

/// The default and maximum number of bytes shown around a match.
const CONTEXT: u64 = 120;
const CONTEXT_AT_MOST: u64 = 4000;

/// A query of a kept result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResultQuery {
    pub(super) id: String,
    pub(super) section: String,
    /// Whether it asks for the data of a block, which is returned unchanged.
    pub(super) is_part: bool,
    pub(super) offset: u64,
    pub(super) length: Option<u64>,
    pub(super) lines: Option<(u64, u64)>,
    pub(super) search: Option<ResultTextSearch>,
}

/// A text to find.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResultTextSearch {
    pub(super) text: String,
    pub(super) context: u64,
    /// Whether the search is case-sensitive.
    pub(super) exact: bool,
}

/// The known options.
pub(super) const WORDS: [&str; 8] =
    ["offset", "length", "lines", "search", "context", "case", "form", "part"];

impl ResultQuery {
    fn new(id: &str) -> Result<Self, String> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if id.is_empty() || !id.bytes().all(plain) {
            return Err(format!("the URI of a kept result has the form {PREFIX}<id>"));
        }
        Ok(Self {
            id: id.to_owned(),
            section: TEXT.to_owned(),
            is_part: false,
            offset: 0,
            length: None,
            lines: None,
            search: None,
        })
    }

    /// Parses a URI.
    pub(super) fn from_uri(uri: &str) -> Result<Self, String> {
        let rest = uri.strip_prefix(PREFIX).unwrap_or(uri);
        let (id, said) = rest.split_once('?').unwrap_or((rest, ""));
        let mut query = Self::new(id)?;
        let pairs = url::form_urlencoded::parse(said.as_bytes()).into_owned();
        query.apply_options(&pairs.collect::<Vec<_>>())?;
        Ok(query)
    }

    /// Parses the arguments of a tool. Its URI may contain options too.
    pub(super) fn from_arguments(arguments: &[u8]) -> Result<Self, String> {
        let named =
            scan::member_text(arguments, "uri").or_else(|| scan::member_text(arguments, "id"));
        let named =
            named.ok_or("`uri` is missing: pass the URI that the shortened result names")?;
        let mut query = Self::from_uri(&named)?;
        let mut pairs = Vec::new();
        for word in WORDS {
            let Some(raw) = scan::member(arguments, word).map(|at| at.slice(arguments)) else {
                continue;
            };
            match (raw, string::decode(raw)) {
                (b"null", _) => {}
                (_, Some(text)) => pairs.push((word.to_owned(), text.into_owned())),
                _ => pairs.push((word.to_owned(), String::from_utf8_lossy(raw).into_owned())),
            }
        }
        query.apply_options(&pairs)?;
        Ok(query)
    }

    fn apply_options(&mut self, pairs: &[(String, String)]) -> Result<(), String> {
        let said = |wanted: &str| {
            pairs.iter().rev().find(|(word, _)| word == wanted).map(|(_, value)| value.as_str())
        };
        if let Some((word, _)) = pairs.iter().find(|(word, _)| !WORDS.contains(&word.as_str())) {
            return Err(format!("unknown option `{word}`; known options: {}", WORDS.join(", ")));
        }
        if let Some(offset) = said("offset") {
            self.offset = number("offset", offset)?;
        }
        if let Some(length) = said("length") {
            self.length = Some(number("length", length)?.max(1));
        }
        if let Some(lines) = said("lines") {
            self.lines = Some(range(lines)?);
        }
        match said("form") {
            None => {}
            Some(form @ (TEXT | RAW | STRUCTURED)) => self.section = form.to_owned(),
            Some(other) => {
                return Err(format!("`form` must be {TEXT}, {STRUCTURED} or {RAW}, got {other:?}"));
            }
        }
        if let Some(wanted) = said("part") {
            let wanted = number("part", wanted)?;
            self.section = part(usize::try_from(wanted).unwrap_or(usize::MAX));
            self.is_part = true;
        }
        if let Some(text) = said("search") {
            if text.is_empty() || text.len() > 1000 {
                return Err("`search` must have 1 to 1000 bytes".to_owned());
            }
            let context = said("context").map(|context| number("context", context)).transpose()?;
            let context = context.unwrap_or(CONTEXT).min(CONTEXT_AT_MOST);
            let exact = matches!(said("case"), Some("true" | "1" | "exact"));
            self.search = Some(ResultTextSearch { text: text.to_owned(), context, exact });
        }
        Ok(())
    }
}

fn number(word: &str, value: &str) -> Result<u64, String> {
    value.trim().parse().map_err(|_| format!("`{word}` must be a whole number, got {value:?}"))
}

/// Parses `A-B`, `A-` or `A`, counted from 1.
fn range(value: &str) -> Result<(u64, u64), String> {
    let (from, to) = value.split_once('-').unwrap_or((value, value));
    let from = number("lines", from)?.max(1);
    let to = if to.trim().is_empty() { u64::MAX } else { number("lines", to)? };
    match from <= to {
        true => Ok((from, to)),
        false => Err(format!("`lines` must be a range such as 1-100, got {value:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_says_what_is_wanted() {
        let query = ResultQuery::from_uri("toolgate://results/abc?offset=7&length=9").unwrap();
        assert_eq!((query.offset, query.length, &*query.section), (7, Some(9), TEXT));
        let query = ResultQuery::from_uri("toolgate://results/abc?lines=3-5&form=raw").unwrap();
        assert_eq!((query.lines, &*query.section), (Some((3, 5)), RAW));
        let query =
            ResultQuery::from_uri("toolgate://results/abc?search=two+w%C3%B6rds%21").unwrap();
        assert_eq!(query.search.unwrap().text, "two wörds!");
        assert_eq!(
            ResultQuery::from_uri("toolgate://results/abc?lines=4-").unwrap().lines,
            Some((4, u64::MAX))
        );
        assert!(ResultQuery::from_uri("toolgate://results/abc?part=2").unwrap().is_part);
    }

    #[test]
    fn arguments_say_the_same() {
        let by_uri = ResultQuery::from_uri("toolgate://results/abc?offset=7&search=x").unwrap();
        for arguments in [
            r#"{"uri":"toolgate://results/abc","offset":7,"search":"x"}"#,
            r#"{"id":"abc","offset":"7","search":"x","lines":null}"#,
            r#"{"uri":"toolgate://results/abc?offset=1","offset":7,"search":"x"}"#,
        ] {
            assert_eq!(ResultQuery::from_arguments(arguments.as_bytes()).unwrap(), by_uri);
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (uri, why) in [
            ("toolgate://results/", "<id>"),
            ("toolgate://results/a/../b", "<id>"),
            ("toolgate://results/a?ofset=1", "unknown option `ofset`"),
            ("toolgate://results/a?offset=-1", "`offset` must be a whole number"),
            ("toolgate://results/a?lines=5-2", "such as 1-100"),
            ("toolgate://results/a?form=pdf", "`form` must be text"),
            ("toolgate://results/a?search=", "1 to 1000"),
        ] {
            let error = ResultQuery::from_uri(uri).unwrap_err();
            assert!(error.contains(why), "{uri}: {error}");
        }
        assert!(ResultQuery::from_arguments(b"{}").unwrap_err().contains("`uri` is missing"));
    }
}
