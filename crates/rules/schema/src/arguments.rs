//! Whether arguments fit a tool's original input schema.
//!
//! On the way of every call: the schema is compiled once, arguments are parsed once, and messages
//! are made only for what does not fit.

use jsonschema::Validator;
use serde_json::Value;

use crate::bounds::{Effort, extent};
use crate::definition;
use crate::{Fault, Misfit, Unusable};
use crate::{faults, numbers};

/// Faults looked for; a message shows fewer.
const MOST: usize = 20;

/// What checks the arguments of one tool.
#[derive(Debug)]
pub struct Arguments {
    validator: Validator,
    effort: Effort,
    small: bool,
    schema: Value,
}

impl Arguments {
    /// Compiles the input schema of a tool's definition.
    pub fn of(definition: &[u8]) -> Result<Self, Unusable> {
        let schema = definition::input_schema(&definition::parsed(definition)?)?;
        let (validator, effort) = definition::compiled(&schema)?;
        let small = effort.is_small();
        Ok(Self { validator, effort, small, schema })
    }

    /// Whether arguments (raw JSON, `{}` where a call has none) fit.
    ///
    /// Arguments so deeply nested that a recursive schema would need millions of looks at them pass
    /// unchecked: it is the server's own schema, and the server is the one to answer for it.
    pub fn check(&self, arguments: &[u8]) -> Result<(), Misfit> {
        let arguments = numbers::read(arguments).map_err(|error| unread(&error))?;
        if !arguments.is_object() {
            return Err(Misfit { faults: vec![not_an_object(&arguments)] });
        }
        if !self.affords(&arguments) || self.validator.is_valid(&arguments) {
            return Ok(());
        }
        let errors = self.validator.iter_errors(&arguments).take(MOST);
        let mut found: Vec<Fault> =
            errors.flat_map(|error| faults::within(&error, &self.schema)).collect();
        found.dedup();
        Err(Misfit { faults: found })
    }

    fn affords(&self, arguments: &Value) -> bool {
        if self.small {
            return true;
        }
        let (depth, parts) = extent(arguments);
        self.effort.affords(depth, parts)
    }
}

fn unread(error: &serde_json::Error) -> Misfit {
    let fault = Fault {
        path: String::new(),
        expected: "a JSON object".to_owned(),
        got: format!("what cannot be read ({error})"),
    };
    Misfit { faults: vec![fault] }
}

fn not_an_object(arguments: &Value) -> Fault {
    Fault { path: String::new(), expected: "an object".to_owned(), got: faults::shown(arguments) }
}
