"""Is the input what the metrics take it for? Every problem of every input, in one report, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from sqlglot import exp

from sqlrank.engines.render import write
from sqlrank.errors import InputError
from sqlrank.inputs.input import compared
from sqlrank.inputs.rules import rules
from sqlrank.statement.keys import named

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlrank.engines.database import Database
    from sqlrank.inputs.input import Input
    from sqlrank.inputs.rules import Rules

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


def _row_problems(
    database: Database, item: Input, columns: tuple[str, ...], required: Sequence[str] = ()
) -> tuple[dict[str, Any], list[str]]:
    found = rules(item.checks, columns, required, item.type_of)
    is_parquet = item.table.node.find(exp.ReadParquet) is not None
    text = _counting(found, _read(item, columns), item.role.name, is_parquet, database.dialect)
    counted = dict(zip(found.query.named_selects, database.fetch(text)[0], strict=True))
    problems = []
    if not counted["all_rows"]:
        problems.append(f"{item.shown} has no rows{' with a label' if item.is_labelled else _where(database, item)}")
    for name, condition in found.conditions.items():
        if counted.get(name):
            # A CASE, since a bare condition is tested on the extremes of a Parquet file first, which leave out NaN.
            broken = exp.Case(ifs=[exp.If(this=condition.copy(), true=exp.Literal.number(1))], default=exp.Literal.number(0))
            shown = exp.select("*").where(exp.EQ(this=broken, expression=exp.Literal.number(1)))
            problems.append(problem(database, item, f"{_rows(counted[name])}: {found.meanings[name]}", shown, columns))
    return counted, problems


@lru_cache(maxsize=256)
def _counting(found: Rules, read: exp.Select, role: str, is_parquet: bool, dialect: str) -> str:
    """Return the query that counts the rows which break rules; the NULLs of Parquet files in a query for each column.

    DuckDB answers those from what the files say of their row groups.
    """
    tree = found.query.copy()
    for column in tree.selects if is_parquet else ():
        if column.alias.startswith("null_"):
            nulls = exp.select("COUNT(*)").where(found.conditions[column.alias].copy())
            column.set("this", nulls.from_(read.subquery(role)).subquery())
    return write(tree.from_(read.subquery(role)), dialect)


def _where(database: Database, item: Input) -> str:
    kept = "" if item.where is None else f" where {database.text(item.where)}"
    return f"{kept} with all values, and nulls='drop'" if item.valued else kept


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def over(query: exp.Select, item: Input, columns: tuple[str, ...], shown: bool = False) -> exp.Select:
    """Return a query over an input; ``shown`` for the caller's eyes."""
    return query.from_(_read(item, columns, shown).subquery(item.role.name))


def _read(item: Input, columns: tuple[str, ...], shown: bool = False) -> exp.Select:
    return item.select(columns, shown=shown, as_given=True)


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
    return bool(database.fetch(_neighbours(_read(item, keys), item.role.name, tuple(columns), database.dialect)))


@lru_cache(maxsize=256)
def _neighbours(read: exp.Select, role: str, columns: tuple[exp.Column, ...], dialect: str) -> str:
    hashed = exp.alias_(exp.Anonymous(this="HASH", expressions=[c.copy() for c in columns]), "key_hash")
    query = exp.select(hashed).from_(read.subquery(role)).subquery("hashed")
    neighbours = exp.select("key_hash", "LAG(key_hash) OVER (ORDER BY key_hash) AS before").from_(query).subquery("neighbours")
    return write(exp.select("1").from_(neighbours).where("key_hash = before").limit(1), dialect)


def refuse(problems: list[str]) -> None:
    """Raise ``InputError`` with all problems, if there are any."""
    if problems:
        raise InputError("\n".join(dict.fromkeys(problems)))
