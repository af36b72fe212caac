//! A light stemmer for English.
//!
//! It removes plurals, tenses, and endings that turn a verb into an agent or an action. A stem need
//! not be a word; it only has to be the same for related words. Words of other languages pass
//! through it on both sides; `similar_words` relates their forms.

use std::sync::OnceLock;

use crate::hashing::{self, HashKeyMap};

/// Irregular forms, and words that a rule would spoil.
const IRREGULAR: &str = "
advice:advis analyse:analyz analysis:analyz analytics:analyz approval:approv arrival:arriv
assignee:assign ate:eat attendee:attend behaviour:behavior biggest:big bought:buy broke:break
broken:break brought:bring built:build buyer:buy catalogue:catalog caught:catch centre:center
cheapest:cheap children:child choice:choos chose:choos chosen:choos colour:color comparison:compar
conversion:convert criteria:criterion decision:decid delivery:deliv departure:depart
description:describ did:do difference:different discovery:discov done:do drawn:draw drew:draw
driven:driv drove:driv eaten:eat economic:economi economics:economi employee:employ
environmental:environ expiry:expir explanation:explain extension:extend fastest:fast
favourite:favorit feet:foot fell:fall fibre:fiber financial:financ flavour:flavor flew:fly
flown:fly forgot:forget forgotten:forget found:find gave:give given:give gone:go got:get gotten:get
grew:grow grey:gray grown:grow growth:grow harbour:harbor heard:hear held:hold hid:hid hidden:hid
highest:high historic:histori historical:histori indices:index injury:injur jewellery:jewelry
kept:keep knew:know known:know labour:labor largest:larg left:leav lent:lend licence:licens
litre:liter lives:life lost:lose lowest:low made:make maintenance:maintain mathematical:math
mathematics:math matrices:matrix meant:mean medication:medicin men:man met:meet metre:meter
mice:mous movement:move musical:music nearest:near neighbour:neighbor neighbourhood:neighborhood
nutritional:nutrit organisation:organization paid:pay payment:pay people:person percentage:percent
programme:program pronunciation:pronounc proposal:propos publication:publish quickly:quick ran:run
recognition:recogniz recovery:recov reduction:reduc registration:regist removal:remov renewal:renew
rental:rent said:say sang:sing saw:see seen:see sent:send shelves:shelf shipment:ship shown:show
slept:sleep sold:sell solution:solv spent:spend spoke:speak spoken:speak statistical:statistic
stole:steal stolen:steal submission:submit subscription:subscrib summary:summariz sung:sing
swam:swim taken:take taught:teach taxes:tax terminate:terminat theatre:theater thought:think
threw:throw thrown:throw told:tell took:take treatment:treat tyre:tire understood:understand
used:use vertices:vertex weigh:weight went:go withdrawal:withdraw wives:wife women:woman won:win
wore:wear written:writ wrote:writ";

/// Words with an apparent ending that belongs to the word.
const WHOLE: &str = "
active address anime apartment aws axis banner basis bearer bed better binge bitter boarding bring
brother building bus business butter canvas ceiling center charging charter chess coaster
conversation copper corner counter css customer dating department dinner direction directive
director dns driver during earnings easter evening executive experiment factor father fitness
flower folder former france gas goods gps guide hammer header headless https icing inning insider
installment ios king kubernetes lens letter listing litter location manner marine mars master
matter meeting messy mets mining mission morning mother news number objective organization os
painting pandas paris parking passion paste pepper plane portion position positive poster
premises presentation process production profession professor pyramid quarter ranger rather
responsible revolution ring router rss rubber sales savings section sector sensor series
server setting settings shoulder shower shutter sing sister sms soccer spare species sports spring
square standing stare state station status string stripe summer supper sweater theater theme there
thing ticker tls trailer trainer training twitter unite version virus weather wedding wellness
wetter whatever wing winter yes";

/// Returns the stem of a folded word.
pub(crate) fn stem(word: &str) -> String {
    if word.len() < 3 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    if let Some(stem) = exception(word) {
        return stem.to_owned();
    }
    if word.len() == 3 {
        return word.to_owned();
    }
    let mut stem = singular(word);
    if let Some(known) = exception(&stem) {
        return known.to_owned();
    }
    strip_tense(&mut stem);
    strip_derived_ending(&mut stem);
    finish(&mut stem);
    stem
}

