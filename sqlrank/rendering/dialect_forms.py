"""Forms that several dialects share: elements of lists, operations on lists, comparisons of columns
of one origin, and joins with totals in place of windows over all rows, which move these to one
worker.
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from itertools import takewhile
from typing import TYPE_CHECKING, Any, cast

from sqlglot import exp

from sqlrank.optimizer.statement_graph import (
    JOINED,
    add_step,
    is_aggregated,
    move_rows,
    union_members,
)
from sqlrank.sql_ast import call_function, find_nodes, is_null, sql_literal, unique_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


def order_within_group(value: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), in an order with the NULLs last."""
    order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=False)])
    return exp.WithinGroup(this=exp.PercentileCont(this=share), expression=order)


LIST_ELEMENT, _ELEMENT_POSITION = "element", "element_position"
"""Names in subqueries and lambdas that operations are rewritten to."""

_OPERATIONS: dict[type[exp.Expr], str] = {
    exp.Transform: "transform",
    exp.ArrayFilter: "filter",
    exp.ArrayDistinct: "distinct",
    exp.ArraySort: "sort",
    exp.ArrayMin: "min",
    exp.Length: "length",
    exp.GenerateSeries: "series",
}
_CALLS = {"LIST_SUM": "sum", "LIST_SLICE": "slice", "LIST_POSITION": "position"}
LIST_OPERATIONS = {*_OPERATIONS.values(), *_CALLS.values()}
"""Operations that a dialect with functions of lists has to write."""


def rewrite_list_operations(
    tree: exp.Expr, writers: Mapping[str, Callable[..., exp.Expr] | str]
) -> exp.Expr:
    """Return an expression over lists by the writers of a dialect; it is changed in place."""
    holder = exp.Paren(this=tree)
    for node in reversed(
        find_nodes(holder, exp.Anonymous, *_OPERATIONS)
    ):  # operands before what is computed of them
        operation = (
            _CALLS.get(node.name) if isinstance(node, exp.Anonymous) else _OPERATIONS[type(node)]
        )
        if operation is not None:
            write = writers[operation]
            operands = _list_operands(node)
            node.replace(
                call_function(write, *operands) if isinstance(write, str) else write(*operands)
            )
    rewritten: exp.Expr = holder.this
    return rewritten


def _list_operands(node: exp.Expr) -> list[Any]:
    if isinstance(node, exp.Anonymous):
        return list(node.expressions)
    if isinstance(node, exp.GenerateSeries):
        return [node.args["start"], node.args["end"]]
    return [node.this] if node.args.get("expression") is None else [node.this, node.expression]


def plus_one(node: exp.Expr) -> exp.Expr:
    """Return a number plus 1, in parentheses."""
    return exp.paren(exp.Add(this=node, expression=sql_literal(1)), copy=False)


def number_from_one(function: exp.Lambda) -> exp.Lambda:
    """Return a lambda whose second parameter, a position, is numbered from 0, with one more in its
    body.
    """
    for parameter in function.expressions[1:]:
        for use in [
            node
            for node in find_nodes(function.this, exp.Identifier)
            if node.name == parameter.name
        ]:
            use.replace(plus_one(use.copy()))
    return function


def _unnest_elements(
    first_position: int, array: exp.Expr, element: str = LIST_ELEMENT, position: str | None = None
) -> exp.Unnest:
    """Return the FROM item of the elements of a list, and of their positions if they have a name;
    PostgreSQL, which numbers them from 1, names the table of elements.
    """
    table = exp.to_identifier(f"{element}_rows") if first_position == 1 else None
    return exp.Unnest(
        expressions=[array],
        alias=exp.TableAlias(this=table, columns=[exp.to_identifier(element)]),
        offset=None if position is None else exp.to_identifier(position),
    )


