"""The Python SDK 2.x as a client of one era: plays the plan in argv[1] (see `e2e/plan.rs`; `era` says
which) and prints one report."""

import json
import sys

import anyio
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError
from mcp_types import CreateMessageResult, ElicitResult, Implementation
from mcp_types import PromptReference, ResourceTemplateReference

PLAN = json.loads(sys.argv[1])
ASKED = []


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


def answer(method, result, key):
    """Several answers are given one after another, the last of them from then on. A kind of question
    the plan has no answer for is one this client does not know."""
    replies = PLAN["answers"][key]
    if replies is None:
        return None
    left = list(replies) if isinstance(replies, list) else [replies]

    async def callback(_context, params):
        ASKED.append({"method": method, "params": plain(params)})
        return result(**(left.pop(0) if len(left) > 1 else left[0]))

    return callback


def client():
    if "http" in PLAN:
        target = PLAN["http"]
    else:
        command, *arguments = PLAN["stdio"]
        target = StdioServerParameters(command=command, args=arguments)
    return Client(
        target,
        # "auto" asks `server/discover` first; pinned to a revision, it would ask nothing. The report
        # says what was agreed on.
        mode="auto" if PLAN["era"] == "modern" else "legacy",
        sampling_callback=answer("sampling/createMessage", CreateMessageResult, "sampling"),
        elicitation_callback=answer("elicitation/create", ElicitResult, "elicitation"),
        client_info=Implementation(name="python-peer", version="2"),
    )


async def every_page(fetch, member):
    found, cursor = [], None
    while True:
        page = await fetch(cursor=cursor)
        found += getattr(page, member)
        cursor = page.next_cursor
        if cursor is None:
            return found


async def list_all(session, step):
    """Servers behind a gateway may still be starting when we are already connected."""
    while True:
        tools = [tool.name for tool in await every_page(session.list_tools, "tools")]
        if set(step["until"]) <= set(tools):
            break
        await anyio.sleep(0.1)
    resources = [str(r.uri) for r in await every_page(session.list_resources, "resources")]
    prompts = [p.name for p in await every_page(session.list_prompts, "prompts")]
    return {"tools": tools, "resources": resources, "prompts": prompts}


async def call(session, step):
    progress = []

    async def note(value, total, message):
        progress.append({"progress": value, "total": total, "message": message})

    result = await session.call_tool(step["name"], step["arguments"], progress_callback=note)
    return {"result": plain(result), "progress": progress}


def reference(step):
    if "prompt" in step:
        return PromptReference(type="ref/prompt", name=step["prompt"])
    return ResourceTemplateReference(type="ref/resource", uri=step["template"])


async def play(session, step):
    match step["do"]:
        case "list":
            return await list_all(session, step)
        case "call":
            return await call(session, step)
        case "read":
            return {"result": plain(await session.read_resource(step["uri"]))}
        case "prompt":
            return {"result": plain(await session.get_prompt(step["name"], step["arguments"]))}
        case "tools":
            return [plain(tool) for tool in await every_page(session.list_tools, "tools")]
        case "templates":
            found = await every_page(session.list_resource_templates, "resource_templates")
            return [template.uri_template for template in found]
        case "complete":
            return {"result": plain(await session.complete(reference(step), step["argument"]))}


async def played(session, step):
    """A step that hangs is reported like one that failed."""
    try:
        with anyio.fail_after(30):
            return await play(session, step)
    except MCPError as error:
        return {"error": {"code": error.code, "message": error.message}}
    except Exception as error:
        return {"error": {"code": None, "message": repr(error)}}


async def main():
    async with client() as session:
        steps = [await played(session, step) for step in PLAN["steps"]]
        report = {"steps": steps, "asked": ASKED, "revision": session.protocol_version}
        print(json.dumps(report), flush=True)


anyio.run(main)
