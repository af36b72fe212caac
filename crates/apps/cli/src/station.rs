//! A host and the gateway before it, in this process.

use std::sync::Arc;

use toolgate_gateway::{Gateway, Health, Options};
use toolgate_host::{Host, Plan, ServerState, Setup, Standing, json};
use toolgate_wire::Revision;

use crate::context::Context;
use crate::control::{Desk, no_server};
use crate::exit::Failure;

/// The built-in server of a home without any other.
const SAMPLE: &str = "sample";

/// How a station is opened.
#[derive(Debug, Default)]
pub struct Terms<'a> {
    /// Start this server and no other.
    pub only: Option<&'a str>,
    /// Speak this revision and refuse every other.
    pub strict: Option<Revision>,
    /// The address clients reach it at.
    pub endpoint: Option<String>,
}

/// A host that is up, and how clients get to it.
pub struct Station {
    desk: Desk,
    gateway: Gateway,
}

impl Station {
    /// Reads the plan and starts what it says, in the background.
    pub async fn open(context: &Context, terms: Terms<'_>) -> Result<Arc<Self>, Failure> {
        let options = context.options()?;
        let setup = context.setup().await?;
        let findings = setup.plan().diagnostics.iter().map(ToString::to_string).collect();
        let host = match terms.only {
            Some(name) => start_one(&setup, name).await?,
            None => Host::builder().setup(setup).sample_if_empty().start().await?,
        };
        let gateway = gateway(&host, terms.strict);
        let desk = Desk::new(host, options, findings, terms.endpoint);
        Ok(Arc::new(Self { desk, gateway }))
    }

    /// Where questions about it are answered.
    pub fn desk(&self) -> &Desk {
        &self.desk
    }

    /// The gateway, for a client that is strict about its revision or not.
    pub fn gateway(&self, strict: Option<Revision>) -> Gateway {
        match strict {
            Some(_) => gateway(self.desk.host(), strict),
            None => self.gateway.clone(),
        }
    }

    /// Ends every server.
    pub async fn close(&self) {
        self.desk.host().close().await;
    }
}

fn gateway(host: &Host, strict: Option<Revision>) -> Gateway {
    let counted = host.clone();
    let health = Health::new(move || {
        let servers = counted.servers().servers;
        let up = servers.iter().filter(|status| status.state == ServerState::Connected).count();
        json!({ "declared": servers.len(), "connected": up })
    });
    Gateway::new(host.gate().clone(), Options { strict, health, ..Options::default() })
}

/// A host with one server of the plan: nobody asked for the others.
async fn start_one(setup: &Setup, name: &str) -> Result<Host, Failure> {
    let plan = setup.plan();
    let settings = &plan.settings;
    let builder = Host::builder().roots(settings.roots.clone()).prefix(settings.prefix);
    if name == SAMPLE && is_idle(plan) {
        return Ok(builder.sample_if_empty().start().await?);
    }
    let unknown = |_| no_server(name, plan.entries.iter().map(|entry| entry.spec.name.as_str()));
    let entry = setup.entry(name).map_err(unknown)?;
    let host = builder.start().await?;
    host.enlist(entry).await;
    Ok(host)
}

/// Whether the plan has nothing to start.
fn is_idle(plan: &Plan) -> bool {
    plan.entries.iter().all(|entry| entry.standing == Standing::Disabled)
}
