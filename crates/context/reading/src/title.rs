//! Derives a title from a file name.

/// Returns a readable title for a file name.
pub(crate) fn title_from_name(name: &str) -> String {
    let file = name.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = match file.rsplit_once('.') {
        Some((stem, end)) if !stem.is_empty() && is_ending(end) => stem,
        _ => file,
    };
    let words = stem.split(['-', '_', ' ']).filter(|word| !word.is_empty());
    let title = words.collect::<Vec<_>>().join(" ");
    if title.is_empty() { name.to_owned() } else { title }
}

fn is_ending(end: &str) -> bool {
    (1..=8).contains(&end.len()) && end.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::title_from_name;

    #[test]
    fn names_become_readable() {
        for (name, title) in [
            ("notes/2024-11-05_weekly-plan.md", "2024 11 05 weekly plan"),
            ("C:\\docs\\Read Me.txt", "Read Me"),
            (".bashrc", ".bashrc"),
            ("report v1.2", "report v1.2"),
            ("Makefile", "Makefile"),
            ("---", "---"),
            ("", ""),
        ] {
            assert_eq!(title_from_name(name), title);
        }
    }
}
