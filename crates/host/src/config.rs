//! Configuration, for faces that show and change it: files, plans, dialects.

pub use toolgate_config::*;
pub use toolgate_dialects::{
    Declared, EditError, FileApprovals, FileContext, FileRef, Foreign, Grammar, Input, Loss, Mode,
    Permissions, Reading, Settings as FileSettings, Syntax, Written, nearest, schema, template,
};
