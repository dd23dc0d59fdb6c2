"""Write the statement that scores rows with the weights of a linear model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.file_sources import reader_function
from sqlrank.engines.query_sources import require_table_name
from sqlrank.errors import InputError
from sqlrank.learn.training import LONG_COLUMNS
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.renderer import StatementHeader, render_statement
from sqlrank.sql_ast import quoted_column, sql_literal
from sqlrank.stored_results import is_text, read_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa


def source_relation(source: str, dialect: str) -> exp.Expr:
    """Return the FROM item of a table, or of a file if the engine reads files."""
    if get_dialect(dialect).supports_file_readers and (read := reader_function(source)):
        return exp.Table(this=exp.func(read, sql_literal(source), dialect=dialect))
    return require_table_name("source", source, dialect)


def scoring_query(form: Mapping[str, Any], weights: Sequence[tuple[Any, float]], source: exp.Expr) -> exp.Select:
    """Return the SELECT that scores rows by the dot product of features and weights."""
    if "long" in form:
        row, feature, value = form["long"]
        cases = [
            exp.If(this=exp.EQ(this=quoted_column(feature), expression=exp.convert(name)), true=exp.convert(weight))
            for name, weight in weights
        ]
        weight = exp.Case(ifs=cases, default=sql_literal(0))
        score = exp.Sum(this=exp.Mul(this=quoted_column(value), expression=weight))
        return exp.select(quoted_column(row), exp.alias_(score, "score")).from_(source).group_by(quoted_column(row))
    if "array" in form:
        operands: list[exp.Expr] = [
            exp.Bracket(this=quoted_column(form["array"]), expressions=[exp.Literal.number(position - 1)]) for position, _ in weights
        ]
    else:
        operands = [quoted_column(name) for name, _ in weights]
    terms = [exp.Mul(this=exp.convert(weight), expression=operand) for operand, (_, weight) in zip(operands, weights, strict=True)]
    total: exp.Expr = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return exp.select("*", exp.alias_(total, "score")).from_(source)


def scoring_sql(weights: pa.Table, source: str, *, dialect: str = "duckdb") -> str:
    """Return the statement that scores a table's rows: its columns and ``score``.

    In long form it returns ``row_id`` and ``score``.

    Args:
        weights: the result of :func:`sqlrank.learn.fit` for one model, with its metadata.
        source: name of the table, or for DuckDB of a file.
        dialect: the engine, as for :func:`sqlrank.sql`.

    Raises:
        InputError: weights of several models, or without their metadata.

    >>> import pyarrow as pa
    >>> from sqlrank.learn import fit
    >>> examples = pa.table({"label": [1, 0], "age": [1.0, 0.0], "price": [0.0, 0.0]})
    >>> weights = fit(examples, k=1, columns={"features": ["age", "price"]}, learning_rate=1, l2=0, max_iter=1)
    >>> print(scoring_sql(weights, "people").splitlines()[2])
    SELECT *, 1e0 * "age" + 0e0 * "price" AS score
    """
    get_dialect(dialect)
    if weights.column_names != ["feature", "weight"]:
        raise InputError(
            f"these are weights of several models, identified by {', '.join(weights.column_names[:-2])}. "
            "Keep the rows of one, and the columns feature and weight"
        )
    if b"sqlrank.features" not in (weights.schema.metadata or {}):
        raise InputError("these weights have no metadata, which name the feature columns. Give the table that fit returned")
    form = read_json(weights.schema.metadata, "sqlrank.features", _is_form, "this table of weights")
    from_ = source_relation(source, dialect)
    pairs = [(row["feature"], row["weight"]) for row in weights.to_pylist()]
    return render_statement(
        scoring_query(form, pairs, from_),
        StatementHeader("scores of a linear model", "one row per input row", (f"{source} (examples)",)),
        dialect,
    )


def _is_form(value: Any) -> bool:
    """Return True if a value describes the feature columns as :class:`TrainingData` does."""
    if not isinstance(value, dict):
        return False
    long, columns = value.get("long"), value.get("columns")
    is_long = isinstance(long, list) and len(long) == len(LONG_COLUMNS) and all(map(is_text, long))
    return is_long or is_text(value.get("array")) or (isinstance(columns, list) and all(map(is_text, columns)))
