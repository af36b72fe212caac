//! Checks what must be reviewed before a process is started.

use toolgate_model::SafetySpec;

use super::command_check;

/// Names of sandbox profiles that do not confine the process.
const UNCONFINED: [&str; 4] = ["disabled", "none", "off", "false"];
/// The word for consent.
const APPROVED: &str = "approved";
/// The number of hexadecimal digits of a SHA-256 digest.
const DIGEST_DIGITS: usize = 64;

/// Returns everything that is missing, with what to add; `None` if nothing is missing.
pub(super) fn missing(command: &str, safety: &SafetySpec) -> Option<String> {
    let rules = [
        command_check::command_problem(command),
        command_list(command, &safety.allowed_commands),
        digest(safety.manifest_digest.as_deref()),
        signature(safety.manifest_signature.as_deref()),
        confinement(safety),
        consent(safety.client_consent.as_deref()),
    ];
    let missing: Vec<_> = rules.into_iter().flatten().collect();
    (!missing.is_empty()).then(|| missing.join("; "))
}

fn command_list(command: &str, allowed: &[String]) -> Option<String> {
    let lists = "`stdio_allowed_commands` or `control_plane.mcp_stdio_allowed_commands`";
    let shown = toolgate_model::redact_args(&[command.to_owned()]).concat();
    match allowed {
        [] => Some(format!("no list of reviewed commands: add {shown:?} to {lists}")),
        allowed if allowed.iter().any(|it| it == command) => None,
        _ => Some(format!("{shown:?} is not among the reviewed commands: add it to {lists}")),
    }
}

fn digest(digest: Option<&str>) -> Option<String> {
    let wanted = "`manifest_digest: sha256:` and 64 hexadecimal digits";
    let Some(digest) = digest else { return Some(format!("no manifest digest: add {wanted}")) };
    let is_digest = digest.strip_prefix("sha256:").is_some_and(|hex| {
        hex.len() == DIGEST_DIGITS && hex.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    (!is_digest).then(|| format!("the manifest digest is malformed: write {wanted}"))
}

fn signature(signature: Option<&str>) -> Option<String> {
    let wanted = "add what the review gave you as `manifest_signature`";
    match signature.map(str::trim) {
        None | Some("") => Some(format!("no manifest signature: {wanted}")),
        Some(text) if text.starts_with('<') && text.ends_with('>') => {
            Some(format!("the manifest signature is a placeholder: {wanted}"))
        }
        Some(_) => None,
    }
}

fn confinement(safety: &SafetySpec) -> Option<String> {
    let wanted = "add a `sandbox_profile` that confines it, such as `restricted`";
    match safety.sandbox.profile.as_deref().map(str::trim) {
        None | Some("") => Some(format!("no sandbox: {wanted}")),
        Some(word) if UNCONFINED.iter().any(|it| it.eq_ignore_ascii_case(word)) => {
            Some(format!("the sandbox is switched off: {wanted}"))
        }
        Some(_) => None,
    }
}

fn consent(word: Option<&str>) -> Option<String> {
    match word {
        Some(APPROVED) => None,
        Some(_) => Some("the client's consent is not `approved`: approve it".to_owned()),
        None => Some("no consent of the client: add `client_consent: approved`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use toolgate_model::SandboxSpec;

    use super::*;

    fn reviewed() -> SafetySpec {
        SafetySpec {
            allowed_commands: vec!["uvx".into()],
            manifest_digest: Some(format!("sha256:{}", "0aF".repeat(21) + "9")),
            manifest_signature: Some("signed".into()),
            sandbox: SandboxSpec { profile: Some("restricted".into()), ..SandboxSpec::default() },
            client_consent: Some("approved".into()),
        }
    }

    #[test]
    fn what_was_reviewed_passes() {
        assert_eq!(missing("uvx", &reviewed()), None);
    }

    #[test]
    fn each_rule_that_is_missed_is_named_with_what_to_add() {
        type Change = fn(&mut SafetySpec);
        let changes: [(Change, &str); 11] = [
            (|it| it.allowed_commands.clear(), "no list of reviewed commands: add \"uvx\""),
            (|it| it.allowed_commands = vec!["/bin/uvx".into()], "not among the reviewed"),
            (|it| it.manifest_digest = None, "add `manifest_digest: sha256:`"),
            (|it| it.manifest_digest = Some("sha256:<64-hex-digest>".into()), "malformed"),
            (|it| it.manifest_digest = Some("a".repeat(64)), "malformed"),
            (|it| it.manifest_signature = None, "as `manifest_signature`"),
            (|it| it.manifest_signature = Some("<here>".into()), "placeholder"),
            (|it| it.sandbox.profile = None, "add a `sandbox_profile`"),
            (|it| it.sandbox.profile = Some("Disabled".into()), "switched off"),
            (|it| it.client_consent = None, "add `client_consent: approved`"),
            (|it| it.client_consent = Some("pending".into()), "not `approved`"),
        ];
        for (change, wanted) in changes {
            let mut safety = reviewed();
            change(&mut safety);
            let why = missing("uvx", &safety).unwrap();
            assert!(why.contains(wanted) && !why.contains(';'), "{why}");
        }
        assert!(missing("bash", &reviewed()).unwrap().contains("is a shell"));
        assert_eq!(missing("", &SafetySpec::default()).unwrap().split("; ").count(), 6);
    }
}
