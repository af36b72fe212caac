//! Recognises terminal escape sequences (ECMA-48).
//!
//! Removing them from a hyperlink (OSC 8) drops the address and keeps the link text, which stands
//! between two sequences. An unterminated sequence consists of its introducer only; the rest is
//! text.

/// The longest payload of a sequence, in characters.
const LONGEST: usize = 4096;

const ESC: char = '\u{1b}';
const BEL: char = '\u{7}';
const ST: char = '\u{9c}';

/// Returns how many of the characters after `first` belong to the sequence that `first` begins, or
/// 0 if it begins none.
pub(super) fn command_len(first: char, rest: impl Iterator<Item = char> + Clone) -> usize {
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

/// Returns the length of the parameters, intermediates and final character of a control sequence.
fn control(rest: impl Iterator<Item = char> + Clone) -> usize {
    let parameters = rest.clone().take(LONGEST).take_while(|c| matches!(c, '0'..='?')).count();
    let mut rest = rest.skip(parameters);
    let between = rest.clone().take(LONGEST).take_while(|c| matches!(c, ' '..='/')).count();
    let ends = rest.nth(between).is_some_and(|c| matches!(c, '@'..='~'));
    parameters + between + usize::from(ends)
}

/// Returns the length of a string payload with its terminator, or 0 if the line or the text ends
/// first.
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
        command_len(chars.next().unwrap(), chars)
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
