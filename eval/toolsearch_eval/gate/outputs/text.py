"""A verdict for a terminal."""

from __future__ import annotations

from toolsearch_eval.gate.verdict import Fallen, Verdict

_WORDS = {"pass": "passed", "fail": "FAILED", "inconclusive": "passed, but a regression can't be ruled out"}


def verdict_lines(verdict: Verdict, *, most: int = 10) -> list[str]:
    """The verdict, why, and the queries that fell most; not yet escaped.

    Args:
        verdict: What the gate said.
        most: Queries listed; must-pass ones are listed all.
    """
    baseline = verdict.baseline
    interval = verdict.overall.difference
    lines = [f"gate {_WORDS[verdict.outcome]}: {judged(verdict)} on {baseline.data} ({baseline.split})"]
    if verdict.mean_before is not None and verdict.mean_now is not None:
        bounds = "" if interval.low is None else f" [{interval.low:+.4f}, {interval.high:+.4f}]"
        lines.append(
            f"{baseline.measure}: {verdict.mean_before:.4f} was blessed, {verdict.mean_now:.4f} now; difference "
            f"{interval.mean:+.4f}{bounds} over {interval.n} groups, margin {verdict.margin:g}"
        )
    lines += [f"{each.name}: {each.sentence}" for each in verdict.budgets if each.kept]
    lines += [f"because of {reason}" for reason in verdict.reasons]
    if verdict.outcome == "inconclusive":
        lines.append("with more queries, or a wider margin, the interval could tell; --strict makes this exit with 3")
    shown = [each for place, each in enumerate(verdict.fallen) if each.must_pass or place < most]
    if shown:
        lines.append(f"queries that fell ({len(verdict.fallen)}):")
    for each in shown:
        lines += _fallen_lines(each)
    if len(shown) < len(verdict.fallen):
        lines.append(f"  … and {len(verdict.fallen) - len(shown)} more; --json lists all")
    return lines


def judged(verdict: Verdict) -> str:
    """Which ranker was judged, and what it was held against where that is another one."""
    blessed = verdict.baseline.ranker
    return verdict.ranker if verdict.ranker == blessed else f"{verdict.ranker}, held against {blessed},"


def _fallen_lines(each: Fallen) -> list[str]:
    mark = ", must pass" if each.must_pass else ""
    text = each.text if len(each.text) <= 100 else f"{each.text[:99]}…"
    return [
        f"  {each.query_id} ({each.slice or 'no slice'}{mark}) {each.before:.3f} -> {each.now:.3f}: {text!r}",
        f"    {each.why}",
    ]
