//! A clap value parser that suggests values in help and shell completion. The suggestions do not
//! restrict the input: the inner parser decides, so it can accept other spellings and return better
//! errors.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

/// A value parser with suggested values.
#[derive(Debug, Clone)]
pub struct SuggestingParser<P> {
    parser: P,
    values: fn() -> Vec<&'static str>,
}

/// Adds suggested values to a parser.
pub fn with_suggestions<P: TypedValueParser>(
    parser: P,
    values: fn() -> Vec<&'static str>,
) -> SuggestingParser<P> {
    SuggestingParser { parser, values }
}

impl<P: TypedValueParser> TypedValueParser for SuggestingParser<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<P::Value, Error> {
        self.parser.parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.values)().into_iter().map(PossibleValue::new)))
    }
}
