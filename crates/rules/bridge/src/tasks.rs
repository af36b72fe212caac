//! The two wire formats of tasks, and the conversion between them.
//!
//! 2025-11-25 requests a task with `params.task`, wraps it as `{task: {…}}` and fetches the outcome
//! with `tasks/result`. The extension of 2026-07-28 lets the server decide, answers flat with
//! `resultType: "task"` and inlines questions and outcome in `tasks/get`. The gate decides who owns
//! a task, where it runs and when it is polled.

mod conversion;
mod format;
mod related_task;
mod view;

pub use conversion::{
    cancelled_task, compact_task, completed_task, convert_task, creation_result, detailed_result,
    input_requests, notification_params, task_in_result,
};
pub use format::{
    TaskFormat, declare_extension, is_missing_tasks_error, mark_task_support,
    missing_capability_data,
};
pub use related_task::{add_related_task, remove_related_task};
pub use view::{TaskStatus, TaskView};

#[cfg(test)]
mod tests;
