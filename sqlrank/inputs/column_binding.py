"""Bind the inputs of a request: unite the sources of each, and match the columns that metrics need
with theirs.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.resolve import RANKING_ROLES, ResolvedRequest
from sqlrank.compiler.row_keys import QUERY_ID
from sqlrank.engines.database import Database, resolve_source
from sqlrank.engines.source_tables import DeclaredColumns
from sqlrank.errors import InputError, join_words
from sqlrank.inputs import row_checks
from sqlrank.inputs.assembled_inputs import (
    assemble_inputs,
    assembly_columns,
    bind_columns_of_lists,
    find_assembly,
    find_columns_of_lists,
    join_inputs,
    normalize_lists,
    number_rows,
    split_number_lists,
)
from sqlrank.inputs.bound_input import BoundInput, BoundInputs, align_keys
from sqlrank.inputs.class_names import check_for_classes
from sqlrank.inputs.column_mapping import (
    bind_expressions,
    check_mapping_names,
    check_measured_scores,
    find_group_columns,
    role_mapping,
    split_score_columns,
)
from sqlrank.inputs.row_rules import row_rules
from sqlrank.inputs.user_sql import parse_condition
from sqlrank.registry.metric_info import find_row_metrics
from sqlrank.registry.resolved_metric import find_references
from sqlrank.registry.sql_file import RowsRead
from sqlrank.sql_ast import is_not_null, quoted_column

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlrank.registry.registry import Registry


def bind_inputs(request: ResolvedRequest, database: Database) -> BoundInputs:
    """Bind the inputs of a request to their tables in a database.

    Raises:
        InputError: ``where`` is no condition, ``columns`` maps an unknown name, a source or a
            needed column does not exist, or a column has an unsuitable type.
    """
    # Arguments are parsed before a source is opened, which can be read once.
    condition = None if request.where is None else parse_condition(request.where, database.dialect)
    lists, mapping = split_number_lists(
        request.column_mapping, [request.roles[role] for role in request.sources]
    )
    scores, mapping = split_score_columns(mapping, "predictions" in request.sources)
    check_measured_scores(request, scores)
    check_mapping_names(request, mapping)
    inputs = BoundInputs(
        request,
        database,
        _open_sources(request, database),
        scores=tuple(scores),
        condition=condition,
    )
    inputs, mapping = _bind_columns(inputs, mapping, lists)
    # Groups are columns of the sources, which inputs that are made of these then have, too.
    inputs = _bind_groups(inputs, mapping)
    inputs = inputs.with_inputs(join_inputs(inputs))
    inputs = _bind_needed_columns(inputs)
    inputs = _bind_assembled(inputs)
    _check_units(inputs)
    inputs = inputs.with_inputs(_convert_keys(inputs))
    if database.can_inspect:
        _check_bound(inputs)
    return inputs


def _open_sources(request: ResolvedRequest, database: Database) -> dict[str, BoundInput]:
    """Return the inputs of the sources, with run and judgments that are made of others, without
    columns.
    """
    inputs = {
        role: BoundInput(
            request.roles[role],
            resolve_source(database, role, source, _declare_columns(request, role)),
            database,
            request.library.checks.get(role),
        )
        for role, source in request.sources.items()
    }
    if request.lists_from_queries:
        inputs["run"] = _lists_of_queries(inputs["queries"], request.library)
    if request.rankings_from_predictions:
        inputs = {**_inputs_from_predictions(inputs["predictions"], request.library), **inputs}
    return inputs


def _bind_columns(
    inputs: BoundInputs, mapping: dict[str, str], lists: Mapping[str, Any]
) -> tuple[BoundInputs, dict[str, str]]:
    """Return the inputs with the columns of their roles, and the mapping with those of lists."""
    request = inputs.request
    columns_of_lists = {
        role: find_columns_of_lists(bound_input, lists)
        for role, bound_input in inputs.by_role.items()
    }
    if not any(columns_of_lists.values()):
        mapping |= {name: text for name, text in lists.items() if isinstance(text, str)}
    inputs = bind_expressions(inputs, mapping)  # before the columns that are bound to them
    default_score = {"score": inputs.scores[-1]} if inputs.scores else {}
    inputs = inputs.with_inputs(
        {
            role: bound_input.bind_columns(
                {**request.measured_columns.get(role, {}), **role_mapping(role, mapping)}
                | default_score,
                used=[
                    *inputs.scores,
                    *(
                        text
                        for name, text in role_mapping(role, mapping).items()
                        if name in bound_input.role.columns
                    ),
                ],
            )
            for role, bound_input in inputs.by_role.items()
        }
    )
    if request.rankings_from_predictions:
        inputs = inputs.with_inputs(_bind_labels(inputs.by_role, mapping))
    lists_by_role = {
        role: _bind_lists(request, inputs.by_role[role], columns_of_lists[role], mapping)
        for role in set(request.assembled_roles.values())
    }
    return inputs.with_inputs(lists_by_role), mapping


def _bind_groups(inputs: BoundInputs, mapping: Mapping[str, str]) -> BoundInputs:
    """Return the inputs with their group-by columns and units."""
    groups = find_group_columns(inputs, mapping)
    return replace(
        inputs,
        group_columns=groups,
        by_role={
            role: _bind_unit(
                inputs.request,
                bound_input.with_group_columns(
                    {group.name: group.columns[role] for group in groups if role in group.columns}
                ),
            )
            for role, bound_input in inputs.by_role.items()
        },
    )


def _bind_needed_columns(inputs: BoundInputs) -> BoundInputs:
    """Return the inputs with the columns that metrics need, also assumed ones, and without others
    that cannot be read.
    """
    needed = _find_needed_columns(inputs.request, inputs.by_role)
    bound = {
        role: inputs.by_role[role]
        .with_fallbacks(names)
        .assume_columns(names)
        .leave_out_unreadable(names)
        for role, names in needed.items()
        if role in inputs.by_role
    }
    return replace(inputs.with_inputs(bound), needed_columns=needed)


def _bind_assembled(inputs: BoundInputs) -> BoundInputs:
    """Return the inputs with those that are assembled from their rows, and their columns."""
    request, needed = inputs.request, dict(inputs.needed_columns)
    inputs = inputs.with_inputs(assemble_inputs(inputs))
    if (base := request.base_role) in request.assembled_roles:
        assembled = _bind_unit(request, inputs.by_role[base])
        inputs = inputs.with_inputs({base: assembled})
        needed[base] = _find_row_columns(request, assembled)
    if request.rankings_from_predictions:
        predictions = inputs.by_role["predictions"].assume_columns(needed["run"])
        inputs = inputs.with_inputs({"predictions": predictions})
    return replace(inputs, needed_columns=needed)


def _convert_keys(inputs: BoundInputs) -> Mapping[str, BoundInput]:
    """Return the inputs without NULL where a policy drops it, and with keys that can be
    compared.
    """
    request = inputs.request
    if request.drops_nulls:
        inputs = inputs.with_inputs(
            {
                role: _without_nulls(inputs.by_role[role], names)
                for role, names in inputs.needed_columns.items()
            }
        )
    aligned = align_keys(inputs.by_role)
    if request.shared_policies.get("id_type") == "text":
        return {role: _read_ids_as_text(bound_input) for role, bound_input in aligned.items()}
    return aligned


def _check_bound(inputs: BoundInputs) -> None:
    """Check that labels are no classes, and the types of all columns, under each score."""
    base, request = inputs.base, inputs.request
    if base is not None and not inputs.scores and base.column_type("label") == "VARCHAR":
        check_for_classes(base, request)
    for view in inputs.per_score():
        row_checks.check_columns(
            view.by_role, inputs.needed_columns, lambda: _advise_on_rows(request)
        )


def _advise_on_rows(request: ResolvedRequest) -> str:
    """Return the advice to ask for metrics of predictions, for rankings that are to be made of
    predictions but have no queries; may be empty.
    """
    rankings = (
        [metric.metric for metric in request.metrics if metric.input_role == "run"]
        if request.rankings_from_predictions
        else []
    )
    names = {str(metric): find_row_metrics(metric, request.library) for metric in rankings}
    advice = [
        f"{join_words(others, 'or')} in the place of {name}"
        for name, others in names.items()
        if others
    ]
    return f"If there are no queries, ask for {join_words(advice)}" if advice else ""


def _declare_columns(request: ResolvedRequest, role: str) -> DeclaredColumns:
    """Return the columns of an input that a request may read."""
    names = [*(RANKING_ROLES if request.rankings_from_predictions else ()), role]
    columns = {
        name: column
        for role_name in names
        for name, column in request.roles[role_name].columns.items()
    }
    mapping = {
        **request.measured_columns.get(role, {}),
        **role_mapping(role, request.column_mapping),
    }
    return DeclaredColumns.declare_columns(
        columns, mapping, [*request.group_by, request.where, request.call.system]
    )


def _bind_lists(
    request: ResolvedRequest,
    component: BoundInput,
    columns: Mapping[str, Mapping[str, str]],
    mapping: Mapping[str, str],
) -> BoundInput:
    """Return an input that others are assembled from, with lists of ids and numbers, and with
    numbered rows if nothing identifies them.
    """
    component = number_rows(bind_columns_of_lists(component, columns, mapping))
    return (
        normalize_lists(component, assembly_columns(request, component))
        if component.database.can_inspect
        else component
    )


def _inputs_from_predictions(predictions: BoundInput, library: Registry) -> dict[str, BoundInput]:
    """Return run and judgments, bound to the table of predictions."""
    return {
        role: BoundInput(
            library.roles[role],
            predictions.table,
            predictions.database,
            library.checks.get(role),
            is_labelled=role == "qrels",
        )
        for role in RANKING_ROLES
    }


def _lists_of_queries(queries: BoundInput, library: Registry) -> BoundInput:
    """Return a run that has the queries of the queries table, and no documents."""
    role = library.roles["run"]
    return BoundInput(
        replace(role, columns={QUERY_ID: role.columns[QUERY_ID]}, unique=()),
        queries.table,
        queries.database,
    )


def _bind_labels(
    inputs: Mapping[str, BoundInput], mapping: Mapping[str, str]
) -> dict[str, BoundInput]:
    """Return predictions, and judgments whose relevance is their label; NULL labels are not
    judgments.
    """
    predictions, qrels = inputs["predictions"], inputs["qrels"]
    label_column = predictions.find_column(
        mapping.get("label") or mapping.get("relevance") or "label"
    ) or qrels.columns.get("relevance")
    if label_column is None:
        return {}
    predictions = predictions.with_columns({"label": label_column})
    qrels = qrels.with_columns({"relevance": label_column}).with_filter(
        is_not_null(predictions.raw_expression("label"))
    )
    return {"predictions": predictions, "qrels": qrels}


def _is_evaluated_by_rows(request: ResolvedRequest, role: str) -> bool:
    """Return True for roles other than those of rankings whose rows are read."""
    is_component = role in request.assembled_roles.values()
    return (
        role not in {*RANKING_ROLES, "queries"}
        and not is_component
        and not (role == "predictions" and request.base_role is None)
    )


def _bind_unit(request: ResolvedRequest, bound_input: BoundInput) -> BoundInput:
    """Return an input with the column of its resampling unit.

    By default it is the list, whose rows are not independent.
    """
    role = bound_input.role
    unit = role.unit_column or role.query_column
    if (
        unit is None
        or not _is_evaluated_by_rows(request, role.name)
        or not (request.confidence is not None or request.needs_units)
    ):
        return bound_input
    if role.query_column is not None and not role.columns[role.query_column].optional:
        bound_input = bound_input.assume_columns([role.query_column])
    if unit not in bound_input.columns and (
        list_column := bound_input.columns.get(role.query_column or "")
    ):
        bound_input = bound_input.with_columns({unit: list_column})
    if unit in bound_input.columns and (duckdb_type := bound_input.column_type(unit)).startswith(
        ("FLOAT", "DOUBLE", "DECIMAL")
    ):
        raise InputError(
            f"{bound_input.label}: {unit} is {duckdb_type}, which engines write differently. Cast"
            " it to text or integers"
        )
    return bound_input


def _find_needed_columns(
    request: ResolvedRequest, inputs: Mapping[str, BoundInput]
) -> dict[str, tuple[str, ...]]:
    """Return the columns that the metrics need of each input."""
    needed: dict[str, tuple[str, ...]] = {}
    measured = request.measured_columns
    if request.is_ranking or request.rankings_from_predictions:
        orders = {
            metric.settings.get("ties")
            for metric in request.metrics
            if metric.input_role == "run" and "ties" in metric.dependencies.settings
        }
        ranks = ["rank"] if orders & {"rank", "row_order"} else []
        reads_scores = bool(orders - {"rank"}) or (not orders and _has_scores(inputs))
        scores = ["score"] if reads_scores else []
        run = (
            ("query_id",)
            if request.lists_from_queries
            else (*row_checks.RANKING_KEYS, *ranks, *scores)
        )
        needed["run"] = run
        needed |= (
            {"qrels": _find_judgment_columns(request, inputs)}
            if "qrels" in {*inputs, *request.assembled_roles}
            else {}
        )
    for role in set(request.assembled_roles.values()):
        needed[role] = (*assembly_columns(request, inputs[role]), *measured.get(role, ()))
    if "queries" in inputs:
        weight = ("weight",) if "weight" in inputs["queries"].columns else ()
        needed["queries"] = (
            "query_id",
            *weight,
            *sorted(find_read_columns(request, "queries") & {"cutoff", "text"}),
            *measured.get("queries", ()),
        )
    return needed | {
        role: _find_row_columns(request, bound_input)
        for role, bound_input in inputs.items()
        if _is_evaluated_by_rows(request, role)
    }


def _has_scores(inputs: Mapping[str, BoundInput]) -> bool:
    """Return True if the run may have scores, which are checked for metrics of any order too."""
    run = inputs.get("run")
    return run is None or run.table.column_types is None or "score" in run.columns


def _find_judgment_columns(
    request: ResolvedRequest, inputs: Mapping[str, BoundInput]
) -> tuple[str, ...]:
    """Return the columns that the metrics need of judgments, of optional ones those that are read
    or identify a row.
    """
    unique_columns, read_columns = (
        request.roles["qrels"].optional_unique_columns,
        find_read_columns(request, "qrels"),
    )
    if request.rankings_from_predictions:
        if missing := next((name for name in unique_columns if name in read_columns), None):
            raise InputError(
                f"predictions are judged once, and not for each {missing}. Give run= and qrels="
            )
        return (*row_checks.RANKING_KEYS, "relevance")
    bound = inputs["qrels"].columns if "qrels" in inputs else ()
    return (
        *row_checks.RANKING_KEYS,
        "relevance",
        *(name for name in unique_columns if name in read_columns or name in bound),
    )


def _find_row_columns(request: ResolvedRequest, bound_input: BoundInput) -> tuple[str, ...]:
    """Return the columns that the metrics need of an input other than rankings."""
    role = bound_input.role
    read_columns = find_read_columns(request, role.name)
    if (
        request.per_query
        or any(metric.is_per_list for metric in request.metrics)
        or request.any_metric_with("level", "query")
    ):
        read_columns.add(role.query_column or "")
    read_columns.discard(role.unit_column or "")
    if request.confidence is not None or request.needs_units:
        read_columns |= {role.unit_column or role.query_column or ""} & bound_input.columns.keys()
    read_columns |= request.measured_columns.get(role.name, {}).keys()
    read = [
        name
        for name, column in role.columns.items()
        if name in bound_input.columns or column.default is None
        if name in read_columns
        or column.default is not None
        or (name in role.unique and column.is_required)
    ]
    # A count that reads no column counts the rows that have all of them, and one of dropped rows
    # those that lack one.
    reads_dropped = any(
        file.rows_read is RowsRead.UNFILTERED
        for metric in request.metrics
        for file in metric.dependencies.files
    )
    reads_none = role.name not in request.measured_columns and all(
        role.columns[name].default is not None for name in read
    )
    counts_rows = reads_none or reads_dropped
    return tuple(
        name
        for name, column in role.columns.items()
        if name in read or (counts_rows and column.is_required)
    )


def find_read_columns(request: ResolvedRequest, role: str) -> set[str]:
    """Return the columns referenced in files that read a role, or that assemble another one from
    it.
    """
    files = [file for metric in request.metrics for file in metric.dependencies.files]
    files += [
        find_assembly(request.library, name)
        for name, other in request.roles.items()
        if role in other.assembled_from
    ]
    files += [
        find_assembly(request.library, name, "joined")
        for name, components in request.joined_roles.items()
        if role in components
    ]
    references = map(find_references, files)
    return {name for names in references if role in names.tables for name in names.columns}


def _check_units(bound_inputs: BoundInputs) -> None:
    """Check that the evaluated input has the units that pairs or the bootstrap need."""
    request = bound_inputs.request
    if request.per_unit and not bound_inputs.has_units:
        raise InputError(
            "rows of two systems are paired by a key: name it with unit=, or give the scores of"
            " both in one table: columns={'score': ['old', 'new']}"
        )
    if (
        request.confidence is not None
        and request.confidence.resamples_rows
        and not bound_inputs.has_units
    ):
        raise InputError(
            "interval='bootstrap' resamples units: name their column with unit=, such as user_id or"
            " the id of a row"
        )


def check_independent_rows(bound_inputs: BoundInputs) -> None:
    """Check that rows of one unit are not taken for units of their own, after the rows are
    filtered.
    """
    base, confidence = bound_inputs.base, bound_inputs.request.confidence
    if (
        confidence is None
        or base is None
        or (bound_inputs.has_units and not bound_inputs.rows_are_units)
    ):
        return
    for column in base.role.columns.values():
        if column.repeats_units and _has_several(column.name, base):
            raise InputError(
                f"{base.label}: rows of several {column.name}s are not independent, so that"
                " intervals would be too narrow. Name the column of what they are about with"
                f" unit=, or ask by {column.name}"
            )


def _has_several(name: str, bound_input: BoundInput) -> bool:
    """Return True if a group has rows of several values of a column, or may have."""
    if name not in bound_input.columns or name in {
        bound_input.columns.get(group) for group in bound_input.group_names
    }:
        return False
    if not bound_input.database.can_inspect:
        return True
    groups = [quoted_column(group) for group in bound_input.group_names]
    value = exp.column(name)
    several = (
        exp.select("1")
        .group_by(*groups)
        .having(exp.LT(this=exp.Min(this=value), expression=exp.Max(this=value.copy())))
    )
    return bool(
        bound_input.database.query_rows(
            row_checks.select_over_input(several.limit(1), bound_input, (name,))
        )
    )


def _without_nulls(bound_input: BoundInput, needed: tuple[str, ...]) -> BoundInput:
    """Return an input without rows with NULL in columns that the checks require, except in keys."""
    conditions = row_rules(bound_input.role, bound_input.checks, needed).conditions
    available = [
        name
        for name in needed
        if name in bound_input.columns and bound_input.role.columns[name].type != "key"
    ]
    not_null = tuple(
        name
        for name in available
        if f"null_{name}" in conditions and bound_input.role.name != "queries"
    )
    return replace(bound_input, not_null=not_null)


def _read_ids_as_text(bound_input: BoundInput) -> BoundInput:
    """Return an input with document ids cast to text, by which equal scores are then ordered."""
    duckdb_type = bound_input.column_type("doc_id")
    if duckdb_type.startswith(("FLOAT", "DOUBLE", "DECIMAL")):
        raise InputError(
            f"{bound_input.label}: doc_id is {duckdb_type}, which engines write differently as"
            " text, and id_type='text' orders equal scores by that. Cast it to text or integers,"
            " or give id_type='given'"
        )
    return (
        bound_input.with_text(["doc_id"])
        if "doc_id" in bound_input.columns and duckdb_type != "VARCHAR"
        else bound_input
    )
