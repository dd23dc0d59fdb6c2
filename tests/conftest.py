"""Small data that several test modules share."""

import gc
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any
from zlib import crc32

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import typer.testing

from tests import clean_tree
from tests.engines import matrix
from tests.engines.engines import ENGINES
from tests.engines.mariadb import MariaDB
from tests.lanes import mark_slow_cases
from tests.tables import build_table

NAMES = [engine.__name__ for engine in (*ENGINES, MariaDB)]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rewrite-golden",
        action="store_true",
        help="Write the statements in tests/engines/golden, and the messages of catalogues, anew.",
    )
    parser.addoption(
        "--write-matrix",
        action="store_true",
        help="Store what agreed on which engine for the page on engines.",
    )
    parser.addoption(
        "--slow-share",
        default="1/1",
        help="Run one share of the slow tests, such as 2/8, besides all that are not slow.",
    )
    clean_tree.pytest_addoption(parser)


def pytest_configure(config: pytest.Config) -> None:
    clean_tree.pytest_configure(config)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect the slow tests of other shares: which share a test is in, depends on its name
    alone.
    """
    mark_slow_cases(items)
    share, shares = map(int, config.getoption("slow_share").split("/"))
    others = [
        item
        for item in items
        if item.get_closest_marker("slow")
        and crc32(f"{item.path.name} {item.name}".encode()) % shares != share % shares
    ]
    if others:
        left_out = set(others)
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=others)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Look for no garbage among thousands of tests, which are all kept: that takes a quarter of the
    time to collect, and an eighth of that to run them.

    Trees of statements are many objects that live long enough to be searched several times, which
    takes a sixth of the time of the tests that print them. So garbage is looked for rarely.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 10, 10)
        gc.enable()


@pytest.fixture(scope="session", autouse=True)
def cache_commands() -> Iterator[None]:
    """Let typer make the commands once for all that are invoked, instead of once for each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(typer.testing, "_get_command", cache(typer.testing._get_command))  # noqa: SLF001
        yield


@pytest.fixture
def run() -> pa.Table:
    """Two lists; with ``qrels``, RR is 1/2 and 1, so 0.75 on the mean, and P@1 is 0.5."""
    return build_table(query_id="q1 q1 q2", doc_id="a b a", score="0.9 0.5 1.0")


@pytest.fixture
def qrels() -> pa.Table:
    return build_table(query_id="q1 q2", doc_id="b a", relevance="1 2")


@pytest.fixture
def files(tmp_path: Path, run: pa.Table, qrels: pa.Table) -> Path:
    """Return a folder with the run and the qrels as Parquet, CSV and TREC files."""
    for name, table in (("run", run), ("qrels", qrels)):
        pq.write_table(table, tmp_path / f"{name}.parquet")
        pa.csv.write_csv(table, tmp_path / f"{name}.csv")
    (tmp_path / "run.trec").write_text("q1 Q0 a 1 0.9 tag\nq1 Q0 b 2 0.5 tag\nq2 Q0 a 1 1.0 tag\n")
    (tmp_path / "qrels.trec").write_text("q1 0 b 1\nq2 0 a 2\n")
    return tmp_path


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Print the table of engines and their agreement, if engines ran."""
    if records := _records(terminalreporter):
        terminalreporter.section("calls that gave DuckDB's numbers, to 1e-9")
        terminalreporter.write(matrix.format_table(records, NAMES))
        worst = max(records, key=lambda item: item["worst"])
        terminalreporter.write_line(
            f"worst difference: {worst['worst']:.1e} ({worst['engine']}, {worst['scenario']})"
        )
        if config.getoption("write_matrix"):
            matrix.write_tables(records, NAMES)


def _records(reporter: Any) -> list[dict[str, Any]]:
    passed = [report for report in reporter.stats.get("passed", []) if report.when == "call"]
    return [
        value
        for report in passed
        for name, value in report.user_properties
        if name == matrix.PROPERTY
    ]
