//! Word lists for questions: function words, weak words, verbs and synonyms.
//!
//! They contain general words of documentation and notes, not of any one document.

use crate::words::listed;

/// Function words in English, German, French and Spanish. The index leaves out more, but a function
/// word of one language can be a name in another.
const EMPTY: &str = " \
    a an the this that these those it its it's they them their there here he she his her him we \
    us our i me my you your yours one ones some any all both each every either neither no not \
    none nor and or but if then else so than as at by for from in into of off on onto out over \
    per to up upon with within without about above across after against along among around before \
    behind below beneath beside besides between beyond during except inside near outside since \
    through throughout till toward towards under until via while whilst is are was were be been \
    being am do does did done doing have has had having can could may might must shall should \
    will would ought what which who whom whose when where why how whether please also just only \
    even still yet very too much many more most less least few several such own same other \
    another again ever never always often sometimes already soon now today actually really simply \
    basically exactly currently whats what's who's where's how's isn't doesn't don't can't let \
    lets let's der die das den dem des ein eine einen einem einer eines und oder aber wenn dann \
    als wie was wer wen wem wann wo warum wieso weshalb welche welcher welches welchen ist sind \
    war waren sein wird werden wurde kann muss soll darf hat haben hatte ich du er sie es wir ihr \
    man mit von zu zum zur im in an am auf aus bei nach vor für fuer über ueber unter um durch \
    gegen ohne nicht kein keine nur auch noch schon sehr mehr viel viele wieviel wieviele le la \
    les un une des du de et ou mais si donc que qui quoi quel quelle quels quelles quand où \
    comment pourquoi combien est sont était sera être avoir a ont fait faire je tu il elle nous \
    vous ils elles on ce cette ces son sa ses leur dans par pour sur sous avec sans ne pas plus y \
    en au aux el los las unos unas y o pero si que quien quién quienes qué cuál cuáles cuándo \
    cuando dónde donde cómo como por para con sin sobre entre hasta desde es son era fue ser \
    estar está están hay tiene tienen puede pueden debe yo tú él ella nosotros ellos su sus se no \
    más muy del al cuánto cuántos cuánta cuántas ";

/// Weak words, which nearly any sentence would match.
const THIN: &str = " \
    use used uses using usage user users need needed needs want get gets got getting make makes \
    made work works working happen happens mean means meant know tell find found way ways thing \
    things kind kinds type types sort sorts purpose example examples name named names call called \
    calls possible allow allows allowed available give gives given provide provides provided \
    contain contains include includes included have exist exists handle handles go goes look \
    looks like come comes take takes put list listed describe described explain say says said \
    state stated states mention mentioned project projects crate crates library libraries package \
    packages tool tools program programs document documents documentation page readme section \
    software code thing something someone anything people person good best better well new main \
    different various certain specific particular general own part parts case cases lot number \
    amount count try tries intended intend goal aim offer offers see show shows shown do does \
    order reason reasons according right correct correctly typical typically usual usually normal \
    normally common recommend recommended recommends suggest suggested advise advised expect \
    expected able long big large far fast old high low often deep main time times actual rid \
    benutzen benutzt verwenden verwendet brauchen braucht machen macht gibt geben heißt heisst \
    name utiliser utilise nom faut peut usar usa utilizar nombre necesita ";

/// Words that only state the category of the answer: `which country` is answered by a name.
const KINDS: &str = " \
    country countries city cities town towns place places region regions nation nations continent \
    state states river mountain island king queen ruler leader leaders president person persons \
    individual individuals man woman men women group groups party organization organizations \
    organisation organisations company companies entity entities body bodies institution \
    institutions agency team device devices machine material materials substance substances \
    compound compounds language languages term terms word words phrase concept concepts idea ideas \
    theory theories principle variable variables factor factors attribute attributes property \
    quality characteristic characteristics process event events war battle treaty agreement book \
    paper article case law act year decade century month date day period era age color colour \
    animal plant species disease job position role title field area areas subject topic category \
    form style genre activity action item object product industry structure component element \
    land stadt ort fluss person gruppe firma sprache begriff jahr jahrzehnt jahrhundert pays ville \
    endroit fleuve personne groupe langue année siècle país ciudad lugar río persona grupo lengua \
    año siglo ";

