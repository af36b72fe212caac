//! Who is asked about approvals: whoever serves the home, whatever files he was told to read, or
//! else what the home remembers.

use serde::de::DeserializeOwned;
use toolgate_host::approvals::{self, Remembered};

use crate::context::Context;
use crate::control::{Approving, Question};
use crate::exit::Failure;
use crate::reach::Living;

pub enum Desk {
    Living(Living),
    Home(Remembered),
}

impl Desk {
    pub async fn find(context: &Context) -> Result<Self, Failure> {
        Ok(match Living::at(&context.home).await {
            Some(living) => Self::Living(living),
            None => Self::Home(approvals::open(&context.home).await?),
        })
    }

    pub async fn ask<T: DeserializeOwned>(&self, asked: &Approving) -> Result<T, Failure> {
        let answer = match self {
            Self::Living(living) => {
                living.ask(&Question::Approvals { asked: asked.clone() }).await?
            }
            Self::Home(home) => asked.answer(&home.broker).await?,
        };
        let unread = |error| Failure::failed(format!("understand the gateway: {error}"));
        serde_json::from_str(answer.get()).map_err(unread)
    }

    /// Leaves.
    pub async fn close(&self) -> Result<(), Failure> {
        match self {
            Self::Living(_) => Ok(()),
            Self::Home(home) => Ok(home.close().await?),
        }
    }
}
