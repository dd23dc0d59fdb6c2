"""Build the rules for an input's rows: a query that counts violations, the condition of each, the
condition of valid rows, and advice on the values that violate one, and on ids that are unique
within a source only.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.engines.file_sources import names_files
from sqlrank.engines.text_advice import write_mapping
from sqlrank.errors import InputError
from sqlrank.inputs.bound_input import BoundInput, bound_expression, column_text
from sqlrank.registry.loader import load_registry
from sqlrank.registry.query_templates import RowCheck, load_select, modified_ns
from sqlrank.sql_ast import (
    call_function,
    case_when,
    find_nodes,
    is_null,
    quoted_column,
    sql_literal,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from sqlrank.registry.roles import ColumnSpec, Role


NULL_FREE_NODES = (
    exp.Column,
    exp.Identifier,
    exp.Literal,
    exp.Neg,
    exp.Paren,
    exp.Not,
    exp.Connector,
    exp.Predicate,
    exp.IsNan,
    exp.IsInf,
    exp.Abs,
)
"""Nodes that are never NULL if their columns are not, so that NOT negates them."""
_ENTITY = "record_id"
_SOURCES = ("source", "source_dataset")
"""Columns within which ids of records may be unique; the second is Splink's."""
_PREFIXES = {"left_id": ("left", "l"), "right_id": ("right", "r")}


@dataclass(frozen=True, eq=False)
class RowRules:
    """The applicable rules of a role.

    Instances are cached across calls, so callers must copy trees before changing them.

    Attributes:
        query: Counts the rows that violate each rule.
        conditions: Violation conditions by rule.
        meanings: Descriptions of violations by rule.
    """

    query: exp.Select
    conditions: dict[str, exp.Expr]
    meanings: dict[str, str]

    @cached_property
    def num_invalid(self) -> exp.Count:
        """The number of rows that violate a rule.

        Valid rows are found by one condition where that is possible, which is usually cheaper than
        an OR of the violations. Of 200,000 groups in 2,000,000 rows, a count of them takes a
        tenth of a statement less than a sum of 1 and 0.
        """
        conditions = [*self.conditions.values()]
        is_valid = valid_row_condition(conditions)
        if is_valid is not None:
            return exp.Count(this=case_when(is_valid, exp.null(), 1))
        is_invalid = exp.or_(*conditions or [exp.false()])
        return exp.Count(this=case_when(is_invalid, 1))


def row_rules(
    role: Role | None,
    path: Path | None,
    columns: Sequence[str],
    required: Sequence[str] = (),
    find_type: Callable[[str], str] = lambda _: "",
) -> RowRules:
    """Return the rules for these columns: those of a file, and those that follow from the role.

    ``required`` are row checks of metrics, such as ``binary labels``; ``find_type`` returns column
    types, which exclude NaN in some columns. Keys of unknown types are taken for texts, of which
    engines cannot say if they are finite.
    """
    specs = {} if role is None else role.columns
    fractional = frozenset(
        name
        for name in columns
        if _can_be_nan(
            find_type(name) or ("VARCHAR" if name in specs and not specs[name].is_number else "")
        )
    )
    declared = tuple(specs.values())
    return _build_rules(
        declared,
        path,
        0 if path is None else modified_ns(path),
        tuple(columns),
        tuple(required),
        fractional,
    )


