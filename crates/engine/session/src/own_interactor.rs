//! The interactor of the gateway's own requests.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_wire::Frame;
use toolgate_wire::view::LogLevel;

use crate::modern::envelope;
use crate::{Answer, CallerScope, Interactor, Question, SessionOptions};

/// Wraps the default interactor and adds the capabilities the connection was opened with.
pub(crate) struct OwnInteractor {
    default_interactor: Arc<dyn Interactor>,
    capabilities: Bytes,
}

impl OwnInteractor {
    pub(crate) fn new(opening: &SessionOptions) -> Self {
        let capabilities = envelope::modern_capabilities(&opening.capabilities);
        Self { default_interactor: opening.default_interactor.clone(), capabilities }
    }
}

impl Interactor for OwnInteractor {
    fn scope(&self) -> CallerScope {
        self.default_interactor.scope()
    }

    fn tell(&self, event: Frame) {
        self.default_interactor.tell(event);
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.default_interactor.ask(question)
    }

    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        self.default_interactor.ask_all(questions)
    }

    fn capabilities(&self) -> Bytes {
        self.capabilities.clone()
    }

    fn level(&self) -> Option<LogLevel> {
        self.default_interactor.level()
    }
}
