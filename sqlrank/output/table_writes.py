"""Build statements that store a SELECT: CREATE of a table or view, INSERT, or DELETE and INSERT by
a column.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.query_sources import fold_column_name, parse_table_name
from sqlrank.errors import InputError, MetricError, join_words, suggest_choice
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.optimizer.optimizer import prune_query
from sqlrank.rendering.renderer import render_statement, to_sql
from sqlrank.sql_ast import (
    count_rows,
    find_nodes,
    is_null,
    output_identifier,
    query_text,
    sql_literal,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlrank.compiler.statement import CompiledStatement


def wrap_for_storage(
    statement: CompiledStatement,
    dialect: str,
    create_table: str | None,
    create_view: str | None,
    insert: str | None,
    input_relations: Iterable[exp.Expr] = (),
) -> CompiledStatement:
    """Return the statement that stores the result, unchanged if there is no target.

    A stored result has no order of rows. ``input_relations`` are the FROM items of the inputs.

    Raises:
        InputError: several targets, an invalid table name, or a target that is an input.
    """
    targets = {"create_table": create_table, "create_view": create_view, "insert": insert}
    arguments = [argument for argument, name in targets.items() if name is not None]
    if not arguments:
        return statement
    if len(arguments) > 1:
        raise InputError(
            f"{join_words(f'{argument}=' for argument in arguments)} are given. A result has one"
            " destination"
        )
    argument = arguments[0]
    engine = get_dialect(dialect)
    target = parse_table_name(argument, str(targets[argument]), dialect)
    target_parts = [part.name.lower() for part in target.parts]
    if any(
        _may_be_same(target_parts, name_parts)
        for relation in input_relations
        for name_parts in _table_names(relation)
    ):
        raise InputError(
            f"{argument}: {targets[argument]} is an input, which its own result cannot replace or"
            " add to. Name another table"
        )
    query = without_order(statement)
    tree: exp.Expr
    if argument == "insert":
        columns = [
            exp.to_identifier(select_item.output_name, quoted=output_identifier(select_item).quoted)
            for select_item in query.selects
        ]
        tree = exp.insert(query, target, columns=columns)
    else:
        kind, replaces = (
            ("VIEW", engine.supports_create_or_replace_view)
            if argument == "create_view"
            else ("TABLE", engine.supports_create_or_replace_table)
        )
        tree = exp.Create(this=target, kind=kind, replace=replaces, expression=query)
        if kind == "TABLE" and engine.table_properties is not None:
            tree.set("properties", engine.table_properties.copy())
    return replace(statement, tree=tree)


def _table_names(relation: exp.Expr) -> Iterable[Sequence[str]]:
    """Return the parts of the name of an input, or of the tables that the query of a user reads, in
    lower case.
    """
    if (text := query_text(relation)) is not None:
        return text.tables
    return (
        [[part.name.lower() for part in relation.parts]] if isinstance(relation, exp.Table) else []
    )


def _may_be_same(target_parts: Sequence[str], input_parts: Sequence[str]) -> bool:
    """Return True if two names may refer to one table: their common parts agree."""
    pairs = zip(reversed(target_parts), reversed(input_parts), strict=False)
    return all(target_part == input_part for target_part, input_part in pairs)


def without_order(statement: CompiledStatement) -> Any:
    """Return the query without ORDER BY, and with the caller's names of group columns."""
    query: Any = statement.tree.copy()
    query.set("order", None)
    taken = {select_item.output_name.lower() for select_item in query.selects}
    for position, (select_item, output) in enumerate(
        zip(query.selects, statement.outputs, strict=True)
    ):
        if output.kind == "by" and output.alias != output.name and output.name.lower() not in taken:
            query.expressions[position] = select_item.unalias().as_(
                output.name, quoted=output.quoted
            )
    return query


