//! Large responses, split into a small message and values that stay on disk.
//!
//! A [`SkeletonParser`] reads a large response once, chunk by chunk, and is as strict as the scan
//! of an ordinary message. It removes long values; the remaining *skeleton* is an ordinary message
//! with a placeholder for each removed value. Ids, types, names and URIs are short and stay, so
//! code that routes or shapes a response works on the skeleton. The [`DetachedValues`] travel with
//! it and tell the writer which value belongs to which placeholder.
//!
//! Only values inside `result` are removed; decisions depend on everything else. A response whose
//! skeleton would be too large does not qualify ([`SkeletonError::Unfit`]).

mod detached;
mod json_state;
mod skeleton_parser;
mod string_decoder;
mod utf8_validator;

pub use detached::{
    DetachedValue, DetachedValueKind, DetachedValues, LargeResponseReader, MessageChunk,
    MessageChunks, PlaceholderToken,
};
pub use skeleton_parser::{MessageSkeleton, SkeletonError, SkeletonParser};
pub use string_decoder::JsonStringDecoder;
