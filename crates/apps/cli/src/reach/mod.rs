//! How a verb reaches the servers: through the living owner of the home, or through a host of its
//! own. What it does with them is the same either way.

mod link;
mod living;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use toolgate_host::Interactor;

use crate::context::Context;
use crate::control::Question;
use crate::exit::Failure;
use crate::operator::{Requester, Typed};
use crate::out;
use crate::station::{Station, Terms};

pub use link::Link;
pub use living::Living;

/// The way to the servers.
pub enum Reach {
    /// Another process has them.
    Attached(Living),
    /// This one has.
    Own(Arc<Station>, Arc<Typed>),
}

impl Reach {
    /// Attaches to whoever owns the home, or starts a host on these terms.
    pub async fn find(context: &Context, terms: Terms<'_>) -> Result<Self, Failure> {
        if let Some(living) = Living::of(context).await {
            return Ok(Self::Attached(living));
        }
        let quiet = terms.quiet;
        let station = Station::open(context, terms).await?;
        if !quiet {
            out::faults(&station.desk().findings(), context.verbose);
        }
        Ok(Self::Own(station, context.typed.clone()))
    }

    /// Asks a question about the servers.
    pub async fn ask<T: DeserializeOwned>(&self, question: &Question) -> Result<T, Failure> {
        let answer = match self {
            Self::Attached(living) => living.ask(question).await?,
            Self::Own(station, typed) => {
                let desk = station.desk();
                let needed = desk.operators().has_passphrase() && question.is_for_operators();
                let passphrase = if needed { typed.passphrase()? } else { None };
                desk.answer(question, &Requester::here(passphrase)).await?
            }
        };
        let unread = |error| Failure::failed(format!("understand the gateway: {error}"));
        serde_json::from_str(answer.get()).map_err(unread)
    }

    /// Opens an MCP session that sees with this profile.
    pub async fn link(&self, profile: &str, port: Arc<dyn Interactor>) -> Result<Link, Failure> {
        match self {
            Self::Attached(living) => Link::to(living, profile, port).await,
            Self::Own(station, _) => Link::within(station, profile, port).await,
        }
    }

    /// Leaves: servers of our own are ended.
    pub async fn close(&self) {
        if let Self::Own(station, _) = self {
            station.close().await;
        }
    }
}
