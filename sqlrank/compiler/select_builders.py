"""Build the expressions and SELECTs that several compilers write: functions inlined and parameters
bound by settings, tables, joins, casts and groups.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.row_keys import (
    GROUP_ID,
    LIST_ID,
    SLICE_NUMBER,
    KeyColumns,
    KeysByName,
    key_column,
    key_equalities,
)
from sqlrank.errors import MetricError
from sqlrank.registry.metric import ParameterValue, SymbolicNumber
from sqlrank.registry.resolved_metric import CUTOFF_COLUMN, CUTOFF_PLACEHOLDER
from sqlrank.registry.sql_file import NO_CUTOFF, UNBOUNDED, Parameter
from sqlrank.rendering.optimizer.constants import fold_constants
from sqlrank.result_columns import SLICE_COLUMN
from sqlrank.sql_ast import (
    DOUBLE,
    add_terms,
    case_when,
    find_nodes,
    is_not_null,
    sql_literal,
    union_all,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from sqlrank.compiler.layout import GroupingLayout, KeyedCte
    from sqlrank.registry.registry import Registry
    from sqlrank.sql_ast import Node

MAX_GAIN = 1e90
"""Largest gain of a grade.

The row checks set the same limit for grades themselves.
"""


def bind_parameters(
    library: Registry,
    tree: exp.Expr,
    settings: Mapping[str, ParameterValue],
    params: Mapping[str, Parameter],
) -> exp.Expr:
    """Return a copy with functions inlined and ``$parameters`` replaced by their values.

    A symbolic number becomes a parameter of the statement. A cut-off that is read from a column
    becomes a column of the placeholder table ``CUTOFF_PLACEHOLDER``, which
    :func:`sqlrank.compiler.row_keys.expand_keys` resolves.
    """
    return _bind_tree(library, tree.copy(), settings, params)


def _bind_tree(
    library: Registry,
    tree: exp.Expr,
    settings: Mapping[str, ParameterValue],
    params: Mapping[str, Parameter],
) -> exp.Expr:
    holder = exp.Paren(this=tree)
    for node in find_nodes(holder, exp.Placeholder):
        value = settings.get(node.name, params[node.name].default)
        if isinstance(value, SymbolicNumber):
            node.replace(symbolic_parameter(value.name))
        elif (
            value == NO_CUTOFF
            and (series := node.find_ancestor(exp.GenerateSeries))
            and isinstance(series.parent, exp.Anonymous)
        ):
            series.parent.replace(series.parent.expressions[0])
        elif (
            value in {NO_CUTOFF, UNBOUNDED}
            and isinstance(node.parent, (exp.LTE, exp.GT, exp.GTE))
            and node is node.parent.expression
        ):
            _drop_unlimited_comparison(node.parent)
        elif value == CUTOFF_PLACEHOLDER:
            node.replace(exp.column(CUTOFF_COLUMN, table=CUTOFF_PLACEHOLDER))
        elif params[node.name].is_column:
            node.replace(exp.column(str(value)))
        elif value is None or isinstance(value, tuple):
            raise MetricError(f"a list of values is not possible here: {value!r}. Give one value")
        else:
            node.replace(sql_literal(value))
    inline_functions(library, holder, settings)
    fold_constants(holder)
    bound: exp.Expr = holder.this
    return bound


def inline_functions(library: Registry, tree: Node, settings: Mapping[str, ParameterValue]) -> Node:
    """Replace the calls of functions of the library by their bodies, in place; others are of an
    engine.
    """
    calls = [
        call for call in find_nodes(tree, exp.Anonymous) if call.name.lower() in library.functions
    ]
    for call in calls:
        if call.find_ancestor(exp.Anonymous) is None and call.root() is tree:
            call.replace(inline_function(library, call.name.lower(), call.expressions, settings))
    return tree


def symbolic_parameter(name: str) -> exp.Parameter:
    """Return the reference to a parameter of the statement, which its reader binds."""
    return exp.Parameter(this=exp.var(name))


def inline_function(
    library: Registry, slot: str, arguments: list[exp.Expr], settings: Mapping[str, ParameterValue]
) -> exp.Expr:
    """Return the body of the function that fills a slot, applied to arguments."""
    chosen = library.choose_function(slot, settings)
    if isinstance(chosen, tuple):
        return _case_from_map(slot, chosen, arguments, library.function_arguments(slot))
    file = library.find_function(slot, str(chosen))
    body = exp.Paren(this=file.tree.copy())
    values = dict(zip(file.function_arguments, arguments, strict=True))
    for column in find_nodes(body, exp.Column):
        if column.name in values and not column.table:
            column.replace(parenthesize_operator(values[column.name].copy()))
    return _bind_tree(library, parenthesize_operator(body.this), settings, file.params)


def _drop_unlimited_comparison(comparison: exp.LTE | exp.GT | exp.GTE) -> None:
    """Simplify ``rank <= all`` to ``rank IS NOT NULL``, and ``rank > all`` and ``rank >= all`` to
    FALSE.

    A WHERE clause that consists of it is removed, because engines would guess a selectivity for it.
    """
    if isinstance(comparison, (exp.GT, exp.GTE)):
        comparison.replace(exp.false())
    elif isinstance(comparison.parent, exp.Where):
        comparison.parent.pop()
    else:
        comparison.replace(is_not_null(comparison.this))


def _case_from_map(
    slot: str, pairs: tuple[Any, ...], arguments: list[exp.Expr], argument_names: tuple[str, ...]
) -> exp.Expr:
    """Return a CASE expression that maps grades to gains, or ranks to discounts.

    Unlisted grades keep their value; unlisted ranks get 0.
    """
    if argument_names not in {("relevance",), ("rank",)} or not all(
        isinstance(pair, tuple) for pair in pairs
    ):
        raise MetricError(f"{slot} cannot be a map. Only functions of a grade or a rank can")
    (argument,) = arguments
    maps_grades = argument_names == ("relevance",)
    if maps_grades and pairs[0][0] <= 0:
        raise MetricError(
            f"{slot} maps grade {pairs[0][0]:g}. Only grades above 0 can be given a gain"
        )
    if not maps_grades and (
        [key for key, _ in pairs] != list(range(1, len(pairs) + 1)) or pairs[0][1] <= 0
    ):
        raise MetricError(
            f"{slot} maps {', '.join(f'{key:g}' for key, _ in pairs)}. Name ranks from 1 on, none"
            " left out, the first above 0"
        )
    case = exp.Case(ifs=[], default=argument.copy() if maps_grades else sql_literal(0))
    for key, value in pairs:
        if maps_grades and abs(value) > MAX_GAIN:
            raise MetricError(
                f"{slot} gives grade {key:g} {value:g}. Give at most {MAX_GAIN:g}, so that sums are"
                " numbers"
            )
        case.append(
            "ifs",
            exp.If(
                this=exp.EQ(this=argument.copy(), expression=sql_literal(key)),
                true=sql_literal(value),
            ),
        )
    return case


def parenthesize_operator(node: exp.Expr) -> exp.Expr:
    """Return an operator in parentheses, as an operand of another, and other nodes as given."""
    return exp.paren(node) if isinstance(node, (exp.Binary, exp.Neg)) else node


def aliased_table(cte: str, alias: str) -> exp.Expr:
    """Return a CTE under the alias by which a file reads it."""
    return exp.table_(cte, alias=None if cte == alias else alias)


def rename_ctes(tree: exp.Query, names: Mapping[str, str]) -> exp.Query:
    """Rename the tables that a query reads, in place; they keep their aliases."""
    for table in find_nodes(tree, exp.Table) if names else ():
        if names.get(table.name, table.name) != table.name:
            table.replace(aliased_table(names[table.name], table.alias_or_name))
    return tree


def group_by_key(query: exp.Select, keys: KeyColumns) -> exp.Select:
    """Group by the columns of a key, if it has any."""
    return query.group_by(*map(key_column, keys.columns)) if keys.columns else query


def aggregate_by_key(cte: str, keys: KeyColumns, columns: Mapping[str, exp.Expr]) -> exp.Select:
    """Return the query of a row for each key of a CTE, with aggregates by their names."""
    aggregates = (value.as_(name) for name, value in columns.items())
    return group_by_key(exp.select(*map(key_column, keys.columns), *aggregates).from_(cte), keys)


def select_columns(cte: str, names: Iterable[str], keys: Collection[str]) -> exp.Select:
    """Return the query of columns of a CTE, of which some are keys."""
    return exp.select(
        *(key_column(name) if name in keys else exp.column(name) for name in names)
    ).from_(cte)


def have_weights(queries: Iterable[exp.Query]) -> bool:
    """Return True if rows of any of the queries have weights other than a constant."""
    items = (item for query in queries for item in query.selects)
    return any(item.alias_or_name == "weight" and item.find(exp.Column) for item in items)


def join_on_key(
    query: exp.Select, base_cte: str, cte: KeyedCte, cutoffs: str | None = None
) -> exp.Select:
    """Join the row of a CTE for the same group and, if present, cut-off."""
    on = key_equalities(cte.keys.without_cutoff, cte.step, base_cte, cte.keys.nullable)
    if cte.keys.has_cutoff:
        on += key_equalities([CUTOFF_COLUMN], cte.step, cutoffs or base_cte, nullable=False)
    return join_source(query, cte.step, on)


def join_source(
    query: exp.Select, source: str | exp.Expr, conditions: Sequence[exp.Expr], side: str = "left"
) -> exp.Select:
    """Join a source under conditions, or cross join it if there are none."""
    if not conditions:
        return query.join(source, join_type="cross", copy=False)
    return query.join(source, on=exp.and_(*conditions, wrap=False), join_type=side, copy=False)


def cross_join_cutoffs(query: exp.Select, cutoffs: str | None) -> exp.Select:
    """Cross join the cut-offs of a range, if there is one."""
    return query if cutoffs is None else query.join(cutoffs, join_type="cross", copy=False)


def order_rows(query: exp.Select, keys: Sequence[exp.Expr]) -> exp.Select:
    """Order by columns, NULL first; grouping names are never NULL."""
    terms = [
        key.copy() if key.name == SLICE_COLUMN else exp.Ordered(this=key.copy(), nulls_first=True)
        for key in keys
    ]
    return query.order_by(*terms) if keys else query


def slice_label(shape: GroupingLayout, cte: str | None = None) -> exp.Expr:
    """Return the name of a row's grouping set as a CASE expression."""
    case = exp.Case(ifs=[])
    for number, label in enumerate(shape.labels):
        case.append("ifs", exp.If(this=_is_in_groupings([number], cte), true=sql_literal(label)))
    return case.as_(SLICE_COLUMN)


