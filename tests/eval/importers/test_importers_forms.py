"""Each form, read from small files of our own: what becomes a tool, a query and a label, and what is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolsearch.errors import DataError, UnknownNameError, UsageError
from toolsearch_eval.data import load_data
from toolsearch_eval.data_check import check_data
from toolsearch_eval.data_write import write_data
from toolsearch_eval.importers.draft import Imported
from toolsearch_eval.importers.forms import FORMS, import_data


def _lines(*rows: Any) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


BFCL_FUNCTIONS = [
    {
        "name": "kettle.boil",
        "description": "Boil water in the kettle.",
        "parameters": {"type": "dict", "properties": {"litres": {"type": "float"}}, "required": ["litres"]},
    },
    {"name": "toast", "description": "Toast slices of bread.", "parameters": {"type": "dict", "properties": {}}},
]
MCPPROXY_TOOLS = [
    {"tool_id": "garden:water", "server": "garden", "tool": "water", "description": "Water the beds."},
    {"tool_id": "garden:mow", "server": "garden", "tool": "mow", "description": "Mow the lawn."},
]
TOOLBENCH_APIS = [
    {
        "category_name": "Food",
        "tool_name": "Soup Kitchen",
        "api_name": "Find Soup",
        "api_description": "Finds soups by their vegetables.",
        "required_parameters": [{"name": "vegetable", "type": "STRING", "description": "Which", "default": "leek"}],
        "optional_parameters": [{"name": "hot", "type": "BOOLEAN", "description": "", "default": ""}],
        "method": "GET",
        "template_response": {"soup": "str"},
    },
    {
        "category_name": "Food",
        "tool_name": "Soup Kitchen",
        "api_name": "List bowls",
        "api_description": "Lists bowls.",
        "required_parameters": [],
        "optional_parameters": [],
    },
]
ULTRA_TOOLS = [
    {
        "name": "boat_hire",
        "description": "Hire a boat",
        "arguments": {"type": "object", "properties": {"hours": {"type": "int"}}},
        "results": {"type": "object"},
    },
    {"name": "lake_weather", "description": "Weather on the lake", "arguments": {"type": "object", "properties": {}}},
]

FILES: dict[str, dict[str, str]] = {
    "metatool": {
        "plugin_des.json": json.dumps({"kite": "Fly a kite.", "knot": "Tie knots of all kinds."}, indent=1),
        "big_tool_des.json": json.dumps({"WindTool": "Everything about wind."}),
        "data/all_clean_data.csv": 'Query,Tool\n"Up, up it goes!",kite\nhow do I tie a bowline,knot\nwho knows,gone\n',
        "data/multi_tool_query_golden.json": json.dumps([{"query": "kite and wind?", "tool": ["kite", "WindTool"]}]),
    },
    "toolbench": {
        "G1_instruction.json": json.dumps(
            [
                {
                    "api_list": TOOLBENCH_APIS,
                    "query": "a soup with leek, and bowls",
                    "relevant APIs": [["Soup Kitchen", "Find Soup"], ["Soup Kitchen", "List bowls"]],
                    "query_id": 7,
                },
                {
                    "api_list": TOOLBENCH_APIS[:1],
                    "query": "any soup",
                    "relevant APIs": [["Soup Kitchen", "Find Soup"], ["Other", "Gone"]],
                    "query_id": 8,
                },
            ]
        )
    },
    "ultratool": {
        "test.json": _lines(
            {
                "question": "A boat for two hours, if it is dry.",
                "plan": [
                    {"step": "1. Look", "tool": "null"},
                    {"step": "1.1 Weather", "tool": "lake_weather()"},
                    {"step": "2. Hire", "tool": "boat_hire(hours=2)"},
                    {"step": "3. Go", "tool": "No tool required"},
                ],
                "tools": ULTRA_TOOLS,
                "domain": "Leisure",
            },
            {
                "question": "湖上的天气怎么样？",
                "plan": [{"step": "1", "tool": "lake_weather()"}, {"step": "2", "tool": "不需要使用工具"}],
                "tools": ULTRA_TOOLS,
                "domain": "Leisure",
            },
        ),
    },
    "apibank": {
        "apis/add_tea.py": (
            "from apis.api import API\n\nclass AddTea(API):\n    description = 'Adds tea to the list.'\n"
            "    input_parameters = {'sort': {'type': 'str', 'description': 'Which tea.'}}\n"
            "    database_name = compute()\n\n    def call(self):\n        raise SystemExit('must never run')\n"
        ),
        "apis/tool_search.py": "class ToolSearcher:\n    description = 'Searches tools.'\n    input_parameters = {}\n",
        "lv1-lv2-samples/level-1-given-desc/AddTea-level-1-1.jsonl": _lines(
            {"role": "User", "text": "We are out of tea."},
            {"role": "AI", "text": "Which?"},
            {"role": "User", "text": "Oolong."},
            {"role": "API", "api_name": "AddTea", "param_dict": {"sort": "oolong"}, "result": {}},
        ),
        "json_test_data/level-3.json": json.dumps(
            [
                {
                    "requirement": "Brew a pot.",
                    "response": "Done.",
                    "apis": [
                        {
                            "api_name": "ToolSearcher",
                            "input": {"keywords": "brew"},
                            "output": {
                                "output": {
                                    "name": "Brew",
                                    "description": "Brews.",
                                    "input_parameters": {"minutes": {"type": "int", "description": "How long."}},
                                }
                            },
                        },
                        {"api_name": "Brew", "input": {}, "output": {}},
                        {"api_name": "AddTea", "input": {}, "output": {}},
                    ],
                }
            ]
        ),
    },
    "livemcpbench": {
        "tools.json": json.dumps(
            [
                {
                    "name": "Maps",
                    "tools": {
                        "maps": {
                            "server_name": "maps",
                            "tools": [
                                {"name": "route", "description": "A way.", "inputSchema": {"type": "object"}},
                                {"name": "read_file", "description": "Reads."},
                            ],
                        }
                    },
                },
                {"name": "Disk", "tools": {"disk": {"tools": [{"name": "read_file", "description": "Reads a file."}]}}},
            ]
        ),
        "all_annotations.json": json.dumps(
            [
                {
                    "task_id": "t-1",
                    "Question": "The way to the sea.",
                    "category": "Travel",
                    "Annotator Metadata": {"Tools": "1. route\n2. nowhere_tool"},
                },
                {
                    "task_id": "t-2",
                    "Question": "Read it and find the way.",
                    "category": "Office",
                    "Annotator Metadata": {"Tools": "1. read_file\n2. route"},
                },
            ]
        ),
    },
    "bfcl": {
        "BFCL_v4_live_simple.json": _lines(
            {
                "id": "live_simple_0",
                "question": [
                    [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Tea water, please."}]
                ],
                "function": BFCL_FUNCTIONS[:1],
            }
        ),
        "possible_answer/BFCL_v4_live_simple.json": _lines(
            {"id": "live_simple_0", "ground_truth": [{"kettle.boil": {"litres": [1.0]}}]}
        ),
        "BFCL_v4_parallel_multiple.json": _lines(
            {
                "id": "parallel_multiple_0",
                "question": [[{"role": "user", "content": "Tea and toast."}]],
                "function": BFCL_FUNCTIONS,
            }
        ),
        "possible_answer/BFCL_v4_parallel_multiple.json": _lines(
            {"id": "parallel_multiple_0", "ground_truth": [{"kettle.boil": {}}, {"toast": {}}]}
        ),
        "BFCL_v4_irrelevance.json": _lines(
            {"id": "irrelevance_0", "question": [[{"role": "user", "content": "Sing."}]], "function": BFCL_FUNCTIONS}
        ),
        "BFCL_v4_multi_turn_base.json": _lines(
            {"id": "multi_turn_base_0", "question": [[{"role": "user", "content": "Go on."}]], "involved_classes": []}
        ),
        "possible_answer/BFCL_v4_multi_turn_base.json": _lines({"id": "multi_turn_base_0", "ground_truth": [["cd()"]]}),
    },
    "toolret": {
        "tools.jsonl": _lines(
            {
                "id": "set_tool_1",
                "documentation": json.dumps(
                    {
                        "name": "find",
                        "description": "Finds shells.",
                        "parameters": {"beach": {"type": "str, optional", "description": "Where."}},
                    }
                ),
            },
            {"id": "set_tool_2", "documentation": "{'name': 'find', 'description': 'Finds stars.'}"},
            {"id": "set_tool_3", "doc": {"name": "wash", "description": "Washes."}},
        ),
        "queries.jsonl": _lines(
            {
                "id": "set_query_1",
                "query": "a shell for the shelf",
                "instruction": "Given a shell task, retrieve tools that find shells.",
                "labels": json.dumps([{"id": "set_tool_1", "relevance": 1}, {"id": "set_tool_3", "relevance": 1}]),
            }
        ),
    },
    "sealtools": {
        "tool.jsonl": _lines(
            {
                "api_name": "pickApples",
                "api_description": "Pick apples",
                "field": "Farming/Orchard",
                "parameters": {"tree": {"type": "int", "description": "Which tree"}},
                "required": ["tree"],
                "responses": {},
            },
            {"api_name": "pressJuice", "api_description": "Press juice", "field": "Farming", "parameters": {}},
        ),
        "dev.jsonl": _lines({"id": "dev-easy-1", "query": "apples of tree 3", "calling": [{"api": "pickApples"}]}),
        "test_in_domain.jsonl": _lines([[{"api": "pickApples"}, {"api": "pressJuice"}], "juice from tree 4"]),
    },
    "mcpproxy": {
        "corpus_v1.tools.json": json.dumps({"version": "corpus_v1", "tools": MCPPROXY_TOOLS}, indent=1),
        "retrieval_golden_v1.json": json.dumps(
            {
                "corpus_version": "corpus_v1",
                "queries": [
                    {
                        "id": "q-dry",
                        "query": "the roses look dry",
                        "labels": [
                            {"tool_id": "garden:water", "relevance": 2},
                            {"tool_id": "garden:mow", "relevance": 0},
                        ],
                    },
                    {"id": "q-none", "query": "sell the house", "labels": [{"tool_id": "garden:mow", "relevance": 0}]},
                ],
            }
        ),
    },
    "csv": {
        "catalog.csv": (
            "name,description,server,search_hint,input_schema\r\n"
            'lamp_on,"Switch a lamp on, or\r\nmany.",home,"light it up\n",""\r\n'
            'lamp_off,Switch it off,home,dark please now,"{""type"": ""object""}"\r\n'
        ),
        "queries.csv": (
            "query_id,text,split,slice,need,expect,must_not,tools\n"
            "a,dark please,dev,home,,,lamp_on,lamp_off\n"
            'b,"blink, twice",test,home,all,,,lamp_on | lamp_off\n'
            "c,fly to the moon,test,space,,none,,\n"
        ),
        "labels.csv": "query_id,tool,grade\na,lamp_on,0\n",
    },
    "beir": {
        "corpus.jsonl": _lines(
            {"_id": "d1", "title": "Saw", "text": "Cuts wood.", "metadata": {"url": "x"}},
            {"_id": "d 2", "text": "Bends pipes."},
        ),
        "queries.jsonl": _lines(
            {"_id": "1", "text": "cut a plank"}, {"_id": "2", "text": "bend\tit", "metadata": {"k": 1}}
        ),
        "qrels/dev.tsv": "query-id\tcorpus-id\tscore\n1\td1\t2\n",
        "qrels/test.tsv": "query-id\tcorpus-id\tscore\n2\td 2\t1\n2\td1\t0\n",
    },
    "trec": {
        "topics.txt": (
            "<top>\n<num> Number: 301\n<title> sharpen a knife\n\n<desc> Description:\nHow to make it\nsharp.\n\n"
            "<narr> Narrative:\nOnly steel.\n\n</top>\n"
        ),
        "docs.trec": "<DOC>\n<DOCNO> W-1 </DOCNO>\n<TEXT>\nGrinds blades &amp; <b>tools</b>.\n</TEXT>\n</DOC>\n",
        "qrels.txt": "301 0 W-1 1\n",
    },
}


def _write(folder: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8"))
    return folder


@pytest.fixture
def imported(request: pytest.FixtureRequest, tmp_path: Path) -> Imported:
    """The small files of a form, read."""
    return import_data(request.param, [_write(tmp_path / "raw", FILES[request.param])])


def _labels(found: Imported) -> dict[str, dict[str, int]]:
    return {query_id: dict(grades) for query_id, grades in found.data.judgements.items()}


def test_every_form_is_tried_here() -> None:
    """A form without a small file of its own would be a promise only."""
    assert set(FILES) == set(FORMS)


@pytest.mark.parametrize("form", FORMS)
def test_what_is_read_can_be_written_checked_and_loaded(form: str, tmp_path: Path) -> None:
    """Our own form holds all of it, and the check finds no error in it."""
    found = import_data(form, [_write(tmp_path / "raw", FILES[form])], name="mine")
    again = load_data(write_data(found.data, tmp_path / "out"))
    assert (again.tools, again.queries, again.judgements) == (
        found.data.tools,
        found.data.queries,
        found.data.judgements,
    )
    assert (again.name, again.fingerprint) == ("mine", found.data.fingerprint)
    assert check_data(again)[0] == []


@pytest.mark.parametrize("form", FORMS)
def test_files_can_be_named_one_by_one_in_any_order(form: str, tmp_path: Path) -> None:
    """They give the labels that their folder gives."""
    folder = _write(tmp_path / "raw", FILES[form])
    files = [folder / name for name in FILES[form] if not name.startswith("possible_answer/")]
    assert _labels(import_data(form, files[::-1])) == _labels(import_data(form, [folder]))


@pytest.mark.parametrize("imported", ["metatool"], indirect=True)
def test_metatool(imported: Imported) -> None:
    """One tool for a row of the table, two for an entry of the list, which needs both; an unknown tool is told."""
    assert _labels(imported) == {
        "single-2": {"kite": 2},
        "single-3": {"knot": 2},
        "multi-1": {"kite": 2, "WindTool": 2},
    }
    assert [query.need for query in imported.data.queries] == ["any", "any", "all"]
    assert imported.data.queries[0].text == "Up, up it goes!"
    assert imported.warnings == (
        "labels of tools that are not described here are dropped (1): gone of single-4",
        "queries without a labelled tool are left out (1): single-4",
    )


@pytest.mark.parametrize("imported", ["toolbench"], indirect=True)
def test_toolbench(imported: Imported) -> None:
    """APIs are named as models see them; defaults and answers are left out."""
    assert _labels(imported) == {
        "G1_instruction-7": {"find_soup_for_soup_kitchen": 2, "list_bowls_for_soup_kitchen": 2},
        "G1_instruction-8": {"find_soup_for_soup_kitchen": 2},
    }
    assert imported.data.tools[0].input_schema == {
        "type": "object",
        "properties": {"vegetable": {"type": "string", "description": "Which"}, "hot": {"type": "boolean"}},
        "required": ["vegetable"],
    }
    assert [query.need for query in imported.data.queries] == ["all", "any"]
    assert "relevant APIs that the entry does not list" in imported.warnings[0]


def test_toolbench_of_the_retriever(tmp_path: Path) -> None:
    """Documents are JSON in a cell, queries come once for each label, and train is the split dev."""
    cell = '"' + json.dumps(TOOLBENCH_APIS[0]).replace('"', '""') + '"'
    folder = _write(
        tmp_path,
        {
            "corpus.tsv": f"docid\tdocument_content\n1\t{cell}\n1\t{cell}\n",
            "test.query.txt": "5\tany soup\n5\tany soup\n",
            "qrels.test.tsv": "5\t0\t1\t1\n",
            "train.query.txt": "5\tsoup for two\n",
            "qrels.train.tsv": "5\t0\t1\t1\n",
        },
    )
    found = import_data("toolbench", [folder])
    assert _labels(found) == {
        "test-5": {"find_soup_for_soup_kitchen": 2},
        "train-5": {"find_soup_for_soup_kitchen": 2},
    }
    assert [query.split for query in found.data.queries] == ["test", "dev"]


@pytest.mark.parametrize("imported", ["ultratool"], indirect=True)
def test_ultratool(imported: Imported) -> None:
    """What the plan calls is needed; a step that says in words that it needs no tool is none."""
    assert _labels(imported) == {"test-0": {"lake_weather": 2, "boat_hire": 2}, "test-1": {"lake_weather": 2}}
    first, second = imported.data.queries
    assert (first.need, first.language, first.slice, first.split) == ("all", "en", "Leisure", "test")
    assert (second.need, second.language) == ("any", "zh")
    assert imported.data.tools[0].input_schema == {"type": "object", "properties": {"hours": {"type": "integer"}}}


@pytest.mark.parametrize("imported", ["apibank"], indirect=True)
def test_apibank(imported: Imported) -> None:
    """APIs come from code that is read and never run, and from what the benchmark's own search gave."""
    assert [tool.name for tool in imported.data.tools] == ["AddTea", "Brew"]
    assert _labels(imported) == {"AddTea-level-1-1": {"AddTea": 2}, "level-3-1": {"Brew": 2, "AddTea": 2}}
    assert imported.data.queries[0].text == "We are out of tea.\nOolong."
    assert imported.data.queries[1].need == "all"


