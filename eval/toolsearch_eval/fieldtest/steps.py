"""What can be done to a world: a function for each step of the vocabulary."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from toolsearch.config import from_env
from toolsearch.errors import DuplicateToolError, ToolSearchError
from toolsearch.session.announcements import DELTA
from toolsearch.session.attachments import attachment_text
from toolsearch.session.mode import ModeDecision
from toolsearch.session.providers import ToolCall, ToolOutcome
from toolsearch.session.session import Session
from toolsearch.session.settings import settings_from_env
from toolsearch.tokens import token_counter
from toolsearch.tools.execution import Execution
from toolsearch.tools.found import SearchAnswer
from toolsearch_eval.fieldtest.world import MODEL, World, new_session, session_options

SEARCH, EXECUTE = "SearchExtraTools", "ExecuteExtraTool"


@dataclass(slots=True)
class Outcome:
    """What a step gave.

    Attributes:
        op: The step.
        text: What the model reads because of it.
        answer: Of a search.
        execution: Of an execution.
        error: An error that the host got instead.
        code: The code of a failure, or "".
        added: Names that were announced.
        removed: Names that were announced as gone.
        payload: A request, a tools array, or another value that is held against others byte by byte.
        decision: Of the mode.
        config: A search profile that was read from the environment.
        warnings: What was reported in this step.
        builds: Indexes built in the whole case so far.
        selectable: The names that can be selected at this moment.
        state: A saved conversation.
        inner: The outcomes of steps inside of this one.
    """

    op: str
    text: str = ""
    answer: SearchAnswer | None = None
    execution: Execution | None = None
    error: Exception | None = None
    code: str = ""
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    payload: Any = None
    decision: ModeDecision | None = None
    config: Any = None
    warnings: tuple[str, ...] = ()
    builds: int = 0
    selectable: tuple[str, ...] = ()
    state: Any = None
    inner: tuple[Outcome, ...] = field(default=())

    @property
    def names(self) -> tuple[str, ...]:
        """The tools that a search found, best first."""
        return tuple(tool.name for tool in self.answer.results) if self.answer else ()


def run_step(world: World, step: Mapping[str, Any], session: Session | None = None) -> Outcome:
    """Do one step; an error that a host would get is an outcome too.

    Args:
        world: What is acted on.
        step: A step of the vocabulary.
        session: The conversation that it goes to; the world's own unless told otherwise.
    """
    before = len(world.warnings)
    try:
        outcome = STEPS[step["op"]](world, step, session or world.session)
    except ToolSearchError as error:
        code = "duplicate_tool_name" if isinstance(error, DuplicateToolError) else "error"
        outcome = Outcome(step["op"], text=str(error), error=error, code=code)
    outcome.warnings = (*outcome.warnings, *world.warnings[before:])
    outcome.builds = sum(world.store.builds.values())
    return outcome


def _handled(op: str, outcome: ToolOutcome) -> Outcome:
    made = Outcome(op, text=outcome.text)
    if isinstance(outcome.answer, SearchAnswer):
        made.answer = outcome.answer
        made.warnings = outcome.answer.warnings
        made.code = "error" if outcome.is_error else ""
    elif isinstance(outcome.answer, Execution):
        made.execution = outcome.answer
        made.code = outcome.answer.code or ""
    return made


def _call(world: World, session: Session, name: str, arguments: Any, context: Any = None) -> ToolOutcome:
    call = ToolCall(f"call-{world.step}", name, arguments)
    outcome = session.handle(call, context=context)
    if session is world.session:
        # What the model said and got stands in the history, as in a conversation.
        world.history += [_said(call), *session.results([outcome])]
    return outcome


def _said(call: ToolCall) -> dict[str, Any]:
    given = call.arguments if isinstance(call.arguments, Mapping) else {}
    return {"role": "assistant", "content": [{"type": "tool_use", "id": call.id, "name": call.name, "input": given}]}


def _search(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    arguments: dict[str, Any] = {"query": step["query"]}
    if "max_results" in step:
        arguments["max_results"] = step["max_results"]
    if "server" in step:
        arguments["server"] = step["server"]
    return _handled("search", _call(world, session, SEARCH, arguments))


def _search_each(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    inner = tuple(_search(world, {"query": query}, session) for query in step["queries"])
    return Outcome("search_each", text="\n".join(each.text for each in inner), inner=inner)


def _list_server(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    arguments: dict[str, Any] = {"query": f"list:{step['server']}"}
    if "limit" in step:
        arguments["max_results"] = step["limit"]
    return _handled("list_server", _call(world, session, SEARCH, arguments))


def _execute(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    arguments = {"tool_name": step["tool_name"], "params": step["params"]}
    return _handled("execute", _call(world, session, EXECUTE, arguments, step.get("context")))


def _execute_raw(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    return _handled("execute_raw", _call(world, session, EXECUTE, step["input"], step.get("context")))


def _direct_call(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    return _handled("direct_call", _call(world, session, step["tool_name"], step["params"], step.get("context")))


def _same_turn(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    inner = tuple(run_step(world, each, session) for each in step["steps"])
    last = inner[-1] if inner else Outcome("same_turn")
    return Outcome(
        "same_turn",
        text="\n".join(each.text for each in inner),
        answer=last.answer,
        execution=last.execution,
        code=last.code,
        inner=inner,
    )


def _add_tools(world: World, step: Mapping[str, Any], _session: Session) -> Outcome:
    for tool in world.tools(step["tools"], step.get("server")):
        world.offered.setdefault(tool.server or "", []).append(tool)
        world.registry.add(tool)
    return Outcome("add_tools")


def _remove_tools(world: World, step: Mapping[str, Any], _session: Session) -> Outcome:
    for name in step["tools"]:
        world.registry.remove(name)
        for tools in world.offered.values():
            tools[:] = [tool for tool in tools if tool.name != name]
    return Outcome("remove_tools")


def _replace_tool(world: World, step: Mapping[str, Any], _session: Session) -> Outcome:
    [tool] = world.tools([step["tool"]], step.get("server"))
    old = step.get("name", tool.name)
    if old == tool.name:
        world.registry.replace(tool)
    else:
        world.registry.remove(old)
        world.registry.add(tool)
    return Outcome("replace_tool")


def _server_tools(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    server = step["server"]
    tools = world.tools(step["tools"], server)
    world.offered[server] = tools
    state = session.servers.get(server)
    if state is not None and state.state not in ("connected", "pending"):
        return Outcome("server_tools")  # it is away; they come with it
    world.registry.replace(tools, server=server)
    if state is None or state.state == "pending":
        session.set_server(server, "connected")
    return Outcome("server_tools")


def _server_state(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    server, state = step["server"], step["state"]
    if state == "connected":
        # A server that comes back brings what it offers now.
        world.registry.replace(world.offered.get(server, []), server=server)
    session.set_server(server, state)
    return Outcome("server_state")


def _announce(world: World, _step: Mapping[str, Any], session: Session) -> Outcome:
    request = session.request(world.history or [session.user("Go on.")], model=MODEL, wait=True)
    world.history = request.history
    world.warnings += request.warnings
    deltas = [each["attachment"] for each in request.attachments if each["attachment"]["type"] == DELTA]
    added = tuple(name for delta in deltas for name in delta["added"])
    removed = tuple(name for delta in deltas for name in delta["removed"])
    text = "\n".join([request.header, json.dumps(deltas, ensure_ascii=False)])
    return Outcome(
        "announce",
        text=text,
        added=added,
        removed=removed,
        payload=request.payload,
        selectable=session.selectable,
    )


def _prefetch(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    world.history.append(session.user(step["text"]))
    entry = session.prefetch(step["text"])
    if entry is None:
        return Outcome("prefetch")
    world.history.append(entry)
    return Outcome("prefetch", text=attachment_text(entry["attachment"]), payload=entry)


def _compact(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    world.history = session.compact(world.history, step.get("keep", 0))
    return Outcome("compact")


def _restored(world: World, step: Mapping[str, Any], session: Session) -> None:
    saved = json.loads(json.dumps(session.save().to_json()))
    world.session = Session.restore(world.registry, saved, **session_options(world))
    for server, state in (step.get("servers") or {}).items():
        if state != "connected":
            # What is not there yet has no tools in the catalog of the new process.
            known = {tool.server for tool in world.registry.snapshot().tools}
            if server in known:
                world.registry.remove(server=server)
        world.session.set_server(server, state)


def _resume(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    world.history = json.loads(json.dumps(world.history))
    _restored(world, step, session)
    return Outcome("resume")


def _new_session(world: World, step: Mapping[str, Any], _session: Session) -> Outcome:
    world.history = []
    world.session = new_session(world, step.get("servers"))
    return Outcome("new_session")


def _serialize_restore(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    _restored(world, step, session)
    return Outcome("serialize_restore", state=world.session.save())


def _spawn_subagent(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    world.subagent = session.subagent(step["tools"])
    return Outcome("spawn_subagent")


def _subagent(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    if world.subagent is None:
        world.subagent = session.subagent()
    return run_step(world, step["step"], world.subagent)


def _tools_array(world: World, _step: Mapping[str, Any], session: Session) -> Outcome:
    array = session.tools_array()
    world.warnings += [*session.decision.warnings, *world.registry.warnings]
    return Outcome("tools_array", payload=array, text=json.dumps(array, ensure_ascii=False), decision=session.decision)


def _system_prompt(_world: World, _step: Mapping[str, Any], session: Session) -> Outcome:
    text = session.usage_guidance()
    return Outcome("system_prompt", text=text, payload=text)


def _provider_payload(world: World, _step: Mapping[str, Any], session: Session) -> Outcome:
    request = session.request(world.history or [session.user("Go on.")], model=MODEL, max_tokens=1024, wait=True)
    world.history = request.history
    return Outcome("provider_payload", payload=request.payload, text=json.dumps(request.payload, ensure_ascii=False))


def _context_size(world: World, _step: Mapping[str, Any], session: Session) -> Outcome:
    request = session.request(world.history or [session.user("Go on.")], model=MODEL, wait=True)
    return Outcome("context_size", text=json.dumps(request.payload, ensure_ascii=False), payload=request.payload)


def _resolve_mode(world: World, step: Mapping[str, Any], _session: Session) -> Outcome:
    environ = {name: str(value) for name, value in step["env"].items()}
    settings, warnings = settings_from_env(environ)
    config, more = from_env(environ)
    session = Session(world.registry, settings=settings, store=world.store)
    world.warnings += [*warnings, *more, *session.decision.warnings]
    return Outcome("resolve_mode", decision=session.decision, config=config)


def _concurrent(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    found: list[Outcome] = []
    failures: list[BaseException] = []
    barrier = threading.Barrier(step["threads"])

    def work() -> None:
        try:
            barrier.wait(timeout=30)
            for each in step["steps"]:
                found.append(run_step(world, each, session.fork()))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(step["threads"])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
    return Outcome("concurrent", inner=tuple(found))


def _cancelled(world: World, step: Mapping[str, Any], session: Session) -> Outcome:
    """Begin a step in a task and cancel it at once: a request that its caller gave up."""
    import asyncio

    inner = step["step"]
    name = SEARCH if inner["op"].startswith("search") else EXECUTE
    arguments = (
        {"query": inner["query"]}
        if name == SEARCH
        else inner.get("input", {"tool_name": inner.get("tool_name"), "params": inner.get("params")})
    )

    async def give_up() -> None:
        task = asyncio.ensure_future(session.handle_async(ToolCall("cancelled", name, arguments)))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(give_up())
    return Outcome("cancelled")


def _shuffle_catalog(world: World, step: Mapping[str, Any], _session: Session) -> Outcome:
    world.shuffled(step["seed"])
    return Outcome("shuffle_catalog")


def _build_index(world: World, _step: Mapping[str, Any], session: Session) -> Outcome:
    _search(world, {"query": "anything at all"}, session)
    names = tuple(tool.name for tool in world.registry.snapshot().tools)
    return Outcome("build_index", payload=names)


def _snapshot_known(world: World, _step: Mapping[str, Any], session: Session) -> Outcome:
    return Outcome("snapshot_known", state=session.save(), payload=session.discovered)


def _advance_clock(world: World, step: Mapping[str, Any], _session: Session) -> Outcome:
    world.now += step["hours"] * 3600
    return Outcome("advance_clock")


STEPS: dict[str, Callable[[World, Mapping[str, Any], Session], Outcome]] = {
    "search": _search,
    "search_each": _search_each,
    "list_server": _list_server,
    "execute": _execute,
    "execute_raw": _execute_raw,
    "direct_call": _direct_call,
    "same_turn": _same_turn,
    "add_tools": _add_tools,
    "remove_tools": _remove_tools,
    "replace_tool": _replace_tool,
    "server_tools": _server_tools,
    "server_state": _server_state,
    "announce": _announce,
    "prefetch": _prefetch,
    "compact": _compact,
    "resume": _resume,
    "new_session": _new_session,
    "serialize_restore": _serialize_restore,
    "spawn_subagent": _spawn_subagent,
    "subagent": _subagent,
    "tools_array": _tools_array,
    "system_prompt": _system_prompt,
    "provider_payload": _provider_payload,
    "context_size": _context_size,
    "resolve_mode": _resolve_mode,
    "concurrent": _concurrent,
    "cancelled": _cancelled,
    "shuffle_catalog": _shuffle_catalog,
    "build_index": _build_index,
    "snapshot_known": _snapshot_known,
    "advance_clock": _advance_clock,
}
"""A function for each step of the vocabulary."""


def tokens_of(outcome: Outcome) -> int:
    """Tokens of what the model reads because of a step."""
    return token_counter().count(outcome.text)
