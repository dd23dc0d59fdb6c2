"""Find tests that every row passes in a printed statement, and expressions with a shorter idiom in
the dialect.
"""

from collections import Counter
from collections.abc import Iterator

from sqlglot import exp

from tests.engines.golden.expression_faults import describe_place, shorten_text

WITHOUT_WINDOW_CLAUSE = frozenset({"snowflake", "redshift", "tsql"})
WITH_NUMBER_SERIES = frozenset({"bigquery", "duckdb", "spark", "databricks", "trino", "clickhouse"})

_LIMITS = {
    exp.GT: (exp.GT, exp.GTE),
    exp.GTE: (exp.GTE,),
    exp.LT: (exp.LT, exp.LTE),
    exp.LTE: (exp.LTE,),
    exp.EQ: (exp.EQ,),
}
"""Comparisons with a number, with those that they imply."""


def idiom_faults(query: exp.Query, dialect: str) -> Iterator[str]:
    """Yield a sentence for each part of a query that its dialect, or a condition beside it, makes
    superfluous.
    """
    clause = query.args.get("with_")
    ctes = {cte.alias: cte.this for cte in clause.expressions} if clause else {}
    if dialect in WITH_NUMBER_SERIES and "digits" in ctes:
        yield "CTE digits: the dialect has series of numbers"
    for select in query.find_all(exp.Select):
        if dialect not in WITHOUT_WINDOW_CLAUSE:
            yield from _repeated_frames(select, dialect)
        yield from _implied_conditions(select, ctes, dialect)
        yield from _always_null(select, query)


def _repeated_frames(select: exp.Select, dialect: str) -> Iterator[str]:
    """Yield a sentence for each frame that is written several times."""
    frames = Counter(
        window.sql(dialect).removeprefix(window.this.sql(dialect)).strip()
        for window in select.find_all(exp.Window)
        if window.parent_select is select
        and window.args.get("spec")
        and window.arg_key != "windows"
    )
    yield from (
        f"{describe_place(select)}: {frame} is written {count} times"
        for frame, count in frames.items()
        if count > 1
    )


def _implied_conditions(
    select: exp.Select, ctes: dict[str, exp.Expr], dialect: str
) -> Iterator[str]:
    """Yield a sentence for each test of a column that the WHERE of its SELECT, or of the CTE that
    it is read from, says already.
    """
    own = [test for test in _conjuncts(select) if isinstance(test.this, exp.Column)]
    read = _conditions_read(select, ctes)
    for test in select.find_all(*_LIMITS):
        if (
            test.parent_select is not select
            or not isinstance(test.this, exp.Column)
            or test.find_ancestor(exp.Join)
        ):
            continue
        known = read if test.find_ancestor(exp.Where) else [*own, *read]
        if any(_implies(condition, test) for condition in known):
            yield f"{describe_place(test)}: {shorten_text(test, dialect)} is true of each row"
    for guard in select.find_all(exp.Nullif):
        if (
            guard.parent_select is select
            and isinstance(guard.this, exp.Count)
            and select.args.get("group")
            and _is_zero(guard.expression)
        ):
            is_of_rows = isinstance(guard.this.this, exp.Star) and not isinstance(
                guard.this.parent, exp.Window
            )
            if is_of_rows:
                yield f"{describe_place(guard)}: {shorten_text(guard, dialect)}: a group has rows"


def _conditions_read(select: exp.Select, ctes: dict[str, exp.Expr]) -> list[exp.Expr]:
    """Return the conditions of the CTE after FROM, in terms of the columns that a SELECT without
    joins reads.
    """
    source = select.args["from_"].this if select.args.get("from_") else None
    query = ctes.get(source.name) if isinstance(source, exp.Table) and not source.db else None
    if select.args.get("joins") or not isinstance(query, exp.Select):
        return []
    names = {
        item.this.name: item.alias
        for item in query.expressions
        if isinstance(item, exp.Alias) and isinstance(item.this, exp.Column)
    }
    names |= {item.name: item.name for item in query.expressions if isinstance(item, exp.Column)}
    tests = [
        test.copy()
        for test in _conjuncts(query)
        if isinstance(test.this, exp.Column) and test.this.name in names
    ]
    for test in tests:
        test.this.set("this", exp.to_identifier(names[test.this.name]))
    return tests


def _conjuncts(select: exp.Select) -> list[exp.Expr]:
    where = select.args.get("where")
    parts = (
        list(where.this.flatten())
        if where and isinstance(where.this, exp.And)
        else [where.this]
        if where
        else []
    )
    return [part.unnest() for part in parts if type(part.unnest()) in _LIMITS]


def _implies(condition: exp.Expr, test: exp.Expr) -> bool:
    """Return True if a comparison with a number is true wherever another is."""
    numbers = [side.expression.unnest() for side in (condition, test)]
    if condition.this.name != test.this.name or not all(
        isinstance(number, exp.Literal) and number.is_number for number in numbers
    ):
        return False
    if (condition.this.table or test.this.table) and condition.this.table != test.this.table:
        return False
    known, tested = (float(number.name) for number in numbers)
    if known == tested:
        return type(test) in _LIMITS[type(condition)]
    is_lower_bound = isinstance(condition, (exp.GT, exp.GTE)) and isinstance(
        test, (exp.GT, exp.GTE)
    )
    is_upper_bound = isinstance(condition, (exp.LT, exp.LTE)) and isinstance(
        test, (exp.LT, exp.LTE)
    )
    return (is_lower_bound and known > tested) or (is_upper_bound and known < tested)


def _is_zero(node: exp.Expr) -> bool:
    return isinstance(node, exp.Literal) and node.name == "0"


def _always_null(select: exp.Select, query: exp.Query) -> Iterator[str]:
    """Yield a sentence for each column of a CTE that is NULL in every row; members of a UNION have
    it for the others.
    """
    is_member = isinstance(select.parent, exp.SetOperation)
    for item in select.expressions if select is not query and not is_member else ():
        value = item.unalias()
        value = value.this if isinstance(value, exp.Cast) else value
        if isinstance(value, exp.Null) and not any(
            _is_computed_with(column, item.alias) for column in query.find_all(exp.Column)
        ):
            yield f"{describe_place(item)}: always NULL"


def _is_computed_with(column: exp.Column, name: str) -> bool:
    """Return True if a column of this name is a part of an expression that is no comparison of
    keys.
    """
    parts = (exp.Select, exp.Alias, exp.Group, exp.Window, exp.Ordered, exp.NullSafeEQ)
    return column.name == name and not isinstance(column.parent, parts)
