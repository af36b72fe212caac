"""An MCP server on stdin and stdout that shows what a client does to it.

It keeps a count per process, asks back, waits to be cancelled, fails, and answers with numbers
spelled as nobody else would spell them. With EXTENSION it knows the methods `foo/…`, too. Files it is told to write lie in the folder WITNESS names.
"""
import json
import os
import sys
import threading

SCHEMA = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "count": {"type": "integer"},
        "deep": {"type": "boolean"},
        "list": {"type": "array"},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
}
TOOLS = ["count", "ask", "visit", "slow", "fail", "picture", "echo", "odd", "hidden"]
DESCRIPTIONS = {"hidden": "shown \u001b[31mred\u202e\nsecond line"}
ODD = '{"content":[{"type":"text","text":"odd","x":1.50}],"_big":12345678901234567890123,"y":1e2}'
count = 0
answers = {}
arrived = threading.Condition()


def send(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def result(id, value):
    send(json.dumps({"jsonrpc": "2.0", "id": id, "result": value}))


def text(id, words, **more):
    result(id, {"content": [{"type": "text", "text": words}], **more})


def witness(name):
    open(os.path.join(os.environ["WITNESS"], name), "w").close()


def ask(params):
    send(json.dumps({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params}))
    with arrived:
        arrived.wait_for(lambda: "q" in answers)
        return answers.pop("q")


FORM = {
    "message": "Who are you?",
    "requestedSchema": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": 30}},
        "required": ["name"],
    },
}


def call(id, params):
    global count
    name, arguments = params["name"], params.get("arguments", {})
    if arguments.get("reject"):
        error = {"code": -32602, "message": "bad arguments"}
        send(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}))
    elif name == "count":
        count += 1
        text(id, str(count))
    elif name == "ask":
        text(id, json.dumps(ask(FORM)))
    elif name == "visit":
        page = {"mode": "url", "elicitationId": "e", "message": "Log in", "url": "https://x.test/a"}
        text(id, json.dumps(ask(page)))
    elif name == "slow":
        token = params["_meta"]["progressToken"]
        note = {"progressToken": token, "progress": 1, "total": 4, "message": "a quarter"}
        send(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": note}))
        witness("begun")
    elif name == "fail":
        text(id, "it broke", isError=True)
    elif name == "picture":
        image = {"type": "image", "mimeType": "image/png", "data": "AAAA" * 4000}
        result(id, {"content": [image]})
    elif name == "odd":
        send('{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(id), ODD))
    else:
        text(id, json.dumps(arguments))


def answer(message):
    method, id, params = message["method"], message.get("id"), message.get("params", {})
    if method == "initialize":
        info = {"name": "witness", "version": "1"}
        offers = {"tools": {}, "resources": {}, "prompts": {}}
        if "EXTENSION" in os.environ:
            offers["extensions"] = {"test.example/foo": {}}
        version = params["protocolVersion"]
        said = {"protocolVersion": version, "capabilities": offers, "serverInfo": info}
        if "INSTRUCTIONS" in os.environ:
            said["instructions"] = os.environ["INSTRUCTIONS"]
        result(id, said)
    elif method == "tools/list":
        tool = lambda name: {
            "name": name, "inputSchema": SCHEMA, "description": DESCRIPTIONS.get(name, name),
        }
        result(id, {"tools": [tool(name) for name in TOOLS]})
    elif method == "tools/call":
        threading.Thread(target=call, args=(id, params), daemon=True).start()
    elif method == "resources/list":
        result(id, {"resources": [{"uri": "w://blob", "name": "blob"}]})
    elif method == "resources/templates/list":
        result(id, {"resourceTemplates": [{"uriTemplate": "w://{id}", "name": "any"}]})
    elif method == "resources/read":
        uri = params["uri"]
        if uri == "w://blob":
            result(id, {"contents": [{"uri": uri, "mimeType": "a/b", "blob": "/+8AZm9v"}]})
        elif uri.endswith("who"):
            result(id, {"contents": [{"uri": uri, "text": os.path.basename(os.environ["WITNESS"])}]})
        else:
            result(id, {"contents": [{"uri": uri, "text": "text of " + uri}]})
    elif method == "prompts/list":
        result(id, {"prompts": [{"name": "greet", "arguments": [{"name": "who", "required": True}]}]})
    elif method == "prompts/get":
        words = "Greet " + str(params.get("arguments", {}).get("who"))
        content = {"type": "text", "text": words}
        result(id, {"messages": [{"role": "user", "content": content}]})
    elif method.startswith("foo/"):
        result(id, {"method": method, "params": params})
    elif method == "notifications/cancelled":
        witness("cancelled")
    elif id is not None:
        error = {"code": -32601, "message": "unknown"}
        send(json.dumps({"jsonrpc": "2.0", "id": id, "error": error}))


for line in sys.stdin:
    message = json.loads(line)
    if "method" in message:
        answer(message)
    else:
        with arrived:
            answers[message["id"]] = message.get("result", message.get("error"))
            arrived.notify_all()
