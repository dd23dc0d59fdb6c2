"""Choose the weights that training starts from (zeros, random numbers, or a table per model), and read weights from tables."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.engines.duckdb_session import fetch_tuples
from sqlrank.errors import InputError, enumerate_names, short_repr

if TYPE_CHECKING:
    from collections.abc import Sequence

    import duckdb

    from sqlrank.engines.database import Database
    from sqlrank.learn.training_data import TrainingData

    Key = tuple[Any, ...]
    """Values of the ``by`` columns."""


def draw_weights(seed: int, features: int) -> list[float]:
    """Draw normally distributed weights."""
    generator = random.Random(seed)  # noqa: S311  nothing secret
    return [generator.gauss(0, 1) for _ in range(features)]


def read_weights(
    database: Database, duck: duckdb.DuckDBPyConnection, start: Any, training: TrainingData, features: int, examples: str
) -> list[list[float]]:
    """Return the given weights of each model, in the order of its number in the table ``examples``.

    Raises:
        InputError: A model or feature without a weight, or weights of others.
    """
    weights_by_model = _read_weights_by_model(database, "start", start, training.by)
    keys: list[Key] = [
        tuple(model.values()) if training.by else ()
        for (model,) in fetch_tuples(duck, f"SELECT ANY_VALUE(model) FROM {examples} GROUP BY model_id ORDER BY model_id")
    ]
    names = training.feature_names(features)
    ordered_weights = [_order_weights("start", weights_by_model.pop(key, {}), training.by, key, names) for key in keys]
    if weights_by_model:
        raise InputError(
            f"start: there are weights{_describe_model(training.by, next(iter(weights_by_model)))}, of which there are no examples. Leave them out"
        )
    return ordered_weights


def read_models(database: Database, weights: Any, names: Sequence[Any]) -> list[list[float]]:
    """Return the weights of each model of a table, in the order of the models and of the feature names.

    Raises:
        InputError: A feature without a weight, or weights of other features.
    """
    columns = database.resolve_source("weights", weights).column_types or {}
    by = [name for name in columns if name.lower() not in {"feature", "weight"}]
    weights_by_model = _read_weights_by_model(database, "weights", weights, by)
    return [
        _order_weights("weights", weights_by_model[key], by, key, names)
        for key in sorted(weights_by_model, key=lambda key: [(value is None, value) for value in key])
    ]


def _read_weights_by_model(database: Database, role: str, table: Any, by: Sequence[str]) -> dict[Key, dict[Any, float]]:
    """Return the weights of a table by model and feature."""
    source = database.resolve_source(role, table)
    names = [*by, "feature", "weight"]
    if missing := [name for name in names if source.find_column(name) is None]:
        raise InputError(
            f"{role} ({source.label}): no column {missing[0]!r}. Give a table of weights as fit returns, with {enumerate_names(names)}"
        )
    columns = [exp.column(str(source.find_column(name)), quoted=True) for name in names]
    weights_by_model: dict[Key, dict[Any, float]] = {}
    for *key, feature, weight in database.query_rows(exp.select(*columns).from_(source.from_clause([column.this for column in columns]))):
        own = weights_by_model.setdefault(tuple(key), {})
        label = f"feature {short_repr(feature)}{_describe_model(by, tuple(key))}"
        if feature in own:
            raise InputError(f"{role}: {label} has two weights. Give one")
        if not isinstance(weight, (int, float)) or not math.isfinite(weight):
            raise InputError(f"{role}: the weight of {label} is {weight!r}. Give a number")
        own[feature] = float(weight)
    return weights_by_model


def _order_weights(role: str, own: dict[Any, float], by: Sequence[str], key: Key, names: Sequence[Any]) -> list[float]:
    if missing := [name for name in names if name not in own]:
        raise InputError(
            f"{role}: feature {short_repr(missing[0])}{_describe_model(by, key)} has no weight. Give one for every feature, 0 for none"
        )
    if unknown := [name for name in own if name not in set(names)]:
        raise InputError(f"{role}: the examples have no feature {short_repr(unknown[0])}. Leave its weight out")
    return [own[name] for name in names]


def _describe_model(by: Sequence[str], key: Key) -> str:
    return f" for {dict(zip(by, key, strict=True))}" if by else ""
