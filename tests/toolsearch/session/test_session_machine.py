"""Whatever happens in a conversation, in whatever order: what must hold, holds after every step."""

import json
import random
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from toolsearch.catalog.registry import ToolRegistry
from toolsearch.catalog.tool import Tool
from toolsearch.session.announcements import rebuild
from toolsearch.session.prefetch import recommended_in
from toolsearch.session.providers import PROVIDERS, ToolCall
from toolsearch.session.session import Session
from toolsearch.session.settings import SessionSettings
from toolsearch.tokens import ESTIMATE

SERVERS = ("kit", "depot")
LEAVES = ("send_message", "create timer", "list,files", "发送", "delete")
OWNERS = (None, *SERVERS)
STATES = ("connected", "pending", "failed", "disconnected", "disabled")
RAN: list[tuple[str | None, str]] = []
"""Owner and leaf name of each tool that ran."""

TEXTS = ("create a timer for me", "send a message to the channel", "hi", "list files, then delete one")


def _tool(leaf: str, server: str | None, description: str) -> Tool:
    name = f"mcp__{server}__{leaf}" if server else leaf
    schema = {"type": "object", "properties": {"at": {"type": "string"}}}

    def call(params: Any, *_: Any) -> str:
        RAN.append((server, leaf))
        return "ran"

    return Tool(name=name, server=server, description=f"{leaf} {description}", input_schema=schema, call=call)


