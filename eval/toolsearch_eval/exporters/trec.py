"""A data set in TREC's form: `topics.txt`, `docs.txt`, `qrels.dev.txt` and `qrels.test.txt`.

A tool is a document with its description as the text, a query a topic with its text as the title, on one line. Blanks
in ids are written as %20, since TREC's programs read words. All fields as they are stand beside, in `toolsearch.jsonl`;
so do the card (`dataset.toml`) and the labels with their judges (`judgements.jsonl`).
"""

from __future__ import annotations

import html
import json
from pathlib import Path

from toolsearch.catalog.rows import to_row
from toolsearch.errors import UsageError
from toolsearch_eval.data import DataSet, query_row
from toolsearch_eval.exporters.folder import companions, encoded, refuse_unfit, write_folder
from toolsearch_eval.importers.trec import SIDE, plain_text, trec_id


def write_trec(data: DataSet, folder: str | Path) -> Path:
    """Write the set into a new folder.

    Raises:
        UsageError: The form can't hold it (tools that share a name, ids with tabs or line breaks), or the folder can't
            be written.
    """
    refuse_unfit(data)
    files = companions(data)
    documents = [
        f"<DOC>\n<DOCNO>{_escaped(trec_id(tool.name))}</DOCNO>\n"
        f"<TEXT>\n{_escaped(tool.description or '')}\n</TEXT>\n</DOC>"
        for tool in data.tools
    ]
    topics = [
        f"<top>\n<num> Number: {_escaped(trec_id(query.query_id))}\n<title> {_escaped(plain_text(query.text))}\n</top>"
        for query in data.queries
    ]
    files["docs.txt"] = encoded("\n".join([*documents, ""]), "the catalog")
    files["topics.txt"] = encoded("\n".join([*topics, ""]), "a query")
    splits = {query.query_id: query.split for query in data.queries}
    for split in ("dev", "test"):
        rows = [
            f"{trec_id(query_id)} 0 {trec_id(tool)} {grade}\n"
            for query_id, grades in data.judgements.items()
            if splits.get(query_id, "test") == split
            for tool, grade in grades.items()
        ]
        files[f"qrels.{split}.txt"] = encoded("".join(rows), "a label")
    tools = {tool.name for tool in data.tools}
    judged = dict.fromkeys(name for grades in data.judgements.values() for name in grades)
    side = [
        *({"tool": to_row(tool)} for tool in data.tools),
        *({"query": query_row(query)} for query in data.queries),
        # Labels may be of queries and tools that the set doesn't have.
        *({"query_id": query_id} for query_id in data.judgements if query_id not in splits),
        *({"tool_name": name} for name in judged if name not in tools),
    ]
    try:
        lines = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in side)
    except (TypeError, ValueError) as error:
        raise UsageError(f"a tool or a query holds what is not JSON: {error}.") from error
    files[SIDE] = encoded(lines, "the catalog or a query")
    return write_folder(folder, files)


def _escaped(text: str) -> str:
    return html.escape(text, quote=False)
