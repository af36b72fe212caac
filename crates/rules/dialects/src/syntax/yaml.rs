//! Parses YAML into the common tree, following the core schema of YAML 1.2.
//!
//! Aliases are resolved and `<<` merges tables, both within limits: a small text that would expand
//! to a huge tree is a syntax error, not a hang. Tags are ignored except `!!str`. A text with
//! several documents is rejected, because it is unclear which one counts.

pub(crate) mod node;
pub(crate) mod scalar;

use std::collections::HashMap;

use self::node::{YamlNode, YamlNodeKind};
use crate::common::tree::{SyntaxError, TreeMember, TreeNode, TreeValue};

/// The maximum nesting depth.
const DEEPEST: usize = 64;
/// The maximum number of values after resolving aliases.
const MOST: usize = 100_000;

/// Parses a whole document; an empty one has no members.
pub(crate) fn parse(text: &str) -> Result<Vec<TreeMember>, SyntaxError> {
    match node::parse(text)? {
        Some(root) => members(&root),
        None => Ok(Vec::new()),
    }
}

/// Returns the members of a document with aliases resolved.
pub(crate) fn members(root: &YamlNode) -> Result<Vec<TreeMember>, SyntaxError> {
    let node = YamlAliasResolver::default().node(root, 0)?.node;
    match node.value {
        TreeValue::Table(members) => Ok(members),
        TreeValue::Null => Ok(Vec::new()),
        other => Err(SyntaxError {
            at: node.at,
            message: format!("expected a table, found {}", other.kind()),
        }),
    }
}

/// A part of the tree, with its size.
#[derive(Clone)]
struct ResolvedYamlNode {
    node: TreeNode,
    size: usize,
    height: usize,
}

/// Resolves the aliases of a document, within limits.
#[derive(Default)]
struct YamlAliasResolver {
    anchors: HashMap<usize, ResolvedYamlNode>,
    node_count: usize,
}

impl YamlAliasResolver {
    fn node(&mut self, raw: &YamlNode, depth: usize) -> Result<ResolvedYamlNode, SyntaxError> {
        let at = raw.start;
        let built = match &raw.kind {
            YamlNodeKind::Alias(anchor) => return self.alias(*anchor, at, depth),
            YamlNodeKind::Scalar { text, plain } => {
                let value = match *plain && !raw.is_text {
                    true => scalar::value(text),
                    false => TreeValue::Text(text.clone()),
                };
                ResolvedYamlNode { node: TreeNode { at, value }, size: 1, height: 1 }
            }
            YamlNodeKind::List { items, .. } => self.list(at, items, depth)?,
            YamlNodeKind::Table { members, .. } => self.table(at, members, depth)?,
        };
        self.check_limits(1, depth + built.height, at)?;
        if raw.anchor > 0 {
            self.anchors.insert(raw.anchor, built.clone());
        }
        Ok(built)
    }

    fn check_limits(&mut self, more: usize, depth: usize, at: usize) -> Result<(), SyntaxError> {
        self.node_count += more;
        let message = match (self.node_count > MOST, depth > DEEPEST) {
            (true, _) => format!("aliases expand to more than {MOST} values"),
            (_, true) => format!("values are nested more than {DEEPEST} deep"),
            _ => return Ok(()),
        };
        Err(SyntaxError { at, message })
    }

    /// Returns the value of an anchor, at the position of the alias.
    fn alias(
        &mut self,
        anchor: usize,
        at: usize,
        depth: usize,
    ) -> Result<ResolvedYamlNode, SyntaxError> {
        let Some(ResolvedYamlNode { size, height, .. }) = self.anchors.get(&anchor) else {
            let message = "an alias is inside the value that it refers to".to_owned();
            return Err(SyntaxError { at, message });
        };
        let (size, height) = (*size, *height);
        self.check_limits(size, depth + height, at)?;
        let mut built = self.anchors[&anchor].clone();
        built.node.at = at;
        Ok(built)
    }

    fn list(
        &mut self,
        at: usize,
        items: &[YamlNode],
        depth: usize,
    ) -> Result<ResolvedYamlNode, SyntaxError> {
        let (mut size, mut height) = (1, 1);
        let mut nodes = Vec::with_capacity(items.len());
        for item in items {
            let built = self.node(item, depth + 1)?;
            size += built.size;
            height = height.max(built.height + 1);
            nodes.push(built.node);
        }
        Ok(ResolvedYamlNode { node: TreeNode { at, value: TreeValue::List(nodes) }, size, height })
    }

    fn table(
        &mut self,
        at: usize,
        pairs: &[(YamlNode, YamlNode)],
        depth: usize,
    ) -> Result<ResolvedYamlNode, SyntaxError> {
        let (mut size, mut height) = (1, 1);
        let (mut members, mut taken) = (Vec::with_capacity(pairs.len()), Vec::new());
        for (key, value) in pairs {
            let is_merge = key.is_merge();
            let name = self.key(key, depth + 1)?;
            let built = self.node(value, depth + 1)?;
            size += built.size;
            height = height.max(built.height + 1);
            match is_merge {
                true => taken.extend(merged_members(built.node)?),
                false => members.push(TreeMember { key: name, at: key.start, node: built.node }),
            }
        }
        // Fields of the table itself take precedence over merged fields, and earlier sources over
        // later ones.
        for member in taken {
            if members.iter().all(|own: &TreeMember| own.key != member.key) {
                members.push(member);
            }
        }
        Ok(ResolvedYamlNode {
            node: TreeNode { at, value: TreeValue::Table(members) },
            size,
            height,
        })
    }

    /// Returns the text of a key, even if the key would be a number or another type as a value.
    fn key(&mut self, key: &YamlNode, depth: usize) -> Result<String, SyntaxError> {
        if let YamlNodeKind::Scalar { text, .. } = &key.kind {
            self.node(key, depth)?;
            return Ok(text.clone());
        }
        match self.node(key, depth)?.node.value {
            TreeValue::Text(text) => Ok(text),
            TreeValue::Flag(flag) => Ok(flag.to_string()),
            TreeValue::Integer(number) => Ok(number.to_string()),
            TreeValue::Fraction(spelled) | TreeValue::Other(_, spelled) => Ok(spelled),
            TreeValue::Null => Ok("null".to_owned()),
            other => {
                let message = format!("a key is {}, not a scalar", other.kind());
                Err(SyntaxError { at: key.start, message })
            }
        }
    }
}

/// Returns the members that `<<` merges: those of one table, or of several.
fn merged_members(node: TreeNode) -> Result<Vec<TreeMember>, SyntaxError> {
    match node.value {
        TreeValue::Table(members) => Ok(members),
        TreeValue::List(items) => {
            let taken: Result<Vec<_>, _> = items.into_iter().map(merged_members).collect();
            Ok(taken?.into_iter().flatten().collect())
        }
        other => {
            let message = format!("`<<` takes a table, found {}", other.kind());
            Err(SyntaxError { at: node.at, message })
        }
    }
}

#[cfg(test)]
mod tests;
