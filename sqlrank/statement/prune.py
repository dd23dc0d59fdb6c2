"""Leave out of a statement what nobody reads: columns, joins and steps, and steps that only repeat another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.library.nodes import nodes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

_CLAUSES = ("from_", "joins", "where", "group", "having", "order", "laterals", "qualify")


def prune(tree: exp.Select, keep: Collection[str]) -> None:
    """Leave out, in place, what is not read; what only repeats a step stays if it is one of ``keep``."""
    steps = tree.args["with_"].expressions
    for step in list(steps):
        if step.alias not in keep and (source := _repeated(step.this)):
            _rename(tree, step.alias, source)
            steps.remove(step)
    read: dict[str, set[str]] = {}
    _prune(tree, None, read)
    for step in reversed(list(steps)):
        if step.alias in read:
            _prune(step.this, read[step.alias], read)
        else:
            steps.remove(step)


def drop_empty(tree: exp.Select) -> None:
    """Leave out, in place, the steps without a column, which nothing can read: of metrics whose values are those of lists, all rows."""
    steps = tree.args["with_"].expressions
    for step in [step for step in steps if not step.this.selects]:
        steps.remove(step)


def _repeated(query: exp.Expr) -> str | None:
    """Return the table of which a query is all rows under their own names, if it is no more than that."""
    if not isinstance(query, exp.Select) or any(query.args.get(clause) for clause in (*_CLAUSES[1:], "distinct", "limit")):
        return None
    source = query.args["from_"].this
    columns = [item.this if isinstance(item, exp.Alias) and item.this.name == item.alias else item for item in query.expressions]
    return source.name if isinstance(source, exp.Table) and all(isinstance(item, exp.Column) for item in columns) else None


def _rename(tree: exp.Expr, step: str, source: str) -> None:
    """Let all that read a step read another."""
    for table in nodes(tree, exp.Table):
        if table.name == step and not table.db:
            alias = table.alias_or_name
            table.replace(exp.alias_(exp.to_table(source), alias, table=True) if alias != source else exp.to_table(source))


def _prune(query: exp.Expr, wanted: set[str] | None, read: dict[str, set[str]]) -> None:
    """Leave the columns of a query that are wanted (None: all), and note what it reads of the steps before."""
    if isinstance(query, exp.Union):
        places = None if wanted is None else [place for place, name in enumerate(query.named_selects) if name in wanted] or [0]
        for part in _parts(query):
            if places is not None:
                part.set("expressions", [part.expressions[place] for place in places])
            _prune(part, None, read)
        return
    if wanted is not None:
        columns = [item for item in query.expressions if item.alias_or_name in wanted]
        query.set("expressions", columns or query.expressions[:1])
    _drop_joins(query)
    sources = [source.alias_or_name for source in _sources(query)]
    needed: dict[str, set[str]] = {alias: set() for alias in sources}
    for column in _columns(query):
        for alias in [column.table] if column.table else sources:
            needed.setdefault(alias, set()).add(column.name)
    for source in _sources(query):
        if isinstance(source, exp.Subquery):
            _prune(source.this, needed[source.alias], read)
        elif isinstance(source, exp.Table):
            read.setdefault(source.name, set()).update(needed[source.alias_or_name])


def _parts(query: exp.Expr) -> Iterator[exp.Select]:
    rest: list[exp.Expr] = [query]
    while rest:
        part = rest.pop()
        if isinstance(part, exp.Union):
            rest += [part.args["expression"], part.this]
        elif isinstance(part, exp.Select):
            yield part


def _sources(query: exp.Expr) -> list[exp.Expr]:
    clauses = [query.args.get("from_"), *(query.args.get("joins") or [])]
    return [clause.this for clause in clauses if clause is not None]


def _columns(query: exp.Expr, has_joins: bool = True) -> Iterator[exp.Column]:
    """Return the columns that a SELECT names itself, not those within its sources."""
    for item in query.expressions:
        yield from nodes(item, exp.Column)
    for clause in _CLAUSES[2:]:
        if part := query.args.get(clause):
            yield from nodes(part, exp.Column)
    for join in query.args.get("joins") or () if has_joins else ():
        yield from _condition(join)


def _drop_joins(query: exp.Expr) -> None:
    """Leave out left joins of which nothing is read: they look up, so that they neither add rows nor take any."""
    joins = query.args.get("joins") or []
    read = {column.table for column in _columns(query, has_joins=False)}
    for join in reversed(list(joins)):
        others = (column.table for other in joins if other is not join for column in _condition(other))
        if join.side == "LEFT" and join.this.alias_or_name not in {*read, *others}:
            joins.remove(join)
    query.set("joins", joins)


def _condition(join: exp.Join) -> list[exp.Column]:
    condition = join.args.get("on")
    return nodes(condition, exp.Column) if condition is not None else []