/// Groups of synonyms, one per line. `a+b` is a phrase that matches if all its words occur.
const GROUPS: &str = "
licence license licensed licensing licenses copyright
msrv minimum+rust+version minimum+rustc minimal+rust rustc+version requires+rust requires+rustc supported+rust
author authors wrote written creator created create creates developed maintained maintainer authored
maintain maintains maintained maintainer maintainers author
fast speed performance quick quickly faster throughput efficient slow slower latency
install installation installing installed setup add+dependency add+cargo.toml
remove delete drop erase discard uninstall rid without removes
error errors fail fails failure failing panic panics
require requires required requirement need needs necessary must depends dependency mandatory
support supports supported supporting available compatible compatibility works provides
disable disabled disables turn+off opt+out opting+out switch+off default-features
enable enabled enables activate turn+on opt+in switch+on feature
choose select pick specify chosen set enable selected
start begin launch run starts running executed execute
stop end quit terminate shut+down halt
size large big bytes length width memory
configure configuration config setting settings option options configured customize
platform platforms os operating+system operating+systems targets target windows linux
minimum least min lowest oldest minimal smallest earliest
maximum most max limit upper highest largest biggest longest
report reporting disclose contact email notify
bug bugs issue issues defect problem
folder directory folders directories
show display print shows output prints
change modify edit alter update changed adjust
replace substitute replaces alternative instead swap drop-in
alternative alternatives instead similar comparable
deprecated obsolete unmaintained archived superseded discontinued
inspired based derived port influenced
document documentation docs documented
test tests testing tested
method way approach technique strategy
average mean median
reason because rationale why due
cause because due lead leads
warn warning caution beware
prevent avoid protect guard against
combine merge join concatenate
split divide separate
convert transform turn parse translate
cost price costs fee
deadline due date
buy purchase bought
meeting call session sync
responsible owner owns charge assigned
agree agreed decide decided decision chose
cryptographic cryptography crypto cryptographically
secure security safe safety securely
concurrent concurrency parallel parallelism threads multithreaded
asynchronous async await
random randomness rng randomly
identical same equal
differ difference differs unlike different distinction versus
advantage benefit benefits pros advantages
disadvantage drawback drawbacks downside limitation limitations cons caveat
store save keep persist stored saved
location path stored located lives where
version release versions releases
compile build compiling compilation compiled building
contribute contributing contribution contributions pull+request
donate sponsor donations
guarantee guarantees guaranteed promise ensure ensures
algorithm algorithms method
macro macros
feature features flag flags
dependency dependencies depend depends
fix repair resolve fixed
customer client clients
phone telephone tel
salary pay wage
leave holiday vacation pto
employee staff worker employees
begin start beginning starts
kostet preis kosten
frist termin fällig
verantwortlich zuständig
";

/// Verbs of questions that an answer can replace by another verb.
const VERBS: &str = " \
    run runs running start started starts begin stop create created creates write wrote written \
    read reads build built builds change changed changes set sets add added adds remove removed \
    delete deleted install installed configure configured enable enabled disable disabled support \
    supported supports require required requires choose chosen chose select selected keep kept \
    keeps hold holds held store stored stores save saved load loaded send sent sends receive \
    receives received return returned returns produce produces produced cause caused causes avoid \
    avoids prevent prevented protect protects ensure ensures guarantee guarantees invoke invoked \
    happen occur occurs become became turn turned switch switched replace replaced convert \
    converted match matched search searched skip skipped ship shipped ships match matches fall \
    falls depend depends based base inspired accept accepts reject fail fails apply applies cover \
    covers consist belong matter cost costs pay paid buy bought ask asked answer answered help \
    helps prefer preferred decide decided agree agreed plan planned meet met discuss discussed \
    report reported sign signed live lives release released publish published maintain maintained \
    develop developed sponsor sponsored end ends ended finish finished open opened close closed \
    test tested check checked measure measured implement implemented implements originate improve \
    improved increase increased reduce reduced limit limited guard guards pass passes passed \
    persist persisted deal expire expires ";

/// Returns true if a word in lower case is a common verb.
pub(crate) fn is_verb(word: &str) -> bool {
    listed(VERBS, word)
}

/// Returns true if a word in lower case states the category of an answer.
pub(crate) fn is_answer_category(word: &str) -> bool {
    listed(KINDS, word)
}

/// Returns true if a word in lower case is a function word.
pub(crate) fn is_function_word(word: &str) -> bool {
    listed(EMPTY, word)
}

/// Returns true if a word in lower case is weak.
pub(crate) fn is_weak_word(word: &str) -> bool {
    // Adverbs such as `originally`, `usually` state how, not what.
    listed(THIN, word) || word.len() > 5 && word.ends_with("ly")
}

/// Returns the synonyms of a word, each a phrase of one or more words.
pub(crate) fn synonyms(word: &str) -> Vec<Vec<&'static str>> {
    let mut found: Vec<Vec<&'static str>> = Vec::new();
    for group in GROUPS.lines().filter(|group| group.split(' ').any(|one| one == word)) {
        for other in group.split(' ').filter(|other| *other != word) {
            found.push(other.split('+').collect());
        }
    }
    found
}
