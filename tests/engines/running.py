"""Engines for tests: each in one process, started once a module, required to be there."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from typing import Any

import pyarrow as pa
import pytest

JAVA = (
    "Spark needs Java 17 or later, which only an operating system installs: openjdk-17-jre-headless"
    " on Debian"
)


def parametrize_engines(engines: Iterable[Callable[[], Any]]) -> list[Any]:
    """Return engines as parameters; all tests of one are run by the same process, and all are
    slow.
    """
    return [
        pytest.param(
            engine,
            id=engine.__name__,
            marks=[pytest.mark.xdist_group(engine.__name__), pytest.mark.slow],
        )
        for engine in engines
    ]


@contextmanager
def run_engine(start: Callable[[], Any], tables: Mapping[str, pa.Table]) -> Iterator[Any]:
    """Start an engine with tables in it; one that is missing is a failure, so that no green run
    hides it.

    Only Spark may be passed over where there is no Java, but not where ``CI`` is set.
    """
    if (
        start.__name__ == "Spark"
        and not (shutil.which("java") or os.environ.get("JAVA_HOME"))
        and "CI" not in os.environ
    ):
        pytest.skip(JAVA)
    try:
        engine = start()
    except ImportError as error:
        pytest.fail(f"{start.__name__} is required: {error}; install '.[engines]'")
    with closing(engine):
        for name, table in tables.items():
            engine.load(name, table)
        yield engine
