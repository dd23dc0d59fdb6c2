"""Check columns and rows of inputs before metrics are computed, and report all problems with an
expression that mends them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sqlglot import exp

from sqlrank.engines.file_sources import list_paths, names_files
from sqlrank.engines.source_tables import NULL_TYPE, common_type
from sqlrank.engines.text_advice import (
    ColumnAdvice,
    find_list_reading,
    find_odd_cell,
    is_cut_list,
    suggest_list,
    suggest_number,
)
from sqlrank.engines.text_tables import shorten_text_readers
from sqlrank.errors import MAX_EXAMPLES, InputError, join_words, quote_excerpt
from sqlrank.inputs.bound_input import BoundInput, bound_expression, column_text, comparable_columns
from sqlrank.inputs.class_names import describe_other_classes
from sqlrank.inputs.missing_columns import (
    NESTED_TYPES,
    build_list_query,
    describe_missing_columns,
    describe_nested_rows,
    name_ids,
)
from sqlrank.inputs.row_rules import RowRules, advise_on_values, row_rules, suggest_source_keys
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.renderer import to_sql
from sqlrank.sql_ast import (
    call_function,
    case_when,
    count_rows,
    expression_text,
    is_not_null,
    is_null,
    quoted_column,
    sql_literal,
    take_first,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from sqlrank.engines.database import Database


CheckMode = Literal["auto", "full", "off"]

RANKING_KEYS = ("query_id", "doc_id")
NUM_KEYS = "num_keys"
"""Name of the number of different keys."""

RUN_COUNTS = ("num_equal", "num_several", "num_queries")
"""Names of the columns of ``sql/inputs/advice/equal_scores.sql``."""

FULL_DUPLICATE_SEARCH_ROWS = 1_000_000
"""Number of run rows up to which all rows are searched for duplicates.

