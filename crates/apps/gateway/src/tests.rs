//! The gateway on real sockets, with a scripted gate.
//!
//! The end-to-end tests of the workspace use the real gate and real servers. Here the gate must do
//! exactly what a test says, when it says it.

mod client;
mod drain;
mod lines;
mod modern;
mod old;
mod profiles;
mod requests;
pub(crate) mod script;
mod sessions;
mod streams;

use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::{Gateway, GatewayError, Options};
use client::Http;
use script::Script;

/// A gateway that serves HTTP, with its scripted gate.
struct Stage {
    script: Arc<Script>,
    http: Http,
    shutdown: Option<oneshot::Sender<()>>,
    serving: Serving,
}

impl Stage {
    async fn new(options: Options) -> Self {
        let script = Script::new();
        let (http, shutdown, serving) = serve(Gateway::new(script.clone(), options)).await;
        Self { script, http, shutdown: Some(shutdown), serving }
    }

    /// Creates a stage with a profile for clients that request none.
    async fn showing(profile: &str) -> Self {
        let script = Script::new();
        let gateway =
            Gateway::new(script.clone(), Options::default()).with_default_profile(Some(profile));
        let (http, shutdown, serving) = serve(gateway).await;
        Self { script, http, shutdown: Some(shutdown), serving }
    }

    async fn plain() -> Self {
        Self::new(Options::default()).await
    }

    fn end(&mut self) {
        drop(self.shutdown.take());
    }
}

type Serving = JoinHandle<Result<(), GatewayError>>;

/// Serves on a free port. Dropping the sender ends the server.
async fn serve(gateway: Gateway) -> (Http, oneshot::Sender<()>, Serving) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http = Http::new(listener.local_addr().unwrap());
    let (shutdown, told) = oneshot::channel::<()>();
    let serving = tokio::spawn(async move {
        let told = async {
            let _ = told.await;
        };
        gateway.serve_http(listener, told).await
    });
    (http, shutdown, serving)
}
