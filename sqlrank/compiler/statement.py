"""Compile the statement of metrics or of a curve: CTEs of inputs, relations and aggregates, the
final SELECT, its columns and keys.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.aggregation_ctes import AggregationCtes
from sqlrank.compiler.intervals.analytic_intervals import INTERVAL_SUFFIXES
from sqlrank.compiler.intervals.bootstrap_intervals import RowResampler
from sqlrank.compiler.intervals.pseudo_values import (
    CLASS_SIZES,
    EQUAL_ROW_COUNT,
    FLIP_LABEL,
    FLIP_SUFFIX,
    SMALLER_CLASS_SIZE,
    flip_name,
)
from sqlrank.compiler.layout import (
    KeyedCte,
    MetricColumn,
    OutputColumn,
    ResultLayout,
    score_column_name,
)
from sqlrank.compiler.relation_ctes import RelationCtes
from sqlrank.compiler.row_keys import GROUP_ID, SCORE_NAME, UNIT_ID, key_column, key_equalities
from sqlrank.compiler.select_builders import (
    cast_double,
    drop_comments_repeated_across_queries,
    join_source,
    null_if_not_finite,
    slice_label,
)
from sqlrank.registry.metric import is_respelled, to_sql_name
from sqlrank.registry.query_templates import load_select
from sqlrank.registry.resolved_metric import (
    CUTOFF_COLUMN,
    LABEL_RANGES,
    QUERY_CUTOFFS_RELATION,
    ResolvedMetric,
)
from sqlrank.rendering.renderer import StatementHeader, row_phrase
from sqlrank.result_columns import SLICE_COLUMN, check_group_names
from sqlrank.sql_ast import BIGINT, unique_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.compiler.layout import InputKey, InputQuery
    from sqlrank.registry.registry import Registry


POINT_COLUMN, BUCKET_COLUMN = INTEGER_COLUMNS = ("point", "bucket")
"""Integer columns of a curve, which identify its rows."""


@dataclass(frozen=True, eq=False)
class CompiledStatement:
    """A compiled statement: its tree, its columns in order, its header comment, and the grains of
    CTEs that files declare.

    ``undefined`` has a metric for each audit column that counts the lists for which it is
    undefined.
    """

    tree: Any
    outputs: list[OutputColumn]
    header: StatementHeader
    grains: Mapping[str, str] = field(default_factory=dict)
    undefined: Mapping[str, ResolvedMetric] = field(default_factory=dict)


def compile_statement(
    metrics: Sequence[ResolvedMetric],
    library: Registry,
    sources: Mapping[InputKey, InputQuery],
    layout: ResultLayout,
    header: StatementHeader,
    audits: Mapping[str, exp.Select],
    counts: Sequence[ResolvedMetric] = (),
) -> CompiledStatement:
    """Compile the metrics into one statement.

    ``audits`` are columns for input checks by role, which come last, and ``counts`` metrics whose
    columns are among these.
    """
    relations = RelationCtes(library, sources, layout.shape)
    _prepare_relations(relations, metrics, layout)
    aggregations = AggregationCtes(
        relations, layout.per_query, layout.weighted, layout.query_column, layout.confidence
    )
    aggregations.counts_undefined = layout.counts_undefined and not (
        layout.confidence is not None and layout.confidence.per_unit
    )
    if metrics[0].file.kind == "curves":
        return _compile_curve(aggregations, metrics[0], layout, header, audits)
    columns = _add_metrics(aggregations, metrics, layout)
    class_sizes = _load_class_sizes(metrics, layout)
    audits_by_cte = _add_audits(aggregations, metrics, {**audits, **class_sizes}, counts)
    undefined_counts = aggregations.undefined_counts()
    audits_by_cte |= {cte: list(counts) for cte, counts in undefined_counts.items()}
    counted = {
        name: column.metric
        for counts in undefined_counts.values()
        for name, column in counts.items()
        if column is not None
    }
    body = aggregations.result_query(layout.base, audits_by_cte)
    keys = _list_keys(layout)
    weight_outputs = (
        [OutputColumn("weight", "weight", "weight")]
        if layout.with_weights and layout.weighted and layout.base is None
        else []
    )
    if weight_outputs:
        body.select(cast_double(exp.column("weight")).as_("weight"), copy=False)
    scores = _find_paired_scores(aggregations)
    if scores:
        keys = [output for output in keys if output.alias not in {SCORE_NAME, UNIT_ID}]
    audit_outputs = _list_audits(audits_by_cte, class_sizes, body.named_selects[len(keys) :])
    metric_outputs = _list_metric_columns(columns, scores)
    flip_outputs = _list_flips(metric_outputs, body.named_selects)
    if layout.confidence is not None and not layout.confidence.per_unit:
        metric_outputs = [
            output
            for metric_output in metric_outputs
            for output in [metric_output, *_list_limits(metric_output)]
        ]
    if relations.cutoffs is not None:
        keys.append(OutputColumn(CUTOFF_COLUMN, CUTOFF_COLUMN, "cutoff"))
    outputs = [*keys, *metric_outputs, *audit_outputs, *flip_outputs, *weight_outputs]
    if layout.across:
        from sqlrank.compiler.group_differences import difference_rows  # few calls need it

        body, outputs = difference_rows(relations, aggregations.spread, body, outputs, layout)
    elif layout.requested_names:
        outputs = _under_requested_names(body, outputs)
    return replace(
        _with_ctes(body, relations, outputs, header, layout.keep_unused), undefined=counted
    )


def _prepare_relations(
    relations: RelationCtes, metrics: Sequence[ResolvedMetric], layout: ResultLayout
) -> None:
    """Set the cut-offs of a range or of queries, and resampling, for all relations."""
    cutoffs = {metric.metric.cutoff for metric in metrics}
    for cutoff in cutoffs:  # at most one range, which resolving has checked
        if isinstance(cutoff, tuple):
            relations.enable_cutoff_range(*cutoff)
    if metric := next((metric for metric in metrics if metric.has_query_cutoffs), None):
        relations.own_cutoffs = relations.add_relation(QUERY_CUTOFFS_RELATION, metric.settings)
    if layout.confidence is not None and layout.confidence.is_bootstrap:
        resampler = RowResampler(relations, layout.confidence, layout.base)
        relations.resample = resampler.add_resampled_rows


def _list_metric_columns(
    columns: Mapping[str, MetricColumn], scores: Sequence[str]
) -> list[OutputColumn]:
    """Return the column of each metric, or one for each of several scores in the same row."""
    if not scores:
        return [
            OutputColumn(column.alias, name, "metric", column.metric)
            for name, column in columns.items()
        ]
    return [
        OutputColumn(
            column.alias_for_score(number), score_column_name(name, score), "metric", column.metric
        )
        for name, column in columns.items()
        for number, score in enumerate(scores, start=1)
    ]


def _add_metrics(
    aggregations: AggregationCtes, metrics: Sequence[ResolvedMetric], layout: ResultLayout
) -> dict[str, MetricColumn]:
    """Add the metrics, and return their columns by canonical name."""
    if layout.across and aggregations.spread is not None:
        aggregations.spread.query_column = layout.query_column
    return {
        str(metric.metric): aggregations.add_metric(metric.at_each_cutoff) for metric in metrics
    }


def _add_audits(
    aggregations: AggregationCtes,
    metrics: Sequence[ResolvedMetric],
    trees: Mapping[str, exp.Select],
    counts: Sequence[ResolvedMetric],
) -> dict[KeyedCte, Sequence[str]]:
    """Add the columns of each tree and count beside the metrics, and return their names by CTE."""
    names_by_cte: dict[KeyedCte, Sequence[str]] = {}
    for role, tree in trees.items():
        relation = tree.args["from_"].this.name
        reader = next(
            (metric for metric in metrics if relation in metric.dependencies.relations), metrics[0]
        )
        cte = aggregations.add_audit(tree, reader.settings, counts_queries=role == LABEL_RANGES)
        names_by_cte[cte] = [*names_by_cte.get(cte, ()), *tree.named_selects[1:]]
    for count in counts:
        cte, name = aggregations.add_count(count)
        names_by_cte[cte] = [*names_by_cte.get(cte, ()), name]
    return names_by_cte


def _load_class_sizes(
    metrics: Sequence[ResolvedMetric], layout: ResultLayout
) -> dict[str, exp.Select]:
    """Return the columns of class sizes beside unit values, if labels are positive or negative."""
    is_needed = (
        layout.confidence is not None
        and layout.confidence.per_unit
        and any(metric.has_classes for metric in metrics)
    )
    return (
        {"class_sizes": load_select("analyses/comparison", "class_sizes.sql")} if is_needed else {}
    )


def _list_audits(
    audits_by_cte: Mapping[KeyedCte, Sequence[str]],
    class_sizes: Mapping[str, exp.Select],
    names: Sequence[str],
) -> list[OutputColumn]:
    """Return the columns for input checks and of class sizes, in the order of the result; names of
    sizes begin with a point, since those of keys are the caller's.
    """
    audits = {name for columns in audits_by_cte.values() for name in columns}
    audits |= {SMALLER_CLASS_SIZE} if class_sizes else set()
    sizes = {*CLASS_SIZES, SMALLER_CLASS_SIZE}
    return [
        OutputColumn(name, f".{name}", "size")
        if name in sizes
        else OutputColumn(name, name, "audit")
        for name in names
        if name in audits
    ]


def _list_flips(metric_outputs: Sequence[OutputColumn], names: Sequence[str]) -> list[OutputColumn]:
    """Return the columns of flips beside unit values, that of the label of their rows, and that of
    the number of equal rows.
    """
    flips = [
        OutputColumn(name, f"{output.name}.{FLIP_SUFFIX}", FLIP_SUFFIX)
        for output in metric_outputs
        if (name := flip_name(output.alias)) in names
    ]
    labels = [name for name in (FLIP_LABEL, EQUAL_ROW_COUNT) if flips and name in names]
    return [*flips, *(OutputColumn(name, f".{name}", "label") for name in labels)]


def _under_requested_names(body: exp.Select, outputs: Sequence[OutputColumn]) -> list[OutputColumn]:
    """Rename the columns of metrics in place to the requested names, and return the output columns.

    A metric with several names has a column for each; its value is computed once, in a CTE.
    """
    taken = {
        output.alias
        for output in outputs
        if output.metric is None or output.name in output.metric.column_names
    }
    groups: list[list[tuple[exp.Expr, OutputColumn]]] = []
    for pair in zip(body.selects, outputs, strict=True):
        if pair[1].kind in INTERVAL_SUFFIXES:
            groups[-1].append(pair)
        else:
            groups.append([pair])
    items: list[exp.Expr] = []
    renamed: list[OutputColumn] = []
    for group in groups:
        value = group[0][1]
        for name in (value.name,) if value.metric is None else value.metric.column_names:
            if name == value.name:
                items += [item for item, _ in group]
                renamed += [output for _, output in group]
                continue
            alias = unique_name(
                value.alias if is_respelled(name, value.name) else to_sql_name(name), taken
            )
            columns = [
                replace(
                    output,
                    alias=f"{alias}{output.alias[len(value.alias) :]}",
                    name=f"{name}{output.name[len(value.name) :]}",
                )
                for _, output in group
            ]
            taken |= {output.alias for output in columns}
            items += [
                item.unalias().copy().as_(output.alias)
                for (item, _), output in zip(group, columns, strict=True)
            ]
            renamed += columns
    body.set("expressions", items)
    return renamed


def _find_paired_scores(aggregations: AggregationCtes) -> tuple[str, ...]:
    """Return the names of scores whose pseudo-values share a row, if any."""
    intervals = aggregations.spread
    return () if intervals is None or not intervals.confidence.per_unit else intervals.scores


def _list_limits(metric: OutputColumn) -> list[OutputColumn]:
    return [
        OutputColumn(f"{metric.alias}_{name}", f"{metric.name}.{name}", name)
        for name in INTERVAL_SUFFIXES
    ]


def _list_keys(layout: ResultLayout) -> list[OutputColumn]:
    columns = layout.shape.group_columns
    outputs = [
        OutputColumn(column.name, column.label, "by", quoted=key_column(column.name).this.quoted)
        for column in columns
    ]
    outputs += (
        [OutputColumn(SLICE_COLUMN, SLICE_COLUMN, "slice")]
        if layout.shape.grouping_sets is not None
        else []
    )
    is_per_unit = layout.confidence is not None and layout.confidence.per_unit
    outputs += [OutputColumn(UNIT_ID, UNIT_ID, "unit")] if is_per_unit else []
    return [
        *outputs,
        *(
            [OutputColumn(layout.query_column, layout.query_column, "query")]
            if layout.per_query
            else []
        ),
    ]


def _with_ctes(
    body: exp.Select,
    relations: RelationCtes,
    outputs: list[OutputColumn],
    header: StatementHeader,
    keep_unused: bool = False,
) -> CompiledStatement:
    """Add the CTEs, and drop comments that are repeated.

    Raises:
        MetricError: A column of groups has the name of another column of the result.
    """
    if relations.shape.group_columns:
        check_group_names(
            [output.name for output in outputs if output.kind == "by"],
            {output.name for output in outputs if output.kind != "by"},
        )
    tree = relations.ctes.write_before(body, keep_unused)
    drop_comments_repeated_across_queries(cte.this for cte in tree.ctes)
    grains = {
        cte.name: str(cte.file.row_grain)
        for cte in relations.ctes
        if cte.file is not None and cte.file.row_grain is not None
    }
    return CompiledStatement(
        tree, outputs, replace(header, row=row_phrase(result_keys(outputs))), grains
    )


def result_keys(outputs: Sequence[OutputColumn]) -> list[str]:
    """Return the columns that identify rows of a result, as a header names them."""
    names = {"slice": "grouping", "unit": "unit", "cutoff": "cut-off"}
    keys = [
        output
        for output in outputs
        if output.kind in {"by", "slice", "query", "unit", "cutoff", "point", "name"}
    ]
    return [
        names.get(
            output.kind, output.name.removesuffix("_id") if output.kind == "query" else output.name
        )
        for output in keys
    ]


def _compile_curve(
    aggregations: AggregationCtes,
    metric: ResolvedMetric,
    layout: ResultLayout,
    header: StatementHeader,
    audits: Mapping[str, exp.Select],
) -> CompiledStatement:
    """Compile a curve, with rows in the order of its points."""
    relations = aggregations.relations
    curve_cte = relations.add_file(metric.file, metric.settings, per_list=layout.per_query)
    keys = relations.find_keys(curve_cte)[GROUP_ID]
    curve_columns = [name for name in metric.file.tree.named_selects if name != GROUP_ID]
    outputs = _list_keys(layout)
    # With an alias, because engines resolve ambiguous names in ORDER BY differently after a join.
    columns = [
        (
            slice_label(layout.shape, curve_cte)
            if output.kind == "slice"
            else key_column(output.alias, curve_cte).as_(key_column(output.alias).this.copy())
        )
        for output in outputs
    ]
    num_points = 1 + (curve_columns[0] == BUCKET_COLUMN)
    order = [*map(_select_output, outputs), *map(exp.column, curve_columns[:num_points])]
    may_be_infinite = relations.library.may_be_infinite(metric.file, metric.dependencies.files)
    roles = [relations.library.roles[role] for role in metric.dependencies.roles]
    key_names = {
        name for role in roles for name, column in role.columns.items() if column.type == "key"
    }
    tree = exp.select(
        *columns,
        *(
            _select_item(name, curve_cte, may_be_infinite, name in key_names).as_(name)
            for name in curve_columns
        ),
    ).from_(curve_cte)
    terms = (
        column if column.name in INTEGER_COLUMNS else exp.Ordered(this=column, nulls_first=True)
        for column in order
    )
    tree = tree.order_by(*(term.copy() for term in terms))
    outputs += [
        OutputColumn(
            name,
            name,
            "point" if name in INTEGER_COLUMNS else "id" if name in key_names else "value",
            metric,
        )
        for name in curve_columns
    ]
    for audit in audits.values():
        audit_cte = aggregations.add_audit(audit, metric.settings)
        on = key_equalities(keys.columns, audit_cte.step, curve_cte, keys.nullable)
        names = audit.named_selects[1:]
        tree = join_source(tree, audit_cte.step, on)
        tree.select(*(exp.column(name, table=audit_cte.step) for name in names), copy=False)
        outputs += [OutputColumn(name, name, "audit") for name in names]
    return _with_ctes(tree, relations, outputs, header)


def _select_output(output: OutputColumn) -> exp.Column:
    return exp.column(output.alias) if output.kind == "slice" else key_column(output.alias)


def _select_item(name: str, cte: str, may_be_infinite: bool, is_key: bool) -> exp.Expr:
    column = exp.column(name, table=cte)
    if is_key:
        return column
    if name in INTEGER_COLUMNS:
        return exp.cast(column, BIGINT)
    return cast_double(
        null_if_not_finite(column) if may_be_infinite and name != "score" else column
    )
