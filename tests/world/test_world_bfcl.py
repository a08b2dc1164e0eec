"""BFCL straight from its package, as the package index has it now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolsearch_eval.data_check import check_data
from toolsearch_eval.importers.forms import import_data


def test_the_installed_package_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some thousand queries with their functions, without an error of the check; none of the package's code runs."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check"]
    subprocess.run([*command, "--target", str(tmp_path), "bfcl-eval"], check=True)
    monkeypatch.syspath_prepend(tmp_path)
    found = import_data("bfcl", ["package:bfcl-eval"])
    assert "bfcl_eval" not in sys.modules
    assert len(found.data.queries) > 1000
    assert len(found.data.tools) > 500
    assert any(query.need == "all" for query in found.data.queries)
    assert check_data(found.data)[0] == []
    assert any("entries without an answer" in warning for warning in found.warnings)
