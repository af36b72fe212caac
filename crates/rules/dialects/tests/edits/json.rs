//! JSON, with and without comments: the exact text before and after.

use toolgate_dialects::Dialect;
use toolgate_model::{ServerSpec, StdioSpec, TransportSpec};

use super::{endpoint, name, remove, server, set, there_and_back};

#[test]
fn a_server_is_added_to_commented_json_and_taken_out_again() {
    there_and_back(
        Dialect::McpJson,
        r#"// mine
{
    /* the
       servers */
    "mcpServers": {
        // the first
        "a": { "command": "x" }, // runs x

        // the second
        "b": {
            "command": "y" // why not
        } // no comma here
        // more to come
    },
    "other": [1,2,   3]
}
// the end"#,
        r#"// mine
{
    /* the
       servers */
    "mcpServers": {
        // the first
        "a": { "command": "x" }, // runs x

        // the second
        "b": {
            "command": "y" // why not
        }, // no comma here
        "new": {
            "command": "npx",
            "args": ["-y", "a \"server\""],
            "env": {
                "LOG": "info"
            }
        }
        // more to come
    },
    "other": [1,2,   3]
}
// the end"#,
    );
}

#[test]
fn trailing_commas_and_tabs_are_the_files_own() {
    there_and_back(
        Dialect::McpJson,
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"},\n\t},\n}\n",
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {\"command\": \"x\"},\n\t\t\"new\": {\n\t\t\t\"command\": \
         \"npx\",\n\t\t\t\"args\": [\"-y\", \"a \\\"server\\\"\"],\n\t\t\t\"env\": {\n\t\t\t\t\
         \"LOG\": \"info\"\n\t\t\t}\n\t\t},\n\t},\n}\n",
    );
}

#[test]
fn a_document_on_one_line_stays_on_one() {
    there_and_back(
        Dialect::McpJson,
        r#"{"mcpServers":{"a":{"command":"x"}}}"#,
        r#"{"mcpServers":{"a":{"command":"x"}, "new": {"command": "npx", "args": ["-y", "a \"server\""], "env": {"LOG": "info"}}}}"#,
    );
}

#[test]
fn the_first_server_opens_the_map_and_the_last_closes_it() {
    there_and_back(
        Dialect::McpJson,
        "{\n  \"x\": 1,\n  \"mcpServers\": {}\n}",
        r#"{
  "x": 1,
  "mcpServers": {
    "new": {
      "command": "npx",
      "args": ["-y", "a \"server\""],
      "env": {
        "LOG": "info"
      }
    }
  }
}"#,
    );
    let made = set(Dialect::McpJson, "", &endpoint("new"));
    assert_eq!(
        made,
        "{\n  \"mcpServers\": {\n    \"new\": {\n      \"type\": \"http\",\n      \"url\": \
         \"https://example.com/mcp\"\n    }\n  }\n}\n"
    );
    assert_eq!(remove(Dialect::McpJson, &made, "new"), "{\n  \"mcpServers\": {}\n}\n");
    let commented = set(Dialect::McpJson, "// nothing yet\n", &endpoint("new"));
    assert!(
        commented.starts_with("// nothing yet\n{\n") && commented.ends_with("}\n"),
        "{commented}"
    );
}

#[test]
fn a_server_is_taken_out_of_json_with_the_comments_right_above_it() {
    let text = r#"{
  "mcpServers": {
    // about all of them

    // about a
    /* and more
     * about a */
    "a": {"command": "x"}, // too
    // about b
    "b": {"command": "y"}, "c": {"command": "z"}
  }
}
"#;
    assert_eq!(
        remove(Dialect::McpJson, text, "a"),
        "{\n  \"mcpServers\": {\n    // about all of them\n\n    // about b\n    \"b\": \
         {\"command\": \"y\"}, \"c\": {\"command\": \"z\"}\n  }\n}\n"
    );
    let without_b = remove(Dialect::McpJson, text, "b");
    assert!(without_b.contains("    // about b\n    \"c\": {\"command\": \"z\"}\n"), "{without_b}");
    let without_c = remove(Dialect::McpJson, text, "c");
    assert!(without_c.contains("    \"b\": {\"command\": \"y\"}\n  }"), "{without_c}");
    assert_eq!(Dialect::McpJson.remove(text, &name("none")).unwrap(), None);
    assert_eq!(Dialect::McpJson.remove("{}", &name("none")).unwrap(), None);
}

