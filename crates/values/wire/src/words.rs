//! Enums whose values are words of a protocol or of a configuration file.

/// The error for a text that is not one of the words of an enum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unknown word")]
pub struct UnknownWord;

/// Defines an enum from one row per value, with its word: `ALL`, `as_str`, `Display` and `FromStr`
/// follow from the rows.
#[macro_export]
macro_rules! words {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$value_meta:meta])* $value:ident = $word:literal,)+
        }
    ) => {
        $(#[$meta])*
        $visibility enum $name {
            $($(#[$value_meta])* $value,)+
        }

        impl $name {
            /// All values, in the order of their definition.
            pub const ALL: [Self; [$($word),+].len()] = [$(Self::$value),+];

            /// Returns the word of the value.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$value => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::UnknownWord;

            fn from_str(text: &str) -> Result<Self, $crate::UnknownWord> {
                let named = Self::ALL.into_iter().find(|value| value.as_str() == text);
                named.ok_or($crate::UnknownWord)
            }
        }
    };
}
