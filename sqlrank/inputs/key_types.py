"""Give keys that are compared across inputs one type: integers and UUIDs are texts beside texts, whole floats are integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import InputError
from sqlrank.inputs.bound_input import BoundInput, comparable_columns
from sqlrank.sql_ast import BIGINT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.engines.database import Database

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM")
_INEXACT = ("FLOAT", "DOUBLE", "DECIMAL")
_TEXTS = ("VARCHAR", "ENUM")

_LIMIT = 2**53
"""The first whole number whose successor is no double."""


def align_keys(inputs: Mapping[str, BoundInput], database: Database) -> dict[str, BoundInput]:
    """Return the inputs with keys of one type where they are compared, and where a value of one occurs in the other.

    Raises:
        InputError: Floats that are not whole, or too great to be exact, are compared with integers or texts.
    """
    columns_by_role = {role: [*bound_input.role.columns, *bound_input.group_names] for role, bound_input in inputs.items()}
    aligned = dict(inputs)
    for compared_columns in comparable_columns(inputs, columns_by_role).values():
        duckdb_types = {column: inputs[column[0]].column_type(column[1]) for column in compared_columns}
        texts, integers, floats = (
            [column for column, duckdb_type in duckdb_types.items() if _has_type(duckdb_type, names)]
            for names in (_TEXTS, (*INTEGERS, "UUID"), _INEXACT)
        )
        for role, name in floats if texts or integers else ():
            aligned[role] = _read_integers(aligned[role], name, database)
        for role, name in [*integers, *floats] if texts else ():
            bound_input = aligned[role].with_text([name])
            # Labels and the positions of scores in lists are compared as texts: a later check names both.
            is_one_assembled = bool(bound_input.assembled_from) and {other for other, _ in compared_columns} == {role}
            if is_one_assembled or any(_have_common_value((bound_input, name), (aligned[other], text), database) for other, text in texts):
                aligned[role] = bound_input
    return aligned


def _has_type(duckdb_type: str, names: tuple[str, ...]) -> bool:
    return duckdb_type.startswith(names) and not duckdb_type.endswith("]")


def _have_common_value(number: tuple[BoundInput, str], text: tuple[BoundInput, str], database: Database) -> bool:
    """Return True if a text is that of a number; if none is, the types say more than that nothing matches."""
    sides = []
    for alias, (bound_input, name) in (("numbers", number), ("texts", text)):
        value = exp.alias_(bound_input.typed_expression(name), "value")
        read_columns = [column.this for column in value.find_all(exp.Column)]
        sides.append(exp.select(value).from_(bound_input.table.from_clause(read_columns)).subquery(alias))
    is_same = exp.EQ(this=exp.column("value", table="numbers"), expression=exp.column("value", table="texts"))
    return bool(database.query_rows(exp.select("1 AS one").from_(sides[0]).join(sides[1], on=is_same).limit(1)))


def _read_integers(bound_input: BoundInput, name: str, database: Database) -> BoundInput:
    """Return an input with a column of floats as integers; raise ``InputError`` if one is not whole, or beyond what floats tell apart."""
    value = exp.column(name)
    is_whole = exp.EQ(this=value, expression=exp.Floor(this=value.copy()))
    is_inexact = exp.or_(
        exp.Not(this=is_whole), exp.GTE(this=exp.Abs(this=value.copy()), expression=exp.Literal.number(_LIMIT)), copy=False
    )
    rows = bound_input.select_columns([] if name in bound_input.group_names else [name], keep_types=True).subquery("inexact")
    for (example,) in database.query_rows(exp.select(value.copy()).from_(rows).where(is_inexact).limit(1)):
        raise InputError(
            f"{bound_input.label}: {bound_input.column_label(name)} is {bound_input.column_type(name)}, and {example!r} is no integer below "
            "2 ** 53, which integers and texts could be compared with. Write ids as integers or texts where they are made"
        )
    number = exp.cast(bound_input.raw_expression(name), BIGINT)
    text = number.sql("duckdb")
    return bound_input.with_expression(text, number, "BIGINT").with_columns({name: text})
