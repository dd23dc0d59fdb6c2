"""Make an input of others: of one with lists in its rows, as run and judgments of answers, by
``assembled.sql``, or of a join, by ``joined.sql``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.request import split_column_list
from sqlrank.compiler.row_keys import GROUP_ID, QUERY_ID, ExpansionContext, KeyColumns, expand_keys
from sqlrank.engines.source_tables import SourceTable
from sqlrank.errors import ContractError, InputError, enumerate_names, suggest_choice
from sqlrank.inputs.bound_input import INTEGERS, BoundInput, BoundInputs
from sqlrank.inputs.column_mapping import role_mapping
from sqlrank.inputs.missing_columns import ID_FIELDS
from sqlrank.inputs.row_checks import (
    NUMERIC_TYPES,
    check_columns,
    list_problems,
    raise_problems,
    short_value,
)
from sqlrank.inputs.user_sql import parse_expression
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.optimizer.constants import fold_constants
from sqlrank.sql_ast import (
    DOUBLE,
    call_function,
    case_when,
    find_nodes,
    quoted_column,
    sql_literal,
    take_first,
    write_tree,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.call.resolve import ResolvedRequest
    from sqlrank.registry.registry import Registry
    from sqlrank.registry.roles import ColumnSpec, Role
    from sqlrank.registry.sql_file import SqlFile


ROW_NUMBER = "ROW_NUMBER() OVER ()"
"""Text of the numbers of rows, in the place of a column."""


def load_assembly(library: Registry, role: str, name: str = "assembled") -> Any:
    """Return a copy of the query of :func:`find_assembly`."""
    return find_assembly(library, role, name).tree.copy()


def find_assembly(library: Registry, role: str, name: str = "assembled") -> SqlFile:
    """Return the file whose query assembles a role from its components, or joins it (``joined``).

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
    return library.validate_file(file)


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
    if key is None or key in bound_input.columns or not bound_input.dialect.computes_ctes_once:
        return bound_input
    number = exp.Window(this=exp.RowNumber())
    return bound_input.with_expression(ROW_NUMBER, number, "BIGINT").with_columns({key: ROW_NUMBER})


def assemble_inputs(inputs: BoundInputs) -> dict[str, BoundInput]:
    """Return the inputs that are assembled from another, with the types of their columns."""
    assembled = {}
    for role, component_role in inputs.request.assembled_roles.items():
        component, tree = (
            inputs.by_role[component_role],
            load_assembly(inputs.request.library, role),
        )
        lists = [
            column.name
            for unnest in find_nodes(tree, exp.Unnest)
            for column in find_nodes(unnest, exp.Column)
        ]
        if inputs.database.can_inspect:
            raise_problems(list_problems(component, assembly_columns(inputs.request, component)))
        assembled[role] = _bind_rows(inputs, role, component, f"{component_role}.{lists[0]}")
    return assembled


def join_inputs(inputs: BoundInputs) -> dict[str, BoundInput]:
    """Return the inputs that are joins of others, and those others with the columns that the joins
    read.
    """
    joined: dict[str, BoundInput] = {}
    for role, components in inputs.request.joined_roles.items():
        for name in components:
            component = inputs.by_role[name]
            needed = [
                column.name for column in component.role.columns.values() if column.is_required
            ]
            joined[name] = component.with_fallbacks(needed).assume_columns(needed)
            if inputs.database.can_inspect:
                check_columns({name: joined[name]}, {name: tuple(needed)})
        joined[role] = _bind_rows(
            inputs.with_inputs(joined), role, joined[components[0]], " and ".join(components)
        )
    return joined


def _bind_rows(
    inputs: BoundInputs, role: str, first: BoundInput, assembled_from: str
) -> BoundInput:
    """Return an input whose rows are made of others, of which this is the first."""
    request, database = inputs.request, inputs.database
    rows, display_rows = _select_rows(inputs, role)
    names = rows.this.named_selects
    table = SourceTable(
        first.table.label,
        rows,
        database.describe(exp.select("*").from_(rows.copy())) if database.can_inspect else None,
        first.table.dialect,
        display_item=display_rows,
        has_row_count=False,
        has_collations=first.table.has_collations,
    )
    own_names = request.library.roles[role].columns
    groups = (
        first.group_names
        if role in request.assembled_roles
        else tuple(names[: names.index(QUERY_ID)])
    )
    return BoundInput(
        request.library.roles[role],
        table,
        database,
        request.library.checks.get(role),
        {
            **{name: table.find_column(name) or name for name in own_names if name in names},
            **{name: name for name in groups},
        },
        group_names=groups,
        assembled_from=assembled_from,
    )


