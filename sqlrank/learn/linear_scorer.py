"""Train a linear scorer on pAp@k by gradient descent, every step a SQL statement on DuckDB, and score rows with it."""

from __future__ import annotations

import json
import math
import random
import sys
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.compiler.aggregation_ctes import AggregationCtes
from sqlrank.compiler.input_variants import InputKey, InputQuery
from sqlrank.compiler.layout import GroupColumn, GroupingLayout
from sqlrank.compiler.relation_ctes import RelationCtes
from sqlrank.compiler.row_keys import KeyColumns, UnquotedName
from sqlrank.deadline import deadline
from sqlrank.engines.cancellation import run_cancellable
from sqlrank.engines.duckdb_database import DuckDBDatabase
from sqlrank.engines.duckdb_session import duckdb_session
from sqlrank.engines.file_sources import reader_function
from sqlrank.engines.identifiers import require_table_name
from sqlrank.engines.resource_limits import ResourceLimits
from sqlrank.errors import InputError, MetricError
from sqlrank.learn.training_data import LONG_COLUMNS, create_temp_table, read_training_data
from sqlrank.registry import metric_resolver as of_metrics
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import Metric
from sqlrank.registry.query_templates import load_select
from sqlrank.rendering.dialects import get_dialect
from sqlrank.rendering.header import StatementHeader
from sqlrank.rendering.renderer import render_statement
from sqlrank.sql_ast import quoted_column
from sqlrank.stored_results import is_text, read_json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from sqlrank.learn.training_data import TrainingData
    from sqlrank.registry.resolved_metric import ResolvedMetric


def source_relation(source: str, dialect: str) -> exp.Expr:
    """Return the FROM item of a table, or of a file if the engine reads files."""
    if get_dialect(dialect).supports_file_readers and (read := reader_function(source)):
        return exp.Table(this=exp.func(read, exp.Literal.string(source), dialect=dialect))
    return require_table_name("source", source, dialect)


def scoring_query(form: Mapping[str, Any], weights: Sequence[tuple[Any, float]], source: exp.Expr) -> exp.Select:
    """Return the SELECT that scores rows by the dot product of features and weights."""
    if "long" in form:
        row, feature, value = form["long"]
        cases = [
            exp.If(this=exp.EQ(this=quoted_column(feature), expression=exp.convert(name)), true=exp.convert(weight))
            for name, weight in weights
        ]
        weight = exp.Case(ifs=cases, default=exp.Literal.number(0))
        score = exp.Sum(this=exp.Mul(this=quoted_column(value), expression=weight))
        return exp.select(quoted_column(row), exp.alias_(score, "score")).from_(source).group_by(quoted_column(row))
    if "array" in form:
        operands: list[exp.Expr] = [
            exp.Bracket(this=quoted_column(form["array"]), expressions=[exp.Literal.number(position - 1)]) for position, _ in weights
        ]
    else:
        operands = [quoted_column(name) for name, _ in weights]
    terms = [exp.Mul(this=exp.convert(weight), expression=operand) for operand, (_, weight) in zip(operands, weights, strict=True)]
    total: exp.Expr = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return exp.select("*", exp.alias_(total, "score")).from_(source)


STEPS_BEFORE_LOSS = ("current_weights", "scored_examples")
STEPS_AFTER_LOSS = ("model_losses", "weight_gradients", "stepped_weights")
"""CTEs of a step before and after surrogates and gradients, files in sql/learn."""


