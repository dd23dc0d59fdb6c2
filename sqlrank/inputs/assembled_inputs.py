"""Make an input of others: of one with lists in its rows, as run and judgments of answers, by
``assembled.sql``, or of a join, by ``joined.sql``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.key_expansion import ExpansionContext, expand_keys
from sqlrank.compiler.row_keys import GROUP_ID, KeyColumns
from sqlrank.engines.database import Database, SourceTable
from sqlrank.errors import ContractError
from sqlrank.inputs.bound_input import BoundInput
from sqlrank.inputs.row_checks import list_problems, raise_problems
from sqlrank.optimizer.constants import fold_constants
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import find_nodes

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.registry.registry import Registry
    from sqlrank.resolve import ResolvedRequest

ROW_NUMBER = "ROW_NUMBER() OVER ()"
"""Text of the numbers of rows, in the place of a column."""


def load_assembly(library: Registry, role: str, name: str = "assembled") -> Any:
    """Return a copy of the query that assembles a role from its components, or joins it
    (``joined``).

    Raises:
        ContractError: There is no such file.
    """
    file = library.relations.get((role, name))
    if file is None:
        components = " and ".join(library.roles[role].assembled_from)
        raise ContractError(
            f"relations/{role}/{name}.sql is not there, which says how {role} are made of"
            f" {components}"
        )
    return library.validate_file(file).tree.copy()


def assembly_columns(request: ResolvedRequest, component: BoundInput) -> tuple[str, ...]:
    """Return the columns of a component that the assemblies of its lists read, of optional ones
    those that it has.
    """
    trees = [
        load_assembly(request.library, role)
        for role, name in request.assembled_roles.items()
        if name == component.role.name
    ]
    read_columns = {column.name for tree in trees for column in find_nodes(tree, exp.Column)}
    return tuple(
        name
        for name, column in component.role.columns.items()
        if name in read_columns
        and (name in component.columns or not (column.optional or column.default is not None))
    )


def number_rows(bound_input: BoundInput) -> BoundInput:
    """Return a component whose rows are numbered, if it has no column that identifies them and its
    engine computes steps once.
    """
    key = bound_input.role.query_column
    if (
        key is None
        or key in bound_input.columns
        or not get_dialect(bound_input.table.dialect).computes_ctes_once
    ):
        return bound_input
    number = exp.Window(this=exp.RowNumber())
    return bound_input.with_expression(ROW_NUMBER, number, "BIGINT").with_columns({key: ROW_NUMBER})


def assemble_inputs(
    request: ResolvedRequest, inputs: Mapping[str, BoundInput], database: Database
) -> dict[str, BoundInput]:
    """Return the inputs that are assembled from another, with the types of their columns."""
    assembled = {}
    for role, component_role in request.assembled_roles.items():
        component, tree = inputs[component_role], load_assembly(request.library, role)
        lists = [
            column.name
            for unnest in find_nodes(tree, exp.Unnest)
            for column in find_nodes(unnest, exp.Column)
        ]
        if database.can_inspect:
            raise_problems(list_problems(database, component, assembly_columns(request, component)))
        node = _assembled_rows(request, role, component)
        table = SourceTable(
            component.table.label,
            node,
            database.describe(exp.select("*").from_(node.copy())) if database.can_inspect else None,
            component.table.dialect,
            display_item=_assembled_rows(request, role, component, for_display=True),
            has_row_count=False,
            has_collations=component.table.has_collations,
        )
        assembled_names = {item.alias_or_name for item in node.this.selects}
        names = {
            name: table.find_column(name) or name
            for name in request.library.roles[role].columns
            if name in assembled_names
        }
        assembled[role] = BoundInput(
            request.library.roles[role],
            table,
            request.library.checks.get(role),
            {**names, **{name: name for name in component.group_names}},
            group_names=component.group_names,
            assembled_from=f"{component_role}.{lists[0]}",
        )
    return assembled


def join_inputs(
    request: ResolvedRequest, inputs: Mapping[str, BoundInput], database: Database
) -> dict[str, BoundInput]:
    """Return the inputs that are joins of others, and those others with the columns that the joins
    read.
    """
    joined: dict[str, BoundInput] = {}
    for role, components in request.joined_roles.items():
        for name in components:
            needed = [
                column.name for column in inputs[name].role.columns.values() if column.is_required
            ]
            joined[name] = inputs[name].with_fallbacks(needed).assume_columns(needed)
            raise_problems(
                list_problems(database, joined[name], needed) if database.can_inspect else []
            )
        table = joined[components[0]].table
        rows = _joined_rows(request, role, joined)
        names = rows.this.named_selects
        joined[role] = BoundInput(
            request.library.roles[role],
            replace(
                table,
                from_item=rows,
                column_types=(
                    database.describe(exp.select("*").from_(rows.copy()))
                    if database.can_inspect
                    else None
                ),
                display_item=_joined_rows(request, role, joined, for_display=True),
                has_row_count=False,
            ),
            request.library.checks.get(role),
            {name: name for name in names},
            group_names=tuple(names[: names.index("query_id")]),
            assembled_from=" and ".join(components),
        )
    return joined


def expand_join(request: ResolvedRequest, role: str, inputs: Mapping[str, BoundInput]) -> Any:
    """Return the query that joins an input from others, whose first columns are those of their
    groups.
    """
    tree = load_assembly(request.library, role, "joined")
    expand_keys(
        tree,
        ExpansionContext(
            lambda name: {GROUP_ID: KeyColumns(inputs[name].group_names, nullable=True)}
        ),
    )
    return tree


def _joined_rows(
    request: ResolvedRequest, role: str, inputs: Mapping[str, BoundInput], for_display: bool = False
) -> exp.Subquery:
    """Return the rows of a joined input over the tables of its components."""
    tree = expand_join(request, role, inputs)
    for table in find_nodes(tree, exp.Table):
        component = inputs[table.name]
        table.replace(
            component.select_columns(component.role.columns, for_display=for_display).subquery(
                table.name
            )
        )
    return exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier(role)))


def reassemble_inputs(
    request: ResolvedRequest, inputs: Mapping[str, BoundInput]
) -> dict[str, BoundInput]:
    """Return the assembled inputs over the rows that their components have now."""
    reassembled = {}
    for role, component_role in request.assembled_roles.items():
        rows, display_rows = (
            _assembled_rows(request, role, inputs[component_role], for_display)
            for for_display in (False, True)
        )
        reassembled[role] = replace(
            inputs[role],
            table=replace(inputs[role].table, from_item=rows, display_item=display_rows),
        )
    for role in request.joined_roles:
        rows, display_rows = (
            _joined_rows(request, role, inputs, for_display) for for_display in (False, True)
        )
        reassembled[role] = replace(
            inputs[role],
            table=replace(inputs[role].table, from_item=rows, display_item=display_rows),
        )
    return reassembled


def select_over_component(
    request: ResolvedRequest, inputs: Mapping[str, BoundInput], role: str, query: exp.Select
) -> exp.Select:
    """Return a query over an assembled input as one over the CTE of its component, without a
    subquery.
    """
    tree = _build_subquery(
        load_assembly(request.library, role), role, inputs[request.assembled_roles[role]]
    ).this
    values = {item.alias_or_name: item.unalias() for item in tree.selects}
    query.set("from_", None)
    for column in find_nodes(query, exp.Column):
        value = (
            values.get(column.name) or values[column.name.lower()]
        ).copy()  # lower, where the engine folds names to upper case
        is_renamed = column.parent is query and value.alias_or_name != column.name
        column.replace(exp.alias_(value, column.name) if is_renamed else value)
    query.set("from_", tree.args["from_"])
    query.set("joins", tree.args.get("joins"))
    return query


def _assembled_rows(
    request: ResolvedRequest, role: str, component: BoundInput, for_display: bool = False
) -> exp.Subquery:
    """Return the rows of an assembled input over the table of its component."""
    node = _build_subquery(load_assembly(request.library, role), role, component)
    defaults = [
        name
        for name, column in component.role.columns.items()
        if column.default is not None and name not in component.columns
    ]
    names = [*assembly_columns(request, component), *defaults]
    rows = component.select_columns(names, for_display=for_display).subquery(component.role.name)
    for table in find_nodes(node, exp.Table):
        table.replace(rows)
    return node


def _build_subquery(tree: exp.Select, role: str, component: BoundInput) -> exp.Subquery:
    """Return an assembly with the keys of groups written out, and without the optional columns that
    its component lacks.
    """
    optional = {name: column for name, column in component.role.columns.items() if column.optional}
    missing = {name for name in optional if name not in component.columns}
    for test in find_nodes(tree, exp.Is):
        if (
            isinstance(test.this, exp.Column)
            and test.this.table == component.role.name
            and test.this.name in optional
        ):
            name = test.this.name
            if name in missing or not optional[name].nullable:
                test.replace(exp.true() if name in missing else exp.false())
    fold_constants(tree)
    tree.set(
        "expressions",
        [
            item
            for item in tree.selects
            if not (isinstance(item, exp.Column) and item.name in missing)
        ],
    )
    expand_keys(
        tree,
        ExpansionContext(lambda _: {GROUP_ID: KeyColumns(component.group_names, nullable=True)}),
    )
    return tree.subquery(role)
