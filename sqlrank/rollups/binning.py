"""Give listed scores bins of their own in a rollup's grid, and group predictions, or values of queries, by hash buckets of their unit (jackknife)."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.layout import OutputColumn
from sqlrank.compiler.row_keys import GROUP_ID, QUERY_ID, key_column
from sqlrank.compiler.select_builders import order_rows
from sqlrank.compiler.statement import BUCKET_COLUMN, CompiledStatement
from sqlrank.compiler.unit_hashing import digest_number, unit_digest
from sqlrank.errors import MetricError
from sqlrank.registry.roles import UNIT_COLUMN
from sqlrank.sql_ast import BIGINT, sql_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlrank.request import Request
    from sqlrank.resolve import ResolvedRequest


BINNINGS = ("grid", "exact")
"""Binning methods: steps of a fixed grid, or one bin per distinct score."""

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
    """The binning of scores; ``exact_scores`` are scores with bins of their own, in ascending order."""

    kind: str
    n_bins: int
    exact_scores: tuple[float, ...]

    @classmethod
    def from_arguments(cls, kind: str, n_bins: int, requested_scores: Sequence[float] | None) -> ScoreBinning:
        """Parse ``binning``, ``n_bins`` and ``exact_scores``; raise ``MetricError`` for invalid values."""
        if kind not in BINNINGS:
            raise MetricError(f"binning={kind!r} is not possible: give one of: {', '.join(BINNINGS)}")
        scores = [requested_scores] if isinstance(requested_scores, (int, float)) else list(requested_scores or ())
        invalid = next(
            (score for score in scores if isinstance(score, bool) or not isinstance(score, (int, float)) or not math.isfinite(score)), None
        )
        if invalid is not None:
            raise MetricError(f"exact_scores={invalid!r} is not possible: give the scores that have bins of their own, such as [0.25, 0.5]")
        exact_scores = tuple(sorted({float(score) + 0.0 for score in scores}))
        if exact_scores and kind != "grid":
            raise MetricError("exact_scores= is for binning='grid'. With binning='exact' each score has a bin of its own")
        if len(exact_scores) > MAX_EXACT_SCORES:
            raise MetricError(
                f"exact_scores= has {len(exact_scores):,} scores, and at most {MAX_EXACT_SCORES} can have bins of their own. Name the most frequent"
            )
        return cls(kind, n_bins, exact_scores)

    def add_exact_score_bins(self, tree: exp.Select) -> None:
        """Give each of ``exact_scores`` a bin of its own, splitting the grid bin around it.

        Modifies the statement in place.
        """
        if not self.exact_scores:
            return
        inner: Any = tree.args["from_"].this.this
        bin_column = next(select_item for select_item in inner.selects if select_item.alias == "bin")
        bin_column.set("this", exp.Add(this=bin_column.this.copy(), expression=self._search_bin(0, len(self.exact_scores))))

    def _search_bin(self, first: int, end: int) -> exp.Expr:
        """Return the CASE expression that finds a score's part of its step by binary search."""
        if first == end:
            return sql_literal(2 * first / GRID_STEPS)
        middle = (first + end) // 2
        score, exact_score = exp.column("score"), sql_literal(self.exact_scores[middle])
        ifs = [
            exp.If(this=exp.LT(this=score, expression=exact_score), true=self._search_bin(first, middle)),
            exp.If(this=exp.EQ(this=score.copy(), expression=exact_score.copy()), true=sql_literal((2 * middle + 1) / GRID_STEPS)),
        ]
        return exp.Case(ifs=ifs, default=self._search_bin(middle + 1, end))


DEFAULT_BUCKETS, MAX_BUCKETS = 32, 1000
"""Default and maximum number of buckets."""

SALT = "state:"
"""Prefix of the hashed unit id: the same in every rollup, so that buckets of two rollups hold the same units. Another would change intervals."""

