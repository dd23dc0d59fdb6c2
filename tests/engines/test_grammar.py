"""Statements parse in the grammar of their engine, by sqlfluff, which checks neither types nor
names.

For Snowflake, Redshift, Trino and Databricks, which cannot be run here, this is all there is but
for engines like them.
"""

import re
from collections.abc import Iterator

import pytest
from sqlfluff.core import FluffConfig, Linter

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_dependencies, find_engines
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.scenarios import Scenario, scenarios, writable_scenarios
from tests.lanes import select_few
from tests.named_sources import name_sources

pytestmark = pytest.mark.slow

GRAMMARS = {
    dialect: dialect for dialect in DIALECTS if dialect not in {"duckdb", "datafusion", "sqlite"}
} | {"spark": "sparksql"}
"""The name that sqlfluff has for a grammar. It has none for DataFusion; SQLite, which runs here,
takes the name ``cascade``, unlike it.
"""

RUN_HERE = {
    "spark": "Spark",
    "postgres": "PostgreSQL",
    "clickhouse": "ClickHouse",
    "bigquery": "ZetaSQL",
}

FUSED = (
    "systems", "predictions shop, score_order=buckets", "records of groups", "beyond accuracy",
    "ROC, score_order=buckets",
)  # fmt: skip
"""Scenarios that are parsed whole: all metrics, and a curve."""

STEP = re.compile(r"^(?:WITH |\), )\S+ AS \($|^\)$", re.MULTILINE)
"""Pattern of the text between the CTEs of a statement."""


def assert_parsed(linter: Linter, text: str) -> None:
    violations = linter.parse_string(text).violations
    assert not violations, f"{violations[0].desc()}\n{text}"


@pytest.fixture(params=select_few(GRAMMARS, ("snowflake",)), scope="module")
def dialect(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def linter(dialect: str) -> Linter:
    return Linter(config=FluffConfig(overrides={"dialect": GRAMMARS[dialect]}))


def test_a_parser_finds_what_is_wrong(linter):
    for text in ("SELECT (a FROM b", "SELECT a FROM b GROUP a", "SELECT a FROM b WHERE"):
        assert linter.parse_string(text).violations


@pytest.mark.parametrize("name", select_few(FUSED, 1))
def test_every_metric_at_once(linter, dialect, name):
    (scenario,) = [scenario for scenario in scenarios() if scenario.name == name]
    assert_parsed(linter, scenario.text(dialect))


@pytest.mark.parametrize("place", ["create_table", "create_view", "insert", "overwrite_by"])
def test_stored_results(linter, dialect, place):
    quote = "`" if DIALECTS[dialect].sqlglot_name in {"bigquery", "spark", "databricks"} else '"'
    names = f"shop.{quote}select{quote}.{quote}Metrics{quote}"
    where = (
        "run.day BETWEEN DATE '2026-01-01' AND DATE '2026-01-07' AND NOT run.country IN ('de',"
        " 'at') AND qrels.source LIKE 'a%'"
    )
    options = {
        "run": "shop.eval.run",
        "qrels": names,
        "by": ["order", "my system"],
        "where": where,
        "insert" if place == "overwrite_by" else place: names.replace("Metrics", "Results"),
    }
    if (dialect, place) == ("tsql", "create_view"):
        options[place] = options[place].removeprefix(
            "shop."
        )  # a view is in the database where the statement runs
    if place == "overwrite_by":
        if not DIALECTS[dialect].supports_delete:
            pytest.skip(f"{dialect} deletes no rows")
        options["overwrite_by"] = "order"
    assert_parsed(linter, sqlrank.sql(["nDCG@10", "RR"], dialect=dialect, **options))


@pytest.mark.slow
def test_every_step_of_every_metric_and_policy(linter, dialect):
    if dialect in RUN_HERE:
        pytest.skip(f"{RUN_HERE[dialect]} itself executes all of this in tests/engines")
    steps = set()
    for text in iterate_statements(dialect):
        steps.update(
            part for part in STEP.split(text) if part.strip() and not part.startswith("-- ")
        )
    assert len(steps) > 500
    for step in sorted(steps):
        assert_parsed(linter, step)


def iterate_statements(dialect: str) -> Iterator[str]:
    """All scenarios, and every metric and curve in a statement of its own."""
    for scenario in writable_scenarios(dialect):
        yield scenario.text(dialect)
        for metric in (
            scenario.metrics
            if scenario.name in {"default", "predictions per query", "regression"}
            else ()
        ):
            yield Scenario(metric, [metric], scenario.options).text(dialect)
    for curve in load_registry().curves.values():
        engines = find_engines(find_dependencies(load_registry(), curve, {}).files)
        if engines and dialect not in engines:
            continue
        cutoff = (
            "@5"
            if curve.cutoff_parameter is not None and curve.cutoff_parameter.default is None
            else ""
        )
        yield sqlrank.sql(curve.display_name + cutoff, dialect=dialect, **name_sources(curve))