def subquery_operations(first_position: int) -> dict[str, Callable[..., exp.Expr]]:
    """Return writers of subqueries over elements, whose positions the dialect numbers from 0 or
    1.
    """
    unnest_array = partial(_unnest_elements, first_position)

    def collect_rows(query: exp.Select) -> exp.Expr:
        return call_function("ARRAY", query)

    def transform_elements(array: exp.Expr, function: exp.Lambda) -> exp.Expr:
        element, *positions = [parameter.name for parameter in function.expressions]
        function = function if first_position else number_from_one(function)
        return collect_rows(
            exp.select(function.this).from_(unnest_array(array, element, *positions))
        )

    def filter_elements(array: exp.Expr, function: exp.Lambda) -> exp.Expr:
        (element,) = [parameter.name for parameter in function.expressions]
        return collect_rows(
            exp.select(exp.column(element)).from_(unnest_array(array, element)).where(function.this)
        )

    def slice_first(array: exp.Expr, _: exp.Expr, end: exp.Expr) -> exp.Expr:
        position: exp.Expr = exp.column(_ELEMENT_POSITION)
        is_first = exp.LTE(this=position if first_position else plus_one(position), expression=end)
        return collect_rows(
            exp.select(LIST_ELEMENT)
            .from_(unnest_array(array, LIST_ELEMENT, _ELEMENT_POSITION))
            .where(is_first)
        )

    def find_position(array: exp.Expr, value: exp.Expr) -> exp.Expr:
        least: exp.Expr = exp.Min(this=exp.column(_ELEMENT_POSITION))
        is_value = exp.EQ(this=exp.column(LIST_ELEMENT), expression=value)
        query = exp.select(least if first_position else plus_one(least))
        return (
            query.from_(unnest_array(array, LIST_ELEMENT, _ELEMENT_POSITION))
            .where(is_value)
            .subquery()
        )

    return {
        "transform": transform_elements,
        "filter": filter_elements,
        "slice": slice_first,
        "position": find_position,
        "distinct": lambda array: collect_rows(
            exp.select(LIST_ELEMENT).distinct().from_(unnest_array(array))
        ),
        "sort": lambda array: collect_rows(
            exp.select(LIST_ELEMENT).from_(unnest_array(array)).order_by(LIST_ELEMENT)
        ),
        "min": lambda array: (
            exp.select(exp.Min(this=exp.column(LIST_ELEMENT))).from_(unnest_array(array)).subquery()
        ),
        "sum": lambda array: (
            exp.select(exp.Sum(this=exp.column(LIST_ELEMENT))).from_(unnest_array(array)).subquery()
        ),
    }


@dataclass(frozen=True)
class ListJoin:
    """The cross join of a SELECT with the elements of a list.

    Attributes:
        select: The SELECT.
        join: The join.
        values: The list.
        alias: Alias of the elements.
        element: Column of the elements.
        position: Column of their positions, from 1.
    """

    select: Any
    join: exp.Join
    values: exp.Expr
    alias: str
    element: str
    position: str

    @classmethod
    def read(cls, join: exp.Join) -> ListJoin | None:
        """Return the parts of a join, None if it is no join with the elements of a list."""
        unnest: Any = join.this
        if not isinstance(unnest, exp.Unnest) or not isinstance(
            unnest.args.get("offset"), exp.Identifier
        ):
            return None
        (element,), (values,) = unnest.args["alias"].columns, unnest.expressions
        return cls(
            join.parent, join, values, unnest.alias, element.name, unnest.args["offset"].name
        )

    @property
    def columns(self) -> list[exp.Column]:
        """The columns that the SELECT reads outside of FROM."""
        clauses = [*self.select.expressions, *filter(None, [self.select.args.get("where")])]
        return [column for clause in clauses for column in find_nodes(clause, exp.Column)]

    def find_columns(self, name: str) -> list[exp.Column]:
        """Return the columns of the SELECT that are the element or its position, without those in
        brackets.
        """
        own = (
            column
            for column in self.columns
            if column.name == name and column.table in {"", self.alias}
        )
        return [column for column in own if not isinstance(column.parent, exp.Bracket)]

    def replace(self, name: str, value: exp.Expr) -> None:
        """Replace the element or its position by an expression; a column of the result keeps its
        name.
        """
        for column in self.find_columns(name):
            column.replace(
                value.copy().as_(column.name) if column.parent is self.select else value.copy()
            )

    def replace_brackets(self, write: Callable[[exp.Expr, exp.Expr], exp.Expr]) -> None:
        """Replace the elements of other lists; ``write`` returns the one of a list at a
        position.
        """
        for bracket in [
            column.parent
            for column in self.columns
            if isinstance(column.parent, exp.Bracket) and column.arg_key == "expressions"
        ]:
            bracket.replace(write(bracket.this.copy(), bracket.expressions[0].copy()))

    def read_from(self, items: Mapping[str, exp.Expr]) -> None:
        """Read rows with further columns, by their names, in place of the source and the elements:
        a CTE before that of the SELECT, or a subquery.

        Those that the SELECT reads, or the last one, without which a list would be one row.
        """
        new: set[str] = set()
        read: dict[exp.Expr, None] = {}
        for column in self.columns:
            if column.name in items and column.table in {"", self.alias}:
                new.add(column.name)
            else:
                read[column.copy()] = None
        new = new or {[*items][-1]}
        rows = exp.select(*read, *(value.as_(name) for name, value in items.items() if name in new))
        self.select.args["joins"].remove(self.join)
        rows.set("from_", self.select.args["from_"])
        unqualify_columns(rows)
        cte = self.select.find_ancestor(exp.CTE)
        if cte is None:
            self.select.set("from_", exp.From(this=rows.subquery(self.alias)))
        else:
            steps = cte.parent.expressions
            name = unique_name(
                self.alias, {table.name for table in [*steps, *find_nodes(cte.parent, exp.Table)]}
            )
            keys = {"list_id": "query"}
            ids = [
                keys.get(column.name, column.name.removesuffix("_id"))
                for column in read
                if column.name.endswith("_id")
            ]
            rows.comments = [
                f"One row per {' and '.join([*ids[:1], 'element of its list'])}, with its position."
            ]
            steps.insert(
                steps.index(cte),
                exp.CTE(this=rows, alias=exp.TableAlias(this=exp.to_identifier(name))),
            )
            self.select.set("from_", exp.From(this=exp.to_table(name)))
        unqualify_columns(self.select)


