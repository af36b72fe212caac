//! TOML in all the ways tables are written: the exact text before and after.

use toolgate_dialects::Dialect;

use super::{endpoint, name, remove, server, set, there_and_back};

#[test]
fn a_server_is_added_to_commented_toml_and_taken_out_again() {
    there_and_back(
        Dialect::Toolgate,
        r#"# mine
roots = [ "~/a",  # here
]

[servers.a]   # the first
command = 'x' # runs x
# args = ["y"]

# the second
[servers.b]
command = "y"
  [servers.b.env]
  K = "v" # why not
# rules
[policy]
mode = "ask"
# the end"#,
        r#"# mine
roots = [ "~/a",  # here
]

[servers.a]   # the first
command = 'x' # runs x
# args = ["y"]

# the second
[servers.b]
command = "y"
  [servers.b.env]
  K = "v" # why not

[servers.new]
command = "npx"
args = ["-y", "a \"server\""]
env = { LOG = "info" }
# rules
[policy]
mode = "ask"
# the end"#,
    );
}

#[test]
fn a_first_server_goes_to_the_end_of_toml() {
    let added = "[servers.new]\ncommand = \"npx\"\nargs = [\"-y\", \"a \\\"server\\\"\"]\nenv = { \
                 LOG = \"info\" }";
    there_and_back(Dialect::Toolgate, "# only this\n", &format!("# only this\n\n{added}\n"));
    there_and_back(Dialect::Toolgate, "# a\nroots = []", &format!("# a\nroots = []\n\n{added}"));
    there_and_back(
        Dialect::Toolgate,
        "[servers.a]\ncommand = \"x\"\n# tail\n",
        &format!("[servers.a]\ncommand = \"x\"\n# tail\n\n{added}\n"),
    );
    assert_eq!(set(Dialect::Toolgate, "", &server("new")), format!("{added}\n"));
    assert_eq!(remove(Dialect::Toolgate, &format!("{added}\n"), "new"), "");
}

#[test]
fn inline_tables_and_dotted_keys_stay_what_they_are() {
    let inline = "servers = { a = { command = \"x\" } }\n";
    let after = set(Dialect::Toolgate, inline, &endpoint("new"));
    assert_eq!(
        after,
        "servers = { a = { command = \"x\" }, new = { url = \"https://example.com/mcp\" } }\n"
    );
    assert_eq!(remove(Dialect::Toolgate, &after, "new"), inline);
    let switched = Dialect::Toolgate.set_enabled(inline, &name("a"), false).unwrap().unwrap();
    assert_eq!(switched, "servers = { a = { command = \"x\", enabled = false } }\n");

    let dotted =
        "servers.a.command = \"x\" # here\nservers.b.command = \"y\"\n[policy]\nmode = 'ask'\n";
    let switched = Dialect::Toolgate.set_enabled(dotted, &name("a"), false).unwrap().unwrap();
    assert_eq!(
        switched,
        "servers.a.command = \"x\" # here\nservers.a.enabled = false\nservers.b.command = \
         \"y\"\n[policy]\nmode = 'ask'\n"
    );
    assert_eq!(
        remove(Dialect::Toolgate, &switched, "a"),
        "servers.b.command = \"y\"\n[policy]\nmode = 'ask'\n"
    );

    let under = "[servers]\na = { command = \"x\" } # here\nb.command = \"y\"\nb.enabled = true\n";
    let switched = Dialect::Toolgate.set_enabled(under, &name("b"), false).unwrap().unwrap();
    assert_eq!(switched, under.replace("true", "false"));
    assert_eq!(
        remove(Dialect::Toolgate, under, "a"),
        "[servers]\nb.command = \"y\"\nb.enabled = true\n"
    );
    assert_eq!(
        set(Dialect::Toolgate, under, &endpoint("b")),
        "[servers]\na = { command = \"x\" } # here\nb.url = \"https://example.com/mcp\"\n"
    );
}

#[test]
fn an_entry_of_toml_is_changed_field_by_field() {
    let text = r#"[servers.new]
# runs it
command = "npx" # as ever
args = [
    "-y", # yes
    "a \"server\"",
]
# gone
cwd = "/x"

[servers.new.env]
LOG = 'info'   # loud
OLD = "x"

[servers.z]
command = "z"
"#;
    let changed = r#"[servers.new]
# runs it
command = "npx" # as ever
args = [
    "-y", # yes
    "a \"server\"",
]

[servers.new.env]
LOG = 'info'   # loud

[servers.z]
command = "z"
"#;
    assert_eq!(set(Dialect::Toolgate, text, &server("new")), changed);
    assert_eq!(remove(Dialect::Toolgate, changed, "new"), "[servers.z]\ncommand = \"z\"\n");
}

#[test]
fn what_the_file_ends_in_is_no_part_of_its_last_table() {
    let text =
        "[servers.a]\ncommand = \"x\"\n# below a\n\n[servers.b]\ncommand = \"y\"\n# the end\n";
    assert_eq!(
        remove(Dialect::Toolgate, text, "b"),
        "[servers.a]\ncommand = \"x\"\n# below a\n\n# the end\n"
    );
    assert_eq!(
        remove(Dialect::Toolgate, text, "a"),
        "[servers.b]\ncommand = \"y\"\n# the end\n",
        "a blank line ends what is about the table"
    );
    let only = "[servers.b]\ncommand = \"y\"\n# the end";
    assert_eq!(remove(Dialect::Toolgate, only, "b"), "# the end");
}

#[test]
fn a_list_keeps_the_comments_of_the_items_that_stay() {
    let text = "[servers.new]\ncommand = \"npx\"\nargs = [\n  '-y', # yes\n  # about old\n  \"old\"\n]\nenv = { LOG = \"info\" }\n";
    let wanted = text.replace("\"old\"", "\"a \\\"server\\\"\"");
    assert_eq!(set(Dialect::Toolgate, text, &server("new")), wanted);
    let longer = text.replace("  \"old\"\n", "  \"a \\\"server\\\"\",\n  \"more\", # more\n");
    let wanted = wanted.replace("\"\"\n]", "\"\",\n]");
    assert_eq!(set(Dialect::Toolgate, &longer, &server("new")), wanted);
}

#[test]
fn a_header_without_servers_is_a_place_for_them() {
    there_and_back(
        Dialect::Toolgate,
        "[servers] # all of them\n# none yet\n\n[policy]\nmode = \"ask\"\n",
        "[servers] # all of them\n# none yet\n\n[servers.new]\ncommand = \"npx\"\nargs = [\"-y\", \"a \\\"server\\\"\"]\nenv = { LOG = \"info\" }\n\n[policy]\nmode = \"ask\"\n",
    );
}
