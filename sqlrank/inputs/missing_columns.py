"""Describe columns that inputs lack, with the mapping or the query of nested rows that gives
them.
"""

from __future__ import annotations

import json
import os
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from sqlglot import exp

from sqlrank.call.sources import JSON_READER, data_suffix, reader_function
from sqlrank.engines.duckdb_session import query_files
from sqlrank.engines.file_sources import list_paths
from sqlrank.errors import enumerate_names, find_misspelling, join_sentences
from sqlrank.inputs.bound_input import bound_expression
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import normalize_name
from sqlrank.registry.query_templates import load_select
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.renderer import to_sql
from sqlrank.sql_ast import quoted_column, sql_literal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlrank.inputs.bound_input import BoundInput
    from sqlrank.registry.roles import ColumnSpec


MAX_ROWS_RANKED, MIN_SHARE_RISING = 500, 0.9
"""First rows of a run whose scores are compared with ranks, and the share of lists in which they
rise that a note needs: ranks of an earlier stage, in the order of other scores, rise in about half.
"""

MIN_SLOPE = 0.01
"""Covariance of scores and ranks, in units of their ranges, above which scores rise in a list, and
are not equal but for rounding.
"""

LINE_SUFFIXES = (".jsonl", ".ndjson")
"""Suffixes of files with an object of JSON in each line."""

MAX_ROWS_WITH_TIES = 20_000
"""First rows of a run whose equal scores are compared with their ranks."""

NESTED_TYPES = ("STRUCT(", "MAP(", "JSON")

_NUMBERS = {"label", "score", "relevance", "weight", "rank", "rating"}
"""Columns that are numbers where a file does not say so."""

_ORDERS = {"score": "-CAST(document.key AS INTEGER)", "relevance": "1"}
"""Numbers of documents in a list, best first."""

_DOUBLES = {"BIGINT", "UBIGINT", "DOUBLE"}
_IDS = {"VARCHAR", "BIGINT", "UBIGINT"}
"""JSON types of numbers, and of ids of documents."""

RANKED_LISTS = (
    "run={query: sorted(docs, key=docs.get, reverse=True) for query, docs in run.items()}"
)
"""Lists of documents in the order of their scores, equal ones as they were written, of a dict of
scores.
"""

ID_FIELDS = ("doc_id", "id", "class_id", "label")
"""Fields of structs that may hold the id of a document or class."""

_LISTS_OF_DOCUMENTS = ("retrieved", "relevant")

_SEARCH_ANSWERS = {
    "hits": (
        "SELECT {query} AS query_id, hit._id AS doc_id, hit._score AS score FROM (SELECT {column},"
        " UNNEST(hits.hits) AS hit FROM READ_JSON({file}, filename = TRUE)) AS answers"
    ),
    "responses": (
        "SELECT number AS query_id, hit._id AS doc_id, hit._score AS score FROM (SELECT number,"
        " UNNEST(response.hits.hits) AS hit FROM (SELECT UNNEST(responses) AS response,"
        " GENERATE_SUBSCRIPTS(responses, 1) AS number FROM READ_JSON({file})) AS answers) AS hits"
    ),
}
"""Queries that make a run of answers of Elasticsearch and OpenSearch, by the column that holds the
hits.
"""

_SEARCH_IDS = {"hits": "the name of the file", "responses": "the number of the request, from 1"}