def unqualify_columns(select: exp.Select) -> None:
    """Leave out the table of the columns of a SELECT that reads only one."""
    for column in find_nodes(select, exp.Column):
        column.set("table", None)


def look_up_elements(function: str) -> Callable[[ListJoin], None]:
    """Return the form of an engine with a function that gives NULL, not an error, for elements that
    are not there.
    """

    def rewrite_join(join: ListJoin) -> None:
        join.replace_brackets(lambda values, position: call_function(function, values, position))

    return rewrite_join


def count_from_one(join: ListJoin, index: exp.Expr) -> None:
    """Replace the position in a join by one more than an index."""
    join.replace(join.position, exp.paren(exp.Add(this=index, expression=sql_literal(1))))


def split_at_blanks(others: str) -> Callable[[exp.Expr], exp.Expr]:
    """Return the form of an engine that splits a text at blanks, which replace the runs of other
    characters.
    """

    def write_words(text: exp.Expr) -> exp.Expr:
        pattern = [sql_literal(others), sql_literal(" "), sql_literal("g")]
        words = exp.Trim(this=call_function("REGEXP_REPLACE", text, *pattern))
        return call_function(
            "STRING_TO_ARRAY", exp.Nullif(this=words, expression=sql_literal("")), sql_literal(" ")
        )

    return write_words


def join_slice(values: exp.Expr, start: exp.Expr, length: exp.Expr) -> exp.Expr:
    """Return the joined elements of a list by SLICE, which takes their number."""
    return call_function(
        "ARRAY_JOIN", call_function("SLICE", values, start, length), sql_literal(" ")
    )


Origins = frozenset[tuple[str, ...]]
"""Columns of tables, or expressions, of which a column holds the values; empty if not certain."""


