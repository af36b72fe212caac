"""The Python SDK 2.x as a server of one era or of both: `server.py <modern|legacy|both> <name> [--http]`.

Over HTTP the first line of stdout is the address. The SDK serves both eras at once; where only one is
wanted, the other is refused here the way servers of one era refuse it.
"""

import sys
from typing import Annotated

import anyio
import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve, Sample
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    UNSUPPORTED_PROTOCOL_VERSION,
    CreateMessageResult,
    SamplingMessage,
    TextContent,
)
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel
from starlette.responses import PlainTextResponse

ERA, NAME, *CARRIER = sys.argv[1:]

server = MCPServer(NAME, version="2")


class Person(BaseModel):
    username: str
    email: str


async def person(ctx: Context) -> Elicit[Person]:
    if ctx.input_responses is None:
        await ctx.report_progress(1, 3, "step 1")
    return Elicit("Who are you?", Person)


# It depends on the person, so the modern era needs a round for each question.
async def thought(topic: str, _asked: Annotated[Person, Resolve(person)]) -> Sample:
    question = TextContent(type="text", text=f"Say something about {topic}.")
    return Sample([SamplingMessage(role="user", content=question)], max_tokens=50)


@server.tool()
async def interview(
    topic: str,
    ctx: Context,
    who: Annotated[Person, Resolve(person)],
    what: Annotated[CreateMessageResult, Resolve(thought)],
) -> str:
    await ctx.report_progress(2, 3, "step 2")
    await ctx.report_progress(3, 3, "step 3")
    return f"{who.username} on {topic}: {what.content.text}"


@server.tool()
def add(a: int, b: int) -> str:
    return str(a + b)


@server.resource(f"note://{NAME}", mime_type="text/plain")
def note() -> str:
    return f"a note of {NAME}"


@server.prompt()
def greet(who: str) -> str:
    return f"Greet {who}."


async def no_handshake(ctx, call_next):
    if ctx.method == "initialize":
        data = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": ctx.params["protocolVersion"]}
        raise MCPError(UNSUPPORTED_PROTOCOL_VERSION, "there is no initialize here", data)
    return await call_next(ctx)


async def legacy_stdio():
    """The SDK's loop without the modern era; `run_stdio_async` would serve both."""
    inner = server._lowlevel_server
    async with stdio_server() as (read, write), inner.lifespan(inner) as state:
        options = inner.create_initialization_options()
        await serve_loop(inner, read, write, lifespan_state=state, init_options=options)


def handshake_only(app):
    """Refuses revisions it does not know, as the SDK did before it knew the modern era."""

    async def guarded(scope, receive, send):
        headers = dict(scope.get("headers", []))
        revision = headers.get(b"mcp-protocol-version", b"").decode()
        if scope["type"] == "http" and revision and revision not in HANDSHAKE_PROTOCOL_VERSIONS:
            refusal = PlainTextResponse("Bad Request: Unsupported protocol version", 400)
            return await refusal(scope, receive, send)
        return await app(scope, receive, send)

    return guarded


class Announcing(uvicorn.Server):
    async def startup(self, sockets=None):
        await super().startup(sockets)
        _, port = self.servers[0].sockets[0].getsockname()
        print(f"http://127.0.0.1:{port}/mcp", flush=True)


def serve_http():
    app = server.streamable_http_app()
    served = handshake_only(app) if ERA == "legacy" else app
    Announcing(uvicorn.Config(served, host="127.0.0.1", port=0, log_level="warning")).run()


if ERA == "modern":
    server.middleware.append(no_handshake)
if CARRIER:
    serve_http()
else:
    anyio.run(legacy_stdio if ERA == "legacy" else server.run_stdio_async)
