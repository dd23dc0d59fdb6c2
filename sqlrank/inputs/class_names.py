"""Compare the names of classes in two columns, and their order: advise where columns share no
class, and where texts have no order of their own.
"""

from __future__ import annotations

import re
from functools import reduce
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.resolve import pass_as_other_role
from sqlrank.engines.file_sources import names_files
from sqlrank.engines.text_advice import MAX_WORDS, number_words, read_truths, write_mapping
from sqlrank.errors import InputError, list_examples, quote_excerpt
from sqlrank.inputs.bound_input import bound_expression, column_text
from sqlrank.registry.metric_info import find_siblings
from sqlrank.sql_ast import sql_literal, take_first

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.call.resolve import ResolvedRequest
    from sqlrank.inputs.bound_input import BoundInput

ClassColumn = tuple["BoundInput", str]
"""An input and the name of its column of classes."""

MAX_CLASSES = 1000
"""Number of different classes that advice is based on."""

_FLAGS = ("predicted", "label")
"""Columns that say of a row with one class that it is predicted, or observed."""

MIN_ORDERED = 3
"""Number of classes from which on their order decides: two differ by the same in either order."""


def find_class_columns(base: BoundInput) -> tuple[ClassColumn, ...]:
    """Return the two columns of an input whose classes are the same, or its predicted and its
    observed classes in one column, if it has such.
    """
    names = [
        name
        for name, column in base.role.columns.items()
        if column.references == "class" and name in base.columns
    ]
    if len(names) != 1:
        return tuple((base, name) for name in reversed(names))
    flags = (name for name in _FLAGS if name in base.columns)
    return tuple(
        (
            base.with_filter(base.typed_expression(flag).eq(1)),
            names[0],
        )
        for flag in flags
    )


def _list_classes(column: ClassColumn) -> list[Any]:
    bound_input, name = column
    rows = bound_input.select_columns((name,), keep_types=True).subquery("classes")
    classes = exp.select(name).distinct().from_(rows).where(f"{name} IS NOT NULL")
    return [value for (value,) in bound_input.database.query_rows(take_first(classes, MAX_CLASSES))]


def _show_class(value: Any) -> str:
    return quote_excerpt(value) if isinstance(value, str) else str(value)


def share_classes(columns: Sequence[ClassColumn], max_rows: int | None = None) -> bool:
    """Return True if some class is in both columns, of ``max_rows`` first rows if given, or one has
    none.
    """
    queries = [bound_input.select_columns((name,)) for bound_input, name in columns]
    first, second = (
        exp.select(exp.column(name).as_("class_name")).from_(
            (query.limit(max_rows) if max_rows else query).subquery("source")
        )
        for query, (_, name) in zip(queries, columns, strict=True)
    )
    shared = (
        exp.select("1")
        .from_(first.subquery("classes"))
        .where(exp.In(this=exp.column("class_name"), query=second.subquery()))
    )
    return bool(columns[0][0].database.query_rows(shared.limit(1)))


def describe_other_classes(columns: Sequence[ClassColumn]) -> str:
    """Return sentences on two columns that share no class, with the mapping that gives both the
    same names, empty if one has no class.
    """
    values = [_list_classes(column) for column in columns]
    if not all(values):
        return ""
    first, second = (
        f"{label} has {list_examples([*map(_show_class, classes)])}"
        for label, classes in zip(_label_columns(columns), values, strict=True)
    )
    mapping = (
        {}
        if any(bound_input.assembled_from for bound_input, _ in columns)
        else _unite_truths(columns, values) or _unite_numbers(columns, values)
    ) or _unite_affixes(columns, values)
    step = (
        f"Give both the same names, such as {write_mapping(mapping, columns[0][0].table.dialect)}"
        if mapping
        else _name_observed_class(columns, values)
        or "Give both the same names, such as by a mapping of label"
    )
    return f"{first}, and {second}. {step}"


def _unite_affixes(
    columns: Sequence[ClassColumn], values: Sequence[Sequence[Any]]
) -> dict[str, exp.Expr]:
    """Return the mapping of labels to the names of classes that have the same text before or after
    each label, such as ``proba_a``, or that labels have it of; empty for others.
    """
    sides = {name: [*map(str, classes)] for (_, name), classes in zip(columns, values, strict=True)}
    labels, classes = sides.pop("label", None), [*sides.values()]
    if labels is None or len(classes) != 1:
        return {}
    bound_input = next(base for base, name in columns if name == "label")
    label = bound_expression(bound_input, "label")
    if bound_input.column_type("label") != "VARCHAR":
        label = exp.cast(label, "TEXT")
    (names,) = classes
    for start, end in _list_affixes(labels[0], names):
        if {f"{start}{text}{end}" for text in labels} <= {*names}:
            before, after = ([sql_literal(text)] if text else [] for text in (start, end))
            return {
                "label": reduce(
                    lambda left, right: exp.DPipe(this=left, expression=right),
                    [*before, label, *after],
                )
            }
    for start, end in (affixes for name in names for affixes in _list_affixes(name, labels[:1])):
        if {*labels} <= {f"{start}{text}{end}" for text in names}:
            length = exp.Sub(
                this=exp.Length(this=label.copy()), expression=sql_literal(len(start) + len(end))
            )
            part = exp.Substring(this=label, start=sql_literal(len(start) + 1), length=length)
            return {"label": part}
    return {}


