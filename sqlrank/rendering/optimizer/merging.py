"""Lift subqueries into CTEs, merge CTEs into their readers and equal ones into one, and eliminate
joins to distinct keys.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.rendering.optimizer.statement_graph import (
    Readers,
    Scope,
    StatementGraph,
    StatementStep,
    is_aggregated,
    is_constant,
    is_sort_key,
    iterate_conjuncts,
    union_members,
)
from sqlrank.sql_ast import (
    NEVER_NULL,
    LeadingComment,
    find_nodes,
    output_identifier,
    query_text,
    unique_name,
    unqualified_tables,
    write_tree,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sqlglot.expressions import Expr


def eliminate_subqueries(query: exp.Query) -> set[str]:
    """Move the subqueries of FROM and JOIN into CTEs, in place, under their aliases; return the
    names of these.

    A subquery that reads a table of the user stays: it is a source as the user gave it. sqlglot's
    pass of this name renames columns that it cannot qualify, and needs the scopes of its optimizer,
    which take ten times as long.

    >>> import sqlglot
    >>> query = sqlglot.parse_one(
    ...     "WITH a AS (SELECT x FROM t) SELECT y FROM (SELECT x + 1 AS y FROM a) AS b"
    ... )
    >>> eliminate_subqueries(query)
    {'b'}
    >>> print(query.sql())
    WITH a AS (SELECT x FROM t), b AS (SELECT x + 1 AS y FROM a) SELECT y FROM b
    """
    with_clause = query.args.get("with_") or exp.With(expressions=[])
    ctes: list[exp.CTE] = with_clause.expressions
    # A CTE may not have the name of a table that the statement reads: the readers of the table
    # would read the CTE.
    own_names = {cte.alias for cte in ctes}
    cte_names = set(own_names)
    used_names = cte_names | unqualified_tables(query)
    lifted: list[exp.CTE] = []
    for cte in ctes:
        _lift_subqueries(cte.this, cte_names, used_names, lifted)
        lifted.append(cte)
    _lift_subqueries(query, cte_names, used_names, lifted)
    if lifted:
        with_clause.set("expressions", lifted)
        query.set("with_", with_clause)
    return cte_names - own_names


def _lift_subqueries(
    query: exp.Expr, cte_names: set[str], used_names: set[str], lifted: list[exp.CTE]
) -> bool:
    """Move the subqueries of a query; return True if it reads CTEs only."""
    reads_only_ctes = True
    for select in union_members(query):
        for clause in (select.args.get("from_"), *(select.args.get("joins") or [])):
            if clause is not None:
                reads_only_ctes &= _lift_source(clause.this, cte_names, used_names, lifted)
    return reads_only_ctes


def _lift_source(
    source: Expr, cte_names: set[str], used_names: set[str], lifted: list[exp.CTE]
) -> bool:
    """Move an item of FROM if it is a subquery of CTEs; return True if it reads CTEs only."""
    if isinstance(source, exp.Table):
        return not source.db and source.name in cte_names
    if (
        not isinstance(source, exp.Subquery)
        or query_text(source) is not None
        or source.args.get("with_")
        or source.this.args.get("with_")
        or not source.alias
    ):
        return False
    if (
        not _lift_subqueries(source.this, cte_names, used_names, lifted)
        or source.alias_column_names
    ):
        return False
    name = unique_name(source.alias, used_names)
    used_names.add(name)
    cte_names.add(name)
    identifier = source.args["alias"].this.copy()
    identifier.set("this", name)
    lifted.append(exp.CTE(this=source.this, alias=exp.TableAlias(this=identifier)))
    source.replace(
        exp.Table(
            this=identifier.copy(), alias=None if name == source.alias else source.args["alias"]
        )
    )
    return True


def lift_user_queries(query: exp.Query) -> None:
    """Move the queries of the user into the first CTEs, in place; equal ones become one.

    >>> import sqlglot
    >>> from sqlrank.sql_ast import QueryText
    >>> query = sqlglot.parse_one("WITH a AS (SELECT x FROM (x) AS run_query) SELECT x FROM a")
    >>> query.find(exp.Subquery).set("this", exp.var(QueryText("SELECT 1 AS x")))
    >>> lift_user_queries(query)
    >>> print(query.sql())
    WITH run_query AS (SELECT 1 AS x), a AS (SELECT x FROM run_query) SELECT x FROM a
    """
    with_clause = query.args.get("with_") or exp.With(expressions=[])
    used_names = {cte.alias for cte in with_clause.expressions} | unqualified_tables(query)
    names_by_text: dict[str, str] = {}
    ctes = []
    for source in [
        *(node for cte in with_clause.expressions for node in find_nodes(cte, exp.Subquery)),
        *find_nodes(query, exp.Subquery),
    ]:
        if (text := query_text(source)) is None:
            continue
        if text not in names_by_text:
            names_by_text[text] = unique_name(source.alias, used_names)
            used_names.add(names_by_text[text])
            ctes.append(
                exp.CTE(
                    this=source.this,
                    alias=exp.TableAlias(this=exp.to_identifier(names_by_text[text])),
                )
            )
        name = names_by_text[text]
        source.replace(exp.table_(name, alias=None if name == source.alias else source.alias))
    if ctes:
        with_clause.set("expressions", [*ctes, *with_clause.expressions])
        query.set("with_", with_clause)


MAX_INLINED = 2
"""Maximum number of computed columns that are written where they are read; more would hide the
formula of a metric.
"""

_SHORT_FUNCTIONS = (exp.Abs, exp.Neg, exp.Sqrt)

_LONG_VALUE = 400
"""Length of a merged expression from which its comment is kept beside the expression that it is a
part of.
"""


def forward_projections(graph: StatementGraph, lifted: Collection[str]) -> None:
    """Let the readers of CTEs that are columns of another, under their names, read that one, in
    place.

    The names of lifted subqueries say less, so that they go when they are merged.
    """
    readers = graph.find_readers()
    for step in list(graph.steps_by_name.values()):
        scope = (
            None
            if step.is_input or step.is_union or not _is_projection(step.scopes[0])
            else step.scopes[0]
        )
        if scope is None or scope.first_source is None or scope.first_source.name in lifted:
            continue
        if all(
            item.unalias().name == name for name, item in scope.items.items()
        ) and _forward_source(step, readers):
            graph.remove(step)


def merge_projections(graph: StatementGraph) -> None:
    """Merge CTEs with their source or their only reader, in place, where no long expression is
    written twice by that.

    sqlglot's ``merge_subqueries`` merges CTEs into readers as well, but only those without computed
    columns that are read in an aggregate, and none into the outermost query.

    >>> from sqlrank.rendering.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     merge_projections,
    ...     "WITH a AS (SELECT x, y FROM t), b AS (SELECT x FROM a WHERE y > 0) SELECT SUM(x) AS n FROM b",
    ... )
    'WITH a AS (SELECT x, y FROM t) SELECT SUM(a.x) AS n FROM a WHERE a.y > 0'
    >>> rewrite_graph(
    ...     merge_projections,
    ...     "WITH a AS (SELECT x FROM t), b AS (SELECT SUM(x) AS n FROM a) SELECT n / 2 AS half FROM b",
    ... )
    'WITH a AS (SELECT x FROM t) SELECT SUM(a.x) / 2 AS half FROM a'
    """  # noqa: E501
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
    return (
        scope.clauses == {"expressions", "from_"}
        and scope.is_plain
        and all(isinstance(item.unalias(), exp.Column) for item in scope.items.values())
    )


def _forward_source(step: StatementStep, readers: Readers) -> bool:
    """Let the readers of a projection read its source, if they can; return True if they do."""
    scope = step.scopes[0]
    (source,) = scope.sources.values()
    names = {name: item.unalias() for name, item in scope.items.items()}
    if not readers[step.name] or not all(
        reader.is_plain and all(reader.find_owner(column) is not None for column in reader.columns)
        for reader, _ in readers[step.name]
    ):
        return False
    for reader, table in readers[step.name]:
        alias = table.alias_or_name
        for column in reader.columns:
            if reader.find_owner(column) == alias and (
                column.table or names[column.name].name != column.name
            ):
                value = names[column.name].copy()
                value.set("table", exp.to_identifier(alias))
                reader.substitute(column, value)
        forwarded = exp.table_(source.name, alias=None if alias == source.name else alias)
        table.replace(forwarded)
        reader.mark_changed()
        readers[source.name].append((reader, forwarded))
    readers[source.name] = [
        (reader, table) for reader, table in readers[source.name] if reader is not scope
    ]
    origin = step.graph.steps_by_name[source.name]
    if (
        step.cte is not None
        and step.cte.args.get("materialized")
        and origin.cte is not None
        and not origin.is_input
    ):
        origin.cte.set("materialized", True)  # noqa: FBT003  sqlglot's flag
    return True


def _merge_into_reader(step: StatementStep, reader: Scope, readers: Readers) -> bool:
    """Merge a CTE into the SELECT that reads it, if no column of it is computed twice by that;
    return True if it is done.
    """
    scope = step.scopes[0]
    if (
        not reader.is_plain
        or len(readers[step.name]) != 1
        or any(reader.find_owner(column) is None for column in reader.columns)
    ):
        return False
    alias = next(name for name, read in reader.source_steps.items() if read is step)
    if not (_can_inline(scope, reader, alias) or _can_map(scope, reader)):
        return False
    _qualify_columns(scope)
    keeps_clauses = not _can_map(scope, reader)
    outputs = {
        item.unalias().name: item
        for item in reader.items.values()
        if isinstance(item.unalias(), exp.Column)
    }
    items = scope.items
    for column in [column for column in reader.columns if reader.find_owner(column) == alias]:
        value, comments = items[column.name].unalias(), items[column.name].comments
        if not keeps_clauses and comments and not is_sort_key(column) and not _is_short(value):
            item: Expr = column
            while item.parent is not None and item.parent is not reader.select:
                item = item.parent
            item.comments = item.comments or _move_comments(comments, value, column, item)
        if is_sort_key(column) and not isinstance(value, exp.Column):
            column.set("table", None)
            column.set("this", output_identifier(outputs[column.name]).copy())
        else:
            reader.substitute(column, value.copy(), comments)
    _move_clauses(scope, reader, keeps_clauses)
    for name in {source.name for source in scope.sources.values()}:
        readers[name] = [
            (reader if other is scope else other, table) for other, table in readers[name]
        ]
    reader.mark_changed()
    return True


def _can_inline(scope: Scope, reader: Scope, alias: str) -> bool:
    """Return True if the rows of a SELECT can be computed where they are read, as the first source
    of another.

    Joins stay in a step of their own before those of an aggregation: DataFusion 55 and Databend 1.2
    do not plan all of them together.
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
    """Return True if the windows of a reader would sort rows with the lists from which a column is
    computed.
    """
    has_windows = any(item.find(exp.Window) for item in reader.items.values())
    return has_windows and any(item.find(exp.ArrayPosition) for item in scope.items.values())


