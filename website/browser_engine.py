"""The files of DuckDB-WASM for the site: fetched by npm when the site is built, compared with their
checksums, and kept.
"""

from __future__ import annotations

import gzip
import hashlib
import logging
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from website.npm_packages import ARROW, DUCKDB, fetch_archive, read_member

ROOT = Path(__file__).parents[1]
FETCHED = ROOT / ".cache" / "browser"
"""Folder of the files, one folder per version of them."""

PLACE = "assets/duckdb"
"""Folder of the site with the files."""

_log = logging.getLogger("mkdocs.website")

_SOURCE_MAP = re.compile(rb"\n//# sourceMappingURL=\S+")
_ARROW_NAMES = "RecordBatchReader, Table, Type, tableToIPC"
"""Names that DuckDB-WASM imports from Arrow."""


@cache
def engine_files() -> dict[str, Path]:
    """Return the files of DuckDB-WASM by their place in the site; none, which is said, where npm
    cannot fetch them.

    Raises:
        ValueError: A package is not the one of the checksum.
    """
    folder = (
        FETCHED
        / hashlib.sha256(
            f"{DUCKDB}{ARROW}{Path(__file__).read_text('utf-8')}".encode()
        ).hexdigest()[:16]
    )
    if not folder.exists():
        with TemporaryDirectory() as temporary:
            target_folder = Path(temporary) / "made"
            target_folder.mkdir()
            try:
                _make_files(Path(temporary), target_folder)
            except (OSError, subprocess.SubprocessError) as error:
                _log.info(
                    "pages have no button to run their SQL, because npm cannot fetch %s: %s",
                    DUCKDB.name,
                    error,
                )
                return {}
            shutil.rmtree(FETCHED, ignore_errors=True)
            shutil.copytree(target_folder, folder)
    return {f"{PLACE}/{path.name}": path for path in sorted(folder.iterdir())}


def _make_files(temporary: Path, target_folder: Path) -> None:
    """Write the files that a page loads."""
    duckdb, arrow = fetch_archive(DUCKDB, temporary), fetch_archive(ARROW, temporary)
    library = _read_member(duckdb, "dist/duckdb-browser.mjs").replace(
        b'from"apache-arrow"', b'from"./arrow.mjs"'
    )
    (target_folder / "duckdb.mjs").write_bytes(library)
    (target_folder / "duckdb.worker.js").write_bytes(
        _read_member(duckdb, "dist/duckdb-browser-eh.worker.js")
    )
    bundle = _read_member(arrow, "Arrow.es2015.min.js")
    module = b"const exports = {}, module = { exports };\n%s\nexport const { %s } = exports;\n" % (
        bundle,
        _ARROW_NAMES.encode(),
    )
    (target_folder / "arrow.mjs").write_bytes(module)
    # Packed here, because not every server does it: 8 MB in place of 34. The name keeps servers
    # from unpacking it.
    (target_folder / "duckdb.wasm.packed").write_bytes(
        gzip.compress(_read_member(duckdb, "dist/duckdb-eh.wasm"), 9, mtime=0)
    )
    (target_folder / "LICENSE.arrow.txt").write_bytes(_read_member(arrow, "LICENSE.txt"))
    (target_folder / "NOTICE.txt").write_text(
        f"{DUCKDB.name}: MIT License, Copyright DuckDB contributors\n{ARROW.name}: see"
        " LICENSE.arrow.txt\n",
        "utf-8",
    )


def _read_member(archive: Path, name: str) -> bytes:
    """Return a file of the archive of a package, without the address of a source map that is not on
    the site.
    """
    content = read_member(archive, name)
    return content if name.endswith(".wasm") else _SOURCE_MAP.sub(b"", content)
