//! `compile-resource --watch`: compiles a resource again whenever it changes, until somebody stops
//! it.
//!
//! The server is asked to tell; one that does not is looked at from time to time, if the user says
//! how often. What was compiled stays whatever becomes of the resource: only `context forget` takes
//! it out.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};
use toolgate_context::compile::Outcome;
use toolgate_wire::{method, string};

use super::{Work, inventory, line, remark};
use crate::exit::{Exit, Failure};
use crate::out::{self, visible};

/// Changes come in bursts; after the first we wait so long for the rest.
const SETTLE: Duration = Duration::from_millis(100);

pub(super) async fn follow(work: &Work<'_>, every: Option<Duration>) -> Result<(), Failure> {
    let mut news = work.link.news();
    // Before the first reading: a change right behind it is told.
    subscribe(work, every).await?;
    let mut seen = *news.borrow_and_update();
    again(work, true).await?;
    let (mut listed, mut clock) = (work.listed, Clock::of(every));
    loop {
        let ticked = tokio::select! {
            heard = news.changed() => heard.map(|()| false).map_err(|_| over())?,
            () = clock.tick() => true,
        };
        tokio::time::sleep(SETTLE).await;
        let now = *news.borrow_and_update();
        if now.over {
            return Err(over());
        }
        let mut due = ticked || now.updates != seen.updates;
        if now.lists != seen.lists && work.listed {
            let is_listed = still_listed(work, listed).await?;
            due |= is_listed && !listed;
            listed = is_listed;
        }
        seen = now;
        if due {
            go_on(again(work, false).await)?;
        }
    }
}

/// When to look again unasked, if ever.
struct Clock(Option<Interval>);

impl Clock {
    fn of(every: Option<Duration>) -> Self {
        Self(every.map(|every| {
            let mut ticks = interval_at(Instant::now() + every, every);
            // After a long reading the next one is not hurried.
            ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            ticks
        }))
    }

    async fn tick(&mut self) {
        match &mut self.0 {
            Some(ticks) => _ = ticks.tick().await,
            None => std::future::pending().await,
        }
    }
}

/// Asks to be told of changes.
async fn subscribe(work: &Work<'_>, every: Option<Duration>) -> Result<(), Failure> {
    let params = format!(r#"{{"uri":{}}}"#, string::encode(&work.exposed));
    let told = work.link.request(&work.server, method::RESOURCES_SUBSCRIBE, &params).await;
    let Err(failure) = told else { return Ok(()) };
    let Some(every) = every else {
        let what = format!("watch `{}`: {}", work.uri, failure.what);
        return Err(Failure { what, ..failure }
            .hint("a server that does not tell of changes can be looked at: --every 5m"));
    };
    let _apart = work.spinner.hide();
    out::note(&format!(
        "{} {} does not tell of changes ({}); it is read again every {} s",
        out::cyan("note:"),
        visible(&work.server),
        visible(&failure.what),
        every.as_secs(),
    ));
    Ok(())
}

/// Compiles it, and tells what is new: the first time, whatever it is.
async fn again(work: &Work<'_>, first: bool) -> Result<(), Failure> {
    let (compiled, trust) = work.compile().await?;
    let _apart = work.spinner.hide();
    if compiled.outcome == Outcome::Unchanged && !first {
        return Ok(());
    }
    remark(&compiled);
    match work.context.json {
        true => out::line(&work.shape(&compiled, trust).to_string())?,
        false => out::line(&line(&compiled))?,
    }
    work.spinner.say(&format!("watching {}", work.uri));
    Ok(())
}

/// A reading that fails is told, and the next may succeed; a word taken back ends it, and so does a
/// reader that left.
fn go_on(outcome: Result<(), Failure>) -> Result<(), Failure> {
    match outcome {
        Err(failure) if failure.exit == Exit::Failed => {
            failure.report();
            out::note("what was compiled stays; still watching");
            Ok(())
        }
        outcome => outcome,
    }
}

/// Whether the server lists it, telling where that changed.
async fn still_listed(work: &Work<'_>, before: bool) -> Result<bool, Failure> {
    let offered = inventory(work.reach, &work.server, work.context.seeing()).await;
    // A server that does not come up is told by the next reading.
    let Ok(offered) = offered else { return Ok(before) };
    let listed = offered.resources.iter().any(|offer| offer.name == work.uri);
    if listed == before {
        return Ok(listed);
    }
    let _apart = work.spinner.hide();
    let (server, uri, key) = (visible(&work.server), visible(&work.uri), visible(&work.key()));
    out::note(&match listed {
        true => format!("{server} lists {uri} again"),
        false => format!(
            "{server} no longer lists {uri}; what was compiled stays\n{} `toolgate context forget \
             '{key}'` takes it out",
            out::cyan("hint:"),
        ),
    });
    if work.context.json {
        let outcome = if listed { "listed" } else { "unlisted" };
        let (server, uri, source) = (&work.server, &work.uri, work.key());
        let event = json!({ "server": server, "uri": uri, "source": source, "outcome": outcome });
        out::line(&event.to_string())?;
    }
    Ok(listed)
}

fn over() -> Failure {
    Failure::failed("go on watching: the gateway that owns this home has ended")
        .hint("start it again, or watch without one")
}