def _list_affixes(text: str, longer: Sequence[str]) -> list[tuple[str, str]]:
    """Return the texts before and after a text in each of several that contain it."""
    return [
        (name[: match.start()], name[match.end() :])
        for name in longer
        for match in re.finditer(re.escape(text), name)
        if text and name != text
    ]


def _name_observed_class(columns: Sequence[ClassColumn], values: Sequence[Sequence[Any]]) -> str:
    """Return the query for scores of classes whose label is 1 for the observed class and 0 for
    others, empty for other labels.
    """
    bound_input = columns[0][0]
    labels = next(
        (classes for (_, name), classes in zip(columns, values, strict=True) if name == "label"), []
    )
    if bound_input.role.name != "class_scores" or {*map(_read_flag, labels)} != {0.0, 1.0}:
        return ""
    names = {
        name: exp.to_identifier(column if column in bound_input.table.types else name).sql("duckdb")
        for name, column in bound_input.columns.items()
    }
    source = bound_input.table.label
    source = sql_literal(source).sql() if names_files(source) else "..."
    return (
        "If label is 1 for the observed class, name that by the query SELECT * REPLACE (MAX(CASE"
        f" WHEN CAST({names['label']} AS INT) = 1 THEN {names['class_id']} END) OVER (PARTITION BY"
        f" {names['prediction_id']}) AS {names['label']}) FROM {source}"
    )


def _label_columns(columns: Sequence[ClassColumn]) -> list[str]:
    labels = [
        name if bound_input.assembled_from else bound_input.qualified_label(name)
        for bound_input, name in columns
    ]
    return (
        labels
        if len({*labels}) > 1
        else [f"{label} of {flag} 1" for label, flag in zip(labels, _FLAGS, strict=True)]
    )


def _unite_truths(
    columns: Sequence[ClassColumn], values: Sequence[Sequence[Any]]
) -> dict[str, exp.Expr]:
    """Return the mapping of words, booleans and numbers that say yes and no to 1 and 0, empty if
    there are other values.
    """
    mapping: dict[str, exp.Expr] = {}
    has_words = False
    for (bound_input, name), classes in zip(columns, values, strict=True):
        column = bound_expression(bound_input, name)
        column_type = bound_input.column_type(name)
        words = read_truths(column, classes) if column_type == "VARCHAR" else None
        are_digits = {*map(str, classes)} <= {"0", "1", "0.0", "1.0"}
        if words is None and not are_digits:
            return {}
        has_words |= words is not None or column_type == "BOOLEAN"
        if words or column_type in {"BOOLEAN", "VARCHAR"}:
            mapping[f"{bound_input.role.name}.{name}"] = (
                exp.cast(column, "INT") if words is None else words
            )
    return mapping if has_words else {}


def _unite_numbers(
    columns: Sequence[ClassColumn], values: Sequence[Sequence[Any]]
) -> dict[str, exp.Expr]:
    """Return the mapping of texts that are numbers, some of them equal to those of the other
    column, to these numbers, empty for others.
    """
    texts = [[*map(str, classes)] for classes in values]
    if not all(map(_are_numbers, texts)) or not set.intersection(
        *({*map(float, words)} for words in texts)
    ):
        return {}
    return {
        f"{bound_input.role.name}.{name}": exp.cast(bound_expression(bound_input, name), "DOUBLE")
        for bound_input, name in columns
        if bound_input.column_type(name) == "VARCHAR"
    }


def _are_numbers(texts: Sequence[str]) -> bool:
    return bool(texts) and all(map(_is_number, texts))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_flag(value: Any) -> float | None:
    text = str(int(value) if isinstance(value, bool) else value)
    return float(text) if _is_number(text) else None


def check_for_classes(base: BoundInput, request: ResolvedRequest) -> None:
    """Check that labels and scores of predictions are no classes, which are an input of their own.

    Raises:
        InputError: Both columns have the same classes, as texts or as integers of which more than
            two are labels.
    """
    if base.role.name != "predictions" or base.database.has_unread_streams:
        return
    columns = [(base, name) for name in ("label", "score") if name in base.columns]
    are_texts = [base.column_type(name) == "VARCHAR" for _, name in columns]
    if len(columns) < len(_FLAGS) or any(are_texts) != all(are_texts):
        return
    labels, scores = (_list_classes(column) for column in columns)
    if not {*labels} & {*scores} or max(len(labels), len(scores)) == MAX_CLASSES:
        return
    if any(are_texts) and _have_one_reading(bound_expression(base, "label"), labels, scores):
        return
    if not any(are_texts) and (
        len(labels) < MIN_ORDERED
        or not all(float(value).is_integer() for value in [*labels, *scores])
    ):
        return
    raise InputError(f"{base.label}: {_advise_on_classes(base, request, labels, scores)}")


