"""Is the input what the metrics take it for? Every problem of every input, in one report, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlglot import exp

from sqlrank.errors import InputError
from sqlrank.inputs import NUMERIC
from sqlrank.keys import named
from sqlrank.library import read_select

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.database import Database
    from sqlrank.inputs import Input

Check = Literal["auto", "full", "off"]

COMMON = ("query_id", "doc_id")
FULL_UP_TO = 1_000_000
"""Rows up to which a run is searched for duplicates in full; beyond, where they touch a judged document."""

EXAMPLES = 3
LONGEST = 80
NUMBERS = (
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "HUGEINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
    "UHUGEINT",
    "FLOAT",
    "DOUBLE",
    "DECIMAL",
    "BOOLEAN",
    "BIGNUM",
)
REQUIREMENTS = {
    "nonbinary_label": "label is neither 0 nor 1",
    "negative_label": "label is negative",
    "improbable_score": "score is not a probability, from 0 to 1",
    "nonpositive_score": "score is not above 0",
    "infinite_score": "score is infinite",
}
"""Rules that only some metrics need, and what breaking them means."""

_MEANS = REQUIREMENTS | {
    "null_label": "label is NULL; leave the row out",
    "nan_label": "label is NaN or infinite; leave the row out",
    "null_query_id": "query_id is NULL",
    "null_doc_id": "doc_id is NULL",
    "null_score": "score is NULL; give it a value, or leave the row out",
    "nan_score": "score is NaN, which would be ranked first; give it a value, or leave the row out",
    "null_rank": "rank is NULL",
    "null_relevance": "relevance is NULL; leave the row out if the document was not judged",
    "nan_relevance": "relevance is NaN or infinite; leave the row out if the document was not judged",
    "null_features": "features are NULL; give numbers, or leave the row out",
    "infinite_features": "a feature is NULL, NaN or infinite; give it a value, or leave the row out",
    "null_weight": "weight is NULL",
    "negative_weight": "weight is negative",
    "nan_weight": "weight is NaN or infinite",
}


def check_columns(inputs: Mapping[str, Input], needed: Mapping[str, tuple[str, ...]]) -> None:
    """Raise ``InputError`` unless every needed column is there, of a type that fits, and joinable."""
    problems = []
    for role, columns in needed.items():
        problems += inputs[role].missing(columns)
        shown = f"{role} ({inputs[role].shown})"
        for name in NUMERIC:
            kind = inputs[role].type_of(name)
            if name in columns and kind and not kind.startswith(NUMBERS):
                what = f"{shown}: {name} is {kind}, not a number; cast it, or map another column to {name}"
                # All columns of a text file without rows are texts.
                problems.append(f"{shown} has no rows" if inputs[role].is_empty else what)
    # The queries table is joined by query_id alone.
    joined = {role: [*columns, *(inputs[role].by if role != "queries" else ())] for role, columns in needed.items()}
    for key in dict.fromkeys([*COMMON, *(name for role in needed for name in inputs[role].by)]):
        kinds = {role: inputs[role].type_of(key) for role in needed if key in joined[role] and inputs[role].type_of(key)}
        families = {_family(kind) for kind in kinds.values()}
        if len(families) > 1:
            types = ", ".join(f"{role}.{key if key in COMMON else inputs[role].names[key]} is {kind}" for role, kind in kinds.items())
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


def check_rows(database: Database, inputs: Mapping[str, Input], needed: Mapping[str, tuple[str, ...]], check: Check) -> Report:
    """Raise ``InputError`` with all problems in the rows; report what was checked otherwise."""
    problems: list[str] = []
    all_rows = True
    judged: dict[str, Any] = {}
    rows: dict[str, int] = {}
    for role, columns in needed.items():
        counted, found = _row_problems(database, inputs[role], columns)
        problems += found
        rows[role] = counted["all_rows"]
        judged = counted if role == "qrels" else judged
        keys = COMMON if "doc_id" in columns else COMMON[:1]
        if role == "run" and check == "auto" and counted["all_rows"] > FULL_UP_TO:
            all_rows = False
        else:
            problems += _duplicates(database, inputs[role], keys)
    refuse(problems)
    return Report(rows, all_rows, judged["positive_relevance"] or 0, judged["top_grade"])


def check_predictions(database: Database, item: Input, columns: tuple[str, ...], required: Sequence[str]) -> None:
    """Raise ``InputError`` with all problems in the rows of the predictions."""
    refuse(_row_problems(database, item, columns, required)[1])


def check_row_order(database: Database, item: Input) -> None:
    """Raise ``InputError`` if two predictions of a group have the same rank, which says which of them comes first."""
    refuse(_duplicates(database, item, ("rank",)))


def rules(
    role: str, columns: Sequence[str], required: Sequence[str] = (), type_of: Callable[[str], str] = lambda _: ""
) -> tuple[exp.Select, dict[str, exp.Expr]]:
    """Return the query that counts what breaks the rules for these columns, and the condition that each counts.

    ``required`` names rules that only some metrics need, such as ``nonbinary_label``; ``type_of`` tells which columns cannot be NaN.
    """
    tree = read_select("checks", f"{role}.sql")
    conditions: dict[str, exp.Expr] = {}
    for column in list(tree.selects):
        name = column.alias
        kind, _, subject = name.partition("_")
        if name not in _MEANS:
            keep = all(c.name in columns for c in column.find_all(exp.Column))
        elif kind == "null":
            keep = subject in columns
            conditions |= {name: _is_null(exp.column(subject))} if keep else {}
        else:
            condition = next(column.find_all(exp.If)).this
            keep = name in required if name in REQUIREMENTS else subject in columns
            keep = keep and not ("NAN" in condition.sql() and not _can_be_nan(type_of(subject)))
            conditions |= {name: condition} if keep else {}
        if not keep:
            column.pop()
    return tree, conditions


def _row_problems(
    database: Database, item: Input, columns: tuple[str, ...], required: Sequence[str] = ()
) -> tuple[dict[str, Any], list[str]]:
    tree, conditions = rules(item.role, columns, required, item.type_of)
    for name in item.by if item.role not in {"predictions", "training"} else ():
        conditions[f"null_{name}"] = _is_null(named(name))
        count = exp.Sub(this=exp.Count(this=exp.Star()), expression=exp.Count(this=named(name)))
        tree = tree.select(exp.alias_(count, exp.to_identifier(f"null_{name}", quoted=True)))
    if item.node.find(exp.ReadParquet):
        _count_nulls_apart(tree, conditions, item, columns)
    query = over(tree, item, columns)
    names = [column.alias for column in tree.selects]
    counted = dict(zip(names, database.rows(query)[0], strict=True))
    problems = []
    if not counted["all_rows"] and item.role != "queries":
        problems.append(f"{item.role} ({item.shown}) has no rows{' with a label' if item.is_labelled else ''}")
    for name, condition in conditions.items():
        if counted.get(name):
            # A CASE, since a bare condition is tested on the extremes of a Parquet file first, which leave out NaN.
            broken = exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))
            shown = exp.select("*").where(exp.EQ(this=broken, expression=exp.Literal.number(1)))
            meaning = _MEANS.get(name, f"{name.removeprefix('null_')} is NULL")
            problems.append(problem(database, item, f"{_rows(counted[name])}: {meaning}", shown, columns))
    return counted, problems


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
    return query.from_(item.select(columns, shown=shown).subquery(item.role))


def problem(database: Database, item: Input, what: str, query: exp.Select, columns: tuple[str, ...]) -> str:
    """Describe the rows that a query over an input finds."""
    return describe(database, item, what, over(query.limit(EXAMPLES), item, columns), over(query, item, columns, shown=True))


def describe(database: Database, item: Input, what: str, query: exp.Query, shown: exp.Query) -> str:
    """Return what is wrong with an input, with examples and the query that shows the rest."""
    names = query.named_selects if not query.is_star else query.args["from_"].this.named_selects
    examples = [", ".join(f"{name}={short(value)}" for name, value in zip(names, row, strict=True)) for row in database.rows(query)]
    return "\n    ".join([f"{item.role} ({item.shown}): {what}", *examples, f"see more: {database.text(shown)}"])


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
    return [problem(database, item, f"({', '.join(c.name for c in columns)}) stands more than once; keep one row of each", shown, keys)]


def _same_hashes(database: Database, item: Input, keys: tuple[str, ...], columns: Sequence[exp.Column]) -> bool:
    hashed = exp.alias_(exp.Anonymous(this="HASH", expressions=[c.copy() for c in columns]), "key_hash")
    query = exp.select(hashed).from_(item.select(keys).subquery(item.role)).subquery("hashed")
    neighbours = exp.select("key_hash", "LAG(key_hash) OVER (ORDER BY key_hash) AS before").from_(query).subquery("neighbours")
    return bool(database.rows(exp.select("1").from_(neighbours).where("key_hash = before").limit(1)))


def refuse(problems: list[str]) -> None:
    """Raise ``InputError`` with all problems, if there are any."""
    if problems:
        raise InputError("\n".join(dict.fromkeys(problems)))
