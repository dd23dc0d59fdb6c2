"""Runs of the tests leave ``git status`` unchanged, or fail with the names of changed files."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.interface.command_line import ROOT

HOOKS = (
    f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom tests.clean_tree import pytest_addoption,"
    " pytest_configure\n"
)
LEAVES = (
    "from pathlib import Path\n\ndef test_leaves():\n    Path('left').mkdir(exist_ok=True);"
    " Path('left/behind.txt').touch()\n"
)
KEEPS = "def test_keeps():\n    pass\n"


def make_checkout(folder: Path, tests: str, is_tracked: bool = True) -> Path:
    """Make a folder with a module of tests, committed unless it is to be no checkout."""
    (folder / "conftest.py").write_text(HOOKS)
    (folder / "test_one.py").write_text(tests)
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / ".gitignore").write_text("__pycache__/\n.pytest_cache/\n")
    if is_tracked:
        author = [
            "-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false",
        ]  # fmt: skip
        for words in (["init", "-q"], ["add", "."], [*author, "commit", "-qm", "tests"]):
            subprocess.run(["git", *words], check=True, cwd=folder)  # noqa: S607
    return folder


def run_tests(folder: Path, *options: str) -> tuple[int, str]:
    words = [sys.executable, "-m", "pytest", "-q", *options]
    variables = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        words, check=False, capture_output=True, text=True, cwd=folder, env=variables
    )
    return done.returncode, done.stdout


def test_what_a_test_leaves_or_removes_fails_the_run(tmp_path):
    status, text = run_tests(
        make_checkout(tmp_path, LEAVES + "    Path('pytest.ini').unlink()\n"), "--clean-tree"
    )
    assert status == pytest.ExitCode.TESTS_FAILED, text
    assert "1 passed" in text
    assert (
        "--clean-tree: the tests changed the working tree, which git status prints as:\n   D"
        " pytest.ini\n  ?? left/behind.txt\n" in text
    )


def test_what_was_there_before_the_run_is_not_named(tmp_path):
    make_checkout(tmp_path, KEEPS)
    (tmp_path / "mine.txt").touch()
    assert run_tests(tmp_path, "--clean-tree")[0] == pytest.ExitCode.OK


def test_a_folder_without_git_is_named(tmp_path):
    status, text = run_tests(make_checkout(tmp_path, LEAVES, is_tracked=False), "--clean-tree")
    assert status == pytest.ExitCode.OK
    assert f"--clean-tree: not compared, since {tmp_path} is no git checkout" in text


@pytest.mark.slow
def test_workers_leave_the_comparison_to_the_process_that_started_them(tmp_path):
    status, text = run_tests(
        make_checkout(tmp_path, LEAVES + KEEPS), "--clean-tree", "-p", "xdist", "-n", "2"
    )
    assert (status, text.count("?? left/behind.txt")) == (pytest.ExitCode.TESTS_FAILED, 1), text


def test_both_lanes_of_the_makefile_have_the_option():
    recipes = re.findall(
        r"^(test|test-all):.*\n\t(.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE
    )
    assert [name for name, recipe in recipes if "--clean-tree" in recipe] == ["test", "test-all"]
