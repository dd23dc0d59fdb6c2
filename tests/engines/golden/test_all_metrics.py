"""The statement of every metric and curve has no part without need, and the style of the others, in
every dialect.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from itertools import cycle
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.errors import SqlrankError
from sqlrank.learn import fit, scoring_sql
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_dependencies, find_engines
from sqlrank.registry.sql_file import SqlFile
from sqlrank.registry.sql_folder import sql_root
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.golden.header import find_header_faults
from tests.engines.golden.reading import find_faults
from tests.engines.golden.requests import REQUESTS
from tests.engines.golden.style import find_style_faults
from tests.engines.test_splits import CALLS as SPLITS
from tests.tables import build_table
from website.examples import OPTIONS, choose_table, format_metric, list_roles

FILES = [*load_registry().metrics.values(), *load_registry().curves.values()]
CASES = [
    (file, dialect)
    for file in FILES
    for dialect in find_engines(find_dependencies(load_registry(), file, {}).files) or DIALECTS
]
"""Some engines have no quantile of a group; test_measures.py has their refusal."""

UNFINISHED = {"ks": "casts what is a double already"}
"""Superfluous parts of some statements: a cast of a sum in SQLite."""


def print_statement(file: SqlFile, dialect: str, **options: Any) -> str:
    return sqlrank.sql(format_metric(file), dialect=dialect, **sources(file), **options)


def sources(file: SqlFile) -> dict[str, Any]:
    tables = {role: f"eval.{choose_table(role, file)}" for role in list_roles(file)}
    given = {role: name for role, name in tables.items() if role in OPTIONS}
    inputs = {role: name for role, name in tables.items() if role not in OPTIONS}
    return {**given, "inputs": inputs or None}


def all_faults(text: str, dialect: str, name: str = "") -> list[str]:
    """Return the faults of a statement without those of its metric that are known."""
    parsed_as = DIALECTS[dialect].sqlglot_name
    found = [
        *find_faults(text, parsed_as),
        *find_style_faults(text, parsed_as),
        *find_header_faults(text),
    ]
    return [
        fault
        for fault in found
        if UNFINISHED.get(name, "\0") not in fault and not EXPECTED.match(fault)
    ]


@pytest.mark.one_in(46)
@pytest.mark.parametrize(
    ("file", "dialect"), CASES, ids=lambda value: getattr(value, "name", value)
)
def test_nothing_in_a_statement_is_without_need(file, dialect):
    assert all_faults(print_statement(file, dialect), dialect, file.name) == []


def rollup(file: SqlFile, dialect: str) -> str:
    return sqlrank.rollup_sql(format_metric(file), dialect=dialect, by="day", **sources(file))


@pytest.mark.slow
def test_sums_of_rollups_are_named_by_columns_and_functions():
    words = re.compile(r"(?:sum|count|min|max)(?:_[a-z]+|_\d+(?=_))*_[0-9a-f]{8}")
    keywords = re.compile(r"_(?:case|when|then|else|end|null|nullif|coalesce|and|or)_")
    names = set()
    for file in load_registry().metrics.values():
        with suppress(SqlrankError):  # no rollup has it
            names |= set(
                re.findall(r"\bAS ((?:sum|count|min|max)_\w*[0-9a-f]{8})\b", rollup(file, "duckdb"))
            )
    assert len(names) > 100
    assert [
        name for name in sorted(names) if not words.fullmatch(name) or keywords.search(name)
    ] == []


EXPECTED = re.compile(
    r"""a line is longer than 100 characters: +(PARTITION BY |CAST\(\S+ AS INTEGER\) AS \S+$|CAST\(CAST\(CAST\('x'|\S+ IS NOT DISTINCT FROM \S+$)"""
    r"|CTE predictions, column (score|label): .* is not computed"
    r"|the outermost SELECT: subquery temp is no CTE$"
)
"""Faults that are none: windows by many keys, which are on one line, as is a comparison of keys;
the number of hexadecimal digits in PostgreSQL; and what makes 0.0 of -0.0 in rows that are made of
bins; and what SQL Server selects INTO a table.
"""

SWEEPS = {
    "intervals": partial(print_statement, by="day", confidence=0.95),
    "bootstrap": partial(print_statement, confidence=0.95, interval="bootstrap"),
    "groupings": partial(print_statement, by=[["day", "shop"], ["day"], []]),
    "rollups": rollup,
    "from rollups": lambda file, dialect: sqlrank.sql(
        format_metric(file), dialect=dialect, rollup="eval.daily", by="day"
    ),
}
"""Kinds of statements, of each of which every metric that has it is printed in one dialect; the
dialects take turns.
"""


def sweep(kind: str) -> Iterator[tuple[str, str, str]]:
    """Yield the metrics that have a kind of statement, with a dialect and the statement."""
    dialects = cycle(DIALECTS)
    for file in FILES:
        dialect = next(dialects)
        try:
            yield file.name, dialect, SWEEPS[kind](file, dialect)
        except SqlrankError:  # it has none, or not in this dialect
            continue


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "least"),
    [
        ("intervals", 200),
        ("bootstrap", 50),
        ("groupings", 200),
        ("rollups", 80),
        ("from rollups", 80),
    ],
)
def test_nothing_in_other_statements_of_metrics_is_without_need(kind, least):
    found = {
        (name, dialect): all_faults(text, dialect, name) for name, dialect, text in sweep(kind)
    }
    assert {case: sentences for case, sentences in found.items() if sentences} == {}
    assert len(found) >= least


def list_windows_over_all_rows(text: str) -> list[str]:
    """Return the windows of a statement of Spark that have no partitions."""
    windows = sqlglot.parse_one(text, read="spark").find_all(exp.Window)
    parts = ("partition_by", "alias")
    return [window.sql() for window in windows if not any(map(window.args.get, parts))]


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"by": "day"}, {"confidence": 0.95}], ids=str)
def test_windows_of_spark_have_partitions(options):
    texts = {}
    for file in FILES:
        with suppress(SqlrankError):  # it has no intervals, or its input no day
            texts[file.name] = print_statement(file, "spark", **options)
    assert len(texts) > 100
    assert {
        name: found for name in texts if (found := list_windows_over_all_rows(texts[name]))
    } == {}
    if not options:
        assert sum("One row: aggregates of all rows." in text for text in texts.values()) > 15


@pytest.mark.slow
def test_windows_of_other_statements_of_spark_have_partitions():
    texts = {
        number: request.text("spark")
        for number, request in REQUESTS.items()
        if "plan" not in request.arguments
    }
    assert {
        name: found for name in texts if (found := list_windows_over_all_rows(texts[name]))
    } == {}


@pytest.mark.parametrize("name", SPLITS)
def test_windows_of_splits_of_spark_have_partitions(name):
    assert list_windows_over_all_rows(sqlrank.split_sql("e", dialect="spark", **SPLITS[name])) == []


@pytest.mark.parametrize("source", ["events", "SELECT * FROM events"])
@pytest.mark.parametrize("name", SPLITS)
def test_a_split_of_spark_reads_its_source_once(name, source):
    text = sqlrank.split_sql(source, dialect="spark", **SPLITS[name])
    tables = sqlglot.parse_one(text, read="spark").find_all(exp.Table)
    assert [table.name for table in tables].count("events") == 1


@pytest.mark.parametrize("path", [*sql_root().glob("analyses/splits/*.sql")], ids=lambda x: x.stem)
def test_no_step_is_added_for_windows_of_splits(path):
    """A step of Redshift or Spark for such a window names the columns that it passes on, of which
    no one knows those of a star.
    """
    tree = sqlglot.parse_one(path.read_text("utf-8"), read="duckdb")
    for window in tree.find_all(exp.Window):
        if any(item.is_star for item in window.parent_select.expressions):
            is_count = isinstance(window.this, exp.Count) and window.this.this.is_star
            assert is_count or isinstance(window.this, exp.DenseRank)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", DIALECTS)
def test_nothing_in_experiments_splits_and_scorers_is_without_need(dialect):
    without_md5 = {"50", "60"} if not DIALECTS[dialect].supports_md5 else set()
    texts = {
        number: REQUESTS[number].text(dialect)
        for number in ("50", "51", "52", "60", "61")
        if number not in without_md5
    }
    examples = build_table(label="1 0", age="1.0 0.0", price="0.0 0.0")
    weights = fit(examples, k=1, columns={"features": ["age", "price"]}, max_iter=1)
    texts["scorer"] = scoring_sql(weights, "shop.people", dialect=dialect)
    assert {
        name: found for name, text in texts.items() if (found := all_faults(text, dialect))
    } == {}
