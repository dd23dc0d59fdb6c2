"""The packages of website/npm for the site and its tests: npm fetches and builds them once."""

from __future__ import annotations

import hashlib
import logging
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

PACKAGES = Path(__file__).parent / "npm"
BUILT = PACKAGES.parents[1] / ".cache" / "npm"
"""Folder of what is built, one folder per version of it."""

PLACE = "assets/duckdb"
"""Folder of the site with the files of DuckDB-WASM."""

TIMEOUT = 300
"""Seconds that npm has."""

_log = logging.getLogger("mkdocs.website")


def build_packages() -> Path:
    """Return the folder with the files that are made of the packages.

    Raises:
        OSError: There is no npm.
        subprocess.SubprocessError: It cannot fetch the packages, or took too long.
    """
    files = sorted(PACKAGES.glob("*.json"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
    folder = BUILT / digest[:16]
    if not folder.exists():
        npm = shutil.which("npm")
        if npm is None:
            raise FileNotFoundError("npm is not installed")
        with TemporaryDirectory() as temporary:
            for path in files:
                shutil.copy(path, temporary)
            for arguments in (["ci", "--ignore-scripts"], ["run", "build"]):
                subprocess.run(  # noqa: S603  ours
                    [npm, *arguments],
                    cwd=temporary,
                    capture_output=True,
                    text=True,
                    check=True,
                    timeout=TIMEOUT,
                )
            shutil.rmtree(BUILT, ignore_errors=True)
            shutil.copytree(Path(temporary) / "built", folder)
    return folder


@cache
def engine_files() -> dict[str, Path]:
    """Return the files of DuckDB-WASM by their place in the site; none, which is said, where npm
    cannot fetch them. A package that is not the one of package-lock.json is an error.
    """
    try:
        built = build_packages()
    except (OSError, subprocess.SubprocessError) as error:
        reason = str(getattr(error, "stderr", None) or error)
        if "EINTEGRITY" in reason:
            raise
        _log.info("pages have no button to run their SQL, because npm failed: %s", reason)
        return {}
    return {f"{PLACE}/{path.name}": path for path in sorted((built / "site").iterdir())}