def describe_nested_rows(bound_input: BoundInput, column: str | None = None) -> str:
    """Return the query to give for JSON whose rows are in a list of an object, or that has a key
    for each query; else an empty text.

    Args:
        bound_input: The input that lacks columns.
        column: A column that its rows should have, if one is known.
    """
    types = bound_input.table.types
    path = _name_files(bound_input.table.label)
    if (
        reader_function(path) != JSON_READER
        or bound_input.table.members
        or not bound_input.dialect.supports_file_readers
    ):
        return ""
    if any("MAP(" in duckdb_type for duckdb_type in types.values()):
        types = _infer_structs(path)
    is_ranking = bound_input.role.list_relation is not None and "doc_id" in bound_input.role.columns
    # Without a name of a column, objects of numbers are the documents of queries.
    if orientation := _describe_frame(path, types, bound_input.role.columns if is_ranking else ()):
        return orientation
    needs_lists = any(
        spec.type == "list" and not spec.optional for spec in bound_input.role.columns.values()
    )
    lists = {
        name: duckdb_type
        for name, duckdb_type in types.items()
        if duckdb_type.startswith("STRUCT(")
        and duckdb_type.endswith(")[]")
        # Objects of one document each are a list of a row, and no rows of lists.
        and (not needs_lists or any(map(_is_nested, _list_fields(duckdb_type[:-2]).values())))
    }
    file = sql_literal(path).sql("duckdb")
    if "score" in bound_input.role.columns and (hits := _describe_hits(types, file)):
        return hits
    if len(lists) == 1:
        ((name, duckdb_type),) = lists.items()
        fields = _list_fields(duckdb_type[: -len("[]")])
        if (column in fields or (column is None and not bound_input.columns)) and (
            not is_ranking or _names_query(fields)
        ):
            query = (
                f"SELECT UNNEST({exp.to_identifier(name).sql('duckdb')}, max_depth := 2) FROM"
                f" {file}"
            )
            return _suggest_query(f"If its rows are in {name}, give the query ", query)
    number = next((name for name in _ORDERS if name in bound_input.role.columns), None)
    if (
        column is not None
        or number is None
        or not is_ranking
        or not path.lower().endswith((".json", *LINE_SUFFIXES))
    ):
        return ""
    return _describe_queries(bound_input, types, number)


def _describe_hits(types: Mapping[str, str], file: str) -> str:
    """Return the query for answers of Elasticsearch, empty for other files."""
    for name, query in _SEARCH_ANSWERS.items():
        nested_type = types.get(name, "")
        if (
            nested_type.startswith("STRUCT(")
            and "hits STRUCT(" in nested_type
            and "_id" in nested_type
        ):
            # Whoever keeps answers in lines of one file, names the query in each.
            ids = [
                key for key, kind in types.items() if kind in _IDS and may_mean(key, ["query_id"])
            ]
            column = exp.to_identifier(ids[0]).sql("duckdb") if ids else "filename"
            query_id = column if ids else "PARSE_FILENAME(filename, TRUE)"
            source = f"the column {ids[0]!r}" if ids and name == "hits" else _SEARCH_IDS[name]
            start = (
                f"Of answers of Elasticsearch make a run, whose query_id is {source}: give the"
                " query "
            )
            return _suggest_query(start, query.format(file=file, query=query_id, column=column))
    return ""


def _is_nested(duckdb_type: str) -> bool:
    return duckdb_type.endswith("]") or duckdb_type.startswith(NESTED_TYPES)


def _name_files(label: str) -> str:
    """Return a pattern of the files of a folder of one format, and other labels as they are."""
    suffixes = {data_suffix(file) for file in list_paths(label)} if Path(label).is_dir() else set()
    return str(Path(label, "**", f"*{suffixes.pop()}")) if len(suffixes) == 1 else label


def has_no_rows(bound_input: BoundInput) -> bool:
    """Return True for a file of JSON that is an empty list, an empty object or null, in which
    DuckDB finds a column json.
    """
    table = bound_input.table
    if [*table.types] != ["json"] or table.members or reader_function(table.label) != JSON_READER:
        return False
    rows = query_files("SELECT TRIM(content, E' \\n\\r\\t') FROM READ_TEXT(?)", [table.label])
    return bool(rows) and all(content in {"", "[]", "{}", "null"} for (content,) in rows)


def _names_query(fields: Collection[str]) -> bool:
    """Return True if one of the fields of a row may be its query."""
    return any(may_mean(field, ("query_id",)) for field in fields)


def may_mean(field: str, columns: Collection[str]) -> bool:
    """Return True if a field has the name of one of the columns, or another name that it has in
    other tools.
    """
    return any(normalize_name(field) in load_registry().column_names(column) for column in columns)


