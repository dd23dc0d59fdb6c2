"""Train by statements of DuckDB: read training data, choose a loss and first weights, and minimize
it by subgradient descent.
"""

from __future__ import annotations

import json
import math
import random
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
from sqlglot import exp

from sqlrank._version import __version__
from sqlrank.compiler.aggregation_ctes import AggregationCtes
from sqlrank.compiler.layout import GroupColumn, GroupingLayout, InputKey, InputQuery
from sqlrank.compiler.relation_ctes import RelationCtes
from sqlrank.compiler.row_keys import KeyColumns, UnquotedName
from sqlrank.engines.database import Database, resolve_source
from sqlrank.engines.duckdb_session import fetch_tuples
from sqlrank.engines.source_tables import DeclaredColumns, SourceTable
from sqlrank.errors import (
    InputError,
    MetricError,
    did_you_mean,
    enumerate_names,
    first_line,
    join_sentences,
    join_words,
    short_repr,
    suggest_choice,
)
from sqlrank.inputs import row_checks
from sqlrank.inputs.bound_input import BoundInput
from sqlrank.inputs.column_mapping import bind_column_or_expression
from sqlrank.inputs.missing_columns import describe_missing_columns
from sqlrank.registry import metric_resolver as of_metrics
from sqlrank.registry.loader import load_registry
from sqlrank.registry.metric import Metric
from sqlrank.registry.query_templates import load_select
from sqlrank.rendering.renderer import StatementHeader, render_statement
from sqlrank.sql_ast import bind_placeholders, quoted_column, sql_literal, write_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlrank.registry.resolved_metric import ResolvedMetric
    from sqlrank.registry.roles import Role

    Key = tuple[Any, ...]
    """Values of the ``by`` columns."""


def read_training_step(name: str, tables: Mapping[str, str | exp.Select]) -> exp.Select:
    """Return the SELECT of a file in sql/analyses/learn over tables given as names or queries."""
    tree = load_select("analyses/learn", f"{name}.sql")
    for table in list(tree.find_all(exp.Table)):
        source = tables.get(table.name)
        if isinstance(source, exp.Select):
            table.replace(source.subquery(table.alias_or_name))
        elif source is not None:
            table.replace(exp.alias_(exp.to_table(source), table.alias_or_name, table=True))
    return tree


TRAINING_ROLE = "training"
LONG_COLUMNS = ("row_id", "feature", "value")
COMPUTED_COLUMNS = ("label", "query_id", "weight")
"""Columns that may be expressions; the others are those of the table that is scored."""

FEATURES = "features of the training data"
"""Internal name of the features as an array of doubles."""


@dataclass(frozen=True)
class TrainingData:
    """Training data as a query: ``model``, ``query_id``, ``label``, ``weight``, and ``features``,
    an array of doubles.

    ``names`` are the feature names, None for positions in an array. ``by`` are the columns that
    identify models, fields of ``model``. ``form`` describes the feature columns as JSON.
    """

    item: BoundInput
    database: Database
    query: exp.Select
    by: list[str]
    names: pa.Array | None
    form: dict[str, Any]
    is_pointwise: bool = False

    def check(self, database: duckdb.DuckDBPyConnection, untrainable_models: exp.Select) -> int:
        """Return the number of features; raise ``InputError`` for unsuitable training data.

        ``untrainable_models`` returns the models without any pair of a positive and a negative.
        """
        checked_columns = [
            name
            for name in ("label", "query_id", "weight", "features")
            if name in self.item.columns
        ]
        row_checks.validate_rows(self.item, tuple(checked_columns), ["binary labels"])
        lengths = exp.select("MIN(LEN(features))", "MAX(LEN(features))").from_(
            self.query.subquery(TRAINING_ROLE)
        )
        shortest, longest = fetch_tuples(database, write_tree(lengths))[0]
        if shortest != longest or not longest:
            what = (
                "have no numbers"
                if not longest
                else f"have {shortest} to {longest} numbers. Give all rows as many"
            )
            raise InputError(f"{self.item.label}: features {what}")
        if models := [row[0] for row in fetch_tuples(database, untrainable_models.sql("duckdb"))]:
            which = (
                " for"
                f" {row_checks.short_value(dict(zip(self.by, models[0].values(), strict=True)))}"
                if self.by
                else ""
            )
            more = f", nor for {len(models) - 1} other models" if len(models) > 1 else ""
            raise InputError(
                f"{self.item.label}: {'there are not' if self.is_pointwise else 'no query has'}"
                f" both positives and negatives{which}{more}, so that nothing can be compared"
            )
        return int(longest)

    def feature_names(self, number: int) -> list[Any]:
        """Return the names of the features, or their positions from 1 in arrays of so many
        numbers.
        """
        return list(range(1, number + 1)) if self.names is None else self.names.to_pylist()

    def name_features(self, best: pa.Table) -> pa.Table:
        """Add the columns of ``by`` and the feature names to the weights."""
        feature = best["feature"].combine_chunks().cast(pa.int64())
        if self.names is not None:
            feature = self.names.take(pc.subtract(feature, 1))
        models = best["model"].combine_chunks()
        keys = {name: models.field(index) for index, name in enumerate(self.by)}
        return pa.table({**keys, "feature": feature, "weight": best["weight"]})


