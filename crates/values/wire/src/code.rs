//! Error codes of JSON-RPC and of the MCP revisions.

/// The message is not JSON.
pub const PARSE_ERROR: i32 = -32700;
/// The JSON is not a JSON-RPC message.
pub const INVALID_REQUEST: i32 = -32600;
/// The method is unknown.
pub const METHOD_NOT_FOUND: i32 = -32601;
/// The parameters do not match the method; from 2026-07-28 also an unknown resource.
pub const INVALID_PARAMS: i32 = -32602;
/// An internal error.
pub const INTERNAL_ERROR: i32 = -32603;

/// The connection closed before the response arrived (defined by the SDKs, not by the
/// specification).
pub const CONNECTION_CLOSED: i32 = -32000;
/// The response did not arrive in time (defined by the SDKs, not by the specification).
pub const REQUEST_TIMEOUT: i32 = -32001;
/// The resource does not exist; up to 2025-11-25.
pub const RESOURCE_NOT_FOUND: i32 = -32002;
/// The gateway's rules or a person denied the request (defined by this gateway).
pub const REFUSED: i32 = -32003;
/// The user must visit a URL first; 2025-11-25 only.
pub const URL_ELICITATION_REQUIRED: i32 = -32042;
/// The request was cancelled.
pub const REQUEST_CANCELLED: i32 = -32800;

/// HTTP headers and body disagree; from 2026-07-28.
pub const HEADER_MISMATCH: i32 = -32020;
/// The client did not declare a required capability; from 2026-07-28.
pub const MISSING_CLIENT_CAPABILITY: i32 = -32021;
/// The revision is not supported; from 2026-07-28.
pub const UNSUPPORTED_PROTOCOL_VERSION: i32 = -32022;
