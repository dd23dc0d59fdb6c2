"""Names of users in every dialect: statements read back, by the dialect's own parser, with the same
names.
"""

import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.scenarios import Scenario, writable_scenarios
from tests.lanes import select_few

LIMIT = 200_000
"""Bytes of a statement that the strictest engine accepts."""

HOSTILE = [
    'odd "col', "sel`ect", "o'clock", "a.b", "Größe", "x; DROP TABLE y", "--", "*/ x",
    "{{ x }}", "%s", " ",
]  # fmt: skip
RESERVED = ["select", "order", "group", "table", "user", "rank", "Mixed"]
INNER = {"list_id", "query_id", "doc_id", "score", "label", "weight", "rank"}


def fold_name(dialect: str, name: str) -> str:
    return DIALECTS[dialect].fold_identifier(name)


def quote_name(dialect: str, name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(DIALECTS[dialect].sqlglot_name)


def find_columns_read(tree: exp.Expr, table: str) -> set[str]:
    """Return the columns that are read of a table, all of which must be in quotes."""
    found = set()
    for select in tree.find_all(exp.Select):
        source = select.args["from_"].this
        if isinstance(source, exp.Table) and source.name == table:
            for column in (
                node for item in select.expressions for node in item.find_all(exp.Column)
            ):
                assert column.this.quoted or column.name in INNER
                found.add(column.name)
    return found


@pytest.mark.one_in(60)
@pytest.mark.parametrize("name", [*HOSTILE, *RESERVED])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_columns(dialect, name):
    if dialect == "bigquery" and "." in name:
        name = name.replace(".", "-")  # BigQuery has no columns with a dot
    columns = {"query_id": name, "score": f"{name} 2"}
    text = sqlrank.sql(
        ["RR", "nDCG@10"],
        dialect=dialect,
        run="shop.runs",
        qrels="q",
        by=[f"{name}3", "system"],
        columns=columns,
    )
    tree = sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name)
    exact = fold_name(dialect, name) if name in RESERVED else name
    third = (
        f"{name}3"
        if not f"{name}3".isidentifier() or not name.isascii()
        else fold_name(dialect, f"{name}3")
    )
    assert find_columns_read(tree, "runs") == {
        exact, f"{name} 2", third, fold_name(dialect, "system"), "doc_id",
    }  # fmt: skip


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_quoted_column_keeps_its_name(dialect):
    for quote in '"`':
        names = {"label": f"{quote}Click{quote}", "score": f"1 - {quote_name(dialect, 'pClick')}"}
        text = sqlrank.sql(
            "Brier", dialect=dialect, predictions="p", columns=names, by=f"{quote}camPaign{quote}"
        )
        tree = sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name)
        assert find_columns_read(tree, "p") == {"Click", "pClick", "camPaign"}


@pytest.mark.one_in(8)
@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "parts",
    [["Proj", "Data set", 'odd "table'], ["select", "o'clock"], ["a.b"], ["sel;ect", "x*/"]],
    ids=str,
)
def test_tables(dialect, parts):
    writer = DIALECTS[dialect].sqlglot_name
    if dialect == "bigquery" and '"' in parts[-1]:
        parts = [*parts[:-1], "odd table"]  # BigQuery has no such names
    spelled = ".".join(quote_name(dialect, part) for part in parts)
    texts = (
        sqlrank.sql("Brier", dialect=dialect, **names)
        for names in ({"predictions": spelled}, {"predictions": "p", "create_table": spelled})
    )
    found = [
        table
        for text in texts
        for table in sqlglot.parse_one(text, read=writer).find_all(exp.Table)
    ]
    tables = [
        table
        for table in found
        if not table.alias and table.name.lower() not in {"predictions_metrics", "predictions", "p"}
    ]
    assert len(tables) == 2
    for table in tables:
        assert ".".join(part.name for part in table.parts) == ".".join(parts)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_name_without_quotes_is_left_to_the_engine_unless_sql_knows_the_word(dialect):
    text = sqlrank.sql("Brier", dialect=dialect, predictions="Shop.order.Clicks")
    order = quote_name(dialect, fold_name(dialect, "order"))
    assert f"FROM Shop.{order}.Clicks\n" in text


def test_tables_of_bigquery():
    for name in (
        "my-project.data.clicks",
        "`my-project`.data.clicks",
        "`my-project.data.clicks`",
        "my-project.data.events_2026",
    ):
        tree = sqlglot.parse_one(
            sqlrank.sql("Brier", dialect="bigquery", predictions=name), read="bigquery"
        )
        assert any(
            table.catalog == "my-project" and table.db == "data"
            for table in tree.find_all(exp.Table)
        )
    assert "FROM `my-project.data.events_*`" in sqlrank.sql(
        "Brier", dialect="bigquery", predictions="`my-project.data.events_*`"
    ).replace("`.`", ".")


def assert_reads_back(scenario: Scenario, dialect: str) -> None:
    """Assert that a statement is small, parses in its dialect, and has plain column names."""
    text = scenario.text(dialect)
    assert len(text.encode()) < LIMIT
    tree = sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name)
    assert isinstance(tree, exp.Select)
    if scenario.metrics[0] not in load_registry().curves:
        for item in tree.selects[-len(scenario.metrics) :]:
            assert item.output_name.isascii()
            assert item.output_name.isidentifier()
            assert item.output_name == item.output_name.lower()


@pytest.mark.slow
@pytest.mark.parametrize("dialect", select_few(DIALECTS, ("bigquery",)))
def test_every_metric_reads_back(dialect):
    few_of_many = ("systems", "predictions shop, score_order=buckets", "regression")
    asked = [scenario for scenario in writable_scenarios(dialect) if scenario.name in few_of_many]
    assert len(asked) == 3
    for scenario in asked:
        assert_reads_back(scenario, dialect)


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["snowflake", "redshift", "trino"])
def test_every_policy_reads_back(dialect):
    """Of the other dialects, engines execute all of this in ``tests/engines``."""
    for scenario in writable_scenarios(dialect):
        assert_reads_back(scenario, dialect)
