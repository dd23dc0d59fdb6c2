"""Move subqueries of FROM and JOIN into CTEs, each before its reader, and queries that users give as sources into the first CTEs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.optimizer.statement_graph import union_members
from sqlrank.query_text import query_text, unqualified_tables
from sqlrank.sql_ast import find_nodes
from sqlrank.unique_names import unique_name

if TYPE_CHECKING:
    from sqlglot.expressions import Expr


def eliminate_subqueries(query: exp.Query) -> set[str]:
    """Move the subqueries of FROM and JOIN into CTEs, in place, under their aliases; return the names of these.

    A subquery that reads a table of the user stays: it is a source as the user gave it. sqlglot's pass of this name renames columns that
    it cannot qualify, and needs the scopes of its optimizer, which take ten times as long.

    >>> import sqlglot
    >>> query = sqlglot.parse_one("WITH a AS (SELECT x FROM t) SELECT y FROM (SELECT x + 1 AS y FROM a) AS b")
    >>> eliminate_subqueries(query)
    {'b'}
    >>> print(query.sql())
    WITH a AS (SELECT x FROM t), b AS (SELECT x + 1 AS y FROM a) SELECT y FROM b
    """
    with_clause = query.args.get("with_") or exp.With(expressions=[])
    ctes: list[exp.CTE] = with_clause.expressions
    # A CTE may not have the name of a table that the statement reads: the readers of the table would read the CTE.
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


def _lift_subqueries(query: exp.Expr, cte_names: set[str], used_names: set[str], lifted: list[exp.CTE]) -> bool:
    """Move the subqueries of a query; return True if it reads CTEs only."""
    reads_only_ctes = True
    for select in union_members(query):
        for clause in (select.args.get("from_"), *(select.args.get("joins") or [])):
            if clause is not None:
                reads_only_ctes &= _lift_source(clause.this, cte_names, used_names, lifted)
    return reads_only_ctes


def _lift_source(source: Expr, cte_names: set[str], used_names: set[str], lifted: list[exp.CTE]) -> bool:
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
    if not _lift_subqueries(source.this, cte_names, used_names, lifted) or source.alias_column_names:
        return False
    name = unique_name(source.alias, used_names)
    used_names.add(name)
    cte_names.add(name)
    identifier = source.args["alias"].this.copy()
    identifier.set("this", name)
    lifted.append(exp.CTE(this=source.this, alias=exp.TableAlias(this=identifier)))
    source.replace(exp.Table(this=identifier.copy(), alias=None if name == source.alias else source.args["alias"]))
    return True


def lift_user_queries(query: exp.Query) -> None:
    """Move the queries of the user into the first CTEs, in place; equal ones become one.

    >>> import sqlglot
    >>> from sqlrank.query_text import QueryText
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
    for source in [*(node for cte in with_clause.expressions for node in find_nodes(cte, exp.Subquery)), *find_nodes(query, exp.Subquery)]:
        if (text := query_text(source)) is None:
            continue
        if text not in names_by_text:
            names_by_text[text] = unique_name(source.alias, used_names)
            used_names.add(names_by_text[text])
            ctes.append(exp.CTE(this=source.this, alias=exp.TableAlias(this=exp.to_identifier(names_by_text[text]))))
        name = names_by_text[text]
        source.replace(exp.table_(name, alias=None if name == source.alias else source.alias))
    if ctes:
        with_clause.set("expressions", [*ctes, *with_clause.expressions])
        query.set("with_", with_clause)
