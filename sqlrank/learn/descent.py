"""Train a linear scorer on pAp@k where the examples are: every step of the descent is a SQL statement on DuckDB.

:func:`fit` returns the weights, :func:`scoring_sql` the statement that scores new rows with them; ``python -m sqlrank.learn`` and
``sqlrank learn`` do both.
"""

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
from sqlrank.deadline import deadline
from sqlrank.engines.dialects import dialect_of
from sqlrank.engines.duckdb import Limits, session, supervise
from sqlrank.engines.render import render
from sqlrank.engines.sources import Catalog, database_on
from sqlrank.errors import InputError, MetricError
from sqlrank.learn.training import create, named_source, read_training, scoring
from sqlrank.library import settings as of_metrics
from sqlrank.library.metric import Metric
from sqlrank.library.selects import read_select
from sqlrank.library.shelf import library
from sqlrank.statement.keys import Key, Ours
from sqlrank.statement.relations import Relations, Source
from sqlrank.statement.rows import Shape
from sqlrank.statement.stages import Stages

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import duckdb
    import pyarrow as pa

    from sqlrank.learn.training import Training
    from sqlrank.library.asked import Asked

BEFORE = ("current", "scored")
AFTER = ("losses", "slopes", "moved")
"""What a step computes before and after the surrogates and their gradients, each a file in sql/learn."""


def fit(
    examples: Any,
    *,
    k: int,
    kind: str = "avg",
    margin: float = 1.0,
    few_negatives: str = "truncate",
    step: float = 0.1,
    l2: float = 0.01,
    iterations: int = 100,
    seed: int | None = None,
    columns: Mapping[str, Any] | None = None,
    by: str | Sequence[str] = (),
    connection: Any = None,
    memory_limit: str | None = None,
    threads: int | None = 1,
    timeout: float | None = None,
    progress: Callable[[float], None] | None = None,
) -> pa.Table:
    """Train a linear scorer by projected sub-gradient descent on a surrogate of 1 - pAp@k, and return its weights.

    It minimises the mean over queries of ``pApSurrogate(kind=kind, margin=margin)@k`` plus ``l2 / 2 * |w|^2``: ``iterations`` times
    a step of ``step / sqrt(t)`` against a sub-gradient, kept in the ball of radius
    ``sqrt(2 * margin / l2)``, outside of which no optimum is. The best weights on the way are returned. DuckDB only.

    Args:
        examples: a source as for :func:`sqlrank.evaluate`: ``label`` (0 or 1), ``query_id`` if there are queries (users), and either
            ``features`` (array of numbers), or, with a row per example and feature, ``row_id``, ``feature`` and ``value`` (number);
            what has no row is 0.
        k: how many negatives, and at most positives, are compared.
        kind: ``avg``, ``max``, ``ts`` or ``ts_reference`` of pAp@k, ``pauc`` (SVM-pAUC), ``precision`` (SGD@k-avg).
        margin: how far above the negatives the positives should stand.
        few_negatives: what becomes of queries with fewer than k negatives: ``truncate`` (compare with those), ``skip``, ``pad``.
        step: length of the first step, in units of the gradient.
        l2: how much long weights cost.
        iterations: how many steps, at least 1.
        seed: of the weights to start from, drawn from a normal distribution; None starts from 0, where ties share their gradient.
        columns: canonical column names to yours; several for the features, ``{"features": ["age", "price"]}``.
        by: columns that tell models apart; each gets weights of its own, all in the same statements.
        connection: as for :func:`sqlrank.evaluate`; the examples are copied into a temporary table of it.
        memory_limit: as for :func:`sqlrank.evaluate`.
        threads: how many DuckDB uses; with one, the same examples give the same weights to the last bit.
        timeout: seconds after which training is cancelled.
        progress: called with the percentage done, after every step.

    Returns:
        The ``by`` columns, ``feature`` (int64 from 1 for arrays, text for columns, as given in long form) and ``weight`` (float64),
        ordered by these. The schema's metadata hold the statement of a step (``sqlrank.sql``).

    Raises:
        MetricError: a parameter that is not possible.
        InputError: examples that cannot be learned from, with all problems found.
        ExecutionError: time or memory ran out.

    References:
        Hiranandani et al., Optimization and Analysis of the pAp@k Metric for Recommender Systems, ICML 2020;
        Kar et al., Surrogate Functions for Maximizing Precision at the Top, ICML 2015.

    >>> import pyarrow as pa
    >>> examples = pa.table({"label": [1, 0, 0], "features": [[2.0, 1.0], [1.0, 1.0], [0.0, 1.0]]})
    >>> [round(weight, 2) for weight in fit(examples, k=1, step=1, iterations=2)["weight"].to_pylist()]
    [1.49, 0.0]
    """
    asked = _asked(kind, _number("margin", margin, 0, above=True), few_negatives, k)
    settings: dict[str, Any] = {"eta": _number("step", step, 0, above=True), "l2": _number("l2", l2, 0), "seed": seed}
    if not isinstance(iterations, int) or iterations < 1:
        raise MetricError(f"iterations={iterations!r} is not possible; give a whole number from 1")
    settings["radius"] = math.sqrt(2 * margin / l2) if l2 else sys.float_info.max
    names = [by] if isinstance(by, str) else list(by)

    limits = Limits(memory_limit, threads, None, timeout)
    with deadline(timeout), session(connection, limits) as database:

        def work() -> pa.Table:
            with closing(Catalog(database, keeps_text=False)) as catalog:
                training = read_training(database_on(catalog), examples, columns or {}, names)
                return _descend(database, training, asked, settings, iterations, progress)

        return supervise(database, work, None)


