//! Ownership of a home: one gateway at a time owns it and serves its control socket, through which
//! other verbs attach.

mod control_socket;

use std::sync::Arc;

use tokio::sync::watch;
use toolgate_host::Home;
use toolgate_transport::local::{ListenLock, LocalListener};

use crate::exit::{Result, cli_error, error_chain};

pub use control_socket::serve_control_socket;

/// The claim of this process on a home; it lasts until it is dropped.
#[derive(Debug)]
pub struct HomeClaim {
    /// The control socket. `None` if it could not be bound; then no verb can attach.
    listener: Option<LocalListener>,
    /// The number of attached MCP clients.
    attached_clients: Arc<watch::Sender<usize>>,
    _lock: ListenLock,
}

impl HomeClaim {
    /// Waits until no MCP client is attached.
    pub async fn wait_for_detach(&self) {
        // Cannot fail: the sender lives in `self`.
        let _ = self.attached_clients.subscribe().wait_for(|clients| *clients == 0).await;
    }
}

/// Claims the home. Returns `None` if another process owns it.
pub fn claim_home(home: &Home) -> Result<Option<HomeClaim>> {
    home.create()?;
    let lock =
        ListenLock::try_acquire(&home.state_dir().join("control.lock")).map_err(|error| {
            let home = home.state_dir().display();
            cli_error!(GatewayHome, "cannot claim {home}: {}", error_chain(&error))
                .hint("use another home with --home DIR")
        })?;
    let Some(lock) = lock else { return Ok(None) };
    let listener = LocalListener::bind(&home.control_socket(), &lock).inspect_err(|error| {
        tracing::warn!(
            target: "toolgate::gateway",
            "other verbs cannot attach to this gateway: {}",
            error_chain(error)
        );
    });
    Ok(Some(HomeClaim { listener: listener.ok(), attached_clients: Arc::default(), _lock: lock }))
}
