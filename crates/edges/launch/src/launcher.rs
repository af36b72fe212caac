//! Starts commands with the strongest guarantee this machine supports.

use std::sync::OnceLock;

use crate::child::ChildProcess;
use crate::command::LaunchSpec;
use crate::error::LaunchError;
use crate::guarantee::TreeGuarantee;
#[cfg(target_os = "linux")]
use crate::guarded_tree;
use crate::helper::LaunchHelperProgram;
use crate::process_group;
use crate::stderr::ServerStderrLogOptions;

/// A starter of processes. One per host is enough.
#[derive(Debug)]
pub struct Launcher {
    helper: LaunchHelperProgram,
    ceiling: TreeGuarantee,
    guarantee: OnceLock<TreeGuarantee>,
}

impl Launcher {
    /// Creates a launcher that uses `helper` to guard its process trees.
    pub fn new(helper: LaunchHelperProgram) -> Self {
        Self { helper, ceiling: TreeGuarantee::Namespace, guarantee: OnceLock::new() }
    }

    /// Limits the guarantee to `ceiling`, for servers that need a feature that a user namespace
    /// does not allow, such as set-uid programs.
    #[must_use]
    pub fn with_ceiling(self, ceiling: TreeGuarantee) -> Self {
        Self { ceiling, guarantee: OnceLock::new(), ..self }
    }

    /// Returns how reliably the process trees end with this process.
    ///
    /// The first call runs the helper to find out, which takes some milliseconds.
    pub fn guarantee(&self) -> TreeGuarantee {
        *self.guarantee.get_or_init(|| self.probe())
    }

    /// Starts `command`. Returns as soon as the program runs or has failed to start.
    pub async fn start(&self, spec: &LaunchSpec) -> Result<ChildProcess, LaunchError> {
        let command = spec.prepare()?;
        let guarantee = self.guarantee();
        let started = match self.helper.path() {
            #[cfg(target_os = "linux")]
            Some(helper) if guarantee > TreeGuarantee::ProcessGroup => {
                guarded_tree::start(helper, guarantee, &spec.label, &command).await?
            }
            _ => process_group::start(&command)?,
        };
        let (label, mask) = (spec.label.clone(), spec.mask.clone());
        let log_options = ServerStderrLogOptions { label, mask };
        Ok(ChildProcess::start_supervised(started, log_options, guarantee))
    }

    #[cfg(target_os = "linux")]
    fn probe(&self) -> TreeGuarantee {
        let possible = match self.helper.path() {
            Some(helper) => guarded_tree::probe(helper),
            None => TreeGuarantee::ProcessGroup,
        };
        possible.min(self.ceiling)
    }

    #[cfg(not(target_os = "linux"))]
    fn probe(&self) -> TreeGuarantee {
        TreeGuarantee::ProcessGroup
    }
}
