//! What may be the command of a process: one program that is no shell.
//!
//! Only the text is looked at. What a name leads to on this machine, and what a program does with
//! its arguments, is for whoever starts it.

/// Programs that run whatever they are told to.
const SHELLS: [&str; 22] = [
    "sh",
    "bash",
    "rbash",
    "zsh",
    "dash",
    "ash",
    "ksh",
    "mksh",
    "pdksh",
    "csh",
    "tcsh",
    "fish",
    "nu",
    "elvish",
    "xonsh",
    "busybox",
    "pwsh",
    "powershell",
    "cmd",
    "osascript",
    "wscript",
    "cscript",
];
/// Endings by which Windows knows a program.
const ENDINGS: [&str; 4] = [".exe", ".cmd", ".bat", ".com"];
/// Characters by which a shell is told to do more than start a program.
const META: &str = "|&;<>()$`\"'*?[]{}!#";

/// Why a text cannot be a command; `None` if it can.
pub(super) fn refused(command: &str) -> Option<String> {
    if command.is_empty() {
        return Some("`command` is empty: name one program".to_owned());
    }
    if command.contains(|c: char| c.is_control()) {
        return Some("`command` holds a line break or control character: remove it".to_owned());
    }
    if let Some(meta) = command.chars().find(|c| META.contains(*c)) {
        return Some(format!(
            "`command` holds {meta:?}, which means something to a shell: name one program"
        ));
    }
    if command.contains(char::is_whitespace) {
        return Some(
            "`command` is more than one word: name one program, and put the rest into `args`"
                .to_owned(),
        );
    }
    is_shell(command)
        .then(|| "`command` is a shell: name the program that the shell would start".to_owned())
}

/// Whether a program is a shell, by its file name: wherever it lies, whatever its version, and as
/// the shell of a login.
fn is_shell(command: &str) -> bool {
    let file = command.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(&file);
    let versioned = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    SHELLS.contains(&name.trim_start_matches('-').trim_end_matches(versioned))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_program_passes() {
        for command in [
            "uvx",
            "npx",
            ".venv/bin/python",
            "/usr/bin/python3.12",
            "C:\\tools\\server.exe",
            "my-server_2",
            "shfmt",
            "cmdr",
            "~/bin/serve",
            "dashboard",
            "fisher",
            "a@b+c=d,e%f",
        ] {
            assert_eq!(refused(command), None, "{command}");
        }
    }

    #[test]
    fn shells_are_refused_wherever_they_lie() {
        for command in [
            "bash",
            "zsh",
            "sh",
            "pwsh",
            "osascript",
            "/bin/sh",
            "/usr/bin/env/../bash",
            "BASH",
            "bash.exe",
            "C:\\Windows\\System32\\cmd.exe",
            "powershell.EXE",
            "bash-5.2",
            "-zsh",
            "busybox",
            "./dash",
            "ksh93",
            "fish",
        ] {
            let why = refused(command);
            assert!(why.as_deref().is_some_and(|why| why.contains("shell")), "{command} {why:?}");
        }
    }

    #[test]
    fn whatever_a_shell_would_act_on_is_refused() {
        for command in [
            "a|b",
            "a&&b",
            "a;b",
            "a>b",
            "a<b",
            "$(a)",
            "`a`",
            "a$B",
            "${A}",
            "a'b'",
            "a\"b",
            "*",
            "a?",
            "[a]",
            "{a,b}",
            "!a",
            "a#b",
            "(a)",
            "a\nb",
            "a\r\nb",
            "a\0",
            "a\tb",
            "npx -y x",
            "",
            " uvx",
            "uvx ",
            "a\u{2028}b",
        ] {
            assert!(refused(command).is_some(), "{command:?}");
        }
    }
}