In larger runs, only duplicates of relevant documents are found.
"""

_DUPLICATE_POLICY = dict.fromkeys(
    ("run", "qrels", "history", "baseline"), ", or give duplicates='max'"
)
"""Advice on repeated rows, for the inputs that the policy ``duplicates`` applies to."""

MAX_TEXTS = 1000
"""Maximum number of different texts that advice on a column is based on."""
MAX_VALUE_CHARS = 80
NUMERIC_TYPES = (
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER",
    "UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL", "BOOLEAN", "BIGNUM",
)  # fmt: skip


def check_columns(
    inputs: Mapping[str, BoundInput],
    needed: Mapping[str, tuple[str, ...]],
    advise_on_rows: Callable[[], str] = str,
) -> None:
    """Check that every needed column exists, with a suitable type that matches across inputs.

    ``advise_on_rows`` returns the advice for a run without queries.
    """
    missing = describe_missing_columns(inputs, needed)
    if (
        "run" in missing
        and "query_id" not in inputs["run"].columns
        and (advice := advise_on_rows())
    ):
        missing["run"] += f". {advice}"
    problems = []
    for role, columns in needed.items():
        problems += [missing[role]] if role in missing else []
        problems += _find_unsuitable_types(inputs[role], columns, is_missing=role in missing)
    raise_problems([*problems, *_find_unequal_types(inputs, needed, missing)])


def _find_unsuitable_types(
    bound_input: BoundInput, columns: Sequence[str], *, is_missing: bool
) -> Iterator[str]:
    """Yield problems of lists in the place of single values, and of columns that are no numbers;
    ``is_missing``: the input lacks columns, for which nested ones may be the reason.
    """
    declared = bound_input.role.columns
    lists = [
        name
        for name in columns
        if bound_input.role.list_relation is not None
        and bound_input.column_type(name).endswith("]")
    ]
    for name in lists:
        if declared[name].type != "list":
            yield (
                f"{bound_input.label}: {name} is {bound_input.column_type(name)}, a list, and a row"
                " has one value. A row per query with lists of documents is inputs={'answers':"
                " ...}, with the columns retrieved and relevant"
            )
    for name in (name for name, column in declared.items() if column.is_number):
        duckdb_type = bound_input.column_type(name)
        is_number = duckdb_type.startswith(NUMERIC_TYPES) and not duckdb_type.endswith("]")
        if (
            name not in columns
            or name in lists
            or not duckdb_type
            or is_number
            or (is_missing and duckdb_type.startswith(NESTED_TYPES))
        ):
            continue
        if is_missing and name == "label" and "score" not in bound_input.columns:
            continue  # words of both columns have one coding, by both
        # All columns of a text file without rows have a text type.
        yield (
            f"{bound_input.label} has no rows"
            if bound_input.table.is_empty
            else f"{bound_input.label}: {name} is {duckdb_type}, not a number."
            f" {advise_on_texts(bound_input, name)}, or map another column to {name}"
        )


def _find_unequal_types(
    inputs: Mapping[str, BoundInput],
    needed: Mapping[str, tuple[str, ...]],
    missing: Collection[str],
) -> Iterator[str]:
    """Yield problems of columns that are compared across inputs, and whose types never match."""
    # The queries table is joined by query_id, and by the columns that group its rows and those of
    # the run.
    shared = set(inputs["run"].group_names) if "run" in inputs else set()
    joined = {
        role: [
            *columns,
            *(name for name in inputs[role].group_names if role != "queries" or name in shared),
        ]
        for role, columns in needed.items()
        if not inputs[role].table.is_empty  # which has types of no values
    }
    for compared_columns in comparable_columns(inputs, joined).values():
        duckdb_types = {}
        for role, name in compared_columns:
            text = inputs[role].column_type(name)
            is_flag = text == "BOOLEAN" and name in inputs[role].group_names
            if text and not (role in missing and text.startswith(NESTED_TYPES)):
                duckdb_types[role, name] = "INTEGER" if is_flag else text  # as it is read
        families = {
            _classify_type(text) for text in duckdb_types.values() if text != '"NULL"'
        }  # of a column without values
        if len(families) > 1:
            types = ", ".join(
                f"{inputs[role].qualified_label(name)} is {duckdb_type}"
                for (role, name), duckdb_type in duckdb_types.items()
            )
            are_ids = families <= {"number", "text"}
            problem = (
                "no number is one of the texts" if are_ids else "values of these types never match"
            )
            yield f"{types}: {problem}. {_advise_on_types(inputs, duckdb_types, are_ids)}"


def _advise_on_types(
    inputs: Mapping[str, BoundInput],
    duckdb_types: Mapping[tuple[str, str], str],
    are_ids: bool,
) -> str:
    """Return the advice for columns whose values are compared, but never match: of other types, or
    numbers and texts (``are_ids``).
    """
    if any(duckdb_type.startswith("STRUCT") for duckdb_type in duckdb_types.values()):
        return f"Take one field{_take_field(inputs, duckdb_types)}"
    specs = [inputs[role].role.columns.get(name) for role, name in duckdb_types]
    if (
        all(column is not None and column.references == "class" for column in specs)
        and not next(iter(inputs.values())).database.has_unread_streams
    ):
        columns = [(inputs[role], name) for role, name in duckdb_types]
        return describe_other_classes(columns) or "Cast one of them"
    if not are_ids:
        return "Cast one of them"
    if advice := suggest_source_keys(inputs):
        return advice
    sides = {
        _classify_type(text): (inputs[role], name)
        for (role, name), text in duckdb_types.items()
        if text != '"NULL"'
    }
    number, name = sides["number"]
    component, _, elements = number.assembled_from.partition(".")
    column, brackets = (
        (elements, "[]") if elements and name == "doc_id" else (f"{number.role.name}.{name}", "")
    )
    value = column_text(inputs[component] if brackets else number, elements if brackets else name)
    cast = f"CAST({value} AS VARCHAR{brackets})"
    advice = (
        # Groups are read by name, not through the mapping
        f"Give a query for {number.role.name} that has the texts, such as SELECT * REPLACE ({cast}"
        f" AS {name}) FROM ..."
        if None in specs
        else f"Cast the numbers, such as columns={{'{column}': '{cast}'}}, and map ids to the same"
        " form"
    )
    if next(iter(inputs.values())).database.has_unread_streams or not all(
        rows := [_find_example(*side) for side in sides.values()]
    ):
        return advice
    examples = [
        f"{side.assembled_from or side.role.name} has {short_value(row[0][0])}"
        for (side, _), row in zip(sides.values(), rows, strict=True)
    ]
    return f"For example, {join_words(examples)}. {advice}"


def _find_example(bound_input: BoundInput, name: str) -> list[tuple[Any, ...]]:
    columns = () if name in bound_input.group_names else (name,)
    return bound_input.database.query_rows(
        take_first(select_over_input(exp.select(quoted_column(name)), bound_input, columns))
    )


def _take_field(
    inputs: Mapping[str, BoundInput], duckdb_types: Mapping[tuple[str, str], str]
) -> str:
    """Return the mapping that takes a field of the objects in a list."""
    role, duckdb_type = next(
        (role, text) for (role, _), text in duckdb_types.items() if text.startswith("STRUCT(")
    )
    component, _, name = inputs[role].assembled_from.partition(".")
    if not name:
        return ""
    column = column_text(inputs[component], name)
    path = name_ids(column, f"{duckdb_type}[]")
    if path == column:
        fields = exp.DataType.build(duckdb_type, dialect="duckdb").expressions
        path = f"{column}.{exp.to_identifier(fields[0].name).sql('duckdb')}"
    return f": columns={{{name!r}: {path!r}}}"


def advise_on_texts(bound_input: BoundInput, name: str, advice: ColumnAdvice | None = None) -> str:
    """Return the advice to cast a column, to read its texts as numbers, or to make rows of a list.

    ``advice`` is what to write in the call, by default the mapping of the column.
    """
    text = column_text(bound_input, name)
    if bound_input.column_type(name).endswith("]"):
        classes = (
            "Of scores of classes give one column, or inputs={'multiclass_predictions': ...}. "
            if name == "score"
            else ""
        )
        if advice is None and names_files(bound_input.table.label):
            return f"{classes}Make rows of the lists by the query {_unnest_lists(bound_input)}"
        alias = name if advice is None else text
        return f"{classes}Make rows of a list by a query, with UNNEST({text}) AS {alias}"
    duckdb_type = bound_input.column_type(name)
    if duckdb_type == NULL_TYPE:
        return "All its values are missing. Give it some"
    write = advice or ColumnAdvice(name, bound_input.table.dialect)
    column = bound_expression(bound_input, name)
    if duckdb_type.startswith("STRUCT("):
        fields = exp.DataType.build(duckdb_type, dialect="duckdb").expressions
        numbers = [
            field.this
            for field in fields
            if field.args["kind"].sql("duckdb").startswith(NUMERIC_TYPES)
        ]
        field = exp.Dot(this=column, expression=next(iter(numbers), exp.to_identifier("field")))
        return f"Take a field of it with {write.read_as(field)}"
    if duckdb_type.startswith(_SECONDS):
        seconds = exp.Extract(this=exp.var("EPOCH"), expression=column)
        return f"Seconds are {write.read_as(seconds)}"
    if duckdb_type == "JSON":
        value = exp.JSONExtractScalar(this=column, expression=sql_literal("$"))
        number = exp.TryCast(this=value, to=exp.DataType.build("DOUBLE"))
        return f"Cast its values with {write.read_as(number)}"
    if duckdb_type != "VARCHAR":
        return "Cast it"
    table = bound_input.table
    reader = table.display_from_item.find(exp.ReadCSV)
    place = (
        find_odd_cell(table.display_from_item, bound_input.columns[name])
        if reader is not None and not bound_input.expressions
        else ""
    )
    return suggest_number(write, column, _list_texts(bound_input, name), place)


_SECONDS = ("INTERVAL", "TIME", "DATE")
"""Types of durations, times and days, of which casts make no numbers."""


def _unnest_lists(bound_input: BoundInput) -> str:
    """Return the query of files that has a row for each element of the lists."""
    values = {name: column_text(bound_input, name) for name in bound_input.columns}
    selected = [
        f"UNNEST({text}) AS {name}"
        if bound_input.column_type(name).endswith("]")
        else text
        if text == name
        else f"{text} AS {name}"
        for name, text in values.items()
    ]
    file = sql_literal(bound_input.table.label).sql("duckdb")
    return f"SELECT {', '.join(selected)} FROM {file}"


def _list_texts(bound_input: BoundInput, name: str, tree: exp.Expr | None = None) -> dict[str, int]:
    """Return different texts of a column, or of an expression in its place, with the numbers of
    their rows, those that are no numbers first; none of a stream.
    """
    if bound_input.database.has_unread_streams:
        return {}
    value = bound_input.raw_expression(name) if tree is None else tree
    rows = bound_input.select_unfiltered(value.as_("value"))
    texts = (
        exp.select("value", "COUNT(*)")
        .from_(rows.subquery("texts"))
        .where("value IS NOT NULL")
        .group_by("value")
        .limit(MAX_TEXTS)
    )
    order = (
        ["TRY_CAST(value AS DOUBLE) IS NOT NULL"]
        if bound_input.dialect.supports_file_readers
        else []
    )
    return dict(bound_input.database.query_rows(texts.order_by(*order, "value")))


def list_problems(bound_input: BoundInput, columns: Sequence[str]) -> list[str]:
    """Return one problem for each of these columns that is missing, or that should be a list and is
    none.
    """
    # Columns of JSON that pandas wrote by columns are read as objects, as maps of ids are.
    if nested_rows := describe_nested_rows(bound_input):
        return [f"{bound_input.label}: {nested_rows}"]
    problems = [
        *describe_missing_columns(
            {bound_input.role.name: bound_input}, {bound_input.role.name: columns}
        ).values()
    ]
    for name in columns:
        duckdb_type = bound_input.column_type(name)
        if duckdb_type == "VARCHAR" and bound_input.dialect.lists_are_json:
            continue  # lists are texts
        is_list = bound_input.role.columns[name].type == "list"
        if duckdb_type.startswith('"NULL"') and is_list:
            problems.append(f"{bound_input.label}: {name} is NULL or an empty list in every row")
        elif is_list and duckdb_type and not duckdb_type.endswith("]"):
            advice = ""
            is_number = RANKING_KEYS[0] in columns and _classify_type(duckdb_type) == "number"
            if is_number or duckdb_type == "VARCHAR":
                texts = {"1": 1} if is_number else _list_texts(bound_input, name)
                expression, dialect = bound_expression(bound_input, name), bound_input.table.dialect
                advice = f", or {suggest_list(name, expression, dialect, texts)}"
            if bound_input.role.columns[name].optional and bound_input.columns[name] == name:
                advice += (
                    ". If it is something else, give a query in which it has another name: SELECT"
                    f" * RENAME ({name} AS other) FROM ..."
                )
            problems.append(
                f"{bound_input.label}: {name} is {duckdb_type}, not a list. Map a column of lists"
                f" to {name}{advice}"
            )
        elif is_list and duckdb_type and (problem := _describe_miscast(bound_input, name)):
            problems.append(f"{bound_input.label}: {problem}")
    return problems


def _describe_miscast(bound_input: BoundInput, name: str) -> str:
    """Return the problem of a text that a cast of the caller makes another list of than it holds,
    such as one of NumPy, whose values have no commas between them.
    """
    tree = bound_expression(bound_input, name).unnest()
    column = tree.find(exp.Column)
    if (
        column is None
        or column.table  # a path to a field
        or not bound_input.dialect.supports_file_readers
        or bound_input.table.types.get(column.name) != "VARCHAR"
    ):
        return ""
    texts = _list_texts(bound_input, name, column)
    odd = [text for text in texts if is_cut_list(text)]
    reading = find_list_reading(column, texts) if tree.this is column and not odd else None
    if reading is not None and isinstance(tree, exp.Cast):
        other = exp.TryCast(this=column.copy(), to=tree.to)
        differs = exp.and_(
            exp.NullSafeNEQ(this=reading, expression=other), exp.not_(is_null(reading.copy()))
        )
        rows = bound_input.select_unfiltered(column.as_("value")).where(differs)
        odd = [text for (text,) in bound_input.database.query_rows(take_first(rows))]
    return (
        f"{name} has texts such as {quote_excerpt(odd[0])}, of which a cast makes other lists."
        f" Instead, {suggest_list(name, column, bound_input.table.dialect, texts)}"
        if odd
        else ""
    )


@dataclass(frozen=True)
class ValidationReport:
    """The outcome of the row checks, with facts for the checks of the result.

    Attributes:
        rows: Number of rows of each input.
        all_rows: All rows of the run were searched for duplicates.
        positive: Number of judgments above 0.
        top_grade: Greatest judgment.
        lists: Numbers of the lists of a run in which all documents have one score, of those with
            several documents, and of all; None if they were not counted.
    """

    rows: Mapping[str, int]
    all_rows: bool
    positive: int
    top_grade: float | None
    lists: Sequence[int] | None


def _classify_type(duckdb_type: str) -> str:
    if duckdb_type.startswith(NUMERIC_TYPES) and duckdb_type != "BOOLEAN":
        return "number"
    if duckdb_type.startswith(("VARCHAR", "ENUM")):
        return "text"
    # Times of any precision compare; a day and a time do on some engines alone.
    is_time = duckdb_type.startswith("TIMESTAMP")
    finest = ("TIMESTAMP_NS", "TIMESTAMPTZ_NS") if is_time else ()
    return next(filter(None, (common_type([duckdb_type, time]) for time in finest)), duckdb_type)


def validate_ranking_rows(
    inputs: Mapping[str, BoundInput],
    needed: Mapping[str, tuple[str, ...]],
    check: CheckMode,
    deduplicated_roles: Collection[str],
    deferred: Collection[str],
) -> ValidationReport:
    """Check the rows of all inputs of a ranking evaluation.

    ``deduplicated_roles`` are inputs that are deduplicated by a policy, so duplicates are not
    reported. Those ``deferred`` are deduplicated, too, and checked only to report their problems
    with those of others.

    Raises:
        InputError: One message for each problem, without those of joins that others cause.
    """
    problems: list[tuple[str, str]] = []
    all_rows = True
    keys = {
        role: inputs[role].unique_columns
        for role in needed
        if role not in deduplicated_roles and inputs[role].role.unique
    }
    checked = {role: columns for role, columns in needed.items() if role not in deferred}
    counts_by_role: dict[str, Mapping[str, Any]] = {}
    for rows, counts in _count_rankings(inputs, checked, keys):
        role = rows.role
        counts_by_role[role] = counts
        violations = _describe_violations(inputs[role], needed[role], rows.rules, counts)
        problems += [(role, text) for text in violations]
        if role not in keys:
            continue
        if role == "run" and check == "auto" and counts["all_rows"] > FULL_DUPLICATE_SEARCH_ROWS:
            all_rows = False
        elif counts.get(NUM_KEYS) != counts["all_rows"]:
            problems += [(role, text) for text in _find_duplicates(inputs[role], keys[role])]
    causes = {role for role, _ in problems}
    raise_problems(
        [text for role in deferred if causes for text in _row_problems(inputs[role], needed[role])]
        + [text for role, text in problems if causes.isdisjoint(inputs[role].joined_from)]
    )
    judgment_counts = counts_by_role.get("qrels", {})
    list_counts = [int(counts_by_role.get("run", {}).get(name) or 0) for name in RUN_COUNTS]
    return ValidationReport(
        {role: counts["all_rows"] for role, counts in counts_by_role.items()},
        all_rows,
        judgment_counts.get("positive_relevance") or 0,
        judgment_counts.get("top_grade"),
        list_counts if any(list_counts) else None,
    )


def _count_rankings(
    inputs: Mapping[str, BoundInput],
    checked: Mapping[str, tuple[str, ...]],
    keys: Mapping[str, tuple[str, ...]],
) -> Iterator[tuple[_CountedRows, Mapping[str, Any]]]:
    """Yield the rows of each input with their counts.

    One statement counts tables in memory, with their keys and the lists of a run. Of up to a
    million rows it takes 0.6 to 0.9 of the time of one for each, and one for the neighbors of each
    key.
    """
    sizes = [
        None if inputs[role].assembled_from else inputs[role].table.num_rows for role in checked
    ]
    are_small = all(size is not None and size <= FULL_DUPLICATE_SEARCH_ROWS for size in sizes)
    counted = [
        _counted_rows(inputs[role], columns, key=keys.get(role, ()) if are_small else ())
        for role, columns in checked.items()
    ]
    if are_small and "score" in checked.get("run", ()):
        groups = tuple(map(quoted_column, inputs["run"].group_names))
        counted = [rows._replace(groups=groups) if rows.role == "run" else rows for rows in counted]
    for group in [counted] if are_small and counted else [[rows] for rows in counted]:
        database = inputs[group[0].role].database
        yield from zip(group, _fetch_counts(database, group), strict=True)


def validate_rows(
    bound_input: BoundInput, columns: tuple[str, ...], required: Sequence[str]
) -> None:
    """Check the rows of an input other than rankings.

    ``required`` are the row checks that its metrics require.
    """
    raise_problems(_row_problems(bound_input, columns, required))


def check_unique(bound_input: BoundInput, keys: tuple[str, ...]) -> None:
    """Check that the keys of rows are unique within each group."""
    raise_problems(_find_duplicates(bound_input, keys))


def _row_problems(
    bound_input: BoundInput, columns: tuple[str, ...], required: Sequence[str] = ()
) -> list[str]:
    counted = _counted_rows(bound_input, columns, required)
    (counts,) = _fetch_counts(bound_input.database, [counted])
    return _describe_violations(bound_input, columns, counted.rules, counts)


class _CountedRows(NamedTuple):
    """The rows of an input that a query counts: all of them, those that violate each rule, their
    different keys, if there are columns of a key, and their lists, if there are columns of groups.
    """

    rules: RowRules
    rows: exp.Select
    role: str
    is_parquet: bool
    key: tuple[exp.Column, ...]
    groups: tuple[exp.Column, ...] | None = None

    @property
    def names(self) -> list[str]:
        """Names of the counts."""
        return [
            *self.rules.query.named_selects,
            *([NUM_KEYS] if self.key else []),
            *(() if self.groups is None else RUN_COUNTS),
        ]

    def select_counts(self) -> Iterator[exp.Subquery]:
        """Yield the queries of the counts, of one row each.

        NULLs of Parquet files are counted in a query per column, which DuckDB answers from
        metadata.
        """
        tree = self.rules.query.copy()
        for column in tree.selects if self.is_parquet else ():
            if column.alias.startswith("null_"):
                nulls = exp.select("COUNT(*)").where(self.rules.conditions[column.alias].copy())
                column.set("this", nulls.from_(self.rows.subquery(self.role)).subquery())
        if self.key:
            hashed = exp.Distinct(expressions=[_hash_columns(self.key)])
            tree = tree.select(exp.Count(this=hashed).as_(NUM_KEYS))
        yield tree.from_(self.rows.subquery(self.role)).subquery(self.role)
        if self.groups is not None:
            yield build_list_query("equal_scores.sql", self.rows, self.groups).subquery("lists")


def _counted_rows(
    bound_input: BoundInput,
    columns: tuple[str, ...],
    required: Sequence[str] = (),
    key: tuple[str, ...] = (),
) -> _CountedRows:
    rules = row_rules(
        bound_input.role, bound_input.checks, columns, required, bound_input.column_type
    )
    is_parquet = (
        bound_input.table.from_item.find(exp.ReadParquet) is not None
        and not bound_input.assembled_from
    )
    rows = _select_columns(bound_input, tuple(dict.fromkeys([*columns, *key])))
    hashed = _key_columns(bound_input, key) if key else ()
    return _CountedRows(rules, rows, bound_input.role.name, is_parquet, hashed)


def _fetch_counts(database: Database, counted: Sequence[_CountedRows]) -> list[dict[str, Any]]:
    """Return the counts of the rows of inputs, which one statement counts."""
    (row,) = database.fetch_rows(_write_counts(tuple(counted), database.dialect))
    values = iter(row)
    return [dict(zip(rows.names, values, strict=False)) for rows in counted]


@lru_cache(maxsize=256)
def _write_counts(counted: tuple[_CountedRows, ...], dialect: str) -> str:
    first, *others = [query for rows in counted for query in rows.select_counts()]
    tree = exp.select("*").from_(first)
    for query in others:
        tree = tree.join(query, join_type="cross")
    return to_sql(tree, dialect)


def _describe_violations(
    bound_input: BoundInput, columns: tuple[str, ...], rules: RowRules, counts: Mapping[str, Any]
) -> list[str]:
    """Return the problems of an input of these counts."""
    problems = []
    if not counts["all_rows"]:
        is_labelled = bound_input.is_labelled
        which = " with a label" if is_labelled else _describe_filter(bound_input)
        values = _list_values(bound_input)
        problems.append(f"{bound_input.label} has no rows{which}{values}")
    for name, condition in rules.conditions.items():
        if counts.get(name) and not (
            name in {"improbable_score", "unthresholded_score"}
            and counts[name] == counts.get("nan_score")
        ):  # NaN is above 1
            # A CASE, because DuckDB evaluates a bare condition on Parquet statistics, which ignore
            # NaN.
            is_invalid = case_when(condition.copy(), 1, 0)
            invalid_rows = exp.select("*").where(is_invalid.eq(1))
            meaning = advise_on_values(bound_input, name, rules.meanings[name])
            problems.append(
                problem_with_examples(
                    bound_input,
                    f"{_count_rows(counts[name])}: {meaning}",
                    invalid_rows,
                    columns,
                )
            )
    return problems


def _describe_filter(bound_input: BoundInput) -> str:
    filter_text = (
        ""
        if bound_input.where is None
        else f" where {bound_input.database.render(bound_input.where)}"
    )
    return (
        f"{filter_text} with all values, and nulls='drop'" if bound_input.not_null else filter_text
    )


def _list_values(bound_input: BoundInput) -> str:
    """Return a sentence with values of the column that a filter compares with one value, empty for
    other filters.
    """
    text = expression_text(bound_input.where)
    comparison = bound_input.where if text is None else text.tree
    if not isinstance(comparison, exp.EQ) or not isinstance(comparison.expression, exp.Literal):
        return ""
    column = (
        comparison.this
        if text is None or bound_input.where is None
        else bound_input.where.expressions[0]
    )  # as passes have bound it
    if not isinstance(column, exp.Column):
        return ""
    query = bound_input.select_unfiltered(column).distinct()
    rows = bound_input.database.query_rows(
        take_first(query.where(is_not_null(column)), MAX_EXAMPLES + 1)
    )
    values = [
        *(short_value(value) for (value,) in rows[:MAX_EXAMPLES]),
        *(["..."] if len(rows) > MAX_EXAMPLES else []),
    ]
    return f". Values of {column.name} are {', '.join(values)}" if values else ""


def _count_rows(count: float) -> str:
    return "1 row" if count == 1 else f"{int(count):,} rows"


def select_over_input(
    query: exp.Select, bound_input: BoundInput, columns: tuple[str, ...], for_display: bool = False
) -> exp.Select:
    """Return a query over an input; ``for_display`` selects the user's notation."""
    return query.from_(
        _select_columns(bound_input, columns, for_display).subquery(bound_input.role.name)
    )