def cross_join_slices(cte: str, columns: Sequence[str], shape: GroupingLayout) -> exp.Select:
    """Repeat the rows of a CTE for each grouping set.

    Columns that a set does not group by are NULL.
    """
    first: Any = exp.select(sql_literal(0).as_(SLICE_NUMBER))
    first.comments = ["One row per grouping."]
    numbers_query = first
    for number in range(1, len(shape.grouping_sets or ())):
        numbers_query = exp.union(
            numbers_query,
            exp.select(exp.Literal.number(number).as_(SLICE_NUMBER)),
            distinct=False,
            copy=False,
        )
    select_items: list[exp.Expr] = []
    for name in columns:
        slice_numbers = [
            number for number, group in enumerate(shape.grouping_sets or ()) if name in group
        ]
        if name not in shape.group_names:
            select_items.append(exp.column(name, table=cte))
            continue
        column = key_column(name, cte)
        value = (
            case_when(_is_in_groupings(slice_numbers, "slices"), column)
            if slice_numbers
            else exp.Null()
        )
        select_items.append(value.as_(column.this.copy()))
    return (
        exp.select(*select_items, exp.column(SLICE_NUMBER, table="slices"))
        .from_(cte)
        .join(numbers_query.subquery("slices"), join_type="cross")
    )