def _can_map(scope: Scope, reader: Scope) -> bool:
    """Return True if a SELECT computes columns of each row of another, and does nothing else."""
    clauses = {clause for clause, value in reader.select.args.items() if value}
    return (
        clauses <= {"expressions", "from_", "order"}
        and scope.is_plain
        and (reader.is_row_mapping or _numbers_keys(scope, reader))
        and all(scope.find_owner(column) is not None for column in scope.columns)
        and _keeps_aggregation(scope, reader)
        and _are_read_once(scope, reader, next(iter(reader.sources)), in_keys=True)
    )


def _numbers_keys(scope: Scope, reader: Scope) -> bool:
    """Return True if a SELECT has windows over the keys of a GROUP BY, which come after it."""
    return (
        scope.is_row_mapping
        and bool(scope.select.args.get("group"))
        and not reader.is_aggregate
        and all(isinstance(item.unalias(), exp.Column) for item in scope.items.values())
    )


def _keeps_aggregation(scope: Scope, reader: Scope) -> bool:
    """Return True if an aggregate of all rows is read, without which the SELECT would have a row
    for each of them.
    """
    if not scope.is_aggregate:
        return True
    aggregated = {name for name, item in scope.items.items() if is_aggregated(item)}
    return any(column.name in aggregated and not is_sort_key(column) for column in reader.columns)


