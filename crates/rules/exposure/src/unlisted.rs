//! What no list names and yet may be asked for: a resource under a URI of its own, an extension's
//! methods, what a server wants models to know. Their server's tags stand for them.

use toolgate_model::{DeclaredProfile, Expose, ServerSpec};
use toolgate_naming::Style;

use crate::profile::{Said, Seeing};
use crate::{OwnTools, Terms};

/// Whether a profile sees something of a server that is in none of its lists, by its own name; the
/// empty name stands for the server as such.
pub fn sees(spec: &ServerSpec, name: &str, declared: &DeclaredProfile) -> bool {
    let style = Style::default();
    let terms = Terms {
        profile: "",
        declared,
        style: &style,
        expose: Expose::All,
        own: OwnTools::default(),
        unusable: &|_, _| None,
    };
    let path = format!("{}/{name}", spec.name);
    let said = Seeing::of(&terms).judge(spec.name.as_str(), &path, &spec.server_tags());
    !matches!(said, Said::Hides(_))
}
