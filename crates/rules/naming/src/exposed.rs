//! The exposed names of a set of capabilities, in both directions.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind, Prefix, ServerName};

use crate::assign::assign;
use crate::names::Named;
use crate::template;
use crate::uris::{Tags, looks_tagged};

/// How names are made.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Style {
    /// When a name carries the name of its server.
    pub prefix: Prefix,
    /// The server whose tools and prompts are the embedding program's own: they keep their bare
    /// names, and win over others of the same name.
    pub embedder: Option<ServerName>,
}

impl From<Prefix> for Style {
    fn from(prefix: Prefix) -> Self {
        Self { prefix, embedder: None }
    }
}

/// Every usable capability under the name agents see.
#[derive(Debug, Clone, Default)]
pub struct Exposed {
    names: HashMap<CapabilityId, Arc<str>>,
    /// One namespace per kind: a tool and a prompt may share a name.
    ids: [HashMap<Arc<str>, CapabilityId>; CapabilityKind::ALL.len()],
    tags: Tags,
    quarantined: Vec<(CapabilityId, String)>,
    notes: Vec<String>,
}

/// Whose a URI is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Located<'a> {
    /// One server's, under its own URI.
    At {
        /// The server.
        server: &'a ServerName,
        /// The URI as the server knows it.
        uri: Cow<'a, str>,
    },
    /// It fits templates of several servers, and no list has it; a tagged form would tell.
    Ambiguous(Vec<&'a ServerName>),
    /// Nobody lists it, and it fits no template.
    Nobody,
}

/// Makes the names of a set of capabilities, and tags for their servers and for others that may
/// send URIs without offering anything. No order matters.
pub fn expose(ids: &[CapabilityId], others: &[&ServerName], style: &Style) -> Exposed {
    let mut exposed = Exposed::default();
    let mut usable = BTreeSet::new();
    for id in ids.iter().collect::<BTreeSet<_>>() {
        match id.unusable() {
            Some(reason) => exposed.quarantined.push((id.clone(), reason)),
            None => drop(usable.insert(id)),
        }
    }
    let servers: BTreeSet<_> =
        ids.iter().map(|id| &id.server).chain(others.iter().copied()).collect();
    exposed.tags = Tags::of(&servers.into_iter().collect::<Vec<_>>());
    for kind in CapabilityKind::ALL {
        let of_kind: Vec<_> = usable.iter().copied().filter(|id| id.kind == kind).collect();
        match kind {
            CapabilityKind::Tool | CapabilityKind::Prompt => exposed.add_names(&of_kind, style),
            CapabilityKind::Resource | CapabilityKind::Template => exposed.add_uris(&of_kind),
        }
    }
    exposed
}

impl Exposed {
    /// The exposed name of a capability; `None` if it is not in the set or quarantined.
    pub fn name_of(&self, id: &CapabilityId) -> Option<&str> {
        self.names.get(id).map(|name| &**name)
    }

    /// The capability behind an exposed name.
    pub fn id_of(&self, kind: CapabilityKind, name: &str) -> Option<&CapabilityId> {
        self.ids[kind as usize].get(name)
    }

    /// Capabilities that have no name, each with the reason.
    pub fn quarantined(&self) -> &[(CapabilityId, String)] {
        &self.quarantined
    }

    /// What an operator should know about the names that were made.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// Whose a URI is: by a list, by a tag, else by templates.
    pub fn locate<'a>(&'a self, uri: &'a str) -> Located<'a> {
        if let Some(id) = self.id_of(CapabilityKind::Resource, uri) {
            return Located::At { server: &id.server, uri: Cow::Borrowed(&id.name) };
        }
        if let Some((server, raw)) = self.tags.untag(uri) {
            return Located::At { server, uri: raw };
        }
        let templates = self.ids[CapabilityKind::Template as usize].values();
        let fitting: BTreeSet<_> =
            templates.filter(|id| template::matches(&id.name, uri)).map(|id| &id.server).collect();
        let mut fitting: Vec<_> = fitting.into_iter().collect();
        match (fitting.pop(), fitting.is_empty()) {
            (None, _) => Located::Nobody,
            (Some(server), true) => Located::At { server, uri: Cow::Borrowed(uri) },
            (Some(last), false) => {
                fitting.push(last);
                Located::Ambiguous(fitting)
            }
        }
    }

    /// The form of a URI that leads to this server whatever others have; `None` for a server that is
    /// not in the set.
    pub fn tagged(&self, server: &ServerName, uri: &str) -> Option<String> {
        self.tags.tag(server, uri)
    }

    /// How a URI that a server sent is shown: in a result, a link or an update. It locates back to
    /// that server, if anything but a tag can.
    pub fn uri_of<'u>(&self, server: &ServerName, uri: &'u str) -> Cow<'u, str> {
        let id = CapabilityId {
            server: server.clone(),
            kind: CapabilityKind::Resource,
            name: uri.into(),
        };
        if let Some(name) = self.name_of(&id) {
            return if name == uri { Cow::Borrowed(uri) } else { Cow::Owned(name.to_owned()) };
        }
        let taken = match self.locate(uri) {
            Located::At { server: owner, .. } => owner != server,
            Located::Ambiguous(_) => true,
            Located::Nobody => looks_tagged(uri),
        };
        let tagged = if taken { self.tags.tag(server, uri) } else { None };
        tagged.map_or(Cow::Borrowed(uri), Cow::Owned)
    }

    fn add_names(&mut self, ids: &[&CapabilityId], style: &Style) {
        let claimants: Vec<_> = ids
            .iter()
            .map(|id| Named {
                id,
                prefix: style.prefix,
                embedder: style.embedder.as_ref() == Some(&id.server),
            })
            .collect();
        for (claimant, assigned) in claimants.iter().zip(assign(&claimants)) {
            let Some(assigned) = assigned else {
                let reason = "every name it could have is taken".to_owned();
                self.quarantined.push((claimant.id.clone(), reason));
                continue;
            };
            if assigned.level > 0 && style.prefix == Prefix::Never && !claimant.embedder {
                let (id, name) = (claimant.id, &assigned.name);
                self.notes.push(format!("{id} is exposed as {name:?}: another has its own name"));
            }
            self.insert(claimant.id, assigned.name);
        }
    }

    fn add_uris(&mut self, ids: &[&CapabilityId]) {
        let mut owners: HashMap<&str, usize> = HashMap::new();
        for id in ids {
            *owners.entry(&id.name).or_default() += 1;
        }
        for id in ids {
            let shared = owners.get(&*id.name).is_some_and(|count| *count > 1);
            if !shared && !looks_tagged(&id.name) {
                self.insert(id, id.name.to_string());
                continue;
            }
            match self.tags.tag(&id.server, &id.name) {
                Some(tagged) => self.insert(id, tagged),
                None => {
                    let reason = "its server has no tag of its own".to_owned();
                    self.quarantined.push(((*id).clone(), reason));
                }
            }
        }
    }

    fn insert(&mut self, id: &CapabilityId, name: String) {
        let name: Arc<str> = name.into();
        self.ids[id.kind as usize].insert(Arc::clone(&name), id.clone());
        self.names.insert(id.clone(), name);
    }
}
