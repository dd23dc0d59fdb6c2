"""Define the loss that training minimizes (surrogate of pAp@k, or log loss), and write the CTEs of it, its gradient and metrics."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.compiler.aggregation_ctes import AggregationCtes
from sqlrank.compiler.input_variants import InputKey, InputQuery
from sqlrank.compiler.layout import GroupColumn, GroupingLayout
from sqlrank.compiler.relation_ctes import RelationCtes
from sqlrank.compiler.row_keys import KeyColumns, UnquotedName
from sqlrank.errors import MetricError
from sqlrank.registry import metric_resolver as of_metrics
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import Metric
from sqlrank.registry.query_templates import load_select

if TYPE_CHECKING:
    from sqlrank.registry.resolved_metric import ResolvedMetric

LOGISTIC = "logistic"
MAX_K = 2**31 - 1
"""Greatest number of negatives that a surrogate compares: the greatest cut-off of a metric."""

TOP_K_DEFAULTS = {"k": None, "margin": 1.0, "few_negatives": "truncate"}
"""Arguments of surrogates of pAp@k that logistic regression does not have, with their defaults."""


@dataclass(frozen=True)
class Objective:
    """A loss to minimize.

    Attributes:
        surrogate: The surrogate of pAp@k as a metric, None for logistic regression.
        margin: Required distance of positive scores above negative ones.
    """

    surrogate: ResolvedMetric | None
    margin: float = 1.0

    @property
    def description(self) -> str:
        """The loss in words."""
        return "logistic regression" if self.surrogate is None else str(self.surrogate.metric)

    @property
    def loss_at_zero(self) -> float:
        """Loss of zero weights, at most."""
        return math.log(2) if self.surrogate is None else self.margin

    @property
    def is_pointwise(self) -> bool:
        """Return True if the loss is a weighted mean over examples, rather than a mean over queries."""
        return self.surrogate is None

    def build_ctes(self) -> dict[str, exp.Query]:
        """Return the CTEs between ``scored_examples`` and the step: ``model_losses`` and ``score_gradients``."""
        if self.surrogate is None:
            return {
                "model_losses": load_select("learn", "log_losses.sql"),
                "score_gradients": load_select("learn", "log_loss_gradients.sql"),
            }
        relations = _bind_relations(self.surrogate, "scored_examples", "surrogates", "surrogate")
        gradient = _resolve_metric(replace(self.surrogate.metric, name="pApGradient"))
        relations.ctes[relations.add_file(gradient.file, gradient.settings)].name = "score_gradients"
        return {**{cte.name: cte.query for cte in relations.ctes}, "model_losses": load_select("learn", "model_losses.sql")}


def resolve_objective(surrogate: str, k: int | None, margin: float, few_negatives: str) -> Objective:
    """Return the loss of the arguments of ``fit``.

    Raises:
        MetricError: Arguments that are unknown, or that the loss does not have.
    """
    if surrogate == LOGISTIC:
        options = {"k": k, "margin": margin, "few_negatives": few_negatives}
        if unread := [name for name, default in TOP_K_DEFAULTS.items() if options[name] != default]:
            raise MetricError(
                f"{unread[0]}={options[unread[0]]!r} is not possible with surrogate='logistic', which has no top k. Leave it out"
            )
        return Objective(None)
    if k is None:
        raise MetricError(f"k is missing: surrogate={surrogate!r} compares the k highest negatives. Give k=..., or surrogate='logistic'")
    check_k(k)
    surrogates = load_registry().policies["surrogate"]["values"]
    if not surrogates.get(surrogate, {}).get("convex", True):
        raise MetricError(
            f"surrogate={surrogate!r} is not convex, so that gradient descent may miss the minimum. Choose avg, max, ts, pauc or precision"
        )
    metric = Metric("pApSurrogate", (("few_negatives", few_negatives), ("surrogate", surrogate), ("margin", margin)), k)
    return Objective(_resolve_metric(metric), margin)


def check_k(k: Any) -> None:
    """Raise ``MetricError`` for a k that is no number of negatives."""
    if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= int(k) <= MAX_K:
        raise MetricError(f"k={k!r} is not possible. Give an integer from 1 to {MAX_K}, such as 10")


def write_metric(metric: Metric, examples: str, cte: str, column: str) -> dict[str, exp.Query]:
    """Return the CTEs that evaluate a metric of scored examples per ``model_id`` and ``query_id``; the last has the value in a column.

    ``examples`` is the CTE of the scored examples.
    """
    return {step.name: step.query for step in _bind_relations(_resolve_metric(metric), examples, cte, column).ctes}


def _bind_relations(metric: ResolvedMetric, examples: str, cte: str, column: str) -> RelationCtes:
    lists = ["model_id", "query_id"]
    scored = exp.select(*lists, "doc_id", "label", "score", "1.0 AS weight").from_(examples)
    source = InputQuery("one row per example, with its score", KeyColumns(tuple(map(UnquotedName, lists)), nullable=True), scored)
    group_columns = tuple(GroupColumn(UnquotedName(name), name, name) for name in lists)
    relations = RelationCtes(load_registry(), {InputKey("predictions"): source}, GroupingLayout(group_columns))
    value = AggregationCtes(relations, per_query=False, weighted=False).add_metric(metric)
    aggregate = relations.ctes[value.cte]
    aggregate.name = cte
    aggregate.query.selects[-1].set("alias", exp.to_identifier(column))
    return relations


def _resolve_metric(metric: Metric) -> ResolvedMetric:
    return of_metrics.resolve_metrics([metric], load_registry(), None, {}, input_roles=["predictions"])[0]