def fit(
    examples: Any,
    *,
    k: int,
    surrogate: str = "avg",
    margin: float = 1.0,
    few_negatives: str = "truncate",
    learning_rate: float = 0.1,
    l2: float = 0.01,
    max_iter: int = 100,
    seed: int | None = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] = (),
    connection: Any = None,
    memory_limit: str | None = None,
    threads: int | None = 1,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> pa.Table:
    """Train a linear scorer by projected subgradient descent on a surrogate of 1 - pAp@k.

    It minimizes the mean over queries of ``pApSurrogate(surrogate=surrogate, margin=margin)@k`` plus ``l2 / 2 * |w|^2``. Each of ``max_iter`` steps
    has length ``learning_rate / sqrt(t)`` and is projected onto the ball of radius ``sqrt(2 * margin / l2)``, which contains the optimum. The
    weights with the least loss are returned. DuckDB only.

    Args:
        examples: a source as for :func:`sqlrank.evaluate`, with ``label`` (0 or 1) and, if there are queries (users), ``query_id``.
            Features are an array of numbers, ``features``, or in long form ``row_id``, ``feature`` and ``value`` (number). Missing features
            of the long form are 0.
        k: number of negatives, and maximum number of positives, that are compared.
        surrogate: surrogate loss: ``avg``, ``max``, ``ts`` or ``ts_reference`` of pAp@k, ``pauc`` (SVM-pAUC), ``precision``
            (SGD@k-avg) or ``precision_reference`` (as in the code of the authors of pAp@k, for k above the number of positives).
        margin: required distance of positive scores above negative ones.
        few_negatives: queries with fewer than k negatives: ``truncate`` (compare with those), ``skip`` or ``pad``.
        learning_rate: learning rate of the first step.
        l2: weight of the L2 penalty.
        max_iter: number of steps, at least 1.
        seed: seed of normally distributed initial weights; None starts from 0, where ties share their gradient.
        columns: mapping from canonical column names to those of the source; several for the features, ``{"features": ["age", "price"]}``.
        by: columns that identify models; each model gets its own weights, trained in the same statements.
        connection: as for :func:`sqlrank.evaluate`; the examples are copied into one of its temporary tables.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: number of DuckDB threads; with one, the same examples give bitwise equal weights.
        timeout: seconds after which training is cancelled.
        progress: called with the percentage done, after every step.

    Returns:
        The ``by`` columns, ``feature`` (int64 from 1 for arrays, otherwise the column name or the feature of the long form) and ``weight``
        (float64), sorted by these. The schema's metadata hold the statement of a step (``sqlrank.sql``).

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
    objective = _resolve_objective(surrogate, _number("margin", margin, 0, above=True), few_negatives, k)
    settings: dict[str, Any] = {
        "learning_rate": _number("learning_rate", learning_rate, 0, above=True),
        "l2": _number("l2", l2, 0),
        "seed": seed,
    }
    if not isinstance(max_iter, int) or max_iter < 1:
        raise MetricError(f"max_iter={max_iter!r} is not possible; give a whole number from 1")
    settings["radius"] = math.sqrt(2 * margin / l2) if l2 else sys.float_info.max
    names = [by] if isinstance(by, str) else list(by)

    limits = ResourceLimits(memory_limit, threads, None, timeout)
    with deadline(timeout), duckdb_session(connection, limits) as duck:

        def work() -> pa.Table:
            with closing(DuckDBDatabase(duck, keeps_text=False)) as database:
                training = read_training_data(database, examples, columns or {}, names)
                return _descend(duck, training, objective, settings, max_iter, progress)

        return run_cancellable(duck, work, None)


def _resolve_objective(surrogate: str, margin: float, few_negatives: str, k: int) -> ResolvedMetric:
    surrogates = load_registry().policies["surrogate"]["values"]
    if not surrogates.get(surrogate, {}).get("convex", True):
        raise MetricError(
            f"surrogate={surrogate!r} is not convex, so that gradient descent may miss the minimum; choose avg, max, ts, pauc or precision"
        )
    return _resolve_metric(Metric("pApSurrogate", (("few_negatives", few_negatives), ("surrogate", surrogate), ("margin", margin)), k))


def _resolve_metric(metric: Metric) -> ResolvedMetric:
    return of_metrics.resolve_metrics([metric], load_registry(), None, {}, input_roles=["predictions"])[0]


def _number(name: str, value: float, minimum: float, *, above: bool = False) -> float:
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value < minimum or (above and value == minimum):
        raise MetricError(f"{name}={value!r} is not possible; give a number {'above' if above else 'from'} {minimum}")
    return float(value)


def _descend(
    database: duckdb.DuckDBPyConnection,
    training: TrainingData,
    objective: ResolvedMetric,
    settings: Mapping[str, Any],
    max_iter: int,
    progress: Callable[[float], None] | None,
) -> pa.Table:
    """Run the steps; return the weights with the least loss."""
    suffix = uuid4().hex[:8]
    tables = {name: f"sqlrank_{name}_{suffix}" for name in ("examples", "training_steps")}
    try:
        create_temp_table(database, tables["examples"], _read("examples", {"training": training.query}))
        features = training.check(database, _read("untrainable_models", tables))
        start = exp.convert([0.0] * features if settings["seed"] is None else _drawn(settings["seed"], features))
        create_temp_table(database, tables["training_steps"], exp.replace_placeholders(_read("initial_weights", tables), start=start))
        step_sql = _step(objective, settings, tables)
        # Prepare the statement once: planning takes longer than a step over few examples.
        database.execute(f"PREPARE sqlrank_step_{suffix} AS INSERT INTO {tables['training_steps']} {step_sql}")
        for done in range(max_iter + 1):  # a step returns the loss before it, so one more is needed
            database.execute(f"EXECUTE sqlrank_step_{suffix}(done := {done})")
            if progress is not None and done < max_iter:
                progress(100 * (done + 1) / max_iter)
        database.execute(f"DEALLOCATE sqlrank_step_{suffix}")
        best = database.sql(_read("best_weights", tables).sql("duckdb")).to_arrow_table()
    finally:
        for name in tables.values():
            database.execute(f"DROP TABLE IF EXISTS {name}")
    metadata = {"sqlrank.version": __version__, "sqlrank.sql": step_sql, "sqlrank.features": json.dumps(training.form)}
    return training.name_features(best).replace_schema_metadata(metadata)


def _drawn(seed: int, features: int) -> list[float]:
    generator = random.Random(seed)  # noqa: S311  nothing secret
    return [generator.gauss(0, 1) for _ in range(features)]


def _step(objective: ResolvedMetric, settings: Mapping[str, Any], tables: Mapping[str, str]) -> str:
    """Return the statement of a step: scores, surrogate with subgradients, and updated weights."""
    lists = ["model_id", "query_id"]
    scored = exp.select(*lists, "doc_id", "label", "score", "1.0 AS weight").from_("scored_examples")
    source = InputQuery("one row per example, with its score", KeyColumns(tuple(map(UnquotedName, lists)), nullable=True), scored)
    group_columns = tuple(GroupColumn(UnquotedName(name), name, name) for name in lists)
    relations = RelationCtes(load_registry(), {InputKey("predictions"): source}, GroupingLayout(group_columns))
    stages = AggregationCtes(relations, per_query=False, weighted=False)
    surrogate = stages.add_metric(objective)
    gradient = _resolve_metric(replace(objective.metric, name="pApGradient"))
    relations.add_file(gradient.file, gradient.settings)
    aggregate = relations.ctes[surrogate.cte]
    aggregate.name = "surrogates"
    aggregate.query.selects[-1].set("alias", exp.to_identifier("surrogate"))
    step_queries = {name: _read(name, tables) for name in (*STEPS_BEFORE_LOSS, *STEPS_AFTER_LOSS)}
    ctes = {
        **{name: step_queries[name] for name in STEPS_BEFORE_LOSS},
        **{cte.name: cte.query for cte in relations.ctes},
        **{name: step_queries[name] for name in STEPS_AFTER_LOSS},
    }
    tree = _read("next_weights", tables)
    for name, query in ctes.items():
        tree = tree.with_(name, as_=query, copy=False)
    for placeholder in list(tree.find_all(exp.Placeholder)):
        if placeholder.name in settings:
            placeholder.replace(exp.convert(settings[placeholder.name]))
    return render_statement(tree, StatementHeader(f"a step of the descent on {objective.metric}"))


def _read(name: str, tables: Mapping[str, str | exp.Select]) -> exp.Select:
    """Return the SELECT of a file in sql/learn over tables given as names or queries."""
    tree = load_select("learn", f"{name}.sql")
    for table in list(tree.find_all(exp.Table)):
        source = tables.get(table.name)
        if isinstance(source, exp.Select):
            table.replace(source.subquery(table.alias_or_name))
        elif source is not None:
            table.replace(exp.alias_(exp.to_table(source), table.alias_or_name, table=True))
    return tree


def scoring_sql(weights: pa.Table, source: str, *, dialect: str = "duckdb") -> str:
    """Return the statement that scores a table's rows: its columns and ``score``.

    In long form it returns ``row_id`` and ``score``.

    Args:
        weights: the result of :func:`fit` for one model, with its metadata.
        source: name of the table, or for DuckDB of a file.
        dialect: the engine, as for :func:`sqlrank.sql`.

    Raises:
        InputError: weights of several models, or without their metadata.

    >>> import pyarrow as pa
    >>> examples = pa.table({"label": [1, 0], "age": [1.0, 0.0], "price": [0.0, 0.0]})
    >>> weights = fit(examples, k=1, columns={"features": ["age", "price"]}, learning_rate=1, l2=0, max_iter=1)
    >>> print(scoring_sql(weights, "people").splitlines()[2])
    SELECT *, 1e0 * "age" + 0e0 * "price" AS score
    """
    get_dialect(dialect)
    if weights.column_names != ["feature", "weight"]:
        raise InputError(
            f"these are weights of several models, identified by {', '.join(weights.column_names[:-2])}; "
            "keep the rows of one, and the columns feature and weight"
        )
    if b"sqlrank.features" not in (weights.schema.metadata or {}):
        raise InputError("these weights have no metadata, which name the feature columns; give the table that fit returned")
    form = read_json(weights.schema.metadata, "sqlrank.features", _is_form, "this table of weights")
    from_ = source_relation(source, dialect)
    pairs = [(row["feature"], row["weight"]) for row in weights.to_pylist()]
    return render_statement(
        scoring_query(form, pairs, from_),
        StatementHeader("scores of a linear model", "one row per input row", (f"{source} (examples)",)),
        dialect,
    )


def _is_form(value: Any) -> bool:
    """Return True if a value describes the feature columns as :class:`TrainingData` does."""
    if not isinstance(value, dict):
        return False
    long, columns = value.get("long"), value.get("columns")
    is_long = isinstance(long, list) and len(long) == len(LONG_COLUMNS) and all(map(is_text, long))
    return is_long or is_text(value.get("array")) or (isinstance(columns, list) and all(map(is_text, columns)))
