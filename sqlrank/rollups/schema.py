"""Name the columns of a rollup (keys, bins, definition, aggregates), and find the function that merges each aggregate."""

from __future__ import annotations

import hashlib
import re
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.result_columns import NUM_ROWS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping


MERGE_FUNCTIONS: Mapping[type[exp.Expr], type[exp.AggFunc]] = {exp.Sum: exp.Sum, exp.Count: exp.Sum, exp.Min: exp.Min, exp.Max: exp.Max}
"""The function that merges partial values of each kind of aggregate."""

BIN_MERGE_FUNCTIONS: Mapping[str, type[exp.AggFunc]] = {
    "positives": exp.Sum,
    "negatives": exp.Sum,
    "score_min": exp.Min,
    "score_max": exp.Max,
}
"""The function that merges each column of a bin."""

AGGREGATE_NAME = re.compile(r"(sum|count|min|max)_(\w+_)?[0-9a-f]{8}")
"""Pattern of an aggregate's column name: its words and eight hexadecimal digits of a hash."""

HASH_SUFFIX = re.compile(r"_[0-9a-f]{8}$")
"""The digits at the end of the name of a value per query, which an aggregate of it has of its own."""

NAMED_FUNCTIONS: Mapping[type[exp.Expr], str] = {exp.Abs: "abs", exp.Exp: "exp", exp.Ln: "ln", exp.Pow: "pow", exp.Sqrt: "sqrt"}
"""The functions that column names of aggregates contain."""

MAX_AGGREGATE_NAME_CHARS = 52
"""Maximum characters of the words in a column name; PostgreSQL cuts names at 63."""


def merge_function(name: str) -> type[exp.AggFunc] | None:
    """Return the function that merges a column of this name; None if not an aggregate.

    >>> merge_function("count_12345678") is exp.Sum, merge_function("max_score_12345678") is exp.Max, merge_function("day")
    (True, True, None)
    """
    match = AGGREGATE_NAME.fullmatch(name.lower())
    return None if match is None else {"min": exp.Min, "max": exp.Max}.get(match[1], exp.Sum)


def aggregate_column_name(aggregate: exp.Expr, subject: str | None = None) -> str:
    """Return the column name of an aggregate: its function, its subject or the names in it, and eight digits of its hash.

    Tables are read by these names, so that the hash is long enough for other aggregates not to have it.

    >>> weight, error = exp.column("weight"), exp.paren(exp.column("score") - exp.column("label"))
    >>> aggregate_column_name(exp.Sum(this=weight * error * error)), aggregate_column_name(exp.Sum(this=weight * error), "log_likelihood")
    ('sum_weight_score_label_squared_02e9adca', 'sum_log_likelihood_c891cc99')
    """
    words = dict.fromkeys(_iterate_words(aggregate.this)) if subject is None else [subject]
    stem = re.sub(r"[^a-z0-9]+", "_", "_".join([aggregate.key, *words]).lower()).strip("_")[:MAX_AGGREGATE_NAME_CHARS].strip("_")
    return f"{stem}_{hashlib.sha256(aggregate.sql('duckdb').encode()).hexdigest()[:8]}"


def _iterate_words(node: exp.Expr) -> Iterator[str]:
    """Yield the names of the columns and functions in an operand; a factor that is multiplied by itself is squared."""
    if isinstance(node, exp.Mul):
        for factor, factors in groupby(node.flatten()):
            yield from _iterate_words(factor)
            if len(list(factors)) > 1:
                yield "squared"
        return
    if isinstance(node, exp.Column):
        yield HASH_SUFFIX.sub("", node.name)
    elif type(node) in NAMED_FUNCTIONS:
        yield NAMED_FUNCTIONS[type(node)]
    for child in node.iter_expressions():
        yield from _iterate_words(child)


DEFINITION_COLUMN = "definition_hash"
"""The column with the definition hash; only rows with equal hashes may be merged."""

BIN_COLUMN = "bin"
"""The column with the number or score of a bin."""

BIN_COLUMNS = (BIN_COLUMN, "positives", "negatives", "score_min", "score_max")
"""The columns of a rollup with score bins."""

BATCH_COLUMN = "batch"
"""The column with the name of a row's batch, if batches are named."""

DAY_COLUMN = "day"
"""The column of days."""


def select_row_keys(names: Iterable[str]) -> list[str]:
    """Return the key columns of a rollup, other than the bin."""
    non_key_columns = {*BIN_COLUMNS, NUM_ROWS, DEFINITION_COLUMN, BATCH_COLUMN}
    return [name for name in names if name.lower() not in non_key_columns and merge_function(name) is None]


def merge_class(name: str) -> type[exp.AggFunc] | None:
    """Return the function that merges a column, or None for a key column."""
    merge_functions: dict[str, type[exp.AggFunc]] = {NUM_ROWS: exp.Sum, DEFINITION_COLUMN: exp.Min, **BIN_MERGE_FUNCTIONS}
    return merge_functions.get(name.lower()) or merge_function(name)


def describe_group(keys: Iterable[str], values: Iterable[Any]) -> str:
    """Format the keys of a group for a message; ``values`` begin with those of the keys."""
    return ", ".join(f"{key} = {value}" for key, value in zip(keys, values, strict=False)) or "all rows"
