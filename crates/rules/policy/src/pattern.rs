//! What a rule is about: the ways its text can be read, and whether a capability is meant.
//!
//! A text that runs a server's and a tool's name together can be read in several ways. A rule that
//! refuses or asks means all of them; which one a rule means that allows is settled in `known`, by
//! the servers there are, and where that cannot be settled it means none.

use std::cell::OnceCell;

use toolgate_model::{CapabilityId, CapabilityKind, ServerName};

use crate::glob::Glob;

/// All ways to read a rule's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub readings: Vec<Reading>,
}

/// One way to read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A server by its own name, and what of it.
    Pair { server: Glob, name: Option<Glob>, kinds: Kinds },
    /// A server by the name that a host makes of it, and everything of it.
    Made { server: Glob, join: Join },
    /// The name that a host makes of server and tool.
    Joined { whole: Glob, join: Join, only: Option<ServerName> },
    /// A tag or anything below it.
    Tag(Vec<Glob>),
    /// Whatever there is: a rule that could not be read.
    Everything(Kinds),
}

/// Kinds of capabilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kinds {
    All,
    Tools,
    Resources,
    Prompts,
    Methods,
}

impl Kinds {
    pub fn has(self, kind: CapabilityKind) -> bool {
        match self {
            Self::All => true,
            // An extension's method is called as a tool is. A rule that allows means a method only
            // where it says so (`Rule::is_about`).
            Self::Tools => matches!(kind, CapabilityKind::Tool | CapabilityKind::Method),
            Self::Resources => matches!(kind, CapabilityKind::Resource | CapabilityKind::Template),
            Self::Prompts => kind == CapabilityKind::Prompt,
            Self::Methods => kind == CapabilityKind::Method,
        }
    }

    /// Whether it has every kind that another has.
    pub fn contains(self, other: Self) -> bool {
        self == other || self == Self::All || (self, other) == (Self::Tools, Self::Methods)
    }

    /// What a rule about these begins with.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::All | Self::Tools => "mcp",
            Self::Resources => "resource",
            Self::Prompts => "prompt",
            Self::Methods => "method",
        }
    }
}

/// How a host joins the name of a server and that of its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// `server_tool`, with `_` for whatever else than letters, digits and `_` stands in the server's
    /// name.
    Single,
    /// `server__tool`, with `_` for whatever else than letters, digits, `_` and `-`.
    Double,
}

impl Join {
    pub fn between(self) -> &'static str {
        match self {
            Self::Single => "_",
            Self::Double => "__",
        }
    }

    /// A name as a host writes it. Hosts in JavaScript write one `_` for each UTF-16 unit.
    pub fn made(self, name: &str) -> String {
        let kept = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let mut made = String::with_capacity(name.len());
        for c in name.chars() {
            match self {
                _ if kept(c) => made.push(c),
                Self::Double if c == '-' => made.push(c),
                Self::Double => made.extend(std::iter::repeat_n('_', c.len_utf16())),
                Self::Single => made.push('_'),
            }
        }
        made
    }
}

/// A capability, with the names that hosts would make of it.
pub(crate) struct Named<'a> {
    pub id: &'a CapabilityId,
    pub tags: &'a [String],
    /// The server's name as hosts make it, for each way to join. Few rules ask for it.
    made: OnceCell<[String; 2]>,
    joined: OnceCell<[[String; 3]; 2]>,
}

impl<'a> Named<'a> {
    pub fn new(id: &'a CapabilityId, tags: &'a [String]) -> Self {
        Self { id, tags, made: OnceCell::new(), joined: OnceCell::new() }
    }

    /// The server's name as a host makes it.
    pub fn made(&self, join: Join) -> &str {
        let made = || [Join::Single, Join::Double].map(|join| join.made(self.id.server.as_str()));
        &self.made.get_or_init(made)[join as usize]
    }

    /// Names that may be written for it: both as they are; the server's as a host makes it; both as
    /// a host makes them.
    pub fn joined(&self, join: Join) -> &[String; 3] {
        let made = |join: Join| {
            let CapabilityId { server, name, .. } = self.id;
            let (made, between) = (self.made(join), join.between());
            [
                format!("{server}{between}{name}"),
                format!("{made}{between}{name}"),
                format!("{made}{between}{}", join.made(name)),
            ]
        };
        &self.joined.get_or_init(|| [Join::Single, Join::Double].map(made))[join as usize]
    }
}

impl Reading {
    /// Whether it says that it is about methods.
    pub fn names_methods(&self) -> bool {
        matches!(self, Self::Pair { kinds: Kinds::Methods, .. })
    }

    pub fn fits(&self, named: &Named<'_>) -> bool {
        let CapabilityId { server, kind, name } = named.id;
        match self {
            Self::Pair { server: wanted, name: part, kinds } => {
                kinds.has(*kind)
                    && wanted.fits(server.as_str())
                    && part.as_ref().is_none_or(|part| part.fits(name))
            }
            Self::Made { server: wanted, join } => {
                wanted.fits(server.as_str()) || wanted.fits(named.made(*join))
            }
            Self::Joined { whole, join, only } => {
                Kinds::Tools.has(*kind)
                    && match (only, named.joined(*join)) {
                        (Some(only), [own, made, _]) => {
                            only == server && (whole.fits(own) || whole.fits(made))
                        }
                        (None, names) => names.iter().any(|name| whole.fits(name)),
                    }
            }
            Self::Tag(parts) => named.tags.iter().any(|tag| is_below(parts, tag)),
            Self::Everything(kinds) => kinds.has(*kind),
        }
    }
}

/// Whether a tag is one that the parts name, or below it. Parts are compared whole.
pub(crate) fn is_below(parts: &[Glob], tag: &str) -> bool {
    let mut below = tag.split('.');
    parts.iter().all(|part| below.next().is_some_and(|name| part.fits(name)))
}