def _are_read_once(scope: Scope, reader: Scope, alias: str, in_keys: bool) -> bool:
    """Return True if each computed column is read once or short, and not as a key.

    ``in_keys``: columns of the result may be sorted by under their names.
    """
    outputs = {
        item.unalias().name
        for item in reader.items.values()
        if isinstance(item.unalias(), exp.Column)
    }
    counts: Counter[str] = Counter()
    items = scope.items
    for column in reader.columns:
        if reader.find_owner(column) != alias or isinstance(
            items[column.name].unalias(), exp.Column
        ):
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
    """Return True for a number of rows, and a root or an absolute value of a column, which are as
    short as a name for them.
    """
    if isinstance(value, exp.Count) and isinstance(value.this, exp.Star):
        return True
    argument = value.this if isinstance(value, _SHORT_FUNCTIONS) else None
    return isinstance(argument.this if isinstance(argument, exp.Cast) else argument, exp.Column)


def _is_key(column: exp.Column) -> bool:
    """Return True if a column is a term of GROUP BY or ORDER BY, where a literal would mean a
    position.
    """
    parent = column.parent
    return isinstance(parent, exp.Group) or is_sort_key(column)


def _qualify_columns(scope: Scope) -> None:
    """Name the source of every column of a SELECT that has one."""
    for column in scope.columns:
        if not column.table and (owner := scope.find_owner(column)) is not None:
            column.set("table", exp.to_identifier(owner))


