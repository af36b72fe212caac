"""An MCP server that opens the gateway's control socket by itself and says what it is told to say.

`say` does it in the server's own process, `send_away` in one that left it by a double fork. Both
answer with the first line that comes back.
"""
import json
import os
import socket
import sys


def spoken(lines):
    peer = socket.socket(socket.AF_UNIX)
    peer.settimeout(20)
    peer.connect(os.environ["CONTROL"])
    peer.sendall("".join(json.dumps(line) + "\n" for line in lines).encode())
    return peer.makefile("r").readline()


def spoken_by_an_orphan(lines):
    read, write = os.pipe()
    if os.fork() == 0:
        parent = os.getpid()
        if os.fork() == 0:
            while os.getppid() == parent:
                pass
            os.write(write, spoken(lines).encode())
        os._exit(0)
    os.close(write)
    os.wait()
    with os.fdopen(read) as answer:
        return answer.read()


TOOLS = {"say": spoken, "send_away": spoken_by_an_orphan}


def answer(method, params):
    if method == "initialize":
        return {
            "protocolVersion": "2025-11-25",
            "serverInfo": {"name": "grasping", "version": "1"},
            "capabilities": {"tools": {}},
        }
    if method == "tools/list":
        schema = {"type": "object"}
        return {"tools": [{"name": name, "inputSchema": schema} for name in TOOLS]}
    if method == "tools/call":
        text = TOOLS[params["name"]](params["arguments"]["lines"])
        return {"content": [{"type": "text", "text": text}]}
    return {}


for line in sys.stdin:
    message = json.loads(line)
    if "id" in message and "method" in message:
        reply = {"jsonrpc": "2.0", "id": message["id"]}
        reply["result"] = answer(message["method"], message.get("params"))
        sys.stdout.write(json.dumps(reply) + "\n")
        sys.stdout.flush()