@pytest.mark.parametrize("imported", ["livemcpbench"], indirect=True)
def test_livemcpbench(imported: Imported) -> None:
    """A name of one server is grade 2, one of several is grade 1 for each, an unknown one is told."""
    assert _labels(imported) == {
        "t-1": {"mcp__maps__route": 2},
        "t-2": {"mcp__maps__read_file": 1, "mcp__disk__read_file": 1, "mcp__maps__route": 2},
    }
    assert [query.need for query in imported.data.queries] == ["any", "any"]
    assert any("nowhere_tool of t-1" in warning for warning in imported.warnings)
    assert any("grade 1 for each of them (1): read_file" in warning for warning in imported.warnings)


@pytest.mark.parametrize("imported", ["bfcl"], indirect=True)
def test_bfcl(imported: Imported) -> None:
    """Functions are one catalog; entries without an answer that calls functions are left out, and told."""
    assert [tool.name for tool in imported.data.tools] == ["kettle.boil", "toast"]
    assert _labels(imported) == {
        "live_simple_0": {"kettle.boil": 2},
        "parallel_multiple_0": {"kettle.boil": 2, "toast": 2},
    }
    assert [(query.text, query.slice, query.need) for query in imported.data.queries] == [
        ("Tea water, please.", "live_simple", "any"),
        ("Tea and toast.", "parallel_multiple", "all"),
    ]
    assert imported.data.tools[0].input_schema == {
        "type": "object",
        "properties": {"litres": {"type": "number"}},
        "required": ["litres"],
    }
    assert "files without answers are left out (1): BFCL_v4_irrelevance.json" in imported.warnings
    assert any("multi_turn_base_0" in warning for warning in imported.warnings)