@lru_cache(maxsize=256)
def _build_rules(
    declared: tuple[ColumnSpec, ...],
    path: Path | None,
    edit: int,  # noqa: ARG001  part of the cache key
    columns: tuple[str, ...],
    required: tuple[str, ...],
    fractional: frozenset[str],
) -> RowRules:
    tree = exp.select("COUNT(*) AS all_rows") if path is None else load_select(path)
    tree.set("from_", None)
    all_rows, *rule_items = tree.selects
    own_rules = {rule.alias: rule for rule in rule_items}
    in_column_order = [own_rules.pop(rule.alias, rule) for rule in _column_rules(declared)]
    tree.set("expressions", [all_rows, *in_column_order, *own_rules.values()])
    conditions: dict[str, exp.Expr] = {}
    meanings: dict[str, str] = {}
    for column in list(tree.selects):
        rule = RowCheck(column)
        referenced_columns = {
            reference.name
            for reference in column.find_all(exp.Column)
            if not reference.find_ancestor(exp.Comprehension) or reference.name in columns
        }
        condition = None if not rule.meaning else _violation_condition(column)
        is_applicable = referenced_columns <= set(columns) and (
            not rule.requirement or rule.requirement in required
        )
        if condition is not None:
            is_applicable = is_applicable and not (
                "NAN" in condition.sql() and not referenced_columns & fractional
            )
        if not is_applicable:
            column.pop()
        elif condition is not None:
            conditions[rule.name], meanings[rule.name] = condition, rule.meaning
        column.comments = None
    return RowRules(tree, conditions, meanings)


def _column_rules(declared: Sequence[ColumnSpec]) -> Iterator[exp.Expr]:
    """Yield the rules of ``inputs/column_rules.sql`` that apply to columns, such as
    ``null_label``.
    """
    rules = {rule.alias: rule for rule in load_select("inputs", "column_rules.sql").selects}
    for column in declared:
        applicable = {
            "null_value": not column.nullable and not column.is_measured,
            "null_measured": not column.nullable and column.is_measured,
            "nonbinary_flag": column.is_flag,
            "nan_value": column.type in {"number", "double"} or column.is_measured,
            "nan_key": column.nullable and column.type == "key",
            "unset_key": not column.nullable and column.type == "key",
            "negative_value": column.name == "weight",
            "extreme_value": column.name == "weight",
        }
        for name in (name for name, applies in applicable.items() if applies):
            rule = rules[name].copy()
            for reference in find_nodes(rule, exp.Column):
                reference.set("this", exp.to_identifier(column.name))
            rule.set("alias", exp.to_identifier(f"{name.partition('_')[0]}_{column.name}"))
            # A metric names a measured column as the table does.
            own_name = exp.to_identifier(column.description or column.name).sql("duckdb")
            rule.comments = [
                f"({own_name})".join(
                    part.replace("value", column.name) for part in comment.split("(value)")
                )
                for comment in rule.comments or ()
            ]
            yield rule


def valid_row_condition(conditions: Sequence[exp.Expr]) -> exp.Expr | None:
    """Return a condition that is TRUE exactly for valid rows, None if it could be NULL for one.

    A column in a list of numbers is neither NULL, NaN nor infinite, so these tests are omitted. In
    a range it could be NaN: DuckDB answers that from the minimum and maximum in Parquet metadata,
    which ignore NaN.
    """
    null_tested = {condition.this for condition in conditions if isinstance(condition, exp.Is)}
    rest = [condition for condition in conditions if not isinstance(condition, exp.Is)]
    if not all(
        null_tested.issuperset(rule.find_all(exp.Column))
        and all(isinstance(node, NULL_FREE_NODES) for node in rule.walk())
        for rule in rest
    ):
        return None
    bounds = [_range_condition(condition) for condition in conditions]
    bounded = {bound.this for bound in bounds if bound is not None}
    listed = {bound.this for bound in bounds if isinstance(bound, exp.In)}
    conjuncts = [
        bound or exp.not_(condition.copy())
        for condition, bound in zip(conditions, bounds, strict=True)
        if bound is not None or not _is_implied(condition, bounded, listed)
    ]
    return exp.and_(*conjuncts, copy=False) if conjuncts else None


