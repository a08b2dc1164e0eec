"""One server behind the gateway: kept connected, its tools kept up to date, its failures survived.

What can happen to it, and what is done: it starts slowly (its state says so meanwhile), it can't be started, dies or
closes its output (tried again, each time later), it hangs (asked for a sign of life when a call was given up; without
one it is started anew), it changes or renames its tools (the list is read again), it answers nonsense (that call
fails).
"""

from __future__ import annotations

import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
from mcp import MCPError
from mcp_types import INVALID_PARAMS, METHOD_NOT_FOUND, ToolListChangedNotification
from pydantic import ValidationError

from toolsearch.errors import ServerError, ToolSearchError
from toolsearch.mcp.backoff import Backoff
from toolsearch.mcp.failures import in_words, leaves
from toolsearch.mcp.link import Connect, Link
from toolsearch.mcp.redaction import Redactor
from toolsearch.mcp.relay import Relay
from toolsearch.mcp.server_tools import Listed, as_tools, masked_row, read_list
from toolsearch.mcp.upstream_call import Lost, call_tool
from toolsearch.tools.running import TimedOut
from toolsearch.tools.servers import ServerState

_LAST_WORDS = 1.0


class Observer(Protocol):
    """Who is told about a server."""

    def stands(self, server: str, state: ServerState, reason: str) -> None:
        """The server's state is now this one."""
        ...

    def has(self, server: str, listed: Listed) -> None:
        """These are now the server's tools, all of them."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long things may take with a server, in seconds, each above 0.

    Attributes:
        listing: Its whole list of tools.
        ping: A sign of life, after a call was given up.
        call: The answer of a call, where the server's entry sets no limit; progress that the client asked for begins it
            anew.
        quiet: The least time between two readings of the list, however often it says that it has changed.
        backoff: Before it is tried again.
    """

    listing: float = 60.0
    ping: float = 20.0
    call: float = 600.0
    quiet: float = 0.2
    backoff: Backoff = field(default_factory=Backoff)


