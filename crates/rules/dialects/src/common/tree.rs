//! The common tree of TOML, JSON and YAML documents, in which every node has its position.
//!
//! Readers use only this tree, so they do not depend on the syntax. Key order, duplicate keys and
//! the spelling of fractions are kept.

use toolgate_model::ConfigValue;

/// A value and the offset where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TreeNode {
    /// Byte offset into the text.
    pub at: usize,
    pub value: TreeValue,
}

/// A key with its offset and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TreeMember {
    pub key: String,
    pub at: usize,
    pub node: TreeNode,
}

/// A value of a document.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TreeValue {
    Null,
    Flag(bool),
    Integer(i64),
    /// A number that is not an integer, as written.
    Fraction(String),
    /// A value that no field accepts, such as a date: its kind, and its text as written.
    Other(&'static str, String),
    Text(String),
    List(Vec<TreeNode>),
    Table(Vec<TreeMember>),
}

impl TreeValue {
    /// Returns the kind of the value for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Flag(_) => "a boolean",
            Self::Integer(_) => "a number",
            Self::Fraction(_) => "a fractional number",
            Self::Other(kind, _) => kind,
            Self::Text(_) => "a string",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl TreeNode {
    /// Returns the members of a table.
    pub fn table(&self) -> Option<&[TreeMember]> {
        match &self.value {
            TreeValue::Table(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the items of a list.
    pub fn list(&self) -> Option<&[TreeNode]> {
        match &self.value {
            TreeValue::List(items) => Some(items),
            _ => None,
        }
    }

    /// Returns a string.
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            TreeValue::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns true if this is a table with this `name`.
    pub fn is_named(&self, name: &str) -> bool {
        self.field("name").and_then(Self::text) == Some(name)
    }

    /// Returns a field of a table.
    pub fn field(&self, key: &str) -> Option<&TreeNode> {
        find(self.table()?, key)
    }

    /// Returns the value without positions.
    pub fn data(&self) -> ConfigValue {
        match &self.value {
            TreeValue::Null => ConfigValue::Null,
            TreeValue::Flag(flag) => ConfigValue::Bool(*flag),
            TreeValue::Integer(number) => ConfigValue::Integer(*number),
            TreeValue::Fraction(spelled) => ConfigValue::Decimal(spelled.clone()),
            TreeValue::Other(_, spelled) => ConfigValue::Text(spelled.clone()),
            TreeValue::Text(text) => ConfigValue::Text(text.clone()),
            TreeValue::List(items) => ConfigValue::List(items.iter().map(Self::data).collect()),
            TreeValue::Table(members) => ConfigValue::Table(
                members.iter().map(|it| (it.key.clone(), it.node.data())).collect(),
            ),
        }
    }
}

/// Returns the value of a key.
pub(crate) fn find<'t>(members: &'t [TreeMember], key: &str) -> Option<&'t TreeNode> {
    members.iter().find(|member| member.key == key).map(|member| &member.node)
}

/// Returns the table at a key.
pub(crate) fn find_table<'t>(members: &'t [TreeMember], key: &str) -> Option<&'t [TreeMember]> {
    find(members, key)?.table()
}

/// Returns the value at a path.
pub(crate) fn find_path<'t>(members: &'t [TreeMember], path: &[&str]) -> Option<&'t TreeNode> {
    let (first, rest) = path.split_first()?;
    rest.iter().try_fold(find(members, first)?, |node, key| node.field(key))
}

/// Why a text could not be parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    pub at: usize,
    pub message: String,
}
