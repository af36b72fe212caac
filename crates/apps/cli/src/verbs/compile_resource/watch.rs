//! `compile-resource --watch`: compiles a resource again when it changes, until interrupted.
//!
//! Changes are reported by the server; `--every` also polls servers that do not report them. A
//! compiled document stays when the resource disappears: only `context forget` removes it.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, MissedTickBehavior, interval_at};
use toolgate_context::compile::ResourceCompileOutcome;
use toolgate_wire::{method, string};

use super::{ResourceImporter, print_remarks, summary_line};
use crate::exit::{CliError, Exit, Result, cli_error};
use crate::out;

/// How long to wait after a change notification for more of the same burst.
const SETTLE_DELAY: Duration = Duration::from_millis(100);
/// The interval of polling without `--every`: longer than any process runs.
const NEVER: Duration = Duration::from_secs(30 * 365 * 86_400);

pub(super) async fn follow(work: &ResourceImporter<'_>, every: Option<Duration>) -> Result<()> {
    let mut news = work.link.notifications.clone();
    // Subscribes before the first read, so that no change after it is missed.
    subscribe(work, every).await?;
    let mut seen = *news.borrow_and_update();
    compile_again(work, true).await?;
    let mut listed = work.listed;
    let every = every.unwrap_or(NEVER);
    let mut clock = interval_at(Instant::now() + every, every);
    // After a slow read the next one waits a whole interval.
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let ticked = tokio::select! {
            heard = news.changed() => heard.map(|()| false).map_err(|_| gateway_ended_error())?,
            _ = clock.tick() => true,
        };
        tokio::time::sleep(SETTLE_DELAY).await;
        let now = *news.borrow_and_update();
        if now.ended {
            return Err(gateway_ended_error());
        }
        let mut due = ticked || now.resource_updates != seen.resource_updates;
        if now.list_changes != seen.list_changes && work.listed {
            let is_listed = check_listed(work, listed).await?;
            due |= is_listed && !listed;
            listed = is_listed;
        }
        seen = now;
        if due {
            report_and_continue(compile_again(work, false).await, work.context.json)?;
        }
    }
}

/// Subscribes to changes. Without `--every`, a server that rejects the subscription is an error.
async fn subscribe(work: &ResourceImporter<'_>, every: Option<Duration>) -> Result<()> {
    let params = format!(r#"{{"uri":{}}}"#, string::encode(&work.exposed));
    let answer = work.link.request(&work.server, method::RESOURCES_SUBSCRIBE, &params).await;
    let Err(failure) = answer else { return Ok(()) };
    let Some(every) = every else {
        let message = format!("cannot watch `{}`: {}", work.uri, failure.message);
        return Err(CliError { message, ..failure }
            .hint("use `--every 5m` to poll a server that does not report changes"));
    };
    let _apart = work.spinner.hide();
    out::remark(&format!(
        "{} does not report changes ({failure}); reading the resource every {} s",
        work.server,
        every.as_secs(),
    ));
    Ok(())
}

/// Compiles the resource and prints the outcome, except when nothing changed since the first time.
async fn compile_again(work: &ResourceImporter<'_>, first: bool) -> Result<()> {
    let (compiled, trust) = work.compile().await?;
    let _apart = work.spinner.hide();
    if compiled.outcome == ResourceCompileOutcome::Unchanged && !first {
        return Ok(());
    }
    print_remarks(&compiled);
    match work.context.json {
        true => out::line(&work.compiled_json(&compiled, trust).to_string())?,
        false => out::line(&summary_line(&compiled))?,
    }
    work.spinner.set_text(&format!("watching {}", work.uri));
    Ok(())
}

/// Reports a failed read and continues, because the next one may succeed. Other errors end the
/// watch: a withdrawn permission, or closed standard output.
fn report_and_continue(outcome: Result<()>, json: bool) -> Result<()> {
    match outcome {
        Err(failure) if failure.exit() == Exit::Failed => {
            failure.report(json);
            out::note("the compiled document stays; still watching");
            Ok(())
        }
        outcome => outcome,
    }
}

/// Returns true if the server lists the resource, and prints a note if that changed.
async fn check_listed(work: &ResourceImporter<'_>, before: bool) -> Result<bool> {
    let offered = work.access.inventory(&work.server, work.context.profile_or_default()).await;
    // If the server cannot be reached, the next read reports it.
    let Ok(offered) = offered else { return Ok(before) };
    let listed = offered.resources.iter().any(|offer| offer.name == work.uri);
    if listed == before {
        return Ok(listed);
    }
    let _apart = work.spinner.hide();
    let (server, uri, source) = (&work.server, &work.uri, work.key());
    if listed {
        out::note(&format!("{server} lists {uri} again"));
    } else {
        out::note(&format!("{server} no longer lists {uri}; the compiled document stays"));
        out::hint(&format!("run `toolgate context forget '{source}'` to remove it"));
    }
    if work.context.json {
        let outcome = if listed { "listed" } else { "unlisted" };
        let event = json!({ "server": server, "uri": uri, "source": source, "outcome": outcome });
        out::line(&event.to_string())?;
    }
    Ok(listed)
}

fn gateway_ended_error() -> CliError {
    cli_error!(GatewayUnreachable, "the gateway that serves this home has stopped")
        .hint("run `toolgate serve` again, or watch without a gateway")
}
