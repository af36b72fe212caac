//! Taking found servers in: what is kept of them, what becomes of credentials, where they go.

use toolgate_host::config::{
    Access, Dialect, Document, FileRef, Secrets, project_document, project_root,
};
use toolgate_host::{Scope, ServerSpec, Standing};
use toolgate_model::{Approval, Secret, is_secret_like};

use super::found::Found;
use super::{Imported, Report};
use crate::carry::literals::{Instead, Literal, Place, replaced};
use crate::carry::report::Lost;
use crate::carry::sources;
use crate::context::Context;
use crate::exit::{Failure, chain};
use crate::out::{self, visible};
use crate::verbs::consent::tell_owner;

/// The file servers are copied into.
pub struct Target {
    /// How it is written.
    pub dialect: Dialect,
    /// Where it lies.
    pub at: FileRef,
}

impl Target {
    /// The user's file, or the one of this project that can say all of these.
    pub fn of(context: &Context, project: bool, found: &[Found]) -> Result<Self, Failure> {
        let bad = |error| Failure::usage(chain(&error));
        let Document { dialect, at } = match (&context.config, project) {
            (Some(named), _) => Document::named(named, Scope::User).map_err(bad)?,
            (None, false) => Document::of_user(&context.home),
            (None, true) => {
                let sources = sources(context)?;
                let nowhere = || Failure::usage("find this project's folder");
                let root = project_root(&sources).ok_or_else(nowhere)?;
                let wanted = found.iter().map(|found| project_document(&root, &found.spec));
                let wanted = wanted.collect::<Result<Vec<_>, _>>().map_err(bad)?;
                let [ours, shared] = Document::of_project(&root);
                // One file for all of them: ours can say what the shared one can.
                let is_ours = |document: &Document| document.dialect.is_ours();
                if ours.path().exists() || wanted.iter().any(is_ours) { ours } else { shared }
            }
        };
        Ok(Self { dialect, at })
    }

    /// Who may read it, where it has to be created.
    pub fn access(&self) -> Access {
        match self.at.scope {
            Scope::Project => Access::Shared,
            _ => Access::Private,
        }
    }
}

/// The servers as they are written into ours.
pub struct Intake {
    /// Them.
    pub specs: Vec<ServerSpec>,
    /// What goes into the secret store, by name.
    secrets: Vec<(String, Secret<String>)>,
}

impl Intake {
    /// Takes servers in; the report says what becomes of their credentials.
    pub fn of(found: Vec<Found>, to_secrets: bool, report: &mut Report) -> Self {
        let mut intake = Self { specs: Vec::new(), secrets: Vec::new() };
        for found in found {
            let mut spec = without_leave(&found, &mut report.losses);
            if let Some(why) = found.blocked.as_ref().filter(|_| spec.enabled) {
                spec.enabled = false;
                let why = format!("its own host would not start it ({why}): it is switched off");
                report.losses.push(Lost::of(found.name(), "enabled", why));
            }
            let (name, from) = (found.name().to_owned(), found.from.clone());
            let mut imported = Imported { name, from, plain: Vec::new(), moved: Vec::new() };
            let spec = replaced(&spec, &mut |literal| {
                intake.literal(found.name(), literal, to_secrets, &mut imported)
            });
            report.imported.push(imported);
            intake.specs.push(spec);
        }
        intake
    }

    fn literal(
        &mut self,
        server: &str,
        literal: &Literal,
        to_secrets: bool,
        imported: &mut Imported,
    ) -> Instead {
        // An ordinary variable of a process is no credential: its name says so.
        if literal.place == Place::Env && !is_secret_like(&literal.name) {
            return Instead::Itself;
        }
        let name = format!("{server}.{}", literal.name);
        match &literal.value {
            Some(value) if to_secrets && literal.place != Place::Foreign => {
                imported.moved.push(literal.field.clone());
                let text = format!("${{secret:{name}}}");
                self.secrets.push((name, value.clone()));
                Instead::Text(text)
            }
            _ => {
                imported.plain.push(literal.field.clone());
                Instead::Itself
            }
        }
    }

    /// The names under which credentials go into the secret store.
    pub fn secret_names(&self) -> Vec<String> {
        self.secrets.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Puts credentials into the secret store: before the file names them.
    pub fn keep_secrets(&self, context: &Context) -> Result<(), Failure> {
        let store = Secrets::of(&context.home);
        let kept = self.secrets.iter().try_for_each(|(name, value)| store.set(name, value));
        kept.map_err(|error| Failure::failed(chain(&error)))
    }
}

/// A project's file only proposes: its leave not to ask is no leave of the user's.
fn without_leave(found: &Found, losses: &mut Vec<Lost>) -> ServerSpec {
    let mut spec = found.spec.clone();
    if found.scope != Scope::Project {
        return spec;
    }
    let why = "a project's file cannot say it for you";
    if std::mem::take(&mut spec.trust) {
        losses.push(Lost::of(found.name(), "trust", why));
    }
    if spec.selection.approval == Some(Approval::Never) {
        spec.selection.approval = None;
        losses.push(Lost::of(found.name(), "approval", why));
    }
    for (tool, said) in &mut spec.selection.tools {
        if said.approval == Some(Approval::Never) {
            said.approval = None;
            losses.push(Lost::of(found.name(), format!("tools.{tool}.approval"), why));
        }
    }
    spec
}

/// Importing is consent to start exactly that, whichever of the files that declare it wins. One
/// that wins and says something else is told of.
pub async fn settle(
    context: &Context,
    target: &Target,
    specs: &[ServerSpec],
) -> Result<(), Failure> {
    let mut setup = context.setup().await?;
    for spec in specs {
        let Some(entry) = setup.plan().entry(&spec.name) else { continue };
        let is_written = entry.origin.file.as_deref() == Some(&target.at.path);
        let waits = entry.standing == Standing::NeedsConsent;
        let means_the_same = is_written || entry.spec.digest() == spec.digest();
        if !is_written {
            let origin = visible(&entry.origin.to_string());
            out::note(&format!("{}: the entry of {origin} is nearer and wins", spec.name));
        }
        if waits && means_the_same {
            setup.consent(spec.name.as_str()).await?;
            tell_owner(context, spec.name.as_str()).await;
        }
    }
    Ok(())
}