def _is_in_groupings(numbers: Sequence[int], cte: str | None) -> exp.Expr:
    """Return the condition that a row belongs to one of these grouping sets."""
    column = exp.column(SLICE_NUMBER, table=cte)
    return column.eq(numbers[0]) if len(numbers) == 1 else column.isin(*numbers)


MAX_DOUBLE = "1.7976931348623157e308"
"""Largest double; NaN compares as greater, or with nothing."""


def null_if_not_finite(node: exp.Expr, *terms: exp.Expr) -> exp.Expr:
    """Return a number, NULL if it is infinite or NaN.

    For sums and differences the ``terms`` are tested. Databend rewrites a comparison of a
    difference with such a large number wrongly.
    """
    sizes: list[exp.Expr] = [exp.Abs(this=term.copy()) for term in terms or [node]]
    size = add_terms(sizes)
    is_finite = exp.LTE(this=size, expression=exp.Literal.number(MAX_DOUBLE))
    return case_when(is_finite, node)


def cast_double(node: exp.Expr) -> exp.Cast:
    """Cast an expression to double, the type of metrics in the result."""
    return exp.cast(node, DOUBLE)


def union_slices(
    query: exp.Query, keys: KeysByName, shape: GroupingLayout
) -> tuple[exp.Query, KeysByName]:
    """Repeat the rows of a query for each grouping set.

    Columns that a set does not group by are NULL, and a query with GROUP BY does not group by them.
    Columns that also identify lists are kept under another name.

    >>> import sqlglot
    >>> from sqlrank.compiler.layout import GroupColumn, GroupingLayout
    >>> shape = GroupingLayout((GroupColumn("day", "day", "day"),), [["day"], []], ("day", "all"))
    >>> query = sqlglot.parse_one('SELECT "day", SUM(x) AS x FROM t GROUP BY "day"')
    >>> print(union_slices(query, {"group_id": KeyColumns(("day",))}, shape)[0].sql())
    SELECT "day", SUM(x) AS x, 0 AS slice_number FROM t GROUP BY "day" UNION ALL SELECT NULL AS "day", SUM(x) AS x, 1 AS slice_number FROM t
    """  # noqa: E501
    lists = keys.get(LIST_ID, KeyColumns())
    if set(lists.columns) & set(keys[GROUP_ID].columns):
        query = query.copy().select(
            *(key_column(name).as_(f"list_{name}", quoted=True) for name in lists.columns)
        )
        keys = {
            **keys,
            LIST_ID: KeyColumns(tuple(f"list_{name}" for name in lists.columns), lists.nullable),
        }
    branches = []
    for number, group in enumerate(shape.grouping_sets or ()):
        branch: Any = query.copy()
        for position, column in enumerate(branch.selects):
            if column.alias_or_name in shape.group_names and column.alias_or_name not in group:
                branch.expressions[position] = exp.Null().as_(column.alias_or_name, quoted=True)
        if grouped := branch.args.get("group"):
            keys_of_set = [
                key
                for key in grouped.expressions
                if key.name not in shape.group_names or key.name in group
            ]
            branch.set("group", exp.Group(expressions=keys_of_set) if keys_of_set else None)
        branches.append(branch.select(exp.Literal.number(number).as_(SLICE_NUMBER)))
    return union_all(branches), {
        **keys,
        GROUP_ID: KeyColumns((*keys[GROUP_ID].columns, SLICE_NUMBER), nullable=True),
    }


