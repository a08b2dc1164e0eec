"""Which tools are always loaded, and which ones are deferred until the model asks for them.

The design guide says that the core set has 29 tools; its table names 28, with `Bash` and `Shell` as two. The
table is what counts here, and every number is derived from it.
"""

from __future__ import annotations

from collections.abc import Container

from toolsearch.catalog.tool import Tool

SYNTHETIC_TOOLS: tuple[str, ...] = ("SearchExtraTools", "ExecuteExtraTool", "SyntheticOutput")
"""The tools by which the model reaches the deferred ones, and the one that carries a structured answer."""

CORE_GROUPS: dict[str, tuple[str, ...]] = {
    "files": ("Bash", "Shell", "Read", "Edit", "Write", "Glob", "Grep", "NotebookEdit"),
    "agents": ("Agent", "AskUserQuestion"),
    "tasks": ("TaskOutput", "TaskStop", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoWrite"),
    "planning": ("EnterPlanMode", "ExitPlanMode", "VerifyPlanExecution"),
    "web": ("WebFetch", "WebSearch"),
    "code": ("LSP",),
    "skills": ("Skill",),
    "waiting": ("Sleep",),
    "discovery": SYNTHETIC_TOOLS,
}
"""The core set by purpose, in the order of the guide's table."""

CORE_TOOLS: frozenset[str] = frozenset(name for group in CORE_GROUPS.values() for name in group)
"""The names that are always loaded; reserved by exact spelling, also while such a tool is hidden."""

TEAM_TOOLS: frozenset[str] = frozenset({"SendMessage", "TeamCreate", "TeamDelete"})
"""The tools of agent teams; off by default."""

_ALWAYS_LOADED_WITH_TEAMS = "SendMessage"


def is_core(tool: Tool) -> bool:
    """Whether a tool is one of the core set; a server's tool never is, whatever its name."""
    return tool.server is None and tool.name in CORE_TOOLS


def is_deferred(tool: Tool, *, teams: bool = False, pins: Container[str] = frozenset()) -> bool:
    """Whether a tool stays out of the request until the model has found it.

    Args:
        tool: The tool under its final name.
        teams: Agent teams are on, so `SendMessage` is always loaded.
        pins: Names that the operator wants always loaded.

    >>> is_deferred(Tool(name="Read")), is_deferred(Tool(name="CronCreate"))
    (False, True)
    """
    if tool.always_load or is_core(tool) or tool.name in pins:
        return False
    return not (teams and tool.server is None and tool.name == _ALWAYS_LOADED_WITH_TEAMS)


def teams_notice(name: str) -> str:
    """What a team tool answers while teams are off: that they are, and how to turn them on."""
    return (
        f"{name} did nothing: agent teams are off in this session. To turn them on, the operator starts the "
        "session with teams=True (in Python: ToolRegistry(tools, teams=True)). Until then, use Agent instead."
    )
