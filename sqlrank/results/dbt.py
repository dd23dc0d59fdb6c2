"""A dbt model of metrics: its SQL, and what a schema file says of its columns."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.arguments import public, texts
from sqlrank.call import Call
from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.named import named_database
from sqlrank.engines.names import parts_of
from sqlrank.engines.render import render, write
from sqlrank.errors import InputError, shown
from sqlrank.prepare import prepare
from sqlrank.question import look_up
from sqlrank.results.replacing import key_of
from sqlrank.results.store import as_stored, identifier_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sqlrank.library.metric import Metric
    from sqlrank.question import Question
    from sqlrank.statement.statement import Statement

Materialized = Literal["table", "view", "incremental"]

DELETE_AND_INSERT = ("duckdb", "snowflake", "postgres", "redshift", "trino", "clickhouse")
"""Dialects whose adapter deletes the rows of the same key before it inserts others."""

_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True)
class DbtModel:
    """A dbt model: ``sql`` is the text of its file, ``schema`` what a YAML file beside it says of its columns."""

    sql: str
    schema: dict[str, Any]


@public
def dbt_model(
    metrics: str | Metric | Iterable[str | Metric],
    name: str,
    *,
    materialized: Materialized = "table",
    dialect: str = "duckdb",
    replace: str | None = None,
    **options: Any,
) -> DbtModel:
    """Return a dbt model of metrics; ``options`` are those of :func:`sqlrank.sql`.

    An input of one name is a model or seed, ``ref('name')``, one of two a source, ``source('schema', 'table')``. The columns
    that tell rows apart are tested for NULL, unless there are groupings, and together for being unique; counts are tested for
    NULL. An incremental model replaces the rows of the same groups. With ``replace``, a column of ``by`` such as ``"day"``, it reads what
    is of the last day that it has and of later ones, and replaces all rows of these days where the adapter deletes and inserts;
    elsewhere it merges them. A text in ``where`` may hold Jinja, such as a ``var``.

    Raises:
        MetricError: as :func:`sqlrank.sql`.
        InputError: a name that dbt does not take, or as :func:`sqlrank.sql`.
    """
    check_model(name, options)
    if materialized not in get_args(Materialized):
        raise InputError(f"materialized={materialized!r} is not possible; choose from: {', '.join(get_args(Materialized))}")
    dialect = dialect or "duckdb"
    dialect_of(dialect)
    question = look_up(Call.of(metrics, options, _policies(options)))
    statement = prepare(question, named_database(dialect, reference)).statement
    column = None
    if replace is not None:
        statement = dataclasses.replace(statement, tree=statement.tree.copy())
        column = _replaced(statement, replace, materialized, dialect)
    statement = dataclasses.replace(statement, tree=as_stored(statement))
    keys, _ = _split(statement)
    config = f"materialized='{materialized}'"
    if materialized == "incremental":
        if not keys:
            raise InputError("an incremental model needs by or per_query, which tell its rows apart; choose table")
        if question.sets is not None:
            raise InputError("groupings have NULL in their columns, by which an incremental model finds no row again; choose table")
        told_by = keys if column is None or dialect not in DELETE_AND_INSERT else [column]
        config += f", unique_key=[{', '.join(repr(key.name) for key in told_by)}]"
        config += ", incremental_strategy='delete+insert'" if told_by is not keys else ""
    text = f"{{{{ config({config}) }}}}\n{render(statement.tree, statement.stamp, dialect)}\n"
    shown = ", ".join(str(item.metric) for item in question.asked)
    per = " and ".join(key.name for key in keys)
    description = f"{shown}{f' per {per}' if per else ''} (sqlrank {__version__})"
    return DbtModel(text, schema_of(name, description, statement, question, dialect))


def check_model(name: Any, options: Mapping[str, Any]) -> None:
    """Raise ``InputError`` for a name that dbt does not take, and for what it would run where nobody expects it."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InputError(f"{name!r} is not the name of a dbt model; use letters, digits and _")
    for option in ("by", "columns"):
        if jinja := next((text for text in texts(options.get(option)) if "{{" in text or "{%" in text or "{#" in text), None):
            raise InputError(f"{option}: {jinja!r} holds Jinja, which dbt would run; only where= may hold it")


