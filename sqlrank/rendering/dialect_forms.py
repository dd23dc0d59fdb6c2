"""Forms that several dialects share: series of integers, hexadecimal numbers, quantiles of groups,
elements of lists, operations on lists, comparisons of columns of one origin, and totals by joins in
place of windows over all rows, which move these to one worker.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.optimizer.statement_graph import is_aggregated, outermost_query, union_members
from sqlrank.sql_ast import (
    BIGINT,
    DOUBLE,
    add_terms,
    call_function,
    case_when,
    find_nodes,
    first_select,
    is_null,
    source_names,
    sql_literal,
    unique_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


SERIES, NUMBER = "series", "number"
"""Alias and column of a series of integers, ``UNNEST(GENERATE_SERIES(1, 20)) AS
series(number)``.
"""

HEX_PREFIX = "0x"
"""Text before hexadecimal digits in ``CAST('0x' || digits AS BIGINT)``."""

_POWERS_OF_TEN = ("ones", "tens", "hundreds", "thousands")
_HEX_DIGITS = "0123456789abcdef"
_NUM_HEX_DIGITS = 8


def read_series_function(_: exp.Expr, series: exp.Unnest) -> None:
    """Read GENERATE_SERIES in FROM."""
    series.replace(exp.Table(this=series.expressions[0], alias=series.args["alias"]))


def read_bounds(series: exp.Unnest) -> tuple[int, int]:
    """Return the first and last number of a series."""
    generated = series.expressions[0]
    return int(generated.args["start"].name), int(generated.args["end"].name)


def combine_digits(tree: exp.Expr, series: exp.Unnest) -> None:
    """Cross join a step of the ten digits, once per decimal place."""
    first, last = read_bounds(series)
    select: Any = series.parent_select
    aliases = _POWERS_OF_TEN[: len(str(last - first))]
    terms: list[exp.Expr] = [exp.Literal.number(first)] if first else []
    for power, alias in enumerate(aliases):
        digit: exp.Expr = exp.column("digit", table=alias)
        terms.append(
            exp.Mul(this=exp.Literal.number(10**power), expression=digit) if power else digit
        )
    number = add_terms(terms)
    for column in [column for column in find_nodes(select, exp.Column) if column.name == NUMBER]:
        if column.parent is select:
            column.replace(number.copy().as_(NUMBER))
        else:
            column.replace(
                exp.paren(number.copy()) if isinstance(column.parent, exp.Binary) else number.copy()
            )
    digits = _digits_cte(tree)
    series.replace(exp.to_table(digits).as_(aliases[0]))
    for alias in aliases[1:]:
        select.join(exp.to_table(digits).as_(alias), join_type="cross", copy=False)
    if last - first + 1 < 10 ** len(aliases):
        select.where(exp.LTE(this=number, expression=exp.Literal.number(last)), copy=False)


_DIGITS: Any = exp.maybe_parse(
    f"SELECT 0 AS digit {' '.join(f'UNION ALL SELECT {digit}' for digit in range(1, 10))}"
)


def _digits_cte(tree: exp.Expr) -> str:
    """Return the name of the step of the ten digits, added before all others if there is none."""
    query: Any = tree.expression if isinstance(tree, (exp.DDL, exp.Insert)) else tree
    with_clause = query.args["with_"]
    union = _DIGITS.copy()
    first_select(union).comments = ["One row per digit."]
    if (
        same := next((cte.alias for cte in with_clause.expressions if cte.this == union), None)
    ) is not None:
        return str(same)
    name = unique_name("digits", source_names(tree))
    with_clause.expressions.insert(
        0, exp.CTE(this=union, alias=exp.TableAlias(this=exp.to_identifier(name)))
    )
    return name


def sum_hex_digits(digits: exp.Expr) -> exp.Expr:
    """Return the sum over eight digits of their position in the list of all, times a power of
    16.
    """
    terms: list[exp.Expr] = []
    for index in range(_NUM_HEX_DIGITS):
        position = exp.StrPosition(this=sql_literal(_HEX_DIGITS), substr=_digit_at(digits, index))
        digit: exp.Expr = exp.Sub(this=position, expression=sql_literal(1))
        power = 16 ** (_NUM_HEX_DIGITS - 1 - index)
        digit = exp.paren(digit) if index else exp.cast(digit, BIGINT)
        terms.append(
            exp.Mul(this=digit, expression=exp.Literal.number(power)) if power > 1 else digit
        )
    return exp.paren(add_terms(terms))


def _digit_at(digits: exp.Expr, index: int) -> exp.Expr:
    """Return one digit, from the text that the digits are cut out of if its position is known."""
    is_cut = isinstance(digits, exp.Substring) and isinstance(digits.args.get("start"), exp.Literal)
    source, first = (digits.this, int(digits.args["start"].name)) if is_cut else (digits, 1)
    return exp.func("SUBSTR", source.copy(), exp.Literal.number(first + index), sql_literal(1))


NUMBERED_ROWS = "numbered_rows"
"""Name of a step of rows with their positions by value."""


def order_within_group(value: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x), in an order with the NULLs last."""
    order = exp.Order(expressions=[exp.Ordered(this=value, nulls_first=False)])
    return exp.WithinGroup(this=exp.PercentileCont(this=share), expression=order)


