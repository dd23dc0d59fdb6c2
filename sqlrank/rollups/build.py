"""Turn a rollup call into a request for aggregates: bins of listed scores, its definition, and the
grid.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.call.resolve import ResolvedRequest, resolve_request
from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.row_keys import GROUP_ID, QUERY_ID, key_column
from sqlrank.compiler.select_builders import order_rows
from sqlrank.compiler.statement import BUCKET_COLUMN, CompiledStatement
from sqlrank.engines.duckdb_session import TIME_ZONE
from sqlrank.errors import MetricError
from sqlrank.registry.metric import Metric
from sqlrank.registry.query_templates import load_select, replace_column
from sqlrank.registry.resolved_metric import ResolvedMetric, find_dependencies
from sqlrank.registry.roles import UNIT_COLUMN
from sqlrank.registry.settings_checks import check_parameter_value
from sqlrank.registry.sql_file import SqlFile
from sqlrank.registry.sql_folder import sql_root
from sqlrank.rendering.renderer import row_phrase
from sqlrank.result_columns import NUM_ROWS, check_group_names
from sqlrank.rollups.decomposition import (
    BATCH_COLUMN,
    BIN_COLUMN,
    BIN_COLUMNS,
    DEFINITION_COLUMN,
    PREDICTIONS_ROLE,
    RollupMetrics,
    aggregate_per_query_values,
    decompose_metrics,
    find_list_query,
    row_definition,
)
from sqlrank.rollups.rollup_table import definition_conditions
from sqlrank.sql_ast import BIGINT, bind_placeholders, find_nodes, sql_literal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlrank.call.request import Request


DEFAULT_BINS = 1024
"""Default number of grid steps between 0 and 1.

For click rates some 400 bins have rows; 0.5 % of all pairs fall into one bin.
"""

MAX_EXACT_SCORES = 500
"""Maximum number of scores with bins of their own; each uses two of the parts of a grid step."""

GRID_STEPS = 1024
"""Parts of a grid step; a power of two, so that a bin is the same double on every engine."""


@dataclass(frozen=True)
class ScoreBinning:
    """The binning of scores; ``exact_scores`` are scores with bins of their own, in ascending
    order.
    """

    kind: str
    n_bins: int
    exact_scores: tuple[float, ...]

    @classmethod
    def from_arguments(
        cls, kind: str, n_bins: int, requested_scores: Sequence[float] | None
    ) -> ScoreBinning:
        """Parse ``binning``, ``n_bins`` and ``exact_scores``; raise ``MetricError`` for invalid
        values.
        """
        scores = (
            [requested_scores]
            if isinstance(requested_scores, (int, float))
            else list(requested_scores or ())
        )
        exact_scores = tuple(sorted({float(score) + 0.0 for score in scores}))
        if exact_scores and kind != "grid":
            raise MetricError(
                "exact_scores= is for binning='grid'. With binning='exact' each score has a bin of"
                " its own"
            )
        if len(exact_scores) > MAX_EXACT_SCORES:
            raise MetricError(
                f"exact_scores= has {len(exact_scores):,} scores, and at most {MAX_EXACT_SCORES}"
                " can have bins of their own. Name the most frequent"
            )
        return cls(kind, n_bins, exact_scores)

    def add_exact_score_bins(self, tree: exp.Select) -> None:
        """Give each of ``exact_scores`` a bin of its own, splitting the grid bin around it.

        Modifies the statement in place.
        """
        if not self.exact_scores:
            return
        inner: Any = tree.args["from_"].this.this
        bin_column = next(
            select_item for select_item in inner.selects if select_item.alias == "bin"
        )
        bin_column.set(
            "this",
            bin_column.this + self._search_bin(0, len(self.exact_scores)),
        )

    def _search_bin(self, first: int, end: int) -> exp.Expr:
        """Return the CASE expression that finds a score's part of its step by binary search."""
        if first == end:
            return sql_literal(2 * first / GRID_STEPS)
        middle = (first + end) // 2
        score, exact_score = exp.column("score"), sql_literal(self.exact_scores[middle])
        ifs = [
            exp.If(
                this=score < exact_score,
                true=self._search_bin(first, middle),
            ),
            exp.If(
                this=score.eq(exact_score),
                true=sql_literal((2 * middle + 1) / GRID_STEPS),
            ),
        ]
        return exp.Case(ifs=ifs, default=self._search_bin(middle + 1, end))


