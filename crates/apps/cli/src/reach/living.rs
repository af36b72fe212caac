//! The living owner of a home, seen from outside.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use serde_json::value::RawValue;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use toolgate_transport::local::{Reader, Writer, connect};

use crate::context::Context;
use crate::control::{Asked, Opening, Owner, Question, Reply};
use crate::exit::Failure;
use crate::operator::Typed;

/// How long an owner may take to say who he is.
const PATIENCE: Duration = Duration::from_secs(3);

/// An owner that answers.
#[derive(Debug)]
pub struct Living {
    socket: PathBuf,
    typed: Arc<Typed>,
    /// Who it is.
    pub owner: Owner,
}

impl Living {
    /// The owner this run should attach to. One that was told to read another file than we were
    /// serves other servers, and is not.
    pub async fn of(context: &Context) -> Option<Self> {
        let living = Self::at(context).await?;
        let same = context.config.is_none() || context.config == living.owner.config;
        same.then_some(living)
    }

    /// Whoever owns the home.
    pub async fn at(context: &Context) -> Option<Self> {
        let socket = context.home.control_socket();
        let asked = tokio::time::timeout(PATIENCE, ask(&socket, &Question::Owner, None)).await;
        let answer = asked.ok()?.ok()?;
        let owner = serde_json::from_str(answer.get()).ok()?;
        Some(Self { socket, typed: context.typed.clone(), owner })
    }

    /// Asks it something, with the operator's passphrase where that is needed.
    pub async fn ask(&self, question: &Question) -> Result<Box<RawValue>, Failure> {
        let needed = self.owner.passphrase && question.is_for_operators();
        let passphrase = if needed { self.typed.passphrase()? } else { None };
        ask(&self.socket, question, passphrase).await
    }

    /// Why this process counts as a client there and not as the operator, if it does. A passphrase
    /// is not asked for: whoever only calls something can have it approved.
    pub async fn refuses_operator(&self) -> Option<Failure> {
        ask(&self.socket, &Question::MayChange, None).await.err()
    }

    /// Begins an MCP conversation with it, strict about the revision or not, and with a profile or
    /// the one it has for those who choose none; `operator`: a person at our own command line.
    pub async fn converse(
        &self,
        protocol: Option<String>,
        profile: Option<&str>,
        operator: bool,
    ) -> Result<(Reader, Writer), Failure> {
        if let Some(name) = profile {
            // Once the rest is MCP, there is nobody to be told; an owner too old to know profiles
            // must not show everything.
            self.ask(&Question::Profile { name: name.to_owned() }).await?;
        }
        let (reader, mut writer) = connect(&self.socket).await.map_err(lost)?;
        let profile = profile.map(str::to_owned);
        say(&mut writer, &Opening::Mcp { protocol, profile, operator, passphrase: None }).await?;
        Ok((reader, writer))
    }
}

async fn ask(
    socket: &Path,
    question: &Question,
    passphrase: Option<String>,
) -> Result<Box<RawValue>, Failure> {
    let (reader, mut writer) = connect(socket).await.map_err(lost)?;
    say(&mut writer, &Opening::Ask(Asked { question: question.clone(), passphrase })).await?;
    let mut line = String::new();
    BufReader::new(reader).read_line(&mut line).await.map_err(lost)?;
    let unread = |error| Failure::failed(format!("understand the gateway: {error}"));
    serde_json::from_str::<Reply>(&line).map_err(unread)?.outcome()
}

async fn say(writer: &mut Writer, opening: &Opening) -> Result<(), Failure> {
    let mut line = serde_json::to_vec(opening)
        .map_err(|error| Failure::failed(format!("write a question: {error}")))?;
    line.push(b'\n');
    writer.write_all(&line).await.map_err(lost)
}

fn lost(error: impl Display) -> Failure {
    Failure::failed(format!("reach the gateway that owns this home: {error}"))
        .hint("it may just be ending: try again")
}
