from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from toolsearch.errors import DataError
from toolsearch.mcp.commented_json import without_comments
from toolsearch.mcp.configuration import load_configuration, parse_configuration
from toolsearch.mcp.redaction import Redactor
from toolsearch.mcp.server_entry import ServerEntry

ENVIRON = {"HOME": "/home/me", "PATH": "/bin", "TOKEN": "tok-9f8e7d", "EMPTY": "", "OTHER_KEY": "of another program"}


def one(row: object, **environ: str) -> ServerEntry:
    """The single entry of a file with one row."""
    return parse_configuration(json.dumps({"mcpServers": {"it": row}}), environ={**ENVIRON, **environ}).servers[0]


@pytest.mark.parametrize(
    "form", ['{"mcpServers": %s}', '{"servers": %s, "inputs": []}', '{"mcp": {"servers": %s}}', "%s", "\ufeff%s\r\n"]
)
def test_the_forms_that_people_have_say_the_same(form: str) -> None:
    """The table of servers is found under each of its names, or bare."""
    found = parse_configuration(form % '{"a": {"command": "run", "args": ["x"]}}', environ={})
    assert [(entry.name, entry.transport, entry.command, entry.args) for entry in found.servers] == [
        ("a", "stdio", "run", ("x",))
    ]


@pytest.mark.parametrize(
    ("row", "transport", "place"),
    [
        ({"url": "https://a.org/mcp"}, "http", "https://a.org/mcp"),
        ({"type": "streamable-http", "url": "http://127.0.0.1:8/mcp"}, "http", "http://127.0.0.1:8/mcp"),
        ({"serverUrl": "https://a.org"}, "http", "https://a.org"),
        ({"httpUrl": "https://a.org"}, "http", "https://a.org"),
        ({"transport": "http", "url": "https://${HOST:-b.org}/x"}, "http", "https://b.org/x"),
        ({"type": "stdio", "command": "run"}, "stdio", ""),
    ],
)
def test_transports_are_told_apart(row: dict[str, str], transport: str, place: str) -> None:
    """A command is a process and an address is streamable HTTP, whatever name the client has for them."""
    entry = one(row)
    assert (entry.transport, entry.url) == (transport, place)


def test_variables_are_replaced_in_every_field() -> None:
    """Command, arguments, folder, variables, address and headers take `${VAR}`, a default and `${env:VAR}`."""
    entry = one(
        {
            "command": "${HOME}/run",
            "args": ["${env:TOKEN}", "${EMPTY:-filled}", "${EMPTY}", 80],
            "env": {"A": "x${TOKEN}", "B": True, "C": 3},
            "cwd": "${HOME}",
        }
    )
    assert entry.command == "/home/me/run"
    assert entry.args == ("tok-9f8e7d", "filled", "", "80")
    assert entry.env == {"A": "xtok-9f8e7d", "B": "true", "C": "3"}
    assert entry.cwd == "/home/me"
    assert one({"url": "https://a.org", "headers": {"X": "${TOKEN}"}}).headers == {"X": "tok-9f8e7d"}


def test_a_server_gets_no_keys_of_other_programs() -> None:
    """Of the caller's environment a server gets what every program needs, and what its entry sets."""
    assert one({"command": "run"}).surroundings == {"HOME": "/home/me", "PATH": "/bin"}


def test_all_faults_are_told_at_once_with_their_places() -> None:
    """Every fault of every server comes in one error, with line and field, and none repeats a value."""
    text = """{"mcpServers": {
      "both": {"command": "x", "url": "https://a.org"},
      "none": {"args": []},
      "kinds": {"command": 5, "args": "x", "env": {"A": null}, "timeout": -1, "cwd": 3},
      "unset": {"command": "x", "args": ["${GONE}", "${input:key}", "${open"]},
      "old": {"type": "sse", "url": "https://a.org"},
      "far": {"url": "ftp://user:geheim@a.org", "headers": {"A B": "x", "C": "a\\nb"}},
      "odd": 7
    }}"""
    with pytest.raises(DataError) as caught:
        parse_configuration(text, path="f.json", environ={})
    told = [(problem.line, problem.field.removeprefix("mcpServers.")) for problem in caught.value.problems]
    assert told == [
        (2, "both"),
        (3, "none"),
        (4, "kinds.timeout"),
        (4, "kinds.command"),
        (4, "kinds.args"),
        (4, "kinds.cwd"),
        (4, "kinds.env.A"),
        (5, "unset.args[0]"),
        (5, "unset.args[1]"),
        (5, "unset.args[2]"),
        (6, "old.type"),
        (7, "far.url"),
        (7, "far.headers"),
        (7, "far.headers.C"),
        (8, "odd"),
    ]
    assert str(caught.value).startswith("f.json:2: ")
    assert "geheim" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", '"x"', "{}", '{"mcpServers": []}', '{"mcpServers": {}}', "{,}", '{"a": 1}'])
