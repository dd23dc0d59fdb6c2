"""Checks of the rows that are passed to a table function of DuckDB: a query with wrong rows ends with an error, as ``evaluate`` does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.select_builders import cast_double
from sqlrank.inputs.row_rules import RowRules, row_rules
from sqlrank.prepare import required_row_checks
from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.inputs.column_binding import BoundInputs
    from sqlrank.resolve import ResolvedRequest

CHECKS_PARAMETER = "checks"
"""Parameter of a table function, false if rows are not checked."""


@dataclass(frozen=True)
class InputChecks:
    """The checks of an input's rows.

    Attributes:
        numbers: Columns that are read as numbers.
        keys: Columns that are read as they are.
        rules: Rules of rows.
        drops_nulls: Rows with NULL are left out by a policy, and are not wrong.
        unique: Columns of which no two rows of a group have the same values; none if they may.
        duplicates: Meaning of such rows.
    """

    numbers: tuple[str, ...]
    keys: tuple[str, ...]
    rules: RowRules
    drops_nulls: bool
    unique: tuple[str, ...]
    duplicates: str


def find_input_checks(request: ResolvedRequest, inputs: BoundInputs) -> dict[str, InputChecks]:
    """Find the checks of the inputs of a statement, by role."""
    return {role: _find_checks(role, columns, request, inputs) for role, columns in inputs.needed_columns.items() if role in inputs.by_role}


def _find_checks(role: str, columns: Sequence[str], request: ResolvedRequest, inputs: BoundInputs) -> InputChecks:
    bound_input = inputs.by_role[role]
    specs, unique = bound_input.role.columns, tuple(bound_input.role.unique)
    numbers = tuple(name for name in columns if name in specs and specs[name].is_number)
    is_deduplicated = any(request.library.row_filter(role, metric.settings) for metric in request.metrics)
    return InputChecks(
        numbers,
        tuple(name for name in columns if name not in numbers),
        row_rules(bound_input.role, bound_input.checks, columns, required_row_checks(request)),
        request.shared_policies.get("nulls", request.original.policies.get("nulls")) == "drop",
        () if is_deduplicated or not {*unique} <= {*columns} else unique,
        bound_input.role.duplicate_message or f"({', '.join(unique)}) occurs more than once; keep one row of each",
    )


@lru_cache(maxsize=256)
def build_check_steps(role: str, checks: InputChecks, source: str, group: str | None) -> tuple[tuple[str, exp.Expr], ...]:
    """Return steps by name, of which those that end in ``_checks`` have one row, whose column is true, or end a query with an error.

    Copy the steps before you use them.

    Args:
        role: The input.
        checks: Its checks.
        source: The step that reads it, whose name the names of the steps begin with.
        group: The column of the group, if the step has it.
    """
    steps: dict[str, exp.Select] = {}
    wrong = {
        checks.rules.meanings[name]: condition
        for name, condition in checks.rules.conditions.items()
        if not (checks.drops_nulls and isinstance(condition, exp.Is))
    }
    is_on = exp.column(CHECKS_PARAMETER)
    if wrong:
        columns = [*(exp.alias_(cast_double(exp.column(name)), name) for name in checks.numbers), *map(exp.column, checks.keys)]
        counts = [
            exp.alias_(exp.Sum(this=exp.Case(ifs=[exp.If(this=condition.copy(), true=exp.Literal.number(1))])), f"problem_{number}")
            for number, condition in enumerate(wrong.values())
        ]
        errors = [_error(exp.column(f"problem_{number}"), f"{role}: {meaning} (rows: ") for number, meaning in enumerate(wrong)]
        steps[f"{source}_values"] = exp.select(*columns).from_(source).where(is_on)
        steps[f"{source}_problems"] = exp.select(*counts).from_(f"{source}_values")
        steps[f"{source}_row_checks"] = _check(errors).from_(f"{source}_problems")
    if checks.unique:
        keys = [exp.column(name) for name in (*([group] if group else []), *checks.unique)]
        times = exp.alias_(exp.Count(this=exp.Star()), "times")
        steps[f"{source}_duplicates"] = exp.select(times).from_(source).where(is_on).group_by(*keys).having("COUNT(*) > 1")
        error = _error(exp.Count(this=exp.Star()), f"{role}: {checks.duplicates} (keys: ")
        steps[f"{source}_key_checks"] = _check([error]).from_(f"{source}_duplicates")
    return tuple((name, rewrite_for_dialect(step, "duckdb")) for name, step in steps.items())


def _error(number: exp.Expr, message: str) -> exp.If:
    """Return the branch that raises an error with a number if that is above 0."""
    text = exp.DPipe(this=sql_literal(message), expression=exp.DPipe(this=exp.cast(number, "BIGINT"), expression=sql_literal(")")))
    raised = exp.cast(exp.Anonymous(this="ERROR", expressions=[text]), "BOOLEAN")
    return exp.If(this=exp.GT(this=number.copy(), expression=exp.Literal.number(0)), true=raised)


def _check(errors: list[exp.If]) -> exp.Select:
    return exp.select(exp.alias_(exp.Case(ifs=errors, default=exp.true()), "is_valid"))