def _suggest_query(start: str, query: str, end: str = "") -> str:
    """Return a sentence with a query that reads the file, empty if the query fails or finds
    nothing.
    """
    values = query_files(f"SELECT MIN(COLUMNS(*)) FROM ({query}) AS rows")
    return (
        f"{start}{query}{end}" if any(value is not None for row in values for value in row) else ""
    )


def _describe_queries(bound_input: BoundInput, types: Mapping[str, str], number: str) -> str:
    """Return the query for a file that has the documents of a query under its key or in a column of
    its row; else an empty text.

    The keys are at the top of the file, of each of its lines, or in the one object that may hold
    them.
    """
    path, role = bound_input.table.label, bound_input.role.name
    file = f"READ_TEXT({sql_literal(path).sql('duckdb')})"
    has_lines = path.lower().endswith(LINE_SUFFIXES)
    objects = (
        "(SELECT UNNEST(STRING_SPLIT(RTRIM(content, CHR(13) || CHR(10)), CHR(10))) AS content FROM"
        f" {file})"
        if has_lines
        else file
    )
    nested = [name for name, duckdb_type in types.items() if _is_nested(duckdb_type)]
    ids = [name for name in types if may_mean(name, ("query_id",))]
    if len(ids) == len(nested) == 1 and "doc_id" not in bound_input.columns:
        rows, row = (
            (objects, "content")
            if has_lines
            else (f"{file} AS file, JSON_EACH(file.content) AS row", "row.value")
        )
        items = (
            f"(SELECT {row} ->> {_write_key(ids[0])} AS key, {row} -> {_write_key(nested[0])} AS"
            f" value FROM {rows}) AS query"
        )
        return _suggest_documents(
            f"If the documents of a query are in {nested[0]}, give the query ", items, number
        )
    if bound_input.columns:
        return ""
    inner = [name for name in nested if not types[name].endswith("]")]
    inner = [role] if role in inner else inner if len(inner) == 1 else []
    for names in ([], inner):
        place = f", {_write_key(names[0])}" if names else ""
        condition = (
            "JSON_TYPE(file.content,"
            f" {_write_key(names[0]) if names else sql_literal('$').sql('duckdb')}) = 'OBJECT'"
        )
        items = f"{objects} AS file, JSON_EACH(file.content{place}) AS query"
        start = (
            f"If {f'the keys in {names[0]}' if names else 'its keys'} are queries, give the query "
        )
        if advice := _suggest_documents(start, items, number, condition):
            return advice
    return ""


def _suggest_documents(start: str, items: str, number: str, condition: str = "TRUE") -> str:
    """Return a sentence with the query for documents of queries, empty if they are none.

    Args:
        start: Its beginning.
        items: Items of FROM, of which ``query`` has the key and the value of each query.
        number: Column of the role that holds the number of a document.
        condition: Condition under which their values are documents.
    """
    queries = f"WITH queries AS (SELECT query.key, query.value FROM {items} WHERE {condition}) "
    columns = _list_document_columns(queries, number)
    if not columns:
        return ""
    query = f"SELECT {columns} FROM {items}, JSON_EACH(query.value) AS document"
    return _suggest_query(start, query, _describe_empty_queries(queries, number))


def _list_document_columns(queries: str, number: str) -> str:
    """Return the columns of the documents of queries, by the types of their values, empty if they
    are no documents.
    """
    levels = query_files(queries + load_select("inputs/readers", "json_levels.sql").sql("duckdb"))
    query_types, types = {level[0] for level in levels}, {level[1] for level in levels}
    if query_types == {"OBJECT"} and types <= _DOUBLES:
        return (
            "query.key AS query_id, document.key AS doc_id, CAST(document.value AS DOUBLE) AS"
            f" {number}"
        )
    if query_types == {"ARRAY"} and types <= _IDS:
        return (
            f"query.key AS query_id, document.value ->> '$' AS doc_id, {_ORDERS[number]} AS"
            f" {number}"
        )
    value = json.loads(levels[0][2]) if len(levels) == 1 else None
    if (
        query_types == {"ARRAY"}
        and isinstance(value, list)
        and list(map(type, value))[1:] in ([int], [float])
    ):
        return (
            "query.key AS query_id, document.value ->> 0 AS doc_id, CAST(document.value ->> 1 AS"
            f" DOUBLE) AS {number}"
        )
    if not isinstance(value, dict) or (query_types == {"OBJECT"} and number not in value):
        return ""
    columns = [] if _names_query(value) else ["query.key AS query_id"]
    columns += ["document.key AS doc_id"] if query_types == {"OBJECT"} else []
    for name, field in cast("dict[str, Any]", value).items():
        if not isinstance(field, (list, dict)):
            step = f"document.value ->> {_write_key(name)}"
            step = (
                f"CAST({step} AS DOUBLE)"
                if isinstance(field, float) or may_mean(name, _NUMBERS)
                else step
            )
            columns.append(f"{step} AS {exp.to_identifier(name).sql('duckdb')}")
    return ", ".join(columns)


