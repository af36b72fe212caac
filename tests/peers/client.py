"""The Python SDK 1.x as a peer: plays the plan in argv[1] (see `e2e/plan.rs`), prints one report."""

import json
import sys
from contextlib import asynccontextmanager

import anyio
from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

PLAN = json.loads(sys.argv[1])
ASKED = []


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


@asynccontextmanager
async def connected():
    """Both carriers give a pair of streams; the HTTP one also tells its session id."""
    if "http" in PLAN:
        carrier = streamable_http_client(PLAN["http"])
    else:
        command, *arguments = PLAN["stdio"]
        carrier = stdio_client(StdioServerParameters(command=command, args=arguments))
    async with carrier as (read, write, *_):
        async with ClientSession(
            read,
            write,
            sampling_callback=answer("sampling/createMessage", types.CreateMessageResult, "sampling"),
            elicitation_callback=answer("elicitation/create", types.ElicitResult, "elicitation"),
            list_roots_callback=no_roots,
            client_info=types.Implementation(name="python-peer", version="1"),
        ) as session:
            yield session, await session.initialize()


def answer(method, result, key):
    async def callback(_context, params):
        ASKED.append({"method": method, "params": plain(params)})
        return result(**PLAN["answers"][key])

    return callback


async def no_roots(_context):
    return types.ListRootsResult(roots=[])


async def every_page(fetch, member):
    found, cursor = [], None
    while True:
        page = await fetch(params=types.PaginatedRequestParams(cursor=cursor))
        found += getattr(page, member)
        cursor = page.nextCursor
        if cursor is None:
            return found


async def tools_once(session, wanted):
    """Servers behind a gateway may still be starting when we are already connected."""
    while True:
        names = [tool.name for tool in await every_page(session.list_tools, "tools")]
        if set(wanted) <= set(names):
            return names
        await anyio.sleep(0.1)


async def list_all(session, offered, step):
    names = {"tools": await tools_once(session, step["until"]), "resources": [], "prompts": []}
    if offered.resources:
        names["resources"] = [str(r.uri) for r in await every_page(session.list_resources, "resources")]
    if offered.prompts:
        names["prompts"] = [p.name for p in await every_page(session.list_prompts, "prompts")]
    return names


async def call(session, step, on_progress=None):
    progress = []

    async def note(value, total, message):
        report = {"progress": value, "total": total, "message": message}
        progress.append({key: value for key, value in report.items() if value is not None})
        if on_progress:
            on_progress.set()

    result = await session.call_tool(step["name"], step["arguments"], progress_callback=note)
    return {"result": plain(result), "progress": progress}


async def cancel(session, step):
    """This SDK has no call that cancels: the notification is sent by hand, and the call is still
    waited for a while, so that the report can say how it was answered."""
    outcome = {"cancelled": False}
    begun = anyio.Event()
    # The id the next request will carry; the SDK gives no other way to learn it.
    request = session._request_id

    async def wait():
        try:
            outcome["result"] = (await call(session, step, begun))["result"]
        except McpError as error:
            outcome.update(cancelled=True, code=error.error.code)
        tasks.cancel_scope.cancel()

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        with anyio.move_on_after(step["after"] / 1000):
            await begun.wait()
        params = types.CancelledNotificationParams(requestId=request, reason="enough")
        note = types.CancelledNotification(params=params)
        await session.send_notification(types.ClientNotification(note))
        outcome["cancelled"] = True
        tasks.cancel_scope.deadline = anyio.current_time() + 5
    return outcome


def reference(step):
    if "prompt" in step:
        return types.PromptReference(type="ref/prompt", name=step["prompt"])
    return types.ResourceTemplateReference(type="ref/resource", uri=step["template"])


async def play(session, offered, step):
    try:
        match step["do"]:
            case "list":
                return await list_all(session, offered, step)
            case "call":
                return await call(session, step)
            case "read":
                return {"result": plain(await session.read_resource(step["uri"]))}
            case "prompt":
                return {"result": plain(await session.get_prompt(step["name"], step["arguments"]))}
            case "tools":
                return [plain(tool) for tool in await every_page(session.list_tools, "tools")]
            case "templates":
                found = await every_page(session.list_resource_templates, "resourceTemplates")
                return [template.uriTemplate for template in found]
            case "complete":
                return {"result": plain(await session.complete(reference(step), step["argument"]))}
            case "cancel":
                return await cancel(session, step)
    except McpError as error:
        return {"error": {"code": error.error.code, "message": error.error.message}}


async def main():
    async with connected() as (session, opened):
        steps = [await play(session, opened.capabilities, step) for step in PLAN["steps"]]
        print(json.dumps({"steps": steps, "asked": ASKED, "server": plain(opened.serverInfo)}), flush=True)


anyio.run(main)
