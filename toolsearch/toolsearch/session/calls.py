"""Who answers a call: the search, the proxy, the final answer, or the tool itself when it is called by its own name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from toolsearch.catalog.core_tools import SYNTHETIC_TOOLS
from toolsearch.catalog.snapshot import Snapshot, narrowed
from toolsearch.catalog.tool import Tool
from toolsearch.session.providers import ToolCall, ToolOutcome
from toolsearch.session.window import View, key_of
from toolsearch.tools.execute_tool import ExecuteTool
from toolsearch.tools.execution import Execution
from toolsearch.tools.found import SearchAnswer
from toolsearch.tools.output_tool import OutputTool
from toolsearch.tools.search_tool import SearchTool
from toolsearch.tools.untrusted import neutralise

SEARCH, EXECUTE, OUTPUT = SYNTHETIC_TOOLS


@dataclass(frozen=True, slots=True)
class Situation:
    """What a call is answered in.

    Attributes:
        view: The catalog as it is now.
        enabled: Whether tools are deferred.
        array: The tools of the array by the name under which they stand there.
    """

    view: View
    enabled: bool
    array: Mapping[str, Tool]


@dataclass(frozen=True, slots=True)
class Job:
    """A call on its way to a target tool.

    Attributes:
        tool: What runs it.
        arguments: As the proxy takes them.
        enabled: False for a call of the proxy in a session where nothing is deferred.
    """

    tool: ExecuteTool
    arguments: Mapping[str, Any] | str
    enabled: bool = True


class CallRunner:
    """Answers calls; whatever happens is an answer, and nothing is raised into the loop of the host."""

    def __init__(
        self,
        *,
        search: SearchTool,
        output: OutputTool,
        proxy: Callable[[Snapshot], ExecuteTool],
        discovered: Callable[[tuple[str, ...]], None],
        finished: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Take the tools that are ours.

        Args:
            search: Answers `SearchExtraTools`.
            output: Answers `SyntheticOutput`.
            proxy: Makes what runs the tools of a snapshot.
            discovered: Is told which tools an answer of the search has shown.
            finished: Is told a final answer that was accepted.
        """
        self._search = search
        self._output = output
        self._make_proxy = proxy
        self._discovered = discovered
        self._finished = finished
        self._proxies: dict[bool, tuple[Snapshot, ExecuteTool]] = {}

    def run(self, call: ToolCall, situation: Situation, context: Any) -> ToolOutcome:
        """Answer one call."""
        try:
            answer = self._route(call, situation)
            if isinstance(answer, Job):
                answer = _outcome(call, answer.tool.call(answer.arguments, context=context, enabled=answer.enabled))
        except Exception as error:
            answer = _failed(call, error)
        return answer

    async def run_async(self, call: ToolCall, situation: Situation, context: Any) -> ToolOutcome:
        """Answer one call without blocking while its target runs."""
        try:
            answer = self._route(call, situation)
            if isinstance(answer, Job):
                ran = await answer.tool.call_async(answer.arguments, context=context, enabled=answer.enabled)
                answer = _outcome(call, ran)
        except Exception as error:
            answer = _failed(call, error)
        return answer

    def search(self, arguments: Mapping[str, Any] | str, *, enabled: bool) -> SearchAnswer:
        """Answer a search; what it shows is discovered."""
        found = self._search.call(arguments, enabled=enabled)
        self._discovered(found.discovered)
        return found

    def _route(self, call: ToolCall, situation: Situation) -> ToolOutcome | Job:
        if call.name == SEARCH:
            found = self.search(call.arguments, enabled=situation.enabled)
            return ToolOutcome(call, found.text, found.is_error, answer=found)
        if call.name == OUTPUT:
            given = self._output.call(call.arguments)
            if given.value is not None:
                self._finished(given.value)
            return ToolOutcome(call, given.text, given.is_error, answer=given)
        if call.name == EXECUTE:
            proxy = self._proxy(situation.view.snapshot, direct=False)
            return Job(proxy, call.arguments, enabled=situation.enabled)
        return self._direct(call, situation)

    def _direct(self, call: ToolCall, situation: Situation) -> Job:
        """A tool called by its own name runs through the same checks, loaded or not; an unknown one is explained."""
        snapshot = situation.view.snapshot
        name = call.name
        held = situation.array.get(name)
        if held is not None and snapshot.get(name) is None:
            # The array keeps the name that the tool had; the catalog may call it by a longer one meanwhile.
            now = [tool.name for tool in snapshot.tools if key_of(tool) == key_of(held)]
            name = now[0] if now else name
        return Job(self._proxy(snapshot, direct=True), {"tool_name": name, "params": call.arguments})

    def _proxy(self, snapshot: Snapshot, *, direct: bool) -> ExecuteTool:
        known = self._proxies.get(direct)
        if known is None or known[0] is not snapshot:
            # Called by their own names, loaded tools are targets like all others.
            targets = narrowed(snapshot, lambda _: True, _is_synthetic) if direct else snapshot
            known = (snapshot, self._make_proxy(targets))
            self._proxies[direct] = known
        return known[1]


def _is_synthetic(tool: Tool) -> bool:
    return tool.name in SYNTHETIC_TOOLS


def _outcome(call: ToolCall, execution: Execution) -> ToolOutcome:
    """What the model reads of an execution: content blocks as they are, anything else as the proxy's text."""
    blocks = execution.blocks
    text = execution.text
    if blocks:
        # The text holds the same once more, images as endless strings; blocks keep their types and their order.
        texts = [str(block.get("text", "")) for block in blocks if block.get("type") == "text"]
        if len(texts) == len(blocks):
            text, blocks = "\n".join(texts), ()
        else:
            text = ""
    return ToolOutcome(call, text, execution.is_error, blocks, answer=execution)


def _failed(call: ToolCall, error: Exception) -> ToolOutcome:
    """An answer for what should not happen: said to the model, so that the conversation goes on."""
    name = neutralise(call.name, limit=80).text
    said = neutralise(f"{type(error).__name__}: {error}", limit=300).text
    return ToolOutcome(call, f"tool_error: {name} could not be run ({said}).", is_error=True)
