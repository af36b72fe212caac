//! The same server under two names: one of the two is kept.
//!
//! Two accounts (other variables, other headers) or two folders are two servers; an entry that
//! leaves the folder open is not told apart by it.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use toolgate_model::{HttpSpec, Secret, ServerSpec, TransportSpec};

use crate::layers::note;
use crate::{Entry, Plan, Standing};

type Texts = BTreeMap<String, Secret<String>>;

/// What two entries for the same server have in common.
#[derive(PartialEq, Eq, Hash)]
enum Kind<'p> {
    Process {
        command: &'p str,
        args: &'p [String],
        env: &'p Texts,
        env_file: Option<&'p PathBuf>,
        inherit: &'p [String],
    },
    Endpoint {
        url: &'p str,
        headers: &'p Texts,
    },
}

/// The entries kept of one kind. Each comes with its place among all that are kept.
#[derive(Default)]
struct Kept<'p> {
    /// The first of all.
    first: Option<(usize, usize)>,
    /// The one that leaves its folder open.
    anywhere: Option<(usize, usize)>,
    /// Those that name a folder.
    folders: HashMap<&'p PathBuf, (usize, usize)>,
    endpoints: Vec<(&'p HttpSpec, usize)>,
}

impl<'p> Kept<'p> {
    /// The entry that is the same as this one; if there is none, this one is kept.
    fn earlier(&mut self, spec: &'p ServerSpec, index: usize, order: usize) -> Option<usize> {
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
pub(crate) fn leave_out(plan: &mut Plan) {
    let repeated = repeated(&plan.entries);
    for (index, earlier) in &repeated {
        let (entry, winner) = (&plan.entries[*index], &plan.entries[*earlier]);
        let (name, other) = (&entry.spec.name, &winner.spec.name);
        let message = format!("server \"{name}\" is the same as \"{other}\"; it is left out");
        let hint = format!("\"{other}\" is declared in {}", winner.origin);
        plan.diagnostics.push(note(entry.origin.clone(), message, Some(hint)));
    }
    let mut index = 0..;
    plan.entries.retain(|_| index.next().is_some_and(|at| !repeated.contains_key(&at)));
}

/// Which entries are left out, and for which others.
fn repeated(entries: &[Entry]) -> BTreeMap<usize, usize> {
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_by_key(|index| entries[*index].standing != Standing::Ready);
    let mut kept: HashMap<Kind<'_>, Kept<'_>> = HashMap::new();
    let mut repeated = BTreeMap::new();
    for (order, index) in order.into_iter().enumerate() {
        let spec = &entries[index].spec;
        let Some(kind) = kind(spec) else { continue };
        if let Some(earlier) = kept.entry(kind).or_default().earlier(spec, index, order) {
            repeated.insert(index, earlier);
        }
    }
    repeated
}

/// What kind of server it is; nothing is said of what is switched off.
fn kind(spec: &ServerSpec) -> Option<Kind<'_>> {
    match &spec.transport {
        _ if !spec.enabled => None,
        TransportSpec::Stdio(stdio) => Some(Kind::Process {
            command: &stdio.command,
            args: &stdio.args,
            env: &stdio.env,
            env_file: stdio.env_file.as_ref(),
            inherit: &stdio.env_inherit,
        }),
        TransportSpec::Http(http) => {
            Some(Kind::Endpoint { url: &http.url, headers: &http.headers })
        }
        TransportSpec::BuiltIn => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use toolgate_model::{Origin, ServerName, StdioSpec};

    use super::*;
    use crate::{Dialect, Surroundings};

    fn entry(index: usize, (command, folder, kind, state): (u8, u8, u8, u8)) -> Entry {
        let cwd = (folder > 0).then(|| PathBuf::from(format!("/{folder}")));
        let stdio = StdioSpec { command: command.to_string(), cwd, ..StdioSpec::default() };
        let http = HttpSpec { url: command.to_string(), ..HttpSpec::default() };
        let transport = match kind {
            0 => TransportSpec::Http(http),
            _ => TransportSpec::Stdio(stdio),
        };
        let mut spec = ServerSpec::new(ServerName::new(&format!("s{index}")).unwrap(), transport);
        spec.enabled = state > 0;
        Entry {
            spec,
            origin: Origin::built_in(),
            dialect: Dialect::Toolgate,
            shadows: Vec::new(),
            switched_by: None,
            around: Surroundings::default(),
            inputs: Vec::new(),
            standing: if state > 1 { Standing::Ready } else { Standing::NeedsConsent },
            unset: false,
        }
    }

    /// What is meant, entry by entry.
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

    fn by_comparing_all(entries: &[Entry]) -> BTreeMap<usize, usize> {
        let mut order: Vec<usize> = (0..entries.len()).collect();
        order.sort_by_key(|index| entries[*index].standing != Standing::Ready);
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
            prop_assert_eq!(repeated(&entries), by_comparing_all(&entries));
        }
    }
}