class Steps:
    """The CTEs of a statement, in which origins are looked up."""

    def __init__(self, tree: exp.Expr) -> None:
        ctes = find_nodes(tree, exp.CTE)
        self._queries = {cte.alias: cte.this for cte in ctes}
        self._places = {name: place for place, name in enumerate(self._queries)}
        self._known: dict[tuple[int, str], Origins] = {}

    def find(self, column: exp.Column) -> Origins:
        """Return the origins of a column that is read with its table."""
        cte = column.find_ancestor(exp.CTE)
        last = len(self._places) if cte is None else self._places[cte.alias]
        return self._find_in(column, column.parent_select, last)

    def _find_in(self, column: exp.Column, select: exp.Select | None, last: int) -> Origins:
        """Return the origins of a column of a SELECT that reads the first ``last`` CTEs."""
        if select is None:
            return frozenset()
        clauses = [select.args.get("from_"), *select.args.get("joins", [])]
        sources = {clause.this.alias_or_name: clause.this for clause in clauses if clause}
        source = sources.get(column.table) if column.table else None
        if not column.table and len(sources) == 1:
            (source,) = sources.values()
        if isinstance(source, exp.Subquery):
            return self._find_output(source.this, column.name, last)
        if not isinstance(source, exp.Table):
            return frozenset()
        place = None if source.args.get("db") else self._places.get(source.name)
        if place is None or place >= last:  # a table of the user may have the name of a later CTE
            table = source.copy()
            table.set("alias", None)
            return frozenset({(table.sql(), column.name)})
        return self._find_output(self._queries[source.name], column.name, place)

    def find_expressions(self, value: exp.Expr) -> list[exp.Expr]:
        """Return the expressions that a column holds the values of, such as columns of tables."""
        select, cte = value.parent_select, value.find_ancestor(exp.CTE)
        if not isinstance(value, exp.Column) or select is None:
            return [value]
        last = len(self._places) if cte is None else self._places[cte.alias]
        clauses = [select.args.get("from_"), *select.args.get("joins", [])]
        values = []
        for source in (clause.this for clause in clauses if clause):
            query = source.this if isinstance(source, exp.Subquery) else None
            if self._places.get(source.name, last) < last and not source.args.get("db"):
                query = self._queries[source.name]
            if query is not None and value.table in {"", source.alias_or_name}:
                items = [item for member in union_members(query) for item in member.selects]
                values += [item.unalias() for item in items if item.alias_or_name == value.name]
        return [other for item in values for other in self.find_expressions(item)] or [value]

    def is_of_caller(self, value: exp.Expr) -> bool:
        """Return True if a value is one of a table of the caller, which may hold it many times."""
        selects: list[Any] = [other.parent_select for other in self.find_expressions(value)]
        sources = [select.args["from_"].this for select in selects]
        return all(
            isinstance(source, exp.Table)
            and (bool(source.args.get("db")) or source.name not in self._places)
            for source in sources
        )

    def is_small(self, query: exp.Expr) -> bool:
        """Return True if the rows of a query are of aggregates or of a series, not of a table."""
        return all(
            select.args.get("group") is not None
            or any(map(is_aggregated, select.selects))
            or all(
                self._is_small_source(clause.this, select)
                for clause in [select.args.get("from_"), *(select.args.get("joins") or [])]
                if clause
            )
            for select in union_members(query)
        )

    def _is_small_source(self, source: exp.Expr, reader: exp.Expr) -> bool:
        if not isinstance(source, exp.Table):
            return not isinstance(source, exp.Subquery) or self.is_small(source.this)
        cte = reader.find_ancestor(exp.CTE)
        last = len(self._places) if cte is None else self._places[cte.alias]
        is_step = not source.args.get("db") and self._places.get(source.name, last) < last
        return is_step and self.is_small(self._queries[source.name])

    def _find_output(self, query: exp.Expr, name: str, last: int) -> Origins:
        key = (id(query), name)
        if key not in self._known:
            parts = [*self._find_in_members(query, name, last)]
            self._known[key] = frozenset().union(*parts) if all(parts) else frozenset()
        return self._known[key]

    def _find_in_members(self, query: exp.Expr, name: str, last: int) -> Iterator[Origins]:
        """Yield the origins of an output in each member of a union that has not NULL for it."""
        for select in union_members(query):
            item = next((item for item in select.selects if item.alias_or_name == name), None)
            value = None if item is None else item.unalias()
            if isinstance(value, exp.Column):
                yield self._find_in(value, select, last)
            elif value is None:
                yield frozenset()
            elif not isinstance(value.this if isinstance(value, exp.Cast) else value, exp.Null):
                tables = sorted(table.sql() for table in find_nodes(select, exp.Table))
                yield frozenset({(*tables, value.sql())})


def find_comparisons_of_one_origin(tree: exp.Expr) -> list[exp.NullSafeEQ]:
    """Return the comparisons by IS NOT DISTINCT FROM whose columns are of one origin.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one('''WITH a AS (SELECT day FROM t), b AS (SELECT day, hour FROM t)
    ... SELECT 1 FROM a JOIN b ON a.day IS NOT DISTINCT FROM b.day AND a.day IS NOT DISTINCT FROM b.hour''')
    >>> [comparison.sql() for comparison in find_comparisons_of_one_origin(tree)]
    ['a.day IS NOT DISTINCT FROM b.day']
    """  # noqa: E501
    comparisons = find_nodes(tree, exp.NullSafeEQ)
    if not comparisons:
        return []
    steps = Steps(tree)
    return [
        comparison
        for comparison in comparisons
        if isinstance(comparison.this, exp.Column)
        and isinstance(comparison.expression, exp.Column)
        and (origins := steps.find(comparison.this))
        and origins == steps.find(comparison.expression)
    ]


_PREFIXES: dict[type[exp.Expr], str] = {
    exp.Sum: "total",
    exp.Avg: "mean",
    exp.Min: "least",
    exp.Max: "greatest",
    exp.Count: "num",
}
"""Beginnings of names of aggregates without a name of their own."""


