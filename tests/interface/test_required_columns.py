"""A column of an input is required where a metric of the call reads it, and nowhere else."""

from collections.abc import Collection

import pytest
import sqlglot
from sqlglot import exp

import sqlrank
from sqlrank.errors import InputError, MetricError, SqlrankError
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_dependencies
from sqlrank.registry.settings_checks import LIST_SLOTS
from sqlrank.sql_ast import find_nodes
from tests.interface.advice import find_options
from tests.interface.command_line import run_refused_command
from tests.lanes import select_few
from tests.tables import read_columns

VALUES = {"key": "a", "integer": 1, "number": 0.5, "double": 1.0, "any": 1, "list": [1.0]}
LIBRARY = load_registry()


def _list_read_columns() -> dict[str, tuple[str, set[str]]]:
    """Return the role of each metric that evaluates rows of one table, and the columns that its
    files name or that identify a row.
    """
    read = {}
    for file in map(LIBRARY.validate_file, [*LIBRARY.metrics.values(), *LIBRARY.curves.values()]):
        settings = {name: choice.default for name, choice in file.declared_settings.items()}
        dependencies = find_dependencies(LIBRARY, file, settings, *LIST_SLOTS)
        (role, *others) = [*dependencies.roles]
        if (
            file.measures_column
            or others
            or LIBRARY.roles[role].list_relation
            or LIBRARY.roles[role].assembled_from
        ):
            continue
        trees = [
            each.tree
            for each in dependencies.files
            if any(table.name == role for table in find_nodes(each.tree, exp.Table))
        ]
        named = {
            column.name for tree in trees for column in find_nodes(tree, exp.Column)
        } & LIBRARY.roles[role].columns.keys()
        cutoff = file.cutoff_parameter
        at = "@5" if cutoff is not None and cutoff.type == "integer" else "@0.1"
        name = file.full_name.replace("@k", at) + at * (
            cutoff is not None and cutoff.default is None and "@k" not in file.full_name
        )
        lists = (
            {str(LIBRARY.roles[role].query_column)} if settings.get("level") == "query" else set()
        )
        read[name] = (
            role,
            {*LIBRARY.roles[role].unique, *named, *lists} - {LIBRARY.roles[role].unit_column},
        )
    return read


READ = _list_read_columns()


ROLES = sorted({role for role, _ in READ.values()})


def _find_missing(metric: str, role: str, columns: Collection[str]) -> str:
    """Return what a message says of missing columns of a table that has these columns alone, with a
    row that other rules may reject.
    """
    rows = {name: [VALUES[LIBRARY.roles[role].columns[name].type]] for name in sorted(columns)}
    try:
        sqlrank.evaluate(
            metric, **({role: rows} if role == "predictions" else {"inputs": {role: rows}})
        )
    except SqlrankError as error:
        return next((line for line in str(error).split("\n") if ": no column" in line), "")
    return ""


@pytest.mark.one_in(3)
@pytest.mark.parametrize("role", select_few(ROLES, {*ROLES} - {"predictions"}))
def test_a_table_needs_the_columns_that_are_read(role):
    declared = LIBRARY.roles[role].columns
    every = {name for name, column in declared.items() if column.is_required}
    for metric, (_, columns) in ((name, read) for name, read in READ.items() if read[0] == role):
        # A count of rows counts those that have all columns.
        needed = {name for name in columns if declared[name].default is None} or every
        needed = every if metric.endswith("_dropped") else needed
        assert not _find_missing(metric, role, needed)
        for name in needed if len(needed) > 1 else ():
            assert f"'{name}'" in _find_missing(metric, role, needed - {name}), (metric, name)


ASSEMBLED = {
    "records": ("BCubedF", ("predicted_clusters", "true_clusters")),
    "run": ("AP", ("answers",)),
    "class_scores": ("MulticlassLogLoss", ("multiclass_predictions",)),
}
"""A metric of each role that is made of others, and these."""


@pytest.mark.parametrize("role", ASSEMBLED)
def test_a_table_that_is_joined_to_another_needs_all_columns_of_the_join(role):
    """A statement over tables that nobody has looked at selects them; it once had NULL in their
    place.
    """
    metric, components = ASSEMBLED[role]
    text = sqlrank.sql(
        metric,
        inputs={component: f"shop.{component}" for component in components},
        dialect="bigquery",
    )
    tree = sqlglot.parse_one(text, read="bigquery")
    for component in components:
        (source,) = (
            table for table in tree.find_all(exp.Table) if table.name == component and table.db
        )
        selected = {column.name for column in source.parent_select.find_all(exp.Column)}
        assert selected >= {
            name for name, column in LIBRARY.roles[component].columns.items() if column.is_required
        }
    assert {role for role, entry in LIBRARY.roles.items() if entry.assembled_from} - {
        "qrels"
    } == ASSEMBLED.keys()


@pytest.mark.parametrize("dialect", ["duckdb", "bigquery"])
def test_counts_of_dropped_rows_read_all_columns(dialect):
    text = sqlrank.sql(
        "num_predictions_dropped", predictions="shop.clicks", nulls="drop", dialect=dialect
    )
    assert "NULL AS" not in text
    assert all(f"{name} IS NOT NULL" in text.replace('"', "") for name in ("label", "score"))


def test_limits_of_intervals_need_no_score():
    forecasts = read_columns(label="1.0 3.0", interval_low="0.0 4.0", interval_high="2.0 5.0")
    metrics = ["IntervalCoverage", "IntervalWidth", "BaseRate"]
    assert sqlrank.evaluate(metrics[:2], predictions=forecasts).to_pylist() == [
        {"IntervalCoverage": 0.5, "IntervalWidth": 1.5}
    ]
    with pytest.raises(InputError, match="no column 'score'"):
        sqlrank.evaluate([*metrics, "AUC"], predictions=forecasts)


@pytest.mark.parametrize("name", ["quantile", "alpha"])
def test_a_parameter_that_is_a_column_is_given_as_one(name):
    """By hand: the labels are above the quantile by 0.5 each, which counts by the level."""
    predictions = {"label": [1.0, 3.0], "score": [0.5, 2.5]}
    with pytest.raises(MetricError, match="Write PinballLoss with ") as caught:
        sqlrank.evaluate(f"PinballLoss({name}=0.05)", predictions=predictions)
    options = find_options(str(caught.value))
    assert sqlrank.evaluate("PinballLoss", predictions=predictions, **options)["PinballLoss"][
        0
    ].as_py() == pytest.approx(0.025)
    message = run_refused_command("evaluate", f"CRPS({name}=0.9)", "--predictions", "p.csv")
    assert "Write CRPS with --column quantile_level=0.9, a number for all rows" in message
