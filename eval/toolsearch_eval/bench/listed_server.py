"""A server over stdio for the bench: lists the tools of a file and hands back what a call is given.

Run as a script with the file's path. It imports the standard library alone, so that what is measured is the way to a
server and not the server.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def answer(method: str, params: dict[str, Any], tools: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The result of a request; None for a method that isn't known.

    >>> answer("tools/call", {"arguments": {"a": 1}}, [])
    {'content': [{'type': 'text', 'text': '{"a": 1}'}]}
    """
    if method == "initialize":
        version = params["protocolVersion"]
        info = {"name": "listed", "version": "1"}
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}
    if method == "tools/list":
        return {"tools": tools}
    if method == "tools/call":
        return {"content": [{"type": "text", "text": json.dumps(params.get("arguments"))}]}
    return {} if method == "ping" else None


def main() -> None:
    """Answer until the input ends."""
    tools = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        result = answer(request["method"], request.get("params") or {}, tools)
        reply = {"error": {"code": -32601, "message": "no such method"}} if result is None else {"result": result}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request["id"], **reply}) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
