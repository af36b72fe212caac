//! Servers with catalogs, and a caller with a profile.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use toolgate_exposure::NamingOptions;
use toolgate_exposure::{
    Exposure, ExposureEntry, ExposureOptions, OwnToolCosts, ServerOffer, Visibility, exposure,
};
use toolgate_model::{
    CapabilityId, CapabilityKind, Catalog, ConfigScope, DeclaredProfile, Definition, ExposureMode,
    Origin, Profile, Profiles, ServerName, ServerSpec, ToolSelection, TransportSpec,
};
use toolgate_wire::Revision;

#[derive(Debug)]
pub(crate) struct Server {
    pub spec: ServerSpec,
    pub origin: Origin,
    pub catalog: Arc<Catalog>,
}

impl Server {
    pub fn new(name: &str, tools: &[&str]) -> Self {
        let mut catalog = Catalog::empty(Revision::LATEST_LEGACY);
        catalog.tools = tools.iter().map(|name| definition(name, "Does it. And more.")).collect();
        Self {
            spec: ServerSpec::new(ServerName::new(name).unwrap(), TransportSpec::BuiltIn),
            origin: at("servers.toml", 7),
            catalog: Arc::new(catalog),
        }
    }

    pub fn selecting(mut self, selection: ToolSelection) -> Self {
        self.spec.selection = selection;
        self
    }

    pub fn tagged(mut self, tags: &[&str]) -> Self {
        self.spec.tags = Some(texts(tags));
        self
    }

    pub fn with(mut self, kind: CapabilityKind, names: &[&str]) -> Self {
        let catalog = Arc::make_mut(&mut self.catalog);
        let definitions = names.iter().map(|name| definition(name, "One."));
        *catalog.definitions_mut(kind).unwrap() = definitions.collect();
        self
    }

    pub fn described(mut self, tool: &str, description: &str) -> Self {
        let catalog = Arc::make_mut(&mut self.catalog);
        catalog.tools.push(definition(tool, description));
        self
    }
}

pub(crate) fn definition(name: &str, description: &str) -> Definition {
    let text = |text: &str| toolgate_wire::string::encode(text);
    let (quoted, about) = (text(name), text(description));
    let raw =
        format!(r#"{{"name":{quoted},"description":{about},"inputSchema":{{"type":"object"}}}}"#);
    Definition { name: name.into(), raw: Bytes::from(raw) }
}

pub(crate) fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(ToString::to_string).collect()
}

pub(crate) fn at(file: &str, line: u32) -> Origin {
    Origin { scope: ConfigScope::User, file: Some(Arc::new(PathBuf::from(file))), line, column: 0 }
}

pub(crate) fn declared(profile: Profile) -> DeclaredProfile {
    DeclaredProfile { profile, origin: at("profiles.toml", 3) }
}

/// What the gateway's own tools cost here.
pub(crate) const OWN: OwnToolCosts = OwnToolCosts { finding: 100, always: 7 };

/// What a profile of the name `research` sees.
pub(crate) fn see(servers: &[Server], profile: Profile) -> Exposure {
    see_as(servers, "research", &declared(profile))
}

pub(crate) fn see_built_in(servers: &[Server], name: &str) -> Exposure {
    see_as(servers, name, &Profiles::default().get(name).unwrap())
}

pub(crate) fn see_as(servers: &[Server], name: &str, declared: &DeclaredProfile) -> Exposure {
    let style = NamingOptions::default();
    let unusable = |_: &CapabilityId, definition: &Definition| {
        let broken = definition.name.starts_with("broken");
        broken.then(|| "its schema cannot be used: it is broken".to_owned())
    };
    let terms = ExposureOptions {
        profile: name,
        declared,
        style: &style,
        expose: ExposureMode::All,
        own: OWN,
        unusable: &unusable,
    };
    exposure(&offers(servers), &terms)
}

pub(crate) fn offers(servers: &[Server]) -> Vec<ServerOffer<'_>> {
    servers
        .iter()
        .enumerate()
        .map(|(place, Server { spec, origin, catalog })| ServerOffer {
            spec,
            origin,
            place,
            catalog,
        })
        .collect()
}

/// The row of a tool.
pub(crate) fn row<'a>(exposure: &'a Exposure, server: &str, tool: &str) -> &'a ExposureEntry {
    let is_it = |row: &&ExposureEntry| row.id.server.as_str() == server && &*row.id.name == tool;
    let mut rows = exposure.entries.iter().filter(is_it);
    let row = rows.next().unwrap_or_else(|| panic!("no row of {server}/{tool}"));
    assert!(rows.next().is_none(), "two rows of {server}/{tool}");
    row
}

/// How a tool is seen, and by which rule of which file.
pub(crate) fn why(exposure: &Exposure, server: &str, tool: &str) -> (Visibility, String) {
    let row = row(exposure, server, tool);
    assert_eq!(row.exposed.is_some(), row.visibility != Visibility::Hidden, "{row:?}");
    (row.visibility, row.because.to_string())
}

pub(crate) fn hidden(rule: &str) -> (Visibility, String) {
    (Visibility::Hidden, rule.to_owned())
}

pub(crate) fn listed(rule: &str) -> (Visibility, String) {
    (Visibility::Listed, rule.to_owned())
}
