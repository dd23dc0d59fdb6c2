"""Is the input what the metrics take it for? Every problem of every input, in one report, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlglot import exp

from sqlrank.errors import InputError
from sqlrank.inputs.input import compared
from sqlrank.library.selects import Rule, read_select
from sqlrank.statement.keys import named

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from sqlrank.engines.database import Database
    from sqlrank.inputs.input import Input

Check = Literal["auto", "full", "off"]

COMMON = ("query_id", "doc_id")
FULL_UP_TO = 1_000_000
"""Rows up to which a run is searched for duplicates in full; beyond, where they touch a judged document."""

EXAMPLES = 3
LONGEST = 80
NUMBERS = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE",
    "DECIMAL", "BOOLEAN", "BIGNUM",
)  # fmt: skip


def check_columns(inputs: Mapping[str, Input], needed: Mapping[str, tuple[str, ...]]) -> None:
    """Raise ``InputError`` unless every needed column is there, of a type that fits, and joinable."""
    problems = []
    for role, columns in needed.items():
        problems += inputs[role].missing(columns)
        shown = inputs[role].shown
        for name, column in inputs[role].role.columns.items():
            kind = inputs[role].type_of(name)
            if column.is_number and name in columns and kind and (not kind.startswith(NUMBERS) or kind.endswith("]")):
                what = f"{shown}: {name} is {kind}, not a number; cast it, or map another column to {name}"
                # All columns of a text file without rows are texts.
                problems.append(f"{shown} has no rows" if inputs[role].table.is_empty else what)
    # The queries table is joined by query_id alone.
    joined = {role: [*columns, *(inputs[role].by if role != "queries" else ())] for role, columns in needed.items()}
    for sides in compared(inputs, joined).values():
        kinds = {(role, name): kind for role, name in sides if (kind := inputs[role].type_of(name))}
        families = {_family(kind) for kind in kinds.values()}
        if len(families) > 1:
            types = ", ".join(f"{role}.{inputs[role].said(name)} is {kind}" for (role, name), kind in kinds.items())
            problems.append(
                f"{types}: {'a number and a text' if families <= {'number', 'text'} else 'values of these types'} never match; cast one of them"
            )
    refuse(problems)


@dataclass(frozen=True)
class Report:
    """What was checked before computing, and what remains to be checked in the result.

    ``rows`` is the number of rows of each input, ``all_rows`` says whether all of the run were searched for duplicates,
    ``positive`` is the number of judgments above 0, ``top_grade`` the greatest of them.
    """

    rows: Mapping[str, int]
    all_rows: bool
    positive: int
    top_grade: float | None


def _family(kind: str) -> str:
    if kind.startswith(NUMBERS):
        return "number"
    return "text" if kind.startswith(("VARCHAR", "ENUM")) else kind


def check_rows(
    database: Database, inputs: Mapping[str, Input], needed: Mapping[str, tuple[str, ...]], check: Check, kept: Collection[str] = ()
) -> Report:
    """Raise ``InputError`` with all problems in the rows; report what was checked otherwise.

    ``kept`` are inputs in which what stands twice is taken for one, so that it is not searched for.
    """
    problems: list[str] = []
    all_rows = True
    judged: dict[str, Any] = {}
    rows: dict[str, int] = {}
    for role, columns in needed.items():
        counted, found = _row_problems(database, inputs[role], columns)
        problems += found
        rows[role] = counted["all_rows"]
        judged = counted if role == "qrels" else judged
        if role in kept or not inputs[role].role.unique:
            continue
        if role == "run" and check == "auto" and counted["all_rows"] > FULL_UP_TO:
            all_rows = False
        else:
            problems += _duplicates(database, inputs[role], inputs[role].role.unique)
    refuse(problems)
    return Report(rows, all_rows, judged.get("positive_relevance") or 0, judged.get("top_grade"))


def check_values(database: Database, item: Input, columns: tuple[str, ...], required: Sequence[str]) -> None:
    """Raise ``InputError`` with all problems in the rows of an input that is no ranking; ``required`` is what its metrics require."""
    refuse(_row_problems(database, item, columns, required)[1])


def check_unique(database: Database, item: Input, keys: tuple[str, ...]) -> None:
    """Raise ``InputError`` if two rows of a group have the same keys."""
    refuse(_duplicates(database, item, keys))


@dataclass(frozen=True)
class Rules:
    """The query that counts what breaks the rules of a role, the condition that each counts, and what breaking it means."""

    query: exp.Select
    conditions: dict[str, exp.Expr]
    meanings: dict[str, str]


def rules(path: Path | None, columns: Sequence[str], required: Sequence[str] = (), type_of: Callable[[str], str] = lambda _: "") -> Rules:
    """Return the rules for these columns; without a file only rows are counted.

    ``required`` is what metrics require, such as ``binary labels``; ``type_of`` tells which columns cannot be NaN.
    """
    tree = exp.select("COUNT(*) AS all_rows") if path is None else read_select(path)
    tree.set("from_", None)
    conditions: dict[str, exp.Expr] = {}
    meanings: dict[str, str] = {}
    for column in list(tree.selects):
        rule = Rule(column)
        named_here = {
            found.name for found in column.find_all(exp.Column) if not found.find_ancestor(exp.Comprehension) or found.name in columns
        }
        condition = None if not rule.meaning else _broken(column)
        keep = named_here <= set(columns) and (not rule.requirement or rule.requirement in required)
        if condition is not None:
            keep = keep and not ("NAN" in condition.sql() and not any(_can_be_nan(type_of(name)) for name in named_here))
        if not keep:
            column.pop()
        elif condition is not None:
            conditions[rule.name], meanings[rule.name] = condition, rule.meaning
        column.comments = None
    return Rules(tree, conditions, meanings)


def _broken(column: exp.Expr) -> exp.Expr:
    """Return the condition that a column counts: that of its CASE, or that what ``COUNT(*) - COUNT(x)`` counts is NULL."""
    case = column.find(exp.If)
    return case.this if case is not None else _is_null(next(column.find_all(exp.Column)))


def _row_problems(
    database: Database, item: Input, columns: tuple[str, ...], required: Sequence[str] = ()
) -> tuple[dict[str, Any], list[str]]:
    found = rules(item.checks, columns, required, item.type_of)
    tree, conditions = found.query, found.conditions
    if item.table.node.find(exp.ReadParquet):
        _count_nulls_apart(tree, conditions, item, columns)
    query = over(tree, item, columns)
    names = [column.alias for column in tree.selects]
    counted = dict(zip(names, database.rows(query)[0], strict=True))
    problems = []
    if not counted["all_rows"]:
        problems.append(f"{item.shown} has no rows{' with a label' if item.is_labelled else _where(database, item)}")
    for name, condition in conditions.items():
        if counted.get(name):
            # A CASE, since a bare condition is tested on the extremes of a Parquet file first, which leave out NaN.
            broken = exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))
            shown = exp.select("*").where(exp.EQ(this=broken, expression=exp.Literal.number(1)))
            problems.append(problem(database, item, f"{_rows(counted[name])}: {found.meanings[name]}", shown, columns))
    return counted, problems


def _where(database: Database, item: Input) -> str:
    kept = "" if item.where is None else f" where {database.text(item.where)}"
    return f"{kept} with all values, and nulls='drop'" if item.valued else kept


def _count_nulls_apart(tree: exp.Select, conditions: Mapping[str, exp.Expr], item: Input, columns: tuple[str, ...]) -> None:
    """Count NULLs of Parquet files in a query for each column, which DuckDB answers from what the files say of their row groups."""
    for column in tree.selects:
        if column.alias.startswith("null_"):
            column.set("this", over(exp.select("COUNT(*)").where(conditions[column.alias].copy()), item, columns).subquery())


def _is_null(column: exp.Column) -> exp.Expr:
    return exp.Is(this=column, expression=exp.Null())


def _can_be_nan(kind: str) -> bool:
    return kind in {"FLOAT", "DOUBLE", ""} or kind.startswith("DECIMAL")


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def over(query: exp.Select, item: Input, columns: tuple[str, ...], shown: bool = False) -> exp.Select:
    """Return a query over an input; ``shown`` for the caller's eyes."""
    return query.from_(item.select(columns, shown=shown, as_given=True).subquery(item.role.name))


