"""A plugin of pytest that records the messages that tests provoke: errors under ``pytest.raises``,
and standard error of commands.
"""

import os
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from _pytest.raises import RaisesExc
from typer.testing import CliRunner

from sqlrank.errors import SqlrankError
from tests.freeze.describing import normalize

TARGET = "FREEZE_MESSAGES"
"""The environment variable that names the file to write."""

_FOUND: defaultdict[str, list[str]] = defaultdict(list)


def _keep(text: str) -> None:
    _FOUND[os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]].append(normalize(text))


def pytest_configure() -> None:
    """Record in the two places through which tests read messages."""
    leave, invoke = RaisesExc.__exit__, CliRunner.invoke

    def record_error(self: Any, kind: Any, error: Any, traceback: Any) -> Any:
        if isinstance(error, SqlrankError):
            _keep(f"{type(error).__name__}: {error}")
        return leave(self, kind, error, traceback)

    def record_output(self: Any, *arguments: Any, **options: Any) -> Any:
        result = invoke(self, *arguments, **options)
        if result.stderr:
            _keep(f"exit status {result.exit_code}: {result.stderr}")
        return result

    RaisesExc.__exit__ = record_error
    CliRunner.invoke = record_output


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out tests whose calls are drawn at random."""
    items[:] = [item for item in items if not item.get_closest_marker("hypothesis")]


def pytest_sessionfinish() -> None:
    """Write the messages by test."""
    entries = [f"=== {name}\n" + "\n".join(texts) + "\n" for name, texts in sorted(_FOUND.items())]
    Path(os.environ[TARGET]).write_text("".join(entries), "utf-8")
