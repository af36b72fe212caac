//! Time: answers that do not come, or come too slowly to be useful (T35).
//!
//! They do NOT close anything: the other side has to decide that it has waited long enough.

use std::time::Duration;

use bytes::Bytes;
use serde_json::json;

use super::act::{Act, Chunks, Play, acts};
use super::scene::{Scene, notification};

const TICK: Duration = Duration::from_millis(100);

pub(super) fn forever(_: &Scene) -> Play {
    acts([Act::Hang])
}

pub(super) fn drip(scene: &Scene) -> Play {
    let answer = scene.ordinary();
    let drops: Chunks =
        Box::new((0..answer.len()).map(move |at| Bytes::copy_from_slice(&answer[at..=at])));
    acts([Act::Stream(drops, TICK)])
}

pub(super) fn progress(scene: &Scene) -> Play {
    let token = scene.progress_token();
    Box::new((1_u64..).flat_map(move |progress| {
        let params = json!({ "progressToken": token, "progress": progress });
        [Act::Message(notification("notifications/progress", &params)), Act::Pause(TICK)]
    }))
}
