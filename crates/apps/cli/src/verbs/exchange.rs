//! One MCP request of a verb, from finding the server to its answer. Ctrl-C cancels it, and only
//! it.

use std::sync::Arc;

use toolgate_host::Signals;
use toolgate_wire::Frame;

use crate::ask::Person;
use crate::context::Context;
use crate::control::{Inventory, Question};
use crate::exit::Failure;
use crate::out::Spinner;
use crate::reach::Reach;
use crate::station::Terms;

/// A request once it is known what the server offers.
pub struct Request {
    /// The method.
    pub method: &'static str,
    /// Its params, without `_meta`, as the members of a JSON object.
    pub members: String,
}

/// Finds the server, makes the request of what it offers, and waits for the answer.
pub async fn run(
    context: &Context,
    server: &str,
    request: impl AsyncFnOnce(&Reach, &Inventory) -> Result<Request, Failure>,
) -> Result<Frame, Failure> {
    let spinner = Spinner::new(&format!("waiting for {server}"));
    let failed = |error| Failure::failed(format!("listen for signals: {error}"));
    let mut signals = Signals::new().map_err(failed)?;
    let reach = Reach::find(context, Terms::only(server)).await?;
    let person = Arc::new(Person::new(server, spinner, context.verbose));
    let from = From { reach: &reach, server, profile: context.seeing() };
    let outcome = ask(from, person, request, &mut signals).await;
    tokio::select! {
        () = reach.close() => {}
        () = signals.next() => {}
    }
    outcome
}

/// Where a request goes, and with whose eyes.
struct From<'a> {
    reach: &'a Reach,
    server: &'a str,
    profile: &'a str,
}

async fn ask(
    From { reach, server, profile }: From<'_>,
    person: Arc<Person>,
    request: impl AsyncFnOnce(&Reach, &Inventory) -> Result<Request, Failure>,
    signals: &mut Signals,
) -> Result<Frame, Failure> {
    let question = Question::Discover { server: server.to_owned(), profile: profile.to_owned() };
    let inventory: Inventory = unless_interrupted(signals, reach.ask(&question)).await?;
    inventory.usable()?;
    let Request { method, members } = request(reach, &inventory).await?;
    let link = reach.link(profile, person).await?;
    // A server that may report how far it is keeps the call from looking dead.
    let params = format!(r#"{{{members},"_meta":{{"progressToken":1}}}}"#);
    let answer = unless_interrupted(signals, link.request(server, method, &params)).await;
    // An interrupted request is cancelled at the server; that must be heard before we go.
    link.close().await;
    answer
}

/// Work, unless a signal comes first: then it is given up.
pub async fn unless_interrupted<T>(
    signals: &mut Signals,
    work: impl Future<Output = Result<T, Failure>>,
) -> Result<T, Failure> {
    tokio::select! {
        outcome = work => outcome,
        () = signals.next() => Err(Failure::failed("finish: it was interrupted")),
    }
}
