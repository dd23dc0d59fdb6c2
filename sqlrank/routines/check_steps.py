"""Check the rows and parameters that a function is given, and end the query with an error if any is wrong."""

from __future__ import annotations

from functools import lru_cache, reduce
from typing import TYPE_CHECKING, cast

from sqlglot import exp

from sqlrank.compiler.parameter_binding import symbolic_parameter
from sqlrank.compiler.select_builders import cast_double
from sqlrank.optimizer.statement_graph import is_aggregated
from sqlrank.rendering.dialect_rewrites import rewrite_for_dialect
from sqlrank.rendering.dialects import get_dialect
from sqlrank.routines.symbolic_statement import source_table
from sqlrank.routines.table_functions import CTE_PREFIX
from sqlrank.sql_ast import sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlrank.routines.input_checks import InputChecks
    from sqlrank.routines.symbolic_statement import RoutineParameter, SymbolicStatement

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


def _find_range_problems(parameters: Sequence[RoutineParameter], refer_to: Callable[[str], exp.Expr]) -> list[exp.Case]:
    """Return the message on each parameter with a range, which is NULL if its value is in range."""
    problems = []
    for parameter in parameters:
        declared = parameter.declared
        if declared is None:
            continue
        value = refer_to(parameter.name)
        low, high = sql_literal(declared.low), sql_literal(declared.high)
        is_above_low = exp.GT(this=value, expression=low) if declared.excludes_low else exp.GTE(this=value, expression=low)
        conditions: list[exp.Expr] = [
            is_above_low,
            exp.LTE(this=value.copy(), expression=high),
        ]  # also false for NaN, which is greater than all or nothing
        if declared.type == "integer":
            conditions.append(exp.EQ(this=value.copy(), expression=exp.Floor(this=value.copy())))
        value_text = exp.Coalesce(this=exp.cast(value.copy(), "TEXT"), expressions=[sql_literal("NULL")])
        message = _concatenate_texts(
            [sql_literal(f"{parameter.name} is "), value_text, sql_literal(f". It must be {declared.limited_range_text}")]
        )
        problems.append(exp.Case(ifs=[exp.If(this=exp.and_(*conditions), true=exp.null())], default=message))
    return problems


def refuse_ranges(value: exp.Expr, parameters: Sequence[RoutineParameter], dialect: str) -> exp.Expr:
    """Return an expression with symbolic parameters that ends the query with an error if one of them is out of range."""
    for problem in _find_range_problems(parameters, symbolic_parameter):
        if _converts_errors(dialect):  # some engines evaluate the conversion even if the parameter is in range
            value = exp.Case(ifs=[exp.If(this=exp.Not(this=_raise_error(problem, dialect)), true=value)])
        else:
            raised = _raise_error(problem.args["default"], dialect)
            value = exp.Case(ifs=[exp.If(this=problem.args["ifs"][0].this, true=value)], default=raised)
    return value


def _converts_errors(dialect: str) -> bool:
    """Return True if an error is raised by a conversion of its text."""
    facts = get_dialect(dialect)
    return facts.error_function is None or facts.error_function_converts


def _raise_error(message: exp.Expr, dialect: str) -> exp.Expr:
    """Return an expression that raises an error with a message; where it converts the message, it is false for NULL."""
    facts, is_converted = get_dialect(dialect), _converts_errors(dialect)
    raised: exp.Expr = exp.Coalesce(this=message, expressions=[sql_literal("0")]) if is_converted else message
    if facts.error_function is not None:
        raised = exp.Anonymous(this=facts.error_function, expressions=[raised])
    return exp.cast(raised, "BOOLEAN") if is_converted else raised


def _build_check(has_rows: bool, ranges: Sequence[exp.Case], dialect: str) -> exp.Select:
    """Return the query whose column ``is_valid`` is true, and which raises an error if there are wrong rows in the step of problems, or numbers out of range."""
    number = exp.cast(exp.Count(this=exp.Star()), "TEXT")
    message = exp.alias_(_concatenate_texts([exp.column("problem"), number, sql_literal(")")]), "message")
    messages = [exp.select(message).from_(PROBLEMS).group_by("problem")] if has_rows else []
    messages += [exp.select(exp.alias_(problem, "message")) for problem in ranges]
    raised = _raise_error(exp.Min(this=exp.column("message")), dialect)
    has_problem = exp.GT(this=exp.Count(this=exp.column("message")), expression=exp.Literal.number(0))
    is_valid = exp.Case(ifs=[exp.If(this=has_problem, true=raised)], default=exp.true())
    query = exp.select(exp.alias_(is_valid, "is_valid")).from_(union_all(messages).subquery("messages"))
    return cast("exp.Select", rewrite_for_dialect(query, dialect))


def add_checks(
    query: exp.Select,
    symbolic: SymbolicStatement,
    dialect: str,
    refer_to: Callable[[str], exp.Expr],
    checks_parameter: exp.Expr | None = None,
) -> None:
    """Add the steps that check parameters, and rows of inputs if ``checks_parameter``, to a query in place, and make it read their result."""
    if not symbolic.checks:
        return
    problems = [
        problem.copy()
        for role, checks in symbolic.checks.items()
        if role in symbolic.read_columns  # inputs that are not read are derived from one that is
        for problem in _build_problem_queries(
            role, checks, CTE_PREFIX + source_table(role), symbolic.find_group_column(role), dialect, checks_parameter
        )
    ]
    ranges = _find_range_problems(symbolic.parameters, refer_to)
    if not problems and not ranges:
        return
    steps: list[tuple[str, exp.Query]] = []
    if problems:
        problems[0].set("expressions", [exp.alias_(problems[0].selects[0], "problem")])
        steps.append((PROBLEMS, union_all(problems)))
    for name, step in [*steps, (CHECK, _build_check(bool(problems), ranges, dialect))]:
        query.args["with_"].append("expressions", exp.CTE(this=step, alias=exp.TableAlias(this=exp.to_identifier(name))))
    condition = exp.select("is_valid").from_(CHECK).subquery()
    is_aggregate = query.args.get("group") is not None or any(map(is_aggregated, query.selects))
    (query.having if is_aggregate else query.where)(condition, copy=False)  # once per group, and not for each of the rows


def _concatenate_texts(texts: Sequence[exp.Expr]) -> exp.Expr:
    return reduce(lambda text, following: exp.DPipe(this=text, expression=following), texts)