def test_bfcl_without_its_package_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The source `package:bfcl-eval` needs the package to be installed."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="bfcl-eval is not installed here; `pip install bfcl-eval`"):
        import_data("bfcl", ["package:bfcl-eval"])


@pytest.mark.parametrize("imported", ["toolret"], indirect=True)
def test_toolret(imported: Imported) -> None:
    """Tools that share a name get their id; the instruction, written from the answer, is nowhere in the set."""
    assert [tool.name for tool in imported.data.tools] == ["find#set_tool_1", "find#set_tool_2", "wash"]
    assert _labels(imported) == {"set_query_1": {"find#set_tool_1": 1, "wash": 1}}
    assert imported.data.queries[0].need == "all"
    assert "retrieve tools" not in repr(imported.data)
    assert imported.warnings == ("instructions are left out, as they were written from the answers (1): set_query_1",)


@pytest.mark.parametrize("imported", ["sealtools"], indirect=True)
def test_sealtools(imported: Imported) -> None:
    """Both forms of a line are read; the file tells the split."""
    assert _labels(imported) == {
        "dev-easy-1": {"pickApples": 2},
        "test_in_domain-1": {"pickApples": 2, "pressJuice": 2},
    }
    assert [(query.split, query.slice, query.need) for query in imported.data.queries] == [
        ("dev", "dev", "any"),
        ("test", "test_in_domain", "all"),
    ]
    assert imported.data.tools[0].input_schema == {
        "type": "object",
        "properties": {"tree": {"type": "integer", "description": "Which tree"}},
        "required": ["tree"],
    }


