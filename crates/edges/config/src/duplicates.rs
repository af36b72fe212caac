//! Finds entries that declare the same server under two names, and keeps one of them.
//!
//! Entries with different variables or headers are different servers (two accounts), and so are
//! entries with different folders. An entry without a folder equals an entry with any folder.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use toolgate_model::{Diagnostic, ErrorCode, HttpSpec, Secret, ServerSpec, TransportSpec};

use crate::{Plan, PlanEntry, StartStatus};

/// Values of variables or headers, by name.
type NamedSecretValues = BTreeMap<String, Secret<String>>;

/// The properties that all entries for the same server share.
#[derive(PartialEq, Eq, Hash)]
enum ServerIdentity<'p> {
    Process {
        command: &'p str,
        args: &'p [String],
        env: &'p NamedSecretValues,
        env_file: Option<&'p PathBuf>,
        inherit: &'p [String],
    },
    Endpoint {
        url: &'p str,
        headers: &'p NamedSecretValues,
    },
}

/// The entries kept so far for one identity. Each is a pair of its index and its order among all
/// kept entries.
#[derive(Default)]
struct KeptEntries<'p> {
    /// The first entry.
    first: Option<(usize, usize)>,
    /// The entry that names no folder.
    anywhere: Option<(usize, usize)>,
    /// The entries that name a folder.
    folders: HashMap<&'p PathBuf, (usize, usize)>,
    endpoints: Vec<(&'p HttpSpec, usize)>,
}

impl<'p> KeptEntries<'p> {
    /// Returns the kept entry that declares the same server. If there is none, keeps this entry.
    fn find_or_keep(&mut self, spec: &'p ServerSpec, index: usize, order: usize) -> Option<usize> {
        let folder = match &spec.transport {
            TransportSpec::Stdio(stdio) => stdio.cwd.as_ref(),
            TransportSpec::Http(http) => {
                let same = self.endpoints.iter().find(|(kept, _)| *kept == http);
                let same = same.map(|(_, index)| *index);
                if same.is_none() {
                    self.endpoints.push((http, index));
                }
                return same;
            }
            TransportSpec::BuiltIn => return None,
        };
        let earlier = match folder {
            None => self.first,
            Some(folder) => {
                self.folders.get(folder).copied().into_iter().chain(self.anywhere).min()
            }
        };
        if earlier.is_none() {
            let kept = (order, index);
            self.first.get_or_insert(kept);
            match folder {
                Some(folder) => drop(self.folders.insert(folder, kept)),
                None => self.anywhere = Some(kept),
            }
        }
        earlier.map(|(_, index)| index)
    }
}

/// Keeps one of several enabled entries for the same server: one that may start, else the nearest.
pub(crate) fn remove_duplicates(plan: &mut Plan) {
    let repeated = find_duplicates(&plan.entries);
    for (index, earlier) in &repeated {
        let (entry, winner) = (&plan.entries[*index], &plan.entries[*earlier]);
        let (name, other) = (&entry.spec.name, &winner.spec.name);
        let message = format!("server \"{name}\" is the same as \"{other}\" and is ignored");
        let hint = format!("\"{other}\" is declared in {}", winner.origin);
        let warning =
            Diagnostic::warning(ErrorCode::ConfigSameServer, entry.origin.clone(), message);
        plan.diagnostics.push(warning.about(name).hint(hint));
    }
    let mut index = 0..;
    plan.entries.retain(|_| index.next().is_some_and(|at| !repeated.contains_key(&at)));
}

/// Returns the entries to remove, each with the entry that is kept instead.
fn find_duplicates(entries: &[PlanEntry]) -> BTreeMap<usize, usize> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|index| entries[*index].start_status != StartStatus::Ready);
    let mut kept: HashMap<ServerIdentity<'_>, KeptEntries<'_>> = HashMap::new();
    let mut repeated = BTreeMap::new();
    for (order, index) in order.into_iter().enumerate() {
        let spec = &entries[index].spec;
        let Some(kind) = server_identity(spec) else { continue };
        if let Some(earlier) = kept.entry(kind).or_default().find_or_keep(spec, index, order) {
            repeated.insert(index, earlier);
        }
    }
    repeated
}

/// Returns the identity of a server; `None` if the server is disabled.
fn server_identity(spec: &ServerSpec) -> Option<ServerIdentity<'_>> {
    match &spec.transport {
        _ if !spec.enabled => None,
        TransportSpec::Stdio(stdio) => Some(ServerIdentity::Process {
            command: &stdio.command,
            args: &stdio.args,
            env: &stdio.env,
            env_file: stdio.env_file.as_ref(),
            inherit: &stdio.env_inherit,
        }),
        TransportSpec::Http(http) => {
            Some(ServerIdentity::Endpoint { url: &http.url, headers: &http.headers })
        }
        TransportSpec::BuiltIn => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toolgate_model::{Origin, ServerName, StdioSpec};

    use super::*;
    use crate::file_locations::FileRank;
    use crate::{Dialect, VariableContext};

    fn entry(index: usize, (command, folder, kind, state): (u8, u8, u8, u8)) -> PlanEntry {
        let cwd = (folder > 0).then(|| PathBuf::from(format!("/{folder}")));
        let stdio = StdioSpec { command: command.to_string(), cwd, ..StdioSpec::default() };
        let http = HttpSpec { url: command.to_string(), ..HttpSpec::default() };
        let transport = match kind {
            0 => TransportSpec::Http(http),
            _ => TransportSpec::Stdio(stdio),
        };
        let mut spec = ServerSpec::new(ServerName::new(&format!("s{index}")).unwrap(), transport);
        spec.enabled = state > 0;
        PlanEntry {
            spec,
            origin: Origin::built_in(),
            dialect: Dialect::Toolgate,
            rank: FileRank::only_file(),
            shadows: Vec::new(),
            switched_by: None,
            variable_context: VariableContext::default(),
            inputs: Vec::new(),
            start_status: if state > 1 { StartStatus::Ready } else { StartStatus::NeedsConsent },
            has_unset_variable: false,
        }
    }

    /// Compares the identities of two specs.
    fn is_same(a: &ServerSpec, b: &ServerSpec) -> bool {
        let fits = match (&a.transport, &b.transport) {
            (TransportSpec::Stdio(a), TransportSpec::Stdio(b)) => {
                let folders = a.cwd.is_none() || b.cwd.is_none() || a.cwd == b.cwd;
                folders && a.command == b.command
            }
            (TransportSpec::Http(a), TransportSpec::Http(b)) => a == b,
            _ => false,
        };
        a.enabled && b.enabled && fits
    }

    fn by_comparing_all(entries: &[PlanEntry]) -> BTreeMap<usize, usize> {
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|index| entries[*index].start_status != StartStatus::Ready);
        let (mut kept, mut repeated) = (Vec::new(), BTreeMap::new());
        for index in order {
            let same = |kept: &&usize| is_same(&entries[**kept].spec, &entries[index].spec);
            match kept.iter().find(same) {
                Some(earlier) => drop(repeated.insert(index, *earlier)),
                None => kept.push(index),
            }
        }
        repeated
    }

    proptest! {
        #[test]
        fn the_quick_way_finds_what_comparing_all_finds(
            shapes in proptest::collection::vec((0..3_u8, 0..4_u8, 0..4_u8, 0..3_u8), 0..20),
        ) {
            let entries: Vec<_> =
                shapes.into_iter().enumerate().map(|(index, shape)| entry(index, shape)).collect();
            prop_assert_eq!(find_duplicates(&entries), by_comparing_all(&entries));
        }
    }
}