def expand_join(inputs: BoundInputs, role: str) -> Any:
    """Return the query that joins an input from others, whose first columns are those of their
    groups.
    """
    tree = load_assembly(inputs.request.library, role, "joined")
    # Ids are texts in the file, since texts and integers have no other common type.
    for cast in find_nodes(tree, exp.Cast):
        column = cast.this
        if isinstance(column, exp.Column) and (
            inputs.by_role[column.table].column_type(column.name) in INTEGERS
        ):
            for other in find_nodes(cast.find_ancestor(exp.Coalesce) or cast, exp.Cast):
                other.replace(other.this)
    expand_keys(
        tree,
        ExpansionContext(
            lambda name: {GROUP_ID: KeyColumns(inputs.by_role[name].group_names, nullable=True)}
        ),
    )
    return tree


def _select_rows(inputs: BoundInputs, role: str) -> tuple[exp.Subquery, exp.Subquery]:
    """Return the rows of an input that is made of others, and the same in the user's notation."""
    select_rows = _assembled_rows if role in inputs.request.assembled_roles else _joined_rows
    return select_rows(inputs, role, for_display=False), select_rows(inputs, role, for_display=True)


def _joined_rows(inputs: BoundInputs, role: str, for_display: bool) -> exp.Subquery:
    """Return the rows of a joined input over the tables of its components."""
    tree = expand_join(inputs, role)
    for table in find_nodes(tree, exp.Table):
        component = inputs.by_role[table.name]
        table.replace(
            component.select_columns(component.role.columns, for_display=for_display).subquery(
                table.name
            )
        )
    return exp.Subquery(this=tree, alias=exp.TableAlias(this=exp.to_identifier(role)))


def reassemble_inputs(inputs: BoundInputs) -> BoundInputs:
    """Return the inputs with those that are made of others over the rows that these have now."""
    remade = {}
    for role in (*inputs.request.assembled_roles, *inputs.request.joined_roles):
        rows, display_rows = _select_rows(inputs, role)
        bound_input = inputs.by_role[role]
        remade[role] = replace(
            bound_input, table=replace(bound_input.table, from_item=rows, display_item=display_rows)
        )
    return inputs.with_inputs(remade)


def select_over_component(inputs: BoundInputs, role: str, query: exp.Select) -> exp.Select:
    """Return a query over an assembled input as one over the CTE of its component, without a
    subquery.
    """
    request = inputs.request
    component = inputs.by_role[request.assembled_roles[role]]
    tree = _build_subquery(load_assembly(request.library, role), role, component).this
    values = {item.alias_or_name: item.unalias() for item in tree.selects}
    query.set("from_", None)
    for column in find_nodes(query, exp.Column):
        value = (
            values.get(column.name) or values[column.name.lower()]
        ).copy()  # lower, where the engine folds names to upper case
        is_renamed = column.parent is query and value.alias_or_name != column.name
        column.replace(value.as_(column.name) if is_renamed else value)
    query.set("from_", tree.args["from_"])
    query.set("joins", tree.args.get("joins"))
    return query


def _assembled_rows(inputs: BoundInputs, role: str, for_display: bool) -> exp.Subquery:
    """Return the rows of an assembled input over the table of its component."""
    request = inputs.request
    component = inputs.by_role[request.assembled_roles[role]]
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


NUMBER_FIELDS = {"retrieved": "score", "relevant": "relevance", "classes": "score"}
"""Fields of structs that hold a number, by the column of the list."""