def _select_columns(
    bound_input: BoundInput, columns: tuple[str, ...], for_display: bool = False
) -> exp.Select:
    return bound_input.select_columns(columns, for_display=for_display, keep_types=True)


def problem_with_examples(
    bound_input: BoundInput,
    problem: str,
    query: exp.Select,
    columns: tuple[str, ...],
    titles: Mapping[str, str] | None = None,
) -> str:
    """Describe the rows that a query over an input returns; ``titles`` has the names of columns in
    the examples that are not their own.
    """
    return format_problem(
        bound_input,
        problem,
        select_over_input(query, bound_input, columns),
        select_over_input(query, bound_input, columns, for_display=True),
        titles,
    )


def format_problem(
    bound_input: BoundInput,
    problem: str,
    query: exp.Select,
    full_query: exp.Select,
    titles: Mapping[str, str] | None = None,
) -> str:
    """Describe a problem of an input, with the first rows of a query and one that returns all."""
    lists = (
        []
        if bound_input.dialect.supports_file_readers
        else [name for name, column in bound_input.role.columns.items() if column.type == "list"]
    )
    names = query.named_selects if not query.is_star else query.args["from_"].this.named_selects
    examples = [
        ", ".join(
            f"{(titles or {}).get(name, name)}={short_value(value)}"
            for name, value in zip(names, row, strict=True)
        )
        for row in bound_input.database.query_rows(take_first(query, MAX_EXAMPLES, lists))
    ]
    return "\n    ".join(
        [
            f"{bound_input.label}: {problem}",
            *examples,
            describe_further_rows(bound_input.database, full_query),
        ]
    )


