//! Decodes character references.
//!
//! It knows the names of HTML 4, which are nearly all that occur; other references stay unchanged.

/// The names of the characters from 160 on, in order.
const LATIN: &str = "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr \
deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest \
Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml \
ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig \
agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml \
eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

/// The names of Greek capitals from 913 on and of small letters from 945 on; `-` marks a gap.
const GREEK: &str = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi \
rho sigmaf sigma tau upsilon phi chi psi omega";

/// Other names, each followed by its character.
const OTHERS: &str = "amp & lt < gt > quot \" apos ' OElig Œ oelig œ Scaron Š scaron š Yuml Ÿ fnof ƒ circ ˆ \
tilde ˜ ndash – mdash — lsquo ‘ rsquo ’ sbquo ‚ ldquo “ rdquo ” bdquo „ dagger † Dagger ‡ bull • hellip … \
permil ‰ prime ′ Prime ″ lsaquo ‹ rsaquo › oline ‾ frasl ⁄ euro € image ℑ weierp ℘ real ℜ trade ™ \
alefsym ℵ larr ← uarr ↑ rarr → darr ↓ harr ↔ crarr ↵ lArr ⇐ uArr ⇑ rArr ⇒ dArr ⇓ hArr ⇔ forall ∀ part ∂ \
exist ∃ empty ∅ nabla ∇ isin ∈ notin ∉ ni ∋ prod ∏ sum ∑ minus − lowast ∗ radic √ prop ∝ infin ∞ ang ∠ \
and ∧ or ∨ cap ∩ cup ∪ int ∫ there4 ∴ sim ∼ cong ≅ asymp ≈ ne ≠ equiv ≡ le ≤ ge ≥ sub ⊂ sup ⊃ nsub ⊄ \
sube ⊆ supe ⊇ oplus ⊕ otimes ⊗ perp ⊥ sdot ⋅ lceil ⌈ rceil ⌉ lfloor ⌊ rfloor ⌋ lang ⟨ rang ⟩ loz ◊ \
spades ♠ clubs ♣ hearts ♥ diams ♦ check ✓ star ☆ phone ☎ lbrack [ rbrack ] lpar ( rpar ) ast * num # \
colon : semi ; comma , period . excl ! quest ? sol / bsol \\ lowbar _ hyphen ‐ dash ‐ percnt % dollar $ \
plus + equals = commat @ grave ` verbar | lbrace { rbrace } lcub { rcub } lsqb [ rsqb ]";

/// Names that also occur without the semicolon.
const BARE: [&str; 6] = ["amp", "lt", "gt", "quot", "nbsp", "copy"];

/// The Windows-1252 characters from 128 to 159, which numeric references often mean.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// The maximum length of a reference, in bytes.
const LONGEST: usize = 12;

/// Decodes the reference at the start of `text`, which begins with `&`. Returns the text after it.
pub(crate) fn decode<'a>(text: &'a str, out: &mut String) -> &'a str {
    let rest = text.strip_prefix('&').unwrap_or(text);
    let near = &rest[..rest.floor_char_boundary(LONGEST)];
    let name = near.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '#');
    let name = &near[..near.len() - name.len()];
    let behind = &rest[name.len()..];
    if let Some(behind) = behind.strip_prefix(';')
        && push_entity(name, out)
    {
        return behind;
    }
    if BARE.contains(&name) && push_entity(name, out) {
        return behind;
    }
    out.push('&');
    rest
}

fn push_entity(name: &str, out: &mut String) -> bool {
    if let Some(number) = name.strip_prefix('#') {
        let hexadecimal = number.strip_prefix(['x', 'X']);
        let code = match hexadecimal {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        };
        return code.map(|code| out.push(of_code(code))).is_ok();
    }
    let of = |names: &str, first: u32| {
        let at = names.split(' ').position(|known| known == name)?;
        char::from_u32(first + u32::try_from(at).ok()?)
    };
    let capital = || {
        let is_capital = name.starts_with(|c: char| c.is_ascii_uppercase());
        let at = GREEK.split(' ').position(|known| known.eq_ignore_ascii_case(name))?;
        char::from_u32(913 + u32::try_from(at).ok()?).filter(|_| is_capital)
    };
    let found = of(LATIN, 160).or_else(|| of(GREEK, 945)).or_else(capital).or_else(|| other(name));
    // A non-breaking space becomes a space; a soft hyphen is dropped.
    match found {
        Some('\u{a0}') => out.push(' '),
        Some('\u{ad}') => {}
        Some(c) => out.push(c),
        None => return false,
    }
    true
}

fn other(name: &str) -> Option<char> {
    if matches!(name, "ensp" | "emsp" | "thinsp") {
        return Some(' ');
    }
    let mut pairs = OTHERS.split(' ');
    while let (Some(known), Some(stands)) = (pairs.next(), pairs.next()) {
        if known == name {
            return stands.chars().next();
        }
    }
    None
}

fn of_code(code: u32) -> char {
    match code {
        128..=159 => WINDOWS.chars().nth(code as usize - 128).unwrap_or('\u{fffd}'),
        0xa0 => ' ',
        0 => '\u{fffd}',
        _ => char::from_u32(code).unwrap_or('\u{fffd}'),
    }
}

#[cfg(test)]
mod tests {
    fn decoded(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('&') {
            out.push_str(&rest[..at]);
            rest = super::decode(&rest[at..], &mut out);
        }
        out + rest
    }

    #[test]
    fn names_and_numbers_stand_for_characters() {
        assert_eq!(decoded("a &amp; b &lt;c&gt; &quot;d&quot;"), "a & b <c> \"d\"");
        assert_eq!(decoded("caf&eacute; &Uuml;ber &yuml;"), "café Über ÿ");
        assert_eq!(decoded("&#65;&#x42;&#X43; &#8364; &#150;"), "ABC € –");
        assert_eq!(decoded("&alpha;&Omega;&sigmaf; &hellip;&nbsp;&rarr; a&shy;b"), "αΩς … → ab");
    }

    #[test]
    fn what_is_none_stays() {
        for text in ["a & b", "&unknown;", "&", "&;", "&#;", "&#xg;", "R&D", "&ampere", "&é;"] {
            let expected = if text == "&ampere" { "&ampere" } else { text };
            assert_eq!(decoded(text), expected);
        }
        assert_eq!(decoded("x&amp y"), "x& y");
        assert_eq!(decoded("&#0;&#1114112;&#xd800;"), "\u{fffd}\u{fffd}\u{fffd}");
    }
}
