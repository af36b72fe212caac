//! Owning a home: one `serve` at a time, reachable by every other verb through the control socket.
//!
//! The lock says who owns the home, and the kernel lets it go with its holder; so a socket file
//! that lies there when the lock was free is left over, and is replaced.

mod serve;

use std::fs::{File, TryLockError};
use std::io;

use toolgate_host::Home;

use crate::exit::{Failure, chain};
use crate::platform::Listener;

pub use serve::serve;

/// The home is ours for as long as this lives.
#[derive(Debug)]
pub struct Claim {
    /// None where no socket can be had: then nobody can attach.
    listener: Option<Listener>,
    _lock: File,
}

/// Takes the home, unless somebody has it.
pub fn claim(home: &Home) -> Result<Option<Claim>, Failure> {
    home.create().map_err(|error| Failure::failed(chain(&error)))?;
    let path = home.state_dir().join("control.lock");
    let failed = |error: io::Error| {
        Failure::failed(format!("own {}: {error}", home.state_dir().display()))
            .hint("name another home with --home DIR")
    };
    let lock = File::options().create(true).write(true).truncate(false).open(path);
    let lock = lock.map_err(failed)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Ok(None),
        Err(TryLockError::Error(error)) => return Err(failed(error)),
    }
    let listener = Listener::bind(&home.control_socket());
    let listener = listener.inspect_err(|error| {
        let socket = home.control_socket();
        tracing::warn!(
            target: "toolgate::gateway", %error, socket = %socket.display(),
            "no control socket: other verbs cannot attach to this gateway"
        );
    });
    Ok(Some(Claim { listener: listener.ok(), _lock: lock }))
}