def describe_further_rows(database: Database, query: exp.Query) -> str:
    """Return the line of a message with the query for all rows of a problem, which the caller may
    run.
    """
    return f"see more: {database.render(shorten_text_readers(query))}"


def short_value(value: Any) -> str:
    """Return a value as text of bounded length."""
    text = repr(value)
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[:MAX_VALUE_CHARS]}..."


def _key_columns(bound_input: BoundInput, keys: tuple[str, ...]) -> tuple[exp.Column, ...]:
    return (*map(quoted_column, bound_input.group_names), *map(exp.column, keys))


def _hash_columns(columns: Sequence[exp.Column]) -> exp.Expr:
    return call_function("HASH", *(column.copy() for column in columns))


def _find_duplicates(bound_input: BoundInput, keys: tuple[str, ...]) -> list[str]:
    """Find duplicate keys.

    Sorting hashes is several times faster than grouping texts; equal hashes are then verified.
    """
    columns = _key_columns(bound_input, keys)
    if get_dialect(bound_input.database.dialect).supports_row_hash and not _has_equal_hashes(
        bound_input, keys, columns
    ):
        return []
    duplicates = (
        exp.select(*columns, count_rows().as_("times")).group_by(*columns).having("COUNT(*) > 1")
    )
    if not bound_input.database.query_rows(
        take_first(select_over_input(duplicates, bound_input, keys))
    ):
        return []
    problem = (
        bound_input.role.duplicate_message
        or f"({', '.join(column.name for column in columns)}) occurs more than once. "
        + (
            duplicate_advice(bound_input)
            if "rank" not in keys
            else "Give rows of equal scores different ranks, in their order"
        )
    )
    return [problem_with_examples(bound_input, problem, duplicates, keys)]


