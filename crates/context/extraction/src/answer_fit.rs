//! Checks whether a sentence has the form of an answer: a number, a date, a name, a version.

use crate::cues::list_contains;
use crate::dates;
use crate::question::QuestionAnswerKind;
use crate::words::{self, listed};

/// Whether a sentence has the kind of answer that a question wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AnswerFit {
    /// It has one.
    Has,
    /// None is required.
    NotRequired,
    /// A required one is missing.
    Lacks,
}

impl AnswerFit {
    /// Returns true if the sentence can be an answer.
    pub(crate) fn can_answer(self) -> bool {
        self != Self::Lacks
    }

    /// Returns the bonus for the sentence's score.
    pub(crate) fn bonus(self) -> f64 {
        if self == Self::Has { 1.0 } else { 0.0 }
    }
}

/// Checks whether a sentence has the kind of answer that is wanted.
pub(crate) fn check_fit(wanted: QuestionAnswerKind, sentence: &str, code: bool) -> AnswerFit {
    let must = |has: bool| if has { AnswerFit::Has } else { AnswerFit::Lacks };
    let may = |has: bool| if has { AnswerFit::Has } else { AnswerFit::NotRequired };
    match wanted {
        QuestionAnswerKind::Number => must(has_number(sentence)),
        QuestionAnswerKind::Duration => must(has_duration(sentence)),
        QuestionAnswerKind::Date => must(has_date(sentence)),
        QuestionAnswerKind::Name => must(has_name(sentence)),
        QuestionAnswerKind::Version => must(has_version(sentence)),
        QuestionAnswerKind::Procedure => may(code || sentence.contains('`')),
        QuestionAnswerKind::Reason => may(has_reason(sentence)),
        QuestionAnswerKind::YesNo | QuestionAnswerKind::Any => AnswerFit::NotRequired,
    }
}

/// Returns the share of a sentence that is not prose: URLs, badges, markup.
pub(crate) fn noise(sentence: &str) -> f64 {
    let length = sentence.len().max(1) as f64;
    let odd = sentence.bytes().filter(|byte| b"[](){}<>|=/".contains(byte)).count() as f64;
    let short = if sentence.split_whitespace().nth(2).is_none() { 0.15 } else { 0.0 };
    (2.0 * (odd / length - 0.05)).clamp(0.0, 0.3) + short
}

const COUNTS: &str = " \
    two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred \
    thousand million billion zero none no single double twice once both half dozen unlimited \
    constant linear logarithmic ein eine zwei drei vier fünf sechs sieben acht neun zehn deux \
    trois quatre cinq six sept huit neuf dix dos tres cuatro cinco seis siete ocho nueve diez ";

fn has_number(sentence: &str) -> bool {
    words::words(sentence).any(|word| {
        word.text.contains(|c: char| c.is_ascii_digit())
            || listed(COUNTS, &word.text.to_lowercase())
    })
}

const SPANS: &str = " \
    second seconds minute minutes hour hours day days week weeks month months year years daily \
    weekly monthly yearly annually quarterly once twice forever indefinitely ns ms microseconds \
    milliseconds nanoseconds sekunde sekunden minuten stunde stunden tag tage woche wochen monat \
    monate jahr jahre täglich wöchentlich jours semaine semaines mois ans heures días semanas \
    meses años horas minutos ";

fn has_duration(sentence: &str) -> bool {
    words::words(sentence).any(|word| listed(SPANS, &word.text.to_lowercase()))
}

/// Returns true if the sentence has a year, a month, a time, a weekday, or a release in which
/// something happened.
fn has_date(sentence: &str) -> bool {
    let mut before = "";
    words::words(sentence).any(|word| {
        let year = matches!(word.text.len(), 4 | 5) && word.text.starts_with(['1', '2']);
        let century =
            list_contains("century|centuries|jahrhundert|siècle|siglo", &word.text.to_lowercase());
        let digits = word.text.bytes().filter(u8::is_ascii_digit).count();
        let release = ["in", "since", "until", "from", "of", "version", "release"]
            .contains(&before)
            && is_version(word.text)
            && word.text.contains('.');
        before = word.text;
        // Also `1850s`.
        year && digits == 4
            || century
            || digits >= 3 && word.text.contains(['-', ':'])
            || release
            || dates::is_full_month(word.text) && word.text.starts_with(char::is_uppercase)
            || dates::is_weekday(word.text)
    })
}

/// Returns true if the sentence has a capitalized word that is not the first, a handle, or an
/// address.
fn has_name(sentence: &str) -> bool {
    let capital = |text: &str| {
        text.starts_with(char::is_uppercase) && text.chars().any(char::is_lowercase) && text != "I"
    };
    sentence.contains('@')
        || words::words(sentence).any(|word| word.start > 0 && capital(word.text))
}

fn has_version(sentence: &str) -> bool {
    let inside = |word: &str| {
        word.as_bytes()
            .windows(3)
            .any(|three| three[0].is_ascii_digit() && three[1] == b'.' && three[2].is_ascii_digit())
    };
    words::words(sentence).any(|word| is_version(word.text) || inside(word.text))
        || sentence.contains("latest stable")
}

/// Returns true for versions such as `1.70`, `v2`, `0.9.1-rc.1`, `2021`.
fn is_version(word: &str) -> bool {
    let bare = word.strip_prefix(['v', 'V', 'r']).unwrap_or(word);
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &bare[digits..];
    digits > 0 && (rest.is_empty() || rest.starts_with(['.', '-']))
}

fn has_reason(sentence: &str) -> bool {
    let small = sentence.to_lowercase();
    let marks = "because|since |due to|so that|in order to|therefore|reason|otherwise|to avoid|\
        this means|as a result|prevent|weil|denn |damit|deshalb|parce que|car |afin|porque|debido|\
        para que|ya que";
    marks.split('|').any(|mark| small.contains(mark))
}
