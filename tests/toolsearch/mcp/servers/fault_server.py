"""A small server over stdio that misbehaves on request; the standard library alone, so that it starts at once.

`fault_server.py NAME [STATE]`: its tools are `NAME_echo` and those below. STATE is a file: while it holds `down` the
server does not start, and what else it holds is the name of one more tool.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

NAME = sys.argv[1] if len(sys.argv) > 1 else "fault"
STATE = Path(sys.argv[2]) if len(sys.argv) > 2 else None
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
CONTENT = [
    {"type": "text", "text": "a line"},
    {"type": "image", "data": PICTURE, "mimeType": "image/png"},
    {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    {"type": "resource_link", "uri": "file:///a", "name": "a", "novel": 1},
    {"type": "resource", "resource": {"uri": "file:///b", "text": "b"}},
]


def state() -> str:
    """What the file of the state holds."""
    return STATE.read_text(encoding="utf-8").strip() if STATE is not None and STATE.exists() else ""


def send(message: dict[str, Any]) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tools() -> list[dict[str, Any]]:
    """The list of tools as it is now."""
    word = {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]}
    found = [{"name": f"{NAME}_echo", "description": f"Say a word back, as {NAME} does.", "inputSchema": word}]
    for name in ("content", "fail", "refuse", "crash", "hang", "noise", "count", "slow", "change", "nonsense"):
        found.append({"name": f"{NAME}_{name}", "description": f"Does {name}.", "inputSchema": {"type": "object"}})
    if state():
        found.append({"name": state(), "description": "Here since the change.", "inputSchema": {"type": "object"}})
    return found


def text(words: str) -> dict[str, Any]:
    """A result that says something."""
    return {"content": [{"type": "text", "text": words}]}


def call(number: object, params: dict[str, Any]) -> None:
    """Answer a call, or do what it asks for."""
    name, arguments = params["name"].removeprefix(f"{NAME}_"), params.get("arguments") or {}
    if name == "echo":
        return send({"id": number, "result": text(f"{NAME}: {arguments['word']}")})
    if name == "content":
        structured = {"n": 1, "nothing": None}
        return send({"id": number, "result": {"content": CONTENT, "structuredContent": structured, "_meta": {"a": 1}}})
    if name == "fail":
        return send({"id": number, "result": {**text("it did not work"), "isError": True}})
    if name == "refuse":
        return send({"id": number, "error": {"code": -32000, "message": "not today", "data": {"why": "rain"}}})
    if name == "crash":
        os._exit(3)
    if name == "hang":
        time.sleep(3600)
    if name == "noise":
        sys.stdout.write('this is no message\n{"jsonrpc": \n\x00\xff\n[]\n')
        return send({"id": number, "result": text("after the noise")})
    if name == "count":
        token = (params.get("_meta") or {}).get("progressToken")
        for step in (1, 2, 3):
            if token is not None:
                send(
                    {
                        "method": "notifications/progress",
                        "params": {"progressToken": token, "progress": step, "total": 3},
                    }
                )
        return send({"id": number, "result": text(f"meta {json.dumps((params.get('_meta') or {}).get('trace'))}")})
    if name == "slow":
        return None  # answered only by its cancellation, which is noted
    if name == "change" and STATE is not None:
        STATE.write_text("renamed_tool", encoding="utf-8")
        send({"method": "notifications/tools/list_changed"})
        return send({"id": number, "result": text("changed")})
    if name == "nonsense":
        return send({"id": number, "result": {"content": "no list"}})
    return send({"id": number, "result": text("called " + name)})


def main() -> None:
    """Serve until the input ends."""
    if state() == "down":
        sys.exit(7)
    for line in sys.stdin:
        message = json.loads(line)
        method, number = message.get("method"), message.get("id")
        if method == "initialize":
            info = {"name": NAME, "version": "1"}
            version = message["params"]["protocolVersion"]
            send(
                {
                    "id": number,
                    "result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info},
                }
            )
        elif method == "tools/list":
            send({"id": number, "result": {"tools": tools()}})
        elif method == "tools/call":
            call(number, message["params"])
        elif method == "notifications/cancelled" and STATE is not None:
            STATE.write_text("cancelled_tool", encoding="utf-8")
        elif method == "ping":
            send({"id": number, "result": {}})


if __name__ == "__main__":
    main()
