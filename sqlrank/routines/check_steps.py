"""Add CTEs to a table function that check the rows passed to it, and end the query with an error if rows are wrong."""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from sqlrank.compiler.select_builders import cast_double
from sqlrank.optimizer.statement_graph import is_aggregated
from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.dialects import get_dialect
from sqlrank.routines.symbolic_statement import source_table
from sqlrank.routines.table_functions import CTE_PREFIX
from sqlrank.sql_ast import sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.routines.input_checks import InputChecks
    from sqlrank.routines.symbolic_statement import SymbolicStatement

CHECKS_PARAMETER = "checks"
"""Parameter of a table function, false if rows are not checked."""

PROBLEMS, CHECK = f"{CTE_PREFIX}problems", f"{CTE_PREFIX}check"
"""Steps of a table function: one row per wrong row of its inputs, and one that ends the query with an error if there are any."""


@lru_cache(maxsize=256)
def _build_problem_queries(
    role: str, checks: InputChecks, source: str, group: str | None, dialect: str, checks_parameter: exp.Expr | None
) -> tuple[exp.Select, ...]:
    """Return queries over the rows of an input, with a row for each that is wrong: beginning of a message that ends with their number.

    Copy the queries before you use them.

    Args:
        role: The input.
        checks: Its checks.
        source: The step that reads it.
        group: The column of the group, if the step has it.
        dialect: SQL dialect.
        checks_parameter: Reference to the parameter ``CHECKS_PARAMETER``, if the function has it.
    """
    queries: list[exp.Select] = []
    wrong = {
        checks.rules.meanings[name]: condition
        for name, condition in checks.rules.conditions.items()
        if not (checks.drops_nulls and isinstance(condition, exp.Is))
    }
    conditions = [] if checks_parameter is None else [checks_parameter]
    if wrong:
        columns = [*(exp.alias_(cast_double(exp.column(name)), name) for name in checks.numbers), *map(exp.column, checks.keys)]
        rows = exp.select(*columns).from_(source).where(*conditions)
        branches = [exp.If(this=condition.copy(), true=sql_literal(meaning)) for meaning, condition in wrong.items()]
        message = _concatenate_texts([sql_literal(f"{role}: "), exp.Case(ifs=branches), sql_literal(" (rows: ")])
        is_wrong = exp.or_(*wrong.values())  # which takes less time than to name the problem of each row
        queries.append(exp.select(message).from_(rows.subquery(role)).where(is_wrong))
    if checks.unique:
        keys = [exp.column(name) for name in (*([group] if group else []), *checks.unique)]
        message = sql_literal(f"{role}: {checks.duplicates} (keys: ")
        queries.append(exp.select(message).from_(source).where(*conditions).group_by(*keys).having("COUNT(*) > 1"))
    return tuple(cast("exp.Select", rewrite_for_dialect(query, dialect)) for query in queries)


def _build_check(dialect: str) -> exp.Select:
    """Return the query over the step of problems whose column ``is_valid`` is true, and which raises an error if there are any."""
    number = exp.cast(exp.Count(this=exp.Star()), "TEXT")
    message = exp.alias_(_concatenate_texts([exp.column("problem"), number, sql_literal(")")]), "message")
    counts = exp.select(message).from_(PROBLEMS).group_by("problem")
    facts = get_dialect(dialect)
    is_converted = facts.error_function is None or facts.error_function_converts
    raised: exp.Expr = exp.Min(this=exp.column("message"))
    if is_converted:  # some engines evaluate the cast even if no row is wrong
        raised = exp.Coalesce(this=raised, expressions=[sql_literal("0")])
    if facts.error_function is not None:
        raised = exp.Anonymous(this=facts.error_function, expressions=[raised])
    raised = exp.cast(raised, "BOOLEAN") if is_converted else raised
    has_problem = exp.GT(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    is_valid = exp.Case(ifs=[exp.If(this=has_problem, true=raised)], default=exp.true())
    query = exp.select(exp.alias_(is_valid, "is_valid")).from_(counts.subquery("counts"))
    return cast("exp.Select", rewrite_for_dialect(query, dialect))


def add_checks(query: exp.Select, symbolic: SymbolicStatement, dialect: str, checks_parameter: exp.Expr | None = None) -> None:
    """Add the steps that check the rows of inputs, if ``checks_parameter``, to a query in place, and make it read their result."""
    problems = [
        problem.copy()
        for role, checks in symbolic.checks.items()
        if role in symbolic.read_columns  # inputs that are not read are derived from one that is
        for problem in _build_problem_queries(
            role, checks, CTE_PREFIX + source_table(role), symbolic.find_group_column(role), dialect, checks_parameter
        )
    ]
    if not problems:
        return
    problems[0].set("expressions", [exp.alias_(problems[0].selects[0], "problem")])
    problem_rows = problems[0] if len(problems) == 1 else exp.union(*problems, distinct=False)
    for name, step in ((PROBLEMS, problem_rows), (CHECK, _build_check(dialect))):
        query.args["with_"].append("expressions", exp.CTE(this=step, alias=exp.TableAlias(this=exp.to_identifier(name))))
    condition = exp.select("is_valid").from_(CHECK).subquery()
    is_aggregate = query.args.get("group") is not None or any(map(is_aggregated, query.selects))
    (query.having if is_aggregate else query.where)(condition, copy=False)  # once per group, and not for each of the rows


def _concatenate_texts(texts: Sequence[exp.Expr]) -> exp.Expr:
    return reduce(lambda text, following: exp.DPipe(this=text, expression=following), texts)
