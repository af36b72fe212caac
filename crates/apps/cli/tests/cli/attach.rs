//! Other verbs use the servers of the living `serve`.

use serde_json::json;

use crate::support::{Place, Running, run, sample, witness};

fn witnessed() -> Place {
    let place = Place::with("");
    std::fs::create_dir_all(place.home()).unwrap();
    std::fs::write(place.home().join("config.toml"), witness("w", &place.work())).unwrap();
    place
}

fn count(place: &Place) -> String {
    run(&mut place.verb(&["call", "w", "count"])).out
}

#[test]
fn calls_go_to_the_same_process() {
    let place = witnessed();
    assert_eq!((count(&place).as_str(), count(&place).as_str()), ("1\n", "1\n"), "each its own");
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    assert_eq!((count(&place).as_str(), count(&place).as_str()), ("1\n", "2\n"), "one for both");
}

#[test]
fn every_question_is_answered_by_the_owner() {
    let place = witnessed();
    let (gateway, _) = Running::serve(&mut place.verb(&[]));
    // Only the owner still knows what this file said: a mistake in it keeps what was.
    std::fs::write(place.home().join("config.toml"), "[servers.other\n").unwrap();
    let servers = run(&mut place.verb(&["servers", "--json"])).json();
    assert_eq!(servers["servers"][0]["name"], "w");
    let offers = run(&mut place.verb(&["discover", "w", "--json"])).json();
    assert_eq!(offers["tools"][0]["exposed"], "w__count");
    let said = run(&mut place.verb(&["read-resource", "w", "w://any"]));
    assert_eq!(said.out, "text of w://any\n", "{said:?}");
    let said = run(&mut place.verb(&["prompt", "w", "greet", "who=Ada"]));
    assert_eq!(said.out, "user: Greet Ada\n", "{said:?}");
    let said = run(&mut place.verb(&["doctor", "--json"]));
    assert_eq!(said.json()[0]["server"], "w");
    assert!(said.err.contains(&gateway.pid().to_string()), "{said:?}");
    let said = run(&mut place.verb(&["call", "other", "echo"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("declared servers are w"), "{said:?}");
}

#[test]
fn questions_of_servers_come_back_through_the_owner() {
    let place = witnessed();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    let said = run(&mut place.verb(&["call", "w", "ask"]));
    assert_eq!(said.json(), json!({ "action": "decline" }), "{said:?}");
    let script = [("(y/n)", "y"), ("name:", "Ada"), ("age [30]:", "")];
    let said = run(&mut place.typed(&script, &["call", "w", "ask"]));
    assert!(said.out.contains(r#""content": {"name": "Ada", "age": 30}"#), "{said:?}");
}

#[test]
fn a_named_config_attaches_only_to_a_gateway_that_reads_it() {
    let place = witnessed();
    std::fs::write(place.config(), sample("s")).unwrap();
    let (gateway, _) = Running::serve(&mut place.verb(&[]));
    let names = |said: crate::support::Said| said.json()["servers"][0]["name"].clone();
    assert_eq!(names(run(&mut place.configured(&["servers", "--json"]))), "s");
    assert_eq!(names(run(&mut place.verb(&["servers", "--json"]))), "w");
    drop(gateway);
    let (_gateway, _) = Running::serve(&mut place.configured(&[]));
    // A process of its own would find nothing in it.
    std::fs::write(place.config(), "[servers.w\n").unwrap();
    assert_eq!(names(run(&mut place.configured(&["servers", "--json"]))), "s");
}

#[test]
fn a_resource_comes_from_the_server_that_was_named() {
    let place = Place::with("");
    std::fs::create_dir_all(place.home()).unwrap();
    let entries = ["a", "b"].map(|name| witness(name, &place.work().join(name)));
    let plain = format!("{}{}", entries.concat(), sample("c"));
    std::fs::write(place.home().join("config.toml"), plain).unwrap();
    let (_gateway, _) = Running::serve(&mut place.verb(&[]));
    // Both have the template of the first; nobody lists the second or has a template for it.
    for uri in ["w://who", "nowhere:who"] {
        for server in ["a", "b"] {
            let said = run(&mut place.verb(&["read-resource", server, uri]));
            assert_eq!(
                (said.code, said.out.as_str()),
                (0, &*format!("{server}\n")),
                "{uri}: {said:?}"
            );
        }
        let tagged = format!("toolgate+b:{uri}");
        let said = run(&mut place.verb(&["read-resource", "b", &tagged]));
        assert_eq!((said.code, said.out.as_str()), (0, "b\n"), "{tagged}: {said:?}");
        let said = run(&mut place.verb(&["read-resource", "c", uri]));
        assert_eq!((said.code, said.out.as_str()), (1, ""), "{uri}: {said:?}");
    }
}
