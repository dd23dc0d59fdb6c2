"""``python -m release VERSION``: build and check the files of a release in dist/, without a change
to the tree unless ``--write`` is given.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from release import artifacts
from release.preparation import check_version, is_prepared, prepare_version, read_changelog
from release.sources import find_stale_pages
from sqlrank.errors import ContractError, InputError, SqlrankError

ROOT = Path(__file__).parents[1]
WRITERS = ("website.public_interface", "tests.stored")
"""Modules that write the public interface, and the stored results of this version."""


def main(arguments: list[str] | None = None) -> int:
    """Make the files of a release; return the exit status."""
    parser = argparse.ArgumentParser("python -m release", description=__doc__)
    parser.add_argument("version", help="The version, such as 1.0.0.")
    parser.add_argument(
        "--write",
        action="store_true",
        help="Set the version in this tree, to commit and tag, instead of in a copy.",
    )
    parser.add_argument(
        "--no-checks",
        action="store_true",
        help="Leave out .ci/run: tests, style, types and documentation.",
    )
    parser.add_argument("--output", type=Path, default=ROOT / "dist", help="Folder of the files.")
    options = parser.parse_args(arguments)
    try:
        with tempfile.TemporaryDirectory() as scratch:
            make_release(
                options.version,
                options.output,
                Path(scratch),
                is_written=options.write,
                is_checked=not options.no_checks,
            )
    except SqlrankError as error:
        sys.stderr.write(f"release: {error}\n")
        return 2
    return 0


def make_release(
    version: str, output: Path, scratch: Path, *, is_written: bool, is_checked: bool
) -> None:
    """Set the version, run the checks, and make the files of the release.

    A tree that has the version and its section already, such as that of a tag, stays as it is.
    """
    was_prepared = is_prepared(ROOT, version)
    if not was_prepared:
        check_version(version, read_changelog((ROOT / "CHANGELOG.md").read_text("utf-8")))
    check_pages(version, is_published=is_written or was_prepared)
    if was_prepared:
        tree = ROOT
    else:
        if is_written and artifacts.run_program("git", "status", "--porcelain", cwd=ROOT):
            raise InputError("git status is not clean. Commit or remove the changes first")
        tree = ROOT if is_written else copy_tree(scratch / "tree")
        changed = prepare_version(tree, version, datetime.now(UTC).date())
        for module in WRITERS:
            artifacts.run_program(sys.executable, "-m", module, cwd=tree, PYTHONPATH=str(tree))
        print_progress(
            f"set the version in {len(changed)} files{'' if is_written else ' of a copy'}"
        )
    if is_checked:
        print_progress("run .ci/run with all tests, which takes up to two hours")
        artifacts.run_program("env", "SHARE=1/1", "bash", ".ci/run", cwd=tree)
    section = next(
        section
        for section in read_changelog((tree / "CHANGELOG.md").read_text("utf-8"))
        if section.version == version
    )
    archives = artifacts.build_twice(tree, scratch, section.date)
    print_progress(
        f"built {' and '.join(path.name for path in archives)} twice, with the same bytes"
    )
    artifacts.check_archives(archives, tree)
    sdist, wheel = sorted(archives, key=lambda path: path.suffix == ".whl")
    artifacts.install_archive(sdist, scratch / "venv-sdist")
    python = artifacts.install_archive(wheel, scratch / "venv-wheel")
    print_progress("checked contents, sizes and metadata, and installed both without git")
    tested, missing = artifacts.check_interpreters(wheel, tree, scratch)
    print_progress(
        "the wheel gives its numbers on Python"
        f" {', '.join(tested)}{'; no interpreter at hand: ' * bool(missing)}{', '.join(missing)}"
    )
    output.mkdir(parents=True, exist_ok=True)
    files = [Path(shutil.copy(path, output / path.name)) for path in archives]
    bill = artifacts.write_sbom(python, tree, output / f"sqlrank-{version}.cdx.json", section.date)
    print_progress(f"wrote the SBOM of {len(bill['components'])} components")
    files.append(output / f"sqlrank-{version}.cdx.json")
    (output / "NOTES.md").write_text(f"# sqlrank {version}\n\n{section.notes}\n", "utf-8")
    artifacts.write_hashes(files, output / "SHA256SUMS")
    print_progress(f"{output} has the files, NOTES.md and SHA256SUMS")
    if is_written:
        print_progress(
            f"read git diff, then: git commit -am 'Release {version}' && git tag v{version} && git"
            " push --follow-tags"
        )


def check_pages(version: str, *, is_published: bool) -> None:
    """Report pages whose tables were made from other sources; raise ``ContractError`` for them
    before a major version is published.
    """
    stale = find_stale_pages(ROOT)
    if stale and is_published and version.endswith(".0.0"):
        raise ContractError(f"{version} needs tables that were made from this tree", *stale)
    for page in stale:
        print_progress(f"not ready for a major version: {page}")


def copy_tree(target: Path) -> Path:
    """Return a copy of the files that git tracks, as they are now."""
    for name in artifacts.run_program("git", "ls-files", "-z", cwd=ROOT).split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)
    return target


def print_progress(text: str) -> None:
    """Print a line of progress."""
    sys.stdout.write(f"release: {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
