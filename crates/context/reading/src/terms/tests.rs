//! The terms of texts and queries.

use super::*;

/// Whether a word is a stop word in any language, and has no meaning in English.
fn is_stop(word: &str) -> bool {
    let mut low = String::new();
    toolgate_terms::fold::lower(word, &mut low);
    stop_words::lookup(&low).is_stop_in_request(Language::ENGLISH)
}

fn kept(text: &str) -> Vec<String> {
    let mut terms = String::new();
    index(text, &mut terms);
    terms.split(' ').filter(|term| !term.is_empty()).map(str::to_owned).collect()
}

/// Whether a request asks for something the text is known by.
fn finds(request: &str, text: &str) -> bool {
    let terms = kept(text);
    query_terms(request).iter().any(|asked| terms.iter().any(|term| asked.matches(term)))
}

#[test]
fn words_come_in_order_and_stop_words_once_behind_them() {
    assert_eq!(
        kept("The connections of the parser and the lexer"),
        ["connect", "parser", "lexer", "the", "of", "and"]
    );
}

#[test]
fn a_request_asks_for_what_tells_texts_apart() {
    assert_eq!(query_term_strings("How do I configure the connections?"), ["configur", "connect"]);
    assert_eq!(query_term_strings("connection connections CONNECTED"), ["connect"]);
    assert_eq!(query_term_strings("to be or not to be"), ["to", "be", "or", "not"]);
    assert_eq!(query_term_strings(""), Vec::<String>::new());
}

#[test]
fn forms_are_found_in_many_languages() {
    for (request, text) in [
        ("configuring", "The configuration is in a file"),
        ("parse config", "fn parseConfig()"),
        ("parseConfig", "parse_config(path)"),
        ("HttpServer", "an http-server"),
        ("1.2", "since version v1.2.3 it works"),
        ("Häuser", "Das Haus auf dem Berg wurde verkauft und niemand weiß es"),
        ("Haus", "Die Häuser auf dem Berg wurden verkauft und niemand weiß es"),
        ("nationales", "La fête nationale est dans le village et elle dure trois jours"),
        ("canción", "Las canciones de la abuela eran para los niños de la casa"),
        ("resume", "send your résumé"),
        ("книга", "он читает эти книги"),
        ("天気", "今日の天気はいい"),
        ("猫", "黒猫がいる"),
        ("C++", "written in C++"),
        ("straße", "STRASSE"),
    ] {
        assert!(
            finds(request, text),
            "{request} in {text}: {:?} {:?}",
            query_terms(request),
            kept(text)
        );
    }
}

#[test]
fn other_words_are_not_found() {
    for (request, text) in [
        ("C++", "vitamin C"),
        ("news", "something new"),
        ("haus", "Mr Hauser is on the table and it is not"),
        ("1.2", "1 and 2"),
        ("天気", "今日は天と気"),
    ] {
        assert!(!finds(request, text), "{request} in {text}");
    }
}

#[test]
fn stems_of_a_language_stand_only_in_texts_of_it() {
    let german = kept("Das Haus auf dem Berg wurde verkauft und niemand weiß wer es war");
    assert!(german.contains(&"haus_".to_owned()), "{german:?}");
    let english = kept("The house on the hill was sold and nobody knows who it was");
    assert!(!english.iter().any(|term| term.ends_with('_')), "{english:?}");
}

#[test]
fn words_with_two_meanings_are_told_apart_by_the_language() {
    assert_eq!(query_term_strings("causes of the war"), ["caus", "war"]);
    assert_eq!(query_term_strings("Wer war der erste Kanzler"), ["erst", "kanzler"]);
    assert!(is_stop("The") && is_stop("nicht") && is_stop("für"));
    assert!(!is_stop("war") && !is_stop("mio") && !is_stop("parser") && !is_stop(""));
}

#[test]
fn an_indexer_says_the_same_however_much_it_has_met() {
    let texts =
        ["The connections", "Das Haus und die Häuser, der Berg ist hoch", "parseConfig v1.2.3"];
    let mut indexer = TermIndexer::new();
    for round in 0..3 {
        for text in texts {
            let mut terms = String::new();
            indexer.index(text, &mut terms);
            let terms: Vec<_> = terms.split_whitespace().collect();
            assert_eq!(terms, kept(text), "{round}");
        }
    }
}

#[test]
fn a_request_is_bounded() {
    let long = (0..10_000).map(|number| format!("w{number} ")).collect::<String>();
    assert_eq!(query_term_strings(&long).len(), MOST_ASKED);
}
