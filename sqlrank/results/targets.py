"""Files that results are written to: none that is an input, and none that somebody else made."""

from __future__ import annotations

import glob
from typing import TYPE_CHECKING

from sqlrank.errors import SqlrankError
from sqlrank.results import excel

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


def check_target(path: Path | None, is_forced: bool, sources: Iterable[str | Path | None] = ()) -> None:
    """Raise ``SqlrankError`` if a file is one of the inputs, or is there and not known to be written by sqlrank, unless that is forced."""
    if path is None or not path.is_file():
        return
    for source in sources:
        if any(path.samefile(found) for found in glob.glob(str(source or ""), recursive=True)):  # noqa: PTH207  a glob may be absolute
            raise SqlrankError(f"{path} is an input, which its own result cannot replace; name another file")
    if not is_forced and not _is_ours(path):
        raise SqlrankError(f"{path} is there already, and may not be of sqlrank's making; replace it with --force, or name another file")


def _is_ours(path: Path) -> bool:
    """Whether a file says that it was written here: SQL, YAML, SVG, HTML and PDF in a comment, others in what is said of them."""
    with path.open("rb") as file:
        start = file.read(4096)
        file.seek(max(0, path.stat().st_size - 64))
        end = file.read()
    if start.startswith(b"PAR1"):
        import pyarrow as pa  # noqa: PLC0415  help does not need it
        import pyarrow.parquet as pq  # noqa: PLC0415

        try:
            return b"sqlrank.version" in (pq.read_schema(path).metadata or {})
        except pa.ArrowInvalid:
            return False
    if start.startswith(b"PK"):
        return excel.is_ours(path)
    if start.startswith(b"\x89PNG"):
        return b"tEXtSoftware\0sqlrank " in start
    if start.startswith(b"%PDF"):
        return end.rpartition(b"\n% ")[2].startswith(b"sqlrank ")
    if start.startswith(b'{"usermeta": {"sqlrank": '):
        return True
    return any(line.startswith((b"-- sqlrank ", b"# sqlrank ", b"<!-- sqlrank ")) for line in start.splitlines()[:2])