@pytest.mark.parametrize("imported", ["mcpproxy"], indirect=True)
def test_mcpproxy(imported: Imported) -> None:
    """Grades stay as they are; a query whose labels are all 0 expects no answer."""
    assert _labels(imported) == {
        "q-dry": {"mcp__garden__water": 2, "mcp__garden__mow": 0},
        "q-none": {"mcp__garden__mow": 0},
    }
    assert [query.expect for query in imported.data.queries] == ["answer", "none"]
    assert [(tool.server, tool.leaf) for tool in imported.data.tools] == [("garden", "water"), ("garden", "mow")]


@pytest.mark.parametrize("imported", ["csv"], indirect=True)
def test_csv(imported: Imported) -> None:
    """Cells hold commas, line breaks and JSON; a hint that holds a query is not taken."""
    on, off = imported.data.tools
    assert (on.description, on.server, on.search_hint) == ("Switch a lamp on, or\nmany.", "home", "light it up\n")
    assert (off.search_hint, off.input_schema) == (None, {"type": "object"})
    a, b, c = imported.data.queries
    assert (a.split, a.slice, a.must_not, b.need, b.text, c.expect) == (
        "dev",
        "home",
        ("lamp_on",),
        "all",
        "blink, twice",
        "none",
    )
    assert _labels(imported) == {"a": {"lamp_off": 2, "lamp_on": 0}, "b": {"lamp_on": 2, "lamp_off": 2}}
    assert imported.warnings == (
        "search hints that hold a query are not taken, as they would give the answer away (1): lamp_off",
    )


