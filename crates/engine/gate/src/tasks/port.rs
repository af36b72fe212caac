//! A caller's port, with the extension among what it declares.
//!
//! A modern server makes tasks for those only who declare that they understand them. Where the
//! gate understands them in a caller's stead, it says so, for that one request.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_bridge::tasks;
use toolgate_session::{Answer, Interactor, Question, Scope};
use toolgate_wire::Frame;
use toolgate_wire::view::LogLevel;

pub(super) struct Declaring(pub(super) Arc<dyn Interactor>);

impl Interactor for Declaring {
    fn scope(&self) -> Scope {
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
        tasks::declared(&self.0.capabilities())
    }

    fn level(&self) -> Option<LogLevel> {
        self.0.level()
    }
}
