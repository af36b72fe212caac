//! Cue phrases in English, German, French and Spanish that mark tasks, decisions, people and dates
//! in notes.
//!
//! This module only finds phrases; its callers decide what follows from them.

use std::collections::HashMap;
use std::ops::Range;

use crate::words;

/// The words of a sentence in lower case, with their positions.
///
/// Phrase lists are one string, separated by `|`.
pub(crate) struct SentenceWords {
    words: Vec<String>,
    ranges: Vec<Range<usize>>,
    /// The positions of each word, so that a phrase is found without a scan of the sentence.
    places: HashMap<String, Vec<usize>>,
}

impl SentenceWords {
    /// Splits a sentence into words.
    pub(crate) fn of(text: &str) -> Self {
        let mut line = Self { words: Vec::new(), ranges: Vec::new(), places: HashMap::new() };
        for word in words::words(text) {
            let small = word.text.to_lowercase().replace('’', "'");
            line.places.entry(small.clone()).or_default().push(line.words.len());
            line.words.push(small);
            line.ranges.push(word.start..word.start + word.text.len());
        }
        line
    }

    /// Returns the number of words.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// Returns the word at this position, or an empty string after the last.
    pub(crate) fn word(&self, place: usize) -> &str {
        self.words.get(place).map_or("", String::as_str)
    }

    /// Returns the byte offset where the word at this position begins.
    pub(crate) fn start(&self, place: usize) -> Option<usize> {
        self.ranges.get(place).map(|range| range.start)
    }

    /// Returns the byte offset where the word at this position ends.
    pub(crate) fn end(&self, place: usize) -> Option<usize> {
        self.ranges.get(place).map(|range| range.end)
    }

    /// Returns the first occurrence of one of these phrases: its first word, and the word after it.
    pub(crate) fn find(&self, phrases: &str) -> Option<(usize, usize)> {
        let first = |phrase: &str| {
            let places = self.places.get(phrase.split(' ').next()?)?;
            places.iter().find_map(|place| Some((*place, self.match_at(*place, phrase)?)))
        };
        phrases.split('|').filter_map(first).min()
    }

    /// Returns true if one of these phrases occurs anywhere.
    pub(crate) fn has(&self, phrases: &str) -> bool {
        self.find(phrases).is_some()
    }

    /// Returns the position after one of these phrases, if the sentence begins with it.
    pub(crate) fn starts_with(&self, phrases: &str) -> Option<usize> {
        phrases.split('|').find_map(|phrase| self.match_at(0, phrase))
    }

    /// Returns the position after the phrase, if it occurs at this position.
    pub(crate) fn match_at(&self, place: usize, phrase: &str) -> Option<usize> {
        let mut at = place;
        for word in phrase.split(' ') {
            if self.words.get(at).map(String::as_str) != Some(word) {
                return None;
            }
            at += 1;
        }
        Some(at)
    }
}

/// Returns true if the list contains the word.
pub(crate) fn list_contains(phrases: &str, word: &str) -> bool {
    phrases.split('|').any(|phrase| phrase == word)
}

/// Returns the last word before this offset, in lower case.
pub(crate) fn word_before(text: &str, at: usize) -> String {
    let before = text.get(..at).unwrap_or("");
    let from = before.char_indices().rev().nth(30).map_or(0, |(at, _)| at);
    let line = SentenceWords::of(&before[from..]);
    line.word(line.len().saturating_sub(1)).to_owned()
}

/// Headings and labels of tasks.
pub(crate) const TASKS: &str = "\
    action items|action item|actions|action|action points|action point|todo|to do|to-do|to-dos|\
    todos|next steps|next step|tasks|open tasks|follow-ups|follow ups|follow-up|follow up|\
    open items|open points|outstanding|assignments|commitments|aufgaben|aufgabe|offene punkte|\
    offene aufgaben|nächste schritte|maßnahmen|noch zu tun|zu tun|zu erledigen|à faire|\
    actions à mener|prochaines étapes|tâches|tareas|pendientes|pendiente|por hacer|próximos pasos|\
    acciones|fixme|xxx";

/// Headings and labels of open questions.
pub(crate) const QUESTIONS: &str = "\
    open questions|open question|questions|unresolved|unresolved questions|to clarify|\
    offene fragen|offene frage|fragen|zu klären|questions ouvertes|questions en suspens|\
    preguntas abiertas|preguntas|dudas";

/// Headings and labels of decisions.
pub(crate) const DECISIONS: &str = "\
    decision|decisions|decided|decisions made|decision outcome|key decisions|agreed|agreements|\
    resolution|resolutions|resolved|outcome|entscheidung|entscheidungen|beschluss|beschlüsse|\
    beschlossen|décision|décisions|décidé|decisión|decisiones|acuerdos|acuerdo";

/// Headings and labels of attendees.
pub(crate) const PEOPLE: &str = "\
    attendees|attending|attendance|present|participants|in attendance|people|who was there|\
    members present|teilnehmer|teilnehmende|teilnehmerinnen|anwesend|anwesende|présents|présent|\
    asistentes|presentes|participantes|invitees|attended by|attended";

/// Headings and labels of absent people.
pub(crate) const ABSENT: &str = "\
    absent|apologies|regrets|not present|excused|abwesend|entschuldigt|absents|excusés|ausentes";

/// Headings and labels of the agenda.
pub(crate) const AGENDA: &str = "\
    agenda|topics|topic|agenda items|items discussed|topics discussed|tagesordnung|themen|thema|\
    ordre du jour|sujets|orden del día|temas|subject|betreff|objet|asunto";

/// Headings and labels of reasons.
pub(crate) const REASONS: &str = "\
    reason|reasons|rationale|why|because|reasoning|justification|motivation|grund|gründe|\
    begründung|raison|raisons|motif|razón|motivo|motivos";

/// Headings of finished things.
pub(crate) const DONE: &str = "\
    done|completed|finished|closed|resolved items|erledigt|abgeschlossen|fait|terminé|hecho|\
    completado|completed items|done items";

/// Other headings that are not topics.
pub(crate) const PLAIN: &str = "\
    date|time|location|place|notes|minutes|meeting notes|meeting minutes|summary|discussion|\
    meeting|datum|ort|zeit|notizen|protokoll|zusammenfassung|besprechung|heure|lieu|compte rendu|\
    compte-rendu|fecha|hora|lugar|acta|notas|resumen|status|context|consequences|facilitator|\
    chair|scribe|note taker|recording|links|next meeting|agenda review|transcript|introduction|\
    overview|moderator";

/// Labels of the people who decided.
pub(crate) const DECIDERS: &str = "\
    deciders|decider|decision makers|decision maker|decided by|approved by|agreed by|entscheider|\
    beschlossen von|décideurs|decidido por|owner|decision owner";

/// Labels of a date.
pub(crate) const DATES: &str = "date|datum|decided on|when|fecha|le|am|meeting date";

/// Labels and columns of owners.
pub(crate) const OWNERS: &str = "\
    owner|who|assignee|assigned|assigned to|responsible|wer|verantwortlich|zuständig|responsable|\
    qui|quién|encargado|lead|person";

/// Labels and columns of due dates.
pub(crate) const DUES: &str = "\
    due|due date|deadline|by|by when|when|bis|bis wann|fällig|frist|termin|échéance|pour le|plazo|\
    fecha límite|para cuándo|target date|date";
