"""Write the checks of input rows as a statement: a row per input and rule, with the number of rows
that break it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.inputs.row_rules import row_rules
from sqlrank.sql_ast import count_rows, quoted_column, sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from sqlrank.inputs.bound_input import BoundInput
    from sqlrank.inputs.column_binding import BoundInputs


def build_audit(
    inputs: BoundInputs, required: Sequence[str], deduplicated: Collection[str]
) -> exp.Query:
    """Return the statement of the checks of the inputs.

    Args:
        inputs: The inputs of a request.
        required: Row checks of its metrics, such as ``binary labels``.
        deduplicated: Roles whose repeated rows a policy leaves out.
    """
    return union_all(
        [
            query
            for role, columns in inputs.needed_columns.items()
            if role in inputs.by_role
            for query in _count_violations(
                inputs.by_role[role], columns, required, role not in deduplicated
            )
        ]
    )


def _count_violations(
    bound_input: BoundInput, columns: Sequence[str], required: Sequence[str], is_unique: bool
) -> Iterator[exp.Select]:
    """Yield a query of one row for each rule of an input, and for its keys."""
    role = bound_input.role
    rows = bound_input.select_columns(columns, for_display=True, keep_types=True)
    rules = row_rules(role, bound_input.checks, columns, required, bound_input.column_type)
    for name, condition in rules.conditions.items():
        yield (
            _select_count(role.name, rules.meanings[name])
            .from_(rows.subquery(role.name))
            .where(condition.copy())
        )
    if is_unique and role.unique and {*bound_input.unique_columns} <= {*columns}:
        keys = [
            *map(quoted_column, bound_input.group_names),
            *map(exp.column, bound_input.unique_columns),
        ]
        repeated = (
            exp.select(*keys).from_(rows.subquery(role.name)).group_by(*keys).having("COUNT(*) > 1")
        )
        names = ", ".join(key.name for key in keys)
        yield _select_count(
            role.name, role.duplicate_message or f"({names}) occurs more than once"
        ).from_(repeated.subquery("repeated"))


def _select_count(role: str, problem: str) -> exp.Select:
    """Return a query that counts rows beside the name of an input and the rule that they break."""
    return exp.select(
        exp.alias_(sql_literal(role), "input"),
        exp.alias_(sql_literal(problem), "problem"),
        exp.alias_(count_rows(), "num_rows"),
    )
