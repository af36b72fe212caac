//! The subject of a rule: how its text can be read, and which capabilities it matches.
//!
//! A text that joins the names of a server and a tool can be read in several ways. A rule that
//! denies or asks covers all readings. For a rule that allows, `resolution` picks one reading by
//! the known servers; if that fails, the rule covers none.

use std::cell::OnceCell;

use toolgate_model::{CapabilityId, CapabilityKind, ServerName};

use crate::glob::Glob;

/// All readings of a rule's subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RulePattern {
    pub readings: Vec<PatternReading>,
}

/// One reading of a rule's subject.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PatternReading {
    /// A server by its own name, and a name on it.
    Pair { server: Glob, name: Option<Glob>, kinds: CapabilityKinds },
    /// A whole server, by the name that a host makes of it.
    HostServerName { server: Glob, join: NameSeparator },
    /// The name that a host makes of server and tool.
    JoinedName { whole: Glob, join: NameSeparator, only: Option<ServerName> },
    /// A tag or any tag below it.
    Tag(Vec<Glob>),
    /// Everything: the subject could not be parsed.
    Everything(CapabilityKinds),
}

/// The kinds of capabilities that a reading covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CapabilityKinds {
    All,
    Tools,
    Resources,
    Prompts,
    Methods,
}

impl CapabilityKinds {
    pub fn has(self, kind: CapabilityKind) -> bool {
        match self {
            Self::All => true,
            // Extension methods count as tools. A rule that allows covers a method only if it names
            // methods (`Rule::is_about`).
            Self::Tools => matches!(kind, CapabilityKind::Tool | CapabilityKind::Method),
            Self::Resources => matches!(kind, CapabilityKind::Resource | CapabilityKind::Template),
            Self::Prompts => kind == CapabilityKind::Prompt,
            Self::Methods => kind == CapabilityKind::Method,
        }
    }

    /// Returns true if it includes every kind of `other`.
    pub fn contains(self, other: Self) -> bool {
        self == other || self == Self::All || (self, other) == (Self::Tools, Self::Methods)
    }

    /// Returns the prefix of a rule for these kinds.
    pub fn prefix(self) -> &'static str {
        match self {
            Self::All | Self::Tools => "mcp",
            Self::Resources => "resource",
            Self::Prompts => "prompt",
            Self::Methods => "method",
        }
    }
}

/// How a host joins the names of a server and its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameSeparator {
    /// `server_tool`; in the server's name, `_` replaces everything but letters, digits and `_`.
    Single,
    /// `server__tool`; `_` replaces everything but letters, digits, `_` and `-`.
    Double,
}

impl NameSeparator {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Single => "_",
            Self::Double => "__",
        }
    }

    /// Returns a name as a host writes it. Hosts written in JavaScript use one `_` per UTF-16 code
    /// unit.
    pub fn sanitize(self, name: &str) -> String {
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

/// A capability with the names that hosts make of it.
pub(crate) struct NamedCapability<'a> {
    pub id: &'a CapabilityId,
    pub tags: &'a [String],
    /// The server's name as hosts write it, for each separator. Few rules need it.
    host_server_names: OnceCell<[String; 2]>,
    joined_names: OnceCell<[[String; 3]; 2]>,
}

impl<'a> NamedCapability<'a> {
    pub fn new(id: &'a CapabilityId, tags: &'a [String]) -> Self {
        Self { id, tags, host_server_names: OnceCell::new(), joined_names: OnceCell::new() }
    }

    /// Returns the server's name as a host writes it.
    pub fn host_server_name(&self, join: NameSeparator) -> &str {
        let made = || {
            [NameSeparator::Single, NameSeparator::Double]
                .map(|join| join.sanitize(self.id.server.as_str()))
        };
        &self.host_server_names.get_or_init(made)[join as usize]
    }

    /// Returns the joined names for it: both parts unchanged; the server's part as a host writes
    /// it; both parts as a host writes them.
    pub fn joined_names(&self, join: NameSeparator) -> &[String; 3] {
        let made = |join: NameSeparator| {
            let CapabilityId { server, name, .. } = self.id;
            let (made, between) = (self.host_server_name(join), join.as_str());
            [
                format!("{server}{between}{name}"),
                format!("{made}{between}{name}"),
                format!("{made}{between}{}", join.sanitize(name)),
            ]
        };
        &self.joined_names.get_or_init(|| [NameSeparator::Single, NameSeparator::Double].map(made))
            [join as usize]
    }
}

impl PatternReading {
    /// Returns true if the reading names methods.
    pub fn names_methods(&self) -> bool {
        matches!(self, Self::Pair { kinds: CapabilityKinds::Methods, .. })
    }

    /// Returns true if the reading can match something of a server, whatever its tags.
    pub fn may_match_server(&self, server: &ServerName) -> bool {
        let own = server.as_str();
        match self {
            Self::Pair { server: wanted, .. } => wanted.matches(own),
            Self::HostServerName { server: wanted, join } => {
                wanted.matches(own) || wanted.matches(&join.sanitize(own))
            }
            Self::JoinedName { whole, join, .. } => [own, &*join.sanitize(own)]
                .iter()
                .any(|name| whole.may_match_prefix(&format!("{name}{}", join.as_str()))),
            Self::Tag(_) | Self::Everything(_) => true,
        }
    }

    pub fn matches(&self, named: &NamedCapability<'_>) -> bool {
        let CapabilityId { server, kind, name } = named.id;
        match self {
            Self::Pair { server: wanted, name: part, kinds } => {
                kinds.has(*kind)
                    && wanted.matches(server.as_str())
                    && part.as_ref().is_none_or(|part| part.matches(name))
            }
            Self::HostServerName { server: wanted, join } => {
                wanted.matches(server.as_str()) || wanted.matches(named.host_server_name(*join))
            }
            Self::JoinedName { whole, join, only } => {
                CapabilityKinds::Tools.has(*kind)
                    && match (only, named.joined_names(*join)) {
                        (Some(only), [own, made, _]) => {
                            only == server && (whole.matches(own) || whole.matches(made))
                        }
                        (None, names) => names.iter().any(|name| whole.matches(name)),
                    }
            }
            Self::Tag(parts) => named.tags.iter().any(|tag| is_below(parts, tag)),
            Self::Everything(kinds) => kinds.has(*kind),
        }
    }
}

/// Returns true if a tag equals the tag that `parts` name, or is below it. Parts are compared as a
/// whole.
pub(crate) fn is_below(parts: &[Glob], tag: &str) -> bool {
    let mut below = tag.split('.');
    parts.iter().all(|part| below.next().is_some_and(|name| part.matches(name)))
}
