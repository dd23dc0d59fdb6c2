"""Is the input what the metrics take it for? Every problem of every input, in one report, before anything is computed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from sqlglot import exp

from sqlrank.compose import Composer
from sqlrank.engine import rows
from sqlrank.errors import InputError
from sqlrank.keys import named
from sqlrank.library import read_select

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import duckdb

    from sqlrank.inputs import Input
    from sqlrank.library import Library
    from sqlrank.settings import Asked

Check = Literal["auto", "full", "off"]

COMMON = ("query_id", "doc_id")
FULL_UP_TO = 1_000_000
"""Rows up to which a run is searched for duplicates in full; beyond, where they touch a judged document."""

EXAMPLES = 3
LONGEST = 80
_NUMBERS = (
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
        for name in ("score", "rank", "relevance", "label", "weight"):
            kind = inputs[role].type_of(name)
            if name in columns and kind and not kind.startswith(_NUMBERS):
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
    _raise(problems)


@dataclass(frozen=True)
class Report:
    """What was checked before computing, and what remains to be checked in the result.

    ``all_rows`` says whether all rows of the run were searched for duplicates, ``positive`` is the number of judgments
    above 0, ``top_grade`` the greatest of them.
    """

    all_rows: bool
    positive: int
    top_grade: float | None


def _family(kind: str) -> str:
    if kind.startswith(_NUMBERS):
        return "number"
    return "text" if kind.startswith(("VARCHAR", "ENUM")) else kind


def check_rows(
    connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, Input], needed: Mapping[str, tuple[str, ...]], check: Check
) -> Report:
    """Raise ``InputError`` with all problems in the rows; report what was checked otherwise."""
    problems: list[str] = []
    all_rows = True
    judged: dict[str, Any] = {}
    for role, columns in needed.items():
        counted, found = _row_problems(connection, inputs[role], columns)
        problems += found
        judged = counted if role == "qrels" else judged
        keys = COMMON if "doc_id" in columns else COMMON[:1]
        if role == "run" and check == "auto" and counted["all_rows"] > FULL_UP_TO:
            all_rows = False
        else:
            problems += _duplicates(connection, inputs[role], keys)
    _raise(problems)
    return Report(all_rows, judged["positive_relevance"] or 0, judged["top_grade"])


def check_predictions(connection: duckdb.DuckDBPyConnection, item: Input, columns: tuple[str, ...], required: Sequence[str]) -> None:
    """Raise ``InputError`` with all problems in the rows of the predictions."""
    _raise(_row_problems(connection, item, columns, required)[1])


def check_row_order(connection: duckdb.DuckDBPyConnection, item: Input) -> None:
    """Raise ``InputError`` if two predictions of a group have the same rank, which says which of them comes first."""
    _raise(_duplicates(connection, item, ("rank",)))


def check_result(
    connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, Input], report: Report, audited: tuple[float, float], expected: float | None
) -> None:
    """Raise ``InputError`` for what only the join of run and judgments shows.

    ``audited`` are the judged documents of positive relevance after the join and those of them that were retrieved;
    ``expected`` is what the first must be without duplicates, None if that is not known.
    """
    docs, retrieved = audited
    if not report.all_rows and docs != expected:
        _raise(_judged_duplicates(connection, inputs["run"], inputs["qrels"]))
    if not retrieved:
        check_coverage(connection, inputs)


def rules(item: Input, columns: Sequence[str], required: Sequence[str] = ()) -> tuple[exp.Select, dict[str, exp.Expr]]:
    """Return the query that counts what breaks the rules for these columns, and the condition that each counts.

    ``required`` names rules that only some metrics need, such as ``nonbinary_label``.
    """
    tree = read_select("checks", f"{item.role}.sql")
    conditions = {}
    for column in list(tree.selects):
        name = column.alias
        conditional = column.find(exp.If)
        subject = name.partition("_")[2]
        if conditional is None or name not in _MEANS:
            keep = all(c.name in columns for c in column.find_all(exp.Column))
        else:
            keep = (name in required if name in REQUIREMENTS else subject in columns) and not (
                "NAN" in conditional.this.sql() and not _can_be_nan(item.type_of(subject))
            )
            if keep:
                conditions[name] = conditional.this
        if not keep:
            column.pop()
    return tree, conditions


def _row_problems(
    connection: duckdb.DuckDBPyConnection, item: Input, columns: tuple[str, ...], required: Sequence[str] = ()
) -> tuple[dict[str, Any], list[str]]:
    tree, conditions = rules(item, columns, required)
    for name in item.by if item.role != "predictions" else ():
        null = exp.Is(this=named(name), expression=exp.Null())
        conditions[f"null_{name}"] = null
        count = exp.Sum(this=exp.Case(ifs=[exp.If(this=null.copy(), true=exp.Literal.number(1))], default=exp.Literal.number(0)))
        tree = tree.select(exp.alias_(count, exp.to_identifier(f"null_{name}", quoted=True)))
    query = _over(tree, item, columns)
    names = [column.alias for column in tree.selects]
    counted = dict(zip(names, rows(connection, query)[0], strict=True))
    problems = []
    if not counted["all_rows"] and item.role != "queries":
        problems.append(f"{item.role} ({item.shown}) has no rows{' with a label' if item.is_labelled else ''}")
    for name, condition in conditions.items():
        if counted.get(name):
            # A CASE, since a bare condition is tested on the extremes of a Parquet file first, which leave out NaN.
            broken = exp.Case(ifs=[exp.If(this=condition, true=exp.Literal.number(1))], default=exp.Literal.number(0))
            shown = exp.select("*").where(exp.EQ(this=broken, expression=exp.Literal.number(1)))
            meaning = _MEANS.get(name, f"{name.removeprefix('null_')} is NULL")
            problems.append(_problem(connection, item, f"{_rows(counted[name])}: {meaning}", shown, columns))
    return counted, problems


def _can_be_nan(kind: str) -> bool:
    return kind in {"FLOAT", "DOUBLE"}


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def _over(query: exp.Select, item: Input, columns: tuple[str, ...], shown: bool = False) -> str:
    return query.from_(item.select(columns, shown=shown).subquery(item.role)).sql("duckdb")


def _problem(connection: duckdb.DuckDBPyConnection, item: Input, what: str, query: exp.Select, columns: tuple[str, ...]) -> str:
    return _report(connection, item, what, _over(query.limit(EXAMPLES), item, columns), _over(query, item, columns, shown=True))


def _report(connection: duckdb.DuckDBPyConnection, item: Input, what: str, query: str, shown: str) -> str:
    described = [row[0] for row in rows(connection, f"DESCRIBE {query}")]
    examples = [", ".join(f"{name}={_short(value)}" for name, value in zip(described, row, strict=True)) for row in rows(connection, query)]
    return "\n    ".join([f"{item.role} ({item.shown}): {what}", *examples, f"see more: {shown}"])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."


def _duplicates(connection: duckdb.DuckDBPyConnection, item: Input, keys: tuple[str, ...]) -> list[str]:
    """Find keys that stand twice. Grouping by a hash is several times faster than by texts; a hit is then made sure of."""
    columns = [named(name) for name in [*item.by, *keys]]
    hashed = exp.alias_(exp.Anonymous(this="HASH", expressions=[c.copy() for c in columns]), "key_hash")
    twice = exp.select("1").from_(exp.select(hashed).from_(item.select(keys).subquery(item.role)).subquery("hashed"))
    if not rows(connection, twice.group_by("key_hash").having("COUNT(*) > 1").limit(1).sql("duckdb")):
        return []
    shown = exp.select(*columns, exp.alias_(exp.Count(this=exp.Star()), "times")).group_by(*columns).having("COUNT(*) > 1")
    if not rows(connection, _over(shown.limit(1), item, keys)):
        return []
    return [_problem(connection, item, f"({', '.join(c.name for c in columns)}) stands more than once; keep one row of each", shown, keys)]


def _judged_duplicates(connection: duckdb.DuckDBPyConnection, run: Input, qrels: Input) -> list[str]:
    """Find documents of positive relevance that stand twice in a list: a join with the judgments is much smaller than the run."""
    columns = [named(name, "run") for name in [*run.by, *COMMON]]
    same = _same(COMMON)
    times = exp.alias_(exp.Count(this=exp.Star()), "times")
    queries = []
    for shown in (False, True):
        judged = exp.select(*COMMON).from_(qrels.select((*COMMON, "relevance"), shown=shown).subquery("judged"))
        judged = judged.where("relevance > 0").group_by(*COMMON)
        query = exp.select(*columns, times).from_(run.select(COMMON, shown=shown).subquery("run"))
        queries.append(query.join(judged.subquery("qrels"), on=same).group_by(*columns).having("COUNT(*) > 1"))
    examples = queries[0].limit(EXAMPLES).sql("duckdb")
    if not rows(connection, examples):
        return []
    what = f"({', '.join(c.name for c in columns)}) stands more than once; keep one row of each"
    return [_report(connection, run, what, examples, queries[1].sql("duckdb"))]


def _same(keys: tuple[str, ...]) -> exp.Condition:
    return exp.and_(*(exp.EQ(this=exp.column(key, table="run"), expression=exp.column(key, table="qrels")) for key in keys))


def audit() -> exp.Select:
    """Return the columns that :func:`check_result` reads, as a metric file."""
    return read_select("checks", "audit.sql")


def check_coverage(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, Input]) -> None:
    """Raise ``InputError`` if run and qrels have no query in common, or no document of a query."""
    run = inputs["run"].select(COMMON).subquery("run")
    qrels = inputs["qrels"].select(COMMON).subquery("qrels")
    for keys, what in ((("query_id",), "query_id"), (("query_id", "doc_id"), "(query_id, doc_id)")):
        if not rows(connection, exp.select("1").from_(run.copy()).join(qrels.copy(), on=_same(keys)).limit(1).sql("duckdb")):
            left = rows(connection, exp.select(*keys).from_(run.copy()).limit(1).sql("duckdb"))
            right = rows(connection, exp.select(*keys).from_(qrels.copy()).limit(1).sql("duckdb"))
            raise InputError(
                f"run and qrels have no {what} in common; run has such as {left[0]}, qrels such as {right[0]}: are they of the same collection?"
                f"{_read_as_text(inputs, keys)}"
            )


def _read_as_text(inputs: Mapping[str, Input], keys: Sequence[str]) -> str:
    """Name the keys whose type differs between run and qrels, which were compared as texts."""
    kinds = [f"{role}.{key} is {item.types[item.names[key]]}" for role, item in inputs.items() for key in keys if key in item.as_text]
    return f" ({', '.join(kinds)}, and was read as text)" if kinds else ""


def check_ties(connection: duckdb.DuckDBPyConnection, item: Input) -> None:
    """Raise ``InputError`` if two documents of a list have the same score."""
    keys = [named(name) for name in [*item.by, "query_id", "score"]]
    tied = exp.select(*keys, exp.alias_(exp.Count(this=exp.Star()), "docs")).group_by(*keys).having("COUNT(*) > 1")
    if rows(connection, _over(tied.limit(1), item, ("query_id", "score"))):
        raise InputError(_problem(connection, item, "equal scores in a list, and ties='error'", tied, ("query_id", "score")))


def check_weights(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, Input], role: str) -> None:
    """Raise ``InputError`` if the queries table has weights, but none for a query."""
    if "queries" in inputs and "weight" in inputs["queries"].names:
        has = rows(
            connection,
            exp.select("query_id")
            .from_(inputs["queries"].select(COMMON[:1]).subquery("queries"))
            .order_by("query_id")
            .limit(EXAMPLES)
            .sql("duckdb"),
        )
        known = f"without a weight in queries, which has such as {', '.join(_short(row[0]) for row in has)}"
        _raise(list(_unmatched(connection, inputs[role], inputs["queries"], known)))


def check_strict(connection: duckdb.DuckDBPyConnection, inputs: Mapping[str, Input]) -> None:
    """Raise ``InputError`` unless run and qrels hold the same queries."""
    problems = list(_unmatched(connection, inputs["qrels"], inputs["run"], "judged, but not answered, and queries='strict'"))
    problems += _unmatched(connection, inputs["run"], inputs["qrels"], "answered, but not judged, and queries='strict'")
    _raise(problems)


def _unmatched(connection: duckdb.DuckDBPyConnection, left: Input, right: Input, what: str) -> Iterator[str]:
    keys = ("query_id",)
    ids = exp.select("query_id").from_(right.select(keys).subquery("other"))
    query = (
        exp.select("query_id")
        .distinct()
        .from_(left.select(keys).subquery("these"))
        .where(exp.Not(this=exp.In(this=exp.column("query_id"), query=ids.subquery())))
    )
    if found := rows(connection, query.limit(EXAMPLES).sql("duckdb")):
        yield f"queries {what}: {', '.join(_short(row[0]) for row in found)}; see more: {query.sql('duckdb')}"


def check_stops(connection: duckdb.DuckDBPyConnection, library: Library, asked: Sequence[Asked], top_grade: float | None) -> None:
    """Raise ``InputError`` if a stop probability is above 1 at the greatest relevance."""
    for item in asked:
        if item.file.tree.args["from_"].this.name != "cascade" or top_grade is None:
            continue
        grade = exp.Literal.number(repr(float(top_grade)))
        stop = Composer(library, {}, []).function("stop", item.settings, grade)
        if rows(connection, exp.select(stop).sql("duckdb"))[0][0] > 1:
            raise InputError(
                f"{item.metric}: a relevance of {top_grade:g} gives a stop probability above 1; "
                "give the highest grade of the scale with max_grade, or another function with stop"
            )


def _raise(problems: list[str]) -> None:
    if problems:
        raise InputError("\n".join(dict.fromkeys(problems)))
