//! A piece of a document without its place: what a config file says, kept as it was said.
//!
//! It carries what a dialect writes that Toolgate itself does not use, and what is about to be
//! written. Order of keys and the spelling of numbers survive; comments and layout do not, they
//! belong to the text.

/// One value of a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Data {
    /// Nothing.
    Null,
    /// True or false.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, as it is spelled.
    Fraction(String),
    /// A text.
    Text(String),
    /// Several values.
    List(Vec<Data>),
    /// Values by their keys, in order.
    Table(Vec<(String, Data)>),
}

impl std::fmt::Display for Data {
    /// For people, much as JSON has it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Fraction(spelled) => f.write_str(spelled),
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

impl Data {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// A list of texts.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Self {
        Self::List(texts.into_iter().map(Self::text).collect())
    }

    /// The value of a key, if this is a table that has it.
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Table(members) => members.iter().find(|(name, _)| name == key).map(|(_, it)| it),
            _ => None,
        }
    }
}
