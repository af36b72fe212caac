//! Finds dates in a text, and converts them to ISO form if the text states a whole date.
//!
//! Relative dates (`Friday`, `next week`, `tomorrow`) are found but not converted.

use std::ops::Range;

use crate::words::{TextWord, listed, words};

/// A date in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DateMention {
    /// The byte range.
    pub(crate) range: Range<usize>,
    /// `YYYY-MM-DD`, if the text states a whole date.
    pub(crate) iso: Option<String>,
}

impl DateMention {
    /// Returns its range in a text in which the words begin at `start`.
    pub(crate) fn range_from(&self, start: usize) -> Range<usize> {
        start + self.range.start..start + self.range.end
    }
}

/// The names and abbreviations of the months in four languages.
const MONTHS: [(&str, &str); 12] = [
    (" january januar jänner janvier enero ", " jan janv ene "),
    (" february februar février febrero ", " feb févr fevrier "),
    (" march märz mars marzo ", " mar maerz mrz "),
    (" april avril abril ", " apr avr abr "),
    (" may mai mayo ", ""),
    (" june juni juin junio ", " jun "),
    (" july juli juillet julio ", " jul juil "),
    (" august août agosto ", " aug aout ago "),
    (" september septembre septiembre ", " sep sept "),
    (" october oktober octobre octubre ", " oct okt "),
    (" november novembre noviembre ", " nov "),
    (" december dezember décembre diciembre ", " dec dez decembre dic "),
];

const WEEKDAYS: &str = " \
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri \
    montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi \
    vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo ";

/// Relative dates.
const RELATIVE: &str = " \
    today tomorrow tonight eod eow eom heute morgen übermorgen demain aujourd'hui mañana hoy \
    asap monday's friday's q1 q2 q3 q4 ";

/// Words that make a date of the next word: `next week`, `end of month`.
const NEXT: &str = " \
    next this coming nächste nächsten nächster nächstes kommende kommenden diese dieser prochain \
    prochaine próxima próximo ";

const PERIODS: &str = " \
    week month quarter year sprint release meeting standup weekend woche monat quartal jahr \
    montag semaine mois semana mes ";

/// Returns true if a word is the name of a weekday.
pub(crate) fn is_weekday(word: &str) -> bool {
    listed(WEEKDAYS, &word.to_lowercase())
}

/// Returns true for the full name of a month.
pub(crate) fn is_full_month(word: &str) -> bool {
    let small = word.to_lowercase();
    MONTHS.iter().any(|(full, _)| listed(full, &small))
}

fn month(word: &str) -> Option<u32> {
    let small = word.trim_end_matches('.').to_lowercase();
    let place =
        MONTHS.iter().position(|(full, short)| listed(full, &small) || listed(short, &small))?;
    u32::try_from(place + 1).ok()
}

/// Returns the dates in a text, in order.
pub(crate) fn find_dates(text: &str) -> Vec<DateMention> {
    let list: Vec<TextWord<'_>> = words(text).collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < list.len() {
        match day(text, &list[at..]) {
            Some((taken, iso)) => {
                let last = &list[at + taken - 1];
                found
                    .push(DateMention { range: list[at].start..last.start + last.text.len(), iso });
                at += taken;
            }
            None => at += 1,
        }
    }
    found
}