def _move_comments(
    comments: list[str], value: Expr, column: exp.Column, item: Expr
) -> list[str] | None:
    """Return the comments of a column for the one that reads it: they say what that is, or what its
    longest part is, or nothing of it.
    """
    read: Expr = item.unalias()
    while isinstance(read, (exp.Cast, exp.Coalesce, exp.Paren)):
        read = read.this
    if (
        read is column
        or item.alias_or_name == column.name
        or any(isinstance(comment, LeadingComment) for comment in comments)
    ):
        return comments
    return [f"in it the {comments[0]}"] if len(write_tree(value)) > _LONG_VALUE else None


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
        select.set(
            "where",
            (
                condition
                if own is None
                else exp.Where(this=exp.and_(condition.this, own.this, copy=False))
            ),
        )


def merge_aggregations(graph: StatementGraph) -> bool:
    """Make one CTE of those that aggregate the same rows by the same keys, and of equal ones, in
    place; return True if there are any.

    The rows are scanned and grouped once, which takes 8 % of the time of a statement with 200,000
    groups. sqlglot finds equal subqueries while it moves them into CTEs, which is before columns
    are pruned.

    >>> from sqlrank.rendering.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     merge_aggregations,
    ...     "WITH a AS (SELECT 1 AS x), b AS (SELECT 1 AS x) SELECT a.x, b.x AS y FROM a CROSS JOIN b",
    ... )
    'WITH a AS (SELECT 1 AS x) SELECT a.x, b.x AS y FROM a CROSS JOIN a AS b'
    >>> rewrite_graph(
    ...     merge_aggregations,
    ...     '''WITH a AS (SELECT x, y FROM t), b AS (SELECT x, COUNT(*) AS n FROM a GROUP BY x),
    ... c AS (SELECT x, SUM(y) AS y, MAX(y) AS z FROM a GROUP BY x), d AS (SELECT x, MIN(y) AS m FROM a GROUP BY x)
    ... SELECT n, c.y, m FROM b JOIN c ON b.x = c.x JOIN d ON b.x = d.x''',
    ... )
    'WITH a AS (SELECT x, y FROM t), c AS (SELECT x, COUNT(*) AS n, SUM(y) AS y, MAX(y) AS z, MIN(y) AS m FROM a GROUP BY x) \
SELECT b.n, c.y, c.m FROM c AS b JOIN c ON b.x = c.x'
    """  # noqa: E501
    is_changed = False
    earlier_by_sources: dict[tuple[str, ...], list[StatementStep]] = {}
    for step in list(graph.steps_by_name.values()):
        candidates = earlier_by_sources.setdefault(
            tuple(source.name for scope in step.scopes for source in scope.sources.values()), []
        )
        equal = next((other for other in candidates if _have_equal_rows(other, step)), None)
        if equal is None or step.is_input or _is_random(step):
            candidates.append(step)
            continue
        candidates[candidates.index(equal)] = _merge_steps(graph, equal, step)
        is_changed = True
    return is_changed


