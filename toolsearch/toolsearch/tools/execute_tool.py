"""ExecuteExtraTool: runs a deferred tool by its name, exactly as a direct call would.

The order is fixed and the first failure ends it: read the arguments, look the tool up, is it discovered, can it run
now, do the arguments fit its schema, is it permitted, run it. Nothing is ever thrown at the caller but what stops the
whole program, and the caller's own cancellation.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.snapshot import Snapshot, TeamsNotice
from toolsearch.catalog.tool import Tool
from toolsearch.errors import UsageError
from toolsearch.tools.argument_reader import ReadCall, Unreadable, plain_arguments, read_call
from toolsearch.tools.availability import unavailable
from toolsearch.tools.execution import Execution, failed, succeeded
from toolsearch.tools.failures import denied, permission_failed, stopped
from toolsearch.tools.permissions import (
    PermissionAnswer,
    PermissionRequest,
    read_answer,
    read_decision,
)
from toolsearch.tools.running import bound_call, finish, is_async, run_async, run_sync
from toolsearch.tools.servers import ServerStatus
from toolsearch.tools.targets import Targets, meant
from toolsearch.tools.untrusted import shown_name
from toolsearch.tools.validation import validate_params

Ask = Callable[[PermissionRequest], Any]
"""The host's callback: gives a `PermissionAnswer`, or true or false; may be async."""

DefaultPermission = Literal["allow", "ask", "deny"]


@dataclass(frozen=True, slots=True)
class _Prepared:
    """A call that has passed everything but the permission."""

    tool: Tool
    params: dict[str, Any]
    warnings: tuple[str, ...]