@pytest.mark.parametrize("imported", ["beir"], indirect=True)
def test_beir(imported: Imported) -> None:
    """Title and text are the description, what else there is is kept, and the file of the label tells the split."""
    saw, pipes = imported.data.tools
    assert (saw.name, saw.description, pipes.name, pipes.description) == (
        "d1",
        "Saw\nCuts wood.",
        "d 2",
        "Bends pipes.",
    )
    assert saw.meta["beir"] == {"title": "Saw", "text": "Cuts wood.", "metadata": {"url": "x"}}
    assert [(query.split, query.text) for query in imported.data.queries] == [
        ("dev", "cut a plank"),
        ("test", "bend\tit"),
    ]
    assert imported.data.queries[1].extra == {"metadata": {"k": 1}}
    assert _labels(imported) == {"1": {"d1": 2}, "2": {"d 2": 1, "d1": 0}}


@pytest.mark.parametrize("imported", ["trec"], indirect=True)
def test_trec(imported: Imported) -> None:
    """The title is the query, the other parts are kept; marks in a document are no text."""
    (tool,) = imported.data.tools
    (query,) = imported.data.queries
    assert (tool.name, tool.description) == ("W-1", "Grinds blades &  tools .")
    assert (query.query_id, query.text) == ("301", "sharpen a knife")
    assert query.extra == {"desc": "How to make it sharp.", "narr": "Only steel."}
    assert _labels(imported) == {"301": {"W-1": 1}}