def schema_of(name: str, description: str, statement: Statement, question: Question, dialect: str) -> dict[str, Any]:
    """Return what the YAML file beside a model says of it, and of its columns."""
    keys, values = _split(statement)
    columns = [_key(key, question) for key in keys] + values
    model = {"name": name, "description": description} | _unique(keys, dialect) | {"columns": columns}
    return {"version": 2, "models": [model]}


def _policies(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are policies: those that :func:`sqlrank.sql` does not name."""
    named = {
        "run",
        "qrels",
        "predictions",
        "queries",
        "inputs",
        "columns",
        "by",
        "where",
        "per_query",
        "compat",
        "sql_dir",
        "plan",
        "confidence",
        "interval",
        "unit",
        "replicates",
        "seed",
    }
    return {name: value for name, value in options.items() if name not in named}


def reference(role: str, source: Any) -> Any:
    """Return the table that dbt puts in place of a model or source."""
    parts = parts_of(source) if isinstance(source, str) else None
    if parts is None or len(parts) > 2 or not all(map(_NAME.fullmatch, parts)):  # noqa: PLR2004  schema and table
        raise InputError(f"{role}: {shown(source)} is neither a dbt model, such as predictions, nor a source, such as shop.predictions")
    function = "ref" if len(parts) == 1 else "source"
    return exp.Table(this=exp.var(f"{{{{ {function}({', '.join(map(repr, parts))}) }}}}"))


def _replaced(statement: Statement, column: str, materialized: str, dialect: str) -> exp.Identifier:
    """Let the inputs be read, in place, from the last value on that the model has in a column; return the name of that column."""
    if materialized != "incremental":
        raise InputError(f"replace={column!r} is for materialized='incremental'; choose that, or leave out replace")
    identifier = key_of(statement, column, dialect)
    items = zip(as_stored(statement).selects, statement.outputs, strict=True)
    (alias,) = [output.alias for item, output in items if identifier_of(item) == identifier]
    last = exp.select(exp.Max(this=exp.column(identifier.copy()))).from_(exp.Table(this=exp.var("{{ this }}")))
    for step in statement.tree.args["with_"].expressions:
        source = step.this.args.get("from_")
        is_model = source is not None and isinstance(source.this, exp.Table) and isinstance(source.this.this, exp.Var)
        for item in step.this.selects if is_model else ():
            if item.alias_or_name == alias:
                value = item.unalias()
                later = exp.GTE(this=value.copy(), expression=exp.func("COALESCE", last.copy().subquery(), value.copy()))
                condition = f"{{% if is_incremental() %}}{write(later, dialect)}{{% else %}}{write(exp.true(), dialect)}{{% endif %}}"
                step.this.where(exp.var(condition), copy=False)
    return identifier


def _split(statement: Statement) -> tuple[list[exp.Identifier], list[dict[str, Any]]]:
    """Return the columns that tell rows apart, and what is said of the others."""
    keys: list[exp.Identifier] = []
    values: list[dict[str, Any]] = []
    for item, output in zip(statement.tree.selects, statement.outputs, strict=True):
        name = identifier_of(item)
        if output.kind in {"by", "slice", "query", "cutoff", "point"}:
            keys.append(name)
        elif output.kind in {"value", "id"} or output.metric is None:
            values.append({"name": name.name})
        else:
            tests = {"data_tests": ["not_null"]} if output.metric.file.is_total else {}
            values.append({"name": name.name, "description": f"{output.name}: {output.metric.file.about}"} | tests)
    return keys, values


def _key(key: exp.Identifier, question: Question) -> dict[str, Any]:
    quote = {"quote": True} if key.quoted else {}
    return {"name": key.name} | quote | ({"data_tests": ["not_null"]} if question.sets is None else {})


def _unique(keys: list[exp.Identifier], dialect: str) -> dict[str, Any]:
    """The test that no two rows have the same keys: of all together, which dbt takes as an expression."""
    if not keys:
        return {}
    parts: list[exp.Expr] = [exp.cast(exp.column(key.copy()), "TEXT") for key in keys]
    text = parts[0]
    for part in parts[1:]:
        text = exp.DPipe(this=exp.DPipe(this=text, expression=exp.Literal.string("|")), expression=part)
    return {"data_tests": [{"unique": {"column_name": text.sql(dialect_of(dialect).writer)}}]}
