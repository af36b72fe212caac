//! The messages of the weird server, written by hand and sent byte for byte.
//!
//! Each text breaks an assumption of decoders, but never the JSON grammar: unknown members and
//! content types, unusual order, numbers that exceed machine types or have several spellings,
//! unnecessary escapes and whitespace. Tests compare what arrives with these constants
//! (on stdio after [`on_one_line`](crate::rpc::stdio::on_one_line)).

/// The rest of the `initialize` result, after the version.
pub const INITIALIZED: &str = r#""x-first": null,
  "capabilities": {"tools": {}, "prompts": {}, "resources": {}, "holograms": {"max": 1E5}},
  "serverInfo": {"version": "1.0", "x-build": 12345678901234567890123, "name": "w\u0065ird"},
  "instructions": "Nothing here is what a schema foresees.""#;

/// The `tools/list` result.
pub const TOOLS: &str = r#"{
  "x-list": {"generation": 12345678901234567890123},
  "tools": [
    {
      "inputSchema": {
        "x-schema": "\u0065\/\u00e9",
        "properties": {"any": {"maximum": 1e400, "minimum": -0, "multipleOf": 1.0, "x-n": 1E5}},
        "type": "object"
      },
      "x-vendor": {"b": 1, "a": [1.0, 1.50, 12345678901234567890123, 1e400, -0, 1E5, 0.1e-7]},
      "annotations": {"x-mood": "od\u0064", "readOnlyHint": true, "holographic": {"z": 1, "a": 2}},
      "description": "Answers with what no schema foresees",
      "name": "weird_result"
    },
    {"name": "weird_echo", "description": "Answers with the bytes it was sent",
     "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
    {"name": "weird_error", "description": "Answers with an odd error",
     "inputSchema": {"type": "object", "additionalProperties": true, "x-n": 1.0e+2}},
    {"name": "weird_notes", "description": "Sends odd notifications, then answers",
     "inputSchema": {"type": "object"}},
    {"name": "weird_ask", "description": "Asks an odd question, answers with the answer's bytes",
     "inputSchema": {"type": "object"}},
    {"description": "Has a name with an escape in it",
     "name": "w\u0065ird_escaped", "inputSchema": {"type": "object"}, "icons": [], "title": ""}
  ],
  "x-after": [ ]
}"#;

/// The result of `weird_result`.
pub const RESULT: &str = r#"{
  "resultType": "complete",
  "x-top": {"deep": {"deeper": [[[]]], "empty": {}}},
  "content": [
    {"x-block": true, "type": "hologram", "voxels": 12345678901234567890123, "data": "\u0065"},
    {"text": "pl\u0061in \/ \ud83d\ude00 \u00e9 é", "type": "text", "x-block": {"n": -0}},
    {"type": "text", "annotations": {"x-tone": 1E5, "priority": 1.0}, "text": ""}
  ],
  "structuredContent": {
    "zeta": 1e400, "alpha": [1.0, 1.00, 1E5, 1e5, -0, -0.0, 0.10, 12345678901234567890123],
    "": {"\u0065scaped k\u0065y": null}
  },
  "_meta": {"example.com/odd": 12345678901234567890123},
  "isError": false
}"#;

/// The error of `weird_error`.
pub const ERROR: &str = r#"{
  "severity": "w\u0065ird", "data": {"limit": 1e400, "x": [12345678901234567890123, 1.0]},
  "message": "odd\u002c but an error", "code": -32050, "retryAfter": 1E5
}"#;

/// What `weird_notes` sends before its result: method and parameters.
pub const NOTES: [(&str, &str); 3] = [
    ("notifications/message", r#"{"x-note": 1.0, "data": {"n": 1e400}, "level": "info"}"#),
    ("notifications/message", r#"{"level": "alert", "data": "\u0065", "logger": "", "x-n": -0}"#),
    ("notifications/hologram", r#"{"x-frame": 12345678901234567890123}"#),
];

/// What `weird_ask` asks.
pub const QUESTION: &str = r#"{"x-ask": 12345678901234567890123, "message": "\u0065h?",
  "requestedSchema": {"x-schema": 1.0, "type": "object",
    "properties": {"n": {"type": "number", "default": 1.50, "x-hint": -0}}}}"#;

/// The `prompts/list` result.
pub const PROMPTS: &str = r#"{"prompts": [
  {"arguments": [{"x-kind": 1.0, "name": "any", "required": false}], "name": "weird_prompt",
   "x-prompt": 12345678901234567890123, "description": "od\u0064"}
], "x-list": 1E5}"#;

/// The `prompts/get` result.
pub const PROMPT: &str = r#"{"x-top": 1e400, "messages": [
  {"x-message": -0, "content": {"type": "hologram", "voxels": 1.0}, "role": "user"},
  {"role": "assistant", "content": {"x-block": [], "text": "\u0065", "type": "text"}}
], "description": "A prompt of od\u0064 parts"}"#;

/// The `resources/list` result.
pub const RESOURCES: &str = r#"{"resources": [
  {"x-resource": 12345678901234567890123, "size": 1E5, "name": "od\u0064", "uri": "weird://one",
   "annotations": {"priority": 1.0, "x-a": {"b": -0}}}
], "x-list": {"z": 1, "a": 2}}"#;

/// The `resources/templates/list` result.
pub const TEMPLATES: &str = r#"{"resourceTemplates": [
  {"x-template": 1.0, "name": "any", "uriTemplate": "weird://{any}/x"}
], "x-list": -0}"#;

/// The `resources/read` result.
pub const CONTENTS: &str = r#"{"contents": [
  {"x-content": 12345678901234567890123, "text": "\u0065 \/", "uri": "weird://one",
   "hologram": {"voxels": 1e400}}
], "x-top": [ ]}"#;