def normalize_lists(bound_input: BoundInput, names: tuple[str, ...]) -> BoundInput:
    """Return an input whose columns of these names are lists of ids or numbers, whatever they were
    read as.

    A map, or a JSON object, has ids as keys and numbers as values; a struct of a list has one of
    ``ID_FIELDS``, and may have one of ``NUMBER_FIELDS``. Where ids are optional, the column of
    their numbers may hold both.

    Raises:
        InputError: JSON was read, and the lists of all rows are empty; or it holds objects, on an
            engine that reads arrays only.
    """
    number_columns, columns = bound_input.role.number_columns, bound_input.columns
    bound_input = _with_ids_of_numbers(bound_input)
    is_text_of_lists = bound_input.dialect.lists_are_json
    for name in [name for name in bound_input.columns if name in names or name not in columns]:
        value, duckdb_type = bound_input.raw_expression(name), bound_input.column_type(name)
        if (
            is_text_of_lists
            and name in bound_input.role.columns
            and bound_input.role.columns[name].type == "list"
        ):
            _check_no_objects(bound_input, name, value)
        ids, numbers = _normalize_value(
            value, duckdb_type, bound_input.table.dialect, name, name in number_columns.values()
        )
        if (
            duckdb_type == "JSON"
            and bound_input.database.can_inspect
            and bound_input.dialect.supports_file_readers
        ):
            _check_no_scalars(bound_input, name, value)
        if duckdb_type == "JSON[]" and ids is not None:
            _check_not_empty(bound_input, name, value)
        bound_input = _bind_column(bound_input, name, ids)
        number_column = number_columns.get(name, name)
        if number_column not in bound_input.columns:
            bound_input = _bind_column(bound_input, number_column, numbers)
    return bound_input


def _with_ids_of_numbers(bound_input: BoundInput) -> BoundInput:
    """Return an input whose maps of ids to numbers are bound as the ids, where these are optional
    and not bound.
    """
    columns = dict(bound_input.columns)
    for ids, numbers in bound_input.role.number_columns.items():
        duckdb_type = bound_input.column_type(numbers)
        holds_ids = duckdb_type.startswith(("MAP(", "STRUCT(")) or duckdb_type == "JSON"
        if bound_input.role.columns[ids].optional and ids not in columns and holds_ids:
            columns[ids] = columns.pop(numbers)
    return replace(bound_input, columns=columns)


def _normalize_value(
    value: exp.Expr, duckdb_type: str, dialect: str, name: str, is_of_numbers: bool
) -> tuple[exp.Expr | None, exp.Expr | None]:
    """Return the ids and the numbers that a value holds, None where the value itself is a list."""
    if duckdb_type.startswith("MAP(") and not duckdb_type.endswith("]"):
        keys, values = get_dialect(dialect).map_functions
        map_values = _call_function(values, value)
        is_text = duckdb_type.endswith("VARCHAR)") and get_dialect(dialect).supports_file_readers
        return _call_function(keys, value), _as_numbers(map_values) if is_text else map_values
    if duckdb_type == "JSON" and get_dialect(dialect).supports_jsonb:
        return _normalized_on_postgres(exp.cast(value, "JSONB"), name, is_of_numbers)
    if not get_dialect(dialect).supports_file_readers:  # which infer types of JSON
        return None, None
    if is_of_numbers:
        is_text = duckdb_type in {"JSON[]", "VARCHAR[]", "JSON"}
        return (_as_numbers(_extract_texts(value, duckdb_type)) if is_text else None), None
    if duckdb_type.startswith("STRUCT(") and duckdb_type.endswith(")[]"):
        types = {
            field.name: field.args["kind"]
            for field in (
                exp.DataType.build(duckdb_type, dialect="duckdb").expressions[0].expressions
            )
        }
        id_field = next((field for field in ID_FIELDS if field in types), None)
        if id_field is None:
            return None, None
        id_type = exp.DataType.build(f"{types[id_field].sql('duckdb')}[]", dialect="duckdb")
        number_field = NUMBER_FIELDS[name]
        return exp.cast(_extract_fields(value, id_field), id_type), (
            _as_numbers(_extract_fields(value, number_field), [types[number_field]])
            if number_field in types
            else None
        )
    if duckdb_type.startswith("STRUCT(") or duckdb_type == "JSON":
        document = value if duckdb_type == "JSON" else _call_function("TO_JSON", value)
        # A member that is null is none of the object: rows of a struct have the ids of all rows.
        members = _call_function("JSON_MERGE_PATCH", sql_literal("{}"), document)
        is_object = _call_function("JSON_TYPE", document.copy()).eq("OBJECT")
        ids_of_object = exp.If(this=is_object, true=_call_function("JSON_KEYS", members))
        numbers_of_object = exp.If(
            this=is_object.copy(),
            true=_as_numbers(_extract_path(members.copy(), "$.*"), _list_field_types(duckdb_type)),
        )
        return exp.Case(
            ifs=[ids_of_object], default=_extract_path(document.copy(), "$[*]")
        ), exp.Case(ifs=[numbers_of_object])
    return (_extract_texts(value, duckdb_type), None) if duckdb_type == "JSON[]" else (None, None)