def _asked(kind: str, margin: float, few_negatives: str, k: int) -> Asked:
    kinds = library().policies["kind"]["values"]
    if not kinds.get(kind, {}).get("convex", True):
        raise MetricError(f"kind={kind!r} is not convex, so that a descent ends anywhere; choose avg, max, ts, pauc or precision")
    return _ask(Metric("pApSurrogate", (("few_negatives", few_negatives), ("kind", kind), ("margin", margin)), k))


def _ask(metric: Metric) -> Asked:
    return of_metrics.ask([metric], library(), None, {}, given=["predictions"])[0]


def _number(name: str, value: float, least: float, *, above: bool = False) -> float:
    if not isinstance(value, (int, float)) or not math.isfinite(value) or value < least or (above and value == least):
        raise MetricError(f"{name}={value!r} is not possible; give a number {'above' if above else 'from'} {least}")
    return float(value)


def _descend(
    database: duckdb.DuckDBPyConnection,
    found: Training,
    asked: Asked,
    settings: Mapping[str, Any],
    iterations: int,
    progress: Callable[[float], None] | None,
) -> pa.Table:
    """Take the steps; return the best weights."""
    mark = uuid4().hex[:8]
    tables = {name: f"sqlrank_{name}_{mark}" for name in ("examples", "trail")}
    try:
        create(database, tables["examples"], _read("examples", {"training": found.query}))
        features = found.check(database, _read("hopeless", tables))
        start = exp.convert([0.0] * features if settings["seed"] is None else _drawn(settings["seed"], features))
        create(database, tables["trail"], exp.replace_placeholders(_read("start", tables), start=start))
        step = _step(asked, settings, tables)
        # Prepared once: planning takes longer than a step over few examples.
        database.execute(f"PREPARE sqlrank_step_{mark} AS INSERT INTO {tables['trail']} {step}")
        for done in range(iterations + 1):  # a step says the loss before it, so that one more is taken
            database.execute(f"EXECUTE sqlrank_step_{mark}(done := {done})")
            if progress is not None and done < iterations:
                progress(100 * (done + 1) / iterations)
        database.execute(f"DEALLOCATE sqlrank_step_{mark}")
        best = database.sql(_read("best", tables).sql("duckdb")).to_arrow_table()
    finally:
        for name in tables.values():
            database.execute(f"DROP TABLE IF EXISTS {name}")
    metadata = {"sqlrank.version": __version__, "sqlrank.sql": step, "sqlrank.features": json.dumps(found.form)}
    return found.name_features(best).replace_schema_metadata(metadata)