def _range_condition(condition: exp.Expr) -> exp.Expr | None:
    """Negate a violated list (IN) or range (BETWEEN) of a column, None for other conditions."""
    if (
        isinstance(condition, exp.Not)
        and isinstance(condition.this, exp.In)
        and isinstance(condition.this.this, exp.Column)
    ):
        return condition.this.copy()
    if (
        isinstance(condition, exp.Or)
        and isinstance(condition.left, exp.LT)
        and isinstance(condition.right, exp.GT)
    ):
        (column, low), (other_column, high) = (
            comparison.unnest_operands() for comparison in (condition.left, condition.right)
        )
        if (
            column == other_column
            and isinstance(column, exp.Column)
            and isinstance(low, exp.Literal)
            and isinstance(high, exp.Literal)
        ):
            return exp.Between(this=column.copy(), low=low.copy(), high=high.copy())
    return None


def _is_implied(condition: exp.Expr, bounded: set[exp.Expr], listed: set[exp.Expr]) -> bool:
    """Return True if a condition only tests bounded columns for NULL or infinity, or listed ones
    also for NaN.
    """
    disjuncts = condition.flatten() if isinstance(condition, exp.Or) else [condition]
    return all(
        isinstance(disjunct, exp.Is | exp.IsNan | exp.IsInf)
        and disjunct.this in (listed if isinstance(disjunct, exp.IsNan) else bounded)
        for disjunct in disjuncts
    )


def _violation_condition(column: exp.Expr) -> exp.Expr:
    """Return the violation condition that a column counts.

    It is the condition of its CASE, or IS NULL for ``COUNT(*) - COUNT(x)``.
    """
    case = column.find(exp.If)
    return case.this if case is not None else is_null(next(column.find_all(exp.Column)).copy())


def _can_be_nan(duckdb_type: str) -> bool:
    return duckdb_type in {"FLOAT", "DOUBLE", ""} or duckdb_type.startswith("DECIMAL")


def advise_on_values(bound_input: BoundInput, rule: str, meaning: str) -> str:
    """Return the meaning of a rule with the mapping that its invalid values suggest, if any do, in
    the place of its own advice.
    """
    name = rule.partition("_")[2]
    choices_by_rule = load_select("inputs/advice", "row_advice.sql").selects
    is_of_metrics = (
        bound_input.role.name in load_registry().roles
    )  # other commands have no policies
    rules = [
        rule,
        *([f"{rule.partition('_')[0]}_value"] if is_of_metrics else []),
    ]  # that of the column, or that of every column
    entries = next(
        filter(
            None,
            (
                [entry for entry in choices_by_rule if entry.alias.startswith(f"{each}__")]
                for each in rules
            ),
        ),
        [],
    )
    if not entries or not bound_input.database.can_inspect or name not in bound_input.columns:
        return meaning
    problem, _, advice = meaning.partition(". ")
    rows = bound_input.select_columns([name], keep_types=True).subquery("input")
    facts = [entry.this.args["ifs"][0].this for entry in entries]
    fraction = "SUM(CASE WHEN value BETWEEN 0 AND 1 THEN 0 ELSE 1 END) = 0"
    query = exp.select(*facts, fraction).from_(
        exp.select(quoted_column(name).as_("value")).from_(rows).subquery("input")
    )
    *holds, are_fractions = bound_input.database.query_rows(query)[0]
    if rule == "nonbinary_label" and are_fractions:
        return f"{problem}. {_suggest_two_rows(bound_input)}"
    column = bound_expression(bound_input, name)
    choices = []
    for entry, is_true in zip(entries, holds, strict=True):
        value = (
            entry.this.args["ifs"][0]
            .args["true"]
            .transform(lambda node: column.copy() if isinstance(node, exp.Column) else node)
        )
        choices += (
            [
                (
                    f"{write_mapping({name: value}, bound_input.table.dialect)}"
                    f" {' '.join(entry.comments or ()).strip()}"
                )
            ]
            if is_true
            else []
        )
    if not choices:
        return meaning
    first = advice.partition(", ")[0] or "Map one to it"
    step = f"{problem}. {first}, such as" if first.startswith("Map") else f"{meaning} with"
    return f"{step} {', or '.join(choices)}"


