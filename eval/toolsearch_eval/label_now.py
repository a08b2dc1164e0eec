"""Take in the grades of one query at once, as a judge gives them in front of a screen."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolsearch_eval.data import load_data
from toolsearch_eval.judging_sheet import SheetRow
from toolsearch_eval.label_merge import Merge, merge_labels, write_labels


def take_grades(
    folder: str | Path, query_id: str, grades: Mapping[str, int | None], *, judge: str, turn: int, date: str
) -> Merge:
    """Write the grades of a query's tools into a data set's files, as `toolsearch dataset judge` does.

    The data set is read anew first, so that what others have labelled meanwhile stays.

    Args:
        folder: The data set's folder.
        query_id: The query.
        grades: By tool, 0 to 2; None for what is left for later.
        judge: Who graded.
        turn: The labelling pass, above 0.
        date: When, `YYYY-MM-DD`.

    Returns:
        What was taken in; where every grade is None, nothing is written.

    Raises:
        UsageError: The judge's name is empty, the pass is below 1, or the folder can't be written.
        DataError: The data set, or a grade, holds faults; nothing is written then.
    """
    data = load_data(folder)
    rows = [
        SheetRow(query_id=query_id, tool=tool, grade=grade, line=place)
        for place, (tool, grade) in enumerate(grades.items(), start=1)
    ]
    merge = merge_labels(data, rows, path="<grades>", judge=judge, turn=turn, date=date)
    if merge.labels:
        write_labels(data, merge)
    return merge
