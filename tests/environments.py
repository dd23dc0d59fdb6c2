"""Virtual environments for tools that cannot share one with sqlrank: made once and kept in the
cache of pytest.
"""

import fcntl
import subprocess
import sys
from pathlib import Path

import pytest


def make_environment(config: pytest.Config, name: str, requirements: list[str]) -> Path:
    """Return the folder of the programs of an environment that holds the requirements."""
    assert config.cache is not None
    folder = config.cache.mkdir(name)
    programs: Path = folder / "venv" / "bin"
    installed = folder / "installed"
    wanted = "\n".join([sys.version, *requirements])
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installed.is_file() or installed.read_text() != wanted:
            subprocess.run(
                [sys.executable, "-m", "venv", "--clear", str(folder / "venv")], check=True
            )
            install = [
                str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-compile",
                "--disable-pip-version-check",
            ]  # fmt: skip
            done = subprocess.run(
                [*install, *requirements], check=False, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stderr
            installed.write_text(wanted)
    return programs
