//! Arbitrary JSON as text, with odd spellings no encoder would choose.

use proptest::{collection::vec, prelude::*};

/// White space between tokens.
fn space() -> impl Strategy<Value = String> {
    prop_oneof![4 => Just(String::new()), 1 => "[ \t\r\n]{1,3}"]
}

/// A string, some of its characters escaped needlessly.
pub fn string() -> impl Strategy<Value = String> {
    vec((any::<char>(), any::<bool>()), 0..12).prop_map(|chars| {
        let body: String = chars
            .into_iter()
            .map(|(char, escape)| match char {
                '"' | '\\' => format!("\\{char}"),
                _ if escape || char < ' ' => {
                    let mut units = [0; 2];
                    char.encode_utf16(&mut units)
                        .iter()
                        .map(|unit| format!("\\u{unit:04x}"))
                        .collect()
                }
                _ => char.to_string(),
            })
            .collect();
        format!("\"{body}\"")
    })
}

/// A number in any legal spelling within the range of doubles.
fn number() -> impl Strategy<Value = String> {
    "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?"
}

/// A value; objects have distinct keys.
pub fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        string(),
        number(),
        Just("true".to_owned()),
        Just("false".to_owned()),
        Just("null".to_owned()),
    ];
    leaf.prop_recursive(5, 48, 6, |inner| {
        prop_oneof![
            (space(), vec((inner.clone(), space()), 0..6)).prop_map(|(head, elements)| {
                let parts: Vec<_> =
                    elements.into_iter().map(|(value, space)| value + &space).collect();
                format!("[{head}{}]", parts.join(","))
            }),
            object(inner),
        ]
    })
}

fn object(inner: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    (space(), vec((string(), inner, space()), 0..6)).prop_map(|(space, members)| {
        let parts: Vec<_> = members
            .into_iter()
            .enumerate()
            // The number in front keeps keys apart.
            .map(|(n, (key, value, gap))| format!("\"{n}{}{space}:{gap}{value}", &key[1..]))
            .collect();
        format!("{{{space}{}{space}}}", parts.join(","))
    })
}

/// The members of an object, as an object.
pub fn members() -> impl Strategy<Value = String> {
    object(value())
}

/// JSON with a few bytes changed, removed or added: mostly no longer JSON, sometimes still.
pub fn nearly_json() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        3 => proptest::sample::select(b"{}[]\",:\\ \n0123456789.eE+-truefalsn/ud8cDF\x00\x1f\x7f\xc3\xed\xff".to_vec()),
        1 => any::<u8>(),
    ];
    (value(), vec((any::<proptest::sample::Index>(), 0..3_u8, byte), 0..4)).prop_map(
        |(json, edits)| {
            let mut bytes = json.into_bytes();
            for (index, edit, byte) in edits {
                let at = index.index(bytes.len() + 1);
                match edit {
                    0 => bytes.insert(at, byte),
                    1 if at < bytes.len() => bytes[at] = byte,
                    _ if at < bytes.len() => drop(bytes.remove(at)),
                    _ => {}
                }
            }
            bytes
        },
    )
}
