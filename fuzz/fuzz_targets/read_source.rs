//! Any text, as the source of a program.
#![no_main]

mod reading;

use libfuzzer_sys::fuzz_target;
use toolgate_reading::Format;

fuzz_target!(|input: &[u8]| reading::check(Format::Source, input));
