"""Build the CTEs of inputs: mapped columns, scores by UNION ALL, run and qrels from predictions,
rows per grouping set, filters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sqlrank.compiler.layout import GroupColumn, GroupingLayout, InputKey, InputQuery, InputVariant
from sqlrank.compiler.row_keys import (
    GROUP_ID,
    QUERY_ID,
    SCORE_NAME,
    UNIT_ID,
    ExpansionContext,
    KeyColumns,
    UnquotedName,
    expand_keys,
    key_column,
    key_equalities,
    name_keys,
)
from sqlrank.compiler.select_builders import select_columns, union_slices
from sqlrank.engines.text_advice import write_mapping
from sqlrank.errors import InputError, MetricError
from sqlrank.inputs.assembled_inputs import expand_join, load_assembly, select_over_component
from sqlrank.inputs.bound_input import bound_expression
from sqlrank.inputs.column_binding import find_read_columns
from sqlrank.registry.query_templates import describe_rows
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import find_nodes, is_not_null, quoted_column, sql_literal, union_all

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.inputs.bound_input import BoundInput, BoundInputs

PREDICTIONS = InputKey("predictions")
UNFILTERED_PREDICTIONS = InputKey("predictions", InputVariant.UNFILTERED)
RAW_PREDICTIONS = InputKey("predictions", InputVariant.RAW)
NUMBERED_PREDICTIONS = InputKey("predictions", InputVariant.NUMBERED)

TOTAL_LABEL = "all"
"""Label of the grouping set without columns."""


@dataclass(frozen=True)
class InputCtes:
    """The sources of a statement, and its group-by layout."""

    sources: dict[InputKey, InputQuery]
    shape: GroupingLayout


def build_input_ctes(inputs: BoundInputs, plain: bool) -> InputCtes:
    """Build the input sources; ``plain`` keeps lists without numbers."""
    request = inputs.request
    scored = (GroupColumn(SCORE_NAME, "score", "score"),) if len(inputs.scores) > 1 else ()
    columns = {column.requested_name: column for column in inputs.group_columns}
    sets = [[columns[name] for name in group] for group in request.grouping_sets or ()]
    names = [[column.name for column in (*scored, *group)] for group in sets]
    labels = [",".join(column.label for column in group) or TOTAL_LABEL for group in sets]
    shape = GroupingLayout((*scored, *inputs.group_columns), names or None, tuple(labels), plain)
    _check_intervals(inputs, shape)
    sources: dict[InputKey, InputQuery] = {}
    for role, bound_input in inputs.by_role.items():
        if role in {"run", "qrels"} and request.rankings_from_predictions:
            continue
        if role == "run" and request.lists_from_queries:
            sources[InputKey(role)] = InputQuery(
                _describe_rows(bound_input),
                KeyColumns(bound_input.group_names, nullable=True),
                None,
                InputKey("queries"),
            )
            continue
        sources |= (
            _select_predictions(inputs, bound_input)
            if role == "predictions"
            else _table_inputs(inputs, bound_input)
        )
    base_role = request.base_role
    if base_role is not None and base_role not in inputs.by_role:
        sources |= _composed_input(inputs, base_role, sources)
    if (
        base_role is not None
        and request.rankings_from_predictions
        and InputKey("queries") in sources
    ):
        restricted = {
            PREDICTIONS: InputVariant.ALL_QUERIES,
            UNFILTERED_PREDICTIONS: InputVariant.UNFILTERED_ALL_QUERIES,
        }
        for key in [key for key in restricted if key in sources]:
            sources |= _restrict_to_queries(
                key, sources[key], InputKey("predictions", restricted[key])
            )
    if request.rankings_from_predictions:
        sources |= _rankings_from_predictions(inputs, sources)
    if base_role is not None and shape.grouping_sets is not None:
        repeated = {
            InputVariant.VALID: InputVariant.PER_SLICE,
            InputVariant.UNFILTERED: InputVariant.UNFILTERED_PER_SLICE,
        }
        sources |= {
            InputKey(base_role, per_slice): _repeat_per_slice(key, sources[key], shape)
            for variant, per_slice in repeated.items()
            if (key := InputKey(base_role, variant)) in sources
        }
    return InputCtes(sources, shape)


def _check_intervals(inputs: BoundInputs, shape: GroupingLayout) -> None:
    """Check that no grouping with intervals contains several lists of a query, which are
    dependent.
    """
    confidence = inputs.request.confidence
    if confidence is None or confidence.is_bootstrap or not inputs.request.is_ranking:
        return
    for label, group in zip(shape.labels, shape.grouping_sets or (), strict=False):
        if (
            missing := [name for name in shape.list_columns if name not in group]
        ) and _has_shared_queries(inputs, missing):
            raise MetricError(
                f"the grouping {label!r} holds several lists of a query, one for each {missing[0]},"
                " which are not independent. Ask for interval='bootstrap', which draws queries, or"
                f" for one grouping{_separate_queries(inputs, missing[0])}"
            )


def _has_shared_queries(inputs: BoundInputs, columns: Sequence[str]) -> bool:
    """Return True if a query may have lists of several values of columns; ids are looked at where
    an engine can be asked.
    """
    run = inputs.by_role.get("run")
    if run is None or not inputs.database.can_inspect or not {*columns} <= {*run.group_names}:
        return True
    keys = [exp.column(QUERY_ID), *map(quoted_column, columns)]
    lists = exp.select(*keys).distinct().from_(run.select_columns((QUERY_ID,)).subquery("run"))
    shared = (
        exp.select(QUERY_ID)
        .from_(lists.subquery("lists"))
        .group_by(QUERY_ID)
        .having("COUNT(*) > 1")
        .limit(1)
    )
    return bool(inputs.database.query_rows(shared))


def _separate_queries(inputs: BoundInputs, group: str) -> str:
    """Return the mapping that makes equal ids of different groups, such as tasks, different
    queries; empty if an input lacks the group.
    """
    rankings = [
        bound_input
        for bound_input in inputs.by_role.values()
        if QUERY_ID in bound_input.columns and not bound_input.assembled_from
    ]
    if not inputs.database.can_inspect or not all(
        group in bound_input.group_names for bound_input in rankings
    ):
        return ""
    parts = [exp.cast(bound_expression(rankings[0], name), "VARCHAR") for name in (group, QUERY_ID)]
    query = exp.DPipe(
        this=exp.DPipe(this=parts[0], expression=sql_literal(" ")), expression=parts[1]
    )
    return (
        ", or, if they are different queries, give them ids of their own with"
        f" {write_mapping({QUERY_ID: query}, rankings[0].table.dialect)}"
    )


def _describe_rows(bound_input: BoundInput) -> str:
    """Return the comment on the rows of an input; rows of rankings are identified by the group
    columns, too.
    """
    description = bound_input.role.description
    is_ranking = bound_input.role.list_relation is not None and bool(bound_input.group_names)
    return (
        describe_rows(description, {"query": name_keys([*bound_input.group_names, QUERY_ID])})
        if is_ranking
        else description
    )


def _table_name(bound_input: BoundInput) -> str:
    """Return the name of a table, empty for files, unions and subqueries."""
    table = bound_input.table.display_from_item
    if (
        not isinstance(table, exp.Table)
        or not isinstance(table.this, exp.Identifier)
        or bound_input.table.members
    ):
        return ""
    return ".".join(part.name for part in table.parts)


def _table_inputs(inputs: BoundInputs, bound_input: BoundInput) -> dict[InputKey, InputQuery]:
    """Return the source of an input, and one with all rows if some are excluded."""
    role = bound_input.role
    score_type = _score_type(inputs) if role.name == "run" else "given"
    needed = inputs.needed_columns.get(role.name, ())
    names = [
        name
        for name, column in role.columns.items()
        if not column.optional or column.default is not None or name in bound_input.columns
        if name != role.unit_column or name in needed  # which relations group by, for intervals
    ]
    names += ["rank"] if role.name == "run" and "rank" not in names else []
    is_ranking = role.list_relation is not None
    request, sources = inputs.request, {}
    component, joined = (
        request.assembled_roles.get(role.name),
        request.joined_roles.get(role.name, ()),
    )
    read_inputs = [InputKey(name) for name in joined or filter(None, [component])]
    for variant in (
        InputVariant.VALID,
        *([InputVariant.UNFILTERED] if bound_input.not_null else ()),
    ):
        query = bound_input.select_columns(
            names, score_type, for_display=True, keep_nulls=variant is InputVariant.UNFILTERED
        )
        if joined:
            query = expand_join(inputs, role.name)
        elif component is not None:
            query = select_over_component(inputs, role.name, query)
        sources[InputKey(role.name, variant)] = InputQuery(
            _describe_rows(bound_input),
            KeyColumns(bound_input.group_names, nullable=True),
            query,
            next(iter(read_inputs), None),
            query_column=UnquotedName(role.query_column) if role.query_column else QUERY_ID,
            has_lists=not is_ranking and role.query_column is not None,
            joins_inputs=tuple(read_inputs[1:]),
            table=_table_name(bound_input),
            measured=tuple(name for name, column in role.columns.items() if column.is_measured),
            merges_rows=bound_input.merges_rows,
        )
    return sources


def _composed_input(
    inputs: BoundInputs, role: str, sources: Mapping[InputKey, InputQuery]
) -> dict[InputKey, InputQuery]:
    """Return an input that is composed of others, as its file declares."""
    library, (first, *rest) = inputs.request.library, inputs.request.base_roles
    tree = load_assembly(library, role)
    read_columns = {
        name
        for name in find_read_columns(inputs.request, role)
        if name in library.roles[role].columns
    }
    if missing := sorted(read_columns - set(tree.named_selects)):
        raise InputError(
            f"{first} and {' and '.join(rest)} do not say what {missing[0]} is. Give {role}= in one"
            " table"
        )
    keys = expand_keys(
        tree, ExpansionContext(lambda name: {GROUP_ID: sources[InputKey(name)].group})
    )
    return {
        InputKey(role): InputQuery(
            library.roles[role].description,
            keys[GROUP_ID],
            tree,
            InputKey(first),
            joins_inputs=tuple(map(InputKey, rest)),
        )
    }


def _score_type(inputs: BoundInputs) -> str:
    dialect = inputs.database.dialect
    score_type = str(inputs.request.shared_policies.get("score_type", "given"))
    if score_type == "float32" and not get_dialect(dialect).supports_float32:
        raise MetricError(
            f"score_type='float32' is not possible on {dialect}, which has doubles only. Give"
            " score_type='float64'"
        )
    return score_type


def _select_predictions(inputs: BoundInputs, bound_input: BoundInput) -> dict[InputKey, InputQuery]:
    """Return the predictions; several scores are combined by UNION ALL.

    The name of the score column is part of the key.
    """
    request = inputs.request
    needed = dict.fromkeys([*inputs.needed_columns.get("predictions", ()), "weight"])
    if request.rankings_from_predictions:
        needed |= dict.fromkeys([*inputs.needed_columns["run"], "label", "rank"])
    other_columns = [name for name in needed if name != "score"]
    drops_nulls_by_key = {PREDICTIONS: True} | (
        {UNFILTERED_PREDICTIONS: False} if bound_input.not_null else {}
    )
    group = KeyColumns(bound_input.group_names, nullable=True)
    if len(inputs.scores) < 2:  # noqa: PLR2004  a single score needs no UNION
        column_names = ["score", *other_columns]
        return {
            key: InputQuery(
                _describe_rows(bound_input),
                group,
                bound_input.select_columns(
                    column_names, for_display=True, keep_nulls=not drops_nulls
                ),
                has_lists=True,
                table=_table_name(bound_input),
            )
            for key, drops_nulls in drops_nulls_by_key.items()
        }
    score_items = [
        view.by_role["predictions"].typed_expression("score").as_(f"score_{index}")
        for index, view in enumerate(inputs.per_score(), start=1)
    ]
    raw = bound_input.select_columns(
        other_columns, for_display=True, keep_nulls=True, further_items=score_items
    )
    numbered = (
        {NUMBERED_PREDICTIONS: _number_predictions(inputs, raw)} if inputs.rows_are_units else {}
    )
    source_key = NUMBERED_PREDICTIONS if numbered else RAW_PREDICTIONS
    other_columns += [UNIT_ID] if inputs.rows_are_units else []
    title, scored_group = (
        "one row per prediction and score",
        KeyColumns((SCORE_NAME, *bound_input.group_names), nullable=True),
    )
    scores = inputs.scores if inputs.rows_are_units else ()
    unions = {
        key: _union_scores(inputs, bound_input, source_key, other_columns, drops_nulls)
        for key, drops_nulls in drops_nulls_by_key.items()
    }
    return {
        RAW_PREDICTIONS: InputQuery(
            _describe_rows(bound_input), group, raw, table=_table_name(bound_input)
        ),
        **numbered,
    } | {
        key: InputQuery(title, scored_group, union, source_key, has_lists=True, scores=scores)
        for key, union in unions.items()
    }


def _number_predictions(inputs: BoundInputs, raw: exp.Select) -> InputQuery:
    """Return predictions with row numbers as units.

    Where a CTE is computed once, any numbering is consistent. Other engines may renumber rows for
    each reader, so rows are ordered by all columns: only equal rows can then exchange their
    numbers.
    """
    select_items: list[exp.Expr] = [
        key_column(name) if name in inputs.group_names else exp.column(name)
        for name in raw.named_selects
    ]
    order = exp.Order(
        expressions=[
            exp.Ordered(this=select_item.copy(), nulls_first=True) for select_item in select_items
        ]
    )
    is_once = get_dialect(inputs.database.dialect).computes_ctes_once
    row_number = exp.Window(this=exp.RowNumber(), order=None if is_once else order)
    query = exp.select(*select_items, row_number.as_(UNIT_ID)).from_(
        exp.to_table(RAW_PREDICTIONS.name)
    )
    group = KeyColumns(inputs.by_role["predictions"].group_names, nullable=True)
    return InputQuery("one row per prediction, with its number", group, query, RAW_PREDICTIONS)


def _union_scores(
    inputs: BoundInputs,
    bound_input: BoundInput,
    source_key: InputKey,
    other_columns: Sequence[str],
    drops_nulls: bool,
) -> exp.Query:
    """Combine predictions of several scores by UNION ALL, without rows that lack required
    values.
    """
    branches = []
    for index, score_column in enumerate(inputs.scores, start=1):
        score = exp.column(f"score_{index}")
        select_items = [
            *map(key_column, bound_input.group_names),
            score.as_("score"),
            *map(exp.column, other_columns),
        ]
        branch = exp.select(*select_items, sql_literal(score_column).as_(SCORE_NAME)).from_(
            exp.to_table(source_key.name)
        )
        required = (
            [score if name == "score" else exp.column(name) for name in bound_input.not_null]
            if drops_nulls
            else []
        )
        branches.append(branch.where(*map(is_not_null, required)))
    return union_all(branches)


def _restrict_to_queries(
    key: InputKey, predictions: InputQuery, source_key: InputKey
) -> dict[InputKey, InputQuery]:
    """Restrict predictions to the queries of the queries table, as for ranking metrics."""
    group = predictions.group.columns
    columns = [] if predictions.query is None else predictions.query.named_selects
    select_items = [
        key_column(column, "p") if column in group else exp.column(column, table="p")
        for column in columns
    ]
    query = exp.select(*select_items).from_(exp.to_table(source_key.name).as_("p"))
    query = query.join(
        exp.to_table("queries").as_("a"),
        on=exp.and_(*key_equalities([QUERY_ID], "a", "p", nullable=False)),
    )
    rows = "one row per prediction of an evaluated query"
    return {
        source_key: predictions,
        key: InputQuery(
            rows,
            predictions.group,
            query,
            source_key,
            has_lists=True,
            joins_inputs=(InputKey("queries"),),
        ),
    }


def _rankings_from_predictions(
    inputs: BoundInputs, sources: Mapping[InputKey, InputQuery]
) -> dict[InputKey, InputQuery]:
    """Derive run and judgments from the predictions; NULL labels are not judgments."""
    source_key = UNFILTERED_PREDICTIONS if UNFILTERED_PREDICTIONS in sources else PREDICTIONS
    by = sources[source_key].group.columns
    keys: Sequence[exp.Expr] = [*map(key_column, by), exp.column("query_id"), exp.column("doc_id")]
    run, qrels = inputs.by_role["run"], inputs.by_role["qrels"]
    typed_run = None
    score_type = _score_type(inputs)
    if score_type == "float32" or (
        score_type == "float64" and run.column_type("score") != "DOUBLE"
    ):
        score = run.typed_expression("score", score_type)
        for column in find_nodes(score, exp.Column):
            column.replace(exp.column("score"))
        typed_run = exp.select(*keys, score.as_("score"), "rank").from_(
            exp.to_table(source_key.name)
        )
    judgments = exp.select(*keys, exp.column("label").as_("relevance")).from_(
        exp.to_table(source_key.name)
    )
    judgments = judgments.where(is_not_null(exp.column("label")))
    group = KeyColumns(by, nullable=True)
    rankings = {
        InputKey("run"): InputQuery(_describe_rows(run), group, typed_run, source_key),
        InputKey("qrels"): InputQuery(_describe_rows(qrels), group, judgments, source_key),
    }
    if run.not_null:
        all_documents = (
            exp.select(*keys, "score", "rank").from_(exp.to_table(source_key.name))
            if typed_run is None
            else typed_run
        )
        rankings[InputKey("run", InputVariant.UNFILTERED)] = rankings[InputKey("run")]
        not_null = map(is_not_null, map(exp.column, run.not_null))
        rankings[InputKey("run")] = InputQuery(
            _describe_rows(run), group, all_documents.where(*not_null), source_key
        )
    return rankings


def _repeat_per_slice(
    source_key: InputKey, source: InputQuery, shape: GroupingLayout
) -> InputQuery:
    names = [] if source.query is None else source.query.named_selects
    query = select_columns(source_key.name, names, source.group.columns)
    repeated, keys = union_slices(query, {GROUP_ID: source.group}, shape)
    return InputQuery(
        f"{source.rows.removesuffix('.')} and grouping",
        keys[GROUP_ID],
        repeated,
        source_key,
        query_column=source.query_column,
        has_lists=source.has_lists,
    )
