"""The names of the forms, and what reads them."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path

from toolsearch.errors import UnknownNameError
from toolsearch_eval.importers.bfcl import PACKAGE, package_folder
from toolsearch_eval.importers.draft import Imported
from toolsearch_eval.importers.reading import sources_of

FORMS = {
    "apibank": "API-Bank: dialogues that call APIs",
    "beir": "BEIR: corpus.jsonl, queries.jsonl, qrels/*.tsv",
    "bfcl": f"BFCL: BFCL_v*_NAME.json and possible_answer; {PACKAGE} takes the installed package",
    "csv": "plain CSV: catalog.csv, queries.csv, labels.csv",
    "livemcpbench": "LiveMCPBench: tools.json and all_annotations.json",
    "mcpproxy": "the golden set of mcpproxy: corpus and retrieval_golden",
    "metatool": "MetaTool: plugin_des.json, all_clean_data.csv, multi_tool_query_golden.json",
    "sealtools": "Seal-Tools: tool.jsonl and dev.jsonl, test_*.jsonl",
    "toolbench": "ToolBench and StableToolBench: instructions, or the retriever's corpus.tsv",
    "toolret": "ToolRet: *tools*.jsonl and *queries*.jsonl",
    "trec": "TREC: topics*, docs*, qrels*",
    "ultratool": "UltraTool: test.json, dev.json",
}
"""Every form with one line on what it reads; the module of a form says more."""

_MODULES = {"csv": "plain_csv"}


def import_data(form: str, sources: Sequence[str | Path], *, name: str | None = None) -> Imported:
    """Read a data set of another form.

    Args:
        form: One of `FORMS`.
        sources: Files and folders; for `bfcl` also `package:bfcl-eval`.
        name: The data set's name; the form's unless told otherwise (or unless the files say one).

    Raises:
        UnknownNameError: There is no such form.
        UsageError: Files are not there.
        DataError: A source does not exist, or its files hold faults: every one at once.
    """
    if form not in FORMS:
        raise UnknownNameError("form", form, FORMS)
    given = [package_folder() if form == "bfcl" and str(source) == PACKAGE else source for source in sources]
    module = importlib.import_module(f"toolsearch_eval.importers.{_MODULES.get(form, form)}")
    imported: Imported = module.read(sources_of(given), name or form)
    return imported
