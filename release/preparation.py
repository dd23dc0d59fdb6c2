"""The version in the files that name it, and the section of a release in the changelog."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlrank.errors import InputError

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

VERSION_FILE = "sqlrank/_version.py"
VERSION_LINES = {
    VERSION_FILE: r'(?<=^__version__ = ")[^"]+',
    "CITATION.cff": r"(?<=^version: ).+",
    "packaging/conda/recipe.yaml": r'(?<=^  version: ")[^"]+',
    "examples/gate/gate.yml": r"(?<=OWNER/sqlrank@v)\S+",
}
"""The files that name the version, each with the pattern of it."""

DATE_LINE = r"(?<=^date-released: ).+"
HEADERS = ("tests/engines/golden/*.sql", "examples/rollup/dbt/models/*", "docs/**/*.md")
"""Files with statements, whose headers name the version that printed them."""

_VERSION = re.compile(r"\d+\.\d+\.\d+")
_SECTION = re.compile(
    r"^## \[(?P<version>[^\]]+)\](?: - (?P<date>\S+))?\n(?P<notes>.*?)(?=^## \[|\Z)",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Section:
    """The section of a version in the changelog.

    Attributes:
        version: The version, or ``Unreleased``.
        date: Its date, empty for ``Unreleased``.
        notes: Its text.
    """

    version: str
    date: str
    notes: str


def read_changelog(text: str) -> list[Section]:
    r"""Return the sections of a changelog, the newest first.

    >>> read_changelog("# Changelog\n\n## [Unreleased]\n\n- New.\n\n## [1.0.0] - 2026-12-01\n\nFirst.\n")[1]
    Section(version='1.0.0', date='2026-12-01', notes='First.')
    """  # noqa: E501
    return [
        Section(match["version"], match["date"] or "", match["notes"].strip())
        for match in _SECTION.finditer(text)
    ]


def read_version(root: Path) -> str:
    """Return the version of a tree."""
    match = re.search(
        VERSION_LINES[VERSION_FILE], (root / VERSION_FILE).read_text("utf-8"), re.MULTILINE
    )
    return match[0] if match else ""


def is_prepared(root: Path, version: str) -> bool:
    """Return True if a tree has this version and its section in the changelog."""
    sections = read_changelog((root / "CHANGELOG.md").read_text("utf-8"))
    return read_version(root) == version and any(section.version == version for section in sections)


def check_version(version: str, sections: list[Section]) -> None:
    """Raise ``InputError`` for a version that is none, or not above the last one, or without
    changes.
    """
    if not _VERSION.fullmatch(version):
        raise InputError(f"{version!r} is no version. Give three numbers, as in 1.0.0")
    released = [section.version for section in sections if section.version != "Unreleased"]
    if released and _parse_version(version) <= _parse_version(released[0]):
        raise InputError(f"{version} is not above {released[0]}, the last release in CHANGELOG.md")
    if not any(section.version == "Unreleased" and section.notes for section in sections):
        raise InputError(
            "CHANGELOG.md has no changes under ## [Unreleased]. Name those of this release"
        )


def _parse_version(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def prepare_version(root: Path, version: str, day: date) -> list[str]:
    """Write the version and the section of its changes into a tree; return the files that changed.

    Raises:
        InputError: The version or the changelog is not that of a release, or a file does not name
            its version.
    """
    changelog = (root / "CHANGELOG.md").read_text("utf-8")
    check_version(version, read_changelog(changelog))
    before = read_version(root)
    changes = {
        "CHANGELOG.md": changelog.replace(
            "## [Unreleased]\n", f"## [Unreleased]\n\n## [{version}] - {day.isoformat()}\n", 1
        )
    }
    for name, pattern in VERSION_LINES.items():
        changes[name], count = re.subn(
            pattern, version, (root / name).read_text("utf-8"), count=1, flags=re.MULTILINE
        )
        if not count:
            raise InputError(f"{name} names no version. It should match {pattern}")
    changes["CITATION.cff"] = re.sub(
        DATE_LINE, day.isoformat(), changes["CITATION.cff"], flags=re.MULTILINE
    )
    for path in sorted(
        {
            path
            for pattern in HEADERS
            for path in root.glob(pattern)
            if path.suffix in {".sql", ".yml", ".md"}
        }
    ):
        name = path.relative_to(root).as_posix()
        changes.setdefault(
            name,
            re.sub(
                rf"\bsqlrank {re.escape(before)}(?![\d.]*\d)",
                f"sqlrank {version}",
                path.read_text("utf-8"),
            ),
        )
    changed = [name for name, text in changes.items() if text != (root / name).read_text("utf-8")]
    for name in changed:
        (root / name).write_text(changes[name], "utf-8")
    return changed
