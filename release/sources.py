"""``python -m release.sources PAGE``: write into a page of measured tables which sources they were
made from, and compare that before a release.
"""

from __future__ import annotations

import hashlib
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
MEASURED = {"docs/speed.md": "make bench"}
"""Pages of measured tables, with the command that measures them. Pages of metrics are made from
their files whenever the site is built.
"""

PATTERNS = ("sql/**/*.sql", "sql/**/*.toml", "sqlrank/**/*.py")
VERSION_FILE = "sqlrank/_version.py"

_MARK = re.compile(r"\n<!-- sources (?P<digest>\w+) -->\n")


def digest_sources(root: Path) -> str:
    """Return a digest of all that decides numbers and speed: SQL files and modules, without the
    version.
    """
    digest = hashlib.sha256()
    for path in sorted({path for pattern in PATTERNS for path in root.glob(pattern)}):
        name = path.relative_to(root).as_posix()
        if name != VERSION_FILE and not name.startswith("sqlrank/sql/"):
            digest.update(f"{name}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def mark_page(page: Path, digest: str) -> None:
    """Write at the end of a page from which sources its tables were made."""
    text = _MARK.sub("\n", page.read_text("utf-8"))
    page.write_text(f"{text.rstrip()}\n\n<!-- sources {digest} -->\n", "utf-8")


def find_stale_pages(root: Path) -> list[str]:
    """Return a sentence for each page whose tables were made from other sources than those of the
    tree.
    """
    digest = digest_sources(root)
    stale = []
    for name, command in MEASURED.items():
        match = _MARK.search((root / name).read_text("utf-8"))
        if match is None or match["digest"] != digest:
            origin = (
                f"from sources {match['digest']}" if match else "from sources that it does not name"
            )
            stale.append(
                f"{name} was made {origin}, not {digest}. Run {command}, update the page, then"
                f" python -m release.sources {name}"
            )
    return stale


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        mark_page(Path(argument), digest_sources(ROOT))