UNIT_DIGEST = "unit_digest"

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
                raise MetricError("n_buckets= is the number of buckets of the units that unit= names, such as unit='user_id'")
            return None
        n_buckets = DEFAULT_BUCKETS if requested is None else requested
        if isinstance(n_buckets, bool) or not isinstance(n_buckets, int) or not 1 < n_buckets <= MAX_BUCKETS:
            raise MetricError(
                f"n_buckets={n_buckets!r} is not possible: give an integer from 2 to {MAX_BUCKETS}, such as {DEFAULT_BUCKETS}"
            )
        return cls(unit, n_buckets)

    @property
    def fingerprint(self) -> str:
        """Return eight digits of a hash of the unit and the number of buckets."""
        return hashlib.sha256(json.dumps([self.unit, self.n_buckets, SALT]).encode()).hexdigest()[:8]

    def with_unit_column(self, call: Request) -> Request:
        """Return the call with the unit column added."""
        other_columns = {name: column_name for name, column_name in (call.columns or {}).items() if name != f"predictions.{UNIT_COLUMN}"}
        return replace(call, columns={**other_columns, UNIT_COLUMN: self.unit})

    def add_bucket_key(self, tree: exp.Select) -> None:
        """Add the bucket to the GROUP BY: compute the hash in an inner SELECT, the bucket in the outer one."""
        inner = tree.args["from_"].this
        if not isinstance(inner, exp.Subquery):
            names = sorted({column.name for column in tree.find_all(exp.Column)} - {GROUP_ID})
            inner = exp.select(GROUP_ID, *names).from_(inner.copy()).subquery("bucketed_predictions")
            tree.from_(inner, copy=False)
        inner_select = inner.this
        column_names = [*(select_item.alias_or_name for select_item in inner_select.selects)]
        inner_select.select(exp.alias_(unit_digest(SALT, exp.column(UNIT_COLUMN)), UNIT_DIGEST), copy=False)
        bucket = exp.Mod(this=digest_number(UNIT_DIGEST), expression=sql_literal(self.n_buckets))
        outer = exp.select(*column_names, exp.alias_(bucket, BUCKET_COLUMN)).from_(inner_select.subquery("hashed_predictions", copy=False))
        inner_select.comments = outer.comments = ["one row per prediction"]
        inner.set("this", outer)
        group_column, *rest = tree.selects
        tree.select(group_column, exp.column(BUCKET_COLUMN), *rest, append=False, copy=False)
        tree.group_by(BUCKET_COLUMN, copy=False)

    def unit_column(self, request: ResolvedRequest) -> str | None:
        """Return the unit column of rankings, or None if the unit is the query.

        Raises:
            MetricError: the column is not one of queries, or a metric's values depend on other lists of the group.
        """
        if self.unit in {QUERY_ID, (request.columns or {}).get(QUERY_ID)}:
            return None
        if "queries" not in request.sources:
            raise MetricError(f"unit={self.unit!r}: the unit of rankings is the query, unit='query_id', or a column of queries=")
        for metric in request.metrics:
            if any("group" in file.scopes for file in metric.dependencies.files):
                raise MetricError(f"{metric.metric} depends on other lists, which unit={self.unit!r} would separate. Give unit='query_id'")
        return f"queries.{self.unit.removeprefix('queries.')}"

    def as_per_query_request(self, request: ResolvedRequest) -> ResolvedRequest:
        """Return the request for per-query values with their unit."""
        column = self.unit_column(request)
        by = request.group_by if column is None else [*request.group_by, column]
        return replace(request, per_query=True, include_query_weights=True, group_by=by)

    def group_values_by_bucket(self, statement: CompiledStatement, request: ResolvedRequest) -> CompiledStatement:
        """Group the per-query values of a statement by bucket of their units."""
        values: Any = statement.tree.copy()
        ctes = values.args.pop("with_")
        values.set("order", None)
        by = [output for output in statement.outputs if output.kind == "by"]
        unit = next(output for output in statement.outputs if output.kind == "query") if self.unit_column(request) is None else by.pop()
        value_outputs = [output for output in statement.outputs if output.kind in {"metric", "audit", "weight"}]
        keys = [key_column(output.alias) for output in by]
        columns: list[exp.Expr] = [*keys, *(exp.column(output.alias) for output in value_outputs)]
        digest = exp.alias_(unit_digest(SALT, key_column(unit.alias)), UNIT_DIGEST)
        digested = exp.select(*columns, digest).from_(values.subquery("query_values")).subquery("digested")
        bucket = exp.alias_(exp.Mod(this=digest_number(UNIT_DIGEST), expression=sql_literal(self.n_buckets)), BUCKET_COLUMN)
        bucketed_lists = exp.select(*columns, bucket).from_(digested)
        bucketed_lists.comments = ["One row per list, with the number of its bucket."]
        metrics = [exp.column(output.alias) for output in value_outputs if output.kind == "metric"]
        audits = [exp.alias_(exp.Sum(this=exp.column(output.alias)), output.alias) for output in value_outputs if output.kind == "audit"]
        bucket = exp.alias_(exp.cast(exp.column(BUCKET_COLUMN), BIGINT), BUCKET_COLUMN)
        tree = (
            exp.select(*keys, bucket, *metrics, *audits)
            .from_(BUCKETED_LISTS)
            .group_by(*(key.copy() for key in keys), exp.column(BUCKET_COLUMN))
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