def sum_numbered_rows(tree: exp.Expr, quantiles: Sequence[exp.PercentileCont]) -> None:
    """Write quantiles as sums over rows that are numbered by value."""
    for select in {
        id(quantile.parent_select): quantile.parent_select for quantile in quantiles
    }.values():
        _number_rows(
            tree, select, [quantile for quantile in quantiles if quantile.parent_select is select]
        )


def _number_rows(tree: exp.Expr, select: Any, quantiles: list[exp.PercentileCont]) -> None:
    """Move the sources of a SELECT into a step before it, which numbers the rows of each group by
    value.

    A quantile is then the sum of the values on both sides of its position, each weighted by its
    closeness.

    >>> import sqlglot
    >>> text = "WITH a AS (SELECT 1 AS g, 2 AS x) SELECT a.g, QUANTILE_CONT(a.x, 0.5) AS m FROM a GROUP BY a.g"
    >>> tree = sqlglot.parse_one(text, read="duckdb")
    >>> _number_rows(tree, tree, list(tree.find_all(exp.PercentileCont)))
    >>> print(tree.sql(comments=False))  # doctest: +NORMALIZE_WHITESPACE
    WITH a AS (SELECT 1 AS g, 2 AS x), numbered_rows AS (SELECT a.g, a.x,
    ROW_NUMBER() OVER (PARTITION BY a.g, CASE WHEN a.x IS NULL THEN 1 ELSE 0 END ORDER BY a.x NULLS LAST) AS x_position,
    COUNT(a.x) OVER (PARTITION BY a.g) AS x_count FROM a)
    SELECT g, SUM(CASE WHEN ABS(x_position - 1 - CAST(0.5 AS DOUBLE) * (x_count - 1)) < 1
    THEN x * (1 - ABS(x_position - 1 - CAST(0.5 AS DOUBLE) * (x_count - 1))) END) AS m FROM numbered_rows GROUP BY g
    """  # noqa: E501
    group = select.args.get("group")
    keys = group.expressions if group is not None else []
    numbered = exp.Select()
    names: dict[tuple[str, str], exp.Identifier] = {}

    def add_column(item: exp.Expr, name: exp.Identifier) -> exp.Identifier:
        taken = {selected.lower() for selected in numbered.named_selects}
        alias = exp.to_identifier(unique_name(name.name, taken), quoted=name.args.get("quoted"))
        is_same = isinstance(item, exp.Column) and item.this == alias
        numbered.select(item if is_same else item.as_(alias), copy=False)
        return alias

    columns = _columns_read(select)
    for column in columns:
        key = (column.table, column.name)
        if key not in names:
            names[key] = add_column(column.copy(), column.this)
    positions: dict[exp.Expr, tuple[exp.Identifier, exp.Identifier]] = {}
    for quantile in quantiles:
        value = quantile.this
        if value not in positions:
            name = value.name if isinstance(value, exp.Column) else "value"
            row_number, count = _number_values(value, keys), _count_values(value, keys)
            key = value.copy()
            positions[key] = (
                add_column(row_number, exp.to_identifier(f"{name}_position")),
                add_column(count, exp.to_identifier(f"{name}_count")),
            )
        position, size = (exp.column(name.copy()) for name in positions[value])
        quantile.replace(_weighted_sum(value, position, size, quantile.expression))
    for column in columns:
        alias = names[column.table, column.name]
        is_renamed = column.parent is select and alias.name != column.name
        column.replace(
            exp.column(alias.copy()).as_(column.this) if is_renamed else exp.column(alias.copy())
        )
    for clause in ("from_", "joins", "where"):
        numbered.set(clause, select.args.get(clause))
        select.set(clause, None)
    numbered.comments = ["Rows with the position of their value in the group, from the lowest."]
    select.set(
        "from_", exp.From(this=exp.to_table(add_step(tree, select, numbered, NUMBERED_ROWS)))
    )


