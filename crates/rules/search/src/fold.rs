//! Folds letters to one spelling: lower case, without diacritics, full width as half width.
//!
//! It only folds letters; `words` decides what a word is.

/// Appends the folded form of `c`: usually one letter, sometimes two, none for a mark.
pub(crate) fn push(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
        return;
    }
    match c {
        // Combining marks are dropped.
        '\u{300}'..='\u{36f}' | '\u{1ab0}'..='\u{1aff}' | '\u{fe00}'..='\u{fe0f}' => {}
        // Full width forms.
        '\u{ff01}'..='\u{ff5e}' => {
            let half = char::from_u32(c as u32 - 0xfee0).unwrap_or(c);
            out.push(half.to_ascii_lowercase());
        }
        _ => c.to_lowercase().for_each(|low| push_plain(low, out)),
    }
}

/// Appends a lower-case letter without its diacritics.
fn push_plain(c: char, out: &mut String) {
    let plain = match c {
        'à'..='å' | 'ā' | 'ă' | 'ą' | 'ǎ' | 'ạ'..='ặ' => "a",
        'æ' => "ae",
        'ç' | 'ć' | 'ĉ' | 'ċ' | 'č' => "c",
        'ď' | 'đ' | 'ð' => "d",
        'è'..='ë' | 'ē' | 'ĕ' | 'ė' | 'ę' | 'ě' | 'ẹ'..='ệ' => "e",
        'ĝ' | 'ğ' | 'ġ' | 'ģ' => "g",
        'ĥ' | 'ħ' => "h",
        'ì'..='ï' | 'ĩ' | 'ī' | 'ĭ' | 'į' | 'ı' | 'ỉ' | 'ị' => "i",
        'ĵ' => "j",
        'ķ' => "k",
        'ĺ' | 'ļ' | 'ľ' | 'ŀ' | 'ł' => "l",
        'ñ' | 'ń' | 'ņ' | 'ň' => "n",
        'ò'..='ö' | 'ø' | 'ō' | 'ŏ' | 'ő' | 'ơ' | 'ọ'..='ợ' => "o",
        'œ' => "oe",
        'ŕ' | 'ŗ' | 'ř' => "r",
        'ś' | 'ŝ' | 'ş' | 'š' | 'ș' => "s",
        'ß' => "ss",
        'ţ' | 'ť' | 'ŧ' | 'ț' => "t",
        'þ' => "th",
        'ù'..='ü' | 'ũ' | 'ū' | 'ŭ' | 'ů' | 'ű' | 'ų' | 'ư' | 'ụ'..='ự' => "u",
        'ŵ' => "w",
        'ý' | 'ÿ' | 'ŷ' | 'ỳ'..='ỹ' => "y",
        'ź' | 'ż' | 'ž' => "z",
        'ά' => "α",
        'έ' => "ε",
        'ή' => "η",
        'ί' | 'ϊ' | 'ΐ' => "ι",
        'ό' => "ο",
        'ύ' | 'ϋ' | 'ΰ' => "υ",
        'ώ' => "ω",
        'ς' => "σ",
        'ё' => "е",
        '\u{300}'..='\u{36f}' => "",
        _ => return out.push(c),
    };
    out.push_str(plain);
}

#[cfg(test)]
mod tests {
    fn folded(text: &str) -> String {
        let mut out = String::new();
        text.chars().for_each(|c| super::push(c, &mut out));
        out
    }

    #[test]
    fn letters_lose_case_marks_and_width() {
        assert_eq!(folded("Crème Brûlée"), "creme brulee");
        assert_eq!(folded("e\u{301}tude"), "etude");
        assert_eq!(folded("Straße Ærø Łódź"), "strasse aero lodz");
        assert_eq!(folded("ＡＰＩ"), "api");
        assert_eq!(folded("Ёлка ΆΛΦΑς"), "елка αλφασ");
        assert_eq!(folded("天気"), "天気");
    }
}
