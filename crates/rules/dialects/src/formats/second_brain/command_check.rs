//! Checks the command of a process: it must be one program, and not a shell.
//!
//! Only the text is checked. What the name resolves to on this machine, and what the program does
//! with its arguments, is not.

/// Programs that run arbitrary commands.
const SHELLS: &str = "\
    sh bash rbash zsh dash ash ksh mksh pdksh csh tcsh fish nu elvish xonsh busybox pwsh \
    powershell cmd osascript wscript cscript";
/// Extensions of programs on Windows.
const ENDINGS: [&str; 4] = [".exe", ".cmd", ".bat", ".com"];
/// Characters with a special meaning in shells.
const META: &str = "|&;<>()$`\"'*?[]{}!#";

/// Returns why a text is not a valid command; `None` if it is valid.
pub(super) fn command_problem(command: &str) -> Option<String> {
    if command.is_empty() {
        return Some("`command` is empty: name one program".to_owned());
    }
    if command.contains(|c: char| c.is_control()) {
        return Some("`command` contains a line break or control character: remove it".to_owned());
    }
    if let Some(meta) = command.chars().find(|c| META.contains(*c)) {
        return Some(format!(
            "`command` contains {meta:?}, which is special to shells: name one program"
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

/// Returns true if a program is a shell by its file name, in any folder, in any version, and also
/// as a login shell.
fn is_shell(command: &str) -> bool {
    let file = command.rsplit(['/', '\\']).next().unwrap_or_default().to_ascii_lowercase();
    let name = ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)).unwrap_or(&file);
    let versioned = |c: char| c.is_ascii_digit() || c == '.' || c == '-';
    let name = name.trim_start_matches('-').trim_end_matches(versioned);
    SHELLS.split(' ').any(|shell| shell == name)
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
            assert_eq!(command_problem(command), None, "{command}");
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
            let why = command_problem(command);
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
            assert!(command_problem(command).is_some(), "{command:?}");
        }
    }
}