def _number_values(value: exp.Expr, keys: Iterable[exp.Expr]) -> exp.Expr:
    """Return the number of a row by a value in its group; rows without a value are numbered
    apart.
    """
    is_missing = case_when(is_null(value.copy()), 1, 0)
    order = exp.Order(expressions=[exp.Ordered(this=value.copy())])
    return exp.Window(
        this=exp.RowNumber(), partition_by=[*(key.copy() for key in keys), is_missing], order=order
    )


def _count_values(value: exp.Expr, keys: Iterable[exp.Expr]) -> exp.Expr:
    """Return the number of values in the group of a row."""
    return exp.Window(this=exp.Count(this=value.copy()), partition_by=[key.copy() for key in keys])


def _columns_read(select: Any) -> list[exp.Column]:
    """Return the columns outside of FROM and WHERE, without those of ORDER BY that are in the
    result.
    """
    clauses = [
        part
        for part in (*select.expressions, select.args.get("group"), select.args.get("having"))
        if part is not None
    ]
    columns = [column for part in clauses for column in find_nodes(part, exp.Column)]
    order = find_nodes(select.args["order"], exp.Column) if select.args.get("order") else []
    columns += [
        column for column in order if column.table or column.name not in select.named_selects
    ]
    return [column for column in columns if column.parent_select is select]


def _weighted_sum(value: exp.Expr, position: exp.Expr, size: exp.Expr, share: exp.Expr) -> exp.Expr:
    """Return the sum of the values on both sides of the position of a quantile, each weighted by
    its closeness.
    """
    one = sql_literal(1)
    last = exp.paren(exp.Sub(this=size, expression=one.copy()), copy=False)
    quantile_position = exp.Mul(this=exp.cast(share.unnest().copy(), DOUBLE), expression=last)
    distance = exp.Abs(
        this=exp.Sub(
            this=exp.Sub(this=position, expression=one.copy()), expression=quantile_position
        )
    )
    closeness = exp.paren(exp.Sub(this=one.copy(), expression=distance), copy=False)
    term = exp.Mul(this=value, expression=closeness)
    return exp.Sum(this=case_when(exp.LT(this=distance.copy(), expression=one.copy()), term))


