"""SQLite: dynamic types, lists as texts of JSON, and no MD5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.dialect import Dialect
from sqlrank.rendering.dialect_forms import count_from_one
from sqlrank.sql_ast import call_function, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.rendering.dialect_forms import ListJoin


def _prepare_tree(tree: exp.Expr) -> None:
    """Count the elements of JSON."""
    for size in find_nodes(tree, exp.ArraySize):
        size.replace(call_function("JSON_ARRAY_LENGTH", size.this))


def _finish_tree(tree: exp.Expr) -> None:
    """Write IS, which versions before 3.39 have, too, whatever the version of sqlglot."""
    for equality in find_nodes(tree, exp.NullSafeEQ):
        equality.replace(exp.Is(this=equality.this, expression=equality.expression))


def _read_json(join: ListJoin) -> None:
    """Read the elements of a text that is a JSON array."""
    key = exp.column("key", table=join.alias)
    start = exp.DPipe(this=sql_literal("$["), expression=key.copy(), safe=True)
    path = exp.DPipe(this=start, expression=sql_literal("]"), safe=True)
    join.replace_brackets(lambda values, _: call_function("JSON_EXTRACT", values, path.copy()))
    count_from_one(join, key)
    join.replace(join.element, exp.column("value", table=join.alias))
    function = call_function("JSON_EACH", join.values)
    join.join.set(
        "this", exp.Table(this=function, alias=exp.TableAlias(this=exp.to_identifier(join.alias)))
    )


def _split_words(text: exp.Expr) -> exp.Expr:
    """Return a call of the function that connections get, since no pattern is searched."""
    return call_function("LIST_WORDS", text.this)


def _join_words(values: exp.Expr, start: exp.Expr, length: exp.Expr) -> exp.Expr:
    """Return the joined elements of a JSON array by a subquery."""
    key = exp.column("key", table="words")
    return (
        exp.select(
            call_function("GROUP_CONCAT", exp.column("value", table="words"), sql_literal(" "))
        )
        .from_(exp.Table(this=call_function("JSON_EACH", values), alias=exp.to_identifier("words")))
        .where(key >= start - 1, key < start + length - 1)
        .subquery()
    )


def _select_types(query: exp.Query, columns: Sequence[exp.Column]) -> exp.Select:
    """Return a query for the types of values, because columns have none. One text makes a text
    column.
    """
    value_types = (
        exp.func("NULLIF", call_function("TYPEOF", column), sql_literal("null"))
        for column in columns
    )
    return exp.select(*(exp.Max(this=value_type) for value_type in value_types)).from_(
        query.copy().subquery("described")
    )


DIALECT = Dialect(
    label="SQLite",
    sqlglot_name="sqlite",
    aliases=("sqlite3",),
    drivers=("sqlite3",),
    write_list_elements=_read_json,
    write_words=_split_words,
    join_words=_join_words,
    prepare=_prepare_tree,
    has_nan=False,
    finish=_finish_tree,
    function_names={exp.Greatest: "MAX", exp.Least: "MIN"},
    character="CHAR({code})",
    infinity="9e999",
    decimal_literals_are_double=True,
    is_dynamically_typed=True,
    supports_float32=False,
    supports_md5=False,
    lists_are_json=True,
    computes_ctes_once=True,
    supports_create_or_replace_table=False,
    supports_create_or_replace_view=False,
    supports_transactions=True,
    type_query=_select_types,
    shadowing_query="shadowing_functions_sqlite.sql",
)