#[test]
fn an_entry_that_exists_is_changed_field_by_field() {
    let text = r#"{"mcpServers": {
  "new": {
    // runs it
    "command": "npx", // as ever
    "args": ["-y",  "old"],
    // gone
    "cwd": "/x",
    "env": { "LOG":   "info" } /* verbose */
  }
}}"#;
    let changed = r#"{"mcpServers": {
  "new": {
    // runs it
    "command": "npx", // as ever
    "args": ["-y",  "a \"server\""],
    "env": { "LOG":   "info" } /* verbose */
  }
}}"#;
    assert_eq!(set(Dialect::McpJson, text, &server("new")), changed);
    assert_eq!(set(Dialect::McpJson, changed, &server("new")), changed);
}

#[test]
fn an_empty_map_is_opened_and_closed_again_with_what_it_says_inside() {
    let entry = r#""new": {
      "command": "npx",
      "args": ["-y", "a \"server\""],
      "env": {
        "LOG": "info"
      }
    }"#;
    there_and_back(
        Dialect::McpJson,
        "{\n  \"mcpServers\": { // none yet\n  }\n}\n",
        &format!("{{\n  \"mcpServers\": {{ // none yet\n    {entry}\n  }}\n}}\n"),
    );
    there_and_back(
        Dialect::McpJson,
        "{\n  \"mcpServers\": {\n    // none yet\n  }\n}\n",
        &format!("{{\n  \"mcpServers\": {{\n    {entry}\n    // none yet\n  }}\n}}\n"),
    );
}

#[test]
fn a_list_keeps_the_comments_of_the_items_that_stay() {
    let list = |items: &str| {
        format!(
            "{{\"mcpServers\": {{\"new\": {{\n  \"command\": \"x\",\n  \"args\": {items}\n}}}}}}"
        )
    };
    let with = |args: &[&str]| {
        let args = args.iter().map(|it| (*it).to_owned()).collect();
        let stdio = StdioSpec { command: "x".into(), args, ..StdioSpec::default() };
        ServerSpec::new(name("new"), TransportSpec::Stdio(stdio))
    };
    let text =
        list("[\n    \"-a\", // first\n    // about b\n    \"-b\",\n    \"-c\" // last\n  ]");
    for (args, wanted) in [
        (&["-a", "-x", "-c"][..], text.replace("-b", "-x")),
        (&["-b", "-c"], text.replace("\n    \"-a\", // first", "")),
        (&["-a", "-c"], text.replace("\n    // about b\n    \"-b\",", "")),
        (&["-a", "-b"], text.replace("\"-b\",\n    \"-c\" // last", "\"-b\"")),
        (&["-a", "-b", "-c", "-d"], text.replace("\"-c\" // last", "\"-c\", // last\n    \"-d\"")),
        (&["-x"], list("[\n    \"-x\" // first\n  ]")),
    ] {
        assert_eq!(set(Dialect::McpJson, &text, &with(args)), wanted, "{args:?}");
    }
    let row = list("[\"-a\",\"-b\"]");
    assert_eq!(set(Dialect::McpJson, &row, &with(&["-b"])), list("[\"-b\"]"));
    assert_eq!(
        set(Dialect::McpJson, &row, &with(&["-a", "-b", "-c"])),
        list("[\"-a\",\"-b\", \"-c\"]")
    );
}
