//! Views of tool, resource, template and prompt definitions.

use std::borrow::Cow;

use super::ObjectView;

/// A server's claims about the behaviour of a tool. They may be wrong.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ToolHints {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

/// How a tool may be called as a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskSupport {
    /// The tool cannot run as a task; the default.
    #[default]
    Forbidden,
    /// The client chooses.
    Optional,
    /// The tool must run as a task.
    Required,
}

/// A view of a tool definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolView<'a> {
    /// `name`.
    pub name: Cow<'a, str>,
    /// `title`, or the one in `annotations`.
    pub title: Option<Cow<'a, str>>,
    /// `description`.
    pub description: Option<Cow<'a, str>>,
    /// `inputSchema`, raw.
    pub input_schema: Option<&'a [u8]>,
    /// `outputSchema`, raw.
    pub output_schema: Option<&'a [u8]>,
    /// The hints in `annotations`.
    pub hints: ToolHints,
    /// `execution.taskSupport`.
    pub task_support: TaskSupport,
}

impl<'a> ToolView<'a> {
    /// Reads a raw definition. Returns `None` if it has no name.
    pub fn of(definition: &'a [u8]) -> Option<Self> {
        let fields = ObjectView::of(definition)?;
        let notes = fields.object("annotations");
        let hint = |key| notes.and_then(|notes| notes.flag(key));
        let support = fields.object("execution").and_then(|object| object.text("taskSupport"));
        Some(Self {
            name: fields.text("name")?,
            title: fields.text("title").or_else(|| notes?.text("title")),
            description: fields.text("description"),
            input_schema: fields.raw("inputSchema"),
            output_schema: fields.raw("outputSchema"),
            hints: ToolHints {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
                open_world: hint("openWorldHint"),
            },
            task_support: match support.as_deref() {
                Some("required") => TaskSupport::Required,
                Some("optional") => TaskSupport::Optional,
                _ => TaskSupport::Forbidden,
            },
        })
    }
}

/// A view of a resource definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceView<'a> {
    /// `uri`.
    pub uri: Cow<'a, str>,
    /// `name`.
    pub name: Option<Cow<'a, str>>,
    /// `description`.
    pub description: Option<Cow<'a, str>>,
}

impl<'a> ResourceView<'a> {
    /// Reads a raw definition. Returns `None` if it has no URI.
    pub fn of(definition: &'a [u8]) -> Option<Self> {
        let fields = ObjectView::of(definition)?;
        Some(Self {
            uri: fields.text("uri")?,
            name: fields.text("name"),
            description: fields.text("description"),
        })
    }
}

/// A view of a resource template definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceTemplateView<'a> {
    /// `uriTemplate`.
    pub uri_template: Cow<'a, str>,
    /// `name`.
    pub name: Option<Cow<'a, str>>,
    /// `description`.
    pub description: Option<Cow<'a, str>>,
}

impl<'a> ResourceTemplateView<'a> {
    /// Reads a raw definition. Returns `None` if it has no URI template.
    pub fn of(definition: &'a [u8]) -> Option<Self> {
        let fields = ObjectView::of(definition)?;
        Some(Self {
            uri_template: fields.text("uriTemplate")?,
            name: fields.text("name"),
            description: fields.text("description"),
        })
    }
}

/// A view of a prompt definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptView<'a> {
    /// `name`.
    pub name: Cow<'a, str>,
    /// `description`.
    pub description: Option<Cow<'a, str>>,
}

impl<'a> PromptView<'a> {
    /// Reads a raw definition. Returns `None` if it has no name.
    pub fn of(definition: &'a [u8]) -> Option<Self> {
        let fields = ObjectView::of(definition)?;
        Some(Self { name: fields.text("name")?, description: fields.text("description") })
    }
}