DEFAULT_BUCKETS = 32
"""Default number of buckets."""

SALT = "state:"
"""Prefix of the hashed unit id: the same in every rollup, so that buckets of two rollups hold the
same units. Another would change intervals.
"""

BUCKETED_LISTS = "lists_in_buckets"
"""The CTE with one row per list and its bucket."""


@dataclass(frozen=True)
class JackknifeBuckets:
    """A number of jackknife buckets of the units in a column or expression."""

    unit: str
    n_buckets: int

    @classmethod
    def from_arguments(cls, unit: str | None, requested: int | None) -> JackknifeBuckets | None:
        """Parse ``unit`` and ``n_buckets``; return None without a unit.

        Raises ``MetricError`` for an invalid number.
        """
        if unit is None:
            if requested is not None:
                raise MetricError(
                    "n_buckets= is the number of buckets of the units that unit= names, such as"
                    " unit='user_id'"
                )
            return None
        return cls(unit, DEFAULT_BUCKETS if requested is None else requested)

    @property
    def fingerprint(self) -> str:
        """Return eight digits of a hash of the unit and the number of buckets."""
        return hashlib.sha256(json.dumps([self.unit, self.n_buckets, SALT]).encode()).hexdigest()[
            :8
        ]

    def with_unit_column(self, call: Request) -> Request:
        """Return the call with the unit column added."""
        other_columns = {
            name: column_name
            for name, column_name in (call.columns or {}).items()
            if name != f"predictions.{UNIT_COLUMN}"
        }
        return replace(call, columns={**other_columns, UNIT_COLUMN: self.unit})

    def add_bucket_key(self, tree: exp.Select) -> None:
        """Add the bucket to the GROUP BY."""
        inner = tree.args["from_"].this
        if not isinstance(inner, exp.Subquery):
            names = sorted({column.name for column in tree.find_all(exp.Column)} - {GROUP_ID})
            inner = exp.select(GROUP_ID, *names).from_(inner).subquery("bucketed_predictions")
            tree.from_(inner, copy=False)
        columns = [exp.column(item.alias_or_name) for item in inner.this.selects]
        rows = inner.this.select(UNIT_COLUMN, copy=False)
        numbered = self._number_buckets(rows, columns, exp.column(UNIT_COLUMN))
        numbered.comments = ["one row per prediction"]
        inner.set("this", numbered)
        group_column, *rest = tree.selects
        tree.select(group_column, exp.column(BUCKET_COLUMN), *rest, append=False, copy=False)
        tree.group_by(BUCKET_COLUMN, copy=False)

    def unit_column(self, request: ResolvedRequest) -> str | None:
        """Return the unit column of rankings, or None if the unit is the query.

        Raises:
            MetricError: the column is not one of queries, or a metric's values depend on other
                lists of the group.
        """
        if self.unit in {QUERY_ID, (request.columns or {}).get(QUERY_ID)}:
            return None
        if "queries" not in request.sources:
            raise MetricError(
                f"unit={self.unit!r}: the unit of rankings is the query, unit='query_id', or a"
                " column of queries="
            )
        for metric in request.metrics:
            if any("group" in file.scopes for file in metric.dependencies.files):
                raise MetricError(
                    f"{metric.metric} depends on other lists, which unit={self.unit!r} would"
                    " separate. Give unit='query_id'"
                )
        return f"queries.{self.unit.removeprefix('queries.')}"

    def as_per_query_request(self, request: ResolvedRequest) -> ResolvedRequest:
        """Return the request for per-query values with their unit."""
        column = self.unit_column(request)
        if column is not None:
            labels = {**request.group_labels, column: column}
            request = replace(request, group_by=[*request.group_by, column], group_labels=labels)
        return replace(request, per_query=True, include_query_weights=True)

    def group_values_by_bucket(
        self, statement: CompiledStatement, request: ResolvedRequest
    ) -> CompiledStatement:
        """Group the per-query values of a statement by bucket of their units."""
        values: Any = statement.tree.copy()
        ctes = values.args.pop("with_")
        values.set("order", None)
        by = [output for output in statement.outputs if output.kind == "by"]
        unit = (
            next(output for output in statement.outputs if output.kind == "query")
            if self.unit_column(request) is None
            else by.pop()
        )
        value_outputs = [
            output for output in statement.outputs if output.kind in {"metric", "audit", "weight"}
        ]
        keys = [key_column(output.alias) for output in by]
        columns: list[exp.Expr] = [*keys, *(exp.column(output.alias) for output in value_outputs)]
        bucketed_lists = self._number_buckets(values, columns, key_column(unit.alias))
        bucketed_lists.comments = ["One row per list, with the number of its bucket."]
        metrics = [exp.column(output.alias) for output in value_outputs if output.kind == "metric"]
        audits = [
            exp.Sum(this=exp.column(output.alias)).as_(output.alias)
            for output in value_outputs
            if output.kind == "audit"
        ]
        bucket = exp.cast(exp.column(BUCKET_COLUMN), BIGINT).as_(BUCKET_COLUMN)
        tree = (
            exp.select(*keys, bucket, *metrics, *audits)
            .from_(BUCKETED_LISTS)
            .group_by(*keys, exp.column(BUCKET_COLUMN))
        )
        tree = order_rows(tree, [*keys, exp.column(BUCKET_COLUMN)])
        tree.set("with_", ctes)
        tree.with_(BUCKETED_LISTS, as_=bucketed_lists, copy=False)
        outputs = [
            *by,
            OutputColumn(BUCKET_COLUMN, BUCKET_COLUMN, "point"),
            *(output for output in value_outputs if output.kind != "weight"),
        ]
        return CompiledStatement(tree, outputs, statement.header)

    def _number_buckets(
        self, rows: exp.Select, columns: Sequence[exp.Expr], unit: exp.Expr
    ) -> exp.Select:
        """Return columns of rows with the number of the bucket of their unit."""
        query = load_select("analyses/rollups", "unit_buckets.sql")
        for select in find_nodes(query, exp.Select):
            replace_column(select, "attribute", [column.copy() for column in columns])
        for table in find_nodes(query, exp.Table):
            table.replace(rows.subquery(table.name))
        return bind_placeholders(query, salt=SALT, unit=unit, n_buckets=self.n_buckets)