class Conversation(RuleBasedStateMachine):
    """A host that does anything."""

    @initialize(
        provider=st.sampled_from(PROVIDERS),
        announcements=st.sampled_from(["header", "delta"]),
        budget=st.sampled_from([10, 40, 4_000]),
        held=st.lists(st.tuples(st.sampled_from(LEAVES), st.sampled_from(OWNERS)), unique=True, max_size=8),
        pins=st.lists(st.sampled_from(LEAVES), max_size=2),
    )
    def begin(self, provider: str, announcements: Any, budget: int, held: Any, pins: list[str]) -> None:
        """A catalog, some of it pinned, and a first request."""
        core = [Tool(name="Read", description="Read a file"), Tool(name="Bash", description="Run a command")]
        self.registry = ToolRegistry([*core, *(_tool(leaf, server, "") for leaf, server in held)], pins=pins)
        self.options: dict[str, Any] = {
            "provider": provider,
            "settings": SessionSettings(announcements=announcements, announcement_tokens=budget),
            "counter": ESTIMATE,
            "clock": lambda: 0.0,
        }
        self.session = Session(self.registry, **self.options)
        self.history: list[Any] = [self.session.user("hello")]
        self.array = json.dumps(self.session.tools_array())
        self.discovered: set[str] = set()

    @rule(server=st.sampled_from(SERVERS), state=st.sampled_from(STATES))
    def server(self, server: str, state: Any) -> None:
        """A server connects, fails, goes or comes."""
        self.session.set_server(server, state)

    @rule(leaf=st.sampled_from(LEAVES), server=st.sampled_from(OWNERS), text=st.sampled_from(["", "now", "once more"]))
    def add(self, leaf: str, server: str | None, text: str) -> None:
        """A tool appears, or has another description."""
        tool = _tool(leaf, server, text)
        held = any(each.server == server and each.leaf == leaf for each in self.registry.snapshot().tools)
        (self.registry.replace if held else self.registry.add)(tool)

    @rule(leaf=st.sampled_from(LEAVES), server=st.sampled_from(OWNERS))
    def remove(self, leaf: str, server: str | None) -> None:
        """A tool goes, if it is there."""
        for tool in self.registry.snapshot().tools:
            if tool.leaf == leaf and tool.server == server:
                self.registry.remove(tool.name)

    @rule(leaf=st.sampled_from(LEAVES), new=st.sampled_from(LEAVES), server=st.sampled_from(OWNERS))
    def rename(self, leaf: str, new: str, server: str | None) -> None:
        """A tool is there under another name from now on, if it is there and the name is free."""
        held = {each.leaf: each for each in self.registry.snapshot().tools if each.server == server}
        if leaf in held and new not in held:
            self.registry.remove(held[leaf].name)
            self.registry.add(_tool(new, server, "renamed"))

    @rule(order=st.randoms(use_true_random=False))
    def reorder(self, order: random.Random) -> None:
        """The same tools come in another order."""
        tools = list(self.registry.snapshot().tools)
        for tool in tools:
            self.registry.remove(tool.name)
        order.shuffle(tools)
        self.registry.add(tools)

    @rule(server=st.sampled_from(SERVERS))
    def empty(self, server: str) -> None:
        """All tools of a server go, as when its process has ended."""
        self.registry.replace([], server=server)

    @rule(query=st.sampled_from([*LEAVES, "select:send_message,delete", "list:kit", "+timer", "discover:files", ""]))
    def search(self, query: str) -> None:
        """The model searches."""
        outcome = self.session.handle(ToolCall("1", "SearchExtraTools", {"query": query}))
        assert outcome.text

    @rule(leaf=st.sampled_from(LEAVES), server=st.sampled_from(OWNERS), direct=st.booleans())
    def execute(self, leaf: str, server: str | None, direct: bool) -> None:
        """The model runs a tool; if it answers, it was there, and it was this one."""
        name = _tool(leaf, server, "").name
        there = self.registry.snapshot().get(name)
        RAN.clear()
        call = ToolCall("2", name, {"at": "8"})
        if not direct:
            call = ToolCall("2", "ExecuteExtraTool", {"tool_name": name, "params": {"at": "8"}})
        outcome = self.session.handle(call)
        assert outcome.text
        assert len(RAN) == (0 if outcome.is_error else 1)
        if there is not None and RAN and (server is not None or there.server is None):
            assert RAN[0] == (there.server, there.leaf)

    @rule(text=st.sampled_from(TEXTS))
    def user(self, text: str) -> None:
        """The user says something."""
        self.history.append(self.session.user(text))

    @rule()
    def request(self) -> None:
        """The next request is built: what it announces can be selected, and nothing that may come back is called gone."""
        before = rebuild(self.history).owners
        pending = {name for name, status in self.session.servers.items() if status.state == "pending"}
        request = self.session.request(self.history, model="m", wait=True)
        again = self.session.request(self.history, model="m", wait=True)
        assert request.payload == again.payload
        self.history = request.history
        delta = self.options["settings"].announcements == "delta"
        assert bool(request.header) <= (not delta)
        named = set(self.session.announced) if not delta else set()
        recommended: list[str] = []
        for entry in request.attachments:
            attachment = entry["attachment"]
            if attachment["type"] == "deferred_tools_delta":
                assert delta
                named |= set(attachment["added"])
                assert not set(attachment["added"]) & set(before)
                assert not [name for name in attachment["removed"] if before[name] in pending]
            else:
                recommended += recommended_in(attachment)
        assert len(recommended) <= 3
        assert set(recommended) <= set(self.session.selectable)
        probe = self.session.fork()
        for name in named:
            probe.handle(ToolCall("3", "SearchExtraTools", {"query": "select:" + json.dumps(name)}))
        assert named <= set(probe.discovered)
        if delta:
            assert set(self.session.announced) == set(rebuild(self.history).owners)
            assert not self.session.request(self.history, model="m", wait=True).attachments

    @rule(keep=st.integers(0, 4))
    def compact(self, keep: int) -> None:
        """The conversation is compacted, in part or in full."""
        self.history = self.session.compact(self.history, keep)

    @rule(told=st.dictionaries(st.sampled_from(SERVERS), st.sampled_from(STATES)))
    def resume(self, told: dict[str, Any]) -> None:
        """The process ends, and the conversation goes on in another one that knows little of the servers yet."""
        saved = json.loads(json.dumps(self.session.save().to_json()))
        self.session = Session.restore(self.registry, saved, **self.options)
        for server, state in told.items():
            self.session.set_server(server, state)

    @rule()
    def fork(self) -> None:
        """The conversation goes on in a fork."""
        self.session = self.session.fork()

    @rule(scope=st.sampled_from(["inherit", ["mcp__kit__*", "SearchExtraTools", "ExecuteExtraTool"], ["Read"]]))
    def subagent(self, scope: Any) -> None:
        """A sub-agent works for a turn; the conversation itself does not notice."""
        agent = self.session.subagent(scope)
        assert agent.discovered == ()
        agent.request([agent.user("create a timer")], model="m", wait=True)
        agent.handle(ToolCall("4", "SearchExtraTools", {"query": "message"}))

    @precondition(lambda self: hasattr(self, "session"))
    @invariant()
    def holds(self) -> None:
        """The array is the same bytes, state survives being saved, and nothing that was discovered is forgotten."""
        assert json.dumps(self.session.tools_array()) == self.array
        saved = self.session.save()
        assert Session.restore(self.registry, saved.to_json(), **self.options).save() == saved
        assert self.discovered <= set(self.session.discovered)
        self.discovered = set(self.session.discovered)


TestConversation = Conversation.TestCase
TestConversation.settings = settings(
    max_examples=30, stateful_step_count=25, derandomize=True, deadline=None, phases=[Phase.explicit, Phase.generate]
)
