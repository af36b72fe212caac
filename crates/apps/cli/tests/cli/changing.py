"""An MCP server whose one tool is defined as a file says, read anew for every list.

It tells nobody when the file changes. Every call it gets is a line in the file beside it.
"""
import json
import os
import sys

FOLDER = os.environ["CHANGING"]


def tool():
    with open(os.path.join(FOLDER, "tool.json"), encoding="utf-8") as file:
        return json.load(file)


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "serverInfo": {"name": "changing", "version": "1"},
            "capabilities": {"tools": {}},
        }
    if method == "tools/list":
        return {"tools": [tool()]}
    if method == "tools/call":
        with open(os.path.join(FOLDER, "calls"), "a", encoding="utf-8") as file:
            file.write(json.dumps(params) + "\n")
        return {"content": [{"type": "text", "text": "done"}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        reply["result"] = answer(message["method"], message.get("params"))
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
