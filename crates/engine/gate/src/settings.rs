//! Gateway-wide settings: naming, profiles, and which client gets which profile.

use std::sync::Arc;

use toolgate_exposure::NamingOptions;
use toolgate_model::{DEFAULT_PROFILE, ErrorCode, ExposureMode, Profiles};

use crate::{Client, Gate, GateError};

/// The settings that are the same for all callers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GatewaySettings {
    /// The naming options for profiles without their own.
    pub style: NamingOptions,
    /// The profiles, and the profile of each client.
    pub profiles: Profiles,
    /// The exposure mode for profiles without their own.
    pub expose: ExposureMode,
}

impl Gate {
    /// Chooses the profile of a new caller: the requested one, else the one configured for its
    /// client, else the default. An unknown name is an error; it is never replaced by a profile
    /// that may see more.
    pub fn choose_profile(
        &self,
        asked: Option<&str>,
        client: &Client,
    ) -> Result<Arc<str>, GateError> {
        let settings = self.settings();
        let given = settings.profiles.clients.get(&client.name).map(String::as_str);
        let name = asked.or(given).unwrap_or(DEFAULT_PROFILE);
        if settings.profiles.get(name).is_some() {
            return Ok(name.into());
        }
        let whose = match asked {
            Some(_) => String::new(),
            None => format!(", which the configuration gives to the client {:?}", client.name),
        };
        Err(unknown_profile(&settings.profiles, name, &whose))
    }
}

/// Returns the error for a profile that does not exist.
pub(crate) fn unknown_profile(profiles: &Profiles, name: &str, remark: &str) -> GateError {
    let known = profiles.names().join(", ");
    let message = format!("there is no profile {name:?}{remark}");
    GateError::new(ErrorCode::ConfigProfile, message).hint(format!("known profiles: {known}"))
}
