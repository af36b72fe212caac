//! Who is asked about approvals and keys: whoever serves the home, whatever files it was told to read, or
//! else what the home remembers.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use toolgate_gateway::ClientProcesses;
use toolgate_host::approvals::{self, Remembered};

use crate::context::Context;
use crate::control::{Approving, KeyRequest, Question};
use crate::exit::Failure;
use crate::operator::{OperatorRules, Operators, Requester, Typed};
use crate::reach::Living;

pub enum Desk {
    Living(Living),
    Home(Box<Remembering>),
}

/// What a home remembers, and who may change it there.
pub struct Remembering {
    remembered: Remembered,
    operators: Operators,
    rules: OperatorRules,
    typed: Arc<Typed>,
}

impl Desk {
    pub async fn find(context: &Context) -> Result<Self, Failure> {
        if let Some(living) = Living::at(context).await {
            return Ok(Self::Living(living));
        }
        Ok(Self::Home(Box::new(Remembering {
            rules: OperatorRules::from(context.setup().await?.plan()),
            remembered: approvals::open(&context.home).await?,
            operators: Operators::of(&context.home, ClientProcesses::default()),
            typed: context.typed.clone(),
        })))
    }

    pub async fn ask<T: DeserializeOwned>(&self, asked: &Approving) -> Result<T, Failure> {
        let question = Question::Approvals { asked: asked.clone() };
        let answer = match self {
            Self::Living(living) => living.ask(&question).await?,
            Self::Home(home) => {
                let by = match question.is_for_operators() {
                    true => home.by().await?,
                    false => String::new(),
                };
                asked.answer(&home.remembered.broker, &by).await?
            }
        };
        read(&answer)
    }

    /// Has it forgotten that callers have read untrusted content, and says whose that was. It is
    /// remembered by a gateway that lives, and nowhere else.
    pub async fn untaint(&self, caller: Option<&str>) -> Result<Vec<String>, Failure> {
        let caller = caller.map(str::to_owned);
        match self {
            Self::Living(living) => read(&living.ask(&Question::Untaint { caller }).await?),
            Self::Home(_) => Ok(Vec::new()),
        }
    }

    /// Asks about the keys of callers.
    pub async fn keys<T: DeserializeOwned>(&self, asked: &KeyRequest) -> Result<T, Failure> {
        let question = Question::Keys { asked: asked.clone() };
        let answer = match self {
            Self::Living(living) => living.ask(&question).await?,
            Self::Home(home) => {
                if question.is_for_operators() {
                    home.by().await?;
                }
                let note = |kind: &str, detail: &str| home.remembered.note(kind, detail);
                asked.answer(&home.remembered.keys, note).await?
            }
        };
        read(&answer)
    }

    /// Whether changes need a passphrase.
    pub fn has_passphrase(&self) -> bool {
        match self {
            Self::Living(living) => living.owner.passphrase,
            Self::Home(home) => home.operators.has_passphrase(),
        }
    }

    /// Sets the operator's passphrase, or takes it away.
    pub async fn set_passphrase(&self, new: Option<String>) -> Result<(), Failure> {
        match self {
            Self::Living(living) => {
                living.ask(&Question::SetPassphrase { new }).await?;
            }
            Self::Home(home) => {
                home.operators.set_passphrase(home.rules, &home.asker()?, new).await?;
            }
        }
        Ok(())
    }

    /// Leaves.
    pub async fn close(&self) -> Result<(), Failure> {
        match self {
            Self::Living(_) => Ok(()),
            Self::Home(home) => Ok(home.remembered.close().await?),
        }
    }
}

fn read<T: DeserializeOwned>(answer: &RawValue) -> Result<T, Failure> {
    let unread = |error| Failure::failed(format!("understand the gateway: {error}"));
    serde_json::from_str(answer.get()).map_err(unread)
}

impl Remembering {
    fn asker(&self) -> Result<Requester, Failure> {
        let needed = self.operators.has_passphrase();
        Ok(Requester::here(if needed { self.typed.passphrase()? } else { None }))
    }

    /// Who decides, as it is put on record.
    async fn by(&self) -> Result<String, Failure> {
        Ok(self.operators.identify(self.rules, &self.asker()?).await?.by())
    }
}
