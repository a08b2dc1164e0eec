"""A server of the official library that lives badly: what the soak test does its two thousand calls against.

`soak_server.py NAME STATE`: STATE is a file with two numbers, how often the server was started and which generation its
tools are of. Some starts are slow, some fail, some begin with garbage; what a tool does wrong is asked for by its name.
It leaves a process of its own behind, as real servers do.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

NAME, STATE = sys.argv[-2:][0], Path(sys.argv[-1])
NOISE = b'Loading...\n{"jsonrpc": \n\x00\xff\xfe\n[]\n{"id": 1}\n'
WIRE = os.dup(1) if __name__ == "__main__" else 1
"""The real output: the library turns the standard one away from it while it serves."""


def numbers() -> dict[str, int]:
    """The two numbers of the state."""
    return dict(json.loads(STATE.read_text(encoding="utf-8")))


def count_up(key: str) -> int:
    """Add one to a number of the state, in one step, as the server may be killed at any moment; the number."""
    found = numbers()
    found[key] += 1
    fresh = STATE.with_suffix(f".{os.getpid()}")
    fresh.write_text(json.dumps(found), encoding="utf-8")
    fresh.replace(STATE)
    return found[key]


def start_badly(start: int) -> None:
    """Be slow, fail or make noise, by the number of the start."""
    if start % 5 == 3:
        sys.exit(9)
    if start % 3 == 2:
        time.sleep(1.0)
    if start % 4 == 0:
        os.write(WIRE, NOISE)


def serve() -> None:
    """Serve over stdio until the input ends."""
    import anyio
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel import NotificationOptions, Server
    from mcp.server.stdio import stdio_server
    from mcp_types import (
        CallToolRequestParams,
        CallToolResult,
        ListToolsResult,
        PaginatedRequestParams,
        TextContent,
        Tool,
    )

    def tool(name: str, description: str, **properties: str) -> Tool:
        fields = {key: {"type": kind} for key, kind in properties.items()}
        schema = {"type": "object", "properties": fields, "required": list(fields)}
        return Tool(name=f"{NAME}_{name}", description=description, input_schema=schema)

    async def list_tools(_ctx: ServerRequestContext[Any], _params: PaginatedRequestParams | None) -> ListToolsResult:
        listed = [
            tool("echo", f"Say a word back, as {NAME} does.", word="string"),
            tool("wait", "Answer after so many seconds.", seconds="number"),
            tool("hang", "Never answer anything again."),
            tool("forget", "Never answer this call."),
            tool("noise", "Write lines that are no messages, then answer.", word="string"),
            tool("die", "End without a word."),
            tool("change", "Rename a tool and say so."),
            tool("rename", "Rename a tool and say nothing."),
            tool(f"task_v{numbers()['generation']}", "The tool that is renamed."),
        ]
        return ListToolsResult(tools=listed)

    async def call_tool(ctx: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        arguments = params.arguments or {}
        said = "done"
        match params.name.removeprefix(f"{NAME}_"):
            case "echo":
                said = str(arguments["word"])
            case "wait":
                await anyio.sleep(arguments["seconds"])
            case "hang":
                time.sleep(3600)  # the whole server stands, as one does that works without awaiting
            case "forget":
                await anyio.sleep_forever()
            case "noise":
                os.write(WIRE, NOISE)
                said = str(arguments["word"])
            case "die":
                os._exit(5)
            case "change":
                count_up("generation")
                await ctx.session.send_tool_list_changed()
            case "rename":
                count_up("generation")
            case name if name == f"task_v{numbers()['generation']}":
                said = name
            case _:
                from mcp import MCPError

                raise MCPError(code=-32602, message=f"Unknown tool: {params.name}")
        return CallToolResult(content=[TextContent(type="text", text=said)])

    async def main() -> None:
        server: Server[Any] = Server(NAME, on_list_tools=list_tools, on_call_tool=call_tool)
        options = server.create_initialization_options(NotificationOptions(tools_changed=True))
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, options)

    anyio.run(main)


if __name__ == "__main__":
    start_badly(count_up("starts"))
    subprocess.Popen(["sleep", "3600"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    serve()
