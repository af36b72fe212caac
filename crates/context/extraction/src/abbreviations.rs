//! Abbreviations: words whose full stop does not end a sentence, in the supported languages.

use crate::words::listed;

/// Abbreviations that something always follows, such as titles.
pub(crate) const NEVER_ENDS: &str = " \
    e.g i.e eg ie vs cf mr mrs ms dr prof rev st gen sen rep col lt sgt capt approx fig figs eq \
    sec ch vol ed eds al resp incl excl esp viz ca z.b z.\u{a0}b d.h d.\u{a0}h u.a z.t o.ä bzw \
    ggf evtl vgl sog inkl exkl bspw insb geb hr fr frl dipl ing nr abs art kap abb s.o s.u v.a \
    m.e i.d.r m mm mme mlle p.ex c.-à-d env sr sra srta dra p.ej pág págs núm art. vd ud uds ej \
    aprox tel ext v.s dept min max avg ";

/// Abbreviations that can also end a sentence.
pub(crate) const MAY_END: &str = " \
    etc usw usf u.s u.k e.u u.n u.s.a a.m p.m inc ltd co corp jr sr bros gmbh ag ph.d m.sc b.sc \
    d.c jan feb mar apr jun jul aug sep sept oct okt nov dec dez mon tue tues wed thu thur thurs \
    fri sat sun mo di mi do sa so std mio mrd no p pp ";

/// Abbreviations that a number follows.
pub(crate) const BEFORE_NUMBER: &str = " no nos nr p pp pg art sec ch vol fig eq v ver s núm pág ";

/// Words after which a number can be an ordinal.
pub(crate) const BEFORE_ORDINAL: &str =
    " am den der vom zum dem im das die beim ab bis seit und jeden jede ";

/// Returns true if the list contains the word, whatever its case.
pub(crate) fn has(list: &str, word: &str) -> bool {
    listed(list, &word.to_lowercase())
}
