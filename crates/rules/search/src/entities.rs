//! Recognizes values in a request by their form: URLs, file names, channels. They are arguments for
//! a tool, and their kind suggests which tool.

use std::ops::Range;

/// A value of a known form.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QueryEntity {
    /// The byte range in the request.
    pub(crate) range: Range<usize>,
    /// Words that describe what the value is.
    pub(crate) related_words: &'static [&'static str],
}

/// File name extensions, and words for such files.
const FILES: &[(&[&str], &[&str])] = &[
    (&["pdf"], &["pdf", "file", "document"]),
    (&["doc", "docx", "odt", "rtf"], &["document", "file", "word"]),
    (&["xls", "xlsx", "ods"], &["spreadsheet", "excel", "file"]),
    (&["csv", "tsv"], &["csv", "file", "table", "data"]),
    (&["ppt", "pptx", "key"], &["presentation", "slide", "file"]),
    (&["png", "jpg", "jpeg", "gif", "webp", "bmp", "svg", "heic", "tiff"], &["image", "file"]),
    (&["mp3", "wav", "flac", "ogg", "m4a"], &["audio", "file"]),
    (&["mp4", "mov", "avi", "mkv", "webm"], &["video", "file"]),
    (&["zip", "tar", "gz", "tgz", "7z", "rar"], &["archive", "file"]),
    (&["db", "sqlite", "sql"], &["database", "sql", "file"]),
    (&["html", "htm"], &["html", "page", "file"]),
    (&["txt", "md", "log", "json", "yaml", "yml", "toml", "xml", "ini", "cfg", "env"], &["file"]),
    (&["rs", "py", "js", "ts", "go", "java", "c", "cpp", "h", "rb", "sh"], &["file", "code"]),
];

/// Top-level domains of host names that people type without a scheme.
const HOSTS: &[&str] = &[
    "com", "org", "net", "io", "dev", "app", "ai", "co", "de", "fr", "uk", "es", "it", "nl", "eu",
    "gov", "edu", "info", "me", "tv", "xyz", "ch", "at", "pl", "ru", "cn", "jp", "in", "br", "ca",
    "us", "shop",
];

/// Finds all values of known form in a request, in order.
pub(crate) fn find(text: &str) -> Vec<QueryEntity> {
    let mut found = Vec::new();
    let mut start = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let trimmed = piece.trim_matches(|c: char| {
            c.is_whitespace()
                || matches!(c, '"' | '\'' | '(' | ')' | ',' | ';' | '!' | '?' | '`' | '<' | '>')
        });
        let trimmed = trimmed.trim_end_matches(['.', ':']);
        if let Some(points_to) = entity_words(trimmed)
            && let Some(at) = piece.find(trimmed)
        {
            let begin = start + at;
            found.push(QueryEntity {
                range: begin..begin + trimmed.len(),
                related_words: points_to,
            });
        }
        start += piece.len();
    }
    found
}

fn entity_words(word: &str) -> Option<&'static [&'static str]> {
    if word.starts_with("http://") || word.starts_with("https://") || word.starts_with("www.") {
        return Some(&["url", "page", "website"]);
    }
    if let Some((name, host)) = word.split_once('@') {
        let address = !name.is_empty() && host.contains('.');
        return match address {
            true => Some(&["email"]),
            false if name.is_empty() && host.len() > 1 => Some(&["user"]),
            false => None,
        };
    }
    if let Some(tag) = word.strip_prefix('#') {
        let number = !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_digit());
        return match number {
            true => Some(&["issue", "number"]),
            false if tag.len() > 1 && tag.starts_with(char::is_alphabetic) => Some(&["channel"]),
            false => None,
        };
    }
    if is_hash(word) {
        return Some(&["commit", "hash"]);
    }
    if let Some(amount) = word.strip_prefix(['$', '€', '£'])
        && amount.starts_with(|c: char| c.is_ascii_digit())
    {
        return Some(&["price", "amount"]);
    }
    file(word).or_else(|| path(word)).or_else(|| numbers(word)).or_else(|| host(word))
}

fn is_hash(word: &str) -> bool {
    let hex = word.bytes().all(|byte| byte.is_ascii_hexdigit());
    let mixed = word.bytes().any(|byte| byte.is_ascii_digit())
        && word.bytes().any(|byte| byte.is_ascii_alphabetic());
    hex && mixed && (7..=64).contains(&word.len())
}

/// Recognizes a host name without a scheme.
fn host(word: &str) -> Option<&'static [&'static str]> {
    let (name, ending) = word.split('/').next()?.rsplit_once('.')?;
    let named = name.len() > 1 && name.starts_with(|c: char| c.is_ascii_alphanumeric());
    let known = HOSTS.contains(&ending.to_ascii_lowercase().as_str());
    (named && known).then_some(&["website", "page", "url", "domain"] as &[_])
}

fn file(word: &str) -> Option<&'static [&'static str]> {
    let (name, ending) = word.rsplit_once('.')?;
    if name.is_empty() || ending.is_empty() {
        return None;
    }
    let ending = ending.to_ascii_lowercase();
    let row = FILES.iter().find(|(endings, _)| endings.contains(&ending.as_str()))?;
    Some(row.1)
}

fn path(word: &str) -> Option<&'static [&'static str]> {
    let rooted = ["/", "./", "../", "~/"].iter().any(|root| word.starts_with(root));
    (rooted && word.len() > 2 && !word.ends_with('/'))
        .then_some(&["path", "file"] as &[_])
        .or_else(|| (rooted && word.len() > 2).then_some(&["path", "directory"] as &[_]))
}

/// Recognizes IP addresses, coordinates and dates.
fn numbers(word: &str) -> Option<&'static [&'static str]> {
    let parts = |sign: char| -> Option<Vec<&str>> {
        let parts: Vec<&str> = word.split(sign).collect();
        let digits = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        parts.iter().all(digits).then_some(parts)
    };
    if parts('.').is_some_and(|parts| parts.len() == 4) {
        return Some(&["ip", "address"]);
    }
    if parts('-').or_else(|| parts('/')).is_some_and(|parts| parts.len() == 3) {
        return Some(&["date"]);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pointed(text: &str) -> Vec<&'static str> {
        find(text).iter().map(|entity| entity.related_words[0]).collect()
    }

    #[test]
    fn forms_are_told_apart() {
        assert_eq!(pointed("open https://example.com/a?b=c."), ["url"]);
        assert_eq!(pointed("write to ann@example.com, please"), ["email"]);
        assert_eq!(pointed("ask @ann in #general about #12"), ["user", "channel", "issue"]);
        assert_eq!(pointed("what changed in 1a2b3c4d?"), ["commit"]);
        assert_eq!(pointed("read report.PDF and ./src/main.rs"), ["pdf", "file"]);
        assert_eq!(pointed("list ~/music/"), ["path"]);
        assert_eq!(pointed("where is 192.0.2.1 on 2024-11-05 for $20"), ["ip", "date", "price"]);
        assert!(pointed("nothing of this kind. Not even 3.5 or e.g. this").is_empty());
    }
}
