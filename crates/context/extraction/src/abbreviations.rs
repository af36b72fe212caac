//! Abbreviations: words whose full stop does not end a sentence, in the supported languages.

/// Abbreviations that something always follows, such as titles.
const NEVER: &str = " \
    e.g i.e eg ie vs cf mr mrs ms dr prof rev st gen sen rep col lt sgt capt approx fig figs eq \
    sec ch vol ed eds al resp incl excl esp viz ca z.b z.\u{a0}b d.h d.\u{a0}h u.a z.t o.ä bzw \
    ggf evtl vgl sog inkl exkl bspw insb geb hr fr frl dipl ing nr abs art kap abb s.o s.u v.a \
    m.e i.d.r m mm mme mlle p.ex c.-à-d env sr sra srta dra p.ej pág págs núm art. vd ud uds ej \
    aprox tel ext v.s dept min max avg ";

/// Abbreviations that can also end a sentence.
const EITHER: &str = " \
    etc usw usf u.s u.k e.u u.n u.s.a a.m p.m inc ltd co corp jr sr bros gmbh ag ph.d m.sc b.sc \
    d.c jan feb mar apr jun jul aug sep sept oct okt nov dec dez mon tue tues wed thu thur thurs \
    fri sat sun mo di mi do sa so std mio mrd no p pp ";

/// Abbreviations that a number follows.
const NUMBERED: &str = " no nos nr p pp pg art sec ch vol fig eq v ver s núm pág ";

const MONTHS: &str = " \
    januar jänner februar märz april mai juni juli august september oktober november dezember \
    january february march may june july october december janvier février mars avril juin juillet \
    août septembre octobre novembre décembre enero febrero marzo abril mayo junio julio agosto \
    septiembre octubre noviembre diciembre ";

const BEFORE_ORDINAL: &str = " am den der vom zum dem im das die beim ab bis seit und jeden jede ";

fn among(list: &str, word: &str) -> bool {
    let word = word.to_lowercase();
    !word.is_empty() && !word.contains(' ') && list.contains(&format!(" {word} "))
}

/// Returns true if the word with its full stop never ends a sentence.
pub(crate) fn never_ends(word: &str) -> bool {
    among(NEVER, word)
}

/// Returns true if the word is an abbreviation that can also end a sentence.
pub(crate) fn may_end(word: &str) -> bool {
    among(EITHER, word)
}

/// Returns true if the word is an abbreviation that precedes a number.
pub(crate) fn before_number(word: &str) -> bool {
    among(NUMBERED, word)
}

/// Returns true if the word is the name of a month.
pub(crate) fn is_month(word: &str) -> bool {
    among(MONTHS, word)
}

/// Returns true if a number after this word can be an ordinal.
pub(crate) fn before_ordinal(word: &str) -> bool {
    among(BEFORE_ORDINAL, word)
}
