"""Convert in-memory sources to Arrow tables: Arrow streams, Polars LazyFrames, and dicts as in ranx
and pytrec_eval.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from numbers import Real
from typing import Any

import pyarrow as pa

from sqlrank.arrow_arrays import to_array
from sqlrank.call.sources import (
    are_numbers,
    is_dict_of_values,
    is_list_of_documents,
    is_row_list,
    source_kind,
)
from sqlrank.engines.source_tables import ColumnProblem
from sqlrank.errors import (
    InputError,
    SqlrankError,
    enumerate_names,
    quote_excerpt,
    short_repr,
    to_sentence,
)

VALUE_COLUMN_BY_ROLE = {"run": "score", "qrels": "relevance", "baseline": "score"}
"""Column of the numbers in a dict, by role."""


DICT_EXAMPLES = {
    "predictions": "{'label': y_true, 'score': y_score}",
    **{role: f"{{query: {{document: {column}}}}}" for role, column in VALUE_COLUMN_BY_ROLE.items()},
}
"""Dicts to write, by role."""
ACCEPTED_SOURCES = (
    "a table name, a file, a DuckDB relation, a list with a dict for each row, or a table that"
    " speaks the Arrow stream protocol (pyarrow, Polars, pandas 2.2 or later)"
)
_CONVERSIONS = {
    "collect": "collect it into a table first",
    "to_table": "call its to_table() first",
    "asDict": "make a dict of each row with asDict()",
    "_asdict": "make a dict of each row with _asdict()",
    "fetchall": "give the query itself, with connection= of its connection",
    "__next__": "make a list of its rows",
}
"""Next steps for a value that is no source, by a method that it has."""

MAX_CATEGORIES = 1_000
"""Number of ordered categories up to which they may be classes."""

MAX_DECIMAL_DIGITS = 38
"""Maximum number of digits of a decimal in DuckDB."""


def to_arrow_table(role: str, source: Any) -> pa.Table:
    """Convert a source to an Arrow table.

    A dict maps queries to documents to numbers, ``{"q1": {"d1": 1.2}}``, to documents in order,
    ``{"q1": ["d1"]}``, or column names to values, ``{"label": [0, 1], "score": [0.2, 0.7]}``. A
    list holds a dict for each row.

    Raises:
        InputError: The source is not a table, or its library cannot convert it; the message names
            the column.
    """
    try:
        table = _import_table(role, source)
    except SqlrankError:
        raise
    except BaseException as error:
        if not _is_library_error(error):
            raise
        raise InputError(f"{role}: {_explain_conversion_error(source, error)}") from error
    if unnamed := [name for name in table.column_names if _UNNAMED_INDEX.fullmatch(name)]:
        table = table.drop_columns(
            unnamed
        )  # by which pandas keeps the numbers of rows that were selected or sorted
    if duplicate := next(
        (name for name, count in Counter(table.column_names).items() if count > 1), None
    ):
        raise InputError(f"{role}: {_TWICE.format(duplicate)}")
    if not table.num_columns:
        raise InputError(f"{role} ({source_kind(source)}) has no rows")
    return table


def replace_unreadable(
    role: str, table: pa.Table, unread: Collection[str] = ()
) -> tuple[pa.Table, dict[str, ColumnProblem]]:
    """Return a table with types that DuckDB reads, and the problems of columns that have none,
    whose values are NULL.

    Args:
        role: The role, for messages.
        table: The table.
        unread: Columns whose types DuckDB does not read either.
    """
    problems = {}
    for index, field in enumerate(table.schema):
        if (problem_text := (field.metadata or {}).get(_PROBLEM_KEY)) is not None:
            problems[field.name] = ColumnProblem(problem_text.decode())
            continue
        try:
            if field.name in unread:
                raise pa.ArrowNotImplementedError
            if (arrow_type := _readable_type(field.type)) != field.type:
                table = table.set_column(
                    index, field.name, _cast_column(table.column(index), arrow_type)
                )
        except (pa.ArrowException, ValueError) as error:
            table = table.set_column(index, field.name, pa.nulls(len(table)))
            is_decimal = pa.types.is_decimal(field.type) and not isinstance(
                error, pa.ArrowNotImplementedError
            )
            problem = (
                f"has decimals of more than {MAX_DECIMAL_DIGITS} digits"
                if is_decimal
                else f"of type {field.type} cannot be read"
            )
            advice = (
                "Cast it to float64" if is_decimal else "Convert it to numbers or texts of one type"
            )
            problems[field.name] = ColumnProblem(
                f"{role}: column {field.name!r} {problem}. {advice}"
            )
    return table, problems


def list_ordered_categories(table: pa.Table) -> dict[str, list[str]]:
    """Return the texts of columns of ordered categories, of an ordered ``Categorical`` of pandas or
    an ``Enum`` of Polars, in order.
    """
    chunks = {
        field.name: table.column(field.name).chunk(0)
        for field in table.schema
        if pa.types.is_dictionary(field.type) and field.type.ordered and table.num_rows
    }
    return {
        name: [*map(str, chunk.dictionary.to_pylist())]
        for name, chunk in chunks.items()
        if len(chunk.dictionary) <= MAX_CATEGORIES
    }


_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
"""Columns that Arrow makes of the index of a pandas frame, if it has no name."""

_TWICE = "two columns are named {!r}. Rename one of them, or leave it out"


def _import_table(role: str, source: Any) -> pa.Table:
    if type(source).__name__ == "Series":
        advice = (
            ", or series.to_dict() of lists of documents" if role in VALUE_COLUMN_BY_ROLE else ""
        )
        raise InputError(
            f"{role}: a Series is one column. {to_sentence(_describe_dict(role))}{advice}, or give"
            " a data frame"
        )
    if isinstance(source, (list, tuple, Mapping)) and not source:
        raise InputError(f"{role} ({source_kind(source)}) has no rows")
    if isinstance(source, pa.Table):
        # pa.table() would send it through the C interface, where arrays of views may end the
        # process
        return source
    if hasattr(source, "__arrow_c_stream__"):
        return _import_frame(role, source)
    if is_row_list(source):
        columns = dict.fromkeys(str(name) for row in source for name in row)
        return _table_from_columns(
            role, {name: [row.get(name) for row in source] for name in columns}
        )
    if fields := getattr(getattr(source, "dtype", None), "names", None):  # of NumPy's records
        return _table_from_columns(role, {str(name): source[name] for name in fields})
    if (
        isinstance(source, Mapping)
        and role in VALUE_COLUMN_BY_ROLE
        and not (is_dict_of_values(source) and _has_columns(source))
    ):
        return (
            _table_from_lists(role, source)
            if is_dict_of_values(source)
            else _table_from_dict(role, source)
        )
    return _import_columns(role, source)


def _import_columns(role: str, source: Any) -> pa.Table:
    """Convert a dict of columns, or a LazyFrame, to an Arrow table; refuse others."""
    if (
        isinstance(source, Mapping)
        and source
        and not any(isinstance(values, Mapping) for values in source.values())
    ):
        for name, values in source.items():
            if isinstance(values, (str, bytes, Real)):
                raise InputError(
                    f"{role}: cannot read a dict whose {quote_excerpt(str(name), is_name=True)} has"
                    f" {short_repr(values)}. {_describe_dict(role)}, or a list with a dict for"
                    " each row"
                )
        return _table_from_columns(role, {str(name): values for name, values in source.items()})
    source_type = type(source)
    if source_type.__name__ == "LazyFrame" and source_type.__module__.partition(".")[0] == "polars":
        return _import_frame(role, source.collect())
    if role in VALUE_COLUMN_BY_ROLE and is_list_of_documents(source):
        raise InputError(
            f"{role}: a list of lists has no queries. {_describe_dict(role)}, or"
            " inputs={'answers': ...} with a row per query"
        )
    advice = next(
        (step for method, step in _CONVERSIONS.items() if hasattr(source, method)),
        _describe_dict(role),
    )
    raise InputError(
        f"{role}: cannot read a {source_type.__name__}. {to_sentence(advice)}, or give"
        f" {ACCEPTED_SOURCES}"
    )


def _table_from_columns(role: str, columns: Mapping[str, Any]) -> pa.Table:
    """Convert columns of Python values to a table, one whose values have no common type with that
    problem; refuse columns of different lengths.
    """
    arrays, problems = {}, {}
    indexes = {
        name: values.index
        for name, values in columns.items()
        if type(values).__name__ == "Series" and hasattr(values, "index")
    }
    for name, index in indexes.items():
        if not index.equals(indexes[first := next(iter(indexes))]):
            raise InputError(
                f"{role}: {first} and {name} are Series of other indexes, whose rows may not belong"
                f" together. Align them with pandas.DataFrame({{{first!r}: ..., {name!r}: ...}}),"
                " or give lists, which are read by position"
            )
    for name, values in columns.items():
        try:
            arrays[name] = (
                pa.chunked_array(values)  # keeps categories
                if hasattr(values, "__arrow_c_stream__") and name not in indexes
                else to_array(values)
            )
        except (pa.ArrowException, OverflowError) as error:
            problems[name] = f"{role}: column {name!r} {_explain_unread_column(error)}"
            arrays[name] = pa.nulls(len(values))
        else:
            problems |= _refuse_booleans(role, name, values, arrays[name].type)
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise InputError(
            f"{role}: the columns differ in length:"
            f" {enumerate_names(f'{name} has {length:,}' for name, length in lengths.items())}."
            " Give each row a value in every column"
        )
    return _mark_problems(pa.table(arrays), problems)


_PROBLEM_KEY = b"sqlrank.problem"
"""Key of the metadata of a column that could not be converted, with the problem: its values are
NULL, and an error where they are read.
"""


def _mark_problems(table: pa.Table, problems: Mapping[str, str]) -> pa.Table:
    """Return a table in which columns have no values, but the reasons for it."""
    for name, problem in problems.items():
        field = pa.field(name, pa.null(), metadata={_PROBLEM_KEY: problem.encode()})
        index = table.column_names.index(name)
        table = table.set_column(index, field, pa.nulls(len(table)))
    return table


def _import_frame(role: str, source: Any) -> pa.Table:
    """Convert a data frame, in one piece, or by columns if its library cannot convert one."""
    problems = {}
    try:
        table = pa.table(source)
    except BaseException as error:
        names = list(getattr(source, "columns", ()))
        is_unique = len(set(map(str, names))) == len(names)
        if not (names and is_unique and _is_library_error(error)):
            raise
        arrays = {}
        for name in names:
            try:
                arrays[str(name)] = pa.table(source[[name]]).column(str(name))
            except Exception as error:  # noqa: BLE001  a library may fail in any way
                problems[str(name)] = (
                    f"{role}: column {str(name)!r} ({source[name].dtype})"
                    f" {_explain_unread_column(error)}"
                )
                arrays[str(name)] = pa.nulls(len(source))
        table = pa.table(arrays)
    if type(source).__module__.partition(".")[0] == "pandas":
        for name, values in source.items():
            field = table.schema.field(str(name))
            problems |= _refuse_booleans(role, str(name), values, field.type)
    return _mark_problems(table, problems)


def _is_library_error(error: BaseException) -> bool:
    """Return True for any error of a library: a panic of Polars is not an Exception."""
    is_error = isinstance(error, Exception) or type(error).__name__ == "PanicException"
    return is_error and not isinstance(error, (MemoryError, RecursionError))


def _refuse_booleans(role: str, name: str, values: Any, arrow_type: pa.DataType) -> dict[str, str]:
    """Return the problem of a boolean among floats in a list or an array of objects, which Arrow
    takes for 1 or 0, where it is an error among integers.
    """
    is_object = str(getattr(values, "dtype", "object")) == "object"
    if not (is_object and _has_boolean(values, arrow_type)):
        return {}
    error = TypeError("Expected number, got bool")
    return {name: f"{role}: column {name!r} {_explain_unread_column(error)}"}


def _has_boolean(values: Iterable[Any], arrow_type: pa.DataType) -> bool:
    """Return True if a boolean is among floats, or among those of lists and of fields."""
    if pa.types.is_struct(arrow_type):
        rows = [value for value in values if isinstance(value, Mapping)]
        return any(
            _has_boolean((row.get(field.name) for row in rows), field.type) for field in arrow_type
        )
    if pa.types.is_list(arrow_type):
        lists = (value for value in values if hasattr(value, "__iter__"))
        return _has_boolean(itertools.chain.from_iterable(lists), arrow_type.value_type)
    return pa.types.is_floating(arrow_type) and bool in set(map(type, values))


def _has_columns(source: Mapping[Any, Any]) -> bool:
    """Return True if a dict of lists is one of columns, not of queries to documents: by its names,
    or since its lists have several types.
    """
    types = {
        isinstance(value, Real)
        for values in source.values()
        for value in itertools.islice(values, 1)
    }
    has_float = any(
        isinstance(value, float)
        for values in source.values()
        for value in itertools.islice(values, 1)
    )
    return bool({"query_id", "doc_id"} & source.keys()) or len(types) > 1 or has_float


def _table_from_lists(role: str, source: Mapping[Any, Any]) -> pa.Table:
    """Convert a dict of queries to documents, best first, or relevant ones, to one row per query
    and document.
    """
    rows = [
        (query, doc, position)
        for query, docs in source.items()
        for position, doc in enumerate(docs, 1)
    ]
    pair = next((doc for _, doc, _ in rows if isinstance(doc, (list, tuple))), None)
    if pair is not None:
        raise InputError(
            f"{role}: cannot read {short_repr(pair)} as a document. {_describe_dict(role)}. Pairs"
            " become such a dict by dict(pairs)"
        )
    positions = [row[2] for row in rows]
    numbers = [1.0 if role == "qrels" else -float(position) for position in positions]
    values = {
        VALUE_COLUMN_BY_ROLE[role]: to_array(numbers, pa.float64()),
        "rank": to_array(positions, pa.int64()),
    }
    return pa.table(_id_columns(role, [*source], [*source.values()]) | values)


def _explain_conversion_error(source: Any, error: BaseException) -> str:
    """Return the reason that a library could not convert a table, and advice."""
    reason = _first_line(error)
    if type(source).__name__ == "LazyFrame":
        return (
            f"the LazyFrame cannot be collected: {reason}. Call collect() on it to see where it"
            " fails"
        )
    with suppress(Exception):  # a user's object may fail in any way
        names = list(source.columns)
        for name, count in Counter(names).items():
            if count > 1:
                return _TWICE.format(name)
    return f"cannot read this {source_kind(source)}: {reason}. Give {ACCEPTED_SOURCES}"


def _explain_unread_column(error: BaseException) -> str:
    """Return the reason that a column could not be converted, and advice."""
    if isinstance(error, OverflowError):
        return "has integers beyond 64 bits. Convert it to texts, or leave it out"
    return (
        f"cannot be read: {_first_line(error)}. Convert it to numbers or texts of one type, or"
        " leave it out"
    )


def _first_line(error: BaseException) -> str:
    """Return the first line of a library's error message, or its class name."""
    text = str(
        error.args[0] if isinstance(error, pa.ArrowException) and error.args else error
    )  # Arrow adds the column
    return (text.strip().splitlines() or [type(error).__name__])[0].rstrip(".")


