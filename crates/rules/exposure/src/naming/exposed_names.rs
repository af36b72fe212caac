//! The exposed names of a set of capabilities, in both directions.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use toolgate_model::{CapabilityId, CapabilityKind, ServerName};

use crate::naming::style::{NameClaim, NamingOptions};
use crate::naming::uris::{UriTags, looks_tagged};
use crate::naming::{name_set, template};

/// The exposed name of every usable capability, and the way back.
#[derive(Debug, Clone, Default)]
pub struct ExposedNames {
    names: HashMap<CapabilityId, Arc<str>>,
    /// One namespace per kind: a tool and a prompt may share a name.
    ids: [HashMap<Arc<str>, CapabilityId>; CapabilityKind::COUNT],
    tags: UriTags,
    /// The capabilities without a name, each with the reason.
    pub quarantined: Vec<(CapabilityId, String)>,
    /// Notes about the names for the operator.
    pub notes: Vec<String>,
}

/// The owner of a URI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UriOwner<'a> {
    /// One server, under its own URI.
    Server {
        /// The server.
        server: &'a ServerName,
        /// The URI as the server knows it.
        uri: Cow<'a, str>,
    },
    /// It fits templates of several servers, and no list contains it. A tagged URI would be unique.
    Ambiguous(Vec<&'a ServerName>),
    /// No list contains it, and it fits no template.
    Unknown,
}

/// Makes the names of a set of capabilities, and tags for all servers, including those that send
/// URIs without offering anything. `servers` are in the order of the configuration, which matters
/// for styles that prefer the first server; no other order matters.
pub fn expose(
    claims: &[NameClaim],
    servers: &[&ServerName],
    style: &NamingOptions,
) -> ExposedNames {
    let mut exposed = ExposedNames::default();
    let mut usable: [Vec<&NameClaim>; CapabilityKind::COUNT] = Default::default();
    let mut claims: Vec<_> = claims.iter().collect();
    claims.sort_by(|one, other| (&one.id, &one.alias).cmp(&(&other.id, &other.alias)));
    claims.dedup_by(|one, other| one.id == other.id);
    for claim in &claims {
        match claim.id.name_problem() {
            Some(reason) => exposed.quarantined.push((claim.id.clone(), reason)),
            None => usable[claim.id.kind as usize].push(claim),
        }
    }
    let tagged: BTreeSet<_> =
        claims.iter().map(|claim| &claim.id.server).chain(servers.iter().copied()).collect();
    exposed.tags = UriTags::of(&tagged.into_iter().collect::<Vec<_>>());
    for kind in [CapabilityKind::Tool, CapabilityKind::Prompt] {
        exposed.add_names(kind, &usable[kind as usize], servers, style);
    }
    for kind in [CapabilityKind::Resource, CapabilityKind::Template] {
        let ids: Vec<_> = usable[kind as usize].iter().map(|claim| &claim.id).collect();
        exposed.add_uris(&ids);
    }
    exposed
}

impl ExposedNames {
    /// Returns the exposed name of a capability; `None` if it is not in the set or quarantined.
    pub fn name_of(&self, id: &CapabilityId) -> Option<&str> {
        self.names.get(id).map(|name| &**name)
    }

    /// Returns the capability with this exposed name.
    pub fn id_of(&self, kind: CapabilityKind, name: &str) -> Option<&CapabilityId> {
        self.ids[kind as usize].get(name)
    }

    /// Returns the owner of a URI: by a list, by a tag, or by templates.
    pub fn find_uri_owner<'a>(&'a self, uri: &'a str) -> UriOwner<'a> {
        if let Some(id) = self.id_of(CapabilityKind::Resource, uri) {
            return UriOwner::Server { server: &id.server, uri: Cow::Borrowed(&id.name) };
        }
        if let Some((server, raw)) = self.tags.untag(uri) {
            return UriOwner::Server { server, uri: raw };
        }
        let templates = self.ids[CapabilityKind::Template as usize].values();
        let fitting: BTreeSet<_> =
            templates.filter(|id| template::matches(&id.name, uri)).map(|id| &id.server).collect();
        let fitting: Vec<_> = fitting.into_iter().collect();
        match fitting[..] {
            [] => UriOwner::Unknown,
            [server] => UriOwner::Server { server, uri: Cow::Borrowed(uri) },
            _ => UriOwner::Ambiguous(fitting),
        }
    }

    /// Returns the templates of a server that match its own URI, in no order.
    pub fn templates_for<'a>(
        &'a self,
        server: &'a ServerName,
        uri: &'a str,
    ) -> impl Iterator<Item = &'a CapabilityId> {
        let templates = self.ids[CapabilityKind::Template as usize].values();
        templates.filter(move |id| id.server == *server && template::matches(&id.name, uri))
    }

    /// Returns the form of a URI that always resolves to this server; `None` for a server that is
    /// not in the set.
    pub fn tagged_uri(&self, server: &ServerName, uri: &str) -> Option<String> {
        self.tags.tag(server, uri)
    }

    /// Returns the exposed form of a URI that a server sent in a result, link or update. It
    /// resolves to that server unless only a tagged form could.
    pub fn exposed_uri<'u>(&self, server: &ServerName, uri: &'u str) -> Cow<'u, str> {
        let id = CapabilityId {
            server: server.clone(),
            kind: CapabilityKind::Resource,
            name: uri.into(),
        };
        if let Some(name) = self.name_of(&id) {
            return if name == uri { Cow::Borrowed(uri) } else { Cow::Owned(name.to_owned()) };
        }
        let taken = match self.find_uri_owner(uri) {
            UriOwner::Server { server: owner, .. } => owner != server,
            UriOwner::Ambiguous(_) => true,
            UriOwner::Unknown => looks_tagged(uri),
        };
        let tagged = if taken { self.tags.tag(server, uri) } else { None };
        tagged.map_or(Cow::Borrowed(uri), Cow::Owned)
    }

    fn add_names(
        &mut self,
        kind: CapabilityKind,
        claims: &[&NameClaim],
        servers: &[&ServerName],
        style: &NamingOptions,
    ) {
        let names = name_set::name_all(kind, claims, servers, style, &mut self.notes);
        for (claim, name) in claims.iter().zip(names) {
            match name {
                Some(name) => self.insert(&claim.id, name),
                None => {
                    let reason = "every name it could have is taken".to_owned();
                    self.quarantined.push((claim.id.clone(), reason));
                }
            }
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