class ExecuteTool:
    """The proxy over a catalog that may change between calls."""

    def __init__(
        self,
        catalog: ToolRegistry | Snapshot,
        *,
        servers: Callable[[], Mapping[str, ServerStatus]] = dict,
        require_discovery: bool = False,
        is_discovered: Callable[[str], bool] = lambda _name: True,
        mark_discovered: Callable[[str], object] = lambda _name: None,
        ask: Ask | None = None,
        default_permission: DefaultPermission = "allow",
        timeout: float | None = None,
    ) -> None:
        """Take the catalog and the host's settings.

        Args:
            catalog: Whose tools are run.
            servers: How the servers stand now; one that is not among them is taken to be connected.
            require_discovery: Refuse a tool whose parameters were not shown yet, and show them by that.
            is_discovered: Whether they were.
            mark_discovered: Told the name of a tool when an answer shows its parameters.
            ask: Decides where a tool asks for permission; without it such a call is denied.
            default_permission: For tools without an opinion.
            timeout: Seconds that a call may take; None for no limit.

        Raises:
            UsageError: The default is none of the three, or the limit is not above 0.
        """
        if default_permission not in get_args(DefaultPermission):
            raise UsageError(f"default_permission is {default_permission!r}; give 'allow', 'ask' or 'deny'.")
        if timeout is not None and not timeout > 0:
            raise UsageError(f"timeout is {timeout!r}; give seconds above 0, or None for no limit.")
        self._catalog = catalog
        self._servers = servers
        self._require_discovery = require_discovery
        self._is_discovered = is_discovered
        self._mark_discovered = mark_discovered
        self._ask = ask
        self._default: DefaultPermission = default_permission
        self._timeout = timeout
        self._targets: Targets | None = None

    def call(
        self,
        arguments: Mapping[str, Any] | str,
        *,
        context: Any = None,
        timeout: float | None = None,
        cancel: threading.Event | None = None,
        enabled: bool = True,
    ) -> Execution:
        """Execute from sync code; an async target, check or callback is run to its end, also under a running loop.

        Args:
            arguments: As the model wrote them: an object, or the text that should be one.
            context: Passed to the target where it takes a `context`.
            timeout: Seconds for this call; None for the general limit.
            cancel: Set it to give up the call.
            enabled: False where tool search is off: the answer says so.
        """
        prepared = self._prepared(arguments, enabled)
        if isinstance(prepared, Execution):
            return prepared
        try:
            permitted = self._decided(prepared, finish(self._checked(prepared)))
            if isinstance(permitted, PermissionRequest):
                permitted = self._answered(prepared, permitted, finish(self._asked(permitted)))
        except (Exception, asyncio.CancelledError) as error:  # the check or the callback is someone else's
            return permission_failed(prepared.tool, error)
        if isinstance(permitted, Execution):
            return permitted
        tool = permitted.tool
        try:
            function = bound_call(_callable(tool), permitted.params, context)
            result = run_sync(function, timeout=self._limit(timeout), cancel=cancel)
        except (Exception, asyncio.CancelledError) as error:
            return stopped(tool, error, self._limit(timeout), permitted.warnings)
        return succeeded(tool.name, result, warnings=permitted.warnings)

    async def call_async(
        self,
        arguments: Mapping[str, Any] | str,
        *,
        context: Any = None,
        timeout: float | None = None,
        cancel: threading.Event | None = None,
        enabled: bool = True,
    ) -> Execution:
        """Execute from async code; a sync target runs in a thread. The arguments are those of `call`.

        Raises:
            asyncio.CancelledError: The caller's own task was cancelled; the target is cancelled with it.
        """
        prepared = self._prepared(arguments, enabled)
        if isinstance(prepared, Execution):
            return prepared
        try:
            permitted = self._decided(prepared, await _awaited(self._checked(prepared)))
            if isinstance(permitted, PermissionRequest):
                permitted = self._answered(prepared, permitted, await _awaited(self._asked(permitted)))
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and _is_cancelled():
                raise
            return permission_failed(prepared.tool, error)
        if isinstance(permitted, Execution):
            return permitted
        tool = permitted.tool
        try:
            target = _callable(tool)
            result = await run_async(
                bound_call(target, permitted.params, context),
                timeout=self._limit(timeout),
                cancel=cancel,
                in_thread=not is_async(target),
            )
        except Exception as error:
            return stopped(tool, error, self._limit(timeout), permitted.warnings)
        return succeeded(tool.name, result, warnings=permitted.warnings)

    # 1. What was meant

    def _prepared(self, arguments: Mapping[str, Any] | str, enabled: bool) -> Execution | _Prepared:
        """All steps before the permission."""
        snapshot = self._catalog.snapshot() if isinstance(self._catalog, ToolRegistry) else self._catalog
        targets = self._targets_of(snapshot)
        read = read_call(
            arguments,
            fits=lambda name, params: _fits(targets.find(name), params),
            declares=lambda name, parameter: _declares(targets.find(name), parameter),
        )
        name = read.tool_name
        if not enabled:
            message = (
                "tool search is disabled in this session and all tools are loaded: call "
                f"{meant(name) if name else 'the tool'} directly, by its own name."
            )
            return failed(name, "disabled", message)
        if isinstance(read, Unreadable) and not name:
            return failed("", "unreadable_arguments", read.message)
        target = targets.target(name, self._servers())
        if isinstance(target, Execution):
            return target
        if isinstance(read, Unreadable):
            message = f"the arguments of {shown_name(target.name)} can't be read: {read.message}"
            return self._shown(failed(target.name, "unreadable_arguments", message, **_schema_of(target)))
        return self._ready(target, read)

    # 3. to 5. Discovered, available, valid

    def _ready(self, tool: Tool, read: ReadCall) -> Execution | _Prepared:
        name = shown_name(tool.name)
        if self._require_discovery and not self._is_discovered(tool.name):
            message = f"the parameters of {name} had not been shown yet. They are below: call it again with them."
            return self._shown(failed(tool.name, "undiscovered", message, **_schema_of(tool)))
        not_now = unavailable(tool, self._servers())
        if not_now is not None:
            return not_now
        # A notice is told whatever the arguments are: putting them right would not make it run.
        schema = None if isinstance(tool.call, TeamsNotice) else tool.input_schema
        validation = validate_params(schema, read.params)
        if not validation.valid:
            faults = "; ".join(map(str, validation.faults))
            message = f"the arguments don't fit {name}: {faults}."
            return self._shown(
                failed(tool.name, "invalid_params", message, **_schema_of(tool), warnings=validation.notes)
            )
        repaired = (f"the arguments of {name} were out of shape and have been put right.",) if read.repaired else ()
        # A copy: what the target does to its arguments must not change what the model has said.
        return _Prepared(tool, copy.deepcopy(read.params), (*repaired, *validation.notes))

    # 6. Permitted

    def _checked(self, prepared: _Prepared) -> Any:
        check = prepared.tool.check_permissions
        return None if check is None else check(copy.deepcopy(prepared.params))

    def _decided(self, prepared: _Prepared, said: Any) -> Execution | _Prepared | PermissionRequest:
        decision = read_decision(said)
        behaviour = self._default if decision.behaviour == "passthrough" else decision.behaviour
        if behaviour == "deny":
            return denied(prepared.tool, decision.message)
        rewritten = self._rewritten(prepared, decision.updated_input)
        if isinstance(rewritten, Execution) or behaviour == "allow":
            return rewritten
        if self._ask is None:
            return denied(prepared.tool, decision.message or "it asks for permission, and there is nobody to ask.")
        tool = prepared.tool
        return PermissionRequest(tool.name, tool.server, copy.deepcopy(rewritten.params), decision.message)

    def _asked(self, request: PermissionRequest) -> Any:
        # A copy: what the host does to it for its own sake, such as to hide a secret on the screen, must not run.
        shown = replace(request, params=copy.deepcopy(request.params))
        return self._ask(shown) if self._ask is not None else False

    def _answered(self, prepared: _Prepared, request: PermissionRequest, said: Any) -> Execution | _Prepared:
        answer: PermissionAnswer = read_answer(said)
        if not answer.allowed:
            return denied(prepared.tool, answer.message or "the user said no.")
        # What was asked about runs, unless the answer says otherwise.
        return self._rewritten(prepared, answer.updated_input if answer.updated_input is not None else request.params)

    @staticmethod
    def _rewritten(prepared: _Prepared, updated: Mapping[str, Any] | None) -> Execution | _Prepared:
        if updated is None or updated == prepared.params:
            return prepared
        arguments = plain_arguments(updated)
        validation = validate_params(prepared.tool.input_schema, arguments)
        if not validation.valid:
            faults = "; ".join(map(str, validation.faults))
            message = f"the permission check rewrote the arguments, and they don't fit any more: {faults}."
            return failed(prepared.tool.name, "invalid_params", message)
        note = "the permission check rewrote the arguments."
        return _Prepared(prepared.tool, copy.deepcopy(arguments), (*prepared.warnings, note))

    def _targets_of(self, snapshot: Snapshot) -> Targets:
        if self._targets is None or self._targets.snapshot is not snapshot:
            self._targets = Targets(snapshot)
        return self._targets

    def _limit(self, timeout: float | None) -> float | None:
        return self._timeout if timeout is None else timeout

    def _shown(self, execution: Execution) -> Execution:
        if execution.discovered:
            self._mark_discovered(execution.tool_name)
        return execution


def _schema_of(tool: Tool) -> dict[str, Any]:
    return {"schema": tool.input_schema, "show_schema": True}


def _fits(tools: tuple[Tool, ...], params: Mapping[str, Any]) -> bool:
    return len(tools) != 1 or validate_params(tools[0].input_schema, params).valid


def _declares(tools: tuple[Tool, ...], parameter: str) -> bool:
    properties = (tools[0].input_schema or {}).get("properties") if len(tools) == 1 else None
    return isinstance(properties, Mapping) and parameter in properties


def _callable(tool: Tool) -> Callable[..., Any]:
    if tool.call is None:  # looked at before; here for the types
        raise RuntimeError(f"{tool.name} can't be called")
    return tool.call


async def _awaited(value: Any) -> Any:
    return await value if inspect.isawaitable(value) else value


def _is_cancelled() -> bool:
    """Whether someone cancelled the caller's own task; else a CancelledError comes from the function that was run."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
