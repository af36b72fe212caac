//! `serve --stdio`: for clients that start their servers. It relays to the living owner of the
//! home, and is the gateway itself where there is none.

use std::time::Duration;

use tokio::io::{stdin, stdout};
use tokio::time::timeout;
use toolgate_host::pins::Lock;
use toolgate_transport::peer::PeerProcess;
use toolgate_wire::Revision;

use super::relay;
use crate::context::Context;
use crate::ending;
use crate::exit::{Exit, Failure, chain};
use crate::owner::Claim;
use crate::reach::Living;
use crate::reload::Reloading;
use crate::station::{Station, Terms};
use crate::{following, out, owner, reload};

/// How long a gateway whose client has left waits for servers that start for the first time.
const FIRST_START: Duration = Duration::from_secs(10);

/// Stays a while after the client has left: until what new servers offer is stored, so that the next
/// run lists it at once, and for as long as other clients are attached here.
async fn linger(station: &Station, claim: Option<&Claim>) {
    let _ = timeout(FIRST_START, station.desk().host().first_seen()).await;
    if let Some(claim) = claim {
        claim.left_by_all().await;
    }
}

pub async fn run(
    context: &Context,
    strict: Option<Revision>,
    park: Duration,
    lock: Option<Lock>,
) -> Result<Exit, Failure> {
    // Whoever relays has no files of his own to read again, but is not to end either.
    let _hangups = reload::hangups()?;
    // Another gateway may let pass what this one was told not to.
    if lock.is_none()
        && let Some(living) = Living::of(context).await
    {
        let protocol = strict.map(|revision| revision.as_str().to_owned());
        let profile = context.profile.as_deref();
        return relay::run(living.converse(protocol, profile, false).await?).await;
    }
    // A client wants to be served even where the home cannot be owned.
    let claim = owner::claim(&context.home).unwrap_or_else(|failure| {
        tracing::warn!(target: "toolgate::gateway", "{failure}");
        None
    });
    // Another gateway answers for this home: it must know this client, too.
    if claim.is_none()
        && let Some(living) = Living::at(context).await
    {
        let _ = living.converse(None, None, false).await;
    }
    let profile = context.profile.as_deref();
    let terms =
        Terms { strict, park: Some(park), serving: true, profile, lock, ..Terms::default() };
    let reloading = Reloading::new(&context.options()?)?;
    let station = Station::open(context, terms).await?;
    out::faults(&station.desk().findings(), context.verbose);
    let (stop, ending) = ending::on_signal()?;
    // What this client calls is not for it to approve.
    if let Some(client) = PeerProcess::current().and_then(|own| own.starter()) {
        station.desk().operators().clients().record(client);
    }
    let client = async {
        let gateway = station.gateway(None, None);
        let served = gateway.serve_lines(stdin(), stdout(), ending.clone().reached()).await;
        ending.clone().or(linger(&station, claim.as_ref())).await;
        stop.now();
        served
    };
    let attached = async {
        if let Some(claim) = &claim {
            let follows = ending.clone().or(following::follow(station.desk()));
            tokio::join!(owner::serve(claim, &station, &ending), follows);
        }
    };
    let reloads = ending.clone().or(reloading.run(station.desk()));
    let (served, (), ()) = tokio::join!(client, attached, reloads);
    station.close().await;
    served.map_err(|error| Failure::failed(chain(&error)))?;
    Ok(Exit::Done)
}