def read_training_data(
    database: Database,
    source: Any,
    columns: Mapping[str, Any],
    by: Sequence[str],
    is_pointwise: bool = False,
) -> TrainingData:
    """Map the columns of a source; raise ``InputError`` for missing or unsuitable ones.

    Examples of a pointwise loss have weights, and no queries.
    """
    role = load_registry().roles[TRAINING_ROLE]
    _check_mapping(columns, role, by, is_pointwise)
    if not is_pointwise:
        role = replace(
            role,
            columns={name: column for name, column in role.columns.items() if name != "weight"},
        )
    table = resolve_source(
        database, TRAINING_ROLE, source, DeclaredColumns.declare_columns(role.columns, columns, by)
    )
    bound_input = BoundInput(role, table, database, load_registry().checks[TRAINING_ROLE])
    column_names = {
        name: column_name for name, column_name in columns.items() if isinstance(column_name, str)
    }
    group_columns = {
        f"by_{index}": bound_input.table.find_column(column_names.get(name, name))
        for index, name in enumerate(by)
    }
    for name in (name for name in COMPUTED_COLUMNS if name in column_names):
        bound_input = bind_column_or_expression(bound_input, name, column_names[name])
    bound_input = bound_input.bind_columns(column_names).with_group_columns(
        {name: column for name, column in group_columns.items() if column}
    )
    features = columns.get("features", "features")
    duckdb_type = bound_input.column_type("features")
    if (
        isinstance(features, str)
        and duckdb_type.startswith(row_checks.NUMERIC_TYPES)
        and not duckdb_type.endswith("]")
    ):
        features = [features]  # a single feature, which is a number
    feature_columns = [features] if isinstance(features, str) else list(features)
    is_long = isinstance(features, str) and "features" not in {*bound_input.columns, *column_names}
    row_checks.raise_problems(
        _list_problems(
            bound_input, by, group_columns, column_names, None if is_long else feature_columns
        )
    )
    row_checks.check_columns(
        {TRAINING_ROLE: bound_input},
        {TRAINING_ROLE: ("label", "value") if is_long else ("label",)},
    )
    if is_long:
        training = _read_long_form(database, bound_input, by)
    else:
        training = _read_arrays(
            database, bound_input, by, None if isinstance(features, str) else feature_columns
        )
    if not is_pointwise:
        return training
    query = exp.select("model", "1 AS query_id", "label", "weight", "features").from_(
        training.query.subquery(TRAINING_ROLE)
    )
    return replace(training, query=query, is_pointwise=True)


def _check_mapping(
    columns: Mapping[str, Any], role: Role, by: Sequence[str], is_pointwise: bool
) -> None:
    """Raise ``InputError`` for a mapped column that training data or the loss do not have."""
    unknown = [name for name in columns if name not in {*role.columns, *by}]
    if unknown:
        problem = f"columns maps {unknown[0]!r}, which training data do not have"
        raise InputError(join_sentences(problem, did_you_mean(unknown[0], role.columns)))
    if "weight" in columns and not is_pointwise:
        raise InputError(
            "columns maps 'weight', which losses of the top k do not read. Leave it out, or give"
            " surrogate='logistic'"
        )


