//! Answers `roots/list` outside any call with the configured roots, which can change while servers
//! run.

use arc_swap::ArcSwap;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use toolgate_session::{Answer, CallerScope, Interactor, Question, RootsInteractor};
use toolgate_wire::Frame;

/// An interactor whose roots can be replaced.
pub(crate) struct ReloadableRoots(ArcSwap<ConfiguredRoots>);

/// The current roots and the interactor that answers with them.
struct ConfiguredRoots {
    roots: Vec<String>,
    interactor: RootsInteractor,
}

impl ConfiguredRoots {
    fn new(roots: &[String]) -> Self {
        Self { roots: roots.to_vec(), interactor: RootsInteractor::new(roots) }
    }
}

impl ReloadableRoots {
    pub(crate) fn new(roots: &[String]) -> Self {
        Self(ArcSwap::from_pointee(ConfiguredRoots::new(roots)))
    }

    /// Sets the roots. Returns true if they changed.
    pub(crate) fn set(&self, roots: &[String]) -> bool {
        if self.0.load().roots == roots {
            return false;
        }
        self.0.store(ConfiguredRoots::new(roots).into());
        true
    }

    /// Returns the roots as a `roots/list` result, or `None` if there are none.
    pub(crate) fn roots(&self) -> Option<Bytes> {
        let now = self.0.load();
        (!now.roots.is_empty()).then(|| now.interactor.roots())
    }
}

impl Interactor for ReloadableRoots {
    fn scope(&self) -> CallerScope {
        self.0.load().interactor.scope()
    }

    fn tell(&self, event: Frame) {
        self.0.load().interactor.tell(event);
    }

    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        let now = self.0.load_full();
        Box::pin(async move { now.interactor.ask(question).await })
    }
}
