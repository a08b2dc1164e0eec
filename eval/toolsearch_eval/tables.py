"""What was judged as tables: DataFrames in Python, CSV in files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from toolsearch_eval.compare import Judged
from toolsearch_eval.extras import require
from toolsearch_eval.measures import Measure
from toolsearch_eval.report.escape import csv_cell
from toolsearch_eval.statistics import mean_interval

if TYPE_CHECKING:
    import pandas

KEYS = ("ranker", "query_id", "slice", "group")
"""The first columns of a table of all queries; a column for each measure follows."""


def per_query_rows(judged: Judged, measures: Sequence[Measure]) -> list[list[Any]]:
    """A row for each ranker and query: ranker, query id, slice, group and a value for each measure."""
    rows: list[list[Any]] = []
    for ranker in judged.rankings:
        columns = [judged.values(ranker, measure) for measure in measures]
        for place, query in enumerate(judged.queries):
            values = [column[place] for column in columns]
            rows.append([ranker, query.query_id, query.slice, query.group, *values])
    return rows


def per_query_frame(judged: Judged, measures: Sequence[Measure]) -> pandas.DataFrame:
    """A row for each ranker and query with a column for each measure.

    Raises:
        UsageError: pandas is not installed.
    """
    require("pandas", extra="eval", purpose="a table of all queries")
    import pandas

    return pandas.DataFrame(per_query_rows(judged, measures), columns=[*KEYS, *map(str, measures)])


def means_frame(judged: Judged, measures: Sequence[Measure]) -> pandas.DataFrame:
    """The means over groups: a row for each ranker, a column for each measure.

    Raises:
        UsageError: pandas is not installed.
    """
    require("pandas", extra="eval", purpose="a table of the means")
    import pandas

    groups = [query.group for query in judged.queries]
    rows = {
        name: {str(measure): mean_interval(judged.values(name, measure), groups).mean for measure in measures}
        for name in judged.rankings
    }
    return pandas.DataFrame.from_dict(rows, orient="index", columns=list(map(str, measures)))


def per_query_csv(judged: Judged, measures: Sequence[Measure]) -> str:
    """The table of all queries as CSV; a text that a spreadsheet would run as a formula gets a quote before it."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([*KEYS, *map(str, measures)])
    for row in per_query_rows(judged, measures):
        writer.writerow([csv_cell(cell) if isinstance(cell, str) else repr(cell) for cell in row])
    return out.getvalue()