def join_totals(tree: exp.Expr) -> None:
    """Replace aggregates OVER () by columns of a cross join with an aggregate of the same rows, in
    place; a CTE that is read a second time by that is marked as to be materialized.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("SELECT x / SUM(x) OVER () AS share FROM t")
    >>> join_totals(tree)
    >>> print(tree.sql())  # doctest: +NORMALIZE_WHITESPACE
    WITH t_totals AS (/* One row: aggregates of all rows. */ SELECT SUM(x) AS total_x FROM t)
    SELECT t.x / t_totals.total_x AS share FROM t CROSS JOIN t_totals
    """
    windows_by_select: dict[int, list[exp.Window]] = {}
    for window in find_nodes(tree, exp.Window):
        if type(window.this) in _PREFIXES and _is_over_all(window):
            windows_by_select.setdefault(id(window.parent_select), []).append(window)
    for windows in reversed(windows_by_select.values()):  # a SELECT before the one that it is in
        _join_totals_of_select(tree, windows)


BUCKET = "bucket"
"""Column of a range of neighboring values, within which a window sorts on its own."""

_MANY = (BUCKET, "segment")
"""Computed columns that are small partitions already."""

_ABOVE = exp.WindowSpec(
    kind="ROWS",
    start="UNBOUNDED",
    start_side="PRECEDING",
    end=sql_literal(1),
    end_side="PRECEDING",
)
_BELOW = exp.WindowSpec(
    kind="ROWS",
    start=sql_literal(1),
    start_side="FOLLOWING",
    end="UNBOUNDED",
    end_side="FOLLOWING",
)
_OTHER_BUCKETS = {
    "": _ABOVE,
    "UNBOUNDED PRECEDING CURRENT ROW": _ABOVE,
    "UNBOUNDED PRECEDING 1 PRECEDING": _ABOVE,
    "CURRENT ROW UNBOUNDED FOLLOWING": _BELOW,
    "1 FOLLOWING UNBOUNDED FOLLOWING": _BELOW,
}
"""Frames of windows that are split, with those of the buckets that they contain in whole."""

_NUMBERS = (
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Sum,
    exp.Count,
    exp.Avg,
    exp.Floor,
    exp.ArrayPosition,
)
_POSITIONS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_NEIGHBORS = (exp.Lead, exp.Lag)
_OPERANDS = (exp.Window, exp.Paren, exp.Min, exp.Max, exp.Coalesce, exp.Nullif, exp.Neg)
"""Functions that are numbers, positions, values of other rows, and functions of one type with their
operand.
"""


SMALL_COMMENT = (
    "RAND() is never 1: one worker sorts these few rows. Without a partition Spark warns of that."
)


def split_windows(tree: exp.Expr, write_bucket: Callable[[exp.Expr], exp.Expr]) -> None:
    """Split windows that sort all rows, or all of a computed class, by buckets of the number that
    they sort by, in place; a step has sums over the other buckets. Other values that are summed up
    to equal ones, such as ratings, are buckets of their own. Of aggregates and series, which are
    few rows, the other windows get a partition that holds all of them.

    ``write_bucket`` returns the bucket of a number, which never falls as the number rises.

    >>> import sqlglot
    >>> tree = sqlglot.parse_one("WITH a AS (SELECT SUM(y) OVER (ORDER BY -x) AS n"
    ...     " FROM (SELECT y, y * 2 AS x FROM t) AS s) SELECT n FROM a")
    >>> split_windows(tree, lambda value: exp.Floor(this=value))
    >>> [cte.alias for cte in tree.find_all(exp.CTE)]
    ['a_rows', 'a_buckets', 'a']
    >>> tree = sqlglot.parse_one("SELECT ROW_NUMBER() OVER (ORDER BY x) AS n FROM (SELECT x FROM t GROUP BY x) AS s")
    >>> split_windows(tree, lambda value: exp.Floor(this=value))
    >>> tree.selects[0].sql()
    'ROW_NUMBER() OVER (PARTITION BY RAND() = 1 ORDER BY x) AS n'
    """  # noqa: E501
    steps = Steps(tree)
    splits_by_select: dict[int, list[_Split]] = {}
    small: list[exp.Window] = []
    for window in find_nodes(tree, exp.Window):
        select = cast("exp.Select", window.parent_select)
        # With all columns of a table, buckets would be columns of the result, too.
        has_star = any(item.is_star for item in select.expressions)
        if not has_star and (split := _find_split(steps, window, write_bucket)):
            splits_by_select.setdefault(id(select), []).append(split)
        elif (
            window.args.get("order") is not None
            and not window.args.get("partition_by")
            and steps.is_small(select)
        ):
            small.append(window)
    _add_partitions(small)
    for splits in reversed(splits_by_select.values()):  # a SELECT before the one that it is in
        _split_windows_of_select(tree, splits)


