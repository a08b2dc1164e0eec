from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolsearch_eval.cli.figures_entry import main
from toolsearch_eval.figures.examples import agrees, examples, fences, refreshed, run_example

README = """# Title

```json file=data/tools.jsonl
{"name": "send_message", "description": "Send a message."}
```

```console
$ toolsearch search nothing --catalog data/tools.jsonl
something else
$ toolsearch catalog check data/tools.jsonl
$ make demo
```

<!-- figures:demo -->
```console
$ toolsearch no such thing
```
<!-- /figures -->

```python
print("one")
print("two")
```

```text
…
three
```
"""


@pytest.mark.parametrize(
    ("printed", "shown", "expected"),
    [
        ("name   p50 ms\n----   ------\na 0.5   0.25\n", "name p50 ms\n- -\na 0.5 12.75\n", False),
        ("name   p50 ms\n------ ------\na 0.5   0.25\n", "name p50 ms\n---- ---\na 0.5 12.75\n", True),
        ("name   p50 ms\na 0.5   0.25\n", "name p50 ms\na 0.6 0.25\n", False),
        ("name   p50 ms\na 0.5   0.25\n\nb 0.25\n", "name p50 ms\na 0.5 0.25\n\nb 0.5\n", False),
        ("one\ntwo\nthree\n", "…\nthree\n", True),
        ("one\ntwo\nthree\n", "one\n…\n", True),
        ("one\n", "…\ntwo\nthree\n", False),
        ("one\ntwo\n", "two\none\n", False),
        ("4 tools\n", "5 tools\n", False),
        ("one\ntwo\n", "one\n", False),
    ],
)
def test_outputs_are_compared_by_the_stated_rule(printed: str, shown: str, expected: bool) -> None:
    """Times and the width of columns are free; every other number, words, order and number of lines are not."""
    assert agrees(printed, shown) is expected


def test_examples_are_found_with_what_is_shown_under_them() -> None:
    """Commands and scripts stand in their order; blocks of figures are none of them."""
    assert [(example.code.split("\n")[0], example.output, example.is_long) for example in examples(README)] == [
        ("toolsearch search nothing --catalog data/tools.jsonl", "something else\n", False),
        ("toolsearch catalog check data/tools.jsonl", None, False),
        ("make demo", None, True),
        ('print("one")', "…\nthree\n", False),
    ]
    assert [fence.file for fence in fences(README)] == ["data/tools.jsonl", None, None, None]


def test_an_example_sees_the_files_of_the_readme_and_nothing_else() -> None:
    """The folder is new, the environment empty, and a failure keeps what was said."""
    listing = "```python\nimport os; print(sorted(os.listdir()), os.environ.get('MINE'))\n```\n"
    readme = f"```json file=a.json\n[]\n```\n\n{listing}\n```console\n$ toolsearch serach x\n```\n"
    [script, command] = examples(readme)
    assert run_example(script, readme, {**os.environ, "MINE": "1"}).output == "['a.json'] None\n"
    outcome = run_example(command, readme, os.environ)
    assert outcome.code == 2
    assert "Did you mean 'search'" in outcome.errors


def test_what_is_shown_is_renewed_and_the_rest_stays() -> None:
    """Outputs that are others now are replaced, elisions stay, a second time changes nothing."""
    text, changed, failed = refreshed(README, os.environ)
    assert failed == []
    assert changed == ["toolsearch search nothing --catalog data/tools.jsonl", 'print("one")']
    assert "data/tools.jsonl\nnothing found among 1 searchable tools" in text
    assert "```text\n…\ntwo\n```" in text
    assert text.partition("```console")[0] == README.partition("```console")[0]
    assert refreshed(text, os.environ) == (text, [], [])


def test_the_command_checks_and_renews_examples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A stale output fails the check by its command, and one that fails is told and gives 1."""
    monkeypatch.chdir(tmp_path)
    Path("README.md").write_text(README, encoding="utf-8")
    only = ["--only", "examples"]
    assert main([*only, "--check"]) == 1
    assert "another output than it has now: toolsearch search nothing" in capsys.readouterr().err
    assert Path("README.md").read_text(encoding="utf-8") == README
    assert main(only) == 0
    assert "nothing found among 1" in Path("README.md").read_text(encoding="utf-8")
    Path("README.md").write_text(README.replace("catalog check data", "catalog check dat"), encoding="utf-8")
    capsys.readouterr()
    assert main(only) == 1
    assert "toolsearch catalog check dat/tools.jsonl: gave 2" in capsys.readouterr().err
