//! The sample server: something to connect to before any server is declared.
//!
//! It tells the time, echoes, and explains how to add servers. It reads and changes nothing else.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::json;

use crate::local::{LocalServer, Output, Prompt, Resource, Tool};

const HELP: &str = "\
Toolgate stands between agents and MCP servers. This sample server is here because no other is \
declared yet.

Add a server to the user config (`config.toml` in Toolgate's config folder), for example:

    [servers.filesystem]
    command = \"npx\"
    args = [\"-y\", \"@modelcontextprotocol/server-filesystem\", \".\"]

or put a `.mcp.json` into your project and allow what it starts with `toolgate consent`.
Then `toolgate servers` shows how each server stands, and `toolgate doctor` says what is wrong
with one that does not come up.
";

/// The sample server.
pub fn sample_server() -> LocalServer {
    let nothing = json!({ "type": "object", "additionalProperties": false });
    let text = json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "What to give back" } },
        "required": ["text"],
    });
    LocalServer::new("toolgate-sample")
        .instructions("Call `help` to learn how to add MCP servers to this gateway.")
        .tools([
            Tool::new(
                "help",
                "How to add MCP servers to this gateway",
                nothing.clone(),
                |_| async { Ok::<_, String>(Output::from(HELP)) },
            )
            .read_only(),
            Tool::new(
                "now",
                "The current time in UTC, as seconds and as text",
                nothing,
                |_| async { now() },
            )
            .read_only(),
            Tool::new("echo", "Gives back the text it is given", text, |call| async move {
                let text = call.arguments["text"].as_str().ok_or("`text` must be a string")?;
                Ok::<_, &str>(Output::from(text))
            })
            .read_only(),
        ])
        .resource(Resource {
            uri: "toolgate://sample/help".into(),
            name: "help".into(),
            description: "How to add MCP servers to this gateway".into(),
            mime_type: "text/markdown".into(),
            text: HELP.into(),
        })
        .prompt(Prompt {
            name: "getting_started".into(),
            description: "Ask for help with adding the first server".into(),
            text: "Read the resource toolgate://sample/help, then ask me which MCP servers I use \
                and show me what to write into the config for each."
                .into(),
        })
}

fn now() -> Result<Output, String> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_err(|error| error.to_string())?;
    let seconds = since.as_secs();
    Ok(Output::from(json!({ "seconds": seconds, "utc": utc(seconds) })))
}

/// `2026-11-15T21:25:57Z`, by the civil calendar.
fn utc(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days are counted from 0000-03-01, so that a leap day is the last of its year.
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let day_of_era = shifted % 146_097;
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_become_a_date() {
        assert_eq!(utc(0), "1970-01-01T00:00:00Z");
        assert_eq!(utc(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(utc(1_794_777_957), "2026-11-15T21:25:57Z");
    }
}