def _is_over_all(window: exp.Window) -> bool:
    return not any(window.args.get(part) for part in ("partition_by", "order", "spec", "alias"))


def _add_partitions(windows: Sequence[exp.Window]) -> None:
    """Add a partition of all rows by a condition that Spark cannot know to be false, and a comment
    at the first.
    """
    for window in windows:
        window.set("partition_by", [exp.EQ(this=exp.Rand(), expression=sql_literal(1))])
    if windows:
        select: Any = windows[0].parent_select
        select.comments = [*(select.comments or []), SMALL_COMMENT]


@dataclass(frozen=True)
class _Split:
    """A window to split, the terms of its order up to the value that it is split by, and the bucket
    of that.
    """

    window: exp.Window
    terms: list[exp.Ordered]
    bucket: exp.Expr


def _find_split(
    steps: Steps, window: exp.Window, write_bucket: Callable[[exp.Expr], exp.Expr]
) -> _Split | None:
    """Return the split of a window, None if it stays whole.

    Partitions by columns of the caller are many. Where files sort by the numbers of a series first,
    rows are few.
    """
    select, order = window.parent_select, window.args.get("order")
    if order is None or select is None or select.args.get("group"):
        return None
    for part in window.args.get("partition_by") or ():
        if part.name in _MANY or any(
            isinstance(x, exp.Column) for x in steps.find_expressions(part)
        ):
            return None
    terms: list[exp.Ordered] = order.expressions
    has_form = isinstance(window.this, (exp.Sum, exp.Count, exp.RowNumber, exp.Rank)) or (
        isinstance(window.this, (exp.DenseRank, *_NEIGHBORS)) and len(terms) == 1
    )
    flags = [*takewhile(lambda term: _is_flag(steps, term.this), terms)]
    sorted_by = next(iter(terms[len(flags) :]), None)
    if sorted_by is None or not has_form or _read_frame(window) not in _OTHER_BUCKETS:
        return None
    value: exp.Expr = sorted_by.this
    if value.name != BUCKET and _is_number(steps, value):
        return _Split(window, [*flags, sorted_by], write_bucket(value.copy()))
    sums_peers = window.args.get("spec") is None and isinstance(window.this, (exp.Sum, exp.Count))
    if sums_peers and not flags and len(terms) == 1 and steps.is_of_caller(value):
        return _Split(window, [sorted_by], value.copy())
    return None


def _is_flag(steps: Steps, value: exp.Expr) -> bool:
    """Return True if an expression has one of a few literals as its value."""
    branches = [
        branch
        for other in steps.find_expressions(value)
        for branch in (
            [*(case.args["true"] for case in other.args["ifs"]), other.args.get("default")]
            if isinstance(other, exp.Case)
            else [other]
        )
    ]
    return all(isinstance(branch, exp.Literal) for branch in branches)


def _read_frame(window: exp.Window) -> str:
    bounds = ("start", "start_side", "end", "end_side")
    spec = window.args.get("spec")
    values = [] if spec is None else [spec.args.get(bound) for bound in bounds]
    return " ".join(str(getattr(value, "name", value)) for value in values if value)


def _is_number(steps: Steps, value: exp.Expr) -> bool:
    """Return True if an expression is certain to be a number."""
    if isinstance(value, exp.Column):
        values = steps.find_expressions(value)
        return all(
            other.is_type(*exp.DataType.NUMERIC_TYPES)
            if isinstance(other, exp.Column)
            else _is_number(steps, other)
            for other in values
        )
    if isinstance(value, exp.Case):
        branches = [
            *(branch.args["true"] for branch in value.args["ifs"]),
            value.args.get("default"),
        ]
        return all(branch is not None and _is_number(steps, branch) for branch in branches)
    if isinstance(value, _OPERANDS):
        return _is_number(steps, value.this)
    is_numeric_cast = isinstance(value, exp.Cast) and value.to.is_type(*exp.DataType.NUMERIC_TYPES)
    return is_numeric_cast or value.is_number or isinstance(value, (*_NUMBERS, *_POSITIONS))


