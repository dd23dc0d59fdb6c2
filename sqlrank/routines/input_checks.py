"""Checks of the rows that are passed to a table function of DuckDB: a query with wrong rows ends with an error, as ``evaluate`` does."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, cast

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
    role_type, specs = bound_input.role, bound_input.role.columns
    unique = tuple(name for name in role_type.unique if name in columns or name not in role_type.optional_unique_columns)
    numbers = tuple(name for name in columns if name in specs and specs[name].is_number)
    is_deduplicated = any(request.library.row_filter(role, metric.settings) for metric in request.metrics)
    # A key may be a text, of which DuckDB does not know whether it is finite.
    return InputChecks(
        numbers,
        tuple(name for name in columns if name not in numbers),
        row_rules(role_type, bound_input.checks, columns, required_row_checks(request), lambda name: "" if name in numbers else "VARCHAR"),
        request.shared_policies.get("nulls", request.original.policies.get("nulls")) == "drop",
        () if is_deduplicated or not {*unique} <= {*columns} else unique,
        role_type.duplicate_message or f"({', '.join(unique)}) occurs more than once. Keep one row of each",
    )


@lru_cache(maxsize=256)
def build_problem_queries(role: str, checks: InputChecks, source: str, group: str | None) -> tuple[exp.Select, ...]:
    """Return queries over the rows of an input, with a row for each that is wrong: beginning of a message that ends with their number.

    Copy the queries before you use them.

    Args:
        role: The input.
        checks: Its checks.
        source: The step that reads it.
        group: The column of the group, if the step has it.
    """
    queries: list[exp.Select] = []
    wrong = {
        checks.rules.meanings[name]: condition
        for name, condition in checks.rules.conditions.items()
        if not (checks.drops_nulls and isinstance(condition, exp.Is))
    }
    is_on = exp.column(CHECKS_PARAMETER)
    if wrong:
        columns = [*(exp.alias_(cast_double(exp.column(name)), name) for name in checks.numbers), *map(exp.column, checks.keys)]
        rows = exp.select(*columns).from_(source).where(is_on)
        branches = [exp.If(this=condition.copy(), true=sql_literal(meaning)) for meaning, condition in wrong.items()]
        message = _concatenate_texts([sql_literal(f"{role}: "), exp.Case(ifs=branches), sql_literal(" (rows: ")])
        queries.append(exp.select(exp.alias_(message, "problem")).from_(rows.subquery(f"{role}_rows")))
    if checks.unique:
        keys = [exp.column(name) for name in (*([group] if group else []), *checks.unique)]
        message = sql_literal(f"{role}: {checks.duplicates} (keys: ")
        queries.append(exp.select(exp.alias_(message, "problem")).from_(source).where(is_on.copy()).group_by(*keys).having("COUNT(*) > 1"))
    return tuple(cast("exp.Select", rewrite_for_dialect(query, "duckdb")) for query in queries)


def build_check(problems: str) -> exp.Select:
    """Return the query over a step of problems whose column ``is_valid`` is true, and which raises an error if there are any."""
    counts = exp.select("problem", "COUNT(*) AS num_rows").from_(problems).where("problem IS NOT NULL").group_by("problem")
    problem, number = exp.column("problem"), exp.column("num_rows")
    message = _concatenate_texts([exp.Min(this=problem), exp.ArgMin(this=number, expression=problem.copy()), sql_literal(")")])
    raised = exp.cast(exp.Anonymous(this="ERROR", expressions=[message]), "BOOLEAN")
    has_problem = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    is_valid = exp.Case(ifs=[exp.If(this=has_problem, true=raised)], default=exp.true())
    query = exp.select(exp.alias_(is_valid, "is_valid")).from_(counts.subquery("problem_counts"))
    return cast("exp.Select", rewrite_for_dialect(query, "duckdb"))


def _concatenate_texts(texts: Sequence[exp.Expr]) -> exp.Expr:
    return reduce(lambda text, following: exp.DPipe(this=text, expression=following), texts)
