//! What each case sends, and the answer it expects. Measuring is left to `workers`.

use serde_json::json;

use super::answers::{ToolCallResult, ToolPage};
use super::connection::LoadConnection;
use super::{LoadCase, Options};
use crate::echo::blob_text;

/// The size of the texts that `echo` sends.
const ECHO_BYTES: usize = 100;
/// The size of the text that `blob` asks for.
const BLOB_BYTES: usize = 64 * 1024;

/// Runs the iterations of a case for one worker.
pub(super) struct LoadCaseRunner<'a> {
    options: &'a Options,
    worker: u32,
    tool: &'a str,
    blob: String,
}

impl<'a> LoadCaseRunner<'a> {
    pub(super) fn new(options: &'a Options, worker: u32) -> Self {
        let own_name = if options.case == LoadCase::Blob { "blob" } else { "echo" };
        let blob =
            if options.case == LoadCase::Blob { blob_text(BLOB_BYTES) } else { String::new() };
        let tool = options.tool_name.as_deref().unwrap_or(own_name);
        LoadCaseRunner { options, worker, tool, blob }
    }

    /// Does the case once; `number` makes each text unlike any other in flight.
    pub(super) async fn run(
        &self,
        channel: &mut LoadConnection,
        number: u64,
    ) -> Result<(), String> {
        match self.options.case {
            LoadCase::Echo => {
                let text =
                    format!("{:0>width$}", format!("{}/{number}", self.worker), width = ECHO_BYTES);
                self.call(channel, json!({ "text": text }), &text).await
            }
            LoadCase::Blob => self.call(channel, json!({ "bytes": BLOB_BYTES }), &self.blob).await,
            LoadCase::List => self.list(channel).await,
            LoadCase::Session => {
                channel.open().await?;
                self.list(channel).await?;
                channel.close().await
            }
        }
    }

    async fn call(
        &self,
        channel: &mut LoadConnection,
        arguments: serde_json::Value,
        expected: &str,
    ) -> Result<(), String> {
        let params = json!({ "name": self.tool, "arguments": arguments }).to_string();
        let received = channel.request("tools/call", Some(self.tool), &params).await?;
        received.result::<ToolCallResult<'_>>()?.expect_text(expected, self.options.era())
    }

    async fn list(&self, channel: &mut LoadConnection) -> Result<(), String> {
        let mut count = 0;
        let mut params = "{}".to_owned();
        loop {
            let page: ToolPage = channel.request("tools/list", None, &params).await?.result()?;
            count += page.tools.len();
            match page.next {
                Some(cursor) if self.options.paginate => {
                    params = json!({ "cursor": cursor }).to_string();
                }
                _ => break,
            }
        }
        match self.options.expect_tools {
            Some(expected) if expected != count => Err(format!("{count} tools, not {expected}")),
            None if count == 0 => Err("an empty tool list".to_owned()),
            _ => Ok(()),
        }
    }
}
