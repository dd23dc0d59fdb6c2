"""Find the checks of rows that are passed to a table function: rules of rows, unique columns, and their messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlrank.inputs.row_rules import RowRules, row_rules
from sqlrank.prepare import required_row_checks

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.inputs.column_binding import BoundInputs
    from sqlrank.resolve import ResolvedRequest


@dataclass(frozen=True)
class InputChecks:
    """The checks of an input's rows.

    Attributes:
        numbers: Columns that are read as numbers.
        keys: Columns that are read as they are.
        rules: Rules of rows.
        drops_nulls: Rows with NULL are left out by a policy, and are not wrong.
        unique: Columns of which no two rows of a group have the same values; empty if duplicates are allowed.
        duplicates: Message on such rows.
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
    # Keys are treated as texts, so that no rule tests if they are finite: DuckDB cannot of a text.
    return InputChecks(
        numbers,
        tuple(name for name in columns if name not in numbers),
        row_rules(role_type, bound_input.checks, columns, required_row_checks(request), lambda name: "" if name in numbers else "VARCHAR"),
        request.shared_policies.get("nulls", request.original.policies.get("nulls")) == "drop",
        () if is_deduplicated or not {*unique} <= {*columns} else unique,
        role_type.duplicate_message or f"({', '.join(unique)}) occurs more than once. Keep one row of each",
    )
