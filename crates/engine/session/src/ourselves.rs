//! Who stands behind our own requests: whoever answers outside any call, with the capabilities the
//! connection was opened with.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_wire::Frame;
use toolgate_wire::view::LogLevel;

use crate::modern::envelope;
use crate::{Answer, Interactor, Opening, Question, Scope};

pub(crate) struct Ourselves {
    ambient: Arc<dyn Interactor>,
    capabilities: Bytes,
}

impl Ourselves {
    pub(crate) fn new(opening: &Opening) -> Self {
        let capabilities = envelope::modern_capabilities(&opening.capabilities);
        Self { ambient: opening.ambient.clone(), capabilities }
    }
}

impl Interactor for Ourselves {
    fn scope(&self) -> Scope {
        self.ambient.scope()
    }

    fn tell(&self, event: Frame) {
        self.ambient.tell(event);
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        self.ambient.ask(question)
    }

    fn ask_all(&self, questions: Vec<Question>) -> BoxFuture<'_, Vec<Answer>> {
        self.ambient.ask_all(questions)
    }

    fn capabilities(&self) -> Bytes {
        self.capabilities.clone()
    }

    fn level(&self) -> Option<LogLevel> {
        self.ambient.level()
    }
}