class Upstream:
    """One server. `run` keeps it connected until it is cancelled; calls may come from any task meanwhile."""

    def __init__(
        self,
        name: str,
        connect: Connect,
        observer: Observer,
        *,
        patience: Patience | None = None,
        clock: Callable[[], float] = time.monotonic,
        chance: Callable[[], float] | None = None,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """Take what there is to know.

        Args:
            name: In the configuration.
            connect: Opens a connection.
            observer: Told of states and tools.
            patience: How long things may take.
            clock: Gives seconds.
            chance: Gives numbers from 0 up to 1, for the spread of waiting times.
            sleep: Waits.
        """
        self.name = name
        self._connect = connect
        self._observer = observer
        self._patience = patience or Patience()
        self._clock = clock
        self._chance = chance or random.Random(name).random
        self._sleep = sleep
        self._link: Link | None = None
        self._mask = Redactor()
        self._bell = anyio.Event()
        self._stale = False
        self._suspect = False
        self._told: tuple[ServerState, str] | None = None
        self.settled = anyio.Event()
        """Set once the first attempt to connect has ended, well or not."""

    async def run(self) -> None:
        """Connect, serve, and connect again, for ever; what goes wrong is a state, never an exception."""
        failures = 0
        self._say("pending", "")
        while True:
            began: float | None = None
            try:
                async with self._connect(self._heard) as link:
                    self._mask = link.redactor
                    await self._read_tools(link)
                    began = self._clock()
                    self._link = link
                    self._say("connected", "")
                    self.settled.set()
                    await self._watch(link)
            except (Exception, BaseExceptionGroup) as error:
                reason = self._reason(error)
            else:  # the watch ends by an error alone; a connection that swallowed it has ended as well
                reason = "closed the connection"
            finally:
                self._link = None
            if began is not None and self._clock() - began >= self._patience.backoff.steady:
                failures = 0
            failures += 1
            self._say("disconnected" if began is not None else "failed", reason)
            self.settled.set()
            await self._sleep(self._patience.backoff.delay(failures, self._chance()))

    async def call(self, leaf: str, params: dict[str, Any], relay: Relay | None) -> dict[str, Any]:
        """Call one of its tools.

        Args:
            leaf: The tool's own name.
            params: Its arguments.
            relay: Takes progress and the answer; None where nobody wants them.

        Returns:
            The result as the server sent it.

        Raises:
            Lost: There is no connection, or it ended before the answer; whether the tool has run is not known then.
            TimedOut: There was no answer within the limit of a call.
            mcp.MCPError: The server answered with an error.
            ServerError: What it answered is no result.
        """
        link = self._link
        if link is None or link.closed.is_set():
            raise Lost("its server is not connected now; it is being reconnected, so try again in a moment.")
        limit = self._patience.call if link.limit is None else link.limit
        try:
            return await call_tool(link, self.name, leaf, params, relay, limit=limit)
        except (anyio.get_cancelled_exc_class(), TimedOut, Lost):
            # Given up by the client or by a limit: a server that hangs shows itself now.
            self._suspect = True
            raise
        except MCPError as error:
            # Such an error often means that the tools have changed and nobody said so; asking again costs little.
            renamed = error.code in (INVALID_PARAMS, METHOD_NOT_FOUND)
            self._stale, self._suspect = self._stale or renamed, self._suspect or not renamed
            if relay is not None:
                relay.error = error
            raise
        finally:
            if self._suspect or self._stale:
                self._ring()

    async def _watch(self, link: Link) -> None:
        """Do what calls and notifications ask for until the connection ends.

        Raises:
            Lost: It has ended, or the server hangs.
        """
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._ring_when, link.closed)
            while True:
                await self._bell.wait()
                self._bell = anyio.Event()
                if link.closed.is_set():
                    raise Lost(link.reason or "closed the connection")
                if self._suspect:
                    self._suspect = False
                    await self._ping(link)
                if self._stale:
                    await self._read_again(link)

    async def _ring_when(self, event: anyio.Event) -> None:
        await event.wait()
        self._ring()

    async def _ping(self, link: Link) -> None:
        try:
            with anyio.fail_after(self._patience.ping):
                await link.session.send_ping()
        except TimeoutError:
            raise Lost(f"hangs: no sign of life within {self._patience.ping:g} seconds") from None
        except MCPError as error:
            if error.code != METHOD_NOT_FOUND:  # that is a sign of life too
                # Requests fail a moment before it is known how the process ended, which says more.
                with anyio.move_on_after(_LAST_WORDS):
                    await link.closed.wait()
                raise Lost(link.reason or in_words(error, mask=link.redactor)) from None

    async def _read_tools(self, link: Link) -> None:
        self._stale = False
        with anyio.fail_after(self._patience.listing):
            rows = await read_list(link.session)
        masked = [masked_row(row, link.redactor) for row in rows]
        self._observer.has(self.name, as_tools(self.name, masked, self.call))

    async def _read_again(self, link: Link) -> None:
        """Read the list anew; one that can't be read leaves the old one in place, and a server that hangs is found."""
        try:
            await self._read_tools(link)
        except (TimeoutError, MCPError):
            self._suspect = True
            self._ring()
        except (ValidationError, ToolSearchError) as error:
            self._say("connected", f"its new list of tools can't be read: {self._reason(error)}")
        await self._sleep(self._patience.quiet)

    async def _heard(self, message: Any) -> None:
        if isinstance(message, ToolListChangedNotification):
            self._stale = True
            self._ring()

    def _ring(self) -> None:
        self._bell.set()

    def _say(self, state: ServerState, reason: str) -> None:
        if (state, reason) != self._told:
            self._told = (state, reason)
            self._observer.stands(self.name, state, reason)

    def _reason(self, error: BaseException) -> str:
        """What happened, for the model and the operator: no traceback, no secret, nothing of the error stream."""
        found = leaves(error)[0]
        if isinstance(found, ServerError):
            return found.reason
        if isinstance(found, TimeoutError):
            return f"gave no list of tools within {self._patience.listing:g} seconds"
        if isinstance(found, ToolSearchError):
            return self._mask(str(found))
        return in_words(found, mask=self._mask)