def _have_one_reading(column: exp.Expr, labels: Sequence[str], scores: Sequence[str]) -> bool:
    """Return True if texts of both columns are numbers, or are read alike where each column is read
    alone.
    """
    classes = {*labels, *scores}
    return (
        any(map(_is_number, classes))
        or len({*labels} ^ {*scores}) + max(len(classes) - 2, 0) == 0
        or bool(read_truths(column, classes))
    )


def _advise_on_classes(
    base: BoundInput, request: ResolvedRequest, labels: Sequence[Any], scores: Sequence[Any]
) -> str:
    """Return the problem of labels and scores that are classes, with the mapping to equal numbers,
    and the metric and input of classes.
    """
    classes = sorted({*labels, *scores})
    dialect = base.table.dialect
    metric = next(
        metric.metric for metric in request.metrics if metric.input_role == base.role.name
    )
    siblings = find_siblings(metric, request.library, {"classified"})
    roles = request.library.roles
    columns = {**request.columns, **{name: column_text(base, name) for name in ("label", "score")}}
    arguments = pass_as_other_role(
        request.sources[base.role.name], base.role, roles["classified"], columns
    )
    step = (
        f"Of classes give the table as {arguments}, and ask for"
        f" {next(iter(siblings), 'MulticlassAccuracy')}"
    )
    if isinstance(classes[0], str):
        both = [(base, name) for name in ("label", "score")]
        declared = _find_declared_order(both, classes)
        words = (declared or classes)[:MAX_WORDS]
        order_in_words = "that their type declares" if declared else "of letters"
        mapping = {
            name: number_words(bound_expression(base, name), words) for name in ("label", "score")
        }
        problem = (
            f"label and score are texts, {list_examples([*map(_show_class, classes)])}, and"
            f" {metric} reads numbers"
        )
        order = (
            "Of ordered ones give both columns the same numbers, as"
            f" {write_mapping(mapping, dialect)} does in the order {order_in_words}"
        )
    else:
        condition = exp.GTE(this=bound_expression(base, "label"), expression=exp.Literal.number(1))
        problem = (
            f"label and score are integers, {list_examples([f'{value:g}' for value in classes])},"
            f" and {metric} reads labels of 0 and 1"
        )
        order = (
            "Of grades map a condition to label, such as"
            f" {write_mapping({'label': condition}, dialect)}"
        )
    return ". ".join([problem, *([step, order] if siblings else [order, step])])


def describe_letter_order(bound_input: BoundInput, names: Sequence[str]) -> str:
    """Return a note on texts that are ordered by their letters in the place of ordered classes,
    empty for numbers, fewer than three texts, and classes that are declared in that order.
    """
    columns = [(bound_input, name) for name in names]
    if not any(bound_input.column_type(name).startswith(("VARCHAR", "ENUM")) for name in names):
        return ""
    classes = sorted({str(value) for column in columns for value in _list_classes(column)})
    declared = _find_declared_order(columns, classes)
    are_numbers = _are_numbers(classes) and not declared
    in_order = sorted(classes, key=float) if are_numbers else declared or None
    if len(classes) < MIN_ORDERED or classes == in_order:
        return ""
    words = in_order or classes
    order = " < ".join(map(_show_class, classes[:MAX_WORDS])) + (
        " < ..." if len(classes) > MAX_WORDS else ""
    )
    mapping = write_mapping(
        {
            name: exp.cast(value, "DOUBLE") if are_numbers else number_words(value, words)
            for name, value in ((name, bound_expression(bound_input, name)) for name in names)
        },
        bound_input.table.dialect,
    )
    if are_numbers:
        advice = f"Read them as numbers with {mapping}"
    else:
        which = "the order that their type declares" if declared else "their own order"
        doing = "" if declared else " in that of letters"
        advice = f"Number them in {which}" + (
            f", as {mapping} does{doing}" if len(words) <= MAX_WORDS else ""
        )
    return (
        f"{' and '.join(map(bound_input.qualified_label, names))} are texts, and have the order of"
        f" letters: {order}. {advice}"
    )


def _find_declared_order(columns: Sequence[ClassColumn], classes: Sequence[str]) -> list[str]:
    """Return the classes in the order that the type of a column declares, such as an ordered
    ``Categorical``, empty if none has all of them.
    """
    orders = (
        bound_input.table.find_order(column)
        for bound_input, column in ((each, each.columns.get(name)) for each, name in columns)
        if isinstance(column, str)
    )
    return next(
        ([word for word in order if word in classes] for order in orders if {*classes} <= {*order}),
        [],
    )