fn exception(word: &str) -> Option<&'static str> {
    static EXCEPTIONS: OnceLock<HashKeyMap<&'static str>> = OnceLock::new();
    let exceptions = EXCEPTIONS.get_or_init(|| {
        let whole = WHOLE.split_whitespace().map(|word| (word, word));
        let irregular = IRREGULAR.split_whitespace().filter_map(|pair| pair.split_once(':'));
        let all = whole.chain(irregular);
        all.map(|(word, stem)| (hashing::hash(word), stem)).collect()
    });
    exceptions.get(&hashing::hash(word)).copied()
}

fn singular(word: &str) -> String {
    let cut = |n: usize| word[..word.len() - n].to_owned();
    if word.ends_with("sses") || ["xes", "ches", "shes", "zzes"].iter().any(|e| word.ends_with(e)) {
        return cut(2);
    }
    if word.ends_with("ies") {
        return if word.len() > 4 { cut(3) + "y" } else { cut(1) };
    }
    if word.ends_with('s') && !["ss", "us", "is"].iter().any(|e| word.ends_with(e)) {
        return cut(1);
    }
    word.to_owned()
}

/// Removes `-ed` and `-ing`, and a consonant doubled before them.
fn strip_tense(word: &mut String) {
    let Some(rest) = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")) else {
        return;
    };
    if rest.len() < 2 || !has_vowel(rest) || word.ends_with("eed") {
        return;
    }
    // `red`, `bed`: nothing would be left. `us-ing`, `ty-ped`: two letters are enough for a verb.
    if word.len() < 5 {
        return;
    }
    let len = rest.len();
    word.truncate(len);
    let bytes = word.as_bytes();
    let doubled = len > 3 && bytes[len - 1] == bytes[len - 2];
    if doubled && matches!(bytes[len - 1], b'b' | b'd' | b'g' | b'm' | b'n' | b'p' | b'r' | b't') {
        word.pop();
    } else if needs_e(bytes) {
        word.push('e');
    }
}

/// Returns true if the stem needs an `e`: `rat-ing` from `rate`, `us-ed` from `use`; but `buy-ing`
/// from `buy`.
fn needs_e(stem: &[u8]) -> bool {
    match *stem {
        [first, last] => is_vowel(first) && !is_vowel(last),
        [first, middle, last] => {
            !is_vowel(first)
                && is_vowel(middle)
                && !is_vowel(last)
                && !matches!(last, b'w' | b'x' | b'y')
        }
        _ => false,
    }
}

/// Endings that make a noun or an adjective of a verb: (ending, replacement, minimum measure of the
/// rest).
const DEEDS: &[(&str, &str, usize)] = &[
    ("ification", "ifi", 1),
    ("ization", "iz", 1),
    ("isation", "iz", 1),
    ("ational", "", 2),
    ("ation", "", 2),
    ("iveness", "", 1),
    ("fulness", "ful", 1),
    ("ability", "", 2),
    ("ator", "", 2),
    ("ate", "", 2),
    ("ition", "it", 1),
    ("tion", "t", 0),
    ("sion", "s", 1),
    ("ment", "", 2),
    ("able", "", 2),
    ("ible", "", 2),
    ("ance", "", 2),
    ("ence", "", 2),
    ("ness", "", 1),
    ("less", "", 1),
    ("ally", "al", 1),
    ("ably", "", 2),
    ("ise", "iz", 2),
    ("ize", "iz", 1),
    ("izer", "iz", 1),
    ("iser", "iz", 2),
    ("tive", "t", 1),
    ("ly", "", 2),
];

fn strip_derived_ending(word: &mut String) {
    for (ending, stays, least) in DEEDS {
        let Some(rest) = word.strip_suffix(ending) else {
            continue;
        };
        if measure(rest) >= *least && rest.len() > 2 {
            let len = rest.len();
            word.truncate(len);
            word.push_str(stays);
            break;
        }
    }
    strip_agent_ending(word);
}