def _describe_empty_queries(queries: str, number: str) -> str:
    """Return a sentence on queries without documents, of which a query of documents makes no rows,
    empty if there are none.
    """
    rows = query_files(queries + load_select("inputs/advice", "empty_queries.sql").sql("duckdb"))
    if not rows:
        return ""
    advice = ". Give each a document of relevance 0 to count it" if number == "relevance" else ""
    return f". It leaves out {len(rows):,} without documents, such as {rows[0][0]!r}{advice}"


def _infer_structs(path: str) -> dict[str, str]:
    """Return the types of columns of a file, in which objects of many keys, which DuckDB infers as
    maps, are structs as those of few.
    """
    rows = query_files("DESCRIBE SELECT * FROM READ_JSON(?, map_inference_threshold = -1)", [path])
    return {name: duckdb_type for name, duckdb_type, *_ in rows}


def _describe_frame(path: str, types: Mapping[str, str], role_columns: Collection[str]) -> str:
    """Return the query for rows of a file that pandas wrote with another orientation than records,
    empty for other files.

    Args:
        path: The file.
        types: Types of its keys.
        role_columns: Columns of which the file has to have one, if there are any.
    """
    structs = {
        name: duckdb_type
        for name, duckdb_type in types.items()
        if duckdb_type.startswith("STRUCT(") and duckdb_type.endswith(")")
    }
    fields = {name: _list_fields(duckdb_type) for name, duckdb_type in structs.items()}
    keys = {frozenset(names) for names in fields.values()}
    file, rows, step = (
        sql_literal(path).sql("duckdb"),
        "JSON_EACH(file.content)",
        "row.value ->> {name}",
    )
    columns: Mapping[str, str]
    if {"columns", "data"} <= types.keys() <= {"columns", "index", "data"}:
        header = query_files("SELECT UNNEST(columns) FROM READ_JSON(?)", [path])
        rows, step, columns = (
            "JSON_EACH(file.content -> '$.data')",
            "row.value ->> {index}",
            {str(name): "" for (name,) in header},
        )
    elif len(fields) < len(types) or len(keys) != 1 or not (names := next(iter(keys))):
        return (
            "Its rows have no names of columns. Write it with orient='records'"
            if types.keys() == {"json"}
            else ""
        )
    elif all(name.isdigit() for name in types):
        columns = next(iter(fields.values()))
    elif all(name.isdigit() for name in names):
        rows, step = (
            f"JSON_EACH(file.content -> {_write_key(next(iter(types)))})",
            "file.content -> {name} ->> row.key",
        )
        columns = {name: next(iter(values.values())) for name, values in fields.items()}
    else:
        return ""
    if role_columns and not any(may_mean(name, role_columns) for name in columns):
        return ""
    selected = []
    for index, (name, duckdb_type) in enumerate(columns.items()):
        value = step.format(name=_write_key(name), index=index)
        number = (
            duckdb_type
            if duckdb_type in {"BIGINT", "DOUBLE"} or duckdb_type.endswith("[]")
            else "DOUBLE"
            if not duckdb_type and name in _NUMBERS
            else ""
        )
        selected.append(
            f"{f'CAST({value} AS {number})' if number else value} AS"
            f" {exp.to_identifier(name).sql('duckdb')}"
        )
    query = f"SELECT {', '.join(selected)} FROM READ_TEXT({file}) AS file, {rows} AS row"
    advice = "pandas wrote it by columns or with an index. Write it with orient='records'"
    return _suggest_query(f"{advice}, or give the query ", query) or advice


