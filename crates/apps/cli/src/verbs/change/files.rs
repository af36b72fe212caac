//! Which file speaks of a server, and whether it is ours to change.

use toolgate_host::config::{Dialect, Document, FileRef};
use toolgate_host::{Entry, Origin, Plan, Scope, Standing};

use super::{root, unwritable};
use crate::context::Context;
use crate::exit::Failure;

/// The file an entry stands in; none for what is built in.
pub fn document_of(entry: &Entry) -> Option<Document> {
    document(&entry.origin, entry.dialect)
}

fn document(origin: &Origin, dialect: Dialect) -> Option<Document> {
    let path = origin.file.as_ref()?.to_path_buf();
    Some(Document { dialect, at: FileRef::new(path, origin.scope) })
}

/// The files that may declare a server of this name, the one that counts first: those of the plan,
/// and ours, where an entry may be that could not be read.
pub fn candidates(
    context: &Context,
    plan: &Plan,
    name: &str,
    scope: Option<Scope>,
) -> Result<Vec<Document>, Failure> {
    if let Some(named) = &context.config {
        return Ok(vec![Document::named(named, Scope::User).map_err(unwritable)?]);
    }
    let entry = plan.entries.iter().find(|entry| entry.spec.name.as_str() == name);
    let mut files: Vec<_> = entry.and_then(document_of).into_iter().collect();
    let shadows = entry.into_iter().flat_map(|entry| &entry.shadows);
    files.extend(shadows.filter_map(|shadow| document(&shadow.origin, shadow.dialect)));
    files.extend(Document::of_project(&root(context)?));
    files.push(Document::of_user(&context.home));
    files.retain(|file| scope.is_none_or(|scope| file.at.scope == scope));
    Ok(files)
}

/// Whether a file may be changed without being named for it.
pub fn is_ours(context: &Context, file: &Document) -> bool {
    context.config.is_some() || file.is_ours()
}

/// Whether a server is switched on.
pub fn is_enabled(entry: &Entry) -> bool {
    entry.standing != Standing::Disabled
}