def _list_problems(
    bound_input: BoundInput,
    by: Sequence[str],
    group_columns: Mapping[str, str | None],
    column_names: Mapping[str, str],
    feature_columns: Sequence[str] | None,
) -> list[str]:
    """Return the messages on columns that training data do not have; in long form there are no
    feature columns.
    """
    is_long = feature_columns is None
    problems = [
        _no_column(bound_input, "by: ", name)
        for name, column in zip(by, group_columns.values(), strict=True)
        if not column
    ]
    problems += [
        _no_column(bound_input, "", text)
        for name, text in column_names.items()
        if name not in {*COMPUTED_COLUMNS, "features", *by}
        and bound_input.table.find_column(text) is None
    ]
    needed = ("label", *LONG_COLUMNS) if is_long else ("label",)
    if is_long and not {*LONG_COLUMNS} & {*bound_input.columns}:
        needed = ("label",)
        problems.append(
            f"{bound_input.label}: no column 'features'. Name each column of features,"
            f" columns={{'features': [...]}}. A table in long form has {join_words(LONG_COLUMNS)}."
            f" There are: {enumerate_names(bound_input.table.types)}"
        )
    problems += describe_missing_columns(
        {TRAINING_ROLE: bound_input}, {TRAINING_ROLE: needed}
    ).values()
    return problems + [
        _no_column(bound_input, "", name)
        for name in feature_columns or ()
        if bound_input.table.find_column(name) is None
    ]


def _no_column(bound_input: BoundInput, where: str, name: str) -> str:
    available = bound_input.table.types
    return suggest_choice(
        f"{where}{bound_input.label}: no column {name!r}", name, available, "There are"
    )


def _read_arrays(
    database: Database,
    bound_input: BoundInput,
    by: Sequence[str],
    feature_columns: list[str] | None,
) -> TrainingData:
    """Read features from an array column, or from one column per feature."""
    types = bound_input.table.types
    source_columns = (
        [str(bound_input.table.find_column(name)) for name in feature_columns]
        if feature_columns is not None
        else [bound_input.columns["features"]]
    )
    suffix = "[]" if feature_columns is None else ""
    problems = [
        f"{bound_input.label}: {name} is {types[name]}, not"
        f" {'an array of numbers' if suffix else 'a number'}. Cast it"
        for name in source_columns
        if not types[name].startswith(row_checks.NUMERIC_TYPES)
        or types[name].endswith("]") != bool(suffix)
    ]
    if len(set(source_columns)) < len(source_columns) or not source_columns:
        problems.append(f"columns maps features to {source_columns!r}. Name each column once")
    row_checks.raise_problems(problems)
    values = (
        quoted_column(source_columns[0])
        if feature_columns is None
        else exp.Array(expressions=[quoted_column(name) for name in source_columns])
    )
    bound_input = bound_input.with_expression(
        FEATURES, exp.cast(values, "DOUBLE[]"), "DOUBLE[]"
    ).with_columns({"features": FEATURES})
    form = {"array": source_columns[0]} if feature_columns is None else {"columns": source_columns}
    return TrainingData(
        bound_input,
        database,
        _select_examples(bound_input, ["features"]),
        list(by),
        None if feature_columns is None else pa.array(source_columns),
        form,
    )


def _read_long_form(database: Database, bound_input: BoundInput, by: Sequence[str]) -> TrainingData:
    """Pivot long-form features into one array per example."""
    long_rows = _select_examples(bound_input, LONG_COLUMNS)
    names = (
        exp.select("feature")
        .from_(long_rows.subquery("long"))
        .group_by("feature")
        .order_by("feature")
    )
    features = database.fetch_arrow(database.render(names))["feature"].combine_chunks()
    if features.null_count:
        raise InputError(
            f"{bound_input.label}: feature is NULL. Give it a name, or leave the row out"
        )
    pivoted = load_select("analyses/learn", "feature_vectors.sql")
    for table in list(pivoted.find_all(exp.Table)):
        table.replace(long_rows.subquery(TRAINING_ROLE))
    types = {
        "label": "DOUBLE",
        "weight": "DOUBLE",
        "features": "DOUBLE[]",
        "row_id": "VARCHAR",
        "query_id": "VARCHAR",
    }
    row = BoundInput(
        bound_input.role,
        SourceTable(bound_input.table.label, pivoted.subquery("feature_vectors"), types),
        database,
        bound_input.checks,
    )
    row = row.bind_columns({})
    form = {"long": [bound_input.columns[name] for name in LONG_COLUMNS]}
    return TrainingData(row, database, pivoted, list(by), features, form)