def test_trec_in_its_newer_files(tmp_path: Path) -> None:
    """Topics as lines, documents as JSON lines, and a file of labels for dev."""
    folder = _write(
        tmp_path,
        {
            "topics.tsv": "t1\tpeel a pear\n",
            "corpus.jsonl": _lines({"id": "p", "contents": "Peels."}),
            "qrels.dev.txt": "t1 Q0 p 2\n",
        },
    )
    found = import_data("trec", [folder])
    assert (found.data.queries[0].text, found.data.queries[0].split) == ("peel a pear", "dev")
    assert _labels(found) == {"t1": {"p": 2}}


def test_tools_of_one_name_are_merged_where_they_say_about_the_same(tmp_path: Path) -> None:
    """The longer description and the larger schema stay; another tool of the name is numbered, and its label follows."""

    def entry(number: int, description: str, properties: dict[str, Any]) -> dict[str, Any]:
        function = {
            "name": "open",
            "description": description,
            "parameters": {"type": "dict", "properties": properties},
        }
        return {
            "id": f"s_{number}",
            "question": [[{"role": "user", "content": f"open {number}"}]],
            "function": [function],
        }

    folder = _write(
        tmp_path,
        {
            "BFCL_v4_simple_python.json": _lines(
                entry(0, "Open the garden gate.", {}),
                entry(1, "Open the gate of the garden by its code.", {"code": {"type": "integer"}}),
                entry(2, "Unlock a bank account for customers.", {}),
            ),
            "possible_answer/BFCL_v4_simple_python.json": _lines(
                *({"id": f"s_{number}", "ground_truth": [{"open": {}}]} for number in range(3))
            ),
        },
    )
    found = import_data("bfcl", [folder])
    assert [(tool.name, tool.description) for tool in found.data.tools] == [
        ("open", "Open the gate of the garden by its code."),
        ("open#2", "Unlock a bank account for customers."),
    ]
    assert found.data.tools[0].input_schema == {"type": "object", "properties": {"code": {"type": "integer"}}}
    assert _labels(found) == {"s_0": {"open": 2}, "s_1": {"open": 2}, "s_2": {"open#2": 2}}
    assert found.warnings == ("several tools have one name and different descriptions, and are numbered (1): open#2",)


