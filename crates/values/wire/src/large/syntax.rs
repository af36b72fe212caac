//! The grammar of JSON as an automaton: a byte at a time, with no byte to come back to.
//!
//! It knows where it stands and what may follow, nothing of what a value is worth.

/// What is expected next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// A value.
    Value,
    /// A value, or the end of the array that has just begun.
    FirstElement,
    /// A key, or the end of the object that has just begun.
    FirstKey,
    /// A key.
    Key,
    /// The colon behind a key.
    Colon,
    /// Behind a value: a comma, or the end of what it stands in.
    After,
    /// The inside of a string.
    Text,
    /// Behind a backslash.
    Escape,
    /// This many hexadecimal digits more.
    Hex(u8),
    /// The inside of a number.
    Number(Number),
    /// The rest of `true`, `false` or `null`.
    Word(&'static [u8]),
}

/// Where in a number it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Number {
    /// Behind the minus.
    Minus,
    /// Behind a zero that begins it.
    Zero,
    /// Among the digits that begin it.
    Whole,
    /// Behind the point.
    Point,
    /// Among the digits behind the point.
    Fraction,
    /// Behind the `e`.
    Exponent,
    /// Behind the sign of the exponent.
    Sign,
    /// Among the digits of the exponent.
    Power,
}

impl Number {
    /// What a byte makes of it; `None` if it is not part of a number here.
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

    /// Whether a number may end here.
    pub(super) fn may_end(self) -> bool {
        matches!(self, Self::Zero | Self::Whole | Self::Fraction | Self::Power)
    }
}

/// What begins with this byte, if a value does that is no container.
pub(super) fn scalar(byte: u8) -> Option<State> {
    Some(match byte {
        b'"' => State::Text,
        b'-' => State::Number(Number::Minus),
        b'0' => State::Number(Number::Zero),
        b'1'..=b'9' => State::Number(Number::Whole),
        b't' => State::Word(b"rue"),
        b'f' => State::Word(b"alse"),
        b'n' => State::Word(b"ull"),
        _ => return None,
    })
}

/// White space between tokens.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}
