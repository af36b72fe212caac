//! The name a server is declared under, as people type and read it.
//!
//! Agents see other names: `rules/naming` derives exposed names from it.

use std::fmt;
use std::sync::Arc;

use crate::{CodedError, ErrorCode, is_invisible};

/// The longest server name, in bytes.
const MAX_BYTES: usize = 128;

/// The declared name of a server. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerName(Arc<str>);

/// The reason why a text cannot be a server name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerNameError {
    /// The name is empty or only white space.
    #[error("cannot use an empty server name")]
    Empty,
    /// The name is too long.
    #[error("cannot use a server name of {0} bytes (the limit is {MAX_BYTES})")]
    TooLong(usize),
    /// The name contains a character that is invisible or changes how its neighbours look.
    #[error("cannot use a server name with the invisible character U+{0:04X}")]
    Invisible(u32),
}

impl CodedError for ServerNameError {
    fn code(&self) -> ErrorCode {
        ErrorCode::ConfigServerName
    }

    fn hint(&self) -> Option<String> {
        Some("use a short name of letters, digits, `-` and `_`".to_owned())
    }
}

impl ServerName {
    /// Checks `text` and makes it a name.
    pub fn new(text: &str) -> Result<Self, ServerNameError> {
        if text.trim().is_empty() {
            return Err(ServerNameError::Empty);
        }
        if text.len() > MAX_BYTES {
            return Err(ServerNameError::TooLong(text.len()));
        }
        match text.chars().find(|c| is_invisible(*c)) {
            Some(c) => Err(ServerNameError::Invisible(c as u32)),
            None => Ok(Self(text.into())),
        }
    }

    /// Returns the name as written.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ServerName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, f)
    }
}

impl serde::Serialize for ServerName {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_names_are_kept_as_written() {
        for text in ["git", "My Server", "@scope/pkg", "zażółć"] {
            assert_eq!(ServerName::new(text).unwrap().as_str(), text);
        }
    }

    #[test]
    fn unusable_names_say_why() {
        assert_eq!(ServerName::new(" "), Err(ServerNameError::Empty));
        assert_eq!(ServerName::new("a\u{202e}b"), Err(ServerNameError::Invisible(0x202e)));
        assert_eq!(ServerName::new("a\nb"), Err(ServerNameError::Invisible(0x0a)));
        assert_eq!(ServerName::new(&"x".repeat(129)), Err(ServerNameError::TooLong(129)));
    }
}
