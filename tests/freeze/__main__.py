"""Record all that users can see, or compare it with a commit: ``python -m tests.freeze record
FOLDER`` or ``compare COMMIT``.

Words after it choose sections by the beginning of their names.
"""

import difflib
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from shutil import rmtree

ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / "freeze"
MOST_ENTRIES = 12
"""Differing entries of a section that are shown."""

MOST_LINES = 24
"""Lines of a difference that are shown."""


def write_section(name: str, target: Path) -> None:
    """Write one section from a new folder, which is the working directory of its calls."""
    from tests.freeze.sections import SECTIONS

    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        text = "".join(f"=== {title}\n{shown.rstrip()}\n" for title, shown in SECTIONS[name]())
        os.chdir(ROOT)
    target.write_text(text, "utf-8")


def record(folder: Path, tree: Path, chosen: list[str]) -> None:
    """Write the chosen sections of a tree, each in its own process, two at a time."""
    here = {**os.environ, "PYTHONPATH": str(tree)}
    here.pop(
        "PYTHONHASHSEED", None
    )  # so that whatever follows the order of a set differs between two records

    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "tests.freeze", *arguments]
        return subprocess.run(
            command, cwd=tree, check=True, stdout=subprocess.PIPE, text=True, env=here
        ).stdout

    folder.mkdir(parents=True, exist_ok=True)
    names = [name for name in run("list").split() if not chosen or name.startswith(tuple(chosen))]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda name: run("section", name, str(folder / f"{name}.txt")), names))


def record_commit(commit: str, chosen: list[str]) -> Path:
    """Return the record of a commit, made by its own code in a worktree unless it is there."""
    folder = CACHE / commit
    missing = [name for name in chosen or [""] if not list(folder.glob(f"{name}*.txt"))]
    if missing:
        with tempfile.TemporaryDirectory() as parent:
            tree = Path(parent, "tree")
            _run_git("worktree", "add", "--quiet", "--detach", str(tree), commit)
            try:
                record(folder, tree, [name for name in missing if name])
            finally:
                _run_git("worktree", "remove", "--force", str(tree))
    return folder


def _run_git(*arguments: str) -> str:
    command = ["git", *arguments]
    return subprocess.run(
        command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True
    ).stdout.strip()


def read_entries(path: Path) -> dict[str, str]:
    """Return the texts of a section by title."""
    if not path.exists():
        return {}
    entries = path.read_text("utf-8").split("\n=== ")
    return {
        title.removeprefix("=== "): text
        for title, _, text in (entry.partition("\n") for entry in entries)
    }


def format_differences(before: Path, after: Path) -> list[str]:
    """Return the differences of two records: the entries of each section, each with its first
    lines.
    """
    lines = []
    for name in sorted({path.name for path in after.glob("*.txt")}):
        old, new = read_entries(before / name), read_entries(after / name)
        titles = [title for title in {**old, **new} if old.get(title) != new.get(title)]
        lines += [f"{name}: {len(titles)} of {len(new)} entries differ"] if titles else []
        for title in titles[:MOST_ENTRIES]:
            change = list(
                difflib.unified_diff(
                    old.get(title, "").split("\n"), new.get(title, "").split("\n"), n=1, lineterm=""
                )
            )[2:]
            lines += [f"  {title}", *(f"    {line[:200]}" for line in change[:MOST_LINES])]
            lines += (
                [f"    and {len(change) - MOST_LINES} more lines"]
                if len(change) > MOST_LINES
                else []
            )
        lines += (
            [f"  and {len(titles) - MOST_ENTRIES} more entries"]
            if len(titles) > MOST_ENTRIES
            else []
        )
    return lines


def compare(base: str, chosen: list[str]) -> int:
    """Print the differences between this tree and a commit, or where this branch left it."""
    before = record_commit(_run_git("merge-base", "HEAD", base), chosen)
    after = CACHE / "tree"
    rmtree(after, ignore_errors=True)
    record(after, ROOT, chosen)
    differences = format_differences(before, after)
    sys.stdout.write(
        "\n".join(
            [
                *differences,
                f"{len(list(after.glob('*.txt')))} sections compared with {before.name[:12]}\n",
            ]
        )
    )
    return bool(differences)


def main(action: str, *arguments: str) -> int:
    """Do what the command says."""
    if action == "list":
        from tests.freeze.sections import SECTIONS

        sys.stdout.write("\n".join(SECTIONS))
    elif action == "section":
        write_section(arguments[0], Path(arguments[1]))
    elif action == "record":
        record(Path(arguments[0]).absolute(), ROOT, list(arguments[1:]))
    else:
        return compare(arguments[0], list(arguments[1:]))
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
