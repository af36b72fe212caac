//! A file of every dialect with a secret in each place that can hold one.
//!
//! `@@` is a canary, each one its own; `<DIE>`, `<RPC>` and `<GONE>` are programs that tell what they
//! were given and end, answer with errors, or are not there; `<WEB>` is an endpoint that echoes what
//! it was sent, `<AT>` the same without a scheme.

/// A file of a dialect.
pub struct File {
    /// The dialect, as `export --to` names it.
    pub dialect: &'static str,
    /// Where it lies: below the user's folder, or the project's.
    pub at: At,
    /// What it says.
    pub text: &'static str,
}

/// Whose folder a file lies in.
pub enum At {
    User(&'static str),
    Project(&'static str),
}

use At::{Project, User};

const fn file(dialect: &'static str, at: At, text: &'static str) -> File {
    File { dialect, at, text }
}

/// One for every dialect there is.
pub const FILES: [File; 21] = [
    file(
        "toolgate",
        Project("toolgate.toml"),
        r#"
[servers.toolgate-run]
command = "<DIE>"
args = ["--token", "@@", "--api-key=@@", "--dsn", "postgres://me:@@@db/x?password=@@", "${env:CANARY}"]
env = { API_TOKEN = "@@\"/é", PLAIN = "@@", FROM = "${env:CANARY}", ELSE = "${env:UNSET:-@@}" }
env_file = ".env"

[servers.toolgate-run.extra.vscode]
dev = { env = { TOKEN = "@@" }, debug = { password = "@@" } }

[servers.toolgate-web]
url = "<WEB>/401?key=@@&v=${env:CANARY}"
headers = { Authorization = "Bearer @@", X-Key = "@@" }
headers_helper = "<DIE> --token @@"

[servers.toolgate-web.auth]
client_id = "me"
client_secret = "@@"
token_url = "https://u:@@@login.example.com/token?k=@@"

[servers.toolgate-stored]
command = "<DIE>"
env = { KEPT = "${secret:kept}", FILED = "${file:secret.txt}" }
"#,
    ),
    file(
        "mcp-json",
        Project(".mcp.json"),
        r#"{ "mcpServers": {
  "mcp-json-run": { "command": "<RPC>", "args": ["--token", "@@", "--header", "Authorization: Bearer @@", "${CANARY}", "--url=https://u:@@@h/?k=@@"],
    "env": { "PLAIN": "@@", "API_KEY": "${CANARY:-@@}", "ODD": "${UNSET:-@@}" } },
  "mcp-json-gone": { "command": "<GONE>", "args": ["--password", "@@", "--secret=@@", "${CANARY}"], "env": { "A": "@@" } },
  "mcp-json-web": { "type": "http", "url": "<WEB>/500?token=@@", "headers": { "Authorization": "Basic @@", "X-A": "@@" },
    "headersHelper": "/no/helper --token @@",
    "oauth": { "clientId": "me", "clientSecret": "@@", "authServerMetadataUrl": "https://u:@@@a.example.com/?k=@@" } },
  "mcp-json-user": { "type": "http", "url": "http://me:@@@<AT>/html/${CANARY}?a=@@#@@" }
} }"#,
    ),
    file(
        "claude-code",
        User(".claude.json"),
        r#"{ "oauthAccount": { "token": "@@" }, "mcpServers": {
  "claude-code-run": { "command": "<DIE>", "args": ["-e", "KEY=@@", "${CANARY}"], "env": { "TOKEN": "@@" } },
  "claude-code-web": { "type": "sse", "url": "<WEB>/401?token=@@", "headers": { "X-A": "@@" } } } }"#,
    ),
    file(
        "claude-desktop",
        User(".config/Claude/claude_desktop_config.json"),
        r#"{ "mcpServers": { "claude-desktop-run": { "command": "<DIE>", "args": ["--access-token", "@@"],
  "env": { "API_KEY": "@@", "RAW": "${CANARY}@@" } } } }"#,
    ),
    file(
        "codex",
        User(".codex/config.toml"),
        r#"
[mcp_servers.codex-run]
command = "<DIE>"
args = ["--token=@@"]
env = { KEY = '''@@
second line @@''' }
env_vars = ["CANARY"]

[mcp_servers.codex-web]
url = "<WEB>/redirect?key=@@"
bearer_token_env_var = "CANARY"
http_headers = { "X-Region" = "@@" }
env_http_headers = { "X-Api-Key" = "CANARY" }
http_headers_helper = "/bin/helper --token @@"
oauth = { client_id = "me", client_secret = "@@" }
oauth_resource = "https://u:@@@mcp.example.com?k=@@"

[mcp_servers.codex-bearer]
url = "<WEB>/500"
bearer_token = "@@"
"#,
    ),
    file(
        "gemini",
        Project(".gemini/settings.json"),
        r#"{ "mcpServers": {
  // a comment that holds @@
  "gemini-run": { "command": "<DIE>", "args": ["--token", "$CANARY", "--key", "@@"], "env": { "KEY": "@@", "V": "${CANARY}" } },
  "gemini-web": { "httpUrl": "<WEB>/401?key=@@", "headers": { "Authorization": "Bearer $CANARY @@" },
    "oauth": { "enabled": true, "clientId": "me", "clientSecret": "@@", "tokenUrl": "https://u:@@@a.example.com/?k=@@", "accessToken": "@@" } },
  "gemini-both": { "command": "<DIE>", "url": "<WEB>/500?key=@@", "headers": { "X-A": "@@" } } } }"#,
    ),
    file(
        "llxprt",
        Project(".llxprt/settings.json"),
        r#"{ "mcpServers": {
  "llxprt-run": { "command": "<RPC>", "args": ["--auth-token", "@@"], "env": { "KEY": "${KEY:-@@}" } },
  "llxprt-web": { "url": "<WEB>/rpc?key=@@", "type": "streamable-http", "headers": { "X-Key": "@@" },
    "oauthClientId": "me", "oauthClientSecret": "@@", "oauthTokenUrl": "https://u:@@@a.example.com/?k=@@",
    "oauth": { "enabled": true, "clientSecret": "@@" } } } }"#,
    ),
    file(
        "core-agent",
        Project(".agents/mcp.json"),
        r#"{ "version": 1, "servers": {
  "core-agent-run": { "transport": "stdio", "command": "<DIE>", "args": ["--password=@@"], "env": { "TOKEN": "${env:CANARY}", "P": "@@" } },
  "core-agent-web": { "transport": "http", "url": "<WEB>/html?key=@@", "headers": { "Authorization": "Bearer ${env:CANARY}", "X": "@@" },
    "auth": { "google_oauth": { "scopes": ["x"], "client_secret": "@@" } } } } }"#,
    ),
    file(
        "sidekick",
        Project("mcp_tools_config.json"),
        r#"{ "version": "1.0", "servers": [ { "name": "sidekick-run", "enabled": true, "tags": [],
  "server_config": { "command": ["<DIE>", "--token", "@@", "http://u:@@@h/?k=@@"], "env": { "TOKEN": "@@" }, "timeout": 5 }, "tools": [] } ] }"#,
    ),
    file(
        "nyzhi",
        Project(".nyzhi/config.toml"),
        r#"
[provider]
api_key = "@@"
[mcp.servers.nyzhi-run]
command = "<GONE>"
args = ["--token", "@@"]
env = { KEY = "@@" }
[mcp.servers.nyzhi-web]
url = "<WEB>/rpc?key=@@"
headers = { Authorization = "Bearer @@" }
"#,
    ),
    file(
        "secondbrain",
        Project("secondbrain.yaml"),
        r#"
mcp_servers:
  - name: secondbrain-run
    transport: stdio
    command: <DIE>
    args: ["--token", "@@"]
    env:
      API_KEY: "@@"
      BLOCK: |
        @@
        and @@
    client_consent: approved
    enabled: true
  - name: secondbrain-web
    transport: streamable_http
    url: <WEB>/401?key=@@
    headers:
      Authorization: Bearer @@
    client_consent: approved
    enabled: true
"#,
    ),
    file(
        "vscode",
        Project(".vscode/mcp.json"),
        r#"{ "inputs": [ { "type": "promptString", "id": "key", "password": true, "default": "@@" } ],
  "servers": {
  "vscode-run": { "command": "<DIE>", "args": ["--token", "${env:CANARY}", "--key", "@@"], "env": { "KEY": "@@", "V": "${env:CANARY}" },
    "envFile": "${workspaceFolder}/.env", "dev": { "watch": "x", "debug": { "type": "node", "token": "@@" } } },
  "vscode-web": { "type": "http", "url": "<WEB>/500?key=@@&v=${env:CANARY}", "headers": { "X-Mode": "@@" },
    "oauth": { "clientId": "me", "clientSecret": "@@" } } } }"#,
    ),
    file(
        "cursor",
        Project(".cursor/mcp.json"),
        r#"{ "mcpServers": {
  "cursor-run": { "command": "<DIE>", "args": ["--secret", "@@", "${env:CANARY}"], "env": { "TOKEN": "@@" }, "envFile": ".env" },
  "cursor-web": { "url": "<WEB>/redirect?key=@@", "headers": { "Authorization": "Bearer @@" },
    "auth": { "CLIENT_ID": "me", "CLIENT_SECRET": "@@", "scopes": ["read"] } } } }"#,
    ),
    file(
        "windsurf",
        User(".codeium/windsurf/mcp_config.json"),
        r#"{ "mcpServers": {
  "windsurf-run": { "command": "<DIE>", "args": ["--key=@@", "${env:CANARY}"], "env": { "TOKEN": "@@", "F": "${file:secret.txt}" } },
  "windsurf-web": { "serverUrl": "<WEB>/rpc?key=@@", "headers": { "Authorization": "Bearer ${env:CANARY}", "X": "@@" } } } }"#,
    ),
    file(
        "cline",
        User(".cline/data/settings/cline_mcp_settings.json"),
        r#"{ "mcpServers": {
  "cline-run": { "command": "<RPC>", "args": ["--token", "@@"], "env": { "KEY": "@@" }, "autoApprove": ["x"], "timeout": 60 },
  "cline-web": { "type": "streamableHttp", "url": "<WEB>/html?key=@@", "headers": { "Authorization": "Bearer @@" } } } }"#,
    ),
    file(
        "continue",
        User(".continue/config.yaml"),
        r#"
models:
  - apiKey: "@@"
mcpServers:
  - name: continue-run
    command: <DIE>
    args: ["--key", "@@", "${{ secrets.CANARY }}"]
    env:
      TOKEN: "@@"
      VAR: ${{ secrets.CANARY }}
  - name: continue-web
    type: streamable-http
    url: <WEB>/500?key=@@
    requestOptions:
      headers:
        Authorization: Bearer @@
      proxy: http://u:@@@proxy.example.com:3128
  - name: continue-key
    type: sse
    url: <WEB>/401
    apiKey: "@@"
"#,
    ),
    file(
        "zed",
        User(".config/zed/settings.json"),
        r#"{ "context_servers": {
  "zed-run": { "command": "<DIE>", "args": ["--token", "@@"], "env": { "KEY": "@@" }, "timeout": 30 },
  "zed-web": { "url": "<WEB>/401?key=@@", "headers": { "X-Key": "@@" }, "oauth": { "client_id": "me", "client_secret": "@@" } },
  "zed-old": { "command": { "path": "<DIE>", "args": ["--token=@@"], "env": { "A": "@@" } }, "settings": { "x_token": "@@" } },
  "zed-extension": { "settings": { "github_personal_access_token": "@@", "url": "https://u:@@@h" } } } }"#,
    ),
    file(
        "opencode",
        Project("opencode.json"),
        r#"{ "mcp": {
  "opencode-run": { "type": "local", "command": ["<DIE>", "--key", "@@", "{env:CANARY}"], "environment": { "KEY": "@@", "V": "{env:CANARY}", "F": "{file:secret.txt}" } },
  "opencode-web": { "type": "remote", "url": "<WEB>/redirect?key=@@", "headers": { "Authorization": "Bearer {env:CANARY}", "X": "@@" },
    "oauth": { "clientId": "me", "clientSecret": "@@" } } } }"#,
    ),
    file(
        "opencode-v2",
        User(".config/opencode/opencode.jsonc"),
        r#"{ "mcp": { "servers": {
  "opencode-v2-run": { "type": "local", "command": ["<RPC>", "--token=@@"], "environment": { "KEY": "@@" } },
  "opencode-v2-web": { "type": "remote", "url": "<WEB>/500?key=@@", "headers": { "X": "@@" },
    "oauth": { "client_id": "me", "client_secret": "@@" } } } } }"#,
    ),
    file(
        "goose",
        User(".config/goose/config.yaml"),
        r#"
GOOSE_PROVIDER__API_KEY: "@@"
extensions:
  goose-run:
    enabled: true
    type: stdio
    name: goose-run
    cmd: <DIE>
    args: ["--token", "@@"]
    envs: { LOG: "@@" }
    env_keys: [CANARY]
    timeout: 45
  goose-web:
    enabled: true
    type: streamable_http
    name: goose-web
    uri: <WEB>/401?key=@@&v=${CANARY}
    headers:
      Authorization: Bearer ${CANARY}
      X-Plain: "@@"
    envs: { INNER: "@@" }
    env_keys: [CANARY]
"#,
    ),
    file(
        "copilot",
        User(".copilot/mcp-config.json"),
        r#"{ "mcpServers": {
  "copilot-run": { "type": "local", "command": "<DIE>", "args": ["--pat", "@@"], "env": { "TOKEN": "@@", "V": "${CANARY}" }, "tools": ["*"] },
  "copilot-web": { "type": "http", "url": "<WEB>/rpc?key=@@", "headers": { "Authorization": "Bearer ${CANARY:-@@}" }, "tools": ["*"] } } }"#,
    ),
];
