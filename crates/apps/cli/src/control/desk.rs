//! Where questions are answered: beside the host they are about.

use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use toolgate_host::{Host, Setup, SetupOptions};

use super::{Finding, Inventory, Overview, Owner, Question, checkup};
use crate::exit::Failure;

/// Answers questions about one host.
pub struct Desk {
    host: Host,
    options: SetupOptions,
    findings: Vec<Finding>,
    endpoint: Option<String>,
}

impl Desk {
    /// A desk beside a host that was started from these files.
    pub fn new(
        host: Host,
        options: SetupOptions,
        findings: Vec<Finding>,
        endpoint: Option<String>,
    ) -> Self {
        Self { host, options, findings, endpoint }
    }

    /// The host.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// What is wrong with the files.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Answers, as JSON.
    pub async fn answer(&self, question: &Question) -> Result<Box<RawValue>, Failure> {
        match question {
            Question::Owner => raw(&self.owner()),
            Question::Servers { wait_ms } => {
                let wait = Duration::from_millis(*wait_ms);
                // Whoever is still on his way then is shown on his way.
                let _ = tokio::time::timeout(wait, self.host.settled()).await;
                raw(&Overview::of(&self.host.servers()))
            }
            Question::Discover { server } => {
                let status = self.host.settled_one(server).await.map_err(|_| self.no(server))?;
                raw(&Inventory::of(&self.host, &status))
            }
            Question::Uri { server, uri } => raw(&self.host.uri_for(server, uri)),
            Question::Doctor { server } => {
                let mut servers = self.host.servers().servers;
                if let Some(name) = server {
                    servers.retain(|status| status.spec.name.as_str() == name);
                    if servers.is_empty() {
                        return Err(self.no(name));
                    }
                }
                raw(&checkup::of(&self.host, &servers, &self.findings).await)
            }
            Question::Reconsider { server } => raw(&self.reconsider(server).await?),
        }
    }

    /// Reads the plan again and takes this one server as it stands now. `false` if the files this
    /// host reads do not have it.
    async fn reconsider(&self, server: &str) -> Result<bool, Failure> {
        let setup = Setup::load(self.options.clone()).await?;
        let Ok(entry) = setup.entry(server) else { return Ok(false) };
        self.host.enlist(entry).await;
        Ok(true)
    }

    fn owner(&self) -> Owner {
        Owner {
            pid: std::process::id(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            endpoint: self.endpoint.clone(),
            config: self.options.config.clone(),
            project: self.options.project_dir.clone(),
        }
    }

    fn no(&self, server: &str) -> Failure {
        let servers = self.host.servers().servers;
        no_server(server, servers.iter().map(|status| status.spec.name.as_str()))
    }
}

/// There is no server of this name among these.
pub fn no_server<'n>(server: &str, names: impl Iterator<Item = &'n str>) -> Failure {
    let names: Vec<_> = names.collect();
    let hint = match &names[..] {
        [] => "none is declared, only the built-in `sample` is there; `toolgate serve` writes a config to \
              begin with"
            .to_owned(),
        names => {
            format!("there are {}; `toolgate servers` says how they stand", names.join(", "))
        }
    };
    Failure::failed(format!("find a server named `{server}`")).hint(hint)
}

fn raw(answer: &impl Serialize) -> Result<Box<RawValue>, Failure> {
    serde_json::value::to_raw_value(answer)
        .map_err(|error| Failure::failed(format!("write the answer: {error}")))
}
