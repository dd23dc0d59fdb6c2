"""Train a linear scorer (the function ``fit``), merge the weights of several models, and write the
statement that scores rows with one.
"""

from __future__ import annotations

import json
import math
import sys
import warnings
from contextlib import closing
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.call.argument_checks import entry_point
from sqlrank.call.request import ResourceLimits
from sqlrank.call.sources import reader_function
from sqlrank.cancellation import run_cancellable
from sqlrank.engines.duckdb_database import DuckDBDatabase
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.engines.query_sources import require_table_name
from sqlrank.errors import InputError, MetricError
from sqlrank.learn.training import (
    LONG_COLUMNS,
    LOSSES,
    DescentOptions,
    create_temp_table,
    descend_gradient,
    read_models,
    read_training_data,
    read_training_step,
    resolve_objective,
    write_metric,
)
from sqlrank.registry.metric import Metric
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.renderer import StatementHeader, render_statement
from sqlrank.result_metadata import is_text, read_json
from sqlrank.sql_ast import bind_placeholders, quoted_column, sql_literal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import duckdb

    Weights = list[float]
    Score = tuple[float | None, int]
    """Mean pAp@k, and pairs in the right order."""


@entry_point
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

    The models are ordered by their mean pAp@k over queries. The first is the current model ``c``.
    For each next model ``w`` the candidates ``c + a * w`` and ``a * c + w`` are scored, with
    ``factors`` equally spaced ``a`` from 0 to 1, all in one statement. The candidate with the most
    pairs in the right order becomes the current model, the first of equals. A pair is one of the
    ``k`` highest negatives of a query and one of its ``min(k, positives)`` highest positives, under
    the candidate. Ties are wrong. Queries with fewer than ``k`` negatives are left out.

    Args:
        weights: a source of weights of several models, as :func:`fit` returns with ``by``: columns
            that identify models, feature, weight.
        examples: examples that the models were not trained on, in the form that :func:`fit` takes.
        k: number of negatives, and maximum number of positives, that are compared.
        factors: number of factors ``a``, at least 2.
        columns: as for :func:`fit`.
        connection: as for :func:`fit`.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: as for :func:`fit`.
        timeout: seconds after which merging is cancelled.

    Returns:
        ``feature`` and ``weight``, as :func:`fit` for one model. The schema's metadata hold the
        statement that scores candidates (``sqlrank.sql``), and its mean pAp@k on the examples
        (``sqlrank.pap``).

    Raises:
        MetricError: an invalid parameter.
        InputError: invalid weights or examples.
        ExecutionError: time or memory ran out.

    References: Hiranandani et al., Optimization and Analysis of the pAp@k Metric for Recommender
        Systems, ICML 2020, and its code.

    >>> examples = pa.table(
    ...     {"label": [1, 1, 0, 0], "features": [[1, 0], [0, 1], [0.4, -0.3], [-0.3, 0.4]]}
    ... )
    >>> weights = pa.table(
    ...     {"model": [1, 1, 2, 2], "feature": [1, 2, 1, 2], "weight": [1.0, 0.0, 0.0, 1.0]}
    ... )
    >>> [round(weight, 2) for weight in merge_weights(weights, examples, k=2)["weight"].to_pylist()]
    [1.0, 0.32]
    """
    if k is None:
        raise MetricError("k is missing: merging compares the k highest negatives. Give k=...")
    metric = Metric("pAp", (("few_negatives", "skip"), ("tie_credit", 0)), k)
    ctes = write_metric(metric, "candidate_examples", "paps", "pap")
    limits = ResourceLimits(memory_limit, threads, None, timeout)
    with duckdb_session(connection, limits) as duck:

        def merge_models() -> pa.Table:
            with closing(DuckDBDatabase(duck, keeps_text=False)) as database:
                training = read_training_data(database, examples, columns or {}, ())
                table = f"sqlrank_examples_{uuid4().hex[:8]}"
                tables = {"examples": table}
                try:
                    create_temp_table(
                        duck, table, read_training_step("examples", {"training": training.query})
                    )
                    names = training.feature_names(
                        training.check(duck, read_training_step("untrainable_models", tables))
                    )
                    models = read_models(database, weights, names)
                    statement = _write_statement(ctes, tables, k)
                    merged, mean_pap = _merge_models(duck, statement, models, factors)
                finally:
                    duck.execute(f"DROP TABLE IF EXISTS {table}")
            metadata = {
                "sqlrank.version": __version__,
                "sqlrank.sql": statement,
                "sqlrank.features": json.dumps(training.form),
            }
            features = pa.array(
                names, pa.int64() if training.names is None else training.names.type
            )
            result = pa.table({"feature": features, "weight": merged})
            return result.replace_schema_metadata(metadata | {"sqlrank.pap": json.dumps(mean_pap)})

        return run_cancellable(duck, merge_models, None)


def _write_statement(ctes: Mapping[str, exp.Query], tables: Mapping[str, str], k: int) -> str:
    """Return the statement that scores candidates, with their weights as the parameter
    ``candidates``.
    """
    tree = read_training_step("candidate_pairs", tables)
    bind_placeholders(tree, k=k)
    for name, query in {
        "candidate_examples": read_training_step("candidate_examples", tables),
        **ctes,
    }.items():
        tree = tree.with_(name, as_=query, copy=False)
    return render_statement(
        tree, StatementHeader("pairs in the right order of candidates of a merge")
    )


def _merge_models(
    duck: duckdb.DuckDBPyConnection, statement: str, models: Sequence[Weights], factors: int
) -> tuple[Weights, float | None]:
    """Return the merged weights, with their mean pAp@k."""

    def score_candidates(candidates: Sequence[Weights]) -> list[Score]:
        rows = duck.execute(statement, {"candidates": candidates}).fetchall()
        return [(mean, pairs) for _, mean, pairs in rows]

    scores = score_candidates(models)
    if scores[0][0] is None:
        raise InputError(
            "examples: no query has k negatives and a positive, so that pAp@k is undefined. Lower"
            " k, or give more examples"
        )
    order = sorted(range(len(models)), key=lambda index: (-(scores[index][0] or 0), index))
    current, mean_pap = models[order[0]], scores[order[0]][0]
    for index in order[1:]:
        candidates = _combine_weights(current, models[index], factors)
        candidate_scores = score_candidates(candidates)
        best = max(
            range(len(candidates)), key=lambda position: (candidate_scores[position][1], -position)
        )
        current, mean_pap = candidates[best], candidate_scores[best][0]
    return current, mean_pap


def _combine_weights(current: Weights, other: Weights, factors: int) -> list[Weights]:
    """Return the candidates ``current + a * other`` and ``a * current + other``, the sum once."""
    shares = [step / (factors - 1) for step in range(factors)]
    added = [
        [own + share * rest for own, rest in zip(current, other, strict=True)] for share in shares
    ]
    return added + [
        [share * own + rest for own, rest in zip(current, other, strict=True)]
        for share in shares[:-1]
    ]


def source_relation(source: str, dialect: str) -> exp.Expr:
    """Return the FROM item of a table, or of a file if the engine reads files."""
    if get_dialect(dialect).supports_file_readers and (read := reader_function(source)):
        return exp.Table(this=exp.func(read, sql_literal(source), dialect=dialect))
    return require_table_name("source", source, dialect)


def scoring_query(
    form: Mapping[str, Any], weights: Sequence[tuple[Any, float]], source: exp.Expr
) -> exp.Select:
    """Return the SELECT that scores rows by the dot product of features and weights."""
    if "long" in form:
        row, feature, value = form["long"]
        cases = [
            exp.If(
                this=quoted_column(feature).eq(exp.convert(name)),
                true=exp.convert(weight),
            )
            for name, weight in weights
        ]
        weight = exp.Case(ifs=cases, default=sql_literal(0))
        score = exp.Sum(this=quoted_column(value) * weight)
        return (
            exp.select(quoted_column(row), score.as_("score"))
            .from_(source)
            .group_by(quoted_column(row))
        )
    if "array" in form:
        operands: list[exp.Expr] = [
            exp.Bracket(
                this=quoted_column(form["array"]), expressions=[exp.Literal.number(position - 1)]
            )
            for position, _ in weights
        ]
    else:
        operands = [quoted_column(name) for name, _ in weights]
    terms = [
        exp.convert(weight) * operand
        for operand, (_, weight) in zip(operands, weights, strict=True)
    ]
    total: exp.Expr = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return exp.select("*", total.as_("score")).from_(source)


def scoring_sql(weights: pa.Table, source: str, *, dialect: str = "duckdb") -> str:
    """Return the statement that scores a table's rows: its columns and ``score``.

    In long form it returns ``row_id`` and ``score``.

    Args:
        weights: the result of :func:`sqlrank.learn.fit` for one model, with its metadata.
        source: name of the table, or for DuckDB of a file.
        dialect: the engine, as for :func:`sqlrank.sql`.

    Raises:
        InputError: weights of several models, or without their metadata.

    >>> import pyarrow as pa
    >>> from sqlrank.learn import fit
    >>> examples = pa.table({"label": [1, 0], "age": [1.0, 0.0], "price": [0.0, 0.0]})
    >>> weights = fit(
    ...     examples, k=1, columns={"features": ["age", "price"]}, learning_rate=1, l2=0, max_iter=1
    ... )
    >>> print(scoring_sql(weights, "people").splitlines()[2])
    SELECT *, 1e0 * "age" + 0e0 * "price" AS score
    """
    get_dialect(dialect)
    if weights.column_names != ["feature", "weight"]:
        raise InputError(
            "these are weights of several models, identified by"
            f" {', '.join(weights.column_names[:-2])}. Keep the rows of one, and the columns"
            " feature and weight"
        )
    if b"sqlrank.features" not in (weights.schema.metadata or {}):
        raise InputError(
            "these weights have no metadata, which name the feature columns. Give the table that"
            " fit returned"
        )
    form = read_json(weights.schema.metadata, "sqlrank.features", _is_form, "this table of weights")
    from_ = source_relation(source, dialect)
    pairs = [(row["feature"], row["weight"]) for row in weights.to_pylist()]
    return render_statement(
        scoring_query(form, pairs, from_),
        StatementHeader(
            "scores of a linear model", "one row per input row", (f"{source} (examples)",)
        ),
        dialect,
    )


def _is_form(value: Any) -> bool:
    """Return True if a value describes the feature columns as :class:`TrainingData` does."""
    if not isinstance(value, dict):
        return False
    long, columns = value.get("long"), value.get("columns")
    is_long = isinstance(long, list) and len(long) == len(LONG_COLUMNS) and all(map(is_text, long))
    return (
        is_long
        or is_text(value.get("array"))
        or (isinstance(columns, list) and all(map(is_text, columns)))
    )


@entry_point
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
    """Train a linear scorer by projected subgradient descent on a surrogate of 1 - pAp@k, or by
    logistic regression.

    It minimizes a loss plus ``l2 / 2 * |w|^2``. The loss is the mean over queries of
    ``pApSurrogate(surrogate=surrogate, margin=margin)@k``, or for ``surrogate="logistic"`` the mean
    over examples of the log loss. Each of ``max_iter`` steps has length ``learning_rate / sqrt(t)``
    and is projected onto the ball of radius ``sqrt(2 * margin / l2)`` (``sqrt(2 * ln(2) / l2)``),
    which contains the optimum. The weights with the least loss are returned. A warning says if that
    loss is not below the loss of zero weights, or still fell in the last steps. DuckDB only.

    Args:
        examples: a source as for :func:`sqlrank.evaluate`, with ``label`` (0 or 1) and, if there
            are queries (users), ``query_id``. Logistic regression reads ``weight`` instead of
            ``query_id``. Features are an array of numbers, ``features``, or in long form
            ``row_id``, ``feature`` and ``value`` (number). Missing features of the long form are 0.
        k: number of negatives, and maximum number of positives, that are compared. Logistic
            regression has none.
        surrogate: surrogate loss: ``avg``, ``max``, ``ts`` or ``ts_reference`` of pAp@k, ``pauc``
            (SVM-pAUC), ``precision`` (SGD@k-avg) or ``precision_reference`` (as in the code of the
            authors of pAp@k, for k above the number of positives); or ``logistic``, which equals
            scikit-learn's ``LogisticRegression(C=1 / (total_weight * l2), fit_intercept=False)``.
        margin: required distance of positive scores above negative ones.
        few_negatives: queries with fewer than k negatives: ``truncate`` (compare with those),
            ``skip`` or ``pad``.
        learning_rate: learning rate of the first step.
        l2: weight of the L2 penalty.
        max_iter: number of steps, at least 1.
        seed: seed of normally distributed initial weights; None starts from 0, where ties share
            their gradient.
        start: initial weights instead: a source of what ``fit`` returns, with a weight for each
            feature and model.
        columns: mapping from canonical column names to those of the source; several for the
            features, ``{"features": ["age", "price"]}``.
        by: columns that identify models; each model gets its own weights, trained in the same
            statements.
        connection: as for :func:`sqlrank.evaluate`; the examples are copied into one of its
            temporary tables.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: number of DuckDB threads; with one, the same examples give bitwise equal weights.
        timeout: seconds after which training is cancelled.
        progress: called with the percentage done, after every step.

    Returns:
        The ``by`` columns, ``feature`` (int64 from 1 for arrays, otherwise the column name or the
        feature of the long form) and ``weight`` (float64), sorted by these. The schema's metadata
        hold the statement of a step (``sqlrank.sql``) and the losses (``sqlrank.losses``, JSON): of
        each ``model`` its ``loss``, ``loss_of_early_steps`` (all but the last tenth, ``null`` if
        there are fewer than ten) and ``loss_of_zero_weights``.

    Raises:
        MetricError: an invalid parameter.
        InputError: invalid training data, with all problems found.
        ExecutionError: time or memory ran out.

    References: Hiranandani et al., Optimization and Analysis of the pAp@k Metric for Recommender
        Systems, ICML 2020; Kar et al., Surrogate Functions for Maximizing Precision at the Top,
        ICML 2015.

    >>> import pyarrow as pa
    >>> examples = pa.table({"label": [1, 0, 0], "features": [[2.0, 1.0], [1.0, 1.0], [0.0, 1.0]]})
    >>> [
    ...     round(weight, 2)
    ...     for weight in fit(examples, k=1, learning_rate=1, max_iter=2)["weight"].to_pylist()
    ... ]
    [1.49, 0.0]
    """
    objective = resolve_objective(surrogate, k, float(margin), few_negatives)
    if seed is not None and start is not None:
        raise MetricError("seed and start both give initial weights. Give one of them")
    radius = math.sqrt(2 * objective.loss_at_zero / l2) if l2 else sys.float_info.max
    options = DescentOptions(float(learning_rate), float(l2), radius, max_iter, seed, start)
    names = [by] if isinstance(by, str) else list(by)

    limits = ResourceLimits(memory_limit, threads, None, timeout)
    with duckdb_session(connection, limits) as duck:

        def train_scorer() -> pa.Table:
            with closing(DuckDBDatabase(duck, keeps_text=False)) as database:
                training = read_training_data(
                    database, examples, columns or {}, names, objective.is_pointwise
                )
                return descend_gradient(database, duck, training, objective, options, progress)

        weights = run_cancellable(duck, train_scorer, None)
    if message := describe_failure(weights, k):
        warnings.warn(message, stacklevel=3)
    return weights


MOST_LATE_FALL = 0.005
"""Share of the fall of a loss, from that of zero weights, in the last tenth of the steps, up to
which the descent has come near the optimum: within about a twentieth of the fall.
"""


def describe_failure(weights: pa.Table, k: int | None) -> str | None:
    """Return the warning about models whose least loss is not below that of zero weights, or else
    still fell in the last steps, None without such models.
    """
    losses = json.loads((weights.schema.metadata or {})[LOSSES.encode()])
    falls = [loss["loss_of_zero_weights"] - loss["loss"] for loss in losses]
    late_falls = [(loss["loss_of_early_steps"] or loss["loss"]) - loss["loss"] for loss in losses]
    failed = [loss for loss, fall in zip(losses, falls, strict=True) if fall <= 0]
    slow = [
        (loss, late_fall / fall)
        for loss, fall, late_fall in zip(losses, falls, late_falls, strict=True)
        if fall > 0 and late_fall > MOST_LATE_FALL * fall
    ]
    if not failed and not slow:
        return None
    first = failed[0] if failed else slow[0][0]
    which = f" for {first['model']}" if "model" in first else ""
    more = f" ({len(failed or slow)} of {len(losses)} models)" if len(losses) > 1 else ""
    if not failed:
        return (
            f"the descent{which} has not come to an end{more}: {slow[0][1]:.2g} of the fall of the"
            " loss, from that of zero weights, is of the last tenth of the steps. Raise max_iter="
            " or learning_rate=, or go on from these weights with start="
        )
    reason = (
        "Change learning_rate= or max_iter="
        if k is None
        else (
            f"k={k} may be too small for these features: train surrogate='logistic' instead, raise"
            " k=, or change learning_rate= or max_iter="
        )
    )
    return (
        f"the least loss found{which}, {first['loss']:.6g}, is not below that of zero weights,"
        f" {first['loss_of_zero_weights']:.6g}{more}, so that no weights found are better than"
        f" none. {reason}"
    )
