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
        let arguments = numbers::read(arguments).map_err(|error| unread(&error))?;
        if !arguments.is_object() {
            return Err(ArgumentError { faults: vec![not_an_object(&arguments)] });
        }
        if !self.is_affordable(&arguments) || self.validator.is_valid(&arguments) {
            return Ok(());
        }
        let errors = self.validator.iter_errors(&arguments).take(MOST);
        let mut found: Vec<ArgumentFault> =
            errors.flat_map(|error| faults::from_error_in_schema(&error, &self.schema)).collect();
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

fn unread(error: &serde_json::Error) -> ArgumentError {
    let fault = ArgumentFault {
        path: String::new(),
        expected: "a JSON object".to_owned(),
        got: format!("invalid JSON ({error})"),
    };
    ArgumentError { faults: vec![fault] }
}

fn not_an_object(arguments: &Value) -> ArgumentFault {
    ArgumentFault {
        path: String::new(),
        expected: "an object".to_owned(),
        got: faults::shown(arguments),
    }
}