def _suggest_two_rows(bound_input: BoundInput) -> str:
    """Return the advice for rates as labels: a row with label 1 and one with label 0, whose weights
    are their shares.
    """
    label = column_text(bound_input, "label")
    weight = column_text(bound_input, "weight") if "weight" in bound_input.columns else ""
    types = bound_input.table.types
    left_out = ", ".join(
        exp.to_identifier(name).sql("duckdb")
        for name in dict.fromkeys(
            (
                bound_input.columns["label"],
                bound_input.columns.get("weight", "weight"),
                "label",
                "weight",
            )
        )
        if name in types
    )
    source = bound_input.table.label
    if not bound_input.dialect.supports_file_readers or not names_files(source):
        shares = ("weight * rate", "weight * (1 - rate)") if weight else ("the rate", "1 - rate")
        return (
            f"Give a rate two rows: label 1 of weight {shares[0]}, and label 0 of weight"
            f" {shares[1]} (docs/inputs.md, Rates as labels)"
        )
    parts = [
        f"SELECT * EXCLUDE ({left_out}), {value} AS label,"
        f" {f'{weight} * ' if weight else ''}{share} AS weight FROM"
        f" {sql_literal(source).sql('duckdb')}"
        for value, share in ((1, label), (0, f"(1 - {label})"))
    ]
    return f"Of rates give two rows with weights, by the query {' UNION ALL '.join(parts)}"


def suggest_source_keys(inputs: Mapping[str, BoundInput], *, are_repeated: bool = False) -> str:
    """Return the advice that maps ids to unique ones by their sources, in all columns that do not
    read them yet; empty if there are none, or if none does and ids are not repeated.
    """
    columns = [
        (bound_input, name)
        for bound_input in inputs.values()
        if bound_input.table.column_types is not None and not bound_input.assembled_from
        for name, column in bound_input.role.columns.items()
        if column.references == _ENTITY and name in bound_input.columns
    ]
    names = [name for _, name in columns]
    keys: dict[str, exp.Expr] = {}
    lacking = []
    for bound_input, name in columns:
        value, source = bound_expression(bound_input, name), _find_source(bound_input, name)
        if source is None:
            lacking.append(bound_input.role.name)
        elif any(column.name == source for column in find_nodes(value, exp.Column)):
            are_repeated = True
        else:
            key = name if names.count(name) == 1 else f"{bound_input.role.name}.{name}"
            source_column = exp.column(exp.to_identifier(source))
            keys[key] = call_function("CONCAT", source_column, sql_literal("-"), value)
    if not keys or not are_repeated:
        return ""
    mapping = write_mapping(keys, columns[0][0].table.dialect)
    advice = f"Ids that are unique within a source are made unique by {mapping}"
    if lacking:
        advice += f". {lacking[0]} has no column of the source: give it a query with such ids"
    return advice


def explain_source_keys(inputs: Mapping[str, BoundInput], error: InputError) -> None:
    """Raise problems of ids with the advice on their sources in the place of their own, if ids are
    repeated, or others have their sources.
    """
    repeated = [
        message
        for bound_input in inputs.values()
        if _ENTITY in bound_input.columns and (message := bound_input.role.duplicate_message)
    ]
    text = str(error)
    are_repeated = any(message in text for message in repeated)
    if not (advice := suggest_source_keys(inputs, are_repeated=are_repeated)):
        return
    problems = []
    for problem in error.args:
        head, line_break, examples = problem.partition("\n")
        if any(name in head for name in (_ENTITY, *_PREFIXES)):
            head = f"{head.rpartition('. ')[0]}. {advice}"
        problems.append(f"{head}{line_break}{examples}")
    raise InputError(*problems) from error


def _find_source(bound_input: BoundInput, name: str) -> str | None:
    """Return the column with the source of an id: of its side in a pair, or of the row."""
    names = [
        f"{side}_{source}" if is_before else f"{source}_{side}"
        for source in _SOURCES
        for side in _PREFIXES.get(name, ())
        for is_before in (True, False)
    ]
    return next(filter(None, map(bound_input.table.find_column, (*names, *_SOURCES))), None)