WEIGHT_COLUMN = "weight"


def has_weights(statement: CompiledStatement) -> bool:
    """Return True if the aggregates read weights from a column of the source."""
    tree: Any = statement.tree
    ctes = {cte.alias: cte.this for cte in tree.ctes}
    sources = (
        query
        for query in ctes.values()
        if isinstance(query, exp.Select) and query.args["from_"].this.name not in ctes
    )
    weights = (
        select_item
        for query in sources
        for select_item in query.selects
        if select_item.alias_or_name == WEIGHT_COLUMN
    )
    read = find_nodes(ctes[tree.args["from_"].this.name], exp.Column)
    return any(find_nodes(weight, exp.Column) for weight in weights) and any(
        column.name == WEIGHT_COLUMN for column in read
    )


@dataclass(frozen=True)
class Definition:
    """The definition of a rollup's rows, and their jackknife buckets.

    The presence of weights is added when the source is known.
    """

    definition_fields: Mapping[str, Any]
    metric_names: tuple[str, ...]
    buckets: JackknifeBuckets | None = None

    def compute_digest(self, *, is_weighted: bool, time_zone: str = "") -> str:
        """Return the definition hash: 16 digits, and eight of the buckets if there are any."""
        fields: dict[str, Any] = {"weighted": True} if is_weighted else {}
        fields |= {"time_zone": time_zone} if time_zone not in {"", TIME_ZONE} else {}
        text = json.dumps({**self.definition_fields, **fields}, sort_keys=True, default=str)
        digits = hashlib.sha256(text.encode()).hexdigest()[:16]
        return digits if self.buckets is None else f"{digits}-{self.buckets.fingerprint}"