def test_queries_with_one_text_become_one_with_all_labels(tmp_path: Path) -> None:
    """Either label was right by itself, so they are not needed together."""
    files = dict(FILES["metatool"]) | {"data/all_clean_data.csv": "Query,Tool\nWhat now?,kite\nwhat now,knot\n"}
    del files["data/multi_tool_query_golden.json"]
    found = import_data("metatool", [_write(tmp_path, files)])
    assert _labels(found) == {"single-2": {"kite": 2, "knot": 2}}
    assert found.data.queries[0].need == "any"
    assert found.warnings == ("queries with the text of an earlier one are united with it (1): single-3",)


def test_an_unknown_form_gives_near_names(tmp_path: Path) -> None:
    """So does the command."""
    with pytest.raises(UnknownNameError, match=r"unknown form 'bier'\. Did you mean 'beir'"):
        import_data("bier", [tmp_path])


@pytest.mark.parametrize("form", FORMS)
def test_an_empty_folder_is_wrong_use(form: str, tmp_path: Path) -> None:
    """What is missing is named."""
    with pytest.raises(UsageError, match="there is n"):
        import_data(form, [tmp_path])


@pytest.mark.parametrize("form", FORMS)
def test_sources_that_do_not_exist_are_all_told(form: str, tmp_path: Path) -> None:
    """Both at once."""
    with pytest.raises(DataError) as error:
        import_data(form, [tmp_path / "one", tmp_path / "two"])
    assert [problem.message for problem in error.value.problems] == ["there is no such file or folder"] * 2


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "junk", [b"\xff\xfe{", b"", b"{", b'[1, "x"]', b"null\n", b"\x00" * 50, b'{"a": NaN}', b"[" * 300]
)
def test_junk_in_any_file_is_bad_data_or_wrong_use(form: str, junk: bytes, tmp_path: Path) -> None:
    """Whatever a file holds, there is an error of ours that names a file, or a set comes out; nothing else is raised."""
    for name in FILES[form]:
        folder = _write(tmp_path / name.replace("/", "_"), FILES[form])
        (folder / name).write_bytes(junk)
        try:
            import_data(form, [folder])
        except DataError as error:
            assert all(problem.path for problem in error.problems)
        except UsageError:
            pass