def _split_windows_of_select(tree: exp.Expr, splits: Sequence[_Split]) -> None:
    select: Any = splits[0].window.parent_select
    reader = select.find_ancestor(exp.CTE)
    title = "result" if reader is None else reader.alias
    comment = "Rows with buckets of the values that they are sorted by."
    rows, add_column = move_rows(select, comment)
    keyed = [
        (
            split.window,
            [
                add_column(part, part.name or "part")
                for part in split.window.args.get("partition_by") or ()
            ],
            [
                *(add_column(flag.this, flag.name or "flag") for flag in split.terms[:-1]),
                add_column(_write_bucket(split), _name_bucket(split)),
            ],
            [term.copy() for term in split.terms],
        )
        for split in splits
    ]
    for column in [column for item in select.selects for column in find_nodes(item, exp.Column)]:
        column.replace(add_column(column, column.name))
    step = add_step(tree, select, rows, f"{title}_rows")
    _request_materialization(tree, next(c for c in find_nodes(tree, exp.CTE) if c.alias == step))
    totals: dict[tuple[exp.Expr, ...], exp.Select] = {}
    for window, parts, bucket, terms in keyed:
        keys = (*parts, *bucket)
        window.set("partition_by", [key.copy() for key in keys])
        if keys not in totals:
            totals[keys] = exp.select(*keys).from_(step).group_by(*keys)
            totals[keys].comments = ["One row per bucket: sums over the buckets before it."]
        item = window.find_ancestor(exp.Alias)
        name = f"{item.alias if item else 'value'}_before"
        for term, key in zip(terms, bucket, strict=True):
            term.set("this", key.copy())
        before = _sum_other_buckets(window, parts, terms)
        _add_other_buckets(window, exp.column(_add_item(totals[keys], before, name)))
    _read_totals_of_buckets(select, next(iter(totals.values())), rows.named_selects)
    select.from_(step, copy=False)
    for keys, total in totals.items():
        name = add_step(tree, select, total, f"{title}_buckets")
        select.join(name, using=[key.name for key in keys], join_type="inner", copy=False)


def _add_item(select: exp.Select, value: exp.Expr, name: str, taken: Iterable[str] = ()) -> str:
    """Return the name of a value in a SELECT, which gets it if it has none that is equal."""
    for item in select.selects:
        if item.unalias() == value:
            return item.alias_or_name
    name = unique_name(name, [*taken, *select.named_selects])
    select.select(value.as_(name), copy=False)
    return name


def _read_totals_of_buckets(select: exp.Select, buckets: exp.Select, names: Iterable[str]) -> None:
    """Replace sums OVER () of a SELECT, in place, by those of its buckets: a step of totals would
    read the rows once more.
    """
    part = is_null(exp.Min(this=buckets.args["group"].expressions[-1]))
    for window in [window for item in select.selects for window in find_nodes(item, exp.Window)]:
        if isinstance(window.this, exp.Sum) and _is_over_all(window):
            total = exp.Window(this=exp.Sum(this=window.this.copy()), partition_by=[part.copy()])
            name = _add_item(buckets, total, _name_total(window, window.this), names)
            _replace_window(window, exp.column(name))


def _replace_window(window: exp.Window, column: exp.Expr, is_grouped: bool = False) -> None:
    """Replace a window by the column with its value, and an item of the name of this as a whole."""
    is_item = isinstance(window.parent, exp.Alias) and window.parent.alias == column.name
    replaced: Any = window.parent if is_item and not is_grouped else window
    column.comments = replaced.comments
    replaced.replace(exp.Max(this=column) if is_grouped else column)


def _write_bucket(split: _Split) -> exp.Expr:
    """Return the bucket of the last term, 0 of NULLs, which a flag sorts apart."""
    if len(split.terms) == 1:
        return split.bucket
    return exp.Coalesce(this=split.bucket, expressions=[sql_literal(0)])


def _name_bucket(split: _Split) -> str:
    column = split.terms[-1].find(exp.Column)
    if column is not None and column == split.bucket:
        return column.name
    return BUCKET if column is None else f"{column.name}_{BUCKET}"


