"""Read the chosen mutants, and plant and remove one in a copy of the tree."""

import os
import shutil
import subprocess
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDER = Path(__file__).parent
COPIED = ("sqlrank", "sql", "tests")
"""What mutants change or tests write beside; all else is linked."""


class MutantError(Exception):
    """A mutant that cannot be planted, or whose tests cannot be run."""


@dataclass(frozen=True)
class Mutant:
    """A fault: a text of a file and what replaces it, and the tests that should notice.

    ``before`` stands once in the file, unless ``offset`` says where it begins.
    """

    file: str
    before: str
    after: str
    tests: tuple[str, ...]
    offset: int | None = None

    @cached_property
    def name(self) -> str:
        """The file, and the first line that changes, before and after."""
        text = (ROOT / self.file).read_text("utf-8")
        pairs = zip(text.splitlines(), self.replace_text(text).splitlines(), strict=False)
        old, new = next((old, new) for old, new in pairs if old != new)
        return f"{self.file}: {old.strip()} -> {new.strip()}"

    def _find(self, text: str) -> int:
        if self.offset is not None and text.startswith(self.before, self.offset):
            return self.offset
        if self.offset is not None or text.count(self.before) != 1:
            raise MutantError(
                f"{self.file} has {text.count(self.before)} times the text to change, in place of"
                f" once: {self.before}"
            )
        return text.index(self.before)

    def replace_text(self, text: str) -> str:
        """Return the text of the file with the fault.

        Raises:
            MutantError: The text to change is gone, or stands there several times.
        """
        start = self._find(text)
        return text[:start] + self.after + text[start + len(self.before) :]


def read_chosen() -> list[Mutant]:
    """Read the chosen mutants."""
    rows = tomllib.loads((FOLDER / "chosen.toml").read_text("utf-8"))["mutants"]
    return [Mutant(row["file"], row["before"], row["after"], tuple(row["tests"])) for row in rows]


def read_equivalents() -> dict[str, str]:
    """Read the mutants that change no number, by name, with the reason."""
    rows = tomllib.loads((FOLDER / "equivalents.toml").read_text("utf-8"))["equivalents"]
    return {f"{row['file']}: {row['before']} -> {row['after']}": row["reason"] for row in rows}


def copy_tree(target: Path) -> None:
    """Copy the tree, with compiled modules, so that none is compiled for each mutant."""
    for path in sorted(ROOT.iterdir()):
        if path.name in COPIED:
            shutil.copytree(path, target / path.name)
        elif path.name not in {".cache", ".pytest_cache", ".git"}:
            (target / path.name).symlink_to(path)
    subprocess.run(["git", "init", "--quiet", target], check=True)  # noqa: S607  tests ask for the root


@contextmanager
def plant(mutant: Mutant, tree: Path) -> Iterator[None]:
    """Put a fault into a tree, and take it out again."""
    path = tree / mutant.file
    text = path.read_text("utf-8")
    stat = path.stat()
    path.write_text(mutant.replace_text(text), "utf-8")
    try:
        yield
    finally:
        path.write_text(text, "utf-8")
        os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
