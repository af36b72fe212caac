//! What a client said it can be asked.

use toolgate_wire::scan;

use crate::upstreams::AskKind;

/// The questions a client declared it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Abilities {
    roots: bool,
    sampling: bool,
    form: bool,
    url: bool,
}

impl Abilities {
    /// Reads the raw `capabilities` of `initialize`.
    pub(crate) fn of(capabilities: &[u8]) -> Self {
        let object = |raw: &[u8], key: &str| {
            let value = scan::member(raw, key)?.of(raw).to_vec();
            value.starts_with(b"{").then_some(value)
        };
        let elicitation = object(capabilities, "elicitation");
        let mode = |key| elicitation.as_ref().is_some_and(|raw| object(raw, key).is_some());
        Self {
            roots: object(capabilities, "roots").is_some(),
            sampling: object(capabilities, "sampling").is_some(),
            // An empty declaration is that of 2025-06-18, which knew forms only.
            form: elicitation.is_some() && (mode("form") || !mode("url")),
            url: mode("url"),
        }
    }

    /// Whether the client can be asked this.
    pub(crate) fn answer(self, kind: AskKind) -> bool {
        match kind {
            AskKind::Roots => self.roots,
            AskKind::Sampling => self.sampling,
            AskKind::Form => self.form,
            AskKind::Url => self.url,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_elicitation_means_forms_only() {
        let abilities = Abilities::of(br#"{"elicitation":{},"sampling":{}}"#);
        assert!(abilities.answer(AskKind::Form) && abilities.answer(AskKind::Sampling));
        assert!(!abilities.answer(AskKind::Url) && !abilities.answer(AskKind::Roots));
    }

    #[test]
    fn url_elicitation_is_declared_by_name() {
        let both = Abilities::of(br#"{"elicitation":{"form":{},"url":{}},"roots":{}}"#);
        assert!(both.answer(AskKind::Form) && both.answer(AskKind::Url));
        let only = Abilities::of(br#"{"elicitation":{"url":{}}}"#);
        assert!(only.answer(AskKind::Url) && !only.answer(AskKind::Form));
    }

    #[test]
    fn what_is_not_an_object_declares_nothing() {
        assert_eq!(Abilities::of(br#"{"roots":null,"sampling":true}"#), Abilities::default());
    }
}