def _sum_other_buckets(
    window: exp.Window, parts: Sequence[exp.Expr], terms: list[exp.Ordered]
) -> exp.Expr:
    """Return the sum over the buckets before one, or the value of their row that is nearest.

    Without parts, the key of the only partition is a condition that Spark cannot know.
    """
    value = window.this
    is_neighbor = isinstance(value, _NEIGHBORS)
    if is_neighbor:
        is_lowest = bool(terms[-1].args.get("desc")) is isinstance(value, exp.Lag)
        sorted_by = window.args["order"].expressions[0].this.copy()
        nearest = (exp.ArgMin if is_lowest else exp.ArgMax)(
            this=value.this.copy(), expression=sorted_by
        )
        outer: exp.Expr = type(value)(this=nearest)
    elif isinstance(value, exp.DenseRank):
        distinct = exp.Distinct(expressions=[window.args["order"].expressions[0].this.copy()])
        outer = exp.Sum(this=exp.Count(this=distinct))
    else:
        is_position = isinstance(value, _POSITIONS)
        outer = exp.Sum(this=exp.Count(this=exp.Star()) if is_position else value.copy())
    return exp.Window(
        this=outer,
        partition_by=[key.copy() for key in parts]
        or [is_null(exp.Min(this=terms[-1].this.copy()))],
        order=exp.Order(expressions=terms),
        spec=None if is_neighbor else _OTHER_BUCKETS[_read_frame(window)].copy(),
    )


def _add_other_buckets(window: exp.Window, before: exp.Expr) -> None:
    """Add the sum over the buckets before to a window within a bucket, in place."""
    if isinstance(window.this, _NEIGHBORS):
        window.this.set("offset", sql_literal(1))
        window.this.set("default", before)
        return
    holder = exp.Paren(this=sql_literal(0))
    window.replace(holder)
    if isinstance(window.this, _POSITIONS):
        start = exp.Coalesce(this=before, expressions=[sql_literal(0)])
        holder.set("this", exp.Add(this=start, expression=window))
    else:
        total = exp.Add(this=before.copy(), expression=window)
        values = [before, window.copy()]
        if isinstance(parent := holder.parent, exp.Coalesce) and parent.this is holder:
            holder.replace(total)
            parent.set("expressions", [*values, *parent.expressions])
        else:
            holder.replace(exp.Coalesce(this=total, expressions=values))


def _join_totals_of_select(tree: exp.Expr, windows: Sequence[exp.Window]) -> None:
    select: Any = windows[0].parent_select
    is_grouped = bool(select.args.get("group")) or any(map(is_aggregated, select.selects))
    if is_grouped and not all(
        isinstance(window.this, exp.Sum) and isinstance(window.this.this, exp.Sum)
        for window in windows
    ):
        return
    totals = exp.Select()
    totals.comments = ["One row: aggregates of all rows."]
    for clause in JOINED:
        totals.set(clause, deepcopy(select.args.get(clause)))
    source = select.args["from_"].this.alias_or_name
    step = add_step(tree, select, totals, f"{source}_totals")
    for window in windows:
        total = window.this.this if is_grouped else window.this
        named = {item.this: item.alias for item in totals.selects}
        if total not in named:
            named[total] = unique_name(_name_total(window, total), totals.named_selects)
            totals.select(exp.alias_(total.copy(), named[total]), copy=False)
        _replace_window(window, exp.column(named[total], table=step), is_grouped)
    _qualify_columns(select)
    select.join(step, join_type="cross", copy=False)
    for cte in find_nodes(tree, exp.CTE):
        if cte.alias in {table.name for table in find_nodes(totals, exp.Table)}:
            _request_materialization(tree, cte)


def _name_total(window: exp.Window, total: exp.Expr) -> str:
    """Return the alias of a window, or a name of its function and the column that it is of."""
    prefix = _PREFIXES[type(total)]
    if isinstance(window.parent, exp.Alias):
        return window.parent.alias
    if isinstance(total.this, exp.Star):
        return f"{prefix}_rows"
    item = window.find_ancestor(exp.Alias)
    column = total.this if isinstance(total.this, exp.Column) or item is None else item
    return f"{prefix}_{column.alias_or_name or 'values'}"


def _qualify_columns(select: exp.Select) -> None:
    """Name the only source of a SELECT with its columns."""
    sources = [select.args["from_"], *(select.args.get("joins") or [])]
    if len(sources) > 1:
        return
    outputs = select.named_selects
    order = select.args.get("order")
    for column in find_nodes(select, exp.Column):
        is_output = (
            order is not None
            and column.name in outputs
            and column.find_ancestor(exp.Order) is order
        )
        if not column.table and column.parent_select is select and not is_output:
            column.set("table", exp.to_identifier(sources[0].this.alias_or_name))


def _request_materialization(tree: exp.Expr, cte: exp.CTE) -> None:
    """Mark a CTE, unless it reads tables of the user only."""
    names = {other.alias for other in find_nodes(tree, exp.CTE)} - {cte.alias}
    if any(table.name in names for table in find_nodes(cte.this, exp.Table)):
        cte.set("materialized", True)  # noqa: FBT003  sqlglot's flag
