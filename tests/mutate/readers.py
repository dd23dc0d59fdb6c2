"""Record the files of ``sql/`` that each test reads, as a plugin of pytest, and choose by that
record the tests that should notice a fault in a file.
"""

import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
RECORD = ROOT / ".cache" / "readers.json"
RECORDED_TESTS = (
    *(f"tests/numbers/{folder}" for folder in ("references", "examples", "properties")),
    *("tests/analyses", "tests/interface/test_experiments.py"),
)
"""Tests whose numbers come from outside."""

REFERENCES = "tests/numbers/references/"

_NAMED_FOLDER = "sql/metrics/"
"""Folder of which every call reads all comments, so that only their statements count."""


class Recorder:
    """The files that are read, in the test that runs."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self.readers: dict[str, tuple[float, list[str]]] = {}
        sys.addaudithook(self._note_opened)
        self._note_statements()

    def _note_opened(self, event: str, arguments: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(arguments[0], str) and arguments[0].endswith(".sql"):
            path = _relative_path(arguments[0])
            if path.startswith("sql/") and not path.startswith(_NAMED_FOLDER):
                self.paths.add(path)

    def _note_statements(self) -> None:
        from sqlrank.registry.sql_file import SqlFile

        parse = SqlFile.__dict__["statement"].func

        def parse_noted(file: SqlFile) -> Any:
            self.paths.add(_relative_path(str(file.path)))
            return parse(file)

        statement: Any = cached_property(parse_noted)
        statement.__set_name__(SqlFile, "statement")
        SqlFile.statement = statement

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Run a test with nothing cached, so that it reads all its files."""
        _clear_caches()
        self.paths.clear()
        start = time.process_time()
        yield
        self.readers[item.nodeid] = (
            round(time.process_time() - start, 2),
            sorted(path for path in self.paths if path.startswith("sql/")),
        )

    def pytest_sessionfinish(self) -> None:
        """Add the tests of this session to the record."""
        RECORD.parent.mkdir(exist_ok=True)
        recorded = json.loads(RECORD.read_text("utf-8")) if RECORD.exists() else {}
        RECORD.write_text(json.dumps(recorded | self.readers, indent=0), "utf-8")


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Recorder())


def _relative_path(path: str) -> str:
    return path.removeprefix(f"{ROOT}/")


def _clear_caches() -> None:
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "sqlrank":
            for value in list(vars(module).values()):
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def share_files(
    readers: Mapping[str, tuple[float, list[str]]],
) -> dict[str, tuple[float, list[str]]]:
    """Give the parameters of a reference test that read nothing, since the first of them read for
    all, the files of all.
    """
    by_function: dict[str, set[str]] = {}
    for test, (_, paths) in readers.items():
        by_function.setdefault(test.partition("[")[0], set()).update(paths)
    return {
        test: (
            seconds,
            paths
            or sorted(by_function[test.partition("[")[0]] if test.startswith(REFERENCES) else ()),
        )
        for test, (seconds, paths) in readers.items()
    }


MAX_FILES = 150
"""Number of files above which a test looks through all, such as for metrics to suggest."""

_MODULES = {
    "columns": "measures",
    "comparison": "compare",
    "off_policy": "(polic|clicks)",
    "rankings": "r(ankings|eference)",
    "recommendations": "(beyond|recommendations)",
    "regression": "predictions",
}
"""Names of modules of tests for families of metrics and analyses of other names."""


def choose_tests(
    readers: Mapping[str, tuple[float, list[str]]], path: str, max_seconds: float
) -> list[str]:
    """Return the tests that read a file, as many as took so many seconds of a processor when they
    were recorded.

    First come those of its family, which name the metric if it is one, then those that read few
    files, and references.
    """
    is_of_family = _make_family_check(path)
    candidates = sorted(
        (
            not is_of_family(test.partition("::")[0]),
            len(paths) > MAX_FILES,
            not test.startswith(REFERENCES),
            len(paths) * (0.2 + seconds),
            seconds,
            test,
        )
        for test, (seconds, paths) in readers.items()
        if path in paths
    )
    chosen: list[str] = []
    total = 0.0
    for *_, seconds, test in candidates:
        if total + seconds <= max_seconds or not chosen:
            total += seconds
            chosen.append(test)
    return chosen


def _make_family_check(path: str) -> Callable[[str], bool]:
    """Return a function that says of a module of tests if it is of the family of a SQL file."""
    if path.startswith(_NAMED_FOLDER):
        name = re.split("[@:]", (ROOT / path).read_text("utf-8").removeprefix("-- "), maxsplit=1)[0]
        return cache(
            lambda module: bool(
                re.search(rf"\b{re.escape(name)}\b", (ROOT / module).read_text("utf-8"))
            )
        )
    words = [_MODULES.get(part, part.rstrip("s")) for part in path.split("/")[2:-1]]
    pattern = re.compile("|".join(words) or "$^")
    return lambda module: bool(pattern.search(module.rpartition("/")[2]))
