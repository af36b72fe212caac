//! `skills/list` where several servers have skills: one list, as those of the protocol itself.
//!
//! Every page of every server is fetched; a server that does not answer is left out, as one that
//! is down is. What a server says of its list besides the skills is lost. All other requests of
//! the extension name what they are about, and go to the one server that has it.

use std::sync::Arc;

use futures_util::future::join_all;
use toolgate_bridge as bridge;
use toolgate_fleet::FleetError;
use toolgate_model::ServerName;
use toolgate_session::Interactor;
use toolgate_wire::{Era, Frame, build, code, scan};

use crate::decide::Matter;
use crate::params::Params;
use crate::present::own_frame;
use crate::view::View;
use crate::{Caller, Gate, Refusal, extension};

pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";
pub(crate) const LIST: &str = "skills/list";

/// How many pages of one server are fetched.
const MAX_PAGES: usize = 64;
/// How many bytes of skills are gathered of one server.
const MAX_BYTES: usize = 8 << 20;

/// Who asks, and what he asked.
struct Asking<'a> {
    gate: &'a Gate,
    view: &'a Arc<View>,
    request: &'a Frame,
    caller: &'a Arc<Caller>,
    port: Arc<dyn Interactor>,
}

impl Gate {
    /// The skills of these servers.
    pub(crate) async fn list_skills(
        &self,
        view: &Arc<View>,
        request: &Frame,
        caller: &Arc<Caller>,
        port: Arc<dyn Interactor>,
    ) -> Result<Frame, Refusal> {
        if scan::member(request.params().unwrap_or_default(), "cursor").is_some() {
            let message = "the list has one page only".into();
            return Err(Refusal { code: code::INVALID_PARAMS, message, data: None });
        }
        let asking = Asking { gate: self, view, request, caller, port };
        let servers = view.skilled();
        let answers = join_all(servers.iter().map(|server| asking.of(server))).await;
        let mut skills = Vec::new();
        for (server, answer) in servers.iter().zip(answers) {
            match answer {
                Ok(own) => skills.extend(own),
                Err(refusal) => {
                    tracing::warn!(target: "toolgate::gate", %server, "its skills are not listed: {refusal}");
                }
            }
        }
        let tail = match caller.revision.era() {
            Era::Modern => bridge::list_tail(0, false),
            Era::Legacy => String::new(),
        };
        let list = format!("{{\"skills\":[{}]{tail}}}", skills.join(","));
        own_frame(build::response("0", list.as_bytes()))
    }
}

impl Asking<'_> {
    /// The skills of one server, as its caller must see them.
    async fn of(&self, server: &ServerName) -> Result<Vec<String>, Refusal> {
        let (mut skills, mut size, mut frame) = (Vec::new(), 0, self.request.clone());
        for _ in 0..MAX_PAGES {
            let page = self.page(server, frame).await?;
            let page = page.result().unwrap_or_default();
            let at = scan::member(page, "skills").map(|at| at.of(page)).unwrap_or_default();
            let own = scan::elements(at).map(|skill| String::from_utf8_lossy(skill.of(at)).into());
            let own: Vec<String> = own.collect();
            size += own.iter().map(String::len).sum::<usize>();
            if size > MAX_BYTES {
                break;
            }
            skills.extend(own);
            match scan::member(page, "nextCursor").map(|at| at.of(page)) {
                Some(cursor) if cursor.starts_with(b"\"") => frame = self.after(cursor)?,
                _ => break,
            }
        }
        Ok(skills)
    }

    async fn page(&self, server: &ServerName, frame: Frame) -> Result<Frame, Refusal> {
        let Self { gate, view, caller, port, .. } = self;
        let visit = gate.visit(view, server, caller)?;
        let visit = visit.ok_or_else(|| FleetError::Replaced(server.clone()))?;
        let number = gate.next_call();
        let (id, request) = (&extension::method_of(server, LIST), &frame);
        let params = &Params::of(request);
        let matter = Matter { view, request, id, caller, port, number, stale: None, params };
        let answer = gate.carry(matter, None, visit).await;
        let answer = answer.or_else(|stop| stop.answer(&matter))?;
        match answer.error() {
            Some(error) => {
                let message = String::from_utf8_lossy(error).into_owned();
                Err(Refusal { code: code::INTERNAL_ERROR, message, data: None })
            }
            None => Ok(answer),
        }
    }

    /// The request for the page behind a cursor.
    fn after(&self, cursor: &[u8]) -> Result<Frame, Refusal> {
        match self.request.params_span() {
            Some(params) => {
                let edit = self.request.edit().set_member(params, "cursor", cursor);
                edit.frame().map_err(|_| Refusal::incomplete("cursor"))
            }
            None => {
                let params = [b"{\"cursor\":", cursor, b"}"].concat();
                own_frame(build::request("0", LIST, Some(&params)))
            }
        }
    }
}
