"""The option ``--clean-tree``: a run of the tests fails if it changes what ``git status``
prints.
"""

import subprocess
from pathlib import Path
from typing import Any

import pytest

OPTION = "--clean-tree"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        OPTION, action="store_true", help="Fail if git status is not what it was before the tests."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Compare the tree in the process that starts the others, since they all write to the same
    one.
    """
    if config.getoption("clean_tree") and not hasattr(config, "workerinput"):
        config.pluginmanager.register(CleanTree(config.rootpath), "clean-tree")


class CleanTree:
    """Compare ``git status`` before and after a run."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.before = status_lines(root)

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Fail a run that passed but changed the working tree, with the names of the changes."""
        reporter: Any = session.config.pluginmanager.get_plugin("terminalreporter")
        after = status_lines(self.root)
        if self.before is None or after is None:
            reporter.write_line(
                f"\n{OPTION}: not compared, since {self.root} is no git checkout, or git is not"
                " installed",
                yellow=True,
            )
            return
        if changed := sorted(after ^ self.before):
            reporter.write_line(
                f"\n{OPTION}: the tests changed the working tree, which git status prints as:",
                red=True,
            )
            for line in changed:
                reporter.write_line(
                    f"  {line}{'' if line in after else ' (before the tests, and not after)'}",
                    red=True,
                )
            reporter.write_line("Write below tmp_path instead.", red=True)
            if session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED


def status_lines(root: Path) -> set[str] | None:
    """Return the lines of ``git status``, each untracked file by itself; None where there is no
    checkout or no git.
    """
    try:
        done = subprocess.run(
            # Whichever git there is
            ["git", "status", "--porcelain", "--untracked-files=all"],  # noqa: S607
            check=False,
            capture_output=True,
            text=True,
            cwd=root,
        )
    except OSError:
        return None
    return set(done.stdout.splitlines()) if done.returncode == 0 else None