def test_what_is_no_configuration_is_said_to_be_none(text: str) -> None:
    """A file without servers is an error with a line, never an empty answer."""
    with pytest.raises(DataError, match=r"^<configuration>:1: "):
        parse_configuration(text, environ={})


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """A missing file and one in another encoding are errors that name the file."""
    with pytest.raises(DataError, match=r"gone\.json:0: the file can't be read"):
        load_configuration(tmp_path / "gone.json", environ={})
    (tmp_path / "old.json").write_bytes(b'{\n"\xff": 1}')
    with pytest.raises(DataError, match=r"old\.json:2: not UTF-8"):
        load_configuration(tmp_path / "old.json", environ={})


def test_switched_off_and_unknown_fields_are_told() -> None:
    """A server that is off is named and not looked at; a field that is not known is noted with the near one."""
    text = '{"mcpServers": {"off": {"disabled": true, "args": ["${GONE}"]}, "on": {"command": "x", "arg": []}}}'
    found = parse_configuration(text, environ={})
    assert found.disabled == ("off",)
    assert [entry.name for entry in found.servers] == ["on"]
    assert found.notes == (
        "<configuration>:1: mcpServers.on.arg: is not known and not taken notice of; did you mean args?",
    )


@pytest.mark.parametrize(("written", "seconds"), [(5, 5.0), (999, 999.0), (1000, 1.0), (60000, 60.0), (0.5, 0.5)])
def test_timeouts_in_both_units_are_understood(written: float, seconds: float) -> None:
    """From 1000 on a timeout is in milliseconds, below in seconds."""
    assert one({"command": "x", "timeout": written}).timeout == seconds


def test_no_secret_is_shown() -> None:
    """Neither the representation nor the command line nor the address shows a secret of any field."""
    process = one(
        {
            "command": "run",
            "args": [
                "--api-key",
                "abcd1234",
                "--password=pw-5678",
                "TOKEN=tt-9999",
                "${TOKEN}",
                "sk-1234567890abcdefgh",
            ],
            "env": {"SOME_SECRET": "zzzz-1", "DB": "postgres://me:dbpass1@host/x"},
        }
    )
    remote = one(
        {
            "url": "https://me:pw1234@a.org/s/a1b2c3d4e5f6a7b8c9/mcp?key=kkkk1&v=2",
            "headers": {"Authorization": "Bearer hhhh1"},
        }
    )
    shown = repr(process) + process.shown() + repr(remote) + remote.shown()
    secrets = [
        *("abcd1234", "pw-5678", "tt-9999", "tok-9f8e7d", "sk-1234567890abcdefgh", "zzzz-1", "dbpass1"),
        *("pw1234", "a1b2c3d4e5f6a7b8c9", "kkkk1", "hhhh1"),
    ]
    assert [secret for secret in secrets if secret in shown] == []
    masks = [process.redactor()(f"<{secret}>") for secret in secrets[:7]]
    masks += [remote.redactor()(f"<{secret}>") for secret in secrets[7:]]
    assert masks == ["<[redacted]>"] * len(secrets)


def test_plain_settings_are_not_taken_for_secrets() -> None:
    """Words such as production or a path stay in descriptions, or the catalog would lose its meaning."""
    entry = one({"command": "run", "args": ["${HOME}/docs"], "env": {"NODE_ENV": "production", "LEVEL": "info"}})
    assert entry.secrets() == ()


@settings(max_examples=60)
@given(secret=st.text(min_size=4, max_size=30), before=st.text(max_size=10), after=st.text(max_size=10))
def test_a_secret_never_survives_in_any_form(secret: str, before: str, after: str) -> None:
    """Masked texts hold the secret neither as it is nor as JSON writes it."""
    assume(len(secret.strip()) >= 4 and secret.strip() not in "[redacted]")
    masked = Redactor([secret])(before + secret + after)
    assert secret.strip() not in masked.replace("[redacted]", "\0")
    assert secret.strip() not in json.loads(Redactor([secret])(json.dumps(secret))).replace("[redacted]", "\0")


@settings(max_examples=60)
@given(
    st.recursive(
        st.none() | st.integers() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
def test_plain_json_is_not_changed_by_the_reader_of_comments(value: object) -> None:
    """JSON without comments comes out as it went in, whatever its texts hold."""
    text = json.dumps(value, ensure_ascii=False)
    assert without_comments(text) == text


def test_comments_and_trailing_commas_are_read() -> None:
    """What editors write into such files is accepted, and lines stay where they are."""
    text = '{ // one\n "mcpServers": { /* two\n */ "a": {"command": "x", "args": ["//", ],}, },\n}'
    entry = parse_configuration(text, environ={}).servers[0]
    assert entry.args == ("//",)
    assert entry.origin == "<configuration>:3"
