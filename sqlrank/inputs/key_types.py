"""Give keys that are compared across inputs one type: integers and UUIDs are texts beside texts, whole floats are integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.errors import InputError
from sqlrank.inputs.bound_input import comparable_columns
from sqlrank.sql_ast import BIGINT

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.engines.database import Database
    from sqlrank.inputs.bound_input import BoundInput

INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "BIGNUM")
_INEXACT = ("FLOAT", "DOUBLE", "DECIMAL")
_TEXTS = ("VARCHAR", "ENUM")

_LIMIT = 2**53
"""The first whole number whose successor is no double."""


def align_keys(inputs: Mapping[str, BoundInput], database: Database) -> dict[str, BoundInput]:
    """Return the inputs with keys of one type where they are compared.

    Raises:
        InputError: Floats that are not whole, or too great to be exact, are compared with integers or texts.
    """
    columns_by_role = {role: [*bound_input.role.columns, *bound_input.group_names] for role, bound_input in inputs.items()}
    aligned = dict(inputs)
    for compared_columns in comparable_columns(inputs, columns_by_role).values():
        duckdb_types = {column: inputs[column[0]].column_type(column[1]) for column in compared_columns}
        has_text = any(duckdb_type.startswith(_TEXTS) for duckdb_type in duckdb_types.values())
        for (role, name), duckdb_type in duckdb_types.items():
            is_inexact = duckdb_type.startswith(_INEXACT) and not duckdb_type.endswith("]")
            if is_inexact and (has_text or any(other in INTEGERS for other in duckdb_types.values())):
                aligned[role] = _as_whole_numbers(aligned[role], name, database)
            if has_text and (is_inexact or duckdb_type in {*INTEGERS, "UUID"}):
                aligned[role] = aligned[role].with_text([name])
    return aligned


def _as_whole_numbers(bound_input: BoundInput, name: str, database: Database) -> BoundInput:
    """Return an input with a column of floats as integers; raise ``InputError`` if one is not whole, or beyond what floats tell apart."""
    value = exp.column(name)
    is_whole = exp.EQ(this=value, expression=exp.Floor(this=value.copy()))
    is_inexact = exp.or_(
        exp.Not(this=is_whole), exp.GTE(this=exp.Abs(this=value.copy()), expression=exp.Literal.number(_LIMIT)), copy=False
    )
    rows = bound_input.select_columns([] if name in bound_input.group_names else [name], keep_types=True).subquery("inexact")
    for (example,) in database.query_rows(exp.select(value.copy()).from_(rows).where(is_inexact).limit(1)):
        raise InputError(
            f"{bound_input.label}: {bound_input.column_label(name)} is {bound_input.column_type(name)}, and {example!r} is no whole number below "
            "2 ** 53, which integers and texts could be compared with. Write ids as integers or texts where they are made"
        )
    number = exp.cast(bound_input.raw_expression(name), BIGINT)
    text = number.sql("duckdb")
    return bound_input.with_expression(text, number, "BIGINT").with_columns({name: text})
