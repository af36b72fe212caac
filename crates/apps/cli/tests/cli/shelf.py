"""An MCP server on stdin and stdout whose resources stand in a file, read anew for every answer.

SHELF names the file: JSON, an object from URIs to {"contents": [...], "title"?: ..., "hidden"?: true}.
It is looked at all the time, and whoever subscribed is told what changed; with "modern" as argument
in the manner of 2026-07-28, otherwise in that of 2025-11-25. With "deaf" nobody can subscribe.
"""
import json
import os
import sys
import threading
import time

MODERN, DEAF = "modern" in sys.argv, "deaf" in sys.argv
META = "io.modelcontextprotocol/"
subscribed, listens = set(), {}
writing = threading.Lock()


def shelf():
    while True:
        try:
            with open(os.environ["SHELF"], encoding="utf-8") as file:
                return json.load(file)
        except ValueError:
            time.sleep(0.005)  # somebody is writing it


def send(message):
    with writing:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        sys.stdout.flush()


def tell(method, params, wants):
    if not MODERN:
        return send({"method": method, "params": params})
    for id, notifications in list(listens.items()):
        if wants(notifications):
            meta = {META + "subscriptionId": id}
            send({"method": method, "params": {**params, "_meta": meta}})


def watch():
    before = shelf()
    while True:
        time.sleep(0.02)
        now = shelf()
        for uri in [uri for uri in now if before.get(uri) != now[uri]]:
            wants = lambda it: uri in it.get("resourceSubscriptions", [])
            if MODERN or uri in subscribed:
                tell("notifications/resources/updated", {"uri": uri}, wants)
        if listed(before) != listed(now):
            wants = lambda it: it.get("resourcesListChanged")
            tell("notifications/resources/list_changed", {}, wants)
        before = now


def listed(shelf):
    return [
        {"uri": uri, "name": uri, **({"title": it["title"]} if "title" in it else {})}
        for uri, it in shelf.items() if not it.get("hidden")
    ]


def answer(method, params):
    offers = {"resources": {"listChanged": True, **({} if DEAF else {"subscribe": True})}}
    if method == "initialize" and not MODERN:
        return {
            "protocolVersion": "2025-11-25",
            "serverInfo": {"name": "shelf", "version": "1"},
            "capabilities": offers,
        }
    if method == "server/discover" and MODERN:
        return {"supportedVersions": ["2026-07-28"], "capabilities": offers}
    if method == "resources/list":
        return {"resources": listed(shelf())}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "t://{name}", "name": "any"}]}
    if method == "resources/read":
        uri = params["uri"]
        if uri.startswith("t://"):
            return {"contents": [{"uri": uri, "text": "made for " + uri}]}
        if uri in shelf():
            return {"contents": shelf()[uri]["contents"]}
    if method in ("resources/subscribe", "resources/unsubscribe") and not MODERN and not DEAF:
        (subscribed.add if method == "resources/subscribe" else subscribed.discard)(params["uri"])
        return {}
    if method == "ping":
        return {}
    return None


def dressed(result):
    if MODERN:
        result = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private", **result}
        result["_meta"] = {META + "serverInfo": {"name": "shelf", "version": "1"}}
    return result


def listen(id, params):
    wanted = dict(params["notifications"])
    if DEAF:
        wanted.pop("resourceSubscriptions", None)
    listens[id] = wanted
    meta = {META + "subscriptionId": id}
    acknowledged = {"notifications": wanted, "_meta": meta}
    send({"method": "notifications/subscriptions/acknowledged", "params": acknowledged})


threading.Thread(target=watch, daemon=True).start()
for line in sys.stdin:
    message = json.loads(line)
    method, id, params = message.get("method"), message.get("id"), message.get("params", {})
    if method == "subscriptions/listen" and MODERN:
        listen(id, params)
    elif method == "notifications/cancelled":
        listens.pop(params.get("requestId"), None)
    elif method is not None and id is not None:
        result = answer(method, params)
        if result is None:
            code = -32602 if method == "resources/read" else -32601
            send({"id": id, "error": {"code": code, "message": "unknown"}})
        else:
            send({"id": id, "result": dressed(result)})