def _normalized_on_postgres(
    document: exp.Expr, name: str, is_of_numbers: bool
) -> tuple[exp.Expr | None, exp.Expr | None]:
    """Return the ids and the numbers of JSON on PostgreSQL: an array of these, or of objects with
    both, or an object of ids and numbers.
    """
    kind = _call_function("JSONB_TYPEOF", document)
    is_object, is_array = (kind.eq(sql_literal(text)) for text in ("object", "array"))
    if is_of_numbers:
        return exp.cast(case_when(is_array, _build_array(document)), "DOUBLE[]"), None
    holds_objects = _call_function(
        "JSONB_PATH_EXISTS", document, sql_literal('$[*] ? (@.type() == "object")')
    )
    members, numbers = (
        _build_array(_call_function("JSONB_PATH_QUERY_ARRAY", document, sql_literal(path)))
        for path in ("$.*", f"$[*].{NUMBER_FIELDS[name]}")
    )
    fields = [
        (
            _call_function("JSONB_PATH_EXISTS", document, sql_literal(f"$[*].{field}")),
            _build_array_of_field(document, field),
        )
        for field in ID_FIELDS
    ]
    # Objects without an id have NULL for it, which the checks of rows then report.
    objects = (holds_objects, _build_array_of_field(document, ID_FIELDS[0]))
    ids = [
        (is_object, _build_array(document, "JSONB_OBJECT_KEYS")),
        *fields,
        objects,
        (is_array, _build_array(document)),
    ]
    values = [(is_object, members), (holds_objects, numbers)]
    id_case, value_case = (
        exp.Case(ifs=[exp.If(this=condition.copy(), true=value) for condition, value in branches])
        for branches in (ids, values)
    )
    # Objects without numbers have an empty array of these, which would be shorter than that of the
    # ids.
    return id_case, exp.cast(
        exp.Nullif(this=value_case, expression=exp.cast(sql_literal("{}"), "TEXT[]")), "DOUBLE[]"
    )


def _build_array(document: exp.Expr, function: str = "JSONB_ARRAY_ELEMENTS_TEXT") -> exp.Expr:
    """Return an array of the rows of a function of JSON."""
    return exp.Array(expressions=[exp.select(_call_function(function, document))])


def _build_array_of_field(document: exp.Expr, field: str) -> exp.Array:
    """Return an array of a field of each object in a JSON array on PostgreSQL, NULL for objects
    without it.
    """
    element = _call_function("JSONB_ARRAY_ELEMENTS", document)
    return exp.Array(
        expressions=[
            exp.select(_call_function("JSONB_EXTRACT_PATH_TEXT", element, sql_literal(field)))
        ]
    )


def _extract_texts(value: exp.Expr, duckdb_type: str) -> exp.Expr:
    """Return the elements of a JSON array, or of a list of JSON, as texts without quotes."""
    if duckdb_type == "VARCHAR[]":
        return value
    return _extract_path(
        value if duckdb_type == "JSON" else _call_function("TO_JSON", value), "$[*]"
    )


def _extract_fields(value: exp.Expr, field: str) -> exp.Expr:
    return _extract_path(_call_function("TO_JSON", value.copy()), f"$[*].{field}")


