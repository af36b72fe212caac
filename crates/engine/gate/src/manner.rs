//! How everything is shown: the names, the profiles there are, and who gets which.

use std::sync::Arc;

use toolgate_model::{DEFAULT_PROFILE, Expose, Prefix, Profiles};
use toolgate_naming::Style;
use toolgate_wire::code;

use crate::{Client, Gate, Refusal};

/// How everything is shown, as far as it is the same for all callers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Manner {
    /// How names are made where a profile does not say.
    pub style: Style,
    /// The profiles, and which client gets which.
    pub profiles: Profiles,
    /// Whether definitions are sent or found where a profile does not say.
    pub expose: Expose,
}

impl From<Style> for Manner {
    fn from(style: Style) -> Self {
        Self { style, ..Self::default() }
    }
}

impl From<Prefix> for Manner {
    fn from(prefix: Prefix) -> Self {
        Style::from(prefix).into()
    }
}

impl Gate {
    /// The profile of somebody who arrives: the one he asks for, else the one the configuration
    /// gives his client, else the default. A name that means nothing is refused, never replaced by
    /// a profile that may see more.
    pub fn choose(&self, asked: Option<&str>, client: &Client) -> Result<Arc<str>, Refusal> {
        let manner = self.manner();
        let given = manner.profiles.clients.get(&client.name).map(String::as_str);
        let name = asked.or(given).unwrap_or(DEFAULT_PROFILE);
        if manner.profiles.get(name).is_some() {
            return Ok(name.into());
        }
        let whose = match asked {
            Some(_) => String::new(),
            None => format!(", which the configuration gives to the client {:?}", client.name),
        };
        Err(unknown(&manner.profiles, name, &whose))
    }
}

/// A profile that is not there (any more).
pub(crate) fn unknown(profiles: &Profiles, name: &str, remark: &str) -> Refusal {
    let known = profiles.names().join(", ");
    let message = format!("there is no profile {name:?}{remark}; there are: {known}");
    Refusal { code: code::INVALID_PARAMS, message, data: None }
}