def share_rows(graph: StatementGraph) -> bool:
    """Let a CTE that aggregates the source of another one read that one, in place, if it adds
    columns and no rows, and is aggregated by the same keys: the two are then merged. Return True if
    there are any.

    >>> from sqlrank.rendering.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     share_rows,
    ...     '''WITH a AS (SELECT x, y FROM t), b AS (SELECT x, COUNT(y) AS n FROM a GROUP BY x),
    ... c AS (SELECT x, y, ROW_NUMBER() OVER (PARTITION BY x) AS z FROM a), d AS (SELECT x, SUM(z) AS s FROM c GROUP BY x)
    ... SELECT n, s FROM b JOIN d ON b.x = d.x''',
    ... )
    'WITH a AS (SELECT x, y FROM t), c AS (SELECT x, y, ROW_NUMBER() OVER (PARTITION BY x) AS z FROM a), \
b AS (SELECT x, COUNT(y) AS n FROM c GROUP BY x), d AS (SELECT x, SUM(z) AS s FROM c GROUP BY x) \
SELECT n, s FROM b JOIN d ON b.x = d.x'
    """  # noqa: E501
    is_changed = False
    readers = graph.find_readers()
    passed: dict[str, dict[str, set[str]]] = {}
    for step in list(graph.steps_by_name.values()):
        passed[step.name] = _find_passed_columns(step, passed)
        aggregations = [
            reader.step for reader, _ in readers[step.name] if "group" in reader.clauses
        ]
        for source, names in passed[step.name].items() if aggregations else ():
            for reader, table in readers[source]:
                if (
                    len(reader.sources) == 1
                    and all(not column.table and column.name in names for column in reader.columns)
                    and _read_instead(reader, table, step, aggregations)
                ):
                    _move_before(graph, step, reader.step)
                    is_changed = True
    return is_changed


def _find_passed_columns(
    step: StatementStep, passed: Mapping[str, Mapping[str, set[str]]]
) -> dict[str, set[str]]:
    """Return the columns that a CTE passes on from each of those that have its rows."""
    scope, source = step.scopes[0], step.scopes[0].first_source
    is_extension = (
        scope.clauses == {"expressions", "from_"}
        and not step.is_union
        and scope.is_plain
        and not scope.is_aggregate
        and not _is_random(step)
    )
    if source is None or not is_extension:
        return {}
    names = {
        name
        for name, item in scope.items.items()
        if isinstance(item, exp.Column) and item.name == name
    }
    inner = {name: columns & names for name, columns in passed[source.name].items()}
    return {source.name: names} | inner


def _read_instead(
    reader: Scope, table: Expr, step: StatementStep, others: Collection[StatementStep]
) -> bool:
    """Let a SELECT read another CTE if it then has the rows of one of its readers; return True if
    it does.
    """
    replacement = exp.table_(step.name)
    table.replace(replacement)
    if has_equal := any(_have_equal_rows(other, reader.step) for other in others):
        reader.mark_changed()
    else:
        replacement.replace(table)
    return has_equal


def _move_before(graph: StatementGraph, step: StatementStep, reader: StatementStep) -> None:
    """Put a CTE, and those between its source and it, before one that reads it."""
    names = list(graph.steps_by_name)
    position = names.index(reader.name)
    while position < names.index(step.name):
        moved = names.pop(names.index(step.name))
        names.insert(position, moved)
        step = graph.steps_by_name[next(iter(step.scopes[0].sources.values())).name]
    graph.steps_by_name = {name: graph.steps_by_name[name] for name in names}


def _have_equal_rows(earlier: StatementStep, later: StatementStep) -> bool:
    """Return True if CTEs are equal, or aggregate the same rows by the same keys to columns of
    which those of one name are equal.
    """
    if earlier.is_union or later.is_union:
        return earlier.query == later.query
    scopes = (earlier.scopes[0], later.scopes[0])
    items, later_items = (scope.items for scope in scopes)
    clauses, later_clauses = (
        {
            clause: value
            for clause, value in scope.select.args.items()
            if value and clause != "expressions"
        }
        for scope in scopes
    )
    if clauses != later_clauses or any(
        items[name] != item for name, item in later_items.items() if name in items
    ):
        return False
    is_aggregation = "group" in clauses or all(scope.is_aggregate for scope in scopes)
    return items.keys() == later_items.keys() or (is_aggregation and "order" not in clauses)


def _is_random(step: StatementStep) -> bool:
    return step.query.find(exp.Rand) is not None


