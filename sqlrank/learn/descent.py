"""Minimize a loss by projected subgradient descent in DuckDB: each step is one SQL statement, prepared once; return the weights of least loss."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.learn.initial_weights import draw_weights, read_weights
from sqlrank.learn.training_data import create_temp_table
from sqlrank.learn.training_steps import read_training_step
from sqlrank.rendering.header import StatementHeader
from sqlrank.rendering.renderer import render_statement

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import duckdb
    import pyarrow as pa

    from sqlrank.engines.database import Database
    from sqlrank.learn.objective import Objective
from sqlrank.learn.training_data import TrainingData

LOSSES = "sqlrank.losses"
"""Metadata key of the losses: per model its ``by`` values as ``model``, ``loss`` and ``loss_of_zero_weights``."""


@dataclass(frozen=True)
class DescentOptions:
    """Options of the steps.

    Attributes:
        learning_rate: Length of the first step.
        l2: Weight of the L2 penalty.
        radius: Radius of the ball that weights are projected onto.
        max_iter: Number of steps.
        seed: Seed of random initial weights.
        start: Source of initial weights, None for zeros or random ones.
    """

    learning_rate: float
    l2: float
    radius: float
    max_iter: int
    seed: int | None
    start: Any


def descend_gradient(
    database: Database,
    duck: duckdb.DuckDBPyConnection,
    training: TrainingData,
    objective: Objective,
    options: DescentOptions,
    progress: Callable[[float], None] | None,
) -> pa.Table:
    """Run the steps; return the weights with the least loss, with this and the loss of zero weights in the metadata."""
    suffix = uuid4().hex[:8]
    tables = {name: f"sqlrank_{name}_{suffix}" for name in ("examples", "training_steps")}
    try:
        create_temp_table(duck, tables["examples"], read_training_step("examples", {"training": training.query}))
        features = training.check(duck, read_training_step("untrainable_models", tables))
        if options.start is not None:
            start = read_weights(database, duck, options.start, training, features, tables["examples"])
        else:
            start = [[0.0] * features if options.seed is None else draw_weights(options.seed, features)]
        create_temp_table(duck, tables["training_steps"], read_training_step("initial_weights", tables), {"start": start})
        step_sql = _write_step(objective, options, tables)
        # Prepare the statement once: planning takes longer than a step over few examples.
        duck.execute(f"PREPARE sqlrank_step_{suffix} AS INSERT INTO {tables['training_steps']} {step_sql}")
        for done in range(options.max_iter + 1):  # a step returns the loss before it, so one more is needed
            duck.execute(f"EXECUTE sqlrank_step_{suffix}(done := {done})")
            if progress is not None and done < options.max_iter:
                progress(100 * (done + 1) / options.max_iter)
        done = options.max_iter + 2
        duck.execute(f"INSERT INTO {tables['training_steps']} {read_training_step('zero_weights', tables).sql('duckdb')}", {"done": done})
        duck.execute(f"EXECUTE sqlrank_step_{suffix}(done := {done})")
        duck.execute(f"DEALLOCATE sqlrank_step_{suffix}")
        best = duck.sql(read_training_step("best_weights", tables).sql("duckdb")).to_arrow_table()
    finally:
        for name in tables.values():
            duck.execute(f"DROP TABLE IF EXISTS {name}")
    metadata = {
        "sqlrank.version": __version__,
        "sqlrank.sql": step_sql,
        "sqlrank.features": json.dumps(training.form),
        LOSSES: json.dumps(_list_losses(best, training.by), default=str),
    }
    return training.name_features(best).replace_schema_metadata(metadata)


def _list_losses(best: pa.Table, by: list[str]) -> list[dict[str, Any]]:
    """Return the least loss of each model, and that of zero weights."""
    firsts = [row for row in best.drop_columns(["weight"]).to_pylist() if row["feature"] == 1]
    return [
        {
            **({"model": dict(zip(by, row["model"].values(), strict=True))} if by else {}),
            "loss": row["loss"],
            "loss_of_zero_weights": row["zero_loss"],
        }
        for row in firsts
    ]


def _write_step(objective: Objective, options: DescentOptions, tables: Mapping[str, str]) -> str:
    """Return the statement of a step: scores, loss with subgradients, and updated weights."""
    ctes = {
        **{name: read_training_step(name, tables) for name in ("current_weights", "scored_examples")},
        **objective.build_ctes(),
        **{name: read_training_step(name, tables) for name in ("weight_gradients", "stepped_weights")},
    }
    tree = read_training_step("next_weights", tables)
    for name, query in ctes.items():
        tree = tree.with_(name, as_=query, copy=False)
    for placeholder in list(tree.find_all(exp.Placeholder)):
        if placeholder.name in {"learning_rate", "l2", "radius"}:
            placeholder.replace(exp.convert(getattr(options, placeholder.name)))
    return render_statement(tree, StatementHeader(f"a step of the descent on {objective.description}"))
