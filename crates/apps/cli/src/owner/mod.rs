//! Owning a home: one `serve` at a time, reachable by every other verb through the control socket.

mod serve;

use std::sync::Arc;

use tokio::sync::watch;
use toolgate_host::Home;
use toolgate_transport::local::{Listener, Lock};

use crate::exit::{Failure, chain};

pub use serve::serve;

/// The home is ours for as long as this lives.
#[derive(Debug)]
pub struct Claim {
    /// None where no socket can be had: then nobody can attach.
    listener: Option<Listener>,
    /// How many MCP clients are attached.
    attached: Arc<watch::Sender<usize>>,
    _lock: Lock,
}

impl Claim {
    /// Waits until no MCP client is attached.
    pub async fn left_by_all(&self) {
        // The sender is here, so it cannot be gone.
        let _ = self.attached.subscribe().wait_for(|clients| *clients == 0).await;
    }
}

/// Takes the home, unless somebody has it.
pub fn claim(home: &Home) -> Result<Option<Claim>, Failure> {
    home.create().map_err(|error| Failure::failed(chain(&error)))?;
    let lock = Lock::take(&home.state_dir().join("control.lock")).map_err(|error| {
        let home = home.state_dir().display();
        Failure::failed(format!("own {home}: failed to {error}"))
            .hint("name another home with --home DIR")
    })?;
    let Some(lock) = lock else { return Ok(None) };
    let listener = Listener::bind(&home.control_socket(), &lock).inspect_err(|error| {
        tracing::warn!(
            target: "toolgate::gateway",
            "other verbs cannot attach to this gateway: failed to {error}"
        );
    });
    Ok(Some(Claim { listener: listener.ok(), attached: Arc::default(), _lock: lock }))
}