def _merge_steps(
    graph: StatementGraph, earlier: StatementStep, later: StatementStep
) -> StatementStep:
    """Give the one of two CTEs that says more the columns of both, at the place of the earlier one,
    and return it.
    """
    is_told = earlier.column_names == later.column_names or len(earlier.column_names) > len(
        later.column_names
    )
    merged, replaced = (earlier, later) if is_told else (later, earlier)
    readers = graph.find_readers()
    for scope, _ in [*readers[earlier.name], *readers[later.name]]:
        _qualify_columns(
            scope
        )  # while each has one owner: a reader of both would find the name of a column twice
    for scope, table in readers[replaced.name]:
        alias = table.alias_or_name
        table.replace(exp.table_(merged.name, alias=None if alias == merged.name else alias))
        scope.mark_changed()
    if (
        replaced.cte is not None
        and merged.cte is not None
        and replaced.cte.args.get("materialized")
    ):
        merged.cte.set("materialized", True)  # noqa: FBT003  sqlglot's flag
    columns = earlier.scopes[0].items | {
        name: item
        for name, item in later.scopes[0].items.items()
        if name not in earlier.scopes[0].items
    }
    if len(columns) > len(merged.column_names):
        merged.scopes[0].select.set("expressions", list(columns.values()))
        merged.scopes[0].mark_changed()
    for scope, _ in readers[replaced.name]:
        _drop_repeated_joins(scope, _list_group_keys(merged))
    # It stands where the earlier one did: readers of that come before the later one.
    steps = [
        merged if step is earlier else step
        for step in graph.steps_by_name.values()
        if step is not later
    ]
    graph.steps_by_name = {step.name: step for step in steps}
    return merged


def _drop_repeated_joins(scope: Scope, keys: Collection[str]) -> None:
    """Drop the joins to a CTE that a join before has under the same condition, which compares its
    keys.
    """
    aliases: dict[Expr, str] = {}
    for join in list(scope.joins):
        alias, condition = join.this.alias_or_name, join.copy()
        compared = {
            side.name
            for conjunct in iterate_conjuncts(join.args.get("on"))
            if isinstance(conjunct.unnest(), (exp.EQ, exp.NullSafeEQ))
            for side in (conjunct.unnest().this, conjunct.unnest().expression)
            if isinstance(side, exp.Column) and side.table == alias
        }
        condition.set("this", exp.table_(join.this.name))
        for column in condition.find_all(exp.Column):
            if column.table == alias:
                column.set("table", None)
        first = aliases.setdefault(condition, alias)
        if first != alias and keys and compared >= {*keys}:
            scope.joins.remove(join)
            for column in scope.columns:
                if column.table == alias:
                    column.set("table", exp.to_identifier(first))
            scope.mark_changed()


def _list_group_keys(step: StatementStep) -> list[str]:
    """Return the columns that identify a row of an aggregation, none if a key is no column."""
    scope = step.scopes[0]
    group = scope.select.args.get("group")
    if step.is_union or group is None or {*filter(group.args.get, group.args)} != {"expressions"}:
        return []
    names = [name for name, item in scope.items.items() if item.unalias() in group.expressions]
    return names if len(names) == len(group.expressions) else []


def order_ctes(graph: StatementGraph) -> None:
    """Put the CTEs that read tables of the user first, in place.

    >>> from sqlrank.rendering.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     order_ctes, "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM t) SELECT a.x FROM a, b"
    ... )
    'WITH b AS (SELECT x FROM t), a AS (SELECT 1 AS x) SELECT a.x FROM a, b'
    """
    steps = list(graph.steps_by_name.values())
    inputs = [step for step in steps if step.is_input and _reads_tables_only(graph, step)]
    others = [step for step in steps if step not in inputs]
    graph.steps_by_name = {step.name: step for step in [*inputs, *others]}


def _reads_tables_only(graph: StatementGraph, step: StatementStep) -> bool:
    """Return True if a CTE reads tables of the user, and no CTE."""
    tables = find_nodes(step.query, exp.Table)
    return bool(tables) and not any(graph.find(table) for table in tables)


