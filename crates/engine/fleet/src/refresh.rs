//! Listing what a server offers: all of it at first, then the kinds that changed.

use toolgate_model::{CapabilityKind, Catalog, Definition};
use toolgate_session::{Session, SessionError};

use crate::connect::Live;

/// The capability a kind is declared under.
fn declared_as(kind: CapabilityKind) -> &'static str {
    match kind {
        CapabilityKind::Tool => "tools",
        CapabilityKind::Resource | CapabilityKind::Template => "resources",
        CapabilityKind::Prompt => "prompts",
        CapabilityKind::Method => "extensions",
    }
}

fn put(catalog: &mut Catalog, kind: CapabilityKind, definitions: Vec<Definition>) {
    if let Some(list) = catalog.of_mut(kind) {
        *list = definitions;
    }
}

/// Everything a server offers. Only what it declared is asked for; a server whose tools cannot be
/// listed is of no use, while a failing list of another kind hides nothing but that kind.
pub(crate) async fn everything(live: &Live) -> Result<Catalog, SessionError> {
    let session = &live.session;
    let welcome = session.welcome();
    let mut catalog = Catalog {
        capabilities: welcome.capabilities.clone(),
        server_info: welcome.server_info.clone(),
        instructions: welcome.instructions.clone(),
        ..Catalog::empty(welcome.protocol)
    };
    for kind in CapabilityKind::ALL {
        if !welcome.declares(declared_as(kind)) {
            continue;
        }
        match session.list(kind).await {
            Ok(definitions) => put(&mut catalog, kind, definitions),
            Err(error) if kind == CapabilityKind::Tool || error.is_fatal() => return Err(error),
            Err(error) => {
                let error = live.masked(error);
                tracing::debug!(target: "toolgate::fleet", %kind, %error, "could not be listed");
            }
        }
    }
    Ok(catalog)
}

/// Lists some kinds anew; gives the new catalog and the kinds that really differ.
pub(crate) async fn some(
    session: &Session,
    known: &Catalog,
    kinds: &[CapabilityKind],
) -> Result<(Catalog, Vec<CapabilityKind>), SessionError> {
    let mut catalog = known.clone();
    let mut changed = Vec::new();
    let declared = |kind: &&CapabilityKind| session.welcome().declares(declared_as(**kind));
    for kind in kinds.iter().filter(declared) {
        let definitions = session.list(*kind).await?;
        if definitions != known.of(*kind) {
            put(&mut catalog, *kind, definitions);
            changed.push(*kind);
        }
    }
    Ok((catalog, changed))
}

/// The kinds in which two catalogs differ.
pub(crate) fn differences(old: Option<&Catalog>, new: &Catalog) -> Vec<CapabilityKind> {
    let differs = |kind: &CapabilityKind| match old {
        Some(old) => old.of(*kind) != new.of(*kind),
        None => !new.of(*kind).is_empty(),
    };
    CapabilityKind::ALL.into_iter().filter(differs).collect()
}

/// How much a server offers, in words.
pub(crate) fn summary(catalog: &Catalog) -> String {
    let (tools, prompts) = (catalog.tools.len(), catalog.prompts.len());
    let resources = catalog.resources.len() + catalog.templates.len();
    format!("{tools} tool(s), {resources} resource(s), {prompts} prompt(s)")
}
