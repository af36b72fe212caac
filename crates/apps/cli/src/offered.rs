//! Values that the help and shells offer from a list. What may be written is wider: the parser alone
//! decides, so that other spellings and a better complaint stay possible.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::{Arg, Command, Error};

/// A parser, and what is offered for it.
#[derive(Debug, Clone)]
pub struct Offered<P> {
    parser: P,
    values: fn() -> Vec<&'static str>,
}

/// Offers these values for a parser.
pub fn offered<P: TypedValueParser>(parser: P, values: fn() -> Vec<&'static str>) -> Offered<P> {
    Offered { parser, values }
}

impl<P: TypedValueParser> TypedValueParser for Offered<P> {
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