def eliminate_joins(graph: StatementGraph) -> None:
    """Drop inner joins to the distinct keys of the table that they are joined to, and write left
    joins to one row as CROSS JOIN.

    sqlglot's pass of this name drops unused left joins only, which column_pruning does here.

    >>> from sqlrank.rendering.optimizer.statement_graph import rewrite_graph
    >>> rewrite_graph(
    ...     eliminate_joins,
    ...     '''WITH a AS (SELECT x, y FROM t), b AS (SELECT x FROM a GROUP BY x)
    ... SELECT b.x, a.y FROM a JOIN b ON b.x IS NOT DISTINCT FROM a.x''',
    ... )
    'WITH a AS (SELECT x, y FROM t), b AS (SELECT x FROM a GROUP BY x) SELECT a.x, a.y FROM a'
    >>> rewrite_graph(
    ...     eliminate_joins,
    ...     "WITH a AS (SELECT x FROM t), b AS (SELECT 1 AS y) SELECT x, y FROM a LEFT JOIN b ON TRUE",
    ... )
    'WITH a AS (SELECT x FROM t), b AS (SELECT 1 AS y) SELECT x, y FROM a CROSS JOIN b'
    """  # noqa: E501
    for step in graph.steps:
        for scope in step.scopes:
            for join in list(scope.joins):
                if (
                    join.side == "LEFT"
                    and join.args.get("on") == exp.true()
                    and _has_one_row(graph.find(join.this))
                ):
                    join.set("side", None)
                    join.set("kind", "CROSS")
                    join.set("on", None)
                elif not join.side and join.kind in {"", "INNER"} and scope.is_plain:
                    _drop_if_keys(scope, join)


def _has_one_row(step: StatementStep | None) -> bool:
    """Return True if a CTE has one row: aggregates of all rows, or literals."""
    if step is None or step.is_union:
        return False
    scope = step.scopes[0]
    return (
        scope.is_aggregate and scope.clauses <= {"expressions", "from_", "joins", "where"}
    ) or scope.clauses == {"expressions"}


def _drop_if_keys(scope: Scope, join: exp.Join) -> None:
    """Drop a join to the distinct keys of the first source, if its condition compares these
    keys.
    """
    keys_step, source = scope.step.graph.find(join.this), scope.first_source
    if (
        keys_step is None
        or source is None
        or keys_step.is_union
        or scope.is_nullable(source.alias_or_name)
    ):
        return
    keys = _distinct_keys(keys_step, source.name)
    alias, source_alias = join.this.alias_or_name, source.alias_or_name
    compared: dict[str, exp.Column] = {}
    for conjunct in iterate_conjuncts(join.args.get("on")):
        equality = conjunct.unnest()
        # Where a key may be NULL, an equality leaves out rows.
        is_null_safe = isinstance(equality, exp.NullSafeEQ) or (
            isinstance(equality, exp.EQ) and NEVER_NULL in equality.meta
        )
        sides = [equality.this, equality.expression] if is_null_safe else []
        by_table = {side.table: side for side in sides if isinstance(side, exp.Column)}
        if (
            by_table.keys() != {alias, source_alias}
            or keys.get(by_table[alias].name) != by_table[source_alias].name
        ):
            return
        compared[by_table[alias].name] = by_table[source_alias]
    if (
        compared.keys() != keys.keys()
        or not keys
        or any(scope.find_owner(column) is None for column in scope.columns)
    ):
        return
    scope.joins.remove(join)
    for column in scope.columns:
        if column.table == alias and column.find_ancestor(exp.Join) is not join:
            scope.substitute(column, compared[column.name].copy())
    scope.mark_changed()


def _distinct_keys(step: StatementStep, source: str) -> dict[str, str]:
    """Return the columns of a CTE of the distinct keys of a table by name, none if it is another
    CTE.
    """
    scope = step.scopes[0]
    group = scope.select.args.get("group")
    values = [item.unalias() for item in scope.select.expressions]
    if (
        scope.clauses != {"expressions", "from_", "group"}
        or [table.name for table in scope.sources.values()] != [source]
        or group is None
    ):
        return {}
    grouped = {term.name for term in group.expressions if isinstance(term, exp.Column)}
    names = {
        item.alias_or_name: value.name
        for item, value in zip(scope.select.expressions, values, strict=True)
    }
    is_keys = all(isinstance(value, exp.Column) for value in values) and len(grouped) == len(
        group.expressions
    )
    return names if is_keys and grouped == set(names.values()) else {}