def duplicate_advice(bound_input: BoundInput) -> str:
    """Return the next step for rows that have the same key.

    Several systems in one table would be merged by a policy, so that their column is asked for
    first.
    """
    has_other_columns = bool({*bound_input.table.types} - {*bound_input.columns.values()})
    may_hold_systems = (
        bound_input.role.name == "run" and not bound_input.group_names and has_other_columns
    )
    systems = ", name the column that tells systems apart in by=" if may_hold_systems else ""
    if bound_input.role.name == "run" and (files := len(list_paths(bound_input.table.label))) > 1:
        systems = f", give each of the {files:,} files as a run of its own"
    policy = _DUPLICATE_POLICY.get(bound_input.role.name, "")
    return f"Keep one row of each{systems}{bound_input.duplicate_hint or policy}"


def _has_equal_hashes(
    bound_input: BoundInput,
    keys: tuple[str, ...],
    columns: tuple[exp.Column, ...],
) -> bool:
    return bool(
        bound_input.database.fetch_rows(
            _equal_hash_query(
                _select_columns(bound_input, keys),
                bound_input.role.name,
                columns,
                bound_input.database.dialect,
            )
        )
    )


@lru_cache(maxsize=256)
def _equal_hash_query(
    input_query: exp.Select, role: str, columns: tuple[exp.Column, ...], dialect: str
) -> str:
    query = (
        exp.select(_hash_columns(columns).as_("key_hash"))
        .from_(input_query.subquery(role))
        .subquery("hashed")
    )
    neighbors = (
        exp.select("key_hash", "LAG(key_hash) OVER (ORDER BY key_hash) AS before")
        .from_(query)
        .subquery("neighbors")
    )
    return to_sql(exp.select("1").from_(neighbors).where("key_hash = before").limit(1), dialect)


def raise_problems(problems: list[str]) -> None:
    """Raise ``InputError`` with all problems, if there are any."""
    if problems:
        raise InputError(*dict.fromkeys(problems))
