//! Starts commands, under the best guarantee this machine gives.

use std::sync::OnceLock;

use crate::child::Child;
use crate::command::Command;
use crate::error::LaunchError;
use crate::group;
use crate::guarantee::TreeGuarantee;
#[cfg(target_os = "linux")]
use crate::guarded;
use crate::helper::Helper;
use crate::stderr::Spoken;

/// Starts processes. Cheap to keep; one per host is enough.
#[derive(Debug)]
pub struct Launcher {
    helper: Helper,
    ceiling: TreeGuarantee,
    guarantee: OnceLock<TreeGuarantee>,
}

impl Launcher {
    /// A launcher that uses `helper` to guard its process trees.
    pub fn new(helper: Helper) -> Self {
        Self { helper, ceiling: TreeGuarantee::Namespace, guarantee: OnceLock::new() }
    }

    /// Asks for no more than `ceiling`: for servers that need what a user namespace takes away, such
    /// as set-uid programs.
    #[must_use]
    pub fn at_most(self, ceiling: TreeGuarantee) -> Self {
        Self { ceiling, guarantee: OnceLock::new(), ..self }
    }

    /// How surely the trees it starts end with us.
    ///
    /// The first call tries it out with the helper, which takes some milliseconds.
    pub fn guarantee(&self) -> TreeGuarantee {
        *self.guarantee.get_or_init(|| self.probe())
    }

    /// Starts `command`. Returns once the program runs, or with the reason why it does not.
    pub async fn start(&self, command: &Command) -> Result<Child, LaunchError> {
        let mask = command.mask.clone();
        let command = command.prepare()?;
        let guarantee = self.guarantee();
        let started = match self.helper.path() {
            #[cfg(target_os = "linux")]
            Some(helper) if guarantee > TreeGuarantee::ProcessGroup => {
                guarded::start(helper, guarantee, &command).await?
            }
            _ => group::start(&command)?,
        };
        let spoken = Spoken { label: command.label, mask };
        Ok(Child::supervised(started, spoken, guarantee))
    }

    #[cfg(target_os = "linux")]
    fn probe(&self) -> TreeGuarantee {
        let possible = match self.helper.path() {
            Some(helper) => guarded::probe(helper),
            None => TreeGuarantee::ProcessGroup,
        };
        possible.min(self.ceiling)
    }

    #[cfg(not(target_os = "linux"))]
    fn probe(&self) -> TreeGuarantee {
        TreeGuarantee::ProcessGroup
    }
}

impl Default for Launcher {
    fn default() -> Self {
        Self::new(Helper::current())
    }
}