/// Removes the ending of agents: `translator`, `converter`, `tracker`.
fn strip_agent_ending(word: &mut String) {
    let or = word.ends_with("tor") || word.ends_with("sor");
    if (or || word.ends_with("er")) && word.len() > 5 {
        let len = word.len();
        let bytes = word.as_bytes();
        if has_vowel(&word[..len - 3]) && !is_vowel(bytes[len - 3]) {
            let doubled = bytes[len - 3] == bytes[len - 4];
            let keeps = matches!(bytes[len - 3], b'l' | b's' | b'f' | b'z');
            word.truncate(if doubled && !keeps { len - 3 } else { len - 2 });
        }
    }
}

/// Removes a silent `e` (of longer words: `care` is not `car`), replaces `y` by `i`, and shortens
/// `ll` at the end of longer words.
fn finish(word: &mut String) {
    if word.len() > 4 && word.ends_with('e') {
        word.pop();
    }
    if word.len() > 2 && word.ends_with('y') && !is_vowel(word.as_bytes()[word.len() - 2]) {
        word.pop();
        word.push('i');
    }
    if word.len() > 5 && word.ends_with("ll") {
        word.pop();
    }
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u')
}

fn has_vowel(text: &str) -> bool {
    text.bytes().any(|byte| is_vowel(byte) || byte == b'y')
}

/// Returns how often consonants follow vowels: about the number of syllables.
fn measure(text: &str) -> usize {
    let bytes = text.as_bytes();
    bytes.windows(2).filter(|pair| is_vowel(pair[0]) && !is_vowel(pair[1])).count()
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_one_word_meet() {
        for family in [
            &["create", "creates", "created", "creating", "creation"][..],
            &["translate", "translation", "translating", "translator", "translators"],
            &["run", "running", "ran", "runs"],
            &["notify", "notification", "notifications", "notified"],
            &["recommend", "recommendation", "recommended"],
            &["deploy", "deployment", "deploying"],
            &["convert", "converter", "converting", "converted"],
            &["track", "tracker", "tracking"],
            &["scan", "scanner", "scanning"],
            &["cancel", "cancelled", "canceling", "cancels"],
            &["install", "installed", "installing"],
            &["query", "queries", "querying"],
            &["visualize", "visualise", "visualization"],
            &["file", "files", "filed"],
            &["branch", "branches"],
            &["box", "boxes"],
            &["manage", "management", "manager", "managing"],
            &["write", "written", "wrote", "writing"],
            &["reserve", "reservation", "reserved"],
            &["message", "messages", "messaging"],
            &["calculate", "calculator", "calculation"],
            &["subscribe", "subscriber", "subscribing"],
            &["filter", "filtering", "filters"],
            &["rate", "rates", "rating", "rated"],
            &["use", "using", "used", "uses"],
            &["make", "making", "made"],
            &["save", "saved", "saving"],
            &["convert", "conversion", "conversions"],
            &["subscribe", "subscription", "subscriber"],
            &["injury", "injuries", "injured"],
            &["colour", "colors"],
        ] {
            let stems: std::collections::BTreeSet<String> =
                family.iter().map(|word| stem(word)).collect();
            assert_eq!(stems.len(), 1, "{family:?}: {stems:?}");
        }
    }

    #[test]
    fn different_words_stay_apart() {
        for (one, other) in [
            ("news", "new"),
            ("status", "state"),
            ("directory", "director"),
            ("string", "stress"),
            ("customer", "custom"),
            ("process", "proceed"),
            ("add", "ad"),
            ("author", "auth"),
            ("general", "generate"),
            ("universe", "university"),
            ("meeting", "meter"),
            ("poster", "post"),
            ("care", "car"),
            ("late", "lat"),
            ("plane", "plan"),
            ("rate", "rat"),
            ("version", "verse"),
            ("conversation", "convert"),
            ("location", "locate"),
            ("training", "train"),
            ("state", "stats"),
            ("summer", "sum"),
            ("organization", "organize"),
            ("charter", "chart"),
        ] {
            assert_ne!(stem(one), stem(other), "{one} {other}");
        }
    }

    #[test]
    fn other_scripts_pass() {
        for word in ["天气", "погода", "s3", "zu"] {
            assert_eq!(stem(word), word);
        }
    }
}
