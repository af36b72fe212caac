//! Merges one setting from several files, where a stricter value cannot be loosened.
//!
//! The base is the user's value, or the system's if the user sets none. The system's and the
//! project's values can make it stricter, and never looser.

use toolgate_dialects::{FileSettings, LocatedValue};
use toolgate_model::{ConfigScope, Diagnostic, DiagnosticSeverity, ErrorCode, Origin};

use crate::files::ConfigLayer;

/// The value that one file sets.
#[derive(Debug, Clone)]
pub(crate) struct SettingCandidate<T> {
    pub value: T,
    pub origin: Origin,
    /// Whether the file is written for Toolgate, and not for another host.
    pub is_for_toolgate: bool,
}

/// Returns the values that the files set, nearest first.
pub(crate) fn collect_candidates<'l, T: Copy>(
    layers: impl IntoIterator<Item = &'l ConfigLayer>,
    read: impl Fn(&FileSettings) -> Option<LocatedValue<T>>,
) -> Vec<SettingCandidate<T>> {
    let candidate = |layer: &ConfigLayer| {
        let LocatedValue { value, at } = read(&layer.parsed.settings)?;
        let is_for_toolgate = layer.rank.is_for_toolgate();
        Some(SettingCandidate { value, origin: layer.origin(at), is_for_toolgate })
    };
    layers.into_iter().filter_map(candidate).collect()
}

/// A setting with its order of strictness.
pub(crate) struct StrictnessRank<'s, T> {
    /// The name of the setting in messages.
    pub name: &'s str,
    /// The value if no file sets one.
    pub default: T,
    /// Returns a number that is larger for a stricter value.
    pub strictness: fn(T) -> u128,
}

impl<T: Copy> StrictnessRank<'_, T> {
    /// Returns the effective value of the files; `None` if no file sets one.
    pub fn merge<'l>(
        &self,
        layers: impl IntoIterator<Item = &'l ConfigLayer>,
        read: impl Fn(&FileSettings) -> Option<LocatedValue<T>>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<T> {
        self.select_strictest(&collect_candidates(layers, read), diagnostics).map(|held| held.value)
    }

    /// Returns the effective value, and reports values that have no effect.
    pub fn select_strictest(
        &self,
        candidates: &[SettingCandidate<T>],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<SettingCandidate<T>> {
        let mut held = self.base(candidates).cloned();
        for candidate in candidates.iter().filter(|it| it.origin.scope != ConfigScope::User) {
            let stricter = match &held {
                Some(held) => self.is_looser(held.value, candidate.value),
                None => !self.is_looser(candidate.value, self.default),
            };
            if stricter {
                held = Some(candidate.clone());
            }
        }
        let holds = held.as_ref().map_or(self.default, |held| held.value);
        let looser = candidates.iter().filter(|candidate| self.is_looser(candidate.value, holds));
        diagnostics
            .extend(looser.map(|candidate| self.report_overridden(candidate, held.as_ref())));
        held
    }

    /// Returns the user's value, preferably from a file written for Toolgate; if the user sets
    /// none, the system's. Of several values for other hosts, returns the strictest.
    fn base<'w>(&self, candidates: &'w [SettingCandidate<T>]) -> Option<&'w SettingCandidate<T>> {
        let of = |scope| candidates.iter().filter(move |candidate| candidate.origin.scope == scope);
        let strictest = |one: &'w SettingCandidate<T>, other: &'w SettingCandidate<T>| {
            if self.is_looser(one.value, other.value) { other } else { one }
        };
        let own = of(ConfigScope::User).find(|candidate| candidate.is_for_toolgate);
        own.or_else(|| of(ConfigScope::User).reduce(strictest))
            .or_else(|| of(ConfigScope::System).next())
    }

    fn is_looser(&self, one: T, other: T) -> bool {
        (self.strictness)(one) < (self.strictness)(other)
    }

    fn report_overridden(
        &self,
        candidate: &SettingCandidate<T>,
        held: Option<&SettingCandidate<T>>,
    ) -> Diagnostic {
        let name = self.name;
        if candidate.origin.scope == ConfigScope::Project {
            let message =
                format!("`{name}` has no effect: a project's file can only make it stricter");
            let severity = no_effect_severity(candidate.is_for_toolgate);
            return project_limit(candidate.origin.clone(), message, OWN_CONFIG_HINT)
                .severity(severity);
        }
        let by = held.map_or_else(|| "the default".to_owned(), |held| held.origin.to_string());
        let message = format!("`{name}` is made stricter by {by}");
        Diagnostic::warning(ErrorCode::ConfigNoEffect, candidate.origin.clone(), message)
            .severity(DiagnosticSeverity::Note)
    }
}

/// The hint for a setting of a project's file that has no effect.
pub(crate) const OWN_CONFIG_HINT: &str = "set it in your own config, if you want it";

/// Returns the warning about something that a project's file cannot do.
pub(crate) fn project_limit(
    origin: Origin,
    message: impl Into<String>,
    hint: impl Into<String>,
) -> Diagnostic {
    Diagnostic::warning(ErrorCode::ConfigProjectLimit, origin, message).hint(hint)
}

/// Returns the severity for something without effect. In another host's file it is valid, so it is
/// only a note.
pub(crate) fn no_effect_severity(is_for_toolgate: bool) -> DiagnosticSeverity {
    match is_for_toolgate {
        true => DiagnosticSeverity::Warning,
        false => DiagnosticSeverity::Note,
    }
}

/// Reports the settings of one table in a project's file, which have no effect there. Each setting
/// has a name and, if it is set, a position.
pub(crate) fn report_project_settings<'s>(
    layer: &'s ConfigLayer,
    table: &'s str,
    settings: impl IntoIterator<Item = (String, Option<(u32, u32)>)> + 's,
) -> impl Iterator<Item = Diagnostic> + 's {
    settings.into_iter().filter_map(move |(name, at)| {
        let message = format!("`{table}.{name}` has no effect in a project's file");
        Some(project_limit(layer.origin(at?), message, OWN_CONFIG_HINT))
    })
}
