//! Which released servers make up the corpus, and how each is started.
//!
//! All of them list their tools offline; the credentials are made up and never used. A server joins
//! by a line here and a version in a lock file under `tests/peers`.

/// Where a server's program was installed.
#[derive(Clone, Copy)]
pub(super) enum PeerProgram {
    /// A script of the npm folder `npm-servers`.
    Script(&'static str),
    /// A script of the first npm folder, which other tests use too.
    SharedScript(&'static str),
    /// A program of the Python environment `servers`.
    Python(&'static str),
}

/// One server of the corpus.
pub(super) struct ReleasedServer {
    pub name: &'static str,
    pub program: PeerProgram,
    /// `{folder}` stands for an empty folder made for this server.
    pub args: &'static [&'static str],
    pub env: &'static [(&'static str, &'static str)],
}

const fn script(name: &'static str, path: &'static str) -> ReleasedServer {
    ReleasedServer { name, program: PeerProgram::Script(path), args: &[], env: &[] }
}

const fn shared(
    name: &'static str,
    path: &'static str,
    args: &'static [&'static str],
) -> ReleasedServer {
    ReleasedServer { name, program: PeerProgram::SharedScript(path), args, env: &[] }
}

const fn python(
    name: &'static str,
    path: &'static str,
    args: &'static [&'static str],
) -> ReleasedServer {
    ReleasedServer { name, program: PeerProgram::Python(path), args, env: &[] }
}

impl ReleasedServer {
    const fn args(mut self, args: &'static [&'static str]) -> Self {
        self.args = args;
        self
    }

    const fn env(mut self, env: &'static [(&'static str, &'static str)]) -> Self {
        self.env = env;
        self
    }
}

/// All of them, by name.
pub(super) const SERVERS: &[ReleasedServer] = &[
    script("airbnb", "@openbnb/mcp-server-airbnb/dist/index.js"),
    script("airtable", "airtable-mcp-server/dist/main.js")
        .env(&[("AIRTABLE_API_KEY", "pat-none.none")]),
    script("amap", "@amap/amap-maps-mcp-server/build/index.js")
        .env(&[("AMAP_MAPS_API_KEY", "none")]),
    script("bitwarden", "@bitwarden/mcp-server/dist/index.js").env(&[
        ("BW_SESSION", "none"),
        ("BW_CLIENT_ID", "none"),
        ("BW_CLIENT_SECRET", "none"),
    ]),
    script("brave-search", "@modelcontextprotocol/server-brave-search/dist/index.js")
        .env(&[("BRAVE_API_KEY", "none")]),
    script("chart", "@antv/mcp-server-chart/build/index.js"),
    // Its look for updates is a process of its own, which would outlive it.
    script("chrome-devtools", "chrome-devtools-mcp/build/src/bin/chrome-devtools-mcp.js").env(&[
        ("CHROME_DEVTOOLS_MCP_NO_UPDATE_CHECKS", "1"),
        ("CHROME_DEVTOOLS_MCP_NO_USAGE_STATISTICS", "1"),
    ]),
    shared("everything", "@modelcontextprotocol/server-everything/dist/index.js", &["stdio"]),
    shared("filesystem", "@modelcontextprotocol/server-filesystem/dist/index.js", &["{folder}"]),
    python("git", "mcp-server-git", &[]),
    script("github", "@modelcontextprotocol/server-github/dist/index.js")
        .env(&[("GITHUB_PERSONAL_ACCESS_TOKEN", "none")]),
    script("google-maps", "@modelcontextprotocol/server-google-maps/dist/index.js")
        .env(&[("GOOGLE_MAPS_API_KEY", "none")]),
    script("hubspot", "@hubspot/mcp-server/dist/index.js")
        .env(&[("PRIVATE_APP_ACCESS_TOKEN", "none")]),
    script("lara", "@translated/lara-mcp/dist/index.js")
        .env(&[("LARA_ACCESS_KEY_ID", "none"), ("LARA_ACCESS_KEY_SECRET", "none")]),
    script("memory", "@modelcontextprotocol/server-memory/dist/index.js"),
    script("notion", "@notionhq/notion-mcp-server/bin/cli.mjs").env(&[("NOTION_TOKEN", "none")]),
    script("obsidian", "mcp-obsidian/dist/index.js").args(&["{folder}"]),
    script("open-meteo", "open-meteo-mcp-server/dist/index.js"),
    script("playwright", "@playwright/mcp/cli.js"),
    script("postgres", "@modelcontextprotocol/server-postgres/dist/index.js")
        .args(&["postgresql://localhost/none"]),
    script("sequential-thinking", "@modelcontextprotocol/server-sequential-thinking/dist/index.js"),
    script("slack", "@modelcontextprotocol/server-slack/dist/index.js")
        .env(&[("SLACK_BOT_TOKEN", "none"), ("SLACK_TEAM_ID", "none")]),
    script("tavily", "tavily-mcp/build/index.js").env(&[("TAVILY_API_KEY", "none")]),
    python("time", "mcp-server-time", &["--local-timezone=UTC"]),
    script("todoist", "@doist/todoist-mcp/dist/main.js").env(&[("TODOIST_API_KEY", "none")]),
    script("trello", "@delorenj/mcp-server-trello/build/index.js")
        .env(&[("TRELLO_API_KEY", "none"), ("TRELLO_TOKEN", "none")]),
];