def _extract_path(document: exp.Expr, path: str) -> exp.Expr:
    return _call_function("JSON_EXTRACT_STRING", document, sql_literal(path))


def _list_field_types(duckdb_type: str) -> list[exp.DataType]:
    """Return the types of the fields of a struct; JSON has none."""
    fields = exp.DataType.build(duckdb_type, dialect="duckdb").expressions
    return [field.args["kind"] for field in fields]


def _as_numbers(texts: exp.Expr, types: Sequence[exp.DataType] = ()) -> exp.Expr:
    """Return numbers, NULL for texts that are none, which the checks of rows then report. Texts of
    booleans alone, by their types, are 1 and 0.
    """
    if types and all(element.is_type("BOOLEAN") for element in types):
        texts = exp.TryCast(this=texts, to=exp.DataType.build("BOOLEAN[]", dialect="duckdb"))
    return exp.TryCast(this=texts, to=exp.DataType.build("DOUBLE[]", dialect="duckdb"))


def _call_function(function: str, *arguments: exp.Expr) -> exp.Anonymous:
    return call_function(function, *(argument.copy() for argument in arguments))


def _bind_column(bound_input: BoundInput, name: str, value: exp.Expr | None) -> BoundInput:
    """Return an input with a column bound to an expression, if there is one."""
    if value is None:
        return bound_input
    text = write_tree(value)
    rows = bound_input.select_unfiltered(value.as_(name))
    return bound_input.with_expression(
        text, value, bound_input.database.describe(rows)[name]
    ).with_columns({name: text})


def _check_not_empty(bound_input: BoundInput, name: str, value: exp.Expr) -> None:
    """Check that a list of JSON, whose elements have no type, has elements at all."""
    length = exp.GT(this=_call_function("LEN", value), expression=sql_literal(0))
    if not bound_input.database.query_rows(
        bound_input.select_unfiltered(value, "1").where(length).limit(1)
    ):
        raise InputError(f"{bound_input.label}: {name} is NULL or an empty list in every row")


def _check_no_scalars(bound_input: BoundInput, name: str, value: exp.Expr) -> None:
    """Check that JSON of several types holds lists or objects alone: a text or number would be read
    as a list without elements.
    """
    is_scalar = exp.Not(this=_call_function("JSON_TYPE", value).isin("ARRAY", "OBJECT", "NULL"))
    rows = bound_input.select_unfiltered(value.copy())
    for (example,) in bound_input.database.query_rows(take_first(rows.where(is_scalar))):
        raise InputError(
            f"{bound_input.label}: {name} is {short_value(example)} in a row, which is no list."
            " Write it as a list of one element"
        )


def _check_no_objects(bound_input: BoundInput, name: str, value: exp.Expr) -> None:
    """Check that texts with lists are JSON arrays without objects: the members of an object would
    be read as ids.
    """
    elements = exp.Table(
        this=_call_function("JSON_EACH", value),
        alias=exp.TableAlias(this=exp.to_identifier("elements")),
    )
    element_type = exp.column("type", table="elements")
    object_elements = exp.select("1").from_(elements).where(element_type.eq("object"))
    is_object = _call_function("JSON_TYPE", value).eq("object")
    rows = bound_input.select_unfiltered(value, "1").where(
        exp.or_(is_object, exp.Exists(this=object_elements))
    )
    if bound_input.database.query_rows(rows.limit(1)):
        raise InputError(
            f"{bound_input.label}: {name} holds JSON objects, and lists on SQLite are arrays of ids"
            " or of numbers. Make a view with an array of each"
        )


_INTEGER = re.compile(r"-?\d+")


