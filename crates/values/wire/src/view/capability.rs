//! Views of definitions: tools, resources, templates, prompts.

use std::borrow::Cow;

use super::Fields;

/// What a server says of a tool's behaviour. Claims, not facts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hints {
    /// `readOnlyHint`.
    pub read_only: Option<bool>,
    /// `destructiveHint`.
    pub destructive: Option<bool>,
    /// `idempotentHint`.
    pub idempotent: Option<bool>,
    /// `openWorldHint`.
    pub open_world: Option<bool>,
}

/// Whether a tool may be called as a task.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TaskSupport {
    /// It may not; the default.
    #[default]
    Forbidden,
    /// The caller chooses.
    Optional,
    /// It must.
    Required,
}

/// A tool definition.
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
    pub hints: Hints,
    /// `execution.taskSupport`.
    pub task_support: TaskSupport,
}

impl<'a> ToolView<'a> {
    /// The view of a raw definition; `None` without a name.
    pub fn of(definition: &'a [u8]) -> Option<Self> {
        let fields = Fields::of(definition)?;
        let notes = fields.object("annotations");
        let hint = |key| notes.and_then(|notes| notes.flag(key));
        let support = fields.object("execution").and_then(|object| object.text("taskSupport"));
        Some(Self {
            name: fields.text("name")?,
            title: fields.text("title").or_else(|| notes?.text("title")),
            description: fields.text("description"),
            input_schema: fields.raw("inputSchema"),
            output_schema: fields.raw("outputSchema"),
            hints: Hints {
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

/// A resource.
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
    /// The view of a raw definition; `None` without a URI.
    pub fn of(definition: &'a [u8]) -> Option<Self> {
        let fields = Fields::of(definition)?;
        Some(Self {
            uri: fields.text("uri")?,
            name: fields.text("name"),
            description: fields.text("description"),
        })
    }
}

/// A resource template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateView<'a> {
    /// `uriTemplate`.
    pub uri_template: Cow<'a, str>,
    /// `name`.
    pub name: Option<Cow<'a, str>>,
    /// `description`.
    pub description: Option<Cow<'a, str>>,
}

impl<'a> TemplateView<'a> {
    /// The view of a raw definition; `None` without a template.
    pub fn of(definition: &'a [u8]) -> Option<Self> {
        let fields = Fields::of(definition)?;
        Some(Self {
            uri_template: fields.text("uriTemplate")?,
            name: fields.text("name"),
            description: fields.text("description"),
        })
    }
}

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptView<'a> {
    /// `name`.
    pub name: Cow<'a, str>,
    /// `description`.
    pub description: Option<Cow<'a, str>>,
}

impl<'a> PromptView<'a> {
    /// The view of a raw definition; `None` without a name.
    pub fn of(definition: &'a [u8]) -> Option<Self> {
        let fields = Fields::of(definition)?;
        Some(Self { name: fields.text("name")?, description: fields.text("description") })
    }
}