def delete_insert_script(
    statement: CompiledStatement,
    stored: CompiledStatement,
    dialect: str,
    column: str,
    insert: str | None,
    can_materialize: bool,
) -> str:
    """Return a script that deletes rows with the result's values, and inserts the result.

    The values are those of ``column``; NULL counts as a value. ``stored`` is the INSERT statement.

    Raises:
        InputError: no table to insert into, or a column that is not a group column.
        MetricError: the dialect cannot delete rows.
    """
    if insert is None:
        raise InputError(
            "overwrite_by= says which rows of insert= are replaced. Name that table, too"
        )
    target = get_dialect(dialect)
    if not target.supports_delete:
        raise MetricError(
            f"{dialect} deletes no rows, so that none can be replaced. Leave out overwrite_by, or"
            " choose create_table"
        )
    identifier = resolve_group_column(statement, column, dialect)
    delete = exp.Delete(
        this=stored.tree.this.this.copy(),
        where=exp.Where(this=_matches_row(_select_values(statement, identifier), identifier)),
    )
    if target.supports_transactions:
        begin, commit = (node.sql(target.sqlglot) for node in (exp.Transaction(), exp.Commit()))
        statements = [
            begin,
            to_sql(delete, dialect, pretty=True),
            to_sql(stored.tree, dialect, pretty=True, can_materialize=can_materialize),
            commit,
        ]
        return statement.header.format_comments(dialect) + ";\n".join(statements)
    note = (
        f"of two statements, for which {dialect} has no transaction: if the second fails, run both"
        " again"
    )
    header = replace(statement.header, notes=(*statement.header.notes, note))
    insert = to_sql(stored.tree, dialect, pretty=True, can_materialize=can_materialize)
    return f"{render_statement(delete, header, dialect)};\n{insert}"


def resolve_group_column(
    statement: CompiledStatement, column: str, dialect: str, argument: str = "overwrite_by"
) -> exp.Identifier:
    """Return the name of a column of ``by`` in a stored result; ``argument`` names it in
    messages.
    """
    items = zip(without_order(statement).selects, statement.outputs, strict=True)
    identifiers = {
        output.name: output_identifier(select_item)
        for select_item, output in items
        if output.kind == "by"
    }
    column = column if column in identifiers else fold_column_name(column, dialect)
    if column not in identifiers:
        problem = f"{argument}={column!r} is no column of by="
        raise InputError(
            suggest_choice(problem, column, identifiers)
            if identifiers
            else f"{problem}. Give it, too, such as by='day'"
        )
    return identifiers[column]


def _select_values(statement: CompiledStatement, identifier: exp.Identifier) -> exp.Select:
    """Return the query for the values of one result column, with CTEs inlined as subqueries.

    ClickHouse does not support CTEs in DELETE.
    """
    query: Any = without_order(statement)
    query.set(
        "expressions",
        [
            select_item
            for select_item in query.selects
            if output_identifier(select_item) == identifier
        ],
    )
    prune_query(query)
    ctes = query.args.pop("with_").expressions
    for index, cte in enumerate(ctes):
        for reader in [*(later_cte.this for later_cte in ctes[index + 1 :]), query]:
            for table in find_nodes(reader, exp.Table):
                if table.name == cte.alias and not table.db:
                    table.replace(cte.this.subquery(table.alias_or_name))
    return query  # type: ignore[no-any-return]


def _matches_row(values: exp.Select, identifier: exp.Identifier) -> exp.Expr:
    """Return the condition that the result has the value of a row.

    It needs no join, which not every engine supports in DELETE.
    """
    column = exp.column(identifier.copy())
    null_condition = is_null(column)
    nulls = (
        exp.select(count_rows())
        .from_(values.copy().subquery("result_values"))
        .where(null_condition.copy())
    )
    has_null = exp.GT(this=exp.Subquery(this=nulls), expression=sql_literal(0))
    matches_value = exp.In(this=column.copy(), query=exp.Subquery(this=values))
    return exp.or_(matches_value, exp.paren(exp.and_(null_condition, has_null), copy=False))