def split_number_lists(
    columns: Mapping[str, Any], roles: Sequence[Role]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split the mapping into that of lists of numbers whose ids may be the names of columns, and
    the other columns.
    """
    names = {
        name
        for role in roles
        for spec in _number_lists(role)
        for name in (spec.name, f"{role.name}.{spec.name}")
    }
    lists = {name: column for name, column in columns.items() if name in names}
    return lists, {name: column for name, column in columns.items() if name not in names}


def _number_lists(role: Role) -> list[ColumnSpec]:
    return [
        column
        for column in role.columns.values()
        if column.id_list and role.columns[column.id_list].optional
    ]


def find_columns_of_lists(
    bound_input: BoundInput, lists: Mapping[str, Any]
) -> dict[str, dict[str, str]]:
    """Return the columns of each list of an input that has one for each id, by the id.

    The columns are a list, names after commas, or a pattern: the ids are what the asterisk of
    ``p_*`` stands for.

    Raises:
        InputError: There is no such column.
    """
    columns_by_list = {}
    for spec in _number_lists(bound_input.role):
        column_list = lists.get(f"{bound_input.role.name}.{spec.name}", lists.get(spec.name))
        names = _split_columns(column_list, bound_input)
        if isinstance(column_list, str) and "*" in column_list and names:
            columns_by_list[spec.name] = _match_columns(column_list, bound_input, spec.name)
        elif names:
            columns_by_list[spec.name] = {
                name.strip('"`'): _resolve_column(name, bound_input, spec.name) for name in names
            }
    return columns_by_list


def _split_columns(column_list: Any, bound_input: BoundInput) -> list[str]:
    """Return the names of several columns, none for a column or an expression."""
    if not isinstance(column_list, str):
        return list(column_list or ())
    if (
        bound_input.table.column_types is not None
        and bound_input.table.find_column(column_list) is not None
    ):
        return []
    names = split_column_list(column_list)
    if len(names) == 1 and "*" not in column_list:
        return []
    try:
        parse_expression(column_list, bound_input.table.dialect)
    except InputError:
        return names
    return []


def _match_columns(pattern: str, bound_input: BoundInput, name: str) -> dict[str, str]:
    """Return the columns that match a pattern, by what the asterisk stands for."""
    available = bound_input.table.column_types
    if available is None or pattern.count("*") > 1:
        raise InputError(
            f"columns maps {name} to {pattern!r}. Name the columns, as no table is at hand, or give"
            " one asterisk"
        )
    before, _, after = pattern.partition("*")
    matches = {
        column[len(before) : len(column) - len(after)]: column
        for column in available
        if column.startswith(before)
        and column.endswith(after)
        and len(column) > len(before) + len(after)
    }
    if not matches:
        raise InputError(
            f"columns maps {name} to {pattern!r}, which no column of {bound_input.label} matches."
            f" There are: {enumerate_names(available)}"
        )
    return matches


def _resolve_column(text: str, bound_input: BoundInput, name: str) -> str:
    column = bound_input.table.find_column(text)
    if column is None:
        available = bound_input.table.types
        raise InputError(
            suggest_choice(
                f"columns maps {name} to {text!r}, which {bound_input.label} does not have",
                text,
                available,
                "There are",
            )
        )
    return column


def bind_columns_of_lists(
    bound_input: BoundInput,
    columns_by_list: Mapping[str, Mapping[str, str]],
    mapping: Mapping[str, str],
) -> BoundInput:
    """Return an input with lists of several columns, and of their ids unless these are mapped.

    Ids are integers if the names of all columns are, and labels are numbers.
    """
    for name, columns in columns_by_list.items():
        ids = bound_input.role.columns[name].id_list
        is_numbered = bound_input.column_type("label").startswith(NUMERIC_TYPES) and all(
            map(_INTEGER.fullmatch, columns)
        )
        values = [exp.cast(quoted_column(column), DOUBLE) for column in columns.values()]
        literals = [
            exp.Literal.number(text) if is_numbered else sql_literal(text) for text in columns
        ]
        lists: dict[str, tuple[Sequence[exp.Expr], str]] = {name: (values, "DOUBLE[]")}
        if ids not in role_mapping(bound_input.role.name, mapping):
            lists[ids] = (literals, "INTEGER[]" if is_numbered else "VARCHAR[]")
        for list_name, (elements, duckdb_type) in lists.items():
            is_json = bound_input.dialect.lists_are_json
            tree = (
                call_function("JSON_ARRAY", *elements)
                if is_json
                else exp.Array(expressions=[*elements])
            )
            text = tree.sql("duckdb")
            bound_input = bound_input.with_expression(text, tree, duckdb_type).with_columns(
                {list_name: text}
            )
    return bound_input
