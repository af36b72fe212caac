//! The running gateway that owns a home, reached through its control socket.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use toolgate_transport::local::{LocalReader, LocalWriter, connect};

use crate::cli_context::CliContext;
use crate::control::{
    ControlEnvelope, ControlOpening, ControlRequest, ControlResponse, RunningGatewayInfo,
};
use crate::exit::{CliError, ErrorCode, OrFail as _, Result, cli_error};
use crate::operator::PassphraseInput;

/// How long a gateway may take to answer the first request.
const INFO_TIMEOUT: Duration = Duration::from_secs(3);

/// A gateway in another process that answers on the control socket.
#[derive(Debug)]
pub struct RunningGateway {
    socket: PathBuf,
    passphrase_input: Arc<PassphraseInput>,
    /// What the gateway says about itself.
    pub info: RunningGatewayInfo,
}

impl RunningGateway {
    /// Returns the running gateway if this run can attach to it. A gateway that reads another
    /// `--config` file has other servers and does not qualify.
    pub async fn find_compatible(context: &CliContext) -> Option<Self> {
        let running = Self::find_any(context).await?;
        let same = context.config.is_none() || context.config == running.info.config;
        same.then_some(running)
    }

    /// Returns the running gateway of the home, whatever files it reads.
    pub async fn find_any(context: &CliContext) -> Option<Self> {
        let socket = context.home.control_socket();
        let request = send_request(&socket, &ControlRequest::Owner, None);
        let answer = tokio::time::timeout(INFO_TIMEOUT, request).await.ok()?.ok()?;
        let info = serde_json::from_str(answer.get()).ok()?;
        Some(Self { socket, passphrase_input: context.passphrase_input.clone(), info })
    }

    /// Sends a request, with the operator's passphrase if the request needs it.
    pub async fn ask(&self, question: &ControlRequest) -> Result<Box<RawValue>> {
        let needed = self.info.passphrase && question.requires_operator();
        let passphrase = if needed { self.passphrase_input.passphrase()? } else { None };
        send_request(&self.socket, question, passphrase).await
    }

    /// Returns why the gateway does not accept this process as the operator, if it does not. Does
    /// not prompt for the passphrase: a plain call can be approved instead.
    pub async fn operator_refusal(&self) -> Option<CliError> {
        send_request(&self.socket, &ControlRequest::MayChange, None).await.err()
    }

    /// Opens an MCP connection.
    ///
    /// `protocol` restricts it to one revision. Without `profile` the gateway uses its default for
    /// clients. `operator` says that a person types at this command line.
    pub async fn open_mcp(
        &self,
        protocol: Option<String>,
        profile: Option<&str>,
        operator: bool,
    ) -> Result<(LocalReader, LocalWriter)> {
        if let Some(name) = profile {
            // The connection cannot report an unknown profile once it is MCP, and a gateway too old
            // to know profiles must not expose everything.
            self.ask(&ControlRequest::Profile { name: name.to_owned() }).await?;
        }
        let (reader, mut writer) = connect(&self.socket).await.map_err(unreachable_error)?;
        let profile = profile.map(str::to_owned);
        let opening = ControlOpening::Mcp { protocol, profile, operator, passphrase: None };
        send_opening(&mut writer, &opening).await?;
        Ok((reader, writer))
    }
}

async fn send_request(
    socket: &Path,
    question: &ControlRequest,
    passphrase: Option<String>,
) -> Result<Box<RawValue>> {
    let (reader, mut writer) = connect(socket).await.map_err(unreachable_error)?;
    let envelope = ControlEnvelope { question: question.clone(), passphrase };
    send_opening(&mut writer, &ControlOpening::Ask(envelope)).await?;
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).await.map_err(unreachable_error)?;
    serde_json::from_str::<ControlResponse>(&line)
        .or_fail(ErrorCode::GatewayAnswer, "invalid answer from the gateway")?
        .into_result()
}

async fn send_opening(writer: &mut LocalWriter, opening: &ControlOpening) -> Result<()> {
    let mut line =
        serde_json::to_vec(opening).or_fail(ErrorCode::CliInternal, "cannot encode the request")?;
    line.push(b'\n');
    writer.write_all(&line).await.map_err(unreachable_error)
}

fn unreachable_error(error: impl Display) -> CliError {
    cli_error!(GatewayUnreachable, "cannot reach the gateway that owns this home: {error}")
        .hint("try again: the gateway may be shutting down")
}