def _select_examples(bound_input: BoundInput, value_columns: Sequence[str]) -> exp.Select:
    """Return the SELECT of the examples with canonical names; the ``by`` columns become a
    struct.
    """
    key = exp.Struct(
        expressions=[
            exp.PropertyEQ(
                this=exp.to_identifier(name), expression=quoted_column(bound_input.columns[name])
            )
            for name in bound_input.group_names
        ]
    )
    weight = (
        []
        if "weight" in bound_input.role.columns
        else [exp.cast(sql_literal(1), "DOUBLE").as_("weight")]
    )
    query_id = ["query_id"] if "query_id" in bound_input.columns else []
    query = bound_input.select_columns(
        ["label", *value_columns, *([] if weight else ["weight"]), *query_id]
    ).select(
        *weight,
        exp.alias_(key if bound_input.group_names else sql_literal(1), "model"),
        *([] if query_id else [sql_literal(1).as_("query_id")]),
    )
    for column in query.selects:
        if column.alias_or_name in {"label", "value", "weight"}:
            column.set("this", exp.cast(column.this, "DOUBLE"))
    return query


def create_temp_table(
    database: duckdb.DuckDBPyConnection,
    name: str,
    query: exp.Expr,
    parameters: Mapping[str, Any] | None = None,
) -> None:
    """Create a temporary table from a query; raise ``InputError`` if its data cannot be read."""
    try:
        database.execute(f"CREATE TEMP TABLE {name} AS {write_tree(query)}", parameters)
    except (
        duckdb.InvalidInputException,
        duckdb.ConversionException,
        duckdb.OutOfRangeException,
    ) as error:
        raise InputError(
            f"{TRAINING_ROLE}: cannot read the examples: {first_line(error)}"
        ) from None


LOGISTIC = "logistic"
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
        """Return True if the loss is a weighted mean over examples, rather than a mean over
        queries.
        """
        return self.surrogate is None

    def build_ctes(self) -> dict[str, exp.Query]:
        """Return the CTEs between ``scored_examples`` and the step: ``model_losses`` and
        ``score_gradients``.
        """
        if self.surrogate is None:
            return {
                "model_losses": load_select("analyses/learn", "log_losses.sql"),
                "score_gradients": load_select("analyses/learn", "log_loss_gradients.sql"),
            }
        relations = _bind_relations(self.surrogate, "scored_examples", "surrogates", "surrogate")
        gradient = _resolve_metric(replace(self.surrogate.metric, name="pApGradient"))
        relations.ctes[
            relations.add_file(gradient.file, gradient.settings)
        ].name = "score_gradients"
        return {
            **{cte.name: cte.query for cte in relations.ctes},
            "model_losses": load_select("analyses/learn", "model_losses.sql"),
        }


def resolve_objective(
    surrogate: str, k: int | None, margin: float, few_negatives: str
) -> Objective:
    """Return the loss of the arguments of ``fit``.

    Raises:
        MetricError: Arguments that are unknown, or that the loss does not have.
    """
    if surrogate == LOGISTIC:
        options = {"k": k, "margin": margin, "few_negatives": few_negatives}
        if unread := [name for name, default in TOP_K_DEFAULTS.items() if options[name] != default]:
            raise MetricError(
                f"{unread[0]}={options[unread[0]]!r} is not possible with surrogate='logistic',"
                " which has no top k. Leave it out"
            )
        return Objective(None)
    if k is None:
        raise MetricError(
            f"k is missing: surrogate={surrogate!r} compares the k highest negatives. Give k=...,"
            " or surrogate='logistic'"
        )
    surrogates = load_registry().policies["surrogate"]["values"]
    if not surrogates.get(surrogate, {}).get("convex", True):
        raise MetricError(
            f"surrogate={surrogate!r} is not convex, so that gradient descent may miss the minimum."
            " Choose avg, max, ts, pauc or precision"
        )
    metric = Metric(
        "pApSurrogate",
        (("few_negatives", few_negatives), ("surrogate", surrogate), ("margin", margin)),
        k,
    )
    return Objective(_resolve_metric(metric), margin)


