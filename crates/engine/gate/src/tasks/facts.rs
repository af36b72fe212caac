//! Which tools may run as tasks, read once per generation of the catalogs.
//!
//! A fleet without tasks has an empty table: the question costs one branch per call.

use std::collections::HashMap;
use std::sync::Arc;

use toolgate_bridge::tasks::Form;
use toolgate_model::{CapabilityId, Catalog, ServerName};
use toolgate_wire::view::{TaskSupport, ToolView};

/// How a tool runs as a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// In the form of 2025-11-25, as its definition allows.
    Session(TaskSupport),
    /// In the extension's form, whenever its server likes.
    Extension,
}

/// The servers that run tasks.
#[derive(Default)]
pub(crate) struct Tasked {
    servers: HashMap<ServerName, Server>,
}

struct Server {
    form: Form,
    /// The tools that may or must be called as tasks of 2025-11-25.
    tools: HashMap<Arc<str>, TaskSupport>,
}

impl Tasked {
    pub(crate) fn of(catalogs: &[(ServerName, Arc<Catalog>)]) -> Self {
        let tasked = |(name, catalog): &(ServerName, Arc<Catalog>)| {
            let form = Form::of_server(catalog.protocol, &catalog.capabilities)?;
            Some((name.clone(), Server { form, tools: supporting(catalog) }))
        };
        Self { servers: catalogs.iter().filter_map(tasked).collect() }
    }

    /// How this tool runs as a task; `None` if its server has no tasks.
    pub(crate) fn manner(&self, tool: &CapabilityId) -> Option<Manner> {
        let server = self.servers.get(&tool.server)?;
        Some(match server.form {
            Form::Session => {
                Manner::Session(server.tools.get(&tool.name).copied().unwrap_or_default())
            }
            Form::Extension => Manner::Extension,
        })
    }
}

fn supporting(catalog: &Catalog) -> HashMap<Arc<str>, TaskSupport> {
    let supporting = |tool: &toolgate_model::Definition| {
        let support = ToolView::of(&tool.raw)?.task_support;
        (support != TaskSupport::Forbidden).then(|| (tool.name.clone(), support))
    };
    catalog.tools.iter().filter_map(supporting).collect()
}
