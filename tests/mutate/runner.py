"""Run the tests of mutants, each in a process that is forked after the libraries are imported."""

import importlib
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NoReturn

from tests.mutate.mutant import ROOT, Mutant, MutantError, copy_tree, plant

LIBRARIES = ("numpy", "pyarrow.parquet", "duckdb", "sqlglot", "pandas", "typer.testing")
"""Imported once, since each test module imports most of them."""

OWN_PACKAGES = {"sqlrank", "tests", "website"}
MAX_PROCESSOR_SECONDS = 60
"""Time after which a mutant that never ends counts as noticed."""

OUTPUT = "pytest.txt"

KILLED, SURVIVED = "killed", "survived"
_PASSED, _FAILED, _INTERRUPTED = 0, 1, 2
"""Exit status of pytest: interrupted if a module of tests could not be imported."""


def run_mutants(mutants: Sequence[Mutant], jobs: int) -> Iterator[tuple[Mutant, str]]:
    """Yield each mutant with ``killed`` or ``survived``.

    Raises:
        MutantError: The text of a mutant is gone, or a test of it.
    """
    for library in LIBRARIES:
        importlib.import_module(library)
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trees = [Path(folder, str(number)) for number in range(jobs)]
        for tree in trees:
            tree.mkdir()
            copy_tree(tree)
        free = list(trees)
        running: dict[int, tuple[Mutant, Path, ExitStack]] = {}
        waiting = list(reversed(mutants))
        while waiting or running:
            while waiting and free:
                mutant, tree, planted = waiting.pop(), free.pop(), ExitStack()
                planted.enter_context(plant(mutant, tree))
                running[_start_tests(mutant, tree)] = mutant, tree, planted
            process, status = os.wait()
            mutant, tree, planted = running.pop(process)
            planted.close()
            free.append(tree)
            yield mutant, _read_outcome(mutant, tree, os.waitstatus_to_exitcode(status))


def _start_tests(mutant: Mutant, tree: Path) -> int:
    process = os.fork()
    if process == 0:
        _run_pytest(mutant.tests, tree)
    return process


def _read_outcome(mutant: Mutant, tree: Path, code: int) -> str:
    if code in {_FAILED, _INTERRUPTED, -signal.SIGXCPU, -signal.SIGKILL}:
        return KILLED
    if code == _PASSED:
        return SURVIVED
    text = (tree / OUTPUT).read_text("utf-8", "replace")
    raise MutantError(f"{mutant.name}: no tests {' '.join(mutant.tests)} ran ({code}):\n{text}")


def _run_pytest(tests: Sequence[str], tree: Path) -> NoReturn:
    """Run tests in this process, which is a copy, and end it."""
    code = 70
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (MAX_PROCESSOR_SECONDS, MAX_PROCESSOR_SECONDS + 5))
        descriptor = os.open(tree / OUTPUT, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        for stream in (1, 2):
            os.dup2(descriptor, stream)
        for name in [name for name in sys.modules if name.partition(".")[0] in OWN_PACKAGES]:
            del sys.modules[name]
        os.chdir(tree)
        os.environ["PYTHONPATH"] = str(tree)
        sys.path[:] = [str(tree), *(path for path in sys.path if path not in {"", str(ROOT)})]
        sys.dont_write_bytecode = True  # two mutants of a second could share a compiled module
        import pytest

        code = int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-m", "not slow", *tests]))
    except BaseException:  # noqa: BLE001  the process ends here, and says why
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(code)