def resolve_rollup_request(
    request: Request, dialect: str, bins: ScoreBinning, buckets: JackknifeBuckets | None
) -> tuple[ResolvedRequest, Definition]:
    """Return the request whose result is a rollup, and the definition of its rows.

    Raises:
        MetricError: a metric that cannot be computed from aggregates, or several groupings or
            scores.
    """
    resolved = resolve_request(request)
    _check_grouping(request, resolved)
    library = resolved.library
    metric_names = tuple(name for metric in resolved.metrics for name in metric.requested_names)
    metrics = decompose_metrics(resolved.metrics, library)
    row_fields = _describe_rows(request, resolved, dialect)
    if metrics.is_per_query:
        return resolved if buckets is None else buckets.as_per_query_request(resolved), Definition(
            row_fields | row_definition(resolved.metrics, library), metric_names, buckets
        )
    binning_kind = bins.kind if metrics.rank_based else "group_sums"
    file = _build_file(
        binning_kind,
        metrics,
        resolved.required_row_checks,
        bins,
        buckets,
    )
    settings = {"n_bins": bins.n_bins} if "n_bins" in file.params else {}
    for param in file.params.values():
        check_parameter_value("n_bins", param, bins.n_bins)
    null_policy = {
        name: value for name, value in resolved.metrics[0].settings.items() if name == "nulls"
    }
    definition_fields = {
        "aggregates": sorted(tree.sql("duckdb") for tree in metrics.aggregates.values()),
        "bins": [
            binning_kind,
            settings.get("n_bins"),
            *(bins.exact_scores if metrics.rank_based else ()),
        ],
        **row_fields,
        "nulls": null_policy.get("nulls"),
    }
    definition = Definition(definition_fields, metric_names, buckets)
    # The compiled file depends on the metrics, so its cache key needs the definition hash.
    metric = Metric("RollupRows", (("definition", definition.compute_digest(is_weighted=False)),))
    resolved_metric = ResolvedMetric(
        metric,
        file,
        {**null_policy, **settings},
        find_dependencies(library, file, {**null_policy, **settings}),
        PREDICTIONS_ROLE,
    )
    if buckets is not None:
        resolved = replace(
            resolved, columns=buckets.with_unit_column(request).columns or {}, needs_units=True
        )
    return (
        replace(resolved, metrics=[resolved_metric], rolled_up=tuple(resolved.metrics)),
        definition,
    )


def _check_grouping(request: Request, resolved: ResolvedRequest) -> None:
    """Raise ``MetricError`` for groupings or scores whose sums could not be merged."""
    if resolved.grouping_sets is not None:
        raise MetricError(
            "by has several groupings, whose rows would overlap, and count twice when they are"
            " added up. Give one list of columns"
        )
    check_group_names(
        [name.lower() for name in resolved.group_labels.values()],
        {*BIN_COLUMNS, NUM_ROWS, DEFINITION_COLUMN, BATCH_COLUMN, BUCKET_COLUMN},
    )
    if isinstance((request.columns or {}).get("score"), (list, tuple)):
        raise MetricError("several scores are given. Make a rollup of each, in a table of its own")


