"""The end of what a server says on its error stream: bounded, redacted, fit to be shown."""

from __future__ import annotations

from collections import deque

from toolsearch.mcp.redaction import Redactor


class StderrTail:
    r"""Holds the last lines of a server's error stream, and those of its output that are no messages.

    Args:
        redactor: Masks the server's secrets; applied to whole lines, before anything is handed out.
        lines: How many lines are kept.
        width: How many characters of a line are kept.

    >>> tail = StderrTail(lines=2)
    >>> tail.feed(b"one\ntwo\nthr")
    >>> tail.feed(b"ee")
    >>> tail.text()
    'two\nthree'
    """

    def __init__(self, redactor: Redactor | None = None, *, lines: int = 20, width: int = 400) -> None:
        """Start empty."""
        self.redactor = redactor or Redactor()
        self.noise = 0
        """How many lines of the output were no messages of the protocol."""
        self._width = width
        self._most = lines
        self._lines: deque[str] = deque(maxlen=lines)
        self._open = b""
        self._overlong = False

    def feed(self, data: bytes) -> None:
        """Take in bytes as they come; a line may come in pieces."""
        *whole, self._open = (self._open + data).split(b"\n")
        for line in whole:
            if not self._overlong:
                self._keep(line)
            self._overlong = False
        # The redactor must see whole lines; one without an end is cut here, far above the width that is shown, and
        # what comes until its end is let go: it may begin in the middle of a secret.
        if len(self._open) > 16 * self._width:
            if not self._overlong:
                self._keep(self._open)
            self._open, self._overlong = b"", True

    def stray(self, line: bytes) -> None:
        """Take in a line of the output that is no message."""
        self.noise += 1
        if line.strip():
            self._keep(b"(on its output) " + line[: 16 * self._width])

    def _keep(self, line: bytes) -> None:
        text = self._shown(line)
        if text:
            self._lines.append(text)

    def _shown(self, line: bytes) -> str:
        text = self.redactor.cut(line[: 16 * self._width].decode("utf-8", errors="replace").rstrip())
        return text if len(text) <= self._width else text[: self._width] + " …"

    def text(self) -> str:
        """The lines that are held, oldest first, the one that has no end yet too; empty when there are none."""
        last = "" if self._overlong else self._shown(self._open)
        return "\n".join([*self._lines, last][-self._most :] if last else self._lines)
