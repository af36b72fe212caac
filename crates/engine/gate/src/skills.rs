//! Merges `skills/list` of several servers into one list.
//!
//! Every page of every server is fetched. A server that does not answer is left out. Other members
//! of the servers' lists are dropped. All other requests of the extension name their target and go
//! to its server.

use std::sync::Arc;

use futures_util::future::join_all;
use toolgate_bridge as bridge;
use toolgate_fleet::FleetError;
use toolgate_model::{ErrorCode, ServerName};
use toolgate_wire::{Era, Frame, build, scan};

use crate::decide::CallContext;
use crate::gate::GateRequest;
use crate::params::RequestParams;
use crate::present::{own_frame, own_response};
use crate::profile_view::ProfileView;
use crate::{Gate, GateError, extension};

pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/skills";
pub(crate) const LIST: &str = "skills/list";

/// The most pages that are fetched from one server.
const MAX_PAGES: usize = 64;
/// The most bytes of skills from one server.
const MAX_BYTES: usize = 8 << 20;

/// A request for the skills of several servers.
struct SkillsRequest<'a> {
    gate: &'a Gate,
    view: &'a Arc<ProfileView>,
    request: GateRequest<'a>,
}

impl Gate {
    /// Returns the skills of all servers with skills.
    pub(crate) async fn list_skills(
        &self,
        view: &Arc<ProfileView>,
        request: GateRequest<'_>,
    ) -> Result<Frame, GateError> {
        if scan::member(request.frame.params().unwrap_or_default(), "cursor").is_some() {
            let message = "the list has only one page; `cursor` is not supported";
            return Err(GateError::new(ErrorCode::CallParams, message));
        }
        let asking = SkillsRequest { gate: self, view, request };
        let servers = &view.skill_servers;
        let answers = join_all(servers.iter().map(|server| asking.of(server))).await;
        let mut skills = Vec::new();
        for (server, answer) in servers.iter().zip(answers) {
            match answer {
                Ok(own) => skills.extend(own),
                Err(refusal) => {
                    tracing::warn!(
                        target: "toolgate::gate", %server, "cannot list skills: {refusal}"
                    );
                }
            }
        }
        let tail = match request.caller.revision.era() {
            Era::Modern => bridge::modern_list_members(0, false),
            Era::Legacy => String::new(),
        };
        let list = format!("{{\"skills\":[{}]{tail}}}", skills.join(","));
        own_response(list.as_bytes())
    }
}

impl SkillsRequest<'_> {
    /// Returns the skills of one server as the caller sees them.
    async fn of(&self, server: &ServerName) -> Result<Vec<String>, GateError> {
        let (mut skills, mut size, mut frame) = (Vec::new(), 0, self.request.frame.clone());
        for _ in 0..MAX_PAGES {
            let page = self.page(server, frame).await?;
            let page = page.result().unwrap_or_default();
            let at = scan::member(page, "skills").map(|at| at.slice(page)).unwrap_or_default();
            let own =
                scan::elements(at).map(|skill| String::from_utf8_lossy(skill.slice(at)).into());
            let own: Vec<String> = own.collect();
            size += own.iter().map(String::len).sum::<usize>();
            if size > MAX_BYTES {
                break;
            }
            skills.extend(own);
            match scan::member(page, "nextCursor").map(|at| at.slice(page)) {
                Some(cursor) if cursor.starts_with(b"\"") => frame = self.after(cursor)?,
                _ => break,
            }
        }
        Ok(skills)
    }

    async fn page(&self, server: &ServerName, frame: Frame) -> Result<Frame, GateError> {
        let Self { gate, view, request: GateRequest { caller, port, .. } } = *self;
        let lease = gate.lease_server(view, server, caller)?;
        let lease = lease.ok_or_else(|| FleetError::Replaced(server.clone()))?;
        let number = gate.next_call();
        let (id, request) = (&extension::method_id(server, LIST), &frame);
        let params = &RequestParams::of(request);
        let context = CallContext { view, request, id, caller, port, number, stale: None, params };
        let answer = gate.decide_and_send(context, None, lease).await;
        let answer = answer.or_else(|stop| stop.answer(&context))?;
        match answer.error() {
            Some(error) => {
                let message = String::from_utf8_lossy(error).into_owned();
                Err(GateError::new(ErrorCode::CallServerError, message))
            }
            None => Ok(answer),
        }
    }

    /// Returns the request for the page after a cursor.
    fn after(&self, cursor: &[u8]) -> Result<Frame, GateError> {
        match self.request.frame.params_span() {
            Some(params) => {
                let edit = self.request.frame.edit().set_member(params, "cursor", cursor);
                edit.finish_frame().map_err(|_| GateError::missing_param("cursor"))
            }
            None => {
                let params = [b"{\"cursor\":", cursor, b"}"].concat();
                own_frame(build::request("0", LIST, Some(&params)))
            }
        }
    }
}