def _describe_rows(request: Request, resolved: ResolvedRequest, dialect: str) -> dict[str, Any]:
    """Return the fields of a definition that say which rows are summed, and by what."""
    return {
        # A column mapped to its own name is the same as no mapping.
        "columns": {
            name: column_name
            for name, column_name in (request.columns or {}).items()
            if column_name != name.rpartition(".")[2]
        },
        "where": definition_conditions(
            request.where, resolved.group_by, resolved.group_expressions, dialect
        ),
        "by": sorted(resolved.group_by),
        "expressions": dict(resolved.group_expressions),
        **_measured_columns(resolved),
    }


def _measured_columns(request: ResolvedRequest) -> dict[str, list[str]]:
    """Return the measured columns as a field of a definition, if there are any.

    Raises:
        MetricError: columns of one name in two inputs, whose sums would have one name.
    """
    inputs: dict[str, str] = {}
    for column in (metric.measured_column for metric in request.metrics):
        if column is not None and inputs.setdefault(column.column, column.role) != column.role:
            raise MetricError(
                f"{column.column!r} is a column of {inputs[column.column]} and of {column.role},"
                " and a rollup names its sums by the column. Rename one, such as"
                f" columns={{'{column.role}.{column.column}_2': '{column.column}'}}"
            )
    return {"measured": sorted(inputs)} if inputs else {}


def add_definition_column(
    statement: CompiledStatement, definition: Definition, request: ResolvedRequest
) -> CompiledStatement:
    """Return the statement of a rollup with its definition column.

    For rankings, the metrics become aggregates of per-query values first.
    """
    buckets = definition.buckets
    if any(output.kind == "metric" for output in statement.outputs):
        statement = (
            statement if buckets is None else buckets.group_values_by_bucket(statement, request)
        )
        is_weighted = "weight" in find_list_query(statement).named_selects
        statement = aggregate_per_query_values(statement, request.metrics, request.library)
    else:
        is_weighted = has_weights(statement)
    tree: Any = statement.tree.copy()
    digest = definition.compute_digest(
        is_weighted=is_weighted, time_zone=statement.header.time_zone
    )
    tree.select(sql_literal(digest).as_(DEFINITION_COLUMN), copy=False)
    outputs = [*statement.outputs, OutputColumn(DEFINITION_COLUMN, DEFINITION_COLUMN, "id")]
    keys = [
        output.name
        for output in outputs
        if output.kind == "by" or output.name in {BIN_COLUMN, BUCKET_COLUMN}
    ]
    header = replace(
        statement.header,
        title=f"rollup of {', '.join(definition.metric_names)}",
        row=row_phrase(keys),
        notes=(*statement.header.notes, f"definition: {digest}"),
    )
    return CompiledStatement(tree, outputs, header)


def _build_file(
    binning_kind: str,
    metrics: RollupMetrics,
    requires: list[str],
    bins: ScoreBinning,
    buckets: JackknifeBuckets | None,
) -> SqlFile:
    """Return the SQL file of a rollup with its aggregate columns and the metrics' checks."""
    file = SqlFile(
        "curves", "rollup_rows", sql_root() / "analyses" / "rollups" / f"{binning_kind}.sql"
    )
    tree = file.statement
    if metrics.rank_based:
        bins.add_exact_score_bins(tree)
    inner = tree.args["from_"].this
    missing = {
        column.name
        for aggregate in metrics.aggregates.values()
        for column in aggregate.find_all(exp.Column)
    }
    if isinstance(inner, exp.Subquery):
        inner.this.select(
            *(exp.column(name) for name in sorted(missing - set(inner.this.named_selects))),
            copy=False,
        )
    totals = [aggregate.as_(name) for name, aggregate in metrics.aggregates.items()]
    replace_column(tree, "total", totals)
    if buckets is not None:
        buckets.add_bucket_key(tree)
    file.__dict__["annotations"] = {
        **file.annotations,
        **({"Requires": ", ".join(requires)} if requires else {}),
    }
    return file
