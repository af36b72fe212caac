//! Tasks in their two wire forms, and how one becomes the other.
//!
//! 2025-11-25 asks for a task with `params.task`, wraps it as `{task: {…}}` and fetches the outcome
//! with `tasks/result`. The extension of 2026-07-28 lets the server decide, answers flat with
//! `resultType: "task"` and inlines questions and outcome in `tasks/get`. Whose task it is, where
//! it runs and when it is asked after is the gate's affair.

mod form;
mod meta;
mod shape;
mod view;

pub use form::{Form, declared, listed, missing_capability, missing_tasks};
pub use meta::{related, unrelated};
pub use shape::{
    Detail, created, detailed, finished, notified, questions, remembered, state, stopped, task_of,
};
pub use view::{Status, TaskView};

#[cfg(test)]
mod tests;
