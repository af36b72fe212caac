//! A tool is called on a server that has tasks: what its caller wants, and what its server needs.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::Mutex;
use toolgate_bridge::tasks::{self, Form, TaskView};
use toolgate_fleet::Pool;
use toolgate_model::CapabilityId;
use toolgate_session::{Interactor, Outbound};
use toolgate_transport::spool;
use toolgate_wire::view::TaskSupport;
use toolgate_wire::{Era, Frame, Span, build, scan};

use super::facts::Manner;
use super::finish::Wait;
use super::inbox::Inbox;
use super::ledger::Ledger;
use super::outcome::Outcome;
use super::port::Declaring;
use super::progress::Teller;
use super::task::{Course, Task};
use super::upstream::Upstream;
use super::{clock, missing, own_frame, unreadable};
use crate::admit::Place;
use crate::refusal::Stop;
use crate::{Caller, Refusal};

/// How long a result is held that came at once, if the caller does not say; and at most.
const HELD: Duration = Duration::from_secs(3600);
const HELD_AT_MOST: Duration = Duration::from_secs(24 * 3600);

/// One call of a tool.
pub(crate) struct Call<'a> {
    pub(crate) tool: &'a CapabilityId,
    pub(crate) pool: &'a Arc<Pool>,
    pub(crate) caller: &'a Arc<Caller>,
    pub(crate) outbound: &'a Outbound,
    /// Whether the tool may be called again if its server provably did not run it.
    pub(crate) repeatable: &'a (dyn Fn() -> bool + Sync),
    /// Held while the server is busy with it.
    pub(crate) place: Place<'a>,
}