def drop_comments_repeated_across_queries(queries: Iterable[Any]) -> None:
    """Drop the comments of columns that an earlier query has under the same name.

    >>> import sqlglot
    >>> texts = [
    ...     "SELECT a + 1 AS rank /* from 1 */ FROM t",
    ...     "SELECT rank /* from 1 */, b /* from 1 */ FROM u",
    ... ]
    >>> queries = [sqlglot.parse_one(text) for text in texts]
    >>> drop_comments_repeated_across_queries(queries)
    >>> print(queries[1].sql())
    SELECT rank, b /* from 1 */ FROM u
    """
    seen = set()
    for query in queries:
        for select in find_nodes(query, exp.Select):
            for column in select.expressions:
                if column.comments:
                    comment = (column.alias_or_name, *column.comments)
                    if comment in seen:
                        column.comments = None
                    seen.add(comment)


def comment_column(value: exp.Expr, name: str, comment: str) -> exp.Expr:
    """Return a column with a comment."""
    column: exp.Expr = value.as_(name)
    column.comments = [comment]
    return column


def drop_comments_repeated_in_query(select_items: Sequence[exp.Expr]) -> Sequence[exp.Expr]:
    """Drop the comments of columns that an earlier column of the same query has."""
    seen: set[str] = set()
    for item in select_items:
        if item.comments:
            item.comments = [comment for comment in item.comments if comment not in seen]
            seen |= set(item.comments)
    return select_items
