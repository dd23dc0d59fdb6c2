"""Record functions of a database: kind, signature, comment, and the statements that create and drop them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.engines.identifiers import fold_column_name
from sqlrank.rendering.dialects import get_dialect
from sqlrank.routines import DEFAULT_SCHEMA

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlrank.routines.symbolic_statement import RoutineParameter

UNQUOTED_SCHEMAS = (DEFAULT_SCHEMA, "main")
"""Schemas that need no quotes; another may be a keyword of one engine."""

COMMENT_END = "Function of sqlrank"
"""Beginning of the last sentence of comments, by which functions are recognized."""

RoutineKind = Literal["table", "aggregate", "list"]
"""Kinds of functions: of tables in FROM, of the rows of a group, and of the lists in one row."""


@dataclass(frozen=True)
class RoutineFacts:
    """Facts of a function that do not depend on a dialect.

    Attributes:
        name: Name in its schema.
        kind: Kind of function.
        inputs: The inputs whose tables it takes, or whose columns it aggregates.
        metrics: The metrics that it computes; a cut-off that is a parameter is an example.
        comment: Its documentation.
    """

    name: str
    kind: RoutineKind
    inputs: tuple[str, ...]
    metrics: tuple[str, ...]
    comment: str


@dataclass(frozen=True)
class Routine:
    """A function of a database.

    Attributes:
        facts: Name, kind, inputs, metrics and comment.
        signature: Call with all parameters, as in ``ndcg(run, qrels, k := 10)``.
        create: Statements that create it.
        drop: Statements that drop it.
    """

    facts: RoutineFacts
    signature: str
    create: tuple[str, ...]
    drop: tuple[str, ...]


def quote_schema(schema: str, dialect: str) -> exp.Identifier:
    """Return the identifier of a schema, in quotes unless it is known to be a keyword nowhere.

    >>> quote_schema("select", "snowflake").sql("snowflake"), quote_schema("sqlrank", "snowflake").sql("snowflake")
    ('"SELECT"', 'sqlrank')
    """
    is_known = schema in UNQUOTED_SCHEMAS
    return exp.to_identifier(schema if is_known else fold_column_name(schema, dialect), quoted=not is_known)


def qualify_function(schema: str, name: str, dialect: str, *, is_prefix: bool = False) -> exp.Table:
    """Return the name of a function in a schema, which is a prefix of the name if the dialect has no schemas of functions.

    >>> qualify_function("two words", "ndcg", "duckdb").sql("duckdb"), qualify_function("sqlrank", "ndcg", "clickhouse").sql("clickhouse")
    ('"two words".ndcg', 'sqlrank_ndcg')
    """
    if is_prefix or not get_dialect(dialect).supports_function_schemas:
        return exp.Table(this=exp.to_identifier(f"{schema}_{name}"))
    return exp.Table(this=exp.to_identifier(name), db=quote_schema(schema, dialect))


def document_routine(description: str, parameters: Iterable[RoutineParameter], *sentences: str) -> str:
    """Return the comment of a function: a description, its parameters, further sentences, and the version."""
    lines = [f"{parameter.name}: {parameter.about.rstrip('.')}." for parameter in parameters]
    return " ".join([description, *lines, *filter(None, sentences), f"{COMMENT_END} {__version__}."])
