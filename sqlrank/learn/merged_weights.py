"""Merge the weights of several linear models into one, greedily, by pAp@k on held-out examples (greedy-pAp@k)."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.deadline import set_deadline
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.engines.open_database import DuckDBDatabase
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.engines.worker_threads import run_cancellable
from sqlrank.errors import InputError, MetricError
from sqlrank.learn.training import check_k, create_temp_table, read_models, read_training_data, read_training_step, write_metric
from sqlrank.registry.metric import Metric
from sqlrank.rendering.renderer import StatementHeader, render_statement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import duckdb

    Weights = list[float]
    Score = tuple[float | None, int]
    """Mean pAp@k, and pairs in the right order."""


def merge_weights(
    weights: Any,
    examples: Any,
    *,
    k: int | None,
    factors: int = 20,
    columns: Mapping[str, Any] | None = None,
    connection: Any = None,
    memory_limit: str | None = None,
    threads: int | None = 1,
    timeout: float | None = None,
) -> pa.Table:
    """Merge linear models into one with high pAp@k, by the heuristic greedy-pAp@k. DuckDB only.

    The models are ordered by their mean pAp@k over queries. The first is the current model ``c``. For each next model ``w`` the candidates
    ``c + a * w`` and ``a * c + w`` are scored, with ``factors`` equally spaced ``a`` from 0 to 1, all in one statement. The candidate with the
    most pairs in the right order becomes the current model, the first of equals. A pair is one of the ``k`` highest negatives of a query and one
    of its ``min(k, positives)`` highest positives, under the candidate. Ties are wrong. Queries with fewer than ``k`` negatives are left out.

    Args:
        weights: a source of weights of several models, as :func:`fit` returns with ``by``: columns that identify models, feature, weight.
        examples: examples that the models were not trained on, in the form that :func:`fit` takes.
        k: number of negatives, and maximum number of positives, that are compared.
        factors: number of factors ``a``, at least 2.
        columns: as for :func:`fit`.
        connection: as for :func:`fit`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`fit`.
        timeout: seconds after which merging is cancelled.

    Returns:
        ``feature`` and ``weight``, as :func:`fit` for one model. The schema's metadata hold the statement that scores candidates
        (``sqlrank.sql``), and its mean pAp@k on the examples (``sqlrank.pap``).

    Raises:
        MetricError: an invalid parameter.
        InputError: invalid weights or examples.
        ExecutionError: time or memory ran out.

    References:
        Hiranandani et al., Optimization and Analysis of the pAp@k Metric for Recommender Systems, ICML 2020, and its code.

    >>> examples = pa.table({"label": [1, 1, 0, 0], "features": [[1, 0], [0, 1], [0.4, -0.3], [-0.3, 0.4]]})
    >>> weights = pa.table({"model": [1, 1, 2, 2], "feature": [1, 2, 1, 2], "weight": [1.0, 0.0, 0.0, 1.0]})
    >>> [round(weight, 2) for weight in merge_weights(weights, examples, k=2)["weight"].to_pylist()]
    [1.0, 0.32]
    """
    if not isinstance(factors, int) or factors < 2:  # noqa: PLR2004
        raise MetricError(f"factors={factors!r} is not possible. Give an integer from 2")
    if k is None:
        raise MetricError("k is missing: merging compares the k highest negatives. Give k=...")
    check_k(k)
    metric = Metric("pAp", (("few_negatives", "skip"), ("tie_credit", 0)), k)
    ctes = write_metric(metric, "candidate_examples", "paps", "pap")
    limits = ResourceLimits(memory_limit, threads, None, timeout)
    with set_deadline(timeout), duckdb_session(connection, limits) as duck:

        def merge_models() -> pa.Table:
            with closing(DuckDBDatabase(duck, keeps_text=False)) as database:
                training = read_training_data(database, examples, columns or {}, ())
                table = f"sqlrank_examples_{uuid4().hex[:8]}"
                tables = {"examples": table}
                try:
                    create_temp_table(duck, table, read_training_step("examples", {"training": training.query}))
                    names = training.feature_names(training.check(duck, read_training_step("untrainable_models", tables)))
                    models = read_models(database, weights, names)
                    statement = _write_statement(ctes, tables, k)
                    merged, mean_pap = _merge_models(duck, statement, models, factors)
                finally:
                    duck.execute(f"DROP TABLE IF EXISTS {table}")
            metadata = {"sqlrank.version": __version__, "sqlrank.sql": statement, "sqlrank.features": json.dumps(training.form)}
            features = pa.array(names, pa.int64() if training.names is None else training.names.type)
            result = pa.table({"feature": features, "weight": merged})
            return result.replace_schema_metadata(metadata | {"sqlrank.pap": json.dumps(mean_pap)})

        return run_cancellable(duck, merge_models, None)


def _write_statement(ctes: Mapping[str, exp.Query], tables: Mapping[str, str], k: int) -> str:
    """Return the statement that scores candidates, with their weights as the parameter ``candidates``."""
    tree = read_training_step("candidate_pairs", tables)
    for placeholder in list(tree.find_all(exp.Placeholder)):
        placeholder.replace(exp.convert(k))
    for name, query in {"candidate_examples": read_training_step("candidate_examples", tables), **ctes}.items():
        tree = tree.with_(name, as_=query, copy=False)
    return render_statement(tree, StatementHeader("pairs in the right order of candidates of a merge"))


def _merge_models(duck: duckdb.DuckDBPyConnection, statement: str, models: Sequence[Weights], factors: int) -> tuple[Weights, float | None]:
    """Return the merged weights, with their mean pAp@k."""

    def score_candidates(candidates: Sequence[Weights]) -> list[Score]:
        rows = duck.execute(statement, {"candidates": candidates}).fetchall()
        return [(mean, pairs) for _, mean, pairs in rows]

    scores = score_candidates(models)
    if scores[0][0] is None:
        raise InputError("examples: no query has k negatives and a positive, so that pAp@k is undefined. Lower k, or give more examples")
    order = sorted(range(len(models)), key=lambda index: (-(scores[index][0] or 0), index))
    current, mean_pap = models[order[0]], scores[order[0]][0]
    for index in order[1:]:
        candidates = _combine_weights(current, models[index], factors)
        candidate_scores = score_candidates(candidates)
        best = max(range(len(candidates)), key=lambda position: (candidate_scores[position][1], -position))
        current, mean_pap = candidates[best], candidate_scores[best][0]
    return current, mean_pap


def _combine_weights(current: Weights, other: Weights, factors: int) -> list[Weights]:
    """Return the candidates ``current + a * other`` and ``a * current + other``, the sum once."""
    shares = [step / (factors - 1) for step in range(factors)]
    added = [[own + share * rest for own, rest in zip(current, other, strict=True)] for share in shares]
    return added + [[share * own + rest for own, rest in zip(current, other, strict=True)] for share in shares[:-1]]
