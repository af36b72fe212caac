//! Commands to a terminal: an escape and all that belongs to it (ECMA-48).
//!
//! Of a link (OSC 8) the address goes and the words stay, since they stand between two commands.
//! A command that does not end is no command: its introducer goes, what follows it is text.

/// The longest text that a command may carry, in characters.
const LONGEST: usize = 4096;

const ESC: char = '\u{1b}';
const BEL: char = '\u{7}';
const ST: char = '\u{9c}';

/// How many of the characters behind `first` belong to the command it begins; none if it begins
/// none.
pub(super) fn behind(first: char, rest: impl Iterator<Item = char> + Clone) -> usize {
    match first {
        ESC => escaped(rest),
        '\u{9b}' => control(rest),
        '\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}' => carried(rest),
        _ => 0,
    }
}

fn escaped(mut rest: impl Iterator<Item = char> + Clone) -> usize {
    let following = rest.clone();
    match rest.next() {
        Some('[') => 1 + control(rest),
        Some('P' | 'X' | ']' | '^' | '_') => 1 + carried(rest),
        Some(' '..='~') => {
            let between = following.clone().take_while(|c| matches!(c, ' '..='/')).count();
            let ends = following.clone().nth(between).is_some_and(|c| matches!(c, '0'..='~'));
            if ends { between + 1 } else { 0 }
        }
        _ => 0,
    }
}

/// Parameters, intermediates and the final character of a control sequence.
fn control(rest: impl Iterator<Item = char> + Clone) -> usize {
    let parameters = rest.clone().take(LONGEST).take_while(|c| matches!(c, '0'..='?')).count();
    let mut rest = rest.skip(parameters);
    let between = rest.clone().take(LONGEST).take_while(|c| matches!(c, ' '..='/')).count();
    let ends = rest.nth(between).is_some_and(|c| matches!(c, '@'..='~'));
    parameters + between + usize::from(ends)
}

/// A text up to its terminator; none if there is no terminator before the next command or line.
fn carried(mut rest: impl Iterator<Item = char> + Clone) -> usize {
    for count in 1..=LONGEST {
        match rest.next() {
            Some(BEL | ST) => return count,
            Some(ESC) => return if rest.next() == Some('\\') { count + 1 } else { count - 1 },
            Some('\u{80}'..='\u{9f}') => return count - 1,
            Some('\n' | '\r') | None => return 0,
            Some(_) => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(text: &str) -> usize {
        let mut chars = text.chars();
        behind(chars.next().unwrap(), chars)
    }

    #[test]
    fn a_command_ends_where_a_terminal_ends_it() {
        for (text, count) in [
            ("\u{1b}[31mred", 4),
            ("\u{1b}[?25l", 5),
            ("\u{1b}[0 q", 4),
            ("\u{9b}1;2Hx", 4),
            ("\u{1b}(Bx", 2),
            ("\u{1b}cx", 1),
            ("\u{1b}]0;title\u{7}x", 9),
            ("\u{1b}]8;;https://a\u{1b}\\x", 15),
            ("\u{9d}0;t\u{9c}x", 4),
            ("\u{1b}Pq#0\u{1b}\\", 6),
            ("\u{1b}", 0),
            ("\u{1b}é", 0),
            ("\u{1b}]no end", 1),
            ("\u{1b}]a\nb\u{7}", 1),
            ("x[31m", 0),
        ] {
            assert_eq!(taken(text), count, "{text:?}");
        }
    }
}