def _cast_column(column: pa.ChunkedArray, arrow_type: pa.DataType) -> pa.ChunkedArray:
    """Cast a column, one of a dictionary by its values."""
    if not pa.types.is_dictionary(column.type):
        return column.cast(arrow_type)
    chunks = (
        pa.DictionaryArray.from_arrays(
            chunk.indices,
            chunk.dictionary.cast(arrow_type.value_type),
            ordered=arrow_type.ordered,
        )
        for chunk in column.chunks
    )
    return pa.chunked_array(chunks, arrow_type)


# One branch per kind of type
def _readable_type(arrow_type: pa.DataType) -> pa.DataType:  # noqa: C901
    """Return the type itself, or one of the same values that DuckDB reads: it stops at others, or
    ends the process.
    """
    kind = str(arrow_type).partition("<")[0].partition("[")[0]
    if kind == "halffloat":
        return pa.float32()
    if kind in {"string_view", "binary_view"}:
        return pa.large_string() if kind == "string_view" else pa.large_binary()
    if pa.types.is_decimal(arrow_type) and arrow_type.scale < 0:
        return pa.decimal128(min(arrow_type.precision - arrow_type.scale, MAX_DECIMAL_DIGITS), 0)
    if pa.types.is_decimal256(arrow_type):
        return pa.decimal128(MAX_DECIMAL_DIGITS, arrow_type.scale)
    if pa.types.is_dictionary(arrow_type):
        return pa.dictionary(
            arrow_type.index_type, _readable_type(arrow_type.value_type), arrow_type.ordered
        )
    if pa.types.is_struct(arrow_type):
        return pa.struct([field.with_type(_readable_type(field.type)) for field in arrow_type])
    if pa.types.is_map(arrow_type):
        return pa.map_(_readable_type(arrow_type.key_type), _readable_type(arrow_type.item_type))
    if kind in {
        "list_view",
        "large_list_view",
    }:  # which DuckDB reads, and Arrow casts to lists with wrong offsets
        if _readable_type(arrow_type.value_type) != arrow_type.value_type:
            raise pa.ArrowNotImplementedError(kind)
        return arrow_type
    if "list" in kind:
        element = arrow_type.value_field.with_type(_readable_type(arrow_type.value_type))
        is_fixed = pa.types.is_fixed_size_list(arrow_type) and arrow_type.list_size > 0
        return (
            pa.list_(element, arrow_type.list_size)
            if is_fixed
            else pa.large_list(element)
            if "large" in kind
            else pa.list_(element)
        )
    return arrow_type


