"""A small server over stdio whose start, tools and failures are told it by a file; the standard library alone.

`moody_server.py STATE`: STATE is JSON with `start` (`ok`, `down`: ends at once, `wait`: until it says otherwise, `noise`:
lines that are no messages come first, `refuse`: its list is an error, `nonsense`: its list is none) and `tools` (names).
Each tool says its name and its word, which is the pause of `count` in seconds; `crash`, `hang`, `forget`, `deaf`,
`endless`, `tell`, `count`, `leak` and `leak_result` do what they are called. It repeats the key that it was given wherever
a server can.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

STATE = Path(sys.argv[-1])
KEY = os.environ.get("API_KEY", "no key")


def state() -> dict[str, Any]:
    """What the file says now."""
    return dict(json.loads(STATE.read_text(encoding="utf-8")))


def send(message: dict[str, Any]) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def listing(number: object) -> None:
    """Answer with the list of tools."""
    start = state()["start"]
    if start == "refuse":
        return send({"id": number, "error": {"code": -32000, "message": f"no list for {KEY}"}})
    if start == "nonsense":
        return send({"id": number, "result": {"tools": ["nothing", KEY]}})
    schema = {"type": "object", "properties": {"word": {"type": "string", "default": KEY, "description": f"or {KEY}"}}}
    tools = [
        {"name": name, "description": f"Moody tool {name} of {KEY}.", "inputSchema": schema}
        for name in state()["tools"]
    ]
    return send({"id": number, "result": {"tools": tools}})


def call(number: object, params: dict[str, Any]) -> None:
    """Answer a call, or do what the tool is called."""
    name, arguments = params["name"], params.get("arguments") or {}
    said: dict[str, Any] = {"content": [{"type": "text", "text": f"{name} {arguments.get('word', '')}".strip()}]}
    if name not in state()["tools"]:
        return send({"id": number, "error": {"code": -32602, "message": f"Unknown tool: {name}"}})
    if name == "crash":
        os._exit(3)
    if name == "hang":
        time.sleep(3600)
    if name == "forget":
        return None
    if name == "deaf":
        sys.stdout.flush()
        os.close(1)
        time.sleep(3600)
    if name == "endless":
        while True:
            sys.stdout.write("x" * 65536)
    if name == "tell":
        send({"method": "notifications/tools/list_changed"})
    if name == "count":
        token = (params.get("_meta") or {}).get("progressToken")
        for step in range(1, 6):
            time.sleep(float(arguments.get("word") or 0.02))
            if token is not None:
                send({"method": "notifications/progress", "params": {"progressToken": token, "progress": step}})
    if name in ("leak", "leak_pinned"):
        return send({"id": number, "error": {"code": -32000, "message": f"401 for {KEY}", "data": {"key": KEY}}})
    if name == "leak_result":
        said = {"content": [{"type": "text", "text": f"401 for {KEY}"}], "isError": True}
    return send({"id": number, "result": said})


def main() -> None:
    """Serve until the input ends."""
    for name, value in sorted(os.environ.items()):
        sys.stderr.write(f"{name}={value}\n")
    sys.stderr.flush()
    while state()["start"] == "wait":
        time.sleep(0.02)
    if state()["start"] == "down":
        sys.exit(7)
    if state()["start"] == "noise":
        sys.stdout.write(f'Welcome, {KEY}\n{{"jsonrpc": \n\x00\n[]\n')
        sys.stdout.flush()
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            version = message["params"]["protocolVersion"]
            known: dict[str, Any] = {"tools": {"listChanged": True}}
            info = {"name": "moody", "version": "1"}
            send({"id": number, "result": {"protocolVersion": version, "capabilities": known, "serverInfo": info}})
        elif method == "tools/list":
            listing(number)
        elif method == "tools/call":
            call(number, message["params"])
        elif method == "ping":
            send({"id": number, "result": {}})


if __name__ == "__main__":
    main()