def write_metric(metric: Metric, examples: str, cte: str, column: str) -> dict[str, exp.Query]:
    """Return the CTEs that evaluate a metric of scored examples per ``model_id`` and ``query_id``;
    the last has the value in a column.

    ``examples`` is the CTE of the scored examples.
    """
    return {
        step.name: step.query
        for step in _bind_relations(_resolve_metric(metric), examples, cte, column).ctes
    }


def _bind_relations(metric: ResolvedMetric, examples: str, cte: str, column: str) -> RelationCtes:
    lists = ["model_id", "query_id"]
    scored = exp.select(*lists, "doc_id", "label", "score", "1.0 AS weight").from_(examples)
    source = InputQuery(
        "one row per example, with its score",
        KeyColumns(tuple(map(UnquotedName, lists)), nullable=True),
        scored,
    )
    group_columns = tuple(GroupColumn(UnquotedName(name), name, name) for name in lists)
    relations = RelationCtes(
        load_registry(), {InputKey("predictions"): source}, GroupingLayout(group_columns)
    )
    value = AggregationCtes(relations, per_query=False, weighted=False).add_metric(metric)
    aggregate = relations.ctes[value.cte]
    aggregate.name = cte
    aggregate.query.selects[-1].set("alias", exp.to_identifier(column))
    return relations


def _resolve_metric(metric: Metric) -> ResolvedMetric:
    return of_metrics.resolve_metrics(
        [metric], load_registry(), None, {}, input_roles=["predictions"]
    )[0]


def draw_weights(seed: int, features: int) -> list[float]:
    """Draw normally distributed weights."""
    generator = random.Random(seed)  # noqa: S311  nothing secret
    return [generator.gauss(0, 1) for _ in range(features)]


def read_weights(
    database: Database,
    duck: duckdb.DuckDBPyConnection,
    start: Any,
    training: TrainingData,
    features: int,
    examples: str,
) -> list[list[float]]:
    """Return the given weights of each model, in the order of its number in the table ``examples``.

    Raises:
        InputError: A model or feature without a weight, or weights of others.
    """
    weights_by_model = _read_weights_by_model(database, "start", start, training.by)
    keys: list[Key] = [
        tuple(model.values()) if training.by else ()
        for (model,) in fetch_tuples(
            duck, f"SELECT ANY_VALUE(model) FROM {examples} GROUP BY model_id ORDER BY model_id"
        )
    ]
    names = training.feature_names(features)
    ordered_weights = [
        _order_weights("start", weights_by_model.pop(key, {}), training.by, key, names)
        for key in keys
    ]
    if weights_by_model:
        raise InputError(
            f"start: there are weights{_describe_model(training.by, next(iter(weights_by_model)))},"
            " of which there are no examples. Leave them out"
        )
    return ordered_weights


def read_models(database: Database, weights: Any, names: Sequence[Any]) -> list[list[float]]:
    """Return the weights of each model of a table, in the order of the models and of the feature
    names.

    Raises:
        InputError: A feature without a weight, or weights of other features.
    """
    columns = database.resolve_source("weights", weights).column_types or {}
    by = [name for name in columns if name.lower() not in {"feature", "weight"}]
    weights_by_model = _read_weights_by_model(database, "weights", weights, by)
    return [
        _order_weights("weights", weights_by_model[key], by, key, names)
        for key in sorted(
            weights_by_model, key=lambda key: [(value is None, value) for value in key]
        )
    ]


def _read_weights_by_model(
    database: Database, role: str, table: Any, by: Sequence[str]
) -> dict[Key, dict[Any, float]]:
    """Return the weights of a table by model and feature."""
    source = database.resolve_source(role, table)
    names = [*by, "feature", "weight"]
    if missing := [name for name in names if source.find_column(name) is None]:
        raise InputError(
            f"{role} ({source.label}): no column {missing[0]!r}. Give a table of weights as fit"
            f" returns, with {enumerate_names(names)}"
        )
    columns = [exp.column(str(source.find_column(name)), quoted=True) for name in names]
    weights_by_model: dict[Key, dict[Any, float]] = {}
    for *key, feature, weight in database.query_rows(
        exp.select(*columns).from_(source.from_clause([column.this for column in columns]))
    ):
        own = weights_by_model.setdefault(tuple(key), {})
        label = f"feature {short_repr(feature)}{_describe_model(by, tuple(key))}"
        if feature in own:
            raise InputError(f"{role}: {label} has two weights. Give one")
        if not isinstance(weight, (int, float)) or not math.isfinite(weight):
            raise InputError(f"{role}: the weight of {label} is {weight!r}. Give a number")
        own[feature] = float(weight)
    return weights_by_model


