"""Recognize rows that a file of JSON holds within an object, and describe the query that makes rows of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
from sqlglot import exp

from sqlrank.engines.file_sources import reader_function
from sqlrank.registry.query_templates import load_select
from sqlrank.rendering.dialects import get_dialect
from sqlrank.request import JSON_READER
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.inputs.bound_input import BoundInput

NESTED_TYPES = ("STRUCT(", "MAP(", "JSON")

_NUMBERS = {"label", "score", "relevance", "weight", "rank", "rating"}
"""Columns that are numbers where a file does not say so."""

_DOCUMENT_QUERIES = {
    ("score", False): "document.key AS doc_id, CAST(document.value AS DOUBLE) AS score",
    ("score", True): "document.value ->> '$' AS doc_id, -CAST(document.key AS INTEGER) AS score",
    ("relevance", False): "document.key AS doc_id, CAST(document.value AS DOUBLE) AS relevance",
    ("relevance", True): "document.value ->> '$' AS doc_id, 1 AS relevance",
}
"""Columns of a dict of queries, by their number, and by whether documents are a list, best first, or have numbers."""


_SEARCH_ANSWERS = {
    "hits": "SELECT PARSE_FILENAME(filename, TRUE) AS query_id, hit._id AS doc_id, hit._score AS score "
    "FROM (SELECT filename, UNNEST(hits.hits) AS hit FROM READ_JSON({file}, filename = TRUE)) AS answers",
    "responses": "SELECT number AS query_id, hit._id AS doc_id, hit._score AS score FROM (SELECT number, UNNEST(response.hits.hits) AS hit "
    "FROM (SELECT UNNEST(responses) AS response, GENERATE_SUBSCRIPTS(responses, 1) AS number FROM READ_JSON({file})) AS answers) AS hits",
}
"""Queries that make a run of answers of Elasticsearch and OpenSearch, by the column that holds the hits."""

_SEARCH_IDS = {"hits": "the name of the file", "responses": "the number of the request, from 1"}


def describe_nested_rows(bound_input: BoundInput, column: str | None = None) -> str:
    """Return the query to give for JSON whose rows are in a list of an object, or that has a key for each query; else an empty text.

    Args:
        bound_input: The input that lacks columns.
        column: A column that its rows should have, if one is known.
    """
    types = bound_input.table.column_types or {}
    path = bound_input.table.label
    if (
        reader_function(path) != JSON_READER
        or bound_input.table.members
        or not get_dialect(bound_input.table.dialect).supports_file_readers
    ):
        return ""
    if any("MAP(" in duckdb_type for duckdb_type in types.values()):
        types = _infer_structs(path)
    if orientation := _describe_frame(path, types):
        return orientation
    lists = {name: duckdb_type for name, duckdb_type in types.items() if duckdb_type.startswith("STRUCT(") and duckdb_type.endswith(")[]")}
    file = sql_literal(path).sql("duckdb")
    for name, query in _SEARCH_ANSWERS.items():
        if (
            "score" in bound_input.role.columns
            and types.get(name, "").startswith("STRUCT(")
            and "hits STRUCT(" in types[name]
            and "_id" in types[name]
        ):
            return (
                f"Of answers of Elasticsearch make a run, whose query_id is {_SEARCH_IDS[name]}: give the query {query.format(file=file)}"
            )
    if len(lists) == 1:
        ((name, duckdb_type),) = lists.items()
        fields = [field.name for field in exp.DataType.build(duckdb_type, dialect="duckdb").expressions[0].expressions]
        if column in fields or (column is None and not bound_input.columns):
            return f"If its rows are in {name}, give the query SELECT UNNEST({exp.to_identifier(name).sql('duckdb')}, max_depth := 2) FROM {file}"
    number = next((name for name in ("score", "relevance") if name in bound_input.role.columns), None)
    is_dict = types.keys() != {"json"} and all(
        duckdb_type.startswith(NESTED_TYPES) or duckdb_type.endswith("]") for duckdb_type in types.values()
    )
    if column is not None or number is None or not is_dict or bound_input.columns or not path.lower().endswith(".json"):
        return ""
    has_lists = next(iter(types.values())).endswith(("[]", "[])"))
    return (
        f"If its keys are queries, give the query SELECT query.key AS query_id, {_DOCUMENT_QUERIES[number, has_lists]} "
        f"FROM READ_TEXT({file}) AS file, JSON_EACH(file.content) AS query, JSON_EACH(query.value) AS document{_describe_empty_queries(path, number)}"
    )


def _describe_empty_queries(path: str, number: str) -> str:
    """Return a sentence on queries without documents, of which a query of documents makes no rows, empty if there are none."""
    with duckdb.connect() as connection:
        rows = connection.execute(load_select("inputs", "empty_queries.sql").sql("duckdb"), {"path": path}).fetchall()
    if not rows:
        return ""
    advice = ". Give each a document of relevance 0 to count it" if number == "relevance" else ""
    return f". It leaves out {len(rows):,} without documents, such as {rows[0][0]!r}{advice}"


def _infer_structs(path: str) -> dict[str, str]:
    """Return the types of columns of a file, in which objects of many keys, which DuckDB infers as maps, are structs as those of few."""
    with duckdb.connect() as connection:
        rows = connection.execute("DESCRIBE SELECT * FROM READ_JSON(?, map_inference_threshold = -1)", [path]).fetchall()
    return {name: duckdb_type for name, duckdb_type, *_ in rows}


def _describe_frame(path: str, types: Mapping[str, str]) -> str:
    """Return the query for rows of a file that pandas wrote with another orientation than records, empty for other files."""
    fields = {name: _list_fields(duckdb_type) for name, duckdb_type in types.items() if duckdb_type.startswith("STRUCT(")}
    keys = {frozenset(names) for names in fields.values()}
    file, rows, step = sql_literal(path).sql("duckdb"), "JSON_EACH(file.content)", "row.value ->> {name}"
    columns: Mapping[str, str]
    if types.keys() == {"columns", "index", "data"}:
        with duckdb.connect() as connection:
            names = connection.execute("SELECT columns FROM READ_JSON(?)", [path]).fetchall()[0][0]
        rows, step, columns = "JSON_EACH(file.content -> '$.data')", "row.value ->> {index}", dict.fromkeys(map(str, names), "")
    elif len(fields) < len(types) or len(keys) != 1 or not (names := next(iter(keys))):
        return "Its rows have no names of columns. Write it with orient='records'" if types.keys() == {"json"} else ""
    elif all(name.isdigit() for name in types):
        columns = next(iter(fields.values()))
    elif all(name.isdigit() for name in names):
        rows, step = f"JSON_EACH(file.content -> {_write_key(next(iter(types)))})", "file.content -> {name} ->> row.key"
        columns = {name: next(iter(values.values())) for name, values in fields.items()}
    else:
        return ""
    selected = []
    for index, (name, duckdb_type) in enumerate(columns.items()):
        value = step.format(name=_write_key(name), index=index)
        number = duckdb_type in {"BIGINT", "DOUBLE"} or (not duckdb_type and name in _NUMBERS)
        selected.append(f"{f'CAST({value} AS DOUBLE)' if number else value} AS {exp.to_identifier(name).sql('duckdb')}")
    query = f"SELECT {', '.join(selected)} FROM READ_TEXT({file}) AS file, {rows} AS row"
    return f"pandas wrote it by columns or with an index. Write it with orient='records', or give the query {query}"


def _list_fields(duckdb_type: str) -> dict[str, str]:
    fields = exp.DataType.build(duckdb_type, dialect="duckdb").expressions
    return {field.name: "" if field.args.get("kind") is None else field.args["kind"].sql("duckdb") for field in fields}


def _write_key(name: str) -> str:
    """Return a member of an object as a path of JSON."""
    quoted = name.replace('"', '\\"')
    return sql_literal(f'$."{quoted}"').sql("duckdb")
