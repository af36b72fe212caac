//! A caller's interactor that also declares the tasks extension.
//!
//! A modern server creates tasks only for clients that declare the extension. When the gate handles
//! tasks for a caller, it declares the extension for that one request.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_bridge::tasks;
use toolgate_session::{Answer, CallerScope, Interactor, Question};
use toolgate_wire::Frame;
use toolgate_wire::view::LogLevel;

/// An interactor that declares the tasks extension in addition to the caller's capabilities.
pub(super) struct TaskAwareInteractor(pub(super) Arc<dyn Interactor>);

impl Interactor for TaskAwareInteractor {
    fn scope(&self) -> CallerScope {
        self.0.scope()
    }

    fn tell(&self, event: Frame) {
        self.0.tell(event);
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.0.ask(question)
    }

    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        self.0.ask_all(questions)
    }

    fn capabilities(&self) -> Bytes {
        tasks::declare_extension(&self.0.capabilities())
    }

    fn level(&self) -> Option<LogLevel> {
        self.0.level()
    }
}
