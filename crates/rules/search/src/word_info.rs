//! How much a word says in a request, independent of any catalog.
//!
//! The catalog cannot tell: `please` and `tomorrow` are rare in descriptions of tools, so a ranking
//! by rarity would treat them as the most important words. These lists describe how people ask;
//! `lexicon` describes what words mean.

use std::sync::OnceLock;

use crate::hashing::{self, HashKeyMap};
use crate::weights;

/// Words that have no meaning alone.
const EMPTY: &str = "
a an the this that these those it its itself i im ive id ill me my mine myself we us our ours you your
yours yourself he him his she her hers they them their theirs who whom whose which what whats when where
why how hows there here is are was were be been being am isn aren wasn weren do does did doing don
doesn didn done has have had having haven hasn can cannot could couldn will won would wouldn shall
should shouldn may might must and or but if then else so because as than too very just also only even
still again of at by for with about against between into through during before after above below to
from in on onto off over under out up down around across along per via within without upon s t d ll m
re ve not no nor any some all each every both either neither few more most much many other another
such own same let lets please pls plz thanks thank thx hello hi hey dear ok okay yes yeah well really
quite rather actually basically maybe perhaps etc eg ie
der das dem des ein eine einen einem einer und oder aber ich du er sie es wir ihr mich mir
dich dir uns euch ist sind waren sein habe haben hatte wird werden wurde kann konnte
mochte muss soll von zu zum zur bei fur auf aus in im am an als wie was wer wo wann warum nicht
kein keine mein meine meinen meinem dein deine bitte auch noch nur sehr alle
le la les l un une des du de et ou mais je tu il elle nous vous ils elles mon ma ta tes sa
ses sont etait etre suis as a avons avez ont que qui quoi dont ou quand pourquoi dans
sur sous avec sans pour par pas ne ce cet cette ces au aux veux voudrais peux peut svp merci
el los las una unos unas y o pero yo tu ella nosotros ellos mi mis su sus es estoy esta estan
que quien cual cuando donde como por para con en al del no quiero quisiera puedo puede puedes
gracias
lo gli uno e ed ma lui lei noi voi loro mio mia miei sono sei siamo che chi quando perche
per con senza di da nel nella sul sulla non voglio vorrei posso puoi grazie
os um uma uns umas eu ele ela eles meu minha seu sua e sao estou esta quero queria pode posso nao
het een ik jij hij zij wij jullie mijn jouw zijn ben bent heb heeft hebben kan wil moet niet geen
van voor naar op uit bij als wat wie waar wanneer hoe";

/// Words of asking, wishing and telling around what a request asks for.
const ASKING: &str = "
want wants wanted wanting need needs needed needing like liked love would wish hope hoping hoped
looking look looks trying try tries tried help helps helped helping assist wonder wondering curious
tell tells telling told know knows knowing knew let lets able unable possible possibly kindly ask
asking asked say says said likes give gives gave giving provide provides providing show shows showing
share sharing suggest think thinking thought guess feel feeling mean means sure seems seem believe
interested interest interesting excited eager planning planned going go goes gonna wanna
gotta come comes coming make sure makes making made get gets getting got use using used uses useful
thing things stuff something anything everything nothing someone anyone everyone
somebody anybody one ones way ways kind kinds sort sorts lot lots bit bunch couple several various
different certain specific particular particularly especially exactly right correct good great nice
best better perfect ideal proper awesome cool fun amazing well much easy easily simple simply quick
quickly fast soon asap really currently recently lately always never often sometimes usually ever yet
already while since until though although however therefore instead example examples details detail
info information idea ideas case cases reason purpose matter regarding related based
according called named titled following given including include includes included like such available
big small little large long short high low full whole main own next last first second third
another today tonight tomorrow yesterday morning evening week weekend weekly month monthly year
yearly day daily days weeks months years hour hours minute minutes moment currently latest
recent upcoming current future past later early late ago friend friends family mom dad wife husband
son daughter brother sister kid kids child children boss colleague colleagues coworker people
guy guys man woman men women
happen happened happening
happens keep bring see seeing seen saw
check checking checked find finding found
understand understanding become became getting feel enjoy enjoying wait waiting
decide decided choose consider considering need
quick currently
brauche brauchen will wollen mochte gerne zeig zeige zeigen finde finden suche gib geben sag sagen
montre montrer trouve trouver donne donner cherche chercher besoin aide aider
necesito necesita muestra muestrame mostrar buscar busca encontrar dame dar ayuda ayudar
ho bisogno mostra mostrami trova trovare cerca cercare dammi aiuto
preciso mostre mostrar procurar encontrar ajuda
laat zien vind zoek zoeken geef nodig help";

/// Words that phrases skip: `turn my lights off`, `is the plane late`.
const PASSED_OVER: &str = "
a an the my your our their his her its this that these those is are was were am be been i im me we us
you it them some any s do does did please";

/// What is known about a word, independent of any catalog.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WordInfo {
    /// The importance: 0 for none, 1 for a content word.
    pub(crate) importance: f32,
    /// Whether phrases skip it.
    pub(crate) is_phrase_filler: bool,
}

impl WordInfo {
    /// Returns true if the word has no meaning alone. Such words are not indexed.
    pub(crate) fn is_stop_word(self) -> bool {
        self.importance == 0.0
    }
}

/// Returns what is known about a folded word.
pub(crate) fn word_info(word: &str) -> WordInfo {
    static KNOWN: OnceLock<HashKeyMap<WordInfo>> = OnceLock::new();
    let known = KNOWN.get_or_init(|| {
        let all = |words: &'static str, importance, passed_over| {
            let about = WordInfo { importance, is_phrase_filler: passed_over };
            words.split_whitespace().map(move |word| (hashing::hash(word), about))
        };
        // Later entries override earlier ones.
        all(ASKING, weights::ASKING, false)
            .chain(all(EMPTY, 0.0, false))
            .chain(all(PASSED_OVER, 0.0, true))
            .collect()
    });
    known
        .get(&hashing::hash(word))
        .copied()
        .unwrap_or(WordInfo { importance: 1.0, is_phrase_filler: false })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_asking_count_less_than_what_is_asked_for() {
        assert!(word_info("the").is_stop_word() && word_info("the").is_phrase_filler);
        assert!(word_info("off").is_stop_word() && !word_info("off").is_phrase_filler);
        assert!(word_info("want").importance < word_info("weather").importance);
    }

    #[test]
    fn small_words_of_one_language_do_not_hide_words_of_another() {
        for word in ["comment", "war", "son", "ai", "io", "die", "hat", "bin", "mit", "come"] {
            assert!(!word_info(word).is_stop_word(), "{word}");
        }
    }
}