def add_step(tree: exp.Expr, select: exp.Expr, step: exp.Select, name: str) -> str:
    """Add a step before the one that a SELECT is in, and return its unique name."""
    query: Any = outermost_query(tree)
    if query.args.get("with_") is None:
        query.set("with_", exp.With(expressions=[]))
    steps = query.args["with_"].expressions
    name = unique_name(name, source_names(tree))
    reader = select.find_ancestor(exp.CTE)
    place = next((place for place, other in enumerate(steps) if other is reader), len(steps))
    steps.insert(place, exp.CTE(this=step, alias=exp.TableAlias(this=exp.to_identifier(name))))
    query.args["with_"].set("expressions", steps)
    return name


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


class _Steps:
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
    steps = _Steps(tree)
    return [
        comparison
        for comparison in comparisons
        if isinstance(comparison.this, exp.Column)
        and isinstance(comparison.expression, exp.Column)
        and (origins := steps.find(comparison.this))
        and origins == steps.find(comparison.expression)
    ]


_JOINED = ("from_", "joins", "laterals", "where")
"""Clauses that decide the rows which a window of a SELECT is over, if it has no groups."""

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
        if type(window.this) in _PREFIXES and not any(
            window.args.get(part) for part in ("partition_by", "order", "spec", "alias")
        ):
            windows_by_select.setdefault(id(window.parent_select), []).append(window)
    for windows in reversed(windows_by_select.values()):  # a SELECT before the one that it is in
        _join_totals_of_select(tree, windows)


def list_unpartitioned_steps(tree: exp.Expr) -> list[str]:
    """Return the names of CTEs whose windows order rows of tables without partitions.

    >>> import sqlglot
    >>> text = "WITH a AS (SELECT RANK() OVER (ORDER BY x) AS place FROM t) SELECT place FROM a"
    >>> list_unpartitioned_steps(sqlglot.parse_one(text))
    ['a']
    """
    steps = []
    for window in find_nodes(tree, exp.Window):
        if window.args.get("order") is None or window.args.get("partition_by"):
            continue
        select, cte = window.find_ancestor(exp.Select), window.find_ancestor(exp.CTE)
        if select is not None and select.args["from_"].find(exp.Table) is not None:
            steps.append("the result" if cte is None else cte.alias)
    return list(dict.fromkeys(steps))


def _join_totals_of_select(tree: exp.Expr, windows: Sequence[exp.Window]) -> None:
    select: Any = windows[0].parent_select
    is_grouped = bool(select.args.get("group")) or any(map(is_aggregated, select.selects))
    if is_grouped and not all(_is_sum_of_sums(window) for window in windows):
        return
    totals = exp.Select()
    totals.comments = ["One row: aggregates of all rows."]
    for clause in _JOINED:
        totals.set(clause, _copy_clause(select.args.get(clause)))
    source = select.args["from_"].this.alias_or_name
    step = add_step(tree, select, totals, f"{source}_totals")
    for window in windows:
        total = window.this.this if is_grouped else window.this
        named = {item.this: item.alias for item in totals.selects}
        if total not in named:
            named[total] = unique_name(_name_total(window, total), totals.named_selects)
            totals.select(exp.alias_(total.copy(), named[total]), copy=False)
        column: exp.Expr = exp.column(named[total], table=step)
        is_item = isinstance(window.parent, exp.Alias) and window.parent.alias == named[total]
        replaced: Any = window.parent if is_item and not is_grouped else window
        column.comments = replaced.comments
        replaced.replace(exp.Max(this=column) if is_grouped else column)
    _qualify_columns(select)
    select.join(step, join_type="cross", copy=False)
    for cte in find_nodes(tree, exp.CTE):
        if cte.alias in {table.name for table in find_nodes(totals, exp.Table)}:
            _request_materialization(tree, cte)


def _is_sum_of_sums(window: exp.Window) -> bool:
    return isinstance(window.this, exp.Sum) and isinstance(window.this.this, exp.Sum)


def _copy_clause(clause: Any) -> Any:
    return (
        [part.copy() for part in clause] if isinstance(clause, list) else clause and clause.copy()
    )


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
