"""Read training data into temporary tables, and check their columns: labels, and features in columns, in an array or in long form."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlrank.engines.database import SourceTable
from sqlrank.engines.declared_columns import DeclaredColumns
from sqlrank.engines.duckdb_session import fetch_tuples
from sqlrank.errors import InputError, did_you_mean, enumerate_names, first_line, join_sentences, join_words, suggest_choice
from sqlrank.inputs import row_checks
from sqlrank.inputs.bound_input import BoundInput
from sqlrank.inputs.column_mapping import bind_column_or_expression
from sqlrank.inputs.missing_columns import describe_missing_columns
from sqlrank.inputs.source_union import resolve_source
from sqlrank.query_text import write_tree
from sqlrank.registry.loader import load_registry
from sqlrank.registry.query_templates import load_select
from sqlrank.sql_ast import quoted_column

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.engines.database import Database


TRAINING_ROLE = "training"
LONG_COLUMNS = ("row_id", "feature", "value")
COMPUTED_COLUMNS = ("label", "query_id", "weight")
"""Columns that may be expressions; the others are those of the table that is scored."""

FEATURES = "features of the training data"
"""Internal name of the features as an array of doubles."""


@dataclass(frozen=True)
class TrainingData:
    """Training data as a query: ``model``, ``query_id``, ``label``, ``weight``, and ``features``, an array of doubles.

    ``names`` are the feature names, None for positions in an array. ``by`` are the columns that identify models, fields of ``model``.
    ``form`` describes the feature columns as JSON.
    """

    item: BoundInput
    database: Database
    query: exp.Select
    by: list[str]
    names: pa.Array | None
    form: dict[str, Any]
    is_pointwise: bool = False

    def check(self, database: duckdb.DuckDBPyConnection, untrainable_models: exp.Select) -> int:
        """Return the number of features; raise ``InputError`` for unsuitable training data.

        ``untrainable_models`` returns the models without any pair of a positive and a negative.
        """
        checked_columns = [name for name in ("label", "query_id", "weight", "features") if name in self.item.columns]
        row_checks.validate_rows(self.database, self.item, tuple(checked_columns), ["binary labels"])
        lengths = exp.select("MIN(LEN(features))", "MAX(LEN(features))").from_(self.query.subquery(TRAINING_ROLE))
        shortest, longest = fetch_tuples(database, write_tree(lengths))[0]
        if shortest != longest or not longest:
            what = "have no numbers" if not longest else f"have {shortest} to {longest} numbers. Give all rows as many"
            raise InputError(f"{self.item.label}: features {what}")
        if models := [row[0] for row in fetch_tuples(database, untrainable_models.sql("duckdb"))]:
            which = f" for {row_checks.short_value(dict(zip(self.by, models[0].values(), strict=True)))}" if self.by else ""
            more = f", nor for {len(models) - 1} other models" if len(models) > 1 else ""
            raise InputError(
                f"{self.item.label}: {'there are not' if self.is_pointwise else 'no query has'} both positives and negatives{which}{more}, so that nothing can be compared"
            )
        return int(longest)

    def feature_names(self, number: int) -> list[Any]:
        """Return the names of the features, or their positions from 1 in arrays of so many numbers."""
        return list(range(1, number + 1)) if self.names is None else self.names.to_pylist()

    def name_features(self, best: pa.Table) -> pa.Table:
        """Add the columns of ``by`` and the feature names to the weights."""
        feature = best["feature"].combine_chunks().cast(pa.int64())
        if self.names is not None:
            feature = self.names.take(pc.subtract(feature, 1))
        models = best["model"].combine_chunks()
        keys = {name: models.field(index) for index, name in enumerate(self.by)}
        return pa.table({**keys, "feature": feature, "weight": best["weight"]})


def read_training_data(
    database: Database, source: Any, columns: Mapping[str, Any], by: Sequence[str], is_pointwise: bool = False
) -> TrainingData:
    """Map the columns of a source; raise ``InputError`` for missing or unsuitable ones.

    Examples of a pointwise loss have weights, and no queries.
    """
    role = load_registry().roles[TRAINING_ROLE]
    unknown = [name for name in columns if name not in {*role.columns, *by}]
    if unknown:
        problem = f"columns maps {unknown[0]!r}, which training data do not have"
        raise InputError(join_sentences(problem, did_you_mean(unknown[0], role.columns)))
    if "weight" in columns and not is_pointwise:
        raise InputError("columns maps 'weight', which losses of the top k do not read. Leave it out, or give surrogate='logistic'")
    if not is_pointwise:
        role = replace(role, columns={name: column for name, column in role.columns.items() if name != "weight"})
    table = resolve_source(database, TRAINING_ROLE, source, DeclaredColumns.declare_columns(role.columns, columns, by))
    bound_input = BoundInput(role, table, load_registry().checks[TRAINING_ROLE])
    column_names = {name: column_name for name, column_name in columns.items() if isinstance(column_name, str)}
    group_columns = {f"by_{index}": bound_input.table.find_column(column_names.get(name, name)) for index, name in enumerate(by)}
    for name in (name for name in COMPUTED_COLUMNS if name in column_names):
        bound_input = bind_column_or_expression(bound_input, name, column_names[name], database)
    bound_input = bound_input.bind_columns(column_names).with_group_columns(
        {name: column for name, column in group_columns.items() if column}
    )
    features = columns.get("features", "features")
    duckdb_type = bound_input.column_type("features")
    if isinstance(features, str) and duckdb_type.startswith(row_checks.NUMERIC_TYPES) and not duckdb_type.endswith("]"):
        features = [features]  # a single feature, which is a number
    feature_columns = [features] if isinstance(features, str) else list(features)
    is_long = isinstance(features, str) and "features" not in {*bound_input.columns, *column_names}
    problems = [_no_column(bound_input, "by: ", name) for name, column in zip(by, group_columns.values(), strict=True) if not column]
    problems += [
        _no_column(bound_input, "", text)
        for name, text in column_names.items()
        if name not in {*COMPUTED_COLUMNS, "features", *by} and bound_input.table.find_column(text) is None
    ]
    needed = ("label", *LONG_COLUMNS) if is_long else ("label",)
    if is_long and not {*LONG_COLUMNS} & {*bound_input.columns}:
        needed = ("label",)
        problems.append(
            f"{bound_input.label}: no column 'features'. Name each column of features, columns={{'features': [...]}}. A table in long form has "
            f"{join_words(LONG_COLUMNS)}. There are: {enumerate_names(bound_input.table.column_types or ())}"
        )
    problems += describe_missing_columns({TRAINING_ROLE: bound_input}, {TRAINING_ROLE: needed}).values()
    problems += (
        [] if is_long else [_no_column(bound_input, "", name) for name in feature_columns if bound_input.table.find_column(name) is None]
    )
    row_checks.raise_problems(problems)
    row_checks.check_columns(database, {TRAINING_ROLE: bound_input}, {TRAINING_ROLE: ("label", "value") if is_long else ("label",)})
    if is_long:
        training = _read_long_form(database, bound_input, by)
    else:
        training = _read_arrays(database, bound_input, by, None if isinstance(features, str) else feature_columns)
    if not is_pointwise:
        return training
    query = exp.select("model", "1 AS query_id", "label", "weight", "features").from_(training.query.subquery(TRAINING_ROLE))
    return replace(training, query=query, is_pointwise=True)


def _no_column(bound_input: BoundInput, where: str, name: str) -> str:
    available = bound_input.table.column_types or {}
    return suggest_choice(f"{where}{bound_input.label}: no column {name!r}", name, available, "There are")


def _read_arrays(database: Database, bound_input: BoundInput, by: Sequence[str], feature_columns: list[str] | None) -> TrainingData:
    """Read features from an array column, or from one column per feature."""
    types = bound_input.table.column_types or {}
    source_columns = (
        [str(bound_input.table.find_column(name)) for name in feature_columns]
        if feature_columns is not None
        else [bound_input.columns["features"]]
    )
    suffix = "[]" if feature_columns is None else ""
    problems = [
        f"{bound_input.label}: {name} is {types[name]}, not {'an array of numbers' if suffix else 'a number'}. Cast it"
        for name in source_columns
        if not types[name].startswith(row_checks.NUMERIC_TYPES) or types[name].endswith("]") != bool(suffix)
    ]
    if len(set(source_columns)) < len(source_columns) or not source_columns:
        problems.append(f"columns maps features to {source_columns!r}. Name each column once")
    row_checks.raise_problems(problems)
    values = (
        quoted_column(source_columns[0])
        if feature_columns is None
        else exp.Array(expressions=[quoted_column(name) for name in source_columns])
    )
    bound_input = bound_input.with_expression(FEATURES, exp.cast(values, "DOUBLE[]"), "DOUBLE[]").with_columns({"features": FEATURES})
    form = {"array": source_columns[0]} if feature_columns is None else {"columns": source_columns}
    return TrainingData(
        bound_input,
        database,
        _select_examples(bound_input, ["features"]),
        list(by),
        None if feature_columns is None else pa.array(source_columns),
        form,
    )


def _read_long_form(database: Database, bound_input: BoundInput, by: Sequence[str]) -> TrainingData:
    """Pivot long-form features into one array per example."""
    long_rows = _select_examples(bound_input, LONG_COLUMNS)
    names = exp.select("feature").from_(long_rows.subquery("long")).group_by("feature").order_by("feature")
    features = database.fetch_arrow(database.render(names))["feature"].combine_chunks()
    if features.null_count:
        raise InputError(f"{bound_input.label}: feature is NULL. Give it a name, or leave the row out")
    pivoted = load_select("learn", "feature_vectors.sql")
    for table in list(pivoted.find_all(exp.Table)):
        table.replace(long_rows.subquery(TRAINING_ROLE))
    types = {"label": "DOUBLE", "weight": "DOUBLE", "features": "DOUBLE[]", "row_id": "VARCHAR", "query_id": "VARCHAR"}
    row = BoundInput(bound_input.role, SourceTable(bound_input.table.label, pivoted.subquery("feature_vectors"), types), bound_input.checks)
    row = row.bind_columns({})
    form = {"long": [bound_input.columns[name] for name in LONG_COLUMNS]}
    return TrainingData(row, database, pivoted, list(by), features, form)


def _select_examples(bound_input: BoundInput, value_columns: Sequence[str]) -> exp.Select:
    """Return the SELECT of the examples with canonical names; the ``by`` columns become a struct."""
    key = exp.Struct(
        expressions=[
            exp.PropertyEQ(this=exp.to_identifier(name), expression=quoted_column(bound_input.columns[name]))
            for name in bound_input.group_names
        ]
    )
    weight = [] if "weight" in bound_input.role.columns else [exp.alias_(exp.cast(exp.Literal.number(1), "DOUBLE"), "weight")]
    query_id = ["query_id"] if "query_id" in bound_input.columns else []
    query = bound_input.select_columns(["label", *value_columns, *([] if weight else ["weight"]), *query_id]).select(
        *weight,
        exp.alias_(key if bound_input.group_names else exp.Literal.number(1), "model"),
        *([] if query_id else [exp.alias_(exp.Literal.number(1), "query_id")]),
    )
    for column in query.selects:
        if column.alias_or_name in {"label", "value", "weight"}:
            column.set("this", exp.cast(column.this.copy(), "DOUBLE"))
    return query


def create_temp_table(database: duckdb.DuckDBPyConnection, name: str, query: exp.Expr, parameters: Mapping[str, Any] | None = None) -> None:
    """Create a temporary table from a query; raise ``InputError`` if its data cannot be read."""
    try:
        database.execute(f"CREATE TEMP TABLE {name} AS {write_tree(query)}", parameters)
    except (duckdb.InvalidInputException, duckdb.ConversionException, duckdb.OutOfRangeException) as error:
        raise InputError(f"{TRAINING_ROLE}: cannot read the examples: {first_line(error)}") from None