def problem(database: Database, item: Input, what: str, query: exp.Select, columns: tuple[str, ...]) -> str:
    """Describe the rows that a query over an input finds."""
    return describe(database, item, what, over(query.limit(EXAMPLES), item, columns), over(query, item, columns, shown=True))


def describe(database: Database, item: Input, what: str, query: exp.Query, shown: exp.Query) -> str:
    """Return what is wrong with an input, with examples and the query that shows the rest."""
    names = query.named_selects if not query.is_star else query.args["from_"].this.named_selects
    examples = [", ".join(f"{name}={short(value)}" for name, value in zip(names, row, strict=True)) for row in database.rows(query)]
    return "\n    ".join([f"{item.shown}: {what}", *examples, f"see more: {database.text(shown)}"])


def short(value: Any) -> str:
    """Return a value as text of bounded length."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _duplicates(database: Database, item: Input, keys: tuple[str, ...]) -> list[str]:
    """Find keys that stand twice. On DuckDB sorting their hashes is several times faster than grouping texts; a hit is then made sure of."""
    columns = [*map(named, item.by), *map(exp.column, keys)]
    if database.dialect == "duckdb" and not _same_hashes(database, item, keys, columns):
        return []
    shown = exp.select(*columns, exp.alias_(exp.Count(this=exp.Star()), "times")).group_by(*columns).having("COUNT(*) > 1")
    if not database.rows(over(shown.limit(1), item, keys)):
        return []
    what = item.role.twice or f"({', '.join(c.name for c in columns)}) stands more than once; keep one row of each"
    return [problem(database, item, what, shown, keys)]


def _same_hashes(database: Database, item: Input, keys: tuple[str, ...], columns: Sequence[exp.Column]) -> bool:
    hashed = exp.alias_(exp.Anonymous(this="HASH", expressions=[c.copy() for c in columns]), "key_hash")
    query = exp.select(hashed).from_(item.select(keys, as_given=True).subquery(item.role.name)).subquery("hashed")
    neighbours = exp.select("key_hash", "LAG(key_hash) OVER (ORDER BY key_hash) AS before").from_(query).subquery("neighbours")
    return bool(database.rows(exp.select("1").from_(neighbours).where("key_hash = before").limit(1)))


def refuse(problems: list[str]) -> None:
    """Raise ``InputError`` with all problems, if there are any."""
    if problems:
        raise InputError("\n".join(dict.fromkeys(problems)))
