//! Validates arguments against a tool's original input schema.
//!
//! Every call passes through here: the schema is compiled once, arguments are parsed once, and
//! messages are only created for invalid arguments.

use jsonschema::Validator;
use serde_json::Value;

use crate::bounds::{ValidationCost, measure};
use crate::definition;
use crate::{ArgumentError, ArgumentFault, DefinitionError};
use crate::{faults, numbers};

/// The maximum number of faults to collect. A message shows fewer.
const MOST: usize = 20;

/// The compiled input schema of one tool.
#[derive(Debug)]
pub struct ArgumentValidator {
    validator: Validator,
    effort: ValidationCost,
    small: bool,
    schema: Value,
}

impl ArgumentValidator {
    /// Compiles the input schema of a tool's definition.
    pub fn of(definition: &[u8]) -> Result<Self, DefinitionError> {
        let schema = definition::input_schema(&definition::parse_definition(definition)?)?;
        let (validator, effort) = definition::compile_input_schema(&schema)?;
        let small = effort.is_small();
        Ok(Self { validator, effort, small, schema })
    }

    /// Validates arguments. Pass them as raw JSON, or `{}` if a call has none.
    ///
    /// Arguments that would need millions of checks, because they are deeply nested and the schema
    /// is recursive, pass unchecked. The schema is the server's own, so the server bears the
    /// consequence.
    pub fn check(&self, arguments: &[u8]) -> Result<(), ArgumentError> {
        let arguments = numbers::read(arguments)
            .map_err(|error| invalid("a JSON object", format!("invalid JSON ({error})")))?;
        if !arguments.is_object() {
            return Err(invalid("an object", faults::shown(&arguments)));
        }
        if !self.is_affordable(&arguments) || self.validator.is_valid(&arguments) {
            return Ok(());
        }
        let errors = self.validator.iter_errors(&arguments).take(MOST);
        let mut found: Vec<ArgumentFault> =
            errors.flat_map(|error| faults::from_error(&error, &self.schema)).collect();
        found.dedup();
        Err(ArgumentError { faults: found })
    }

    fn is_affordable(&self, arguments: &Value) -> bool {
        if self.small {
            return true;
        }
        let (depth, parts) = measure(arguments);
        self.effort.is_affordable(depth, parts)
    }
}

/// Returns the error for arguments that are wrong as a whole.
fn invalid(expected: &str, got: String) -> ArgumentError {
    let fault = ArgumentFault { path: String::new(), expected: expected.to_owned(), got };
    ArgumentError { faults: vec![fault] }
}