def _list_fields(duckdb_type: str) -> dict[str, str]:
    fields = exp.DataType.build(duckdb_type, dialect="duckdb").expressions
    return {
        field.name: "" if field.args.get("kind") is None else field.args["kind"].sql("duckdb")
        for field in fields
    }


def _write_key(name: str) -> str:
    """Return a member of an object as a path of JSON."""
    return sql_literal(f"$.{_quote_key(name)}").sql("duckdb")


def _quote_key(name: str) -> str:
    quoted = name.replace('"', '\\"')
    return f'"{quoted}"'


def describe_missing_columns(
    inputs: Mapping[str, BoundInput], needed: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Describe the needed columns that inputs lack, in one message for each input that lacks any,
    by role.
    """
    if _are_exchanged(inputs, needed):
        run, qrels = inputs["run"].label, inputs["qrels"].label
        return {
            "run": (
                f"{run} has the column relevance and no score, and {qrels} the column score and no"
                " relevance. Exchange the two"
            )
        }
    suggested = {
        role: _suggest_columns(
            inputs[role],
            names,
            [
                inputs[other]
                for other, others in needed.items()
                if other != role and {*names} & {*others}
            ],
        )
        for role, names in needed.items()
    }
    shares_table = {"run", "qrels"} <= suggested.keys() and inputs["run"].table is inputs[
        "qrels"
    ].table
    if shares_table and (shared := suggested["run"] | suggested["qrels"]):
        # The caller gave predictions, of which rankings and judgments are made.
        return {
            "run": _describe_input(
                inputs["run"], shared, (), f"predictions ({inputs['run'].table.label})"
            )
        }
    messages = {
        role: f"{inputs[role].label}: no rows are at the top of the file. {advice}"
        for role in needed
        if not suggested[role]
        and inputs[role].column_type(needed[role][0]).startswith(NESTED_TYPES)
        if (advice := describe_nested_rows(inputs[role]))
    }
    for role, columns in suggested.items():
        others = [other for other_role, other in suggested.items() if other_role != role]
        # One unqualified name would map both inputs to the same column.
        qualified = {
            name
            for name, column in columns.items()
            if any(name in other and other[name] != column for other in others)
        }
        if columns:
            messages[role] = _describe_input(inputs[role], columns, qualified)
    return messages


def _are_exchanged(inputs: Mapping[str, BoundInput], needed: Mapping[str, Sequence[str]]) -> bool:
    """Return True if the run has what the judgments lack, and the other way round."""
    measures = {"run": ("score", "relevance"), "qrels": ("relevance", "score")}
    return all(
        role in needed
        and own in needed[role]
        and own not in inputs[role].columns
        and inputs[role].table.column_types is not None
        and inputs[role].table.find_column(other) is not None
        for role, (own, other) in measures.items()
    )


def _suggest_columns(
    bound_input: BoundInput, needed: Sequence[str], related: Sequence[BoundInput]
) -> dict[str, str | None]:
    """Return the needed columns that an input lacks, each with the column of its table that may be
    meant, None if there is none.

    Inputs that are ``related`` are joined by columns that often have the same names.
    """
    missing = [name for name in needed if name not in bound_input.columns]
    if not missing:
        return {}
    other_names, types = load_registry().synonyms["columns"], bound_input.table.types
    tables = [other.table for other in related if other.table is not bound_input.table]
    suggested: dict[str, str | None] = {}
    for name in missing:
        column, names = bound_input.role.columns.get(name), other_names.get(name, [])
        rest = {
            normalize_name(other): other
            for other in types
            if other not in {*suggested.values(), *bound_input.columns.values()}
        }
        matches = [
            rest[other]
            for other in map(normalize_name, names if name in names else [name, *names])
            if other in rest
        ]
        # The first name that is of the type, of a text and a list the list, and that the other
        # tables have, too.
        fits = {other: column is None or _may_hold(column, types[other]) for other in matches}
        matches.sort(
            key=lambda other: (
                not fits[other],
                not all(table.find_column(other) for table in tables if table.column_types),
            )
        )
        if name == "score" and bound_input.role.list_relation is not None and not matches:
            matches = [other for other in rest.values() if is_distance(other)]
        suggested[name] = (
            matches[0]
            if matches
            else find_misspelling(name, rest.values()) or _match_pattern(rest.values(), names)
        )
    return {
        name: column
        and (name_ids(column, types[column]) if name in _LISTS_OF_DOCUMENTS else column)
        for name, column in suggested.items()
    }


def name_ids(column: str, duckdb_type: str) -> str:
    """Return the path of the ids in a list of objects, such as ``contexts.chunk_id``, or a column
    whose ids are read as they are.
    """
    if not (duckdb_type.startswith("STRUCT(") and duckdb_type.endswith(")[]")):
        return column
    fields = _list_fields(duckdb_type[: -len("[]")])
    if {*ID_FIELDS} & fields.keys():
        return column
    ids = [name for name in fields if may_mean(name, ["doc_id"])]
    path = (exp.to_identifier(name).sql("duckdb") for name in (column, *ids[:1]))
    return ".".join(path)


def _match_pattern(columns: Collection[str], names: Collection[str]) -> str | None:
    """Return the only column that a pattern among names describes, such as ``*_probability``."""
    matches = [
        column for column in columns if any(fnmatchcase(column.lower(), name) for name in names)
    ]
    return matches[0] if len(matches) == 1 else None


def is_distance(column: str) -> bool:
    """Return True if a column is named as a distance, of which the least is best."""
    return normalize_name(column).endswith(("distance", "dist")) or may_mean(column, ("distance",))


def describe_score_order(run: BoundInput) -> str:
    """Return a note on scores of which the least may be best: a column of distances or ranks, or
    one that rises with ranks; empty for others.
    """
    column = run.columns.get("score", "score")
    is_renamed = column != "score" and column in run.table.types
    if is_renamed and is_distance(column):
        return (
            f"run.score is the column {column!r}, of which the greatest is the first. If the least"
            " distance is best, give columns={'score':"
            f" {negate_column(column, run.table.dialect)!r}}}"
        )
    if is_renamed and may_mean(column, ["rank"]) and "rank" not in run.columns:
        return (
            f"run.score is the column {column!r}, of which the greatest is the first. If it is a"
            f" rank, give columns={{'rank': {column!r}}} and ties='rank' in its place"
        )
    if not run.column_type("rank").endswith(("INT", "INTEGER", "FLOAT", "DOUBLE")):
        return ""
    rows, keys = (
        run.select_columns(("query_id", "score", "rank")),
        tuple(map(quoted_column, run.group_names)),
    )
    for max_rows in (
        MAX_ROWS_RANKED,
        None,
    ):  # all rows are read only where the first ones contradict their ranks
        slopes = [
            slope
            for _, slope in run.database.fetch_rows(
                _write_list_query("rank_order.sql", rows, keys, max_rows, run.database.dialect)
            )
        ]
        num_rising, num_lists = sum(MIN_SLOPE < slope <= 1 for slope in slopes), len(slopes)
        if not num_lists or num_rising < MIN_SHARE_RISING * num_lists:
            return ""
    negated = exp.Neg(this=bound_expression(run, "score")).sql(run.dialect.sqlglot)
    return (
        f"run.score rises with run.rank in {num_rising:,} of {num_lists:,} lists, and the greatest"
        " score is the first. Give ties='rank' to order documents by rank, or columns={'score':"
        f" {negated!r}}} if the least score is best"
    )


@lru_cache(maxsize=256)
def _write_list_query(
    file: str, rows: exp.Select, keys: tuple[exp.Column, ...], max_rows: int | None, dialect: str
) -> str:
    """Return the text of a query over lists, made of the first or all rows."""
    return to_sql(build_list_query(file, rows.limit(max_rows) if max_rows else rows, keys), dialect)


def build_list_query(file: str, rows: exp.Select, keys: tuple[exp.Column, ...]) -> exp.Select:
    """Return the query of a file of ``inputs/advice`` over the lists of a run."""
    query = load_select("inputs/advice", file)
    source = query.args["from_"].this.this
    lists = source if isinstance(source, exp.Select) else query
    lists.set("from_", None)
    lists.from_(rows.subquery("run"), copy=False)
    lists.group_by(*(key.copy() for key in keys), copy=False)
    return query


def describe_equal_scores(run: BoundInput, ties: str, counts: tuple[int, int] | None) -> str:
    """Return a note on a run of which most lists have one score for all documents, so that
    ``doc_desc`` or ``doc_asc`` alone orders them; empty for others.

    ``counts`` are the numbers of these lists and of all with several documents, if another
    statement has counted them.
    """
    if run.database.has_unread_streams:
        return ""
    num_equal, num_lists = _count_equal_scores(run) if counts is None else counts
    if 2 * num_equal <= num_lists:
        return ""
    order = "greatest" if ties == "doc_desc" else "least"
    return (
        f"all documents have the same score in {num_equal:,} of {num_lists:,} lists, and are"
        f" ordered by doc_id, {order} first. Give scores that differ, or ties='expected' for the"
        " mean over all orders"
    )


def _count_equal_scores(run: BoundInput) -> tuple[int, int]:
    rows, keys = (
        run.select_columns(("query_id", "score")),
        tuple(map(quoted_column, run.group_names)),
    )
    for max_rows in (MAX_ROWS_RANKED, None):  # all only where the first ones are equal
        ((num_equal, num_lists, _),) = run.database.fetch_rows(
            _write_list_query("equal_scores.sql", rows, keys, max_rows, run.database.dialect)
        )
        if 2 * int(num_equal or 0) <= num_lists:
            break
    return int(num_equal or 0), int(num_lists)


def describe_tied_ranks(run: BoundInput, ties: str, score_type: str) -> str:
    """Return a note on ranks that are in another order than the documents of equal scores, by
    ``doc_desc`` or ``doc_asc``; empty if none are.
    """
    if not run.column_type("rank").endswith(("INT", "INTEGER")) or run.database.has_unread_streams:
        return ""
    rows = run.select_columns(("query_id", "doc_id", "score", "rank"), score_type).limit(
        MAX_ROWS_WITH_TIES
    )
    keys = tuple(map(quoted_column, run.group_names))
    ((num_lists, num_others),) = run.database.fetch_rows(
        _write_tied_ranks(rows, keys, ties == "doc_desc", run.database.dialect)
    )
    if not num_others:
        return ""
    return (
        f"equal scores are ordered by doc_id, {'greatest' if ties == 'doc_desc' else 'least'}"
        f" first, against run.rank in {num_others:,} of {num_lists:,} lists. Give ties='row_order'"
        " to order them by rank"
    )


@lru_cache(maxsize=256)
def _write_tied_ranks(
    rows: exp.Select, keys: tuple[exp.Column, ...], is_descending: bool, dialect: str
) -> str:
    """Return the query of ``inputs/advice/tied_ranks.sql`` over rows of a run."""
    query = load_select("inputs/advice", "tied_ranks.sql")
    lists = query.args["from_"].this.this
    numbered_rows = lists.args["from_"].this.this
    for window in numbered_rows.find_all(exp.Window):
        window.set("partition_by", [*(key.copy() for key in keys), *window.args["partition_by"]])
    next(order for order in numbered_rows.find_all(exp.Ordered) if order.this.name == "doc_id").set(
        "desc", is_descending
    )
    numbered_rows.set("expressions", [*(key.copy() for key in keys), *numbered_rows.expressions])
    numbered_rows.set("from_", None)
    numbered_rows.from_(rows.subquery("run"), copy=False)
    lists.group_by(*(key.copy() for key in keys), copy=False)
    return to_sql(query, dialect)


def negate_column(column: str, dialect: str) -> str:
    """Return the expression that makes scores of a column of distances."""
    return exp.Neg(this=exp.column(exp.to_identifier(column))).sql(get_dialect(dialect).sqlglot)


def _may_hold(column: ColumnSpec, duckdb_type: str) -> bool:
    """Return True if values of a type may be those of a column: lists in a list, numbers in a
    number, single values in a key.
    """
    return _is_nested(duckdb_type) == (column.type == "list") and not (
        column.is_number and duckdb_type == "VARCHAR"
    )


def _describe_input(
    bound_input: BoundInput,
    columns: Mapping[str, str | None],
    qualified: Collection[str],
    label: str = "",
) -> str:
    available = list(bound_input.table.types)
    is_single = len(columns) == 1
    is_of_systems = bool(bound_input.table.members) and {"query_id", "doc_id"} <= columns.keys()
    # A measured column may be called as one of the role, and is then mapped under that name
    labels = {
        name: column.description
        for name, column in bound_input.role.columns.items()
        if column.is_measured and column.description in bound_input.role.columns
    }
    problem = (
        f"{label or bound_input.label}: no column{'' if is_single else 's'}"
        f" {', '.join(repr(labels.get(name, name)) for name in columns)}"
    )
    if has_no_rows(bound_input):
        return f"{label or bound_input.label} has no rows"
    if nested_rows := describe_nested_rows(bound_input):
        return join_sentences(problem, nested_rows)
    meant = ", ".join(repr(column) for column in columns.values() if column)
    distances = {
        name
        for name, column in columns.items()
        if name == "score" and column and is_distance(column)
    }
    values = {
        name: (
            negate_column(column, bound_input.table.dialect)
            if column and name in distances
            else column
        )
        for name, column in columns.items()
    }
    mapping = ", ".join(
        f"{(f'{bound_input.role.name}.' if name in qualified else '') + labels.get(name, name)!r}:"
        f" {repr(value) if value else '...'}"
        for name, value in values.items()
    )
    return join_sentences(
        problem,
        (
            "Names of several runs are systems. If yours are queries, give inputs={'answers': ...}"
            " with a row for each"
            if is_of_systems
            else ""
        ),
        f"Did you mean {meant}?" if meant else "",
        f"Say which {'it is' if is_single else 'they are'} with"
        f" columns={{{mapping}}}{_suggest_values(bound_input, columns)}",
        "The least distance is best, and the greatest score is" if distances else "",
        f"There are: {enumerate_names(available)}",
    )


def _suggest_values(bound_input: BoundInput, columns: Collection[str]) -> str:
    """Return the values in place of missing columns: ranks for scores, scores for ranks, a constant
    where all judged documents are relevant.
    """
    names = {*bound_input.columns, *(name.lower() for name in bound_input.table.types)}
    if "score" in columns and "rank" in names:
        return ", or use the column rank with ties='rank'"
    if "score" in columns and (
        ranks := [name for name in bound_input.table.types if may_mean(name, ["rank"])]
    ):
        return f", or columns={{'rank': {ranks[0]!r}}} with ties='rank'"
    label = bound_input.table.label
    if [*columns] == ["score"] and bound_input.role.name == "run" and os.path.isfile(label):  # noqa: PTH113
        query = f"SELECT *, -ROW_NUMBER() OVER () AS score FROM {sql_literal(label).sql()}"
        return f'. If the best rows of each list come first, number them: run="{query}"'
    if "rank" in columns and "score" in names and bound_input.role.list_relation is not None:
        lists = (
            f"give a dict of scores as lists in order, {RANKED_LISTS}, or "
            if bound_input.table.label == "dict"
            else ""
        )
        return f", or {lists}order documents by score with ties='doc_desc'"
    if {*columns} == {"doc_id"} and {"label", "relevance"} & names:  # rows of learning to rank
        num_rows = bound_input.table.num_rows
        query = f"SELECT *, ROW_NUMBER() OVER () AS doc_id FROM {sql_literal(label).sql()}"
        numbered = (
            f'predictions="{query}"'
            if os.path.exists(label)  # noqa: PTH110
            else f"give them a column doc_id, such as range({num_rows or 'number of rows'})"
        )
        return f", or number the rows, which have no ids: {numbered}"
    return (
        ", or columns={'relevance': '1'} if every row is a relevant document"
        if "relevance" in columns
        else ""
    )
