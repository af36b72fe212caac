//! What a file says about how safely a server's process is to be started.
//!
//! Carried for the rules that judge it and for writing it back; nothing is judged here.

/// What was reviewed, and how the process is confined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Safety {
    /// Commands that were reviewed; empty: nothing is said.
    pub allowed_commands: Vec<String>,
    /// The digest of the reviewed manifest, `sha256:<64 hex>`.
    pub manifest_digest: Option<String>,
    /// The signature over it.
    pub manifest_signature: Option<String>,
    /// How the process is confined.
    pub sandbox: Sandbox,
    /// The word a client gave, as it is written: `approved`.
    pub client_consent: Option<String>,
}

/// How a process is confined.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sandbox {
    /// Whether it is confined at all, where the file says so.
    pub enabled: Option<bool>,
    /// The name of a profile.
    pub profile: Option<String>,
    /// Paths it may write.
    pub allow_write: Vec<String>,
    /// Paths it may not read.
    pub deny_read: Vec<String>,
    /// Paths it may not write.
    pub deny_write: Vec<String>,
    /// Hosts it may reach.
    pub allowed_domains: Vec<String>,
    /// Hosts it may not reach.
    pub denied_domains: Vec<String>,
}
