//! Configuration files, plans and dialects, for programs that show or change them.

pub use toolgate_config::*;
pub use toolgate_dialects::{
    ConversionLoss, Declaration, EditError, FileApprovalSettings, FileContextSettings, FileRef,
    FileSettings, ForeignFiles, InputSpec, ParsedFile, Permissions, PolicyMode, SCHEMA, Syntax,
    VariableSyntax, WrittenConfigText, nearest, template,
};
