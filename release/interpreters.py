"""The versions of Python that the package names, and those of them that are at hand."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path


def read_supported(root: Path) -> list[str]:
    """Return the versions of Python in the classifiers of the package, such as 3.11."""
    project = tomllib.loads((root / "pyproject.toml").read_text("utf-8"))["project"]
    return [
        match[1]
        for item in project["classifiers"]
        if (match := re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", item))
    ]


def find_interpreter(version: str) -> Path | None:
    """Return an interpreter of a version such as 3.12, from the search path or from pyenv; None if
    there is none that runs.
    """
    on_path = shutil.which(f"python{version}")
    candidates = [Path(on_path)] if on_path else []
    candidates += sorted((Path.home() / ".pyenv" / "versions").glob(f"{version}.*/bin/python"))
    for path in candidates:
        done = subprocess.run([path, "--version"], check=False, capture_output=True, text=True)
        if done.returncode == 0 and done.stdout.startswith(f"Python {version}."):
            return path
    return None
