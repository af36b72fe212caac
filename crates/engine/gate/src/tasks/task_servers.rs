//! Which tools may run as tasks, computed once per generation of the catalogs.
//!
//! Without task servers the table is empty, and the lookup costs one branch per call.

use std::collections::HashMap;
use std::sync::Arc;

use toolgate_bridge::tasks::TaskFormat;
use toolgate_fleet::OfferedCatalog;
use toolgate_model::{CapabilityId, Catalog, ServerName};
use toolgate_wire::view::TaskSupport;

/// How a tool runs as a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ToolTaskMode {
    /// In the format of 2025-11-25, with the support that its definition declares.
    Session(TaskSupport),
    /// In the extension's format, at the server's choice.
    Extension,
}

/// The servers that run tasks.
#[derive(Default)]
pub(crate) struct TaskCapableServers {
    servers: HashMap<ServerName, TaskCapableServer>,
}

/// A server that runs tasks.
struct TaskCapableServer {
    form: TaskFormat,
    /// The tools that may or must be called as tasks of 2025-11-25.
    tools: HashMap<Arc<str>, TaskSupport>,
}

impl TaskCapableServers {
    pub(crate) fn of(offered: &[OfferedCatalog]) -> Self {
        let tasked = |offered: &OfferedCatalog| {
            let catalog = &offered.checked.catalog;
            let form = TaskFormat::of_server(catalog.protocol, &catalog.capabilities)?;
            Some((offered.server().clone(), TaskCapableServer { form, tools: task_tools(catalog) }))
        };
        Self { servers: offered.iter().filter_map(tasked).collect() }
    }

    /// Returns how this tool runs as a task; `None` if its server has no tasks.
    pub(crate) fn mode(&self, tool: &CapabilityId) -> Option<ToolTaskMode> {
        let server = self.servers.get(&tool.server)?;
        Some(match server.form {
            TaskFormat::Session => {
                ToolTaskMode::Session(server.tools.get(&tool.name).copied().unwrap_or_default())
            }
            TaskFormat::Extension => ToolTaskMode::Extension,
        })
    }
}

fn task_tools(catalog: &Catalog) -> HashMap<Arc<str>, TaskSupport> {
    let supporting = |tool: &toolgate_model::Definition| {
        let support = TaskSupport::of(&tool.raw);
        (support != TaskSupport::Forbidden).then(|| (tool.name.clone(), support))
    };
    catalog.tools.iter().filter_map(supporting).collect()
}
