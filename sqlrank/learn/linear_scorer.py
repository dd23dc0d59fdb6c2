"""Train a linear scorer by gradient descent in DuckDB (the function ``fit``), check its options, and warn if no loss is reduced."""

from __future__ import annotations

import json
import math
import sys
import warnings
from contextlib import closing
from typing import TYPE_CHECKING, Any

from sqlrank.deadline import set_deadline
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.engines.open_database import DuckDBDatabase
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.engines.worker_threads import run_cancellable
from sqlrank.errors import MetricError
from sqlrank.learn.training import LOSSES, DescentOptions, descend_gradient, read_training_data, resolve_objective

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa


def fit(
    examples: Any,
    *,
    k: int | None = None,
    surrogate: str = "avg",
    margin: float = 1.0,
    few_negatives: str = "truncate",
    learning_rate: float = 0.1,
    l2: float = 0.01,
    max_iter: int = 100,
    seed: int | None = None,
    start: Any = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] = (),
    connection: Any = None,
    memory_limit: str | None = None,
    threads: int | None = 1,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> pa.Table:
    """Train a linear scorer by projected subgradient descent on a surrogate of 1 - pAp@k, or by logistic regression.

    It minimizes a loss plus ``l2 / 2 * |w|^2``. The loss is the mean over queries of ``pApSurrogate(surrogate=surrogate, margin=margin)@k``, or
    for ``surrogate="logistic"`` the mean over examples of the log loss. Each of ``max_iter`` steps has length ``learning_rate / sqrt(t)`` and is
    projected onto the ball of radius ``sqrt(2 * margin / l2)`` (``sqrt(2 * ln(2) / l2)``), which contains the optimum. The weights with the
    least loss are returned. A warning says if that loss is not below the loss of zero weights. DuckDB only.

    Args:
        examples: a source as for :func:`sqlrank.evaluate`, with ``label`` (0 or 1) and, if there are queries (users), ``query_id``.
            Logistic regression reads ``weight`` instead of ``query_id``. Features are an array of numbers, ``features``, or in long form ``row_id``, ``feature`` and ``value`` (number). Missing features
            of the long form are 0.
        k: number of negatives, and maximum number of positives, that are compared. Logistic regression has none.
        surrogate: surrogate loss: ``avg``, ``max``, ``ts`` or ``ts_reference`` of pAp@k, ``pauc`` (SVM-pAUC), ``precision``
            (SGD@k-avg) or ``precision_reference`` (as in the code of the authors of pAp@k, for k above the number of positives);
            or ``logistic``, which equals scikit-learn's ``LogisticRegression(C=1 / (total_weight * l2), fit_intercept=False)``.
        margin: required distance of positive scores above negative ones.
        few_negatives: queries with fewer than k negatives: ``truncate`` (compare with those), ``skip`` or ``pad``.
        learning_rate: learning rate of the first step.
        l2: weight of the L2 penalty.
        max_iter: number of steps, at least 1.
        seed: seed of normally distributed initial weights; None starts from 0, where ties share their gradient.
        start: initial weights instead: a source of what ``fit`` returns, with a weight for each feature and model.
        columns: mapping from canonical column names to those of the source; several for the features, ``{"features": ["age", "price"]}``.
        by: columns that identify models; each model gets its own weights, trained in the same statements.
        connection: as for :func:`sqlrank.evaluate`; the examples are copied into one of its temporary tables.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: number of DuckDB threads; with one, the same examples give bitwise equal weights.
        timeout: seconds after which training is cancelled.
        progress: called with the percentage done, after every step.

    Returns:
        The ``by`` columns, ``feature`` (int64 from 1 for arrays, otherwise the column name or the feature of the long form) and ``weight``
        (float64), sorted by these. The schema's metadata hold the statement of a step (``sqlrank.sql``) and
        the losses (``sqlrank.losses``, JSON): of each ``model`` its ``loss`` and ``loss_of_zero_weights``.

    Raises:
        MetricError: an invalid parameter.
        InputError: invalid training data, with all problems found.
        ExecutionError: time or memory ran out.

    References:
        Hiranandani et al., Optimization and Analysis of the pAp@k Metric for Recommender Systems, ICML 2020;
        Kar et al., Surrogate Functions for Maximizing Precision at the Top, ICML 2015.

    >>> import pyarrow as pa
    >>> examples = pa.table({"label": [1, 0, 0], "features": [[2.0, 1.0], [1.0, 1.0], [0.0, 1.0]]})
    >>> [round(weight, 2) for weight in fit(examples, k=1, learning_rate=1, max_iter=2)["weight"].to_pylist()]
    [1.49, 0.0]
    """
    objective = resolve_objective(surrogate, k, _check_number("margin", margin, 0, above=True), few_negatives)
    _check_number("learning_rate", learning_rate, 0, above=True)
    _check_number("l2", l2, 0)
    if not isinstance(max_iter, int) or max_iter < 1:
        raise MetricError(f"max_iter={max_iter!r} is not possible. Give an integer from 1")
    if seed is not None and start is not None:
        raise MetricError("seed and start both give initial weights. Give one of them")
    radius = math.sqrt(2 * objective.loss_at_zero / l2) if l2 else sys.float_info.max
    options = DescentOptions(float(learning_rate), float(l2), radius, max_iter, seed, start)
    names = [by] if isinstance(by, str) else list(by)

    limits = ResourceLimits(memory_limit, threads, None, timeout)
    with set_deadline(timeout), duckdb_session(connection, limits) as duck:

        def train_scorer() -> pa.Table:
            with closing(DuckDBDatabase(duck, keeps_text=False)) as database:
                training = read_training_data(database, examples, columns or {}, names, objective.is_pointwise)
                return descend_gradient(database, duck, training, objective, options, progress)

        weights = run_cancellable(duck, train_scorer, None)
    if message := describe_failure(weights, k):
        warnings.warn(message, stacklevel=2)
    return weights


def describe_failure(weights: pa.Table, k: int | None) -> str | None:
    """Return the warning about models whose least loss is not below that of zero weights, None without such models."""
    losses = json.loads((weights.schema.metadata or {})[LOSSES.encode()])
    failed = [loss for loss in losses if loss["loss"] >= loss["loss_of_zero_weights"]]
    if not failed:
        return None
    which = f" for {failed[0]['model']}" if "model" in failed[0] else ""
    more = f" ({len(failed)} of {len(losses)} models)" if len(losses) > 1 else ""
    reason = (
        "Change learning_rate= or max_iter="
        if k is None
        else (
            f"k={k} may be too small for these features: train surrogate='logistic' instead, raise k=, or change learning_rate= or max_iter="
        )
    )
    return (
        f"the least loss found{which}, {failed[0]['loss']:.6g}, is not below that of zero weights, "
        f"{failed[0]['loss_of_zero_weights']:.6g}{more}, so that no weights found are better than none. {reason}"
    )


def _check_number(name: str, value: float, minimum: float, *, above: bool = False) -> float:
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value < minimum or (above and value == minimum):
        raise MetricError(f"{name}={value!r} is not possible. Give a number {'above' if above else 'from'} {minimum}")
    return float(value)
