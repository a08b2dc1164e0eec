"""A verdict as JUnit XML: a test case for each guard, each slice, each must-pass query and each budget."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from toolsearch_eval.gate.outputs.text import verdict_lines
from toolsearch_eval.gate.verdict import Verdict

# What XML 1.0 can't hold, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_xml(verdict: Verdict) -> str:
    """The document; characters that XML can't hold become U+FFFD."""
    baseline = verdict.baseline
    cases: list[tuple[str, str, str]] = []
    guards = {"overall": "overall", **{f"slice {name}": f"in slice {name}" for name, _ in verdict.slices}}
    failing: dict[str, str] = {}
    for reason in verdict.reasons:
        # A slice's name may hold a colon, so of all guards that fit the longest is meant.
        failing[max((guard for guard in guards if reason.startswith(f"{guard}: ")), key=len, default="")] = reason
    cases += [(guard, failing.get(guard, ""), f"{baseline.measure} {title}") for guard, title in guards.items()]
    lost = {each.query_id: each for each in verdict.fallen if each.must_pass}
    for query_id in baseline.must_pass:
        each = lost.get(query_id)
        why = f"{each.before:.3f} -> {each.now:.3f}: {each.text!r}: {each.why}" if each else ""
        cases.append((f"must pass {query_id}", why, f"must-pass query {query_id}"))
    for budget in verdict.budgets:
        cases.append((f"budget {budget.name}", "" if budget.kept else budget.sentence, f"budget {budget.name}"))
    suite = ElementTree.Element(
        "testsuite",
        name=_clean(f"toolsearch gate {baseline.data} {verdict.ranker}"),
        tests=str(len(cases)),
        failures=str(sum(bool(why) for _, why, _ in cases)),
        errors="0",
        skipped="0",
    )
    for name, why, title in cases:
        case = ElementTree.SubElement(suite, "testcase", classname="toolsearch.gate", name=_clean(name))
        if why:
            ElementTree.SubElement(case, "failure", message=_clean(title)).text = _clean(why)
    ElementTree.SubElement(suite, "system-out").text = _clean("\n".join(verdict_lines(verdict)))
    root = ElementTree.Element("testsuites")
    root.append(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(root, encoding="unicode") + "\n"


def _clean(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)