def _table_from_dict(role: str, source: Mapping[Any, Any]) -> pa.Table:
    """Convert a dict to one row per query and document."""
    if {"query_id", "doc_id"} & source.keys():
        raise InputError(
            f"{role}: cannot read a dict of columns that are dicts. Give the data frame itself, or"
            " lists, as to_dict('list') has"
        )
    lists = [_check_documents(role, query, docs) for query, docs in source.items()]
    numbers = [*itertools.chain.from_iterable(docs.values() for docs in lists)]
    types = set(map(type, numbers))
    if bool in types and len(types) > 1:
        query, doc, value = next(
            (query, doc, value)
            for query, docs in source.items()
            for doc, value in docs.items()
            if isinstance(value, bool)
        )
        raise InputError(
            f"{role}: query {quote_excerpt(str(query), is_name=True)} has {value} for document"
            f" {quote_excerpt(str(doc), is_name=True)}, and other documents have numbers. Give all"
            " of them numbers, or all True and False"
        )
    values = [*map(float, numbers)]
    return pa.table(
        _id_columns(role, [*source], lists)
        | {VALUE_COLUMN_BY_ROLE[role]: to_array(values, pa.float64())}
    )


def _id_columns(
    role: str, queries: Sequence[Any], lists: Sequence[Collection[Any]]
) -> dict[str, pa.Array]:
    """Return the columns of queries, and of the documents in the list of each."""
    docs = [*itertools.chain.from_iterable(lists)]
    ids = {
        "query_id": [
            *itertools.chain.from_iterable(map(itertools.repeat, queries, map(len, lists)))
        ],
        "doc_id": docs,
    }
    id_type = None if docs else pa.string()
    try:
        return {name: to_array(values, id_type) for name, values in ids.items()}
    except OverflowError:
        raise InputError(
            f"{role}: the queries or documents of this dict are integers beyond 64 bits. Make them"
            " texts"
        ) from None
    except pa.ArrowException:
        raise InputError(
            f"{role}: the queries or documents of this dict are of different types. Make them all"
            " texts, or all numbers"
        ) from None