def _drawn(seed: int, features: int) -> list[float]:
    generator = random.Random(seed)  # noqa: S311  nothing secret
    return [generator.gauss(0, 1) for _ in range(features)]


def _step(asked: Asked, settings: Mapping[str, Any], tables: Mapping[str, str]) -> str:
    """The statement of a step: scores, the surrogate with its sub-gradients as the library has them, and the weights after it."""
    lists = ["model_id", "query_id"]
    scored = exp.select(*lists, "doc_id", "label", "score", "1.0 AS weight").from_("scored")
    source = Source("the examples with their scores", Key(tuple(map(Ours, lists)), nullable=True), scored)
    relations = Relations(library(), {"predictions": source}, Shape([*map(Ours, lists)]))
    stages = Stages(relations, per_query=False, weighted=False)
    surrogate = stages.add(asked)
    gradient = _ask(replace(asked.metric, name="pApGradient"))
    relations.build(gradient.file, gradient.settings)
    relations.ctes["surrogates"] = stages.scans[surrogate.scan]
    relations.ctes["surrogates"].selects[-1].set("alias", exp.to_identifier("surrogate"))
    own = {name: _read(name, tables) for name in (*BEFORE, *AFTER)}
    steps = {**{name: own[name] for name in BEFORE}, **relations.ctes, **{name: own[name] for name in AFTER}}
    tree = _read("step", tables)
    for name, query in steps.items():
        tree = tree.with_(name, as_=query, copy=False)
    for placeholder in list(tree.find_all(exp.Placeholder)):
        if placeholder.name in settings:
            placeholder.replace(exp.convert(settings[placeholder.name]))
    return render(tree, f"sqlrank {__version__}: a step of the descent on {asked.metric}")


def _read(name: str, tables: Mapping[str, str | exp.Select]) -> exp.Select:
    """Return the SELECT of a file in sql/learn over tables, given by their names, or queries."""
    tree = read_select("learn", f"{name}.sql")
    for table in list(tree.find_all(exp.Table)):
        source = tables.get(table.name)
        if isinstance(source, exp.Select):
            table.replace(source.subquery(table.alias_or_name))
        elif source is not None:
            table.replace(exp.alias_(exp.to_table(source), table.alias_or_name, table=True))
    return tree


def scoring_sql(weights: pa.Table, source: str, *, dialect: str = "duckdb") -> str:
    """Return the statement that scores the rows of a table: its columns and ``score``; in long form ``row_id`` and ``score``.

    Args:
        weights: what :func:`fit` returned, for one model: its metadata say which columns hold the features.
        source: the name of the table, or for DuckDB of a file.
        dialect: the engine, as for :func:`sqlrank.sql`.

    Raises:
        InputError: weights of several models, or without their metadata.

    >>> import pyarrow as pa
    >>> examples = pa.table({"label": [1, 0], "age": [1.0, 0.0], "price": [0.0, 0.0]})
    >>> weights = fit(examples, k=1, columns={"features": ["age", "price"]}, step=1, l2=0, iterations=1)
    >>> print(scoring_sql(weights, "people").splitlines()[3])
      1.0e0 * "age" + 0.0e0 * "price" AS score
    """
    dialect_of(dialect)
    if weights.column_names != ["feature", "weight"]:
        raise InputError(
            f"these are weights of several models, told apart by {', '.join(weights.column_names[:-2])}; "
            "keep the rows of one, and the columns feature and weight"
        )
    if b"sqlrank.features" not in (weights.schema.metadata or {}):
        raise InputError("these weights have lost their metadata, which say what holds the features; give the table that fit returned")
    form = json.loads(weights.schema.metadata[b"sqlrank.features"])
    from_ = named_source(source, dialect)
    pairs = [(row["feature"], row["weight"]) for row in weights.to_pylist()]
    return render(scoring(form, pairs, from_), f"sqlrank {__version__}: scores of a linear model", dialect)
