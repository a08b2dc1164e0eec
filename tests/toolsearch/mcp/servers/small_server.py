"""A small server over stdio without any library, for the tests; what it does wrong is asked for by its arguments.

Options: `--tools N`, `--page N` tools a page, `--loop` (the same cursor for ever), `--endless` (a new one for ever),
`--silent` (answers nothing), `--list-silent`, `--garbage`, `--exit CODE` at once, `--die-on-list`, `--child` (leaves a
process behind that ignores its end), `--say TEXT` on the error stream, `--describe TEXT`, `--bad` (a tool against the
protocol), `--twice` (one name twice).
"""

import argparse
import json
import subprocess
import sys
import time

STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def tool(options: argparse.Namespace, number: int) -> dict[str, object]:
    """One tool of the list."""
    schema = {"type": "object", "properties": {"meadow": {"type": "string", "description": options.describe}}}
    return {
        "name": f"count_{number:03}",
        "description": options.describe,
        "inputSchema": schema,
        "_meta": {"n": number},
    }


def page(options: argparse.Namespace, cursor: str) -> dict[str, object]:
    """One page of the list."""
    start = int(cursor or 0)
    if options.endless:
        return {"tools": [tool(options, start)], "nextCursor": str(start + 1)}
    listed = [tool(options, number) for number in range(start, min(start + options.page, options.tools))]
    if options.bad:
        listed[-1] = {"name": "bad_one", "inputSchema": 5}
    if options.twice:
        listed.append(tool(options, 0))
    answer: dict[str, object] = {"tools": listed}
    if options.loop:
        answer["nextCursor"] = "1"
    elif start + options.page < options.tools:
        answer["nextCursor"] = str(start + options.page)
    return answer


def send(message: dict[str, object]) -> None:
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def complain(text: str) -> None:
    """Write a line on the error stream."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def main() -> None:
    """Serve until the input ends."""
    parser = argparse.ArgumentParser()
    for flag in ("loop", "endless", "silent", "list-silent", "garbage", "die-on-list", "child", "bad", "twice"):
        parser.add_argument(f"--{flag}", action="store_true")
    parser.add_argument("--tools", type=int, default=3)
    parser.add_argument("--page", type=int, default=1000)
    parser.add_argument("--exit", type=int)
    parser.add_argument("--say", default="")
    parser.add_argument("--describe", default="Counts the sheep of one meadow.")
    parser.add_argument("--key", default="")
    options = parser.parse_args()
    if options.say:
        complain(options.say)
    if options.child:
        child = subprocess.Popen([sys.executable, "-c", STUBBORN])
        complain(f"child {child.pid}")
    if options.exit is not None:
        sys.exit(options.exit)
    if options.garbage:
        sys.stdout.write("Welcome! {not json\n\n42\n")
        sys.stdout.flush()
    for line in sys.stdin:
        if options.silent:
            continue
        request = json.loads(line)
        method, number = request.get("method"), request.get("id")
        if method == "initialize":
            version = request["params"]["protocolVersion"]
            known: dict[str, object] = {"tools": {}}
            info = {"name": "small", "version": "1"}
            send({"id": number, "result": {"protocolVersion": version, "capabilities": known, "serverInfo": info}})
        elif method == "tools/list":
            if options.die_on_list:
                sys.exit(7)
            if options.list_silent:
                time.sleep(600)
            send({"id": number, "result": page(options, request.get("params", {}).get("cursor", ""))})
        elif number is not None:
            send({"id": number, "error": {"code": -32601, "message": "no such method"}})


if __name__ == "__main__":
    main()
