//! Prepares found servers for the import: chooses the target file, moves credentials and drops
//! permissions that cannot be imported.

use toolgate_host::config::{ConfigDocument, ConversionLoss, SecretStore, project_document};
use toolgate_host::{ConfigScope, ServerSpec, StartStatus};
use toolgate_model::{ApprovalMode, Secret, is_secret_like};

use super::server_search::FoundServer;
use super::{ImportReport, ImportedServer};
use crate::cli_context::CliContext;
use crate::exit::Result;
use crate::out;
use crate::transfer::literals::{
    CredentialLiteral, LiteralLocation, LiteralReplacement, replace_literals,
};
use crate::transfer::losses::loss_of;
use crate::verbs::consent::notify_gateway;
use crate::verbs::declaration::files;

/// Returns the file to import into: the user's, or the file of this project that can express all of
/// these servers.
pub fn choose_target(
    context: &CliContext,
    scope: ConfigScope,
    found: &[FoundServer],
) -> Result<ConfigDocument> {
    files::own_document(context, scope, |root| {
        let wanted = found.iter().map(|found| project_document(root, &found.spec));
        let wanted = wanted.collect::<Result<Vec<_>, _>>()?;
        let [ours, shared] = ConfigDocument::for_project(root);
        // All servers go into one file. Toolgate's can express what the shared one can.
        let is_ours = |document: &ConfigDocument| document.dialect.is_toolgate();
        Ok(if ours.path().exists() || wanted.iter().any(is_ours) { ours } else { shared })
    })
}

/// The servers of an import as they are written, and their credentials.
pub struct ImportBatch {
    /// The servers.
    pub specs: Vec<ServerSpec>,
    /// The values for the secret store, by name.
    secrets: Vec<(String, Secret<String>)>,
}

impl ImportBatch {
    /// Prepares servers for the import. The report gets what happens to their credentials.
    pub fn of(found: Vec<FoundServer>, to_secrets: bool, report: &mut ImportReport) -> Self {
        let mut batch = Self { specs: Vec::new(), secrets: Vec::new() };
        for found in found {
            let mut spec = strip_permissions(&found, &mut report.losses);
            if let Some(why) = found.blocked.as_ref().filter(|_| spec.enabled) {
                spec.enabled = false;
                let why = format!("disabled, because its client would not start it ({why})");
                report.losses.push(loss_of(&found.spec.name, "enabled", why));
            }
            let (name, from) = (found.name().to_owned(), found.from.clone());
            let mut imported = ImportedServer { name, from, plain: Vec::new(), moved: Vec::new() };
            let spec = replace_literals(&spec, &mut |literal| {
                batch.replace_literal(found.name(), literal, to_secrets, &mut imported)
            });
            report.imported.push(imported);
            batch.specs.push(spec);
        }
        batch
    }

    fn replace_literal(
        &mut self,
        server: &str,
        literal: &CredentialLiteral,
        to_secrets: bool,
        imported: &mut ImportedServer,
    ) -> LiteralReplacement {
        // An environment variable whose name is not secret-like is not a credential.
        if literal.location == LiteralLocation::Env && !is_secret_like(&literal.name) {
            return LiteralReplacement::Keep;
        }
        let name = format!("{server}.{}", literal.name);
        match &literal.value {
            Some(value) if to_secrets && literal.location != LiteralLocation::Foreign => {
                imported.moved.push(literal.field.clone());
                let text = format!("${{secret:{name}}}");
                self.secrets.push((name, value.clone()));
                LiteralReplacement::Text(text)
            }
            _ => {
                imported.plain.push(literal.field.clone());
                LiteralReplacement::Keep
            }
        }
    }

    /// Returns the names of the credentials in the secret store.
    pub fn secret_names(&self) -> Vec<String> {
        self.secrets.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Puts credentials into the secret store. Must run before the file refers to them.
    pub fn keep_secrets(&self, context: &CliContext) -> Result<()> {
        let store = SecretStore::of(&context.home);
        Ok(self.secrets.iter().try_for_each(|(name, value)| store.set(name, value))?)
    }
}

/// Removes permissions that a project's file grants: only the user can grant them.
fn strip_permissions(found: &FoundServer, losses: &mut Vec<ConversionLoss>) -> ServerSpec {
    let mut spec = found.spec.clone();
    if found.scope != ConfigScope::Project {
        return spec;
    }
    let why = "a project's file cannot grant it";
    if std::mem::take(&mut spec.trust) {
        losses.push(loss_of(&found.spec.name, "trust", why));
    }
    if spec.selection.approval == Some(ApprovalMode::Never) {
        spec.selection.approval = None;
        losses.push(loss_of(&found.spec.name, "approval", why));
    }
    for (tool, settings) in &mut spec.selection.tools {
        if settings.approval == Some(ApprovalMode::Never) {
            settings.approval = None;
            losses.push(loss_of(&found.spec.name, format!("tools.{tool}.approval"), why));
        }
    }
    spec
}

/// Records consent to the imported servers, even if another file that declares the same server
/// takes precedence. Prints a note about such files.
pub async fn record_consents(
    context: &CliContext,
    target: &ConfigDocument,
    specs: &[ServerSpec],
) -> Result<()> {
    let mut setup = context.load_setup().await?;
    for spec in specs {
        let Some(entry) = setup.plan().entry(&spec.name) else { continue };
        let is_written = entry.origin.file.as_deref() == Some(&target.at.path);
        let waits = entry.start_status == StartStatus::NeedsConsent;
        let means_the_same = is_written || entry.spec.digest() == spec.digest();
        if !is_written {
            out::note(&format!("{}: the entry in {} takes precedence", spec.name, entry.origin));
        }
        if waits && means_the_same {
            setup.consent(spec.name.as_str()).await?;
            notify_gateway(context, spec.name.as_str()).await;
        }
    }
    Ok(())
}
