//! Stems: Snowball's for every language, and an English one that also joins irregular forms.
//!
//! A stem need not be a word; it only has to be the same for related words.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::LazyLock;

pub use frostem::Algorithm;
use frostem::Stemmer;

/// The minimum length of a word that can have an ending, in bytes.
const LEAST: usize = 3;

/// Returns the stem of a word in lower case by Snowball's algorithm for its language.
pub fn snowball(algorithm: Algorithm, word: &str) -> Cow<'_, str> {
    if word.len() < LEAST {
        return Cow::Borrowed(word);
    }
    let stem = Stemmer::new(algorithm).stem(word);
    if stem.is_empty() { Cow::Borrowed(word) } else { stem }
}

/// Irregular forms, and forms that the algorithm does not join with their word.
const IRREGULAR: &str = "
advice:advise analyse:analyze analysis:analyze analytics:analyze approval:approve arrival:arrive
assignee:assign ate:eat attendee:attend began:begin begun:begin behaviour:behavior biggest:big
bought:buy broke:break broken:break brought:bring built:build buyer:buy catalogue:catalog
caught:catch centre:center cheapest:cheap children:child choice:choose chose:choose chosen:choose
colour:color comparison:compare conversion:convert criteria:criterion decision:decide
delivery:deliver departure:depart description:describe did:do difference:different
discovery:discover done:do drawn:draw drew:draw driven:drive drove:drive eaten:eat economic:economy
economics:economy employee:employ environmental:environment expiry:expire explanation:explain
extension:extend fallen:fall fastest:fast favourite:favorite feet:foot fell:fall felt:feel
fibre:fiber financial:finance flavour:flavor flew:fly flown:fly forgot:forget forgotten:forget
found:find gave:give given:give gone:go got:get gotten:get grew:grow grey:gray grown:grow
growth:grow harbour:harbor heard:hear held:hold hid:hide hidden:hide highest:high historic:history
historical:history indices:index injury:injure jewellery:jewelry kept:keep knew:know known:know
labour:labor largest:large leaves:leaf led:lead left:leave lent:lend licence:license litre:liter
lives:life lost:lose lowest:low made:make maintenance:maintain mathematical:math mathematics:math
matrices:matrix meant:mean medication:medicine men:man met:meet metre:meter mice:mouse
movement:move musical:music nearest:near neighbour:neighbor neighbourhood:neighborhood
nutritional:nutrition organisation:organization paid:pay payment:pay people:person
percentage:percent programme:program pronunciation:pronounce proposal:propose publication:publish
quickly:quick ran:run recognition:recognize recovery:recover reduction:reduce registration:register
removal:remove renewal:renew rental:rent risen:rise rose:rise said:say sale:sell sales:sell
sang:sing saw:see seen:see sent:send shelves:shelf shipment:ship shown:show slept:sleep sold:sell
solution:solve spent:spend spoke:speak spoken:speak statistical:statistic stole:steal stolen:steal
stood:stand submission:submit subscription:subscribe summary:summarize sung:sing swam:swim
swore:swear taken:take taught:teach taxes:tax theatre:theater thought:think threw:throw
thrown:throw told:tell took:take treatment:treat tyre:tire understood:understand used:use
vertices:vertex weigh:weight went:go withdrawal:withdraw wives:wife women:woman won:win wore:wear
worn:wear written:write wrote:write";

/// Words with an apparent ending that belongs to the word.
const WHOLE: &str = "
active address anime apartment aws axis banner basis bearer bed better binge bitter boarding bring
brother building bus business butter canvas ceiling center charging charter chess coaster
conversation copper corner counter css customer dating department dinner direction directive
director dns driver during earnings easter evening executive experiment factor father fitness
flower folder former france gas goods gps guide hammer header headless https icing inning insider
installment ios king kubernetes lens letter listing litter location manner marine mars master
matter meeting messy mets mining mission morning mother news number objective organization os
painting pandas paris parking passion paste pepper plane portion position positive poster premises
presentation process production profession professor pyramid quarter ranger rather responsible
revolution ring router rss rubber sales savings section sector sensor series server setting
settings shoulder shower shutter sing sister sms soccer spare species sports spring square standing
stare state station status string stripe summer supper sweater terminate theater theme there thing
ticker tls trailer trainer training twitter unite university version virus weather wedding wellness
wetter whatever wing winter yes";

/// Returns the stem of a folded English word. Related words have the same stem: `wrote` and
/// `writing`, `tracker` and `track`. Words in other letters stay as they are.
pub fn english(word: &str) -> String {
    if word.len() < LEAST || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let known = exception(word)
        .or_else(|| exception(word.strip_suffix('s')?))
        .or_else(|| exception(&format!("{}y", word.strip_suffix("ies")?)));
    let word = known.unwrap_or(word);
    if known.is_some_and(|known| exception(known) == Some(known)) {
        return word.to_owned();
    }
    let mut stem = snowball(Algorithm::English, &american(word)).into_owned();
    strip_agent_ending(&mut stem);
    // Words that are too short for the algorithm: `creation`, `notify`.
    let extra = [("tion", 3), ("ifi", 1)].into_iter().find(|(ending, _)| stem.ends_with(ending));
    stem.truncate(stem.len() - extra.map_or(0, |(_, length)| length));
    stem
}

fn exception(word: &str) -> Option<&'static str> {
    static EXCEPTIONS: LazyLock<HashMap<&'static str, &'static str>> = LazyLock::new(|| {
        let whole = WHOLE.split_whitespace().map(|word| (word, word));
        whole.chain(IRREGULAR.split_whitespace().filter_map(|pair| pair.split_once(':'))).collect()
    });
    EXCEPTIONS.get(word).copied()
}

/// Returns the American spelling of `visualise`, `visualisation`, `visualising`.
fn american(word: &str) -> Cow<'_, str> {
    let endings = ["ise", "ised", "iser", "ises", "ising", "isation", "isations"];
    let ending =
        endings.iter().find(|ending| word.len() > ending.len() + 4 && word.ends_with(**ending));
    match ending {
        Some(ending) => {
            let rest = word.len() - ending.len();
            Cow::Owned(format!("{}iz{}", &word[..rest], &ending[2..]))
        }
        None => Cow::Borrowed(word),
    }
}

/// Removes the ending of agents that are too short for the algorithm: `tracker`, `scanner`.
fn strip_agent_ending(word: &mut String) {
    let is_agent = word.ends_with("tor") || word.ends_with("sor") || word.ends_with("er");
    if is_agent && word.len() > 5 {
        let len = word.len();
        let bytes = word.as_bytes();
        if has_vowel(&word[..len - 3]) && !is_vowel(bytes[len - 3]) {
            let doubled = bytes[len - 3] == bytes[len - 4];
            let keeps = matches!(bytes[len - 3], b'l' | b's' | b'f' | b'z');
            word.truncate(if doubled && !keeps { len - 3 } else { len - 2 });
        }
    }
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u')
}

fn has_vowel(text: &str) -> bool {
    text.bytes().any(|byte| is_vowel(byte) || byte == b'y')
}

#[cfg(test)]
mod tests {
    use super::english as stem;

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
