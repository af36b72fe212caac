//! Who answers servers outside any call: the configured roots, which may change while servers run.

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_session::{Ambient, Answer, Interactor, Question, Scope};
use toolgate_wire::Frame;

/// The ambient interactor of this moment.
pub(crate) struct Standing(ArcSwap<Now>);

struct Now {
    roots: Vec<String>,
    ambient: Ambient,
}

impl Now {
    fn new(roots: &[String]) -> Self {
        Self { roots: roots.to_vec(), ambient: Ambient::new(roots) }
    }
}

impl Standing {
    pub(crate) fn new(roots: &[String]) -> Self {
        Self(ArcSwap::from_pointee(Now::new(roots)))
    }

    /// Whether that is something else than before.
    pub(crate) fn set(&self, roots: &[String]) -> bool {
        if self.0.load().roots == roots {
            return false;
        }
        self.0.store(Now::new(roots).into());
        true
    }

    /// As a `roots/list` result; `None` if there are none.
    pub(crate) fn roots(&self) -> Option<Bytes> {
        let now = self.0.load();
        (!now.roots.is_empty()).then(|| now.ambient.roots())
    }
}

impl Interactor for Standing {
    fn scope(&self) -> Scope {
        self.0.load().ambient.scope()
    }

    fn tell(&self, event: Frame) {
        self.0.load().ambient.tell(event);
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let now = self.0.load_full();
        Box::pin(async move { now.ambient.ask(question).await })
    }
}
