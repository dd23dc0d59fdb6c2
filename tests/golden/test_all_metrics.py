"""The statement of every metric and curve has no part without need, and the style of the others, in every dialect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import sqlrank
from sqlrank.registry.loader import load_registry
from sqlrank.rendering.dialects import DIALECTS
from tests.golden.reading import faults
from tests.golden.style import style_faults
from tests.lanes import every
from website.examples import OPTIONS, asked, roles, table

if TYPE_CHECKING:
    from sqlrank.registry.sql_file import SqlFile

FILES = [*load_registry().metrics.values(), *load_registry().curves.values()]
CASES = [(file, dialect) for file in FILES for dialect in DIALECTS if file.name != "quantile" or dialect == "duckdb"]
"""Quantiles over queries are DuckDB's alone; test_measures.py has their refusal by the others."""

UNFINISHED = {"pndcg": "leaves nothing out", "ks": "casts what is a double already"}
"""Superfluous parts of some statements: a cut-off that is no cut-off, and a cast of a sum in SQLite."""


def statement(file: SqlFile, dialect: str, **options: Any) -> str:
    tables = {role: f"eval.{table(role, file)}" for role in roles(file)}
    given = {role: name for role, name in tables.items() if role in OPTIONS}
    inputs = {role: name for role, name in tables.items() if role not in OPTIONS}
    return sqlrank.sql(asked(file), dialect=dialect, inputs=inputs or None, **given, **options)


@pytest.mark.parametrize(("file", "dialect"), every(23, CASES, rows=True), ids=lambda value: getattr(value, "name", value))
def test_nothing_in_a_statement_is_without_need(file: SqlFile, dialect: str) -> None:
    text = statement(file, dialect)
    name = DIALECTS[dialect].sqlglot_name
    found = [*faults(text, name), *style_faults(text, name)]
    assert [fault for fault in found if UNFINISHED.get(file.name, "\0") not in fault] == []