/// Returns the number of words of the date at the start, and its ISO form.
fn day(text: &str, list: &[TextWord<'_>]) -> Option<(usize, Option<String>)> {
    numeric(text, list).or_else(|| spelled(text, list)).or_else(|| relative(text, list))
}

/// Parses `2026-11-20`, `20.11.2026`, `2026/11/20`, `20/11/2026`.
fn numeric(text: &str, list: &[TextWord<'_>]) -> Option<(usize, Option<String>)> {
    let first = list[0].text;
    for mark in ['-', '.'] {
        let parts: Vec<&str> = first.split(mark).collect();
        if let [one, two, three] = parts[..] {
            let time = three.split(['T', ':']).next().unwrap_or(three);
            return date_from_parts(one, two, time).map(|iso| (1, Some(iso)));
        }
    }
    // A slash separates words, so such a date is three of them.
    let [one, two, three, ..] = list else { return None };
    let joined = |left: &TextWord<'_>, right: &TextWord<'_>| {
        text.get(left.start + left.text.len()..right.start) == Some("/")
    };
    (joined(one, two) && joined(two, three))
        .then(|| date_from_parts(one.text, two.text, three.text))
        .flatten()
        .map(|iso| (3, Some(iso)))
}

/// Returns the ISO form of a date with the year or the day first. Returns `None` if day and month
/// are ambiguous, unless they are separated by full stops or one of them is above twelve.
fn date_from_parts(one: &str, two: &str, three: &str) -> Option<String> {
    let number = |part: &str| part.parse::<u32>().ok().filter(|_| part.len() <= 4);
    let (one_value, two_value, three_value) = (number(one)?, number(two)?, number(three)?);
    if one.len() == 4 {
        return iso(one_value, two_value, three_value);
    }
    let year = match three.len() {
        4 => three_value,
        2 => 2000 + three_value,
        _ => return None,
    };
    if two_value > 12 { iso(year, one_value, two_value) } else { iso(year, two_value, one_value) }
}

fn iso(year: u32, month: u32, day: u32) -> Option<String> {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let most = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let fits = (1900..2200).contains(&year) && (1..=most).contains(&day);
    fits.then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// Parses `20 November 2026`, `November 20th, 2026`, `3. März`, `le 3 mai 2026`,
/// `20 de noviembre de 2026`.
fn spelled(text: &str, list: &[TextWord<'_>]) -> Option<(usize, Option<String>)> {
    let mut month_at = None;
    let mut day_at = None;
    let mut year = None;
    let mut taken = 0;
    let mut end = list[0].start;
    for (place, word) in list.iter().enumerate().take(5) {
        let between = text.get(end..word.start).unwrap_or("");
        if place > 0 && !between.chars().all(|c| matches!(c, ' ' | ',' | '.' | '\u{a0}')) {
            break;
        }
        end = word.start + word.text.len();
        if month_at.is_none()
            && month(word.text).is_some()
            && is_month_name(word.text, day_at.is_some())
        {
            month_at = month(word.text);
        } else if let Some(value) = ordinal(word.text).filter(|_| day_at.is_none()) {
            day_at = Some(value);
        } else if let Some(value) = full_year(word.text).filter(|_| month_at.is_some()) {
            year = Some(value);
        } else if place > 0 && matches!(word.text, "de" | "of" | "del") {
            continue;
        } else {
            break;
        }
        taken = place + 1;
        if year.is_some() {
            break;
        }
    }
    let month = month_at?;
    // Only a month with day and year has an ISO form.
    let day = match (day_at, year) {
        (Some(day), Some(year)) => iso(year, month, day),
        _ => None,
    };
    (day_at.is_some() || year.is_some() || taken == 1 && list[0].text.len() > 3)
        .then_some((taken, day))
}

/// Returns true if a word is a month. `may` and `mar` need a capital or a number before them.
fn is_month_name(word: &str, numbered: bool) -> bool {
    numbered || word.starts_with(char::is_uppercase)
}

fn ordinal(word: &str) -> Option<u32> {
    let digits = word.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &word[digits..];
    let value: u32 = word[..digits].parse().ok()?;
    let ending = matches!(rest, "" | "st" | "nd" | "rd" | "th" | "er" | "º");
    ((1..=31).contains(&value) && ending).then_some(value)
}

fn full_year(word: &str) -> Option<u32> {
    let value: u32 = word.parse().ok()?;
    (word.len() == 4 && (1900..2200).contains(&value)).then_some(value)
}

/// Finds `Friday`, `next Friday`, `tomorrow`, `end of the week`, `next sprint`.
fn relative(text: &str, list: &[TextWord<'_>]) -> Option<(usize, Option<String>)> {
    let small =
        |place: usize| list.get(place).map(|word| word.text.to_lowercase()).unwrap_or_default();
    let first = small(0);
    if listed(NEXT, &first) && (is_weekday(&small(1)) || listed(PERIODS, &small(1))) {
        return Some((2, None));
    }
    if matches!(first.as_str(), "end" | "ende" | "fin") {
        let reach = (1..4)
            .find(|place| listed(PERIODS, &small(*place)) || month(&small(*place)).is_some())?;
        let near = text.get(list[0].start..list[reach].start).is_some_and(|words| words.len() < 24);
        return near.then_some((reach + 1, None));
    }
    // `Mon` and `Sun` have other meanings, so short forms need a capital.
    let capital = list[0].text.starts_with(char::is_uppercase) || first.len() > 4;
    (is_weekday(&first) && capital || listed(RELATIVE, &first)).then_some((1, None))
}
