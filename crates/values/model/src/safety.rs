//! The declared safety settings of a server's process.
//!
//! They are kept for the rules that check them and for writing them back; nothing is checked here.

/// What was reviewed, and how the process is sandboxed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SafetySpec {
    /// The reviewed commands; empty if nothing is declared.
    pub allowed_commands: Vec<String>,
    /// The digest of the reviewed manifest, `sha256:<64 hex>`.
    pub manifest_digest: Option<String>,
    /// The signature of the manifest.
    pub manifest_signature: Option<String>,
    /// The sandbox of the process.
    pub sandbox: SandboxSpec,
    /// The consent that a client recorded, as written: `approved`.
    pub client_consent: Option<String>,
}

/// The sandbox of a process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SandboxSpec {
    /// Whether the sandbox is enabled, if declared.
    pub enabled: Option<bool>,
    /// The name of a sandbox profile.
    pub profile: Option<String>,
    /// Paths that the process may write.
    pub allow_write: Vec<String>,
    /// Paths that the process must not read.
    pub deny_read: Vec<String>,
    /// Paths that the process must not write.
    pub deny_write: Vec<String>,
    /// Hosts that the process may reach.
    pub allowed_domains: Vec<String>,
    /// Hosts that the process must not reach.
    pub denied_domains: Vec<String>,
}
