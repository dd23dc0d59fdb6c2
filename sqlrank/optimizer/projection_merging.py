"""Merge row-wise CTEs, with their filters and joins, into the SELECT that reads them, and a CTE into a reader that computes columns."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.optimizer.statement_graph import is_aggregated, is_constant, is_sort_key
from sqlrank.query_text import write_tree
from sqlrank.sql_ast import LeadingComment

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlglot.expressions import Expr

    from sqlrank.optimizer.statement_graph import Readers, Scope, StatementGraph, StatementStep

MAX_INLINED = 2
"""Maximum number of computed columns that are written where they are read; more would hide the formula of a metric."""

_SHORT_FUNCTIONS = (exp.Abs, exp.Neg, exp.Sqrt)

_LONG_VALUE = 400
"""Length of a merged expression from which its comment is kept beside the expression that it is a part of."""


def forward_projections(graph: StatementGraph, lifted: Collection[str]) -> None:
    """Let the readers of CTEs that are columns of another read that one, in place, unless it is a lifted subquery, whose name says less."""
    readers = graph.find_readers()
    for step in list(graph.steps_by_name.values()):
        source = None if step.is_input or step.is_union or not _is_projection(step.scopes[0]) else step.scopes[0].first_source
        if source is not None and source.name not in lifted and _forward_source(step, readers):
            graph.remove(step)


def merge_projections(graph: StatementGraph) -> None:
    """Merge CTEs with their source or their only reader, in place, where no long expression is written twice by that.

    sqlglot's ``merge_subqueries`` merges CTEs into readers as well, but only those without computed columns that are read in an
    aggregate, and none into the outermost query.

    >>> from sqlrank.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(merge_projections, "WITH a AS (SELECT x, y FROM t), b AS (SELECT x FROM a WHERE y > 0) SELECT SUM(x) AS n FROM b")
    'WITH a AS (SELECT x, y FROM t) SELECT SUM(a.x) AS n FROM a WHERE a.y > 0'
    >>> rewrite_graph(merge_projections, "WITH a AS (SELECT x FROM t), b AS (SELECT SUM(x) AS n FROM a) SELECT n / 2 AS half FROM b")
    'WITH a AS (SELECT x FROM t) SELECT SUM(a.x) / 2 AS half FROM a'
    """
    readers = graph.find_readers()
    for step in list(graph.steps_by_name.values()):
        if step.is_input or step.is_union or not _is_movable(step.scopes[0]):
            continue
        if _is_projection(step.scopes[0]) and _forward_source(step, readers):
            graph.remove(step)
        elif len(readers[step.name]) == 1:
            ((reader, _),) = readers[step.name]
            if _merge_into_reader(step, reader, readers):
                graph.remove(step)


def _is_movable(scope: Scope) -> bool:
    """Return True if a SELECT can become a part of another, with its columns by name."""
    return not (
        any(scope.select.args.get(clause) for clause in ("distinct", "order", "limit", "offset"))
        or any(item.is_star or not item.alias_or_name for item in scope.select.expressions)
    )


def _is_row_wise(scope: Scope) -> bool:
    """Return True if each row of a SELECT is made of one row of its joined sources."""
    return scope.is_row_mapping and not scope.select.args.get("group")


def _is_projection(scope: Scope) -> bool:
    """Return True if a SELECT consists of columns of one CTE."""
    clauses = {clause for clause, value in scope.select.args.items() if value}
    return (
        clauses == {"expressions", "from_"}
        and scope.is_plain
        and all(isinstance(item.unalias(), exp.Column) for item in scope.items.values())
    )


def _forward_source(step: StatementStep, readers: Readers) -> bool:
    """Let the readers of a projection read its source, if they can; return True if they do."""
    scope = step.scopes[0]
    (source,) = scope.sources.values()
    names = {name: item.unalias() for name, item in scope.items.items()}
    if not readers[step.name] or not all(
        reader.is_plain and all(reader.find_owner(column) is not None for column in reader.columns) for reader, _ in readers[step.name]
    ):
        return False
    for reader, table in readers[step.name]:
        alias = table.alias_or_name
        for column in reader.columns:
            if reader.find_owner(column) == alias and (column.table or names[column.name].name != column.name):
                value = names[column.name].copy()
                value.set("table", exp.to_identifier(alias))
                reader.substitute(column, value)
        forwarded = exp.table_(source.name, alias=None if alias == source.name else alias)
        table.replace(forwarded)
        reader.mark_changed()
        readers[source.name].append((reader, forwarded))
    readers[source.name] = [(reader, table) for reader, table in readers[source.name] if reader is not scope]
    origin = step.graph.steps_by_name[source.name]
    if step.cte is not None and step.cte.args.get("materialized") and origin.cte is not None and not origin.is_input:
        origin.cte.set("materialized", True)  # noqa: FBT003  sqlglot's flag
    return True


def _merge_into_reader(step: StatementStep, reader: Scope, readers: Readers) -> bool:
    """Merge a CTE into the SELECT that reads it, if no column of it is computed twice by that; return True if it is done."""
    scope = step.scopes[0]
    if not reader.is_plain or len(readers[step.name]) != 1 or any(reader.find_owner(column) is None for column in reader.columns):
        return False
    alias = next(name for name in reader.sources if reader.source_step(name) is step)
    if not (_can_inline(scope, reader, alias) or _can_map(scope, reader)):
        return False
    _qualify_columns(scope)
    keeps_clauses = not _can_map(scope, reader)
    outputs = {item.unalias().name: item for item in reader.items.values() if isinstance(item.unalias(), exp.Column)}
    items = scope.items
    for column in [column for column in reader.columns if reader.find_owner(column) == alias]:
        value, comments = items[column.name].unalias(), items[column.name].comments
        if not keeps_clauses and comments and not is_sort_key(column) and not _is_short(value):
            item = _enclosing_item(column, reader)
            item.comments = item.comments or _move_comments(comments, value, column, item)
        if is_sort_key(column) and not isinstance(value, exp.Column):
            column.set("table", None)
            column.set("this", _column_name(outputs[column.name]).copy())
        else:
            reader.substitute(column, value.copy(), comments)
    _move_clauses(scope, reader, keeps_clauses)
    for name in {source.name for source in scope.sources.values()}:
        readers[name] = [(reader if other is scope else other, table) for other, table in readers[name]]
    reader.mark_changed()
    return True


def _can_inline(scope: Scope, reader: Scope, alias: str) -> bool:
    """Return True if the rows of a SELECT can be computed where they are read, as the first source of another.

    Joins stay in a step of their own before those of an aggregation: DataFusion 55 and Databend 1.2 do not plan all of them together.
    """
    others = reader.sources.keys() - {alias}
    if scope.joins and reader.joins and reader.select.args.get("group"):
        return False
    return (
        scope.is_plain
        and _is_row_wise(scope)
        and reader.first_source is reader.sources[alias]
        and not reader.is_nullable(alias)
        and not others & scope.sources.keys()
        and not _would_carry_lists(scope, reader)
        and all(scope.find_owner(column) is not None for column in scope.columns)
        and _are_read_once(scope, reader, alias, in_keys=False)
    )


def _would_carry_lists(scope: Scope, reader: Scope) -> bool:
    """Return True if the windows of a reader would sort rows with the lists from which a column is computed."""
    has_windows = any(item.find(exp.Window) for item in reader.items.values())
    return has_windows and any(item.find(exp.ArrayPosition) for item in scope.items.values())


def _can_map(scope: Scope, reader: Scope) -> bool:
    """Return True if a SELECT computes columns of each row of another, and does nothing else."""
    clauses = {clause for clause, value in reader.select.args.items() if value}
    return (
        clauses <= {"expressions", "from_", "order"}
        and scope.is_plain
        and reader.is_row_mapping
        and all(scope.find_owner(column) is not None for column in scope.columns)
        and _keeps_aggregation(scope, reader)
        and _are_read_once(scope, reader, next(iter(reader.sources)), in_keys=True)
    )


def _keeps_aggregation(scope: Scope, reader: Scope) -> bool:
    """Return True if an aggregate of all rows is read, without which the SELECT would have a row for each of them."""
    if not scope.is_aggregate:
        return True
    aggregated = {name for name, item in scope.items.items() if is_aggregated(item)}
    return any(column.name in aggregated and not is_sort_key(column) for column in reader.columns)


def _are_read_once(scope: Scope, reader: Scope, alias: str, in_keys: bool) -> bool:
    """Return True if each computed column is read once or short, and not as a key.

    ``in_keys``: columns of the result may be sorted by under their names.
    """
    outputs = {item.unalias().name for item in reader.items.values() if isinstance(item.unalias(), exp.Column)}
    counts: Counter[str] = Counter()
    items = scope.items
    for column in reader.columns:
        if reader.find_owner(column) != alias or isinstance(items[column.name].unalias(), exp.Column):
            continue
        if _is_key(column):
            if not (in_keys and column.name in outputs):
                return False
        else:
            counts[column.name] += 1
    computed = [name for name in counts if not is_constant(items[name].unalias())]
    is_read_once = all(counts[name] == 1 or _is_short(items[name].unalias()) for name in computed)
    return is_read_once and (in_keys or len(computed) <= MAX_INLINED)


def _is_short(value: Expr) -> bool:
    """Return True for a number of rows, and a root or an absolute value of a column, which are as short as a name for them."""
    if isinstance(value, exp.Count) and isinstance(value.this, exp.Star):
        return True
    argument = value.this if isinstance(value, _SHORT_FUNCTIONS) else None
    return isinstance(argument.this if isinstance(argument, exp.Cast) else argument, exp.Column)


def _is_key(column: exp.Column) -> bool:
    """Return True if a column is a term of GROUP BY or ORDER BY, where a literal would mean a position."""
    parent = column.parent
    return isinstance(parent, exp.Group) or is_sort_key(column)


def _qualify_columns(scope: Scope) -> None:
    """Name the source of every column of a SELECT."""
    for column in scope.columns:
        if not column.table:
            column.set("table", exp.to_identifier(scope.find_owner(column)))


def _enclosing_item(column: exp.Column, reader: Scope) -> Expr:
    """Return the column of a result in which another is read."""
    node: Expr = column
    while node.parent is not None and node.parent is not reader.select:
        node = node.parent
    return node


def _move_comments(comments: list[str], value: Expr, column: exp.Column, item: Expr) -> list[str] | None:
    """Return the comments of a column for the one that reads it: they say what that is, or what its longest part is, or nothing of it."""
    read: Expr = item.unalias()
    while isinstance(read, (exp.Cast, exp.Coalesce, exp.Paren)):
        read = read.this
    if read is column or item.alias_or_name == column.name or any(isinstance(comment, LeadingComment) for comment in comments):
        return comments
    return [f"in it the {comments[0]}"] if len(write_tree(value)) > _LONG_VALUE else None


def _column_name(item: Expr) -> exp.Identifier:
    """Return the name of a column of a result."""
    identifier: exp.Identifier = item.args["alias"] if isinstance(item, exp.Alias) else item.this
    return identifier


def _move_clauses(scope: Scope, reader: Scope, keeps_clauses: bool) -> None:
    """Give a SELECT the sources and clauses of the one that it reads.

    ``keeps_clauses``: its own stay.
    """
    select = reader.select
    if not keeps_clauses:
        for clause, value in scope.select.args.items():
            if clause != "expressions" and value:
                select.set(clause, value)
        return
    select.set("from_", scope.select.args["from_"])
    select.set("joins", [*scope.joins, *reader.joins])
    if (condition := scope.select.args.get("where")) is not None:
        own = select.args.get("where")
        select.set("where", condition if own is None else exp.Where(this=exp.and_(condition.this, own.this, copy=False)))