impl Call<'_> {
    /// Calls the tool and gives the answer in the caller's form of tasks, if it is a task.
    pub(crate) async fn run(self, manner: Manner, ledger: &Ledger) -> Result<Frame, Stop> {
        let modern = self.caller.revision.era() == Era::Modern;
        match (self.wanted(), manner) {
            (Some(Form::Session), Manner::Session(_)) => self.straight(Form::Session, ledger).await,
            (Some(Form::Extension), Manner::Extension) => {
                self.straight(Form::Extension, ledger).await
            }
            (Some(Form::Session), Manner::Extension) => self.session_on_extension(ledger).await,
            (_, Manner::Session(TaskSupport::Forbidden))
            | (None, Manner::Session(TaskSupport::Optional)) => self.send(self.unhinted()?).await,
            (Some(Form::Extension), Manner::Session(_)) => self.extension_on_session(ledger).await,
            // A modern caller can be told what he lacks; an older one has no way to learn it.
            (None, Manner::Session(TaskSupport::Required)) if modern => Err(missing().into()),
            (None, Manner::Session(TaskSupport::Required)) => self.blocking_on_session().await,
            (None, Manner::Extension) => self.blocking_on_extension(modern).await,
        }
    }

    /// The form of task the caller wants or understands for this call.
    fn wanted(&self) -> Option<Form> {
        let form = Form::of_client(self.caller.revision, &self.caller.capabilities)?;
        let hinted = || scan::member(self.params(), "task").is_some();
        (form == Form::Extension || hinted()).then_some(form)
    }

    fn params(&self) -> &[u8] {
        self.outbound.frame.params().unwrap_or_default()
    }

    async fn send(&self, outbound: Outbound) -> Result<Frame, Stop> {
        Ok(self.pool.call(&outbound, self.repeatable).await?)
    }

    fn port(&self) -> Arc<dyn Interactor> {
        self.outbound.port.clone()
    }

    fn as_it_is(&self) -> Outbound {
        let Outbound { frame, rename, port } = self.outbound;
        Outbound { frame: frame.clone(), rename: rename.clone(), port: port.clone() }
    }

    /// The request with another `task` member, or without one.
    fn hinted(&self, hint: Option<&str>, port: Arc<dyn Interactor>) -> Result<Outbound, Refusal> {
        let Outbound { frame, rename, .. } = self.outbound;
        let params: Span = frame.params_span().ok_or_else(|| Refusal::incomplete("name"))?;
        let mut edit = frame.edit();
        if let Some((span, name)) = rename {
            edit = edit.replace(*span, name);
        }
        edit = match hint {
            Some(hint) => edit.set_member(params, "task", hint),
            None => edit.delete_member(params, "task"),
        };
        let frame = edit.frame().map_err(|_| unreadable())?;
        Ok(Outbound { frame, rename: None, port })
    }

    /// What a modern caller says in the older form means nothing, and must not begin to.
    fn unhinted(&self) -> Result<Outbound, Refusal> {
        let modern = self.caller.revision.era() == Era::Modern;
        match modern && scan::member(self.params(), "task").is_some() {
            true => self.hinted(None, self.port()),
            false => Ok(self.as_it_is()),
        }
    }

    /// A task that has just begun.
    fn begun(&self, course: Course, task: &[u8]) -> Result<Task, Refusal> {
        let goes_on = !matches!(course, Course::Held);
        let begun = Task::new(self.caller, self.pool.is_own(), self.tool, course, task);
        let begun = begun.ok_or_else(unreadable)?;
        Ok(if goes_on { begun.at(self.pool.stay()) } else { begun })
    }

    async fn straight(&self, form: Form, ledger: &Ledger) -> Result<Frame, Stop> {
        let answer = self.send(self.as_it_is()).await?;
        if let Some(task) = tasks::task_of(answer.result().unwrap_or_default(), form) {
            ledger.add(self.begun(Course::Straight(form), task)?);
        }
        Ok(answer)
    }

    async fn session_on_extension(&self, ledger: &Ledger) -> Result<Frame, Stop> {
        let port = Arc::new(Declaring(self.port()));
        let answer = self.send(self.hinted(None, port)?).await?;
        // What is held here must be whole.
        let answer = spool::whole(answer).await.map_err(|_| unreadable())?;
        let Some(result) = answer.result() else { return Ok(answer) };
        let created = match tasks::task_of(result, Form::Extension) {
            Some(task) => {
                let course = Course::SessionOnExtension(Mutex::default());
                ledger.add(self.begun(course, task)?);
                tasks::created(task, Form::Extension, Form::Session)
            }
            None => self.hold(Bytes::copy_from_slice(result), ledger)?,
        };
        Ok(own_frame(build::response("0", &created.ok_or_else(unreadable)?))?)
    }

    /// The server answered at once: a finished task that is kept here.
    fn hold(&self, result: Bytes, ledger: &Ledger) -> Result<Option<Bytes>, Refusal> {
        let params = self.params();
        let asked = scan::pointer(params, &["task", "ttl"]).map(|at| at.of(params));
        let asked = asked.and_then(|raw| std::str::from_utf8(raw).ok()?.parse().ok());
        let ttl = asked.map_or(HELD, Duration::from_millis).min(HELD_AT_MOST);
        let id = fresh_id().ok_or_else(unreadable)?;
        let finished = tasks::finished(&id, &clock::now(), ttl);
        let task = ledger.add(self.begun(Course::Held, &finished)?);
        ledger.settle(&task, Outcome::Result(result));
        Ok(tasks::created(&finished, Form::Extension, Form::Session))
    }

    async fn extension_on_session(&self, ledger: &Ledger) -> Result<Frame, Stop> {
        let answer = self.send(self.hinted(Some("{}"), self.port())?).await?;
        let Some(task) = tasks::task_of(answer.result().unwrap_or_default(), Form::Session) else {
            return Ok(answer);
        };
        let inbox = Inbox::new(self.caller.id.scope(), self.caller.capabilities.clone());
        ledger.add(self.begun(Course::ExtensionOnSession(inbox), task)?);
        let created = tasks::created(task, Form::Session, Form::Extension);
        Ok(own_frame(build::response("0", &created.ok_or_else(unreadable)?))?)
    }

    async fn blocking_on_session(self) -> Result<Frame, Stop> {
        let answer = self.send(self.hinted(Some("{}"), self.port())?).await?;
        self.awaited(answer, Form::Session).await
    }

    /// The extension is not declared unless the server cannot do without: most answer at once.
    async fn blocking_on_extension(self, modern: bool) -> Result<Frame, Stop> {
        let answer = self.send(self.as_it_is()).await?;
        let answer = match answer.error() {
            // Refused before it ran, so that calling again runs it once.
            Some(error) if tasks::missing_tasks(error) && !modern => {
                self.send(self.hinted(None, Arc::new(Declaring(self.port())))?).await?
            }
            _ => answer,
        };
        self.awaited(answer, Form::Extension).await
    }

    /// The outcome of the task that an answer announces, if it announces one. It may be long in
    /// coming, and meanwhile the server's place is another's.
    async fn awaited(self, answer: Frame, form: Form) -> Result<Frame, Stop> {
        let Some(task) = tasks::task_of(answer.result().unwrap_or_default(), form) else {
            return Ok(answer);
        };
        let id = scan::text(task, "taskId").ok_or_else(unreadable)?.into_owned();
        let upstream = Upstream { pool: self.pool.clone(), form, id, port: self.port() };
        let mut abandoned = Abandoned(Some(upstream.clone()));
        let mut teller = Teller::new(&self.outbound.frame, self.port());
        let answered = Mutex::new(HashSet::new());
        let wait = Wait { upstream: &upstream, answered: &answered, known: false };
        let _place = self.place.aside();
        let told = |_: &Bytes, view: &TaskView<'_>| {
            teller.tell(view);
            None
        };
        let outcome = wait.end(told).await?;
        abandoned.0 = None;
        let outcome = match outcome {
            Outcome::Result(result) => Outcome::Result(tasks::unrelated(&result).unwrap_or(result)),
            outcome => outcome,
        };
        Ok(outcome.answer()?)
    }
}

/// A task nobody waits for any more is cancelled at its server.
struct Abandoned(Option<Upstream>);

impl Drop for Abandoned {
    fn drop(&mut self) {
        let running = tokio::runtime::Handle::try_current().ok();
        if let (Some(upstream), Some(running)) = (self.0.take(), running) {
            running.spawn(async move {
                if let Err(error) = upstream.cancel().await {
                    tracing::debug!(target: "toolgate::gate", %error, "a task was not cancelled");
                }
            });
        }
    }
}

fn fresh_id() -> Option<String> {
    let mut random = [0_u8; 16];
    getrandom::fill(&mut random).ok()?;
    Some(format!("task-{:032x}", u128::from_ne_bytes(random)))
}
