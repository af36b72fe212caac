//! Lists what a server offers: everything at first, then the kinds that changed.

use toolgate_model::{CapabilityKind, Catalog, Definition};
use toolgate_session::{Session, SessionError};

use crate::connect::ServerConnection;

/// Returns the server capability under which a kind is declared.
fn declared_as(kind: CapabilityKind) -> &'static str {
    match kind {
        CapabilityKind::Tool => "tools",
        CapabilityKind::Resource | CapabilityKind::Template => "resources",
        CapabilityKind::Prompt => "prompts",
        CapabilityKind::Method => "extensions",
    }
}

fn put(catalog: &mut Catalog, kind: CapabilityKind, definitions: Vec<Definition>) {
    if let Some(list) = catalog.definitions_mut(kind) {
        *list = definitions;
    }
}

/// Lists everything a server offers. Requests only the kinds the server declared. Fails if the
/// tools cannot be listed; if another kind cannot be listed, only that kind is missing.
pub(crate) async fn list_all(live: &ServerConnection) -> Result<Catalog, SessionError> {
    let session = &live.session;
    let mut catalog = session.handshake().clone();
    for kind in CapabilityKind::ALL {
        if !catalog.declares(declared_as(kind)) {
            continue;
        }
        match session.list(kind).await {
            Ok(definitions) => put(&mut catalog, kind, definitions),
            Err(error) if kind == CapabilityKind::Tool || error.is_fatal() => return Err(error),
            Err(error) => {
                let error = live.mask_error(error);
                tracing::debug!(target: "toolgate::fleet", %kind, %error, "cannot list this kind");
            }
        }
    }
    Ok(catalog)
}

/// Lists some kinds again. Returns the new catalog and the kinds that differ.
pub(crate) async fn list_kinds(
    session: &Session,
    known: &Catalog,
    kinds: &[CapabilityKind],
) -> Result<(Catalog, Vec<CapabilityKind>), SessionError> {
    let mut catalog = known.clone();
    let mut changed = Vec::new();
    let declared = |kind: &&CapabilityKind| session.handshake().declares(declared_as(**kind));
    for kind in kinds.iter().filter(declared) {
        let definitions = session.list(*kind).await?;
        if definitions != known.definitions(*kind) {
            put(&mut catalog, *kind, definitions);
            changed.push(*kind);
        }
    }
    Ok((catalog, changed))
}

/// Returns the kinds in which two catalogs differ.
pub(crate) fn differences(old: Option<&Catalog>, new: &Catalog) -> Vec<CapabilityKind> {
    let differs = |kind: &CapabilityKind| match old {
        Some(old) => old.definitions(*kind) != new.definitions(*kind),
        None => !new.definitions(*kind).is_empty(),
    };
    CapabilityKind::ALL.into_iter().filter(differs).collect()
}

/// Summarizes how much a server offers.
pub(crate) fn summary(catalog: &Catalog) -> String {
    let (tools, prompts) = (catalog.tools.len(), catalog.prompts.len());
    let resources = catalog.resources.len() + catalog.templates.len();
    format!("{tools} tool(s), {resources} resource(s), {prompts} prompt(s)")
}
