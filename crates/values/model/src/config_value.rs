//! A value of a configuration file, without its position.
//!
//! It carries settings that Toolgate itself does not use, and values about to be written. Key order
//! and number spelling survive; comments and layout do not.

/// One value of a configuration file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ConfigValue {
    /// `null`.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, as spelled.
    Decimal(String),
    /// A text.
    Text(String),
    /// A list of values.
    List(Vec<ConfigValue>),
    /// Key-value pairs, in order.
    Table(Vec<(String, ConfigValue)>),
}

impl std::fmt::Display for ConfigValue {
    /// Writes the value for display, similar to JSON.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(flag) => write!(f, "{flag}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Decimal(spelled) => f.write_str(spelled),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(items) => {
                f.write_str("[")?;
                for (at, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Table(fields) => {
                f.write_str("{")?;
                for (at, (key, value)) in fields.iter().enumerate() {
                    write!(f, "{}{key:?}: {value}", if at == 0 { "" } else { ", " })?;
                }
                f.write_str("}")
            }
        }
    }
}

impl ConfigValue {
    /// Makes a text value.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Makes a list of texts.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// Returns the value of a key if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Table(members) => members.iter().find(|(name, _)| name == key).map(|(_, it)| it),
            _ => None,
        }
    }
}
