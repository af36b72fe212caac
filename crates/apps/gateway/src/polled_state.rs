//! State that one task polls and others change.

use std::task::{Context, Poll, Waker};

use parking_lot::Mutex;

/// The state, and the task to wake when it changes.
#[derive(Default)]
pub(crate) struct PolledState<T>(Mutex<(T, Option<Waker>)>);

impl<T> PolledState<T> {
    /// Changes the state and wakes the task that polls it.
    pub(crate) fn update<R>(&self, change: impl FnOnce(&mut T) -> R) -> R {
        let (result, waker) = {
            let (state, waker) = &mut *self.0.lock();
            (change(state), waker.take())
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        result
    }

    /// Returns what `take` finds in the state. If it finds nothing, the task is woken by the next
    /// change.
    pub(crate) fn poll<R>(
        &self,
        context: &Context<'_>,
        take: impl FnOnce(&mut T) -> Option<R>,
    ) -> Poll<R> {
        let (state, waker) = &mut *self.0.lock();
        if let Some(taken) = take(state) {
            return Poll::Ready(taken);
        }
        match waker {
            Some(waker) => waker.clone_from(context.waker()),
            none => *none = Some(context.waker().clone()),
        }
        Poll::Pending
    }
}