def _order_weights(
    role: str, own: dict[Any, float], by: Sequence[str], key: Key, names: Sequence[Any]
) -> list[float]:
    if missing := [name for name in names if name not in own]:
        raise InputError(
            f"{role}: feature {short_repr(missing[0])}{_describe_model(by, key)} has no weight."
            " Give one for every feature, 0 for none"
        )
    if unknown := [name for name in own if name not in set(names)]:
        raise InputError(
            f"{role}: the examples have no feature {short_repr(unknown[0])}. Leave its weight out"
        )
    return [own[name] for name in names]


def _describe_model(by: Sequence[str], key: Key) -> str:
    return f" for {dict(zip(by, key, strict=True))}" if by else ""


LOSSES = "sqlrank.losses"
"""Metadata key of the losses: per model its ``by`` values as ``model``, ``loss``,
``loss_of_early_steps`` and ``loss_of_zero_weights``.
"""


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
    """Run the steps; return the weights with the least loss, with this and the loss of zero weights
    in the metadata.
    """
    suffix = uuid4().hex[:8]
    tables = {name: f"sqlrank_{name}_{suffix}" for name in ("examples", "training_steps")}
    try:
        create_temp_table(
            duck, tables["examples"], read_training_step("examples", {"training": training.query})
        )
        features = training.check(duck, read_training_step("untrainable_models", tables))
        if options.start is not None:
            start = read_weights(
                database, duck, options.start, training, features, tables["examples"]
            )
        else:
            start = [
                [0.0] * features if options.seed is None else draw_weights(options.seed, features)
            ]
        create_temp_table(
            duck,
            tables["training_steps"],
            read_training_step("initial_weights", tables),
            {"start": start},
        )
        step_sql = _write_step(objective, options, tables)
        # Prepare the statement once: planning takes longer than a step over few examples.
        duck.execute(
            f"PREPARE sqlrank_step_{suffix} AS INSERT INTO {tables['training_steps']} {step_sql}"
        )
        for done in range(
            options.max_iter + 1
        ):  # a step returns the loss before it, so one more is needed
            duck.execute(f"EXECUTE sqlrank_step_{suffix}(done := {done})")
            if progress is not None and done < options.max_iter:
                progress(100 * (done + 1) / options.max_iter)
        done = options.max_iter + 2
        duck.execute(
            f"INSERT INTO {tables['training_steps']}"
            f" {read_training_step('zero_weights', tables).sql('duckdb')}",
            {"done": done},
        )
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
    """Return the least loss of each model, that of its early steps, and that of zero weights."""
    firsts = [row for row in best.drop_columns(["weight"]).to_pylist() if row["feature"] == 1]
    return [
        {
            **({"model": dict(zip(by, row["model"].values(), strict=True))} if by else {}),
            "loss": row["loss"],
            "loss_of_early_steps": row["early_loss"],
            "loss_of_zero_weights": row["zero_loss"],
        }
        for row in firsts
    ]


def _write_step(objective: Objective, options: DescentOptions, tables: Mapping[str, str]) -> str:
    """Return the statement of a step: scores, loss with subgradients, and updated weights."""
    ctes = {
        **{
            name: read_training_step(name, tables)
            for name in ("current_weights", "scored_examples")
        },
        **objective.build_ctes(),
        **{
            name: read_training_step(name, tables)
            for name in ("weight_gradients", "stepped_weights")
        },
    }
    tree = read_training_step("next_weights", tables)
    for name, query in ctes.items():
        tree = tree.with_(name, as_=query, copy=False)
    bind_placeholders(
        tree, **{name: getattr(options, name) for name in ("learning_rate", "l2", "radius")}
    )
    return render_statement(
        tree, StatementHeader(f"a step of the descent on {objective.description}")
    )