def _check_documents(role: str, query: Any, docs: Any) -> Mapping[Any, Any]:
    if not isinstance(docs, Mapping):
        raise InputError(
            f"{role}: cannot read a dict whose query {quote_excerpt(str(query), is_name=True)} has"
            f" {short_repr(docs)}. {_describe_dict(role)}"
        )
    if _are_finite(docs.values()):
        return docs
    for doc, value in docs.items():
        if not _is_number(value) and {"query_id", "doc_id"} & docs.keys():
            raise InputError(
                f"{role}: cannot read a dict whose values are rows. Give a list of them, such as"
                " list(rows.values())"
            )
        if not _is_number(value):
            raise InputError(
                f"{role}: cannot read a dict whose query {quote_excerpt(str(query), is_name=True)}"
                f" has {short_repr(value)} for document {quote_excerpt(str(doc), is_name=True)},"
                f" which is no number that a double holds. {_describe_dict(role)}"
            )
    return docs


def _describe_dict(role: str) -> str:
    documents = " or {query: [document, ...]}" if role in VALUE_COLUMN_BY_ROLE else ""
    return f"Write {DICT_EXAMPLES.get(role, '{column: values}')}{documents}"


def _are_finite(values: Collection[Any]) -> bool:
    """Return True if values are finite floats and integers, which one sum shows, without a call for
    each.
    """
    with suppress(OverflowError):  # of an integer beyond doubles
        return are_numbers(values) and math.isfinite(math.fsum(values))
    return False


def _is_number(value: Any) -> bool:
    """Return True if a value is a number that fits a double."""
    try:
        return isinstance(value, Real) and not math.isnan(value)
    except OverflowError:
        return False
