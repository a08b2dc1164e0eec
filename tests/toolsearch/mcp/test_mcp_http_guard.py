"""Who may ask the gateway over HTTP, and the token that lets them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from toolsearch.errors import UsageError
from toolsearch.mcp.http_guard import NO_NAME, NO_PAGES, NO_TOKEN, Guard, Refusal, guard_of, host_name
from toolsearch.mcp.http_token import Token, token_of_file, token_of_variable

SECRET = "a-token-of-some-length"
OWN = guard_of("127.0.0.1", "127.0.0.1")
PROXIED = guard_of("192.0.2.7", "192.0.2.7", names=["Tools.Example.org"])
EVERYWHERE = guard_of("0.0.0.0", "0.0.0.0", names=["tools.example.org"])
GUARDED = guard_of("127.0.0.1", "127.0.0.1", token=Token.of(SECRET))


def _headers(*pairs: tuple[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("ascii"), value.encode("latin-1")) for name, value in pairs]


@pytest.mark.parametrize(
    ("guard", "host", "refused"),
    [
        (OWN, "127.0.0.1:8765", None),
        (OWN, "localhost:9", None),
        (OWN, "LOCALHOST.:8765", None),
        (OWN, "[::1]:8765", None),
        (OWN, "localhost", None),
        (OWN, "pages.example:8765", NO_NAME),
        (OWN, "localhost.pages.example:8765", NO_NAME),
        (OWN, "127.0.0.1.pages.example", NO_NAME),
        (OWN, "pages.example@127.0.0.1:8765", NO_NAME),
        (OWN, "127.0.0.1:8765, pages.example", NO_NAME),
        (OWN, "192.0.2.7:8765", NO_NAME),
        (OWN, "0.0.0.0:8765", NO_NAME),
        (OWN, "", NO_NAME),
        (OWN, "127.0.0.1:port", NO_NAME),
        (PROXIED, "192.0.2.7:8765", None),
        (PROXIED, "tools.example.org", None),
        (PROXIED, "tools.example.org:443", None),
        (PROXIED, "localhost:8765", NO_NAME),
        (EVERYWHERE, "192.0.2.9:8765", None),
        (EVERYWHERE, "[2001:db8::1]:8765", None),
        (EVERYWHERE, "localhost:8765", None),
        (EVERYWHERE, "tools.example.org", None),
        (EVERYWHERE, "pages.example", NO_NAME),
    ],
)
def test_the_host_header_must_name_this_server(guard: Guard, host: str, refused: Refusal | None) -> None:
    """Own names and addresses pass with any port; a name that somebody else has pointed here does not."""
    assert guard.refusal(_headers(("host", host))) == refused


@pytest.mark.parametrize(
    ("guard", "host", "origin", "refused"),
    [
        (OWN, "127.0.0.1:8765", "http://127.0.0.1:8765", None),
        (OWN, "127.0.0.1:8765", "http://127.0.0.1:3000", NO_PAGES),
        (OWN, "127.0.0.1:8765", "http://localhost:8765", NO_PAGES),
        (OWN, "127.0.0.1:8765", "http://pages.example", NO_PAGES),
        (OWN, "127.0.0.1:8765", "http://127.0.0.1:8765.pages.example", NO_PAGES),
        (OWN, "127.0.0.1:8765", "http://127.0.0.1:8765/", NO_PAGES),
        (OWN, "127.0.0.1:8765", "null", NO_PAGES),
        (OWN, "127.0.0.1:8765", "", NO_PAGES),
        (OWN, "127.0.0.1:8765", "file://127.0.0.1:8765", NO_PAGES),
        (PROXIED, "tools.example.org", "https://tools.example.org", None),
        (PROXIED, "tools.example.org:443", "https://tools.example.org", None),
        (PROXIED, "tools.example.org", "http://tools.example.org", None),
        (PROXIED, "tools.example.org", "https://other.example.org", NO_PAGES),
    ],
)
def test_pages_of_another_origin_are_refused(guard: Guard, host: str, origin: str, refused: Refusal | None) -> None:
    """An origin passes only if it is the very host and port that was asked."""
    assert guard.refusal(_headers(("host", host), ("origin", origin))) == refused


@pytest.mark.parametrize(
    ("sent", "refused"),
    [
        ([f"Bearer {SECRET}"], None),
        ([f"bearer  {SECRET} "], None),
        ([], NO_TOKEN),
        ([""], NO_TOKEN),
        (["Bearer"], NO_TOKEN),
        (["Bearer "], NO_TOKEN),
        ([SECRET], NO_TOKEN),
        ([f"Basic {SECRET}"], NO_TOKEN),
        ([f"Bearer {SECRET}x"], NO_TOKEN),
        ([f"Bearer {SECRET[:-1]}"], NO_TOKEN),
        (["Bearer \xfc"], NO_TOKEN),
        ([f"Bearer {SECRET}", f"Bearer {SECRET}"], NO_TOKEN),
    ],
)
def test_the_token_must_be_sent_as_it_is(sent: Sequence[str], refused: Refusal | None) -> None:
    """Only one header with the whole token passes."""
    pairs = [("authorization", value) for value in sent]
    assert GUARDED.refusal(_headers(("host", "localhost"), *pairs)) == refused


def test_a_header_that_comes_twice_or_not_at_all_is_refused() -> None:
    """Two hosts, no host or two origins are no request of an honest client."""
    host, origin = ("host", "localhost"), ("origin", "http://localhost")
    assert OWN.refusal(_headers(host, host)) == NO_NAME
    assert OWN.refusal([]) == NO_NAME
    assert OWN.refusal(_headers(host, origin)) is None
    assert OWN.refusal(_headers(host, origin, origin)) == NO_PAGES


def test_the_name_comes_before_the_token() -> None:
    """A page that has pointed its name here does not even learn that a token is asked for."""
    assert GUARDED.refusal(_headers(("host", "pages.example"))) == NO_NAME


@pytest.mark.parametrize(
    ("text", "name"), [("[::0001]", "::1"), ("LocalHost.", "localhost"), ("127.0.0.1", "127.0.0.1")]
)
def test_a_host_has_one_writing(text: str, name: str) -> None:
    """Case, brackets, a last dot and zeros of an address make no difference."""
    assert host_name(text) == name


def test_a_token_is_in_no_printed_form() -> None:
    """Neither the text nor the digest shows where the token or the guard is printed."""
    token = Token.of(SECRET)
    assert repr(token) == "Token()"
    assert SECRET not in repr(GUARDED)


@pytest.mark.parametrize(
    "text", ["short", "fifteen-letters", "has a space in the middle", "ümlaut-in-the-token", "a" * 20 + "\n"]
)
def test_a_bad_token_is_refused_and_not_repeated(text: str) -> None:
    """The message says what is accepted and how to make one, without the text that was given."""
    with pytest.raises(UsageError, match="token_urlsafe") as caught:
        Token.of(text)
    assert text not in str(caught.value)


def test_a_token_is_read_from_the_environment() -> None:
    """The named variable is taken; one that is not set or empty is an error with its name."""
    assert token_of_variable("GATE", {"GATE": f"{SECRET}\n"}).matches(SECRET.encode())
    for environ in ({}, {"GATE": "  "}):
        with pytest.raises(UsageError, match="variable GATE"):
            token_of_variable("GATE", environ)


def test_a_token_is_read_from_a_file_and_loose_rights_are_warned_of(tmp_path: Path) -> None:
    """White space around the token is taken off; a file that others may read is named with the remedy."""
    path = tmp_path / "token"
    path.write_text(f"{SECRET}\n", encoding="utf-8")
    path.chmod(0o600)
    token, warnings = token_of_file(path)
    assert token.matches(SECRET.encode())
    assert warnings == ()
    path.chmod(0o644)
    assert [str(path) in warning and "chmod 600" in warning for warning in token_of_file(path)[1]] == [True]


@pytest.mark.parametrize(
    ("content", "expected"), [(None, "No such file"), (b"", "is empty"), (b"\xff\xfe", "it is no text")]
)
def test_a_token_file_that_is_no_good_is_named(tmp_path: Path, content: bytes | None, expected: str) -> None:
    """A missing, empty or binary file is a mistake that names the file."""
    path = tmp_path / "token"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError, match=expected) as caught:
        token_of_file(path)
    assert str(path) in str(caught.value)
