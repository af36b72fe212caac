//! Any text, as a file of every dialect that is written in JSON.
#![no_main]

mod dialects;

use libfuzzer_sys::fuzz_target;
use toolgate_dialects::Syntax;

fuzz_target!(|input: &[u8]| dialects::check(Syntax::Json, input));
