"""What the tests of the outside world share: programs of the Debian packages that they drive."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Install = Callable[[str, str], None]


@pytest.fixture(scope="session")
def install() -> Install:
    """Install a Debian package where its program is missing; a failed download is tried once more."""

    def installed(program: str, package: str) -> None:
        if shutil.which(program) or list(Path("/usr/lib").glob(f"postgresql/*/bin/{program}")):
            return
        environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
        for check in (False, True):
            subprocess.run(["apt-get", "update", "-qq"], check=check, env=environment)
            command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package]
            if subprocess.run(command, check=check, env=environment).returncode == 0:
                return

    return installed
