//! The JSON grammar as an automaton that consumes one byte at a time without lookahead.
//!
//! It knows its position in the grammar and what may follow, not the values.

/// A state of the JSON automaton: what it expects next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JsonState {
    /// A value.
    Value,
    /// A value, or the end of the array that has just begun.
    FirstElement,
    /// A key, or the end of the object that has just begun.
    FirstKey,
    /// A key.
    Key,
    /// The colon after a key.
    Colon,
    /// After a value: a comma, or the end of the container.
    After,
    /// The inside of a string.
    Text,
    /// After a backslash.
    Escape,
    /// This many more hexadecimal digits.
    Hex(u8),
    /// The inside of a number.
    Number(NumberState),
    /// The rest of `true`, `false` or `null`.
    Word(&'static [u8]),
}

/// The position inside a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NumberState {
    /// After the minus sign.
    Minus,
    /// After a leading zero.
    Zero,
    /// In the integer digits.
    Whole,
    /// After the decimal point.
    Point,
    /// In the fraction digits.
    Fraction,
    /// After the `e`.
    Exponent,
    /// After the sign of the exponent.
    Sign,
    /// In the exponent digits.
    Power,
}

impl NumberState {
    /// Returns the state after `byte`, or `None` if the byte does not continue the number.
    pub(super) fn step(self, byte: u8) -> Option<Self> {
        Some(match (self, byte) {
            (Self::Minus, b'0') => Self::Zero,
            (Self::Minus, b'1'..=b'9') | (Self::Whole, b'0'..=b'9') => Self::Whole,
            (Self::Zero | Self::Whole, b'.') => Self::Point,
            (Self::Point | Self::Fraction, b'0'..=b'9') => Self::Fraction,
            (Self::Zero | Self::Whole | Self::Fraction, b'e' | b'E') => Self::Exponent,
            (Self::Exponent, b'+' | b'-') => Self::Sign,
            (Self::Exponent | Self::Sign | Self::Power, b'0'..=b'9') => Self::Power,
            _ => return None,
        })
    }

    /// Returns true if the number may end here.
    pub(super) fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Whole | Self::Fraction | Self::Power)
    }
}

/// Returns the state after the first byte of a scalar, or `None` if no scalar starts with it.
pub(super) fn start_scalar(byte: u8) -> Option<JsonState> {
    Some(match byte {
        b'"' => JsonState::Text,
        b'-' => JsonState::Number(NumberState::Minus),
        b'0' => JsonState::Number(NumberState::Zero),
        b'1'..=b'9' => JsonState::Number(NumberState::Whole),
        b't' => JsonState::Word(b"rue"),
        b'f' => JsonState::Word(b"alse"),
        b'n' => JsonState::Word(b"ull"),
        _ => return None,
    })
}

/// Returns true for white space between tokens.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}
