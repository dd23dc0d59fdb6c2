"""Scenarios for all engines: each metric, curve and policy value, on data with every edge case."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from inspect import signature
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
from sqlglot import exp

import sqlrank
from sqlrank.call.request import Request
from sqlrank.call.resolve import resolve_request
from sqlrank.call.sources import collect_sources
from sqlrank.registry.loader import load_registry
from sqlrank.registry.resolved_metric import find_dependencies, find_engines, find_input_role
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.data import AGREEMENT, CLICKED, LABELLED, ON_EVIDENCE, ON_TEXTS, TABLES
from tests.engines.metric_settings import find_settings_read
from website.sections import find_section

if TYPE_CHECKING:
    from collections.abc import Container

    from sqlrank.registry.sql_file import SqlFile

ROLES = ("run", "qrels", "queries", "predictions")
RANKINGS = {"run": "run", "qrels": "qrels"}
ATTRIBUTES = {"queries": "queries", "columns": {"weight": "weight"}}
WEIGHTS = {"features.value": "value", "weight": "weight"}
BEYOND = {
    **RANKINGS,
    "inputs": {name: name for name in ("history", "items", "features", "baseline")},
    "columns": {"features.value": "value"},
}
CLUSTERS = {"inputs": {"records": "records", "candidate_pairs": "candidates"}}
DISPARITIES = ["SelectionRate", "AUC", "Recall(threshold=0.3)"]
WEIGHTED = {"predictions": "predictions", "columns": {"weight": "weight"}}
MEDIAN = "MedianAbsoluteError"

EXPERIMENTS: dict[str, dict[str, Any]] = {
    "experiment with covariates": {
        "covariates": {"spend": "pre", "ctr": "Ratio(pre, views)"},
        "where": "views > 1",
    },
    "experiment, interval=sequential, lift_scale=linear": {
        "interval": "sequential",
        "lift_scale": "linear",
        "expected_shares": {"A": 0.5, "B": 0.25, "C": 0.25},
        "correction": "bh",
    },
}
"""Options of experiments, which are asked of every engine beside the scenarios."""

CANNOT = {
    ("Databend", "odd names"): "column Select doesn't exist",
    ("Databend", "median of errors"): "PERCENTILE_CONT",
    **{
        (
            name,
            "rank_method=array",
        ): "rank_method='array' is for Spark, Databricks, BigQuery or DuckDB"
        for name in ("SQLite", "PostgreSQL", "ClickHouse", "DataFusion", "Databend")
    },
    **{
        (dialect, name): f"Trino or SQLite, not for {label}"
        for name, *_ in ON_TEXTS
        for dialect, label in {
            "redshift": "Redshift",
            "mysql": "MySQL",
            "tsql": "SQL Server",
        }.items()
    },
    **{("Databend", name): "flatten" for name, *_ in ON_TEXTS},
}
"""Unsupported scenarios by engine, or by a dialect that it also executes: this Databend finds no
column with a capital in its name, parses no WITHIN GROUP, and slices lists from 1, Snowflake from 0; lists are put into
arrays by engines that this is written for. The errors say so.
"""

TOO_SLOW = {
    ("ZetaSQL", name)
    for name in ("two runs", "subtopics", "subtopics per query", "cut-offs of subtopics", "alpha=1")
}
"""Scenarios that take minutes: the reference implementation adds up a window of 10,000 rows anew in
each row.
"""

SHARING = ("Spark", "ZetaSQL", "Databend")
"""Engines that take seconds for each statement, and share the scenarios that set one policy or plan
out among themselves.
"""

NUM_THINNED = 5
"""Number of metrics of a thinned scenario."""

ARGUMENTS, _EXAMPLE = signature(sqlrank.sql).parameters, {"integer": "5", "number": "0.3"}
_RANKING_POLICIES = ("ties", "queries", "unjudged", "if_undefined", "aggregate")
"""Policies that bear on every metric of rankings."""


@dataclass(frozen=True)
class Scenario:
    """One call, made on every engine."""

    name: str
    candidates: list[str]
    options: dict[str, Any] = field(default_factory=dict)
    for_some: bool = False
    """True if the options have no meaning for some of the candidates."""

    @cached_property
    def metrics(self) -> list[str]:
        """Return the metrics of the scenario; computed lazily, because each candidate's statement
        has to be built.
        """
        return [
            metric
            for metric in self.candidates
            if not self.for_some or _is_accepted(metric, self.options)
        ]

    def thin(self, start: int, seen: Container[str] = ()) -> Scenario:
        """Return the scenario with a few metrics, evenly chosen from some metric on, and all whose
        names are not among those seen.

        It stays whole if an option is for others than these.
        """
        step = math.ceil(len(self.metrics) / NUM_THINNED)
        few = self.metrics[start % step :: step]
        new = (
            [metric for metric in self.metrics if sqlrank.parse(metric).name not in seen]
            if seen
            else []
        )
        chosen = new if len(new) > len(few) else list(dict.fromkeys([*new, *few]))
        return (
            replace(self, candidates=chosen, for_some=False)
            if _is_accepted(chosen, self.options)
            else self
        )

    def expected(self, connection: duckdb.DuckDBPyConnection) -> pa.Table:
        """Return DuckDB's result."""
        options = dict(self.options)
        if isinstance(options.get("by"), str):
            options["by"] = options["by"].rpartition(".")[2]
        elif "by" in options:
            options["by"] = [[name.rpartition(".")[2] for name in group] for group in options["by"]]
        if "across" in options:
            options["across"] = options["across"].rpartition(".")[2]
        return sqlrank.evaluate(self.metrics, connection=connection, **options)

    def text(self, dialect: str, **further: Any) -> str:
        """Return the statement in the SQL of an engine, with further options if there are any."""
        quoted: dict[str, Any] = {
            role: _quote_name(self.options[role], dialect) for role in ROLES if role in self.options
        }
        if "inputs" in self.options:
            quoted["inputs"] = {
                role: _quote_name(name, dialect) for role, name in self.options["inputs"].items()
            }
        exact = {name: _quote_columns(self.options.get(name, ())) for name in ("by", "across")} | {
            "columns": _quote_columns(self.options.get("columns", {}))
        }
        options = {**self.options, **quoted, **exact, **further}
        return sqlrank.sql(self.metrics, dialect=dialect, **options)


def _quote_name(name: str, dialect: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(DIALECTS[dialect].sqlglot_name)


def _quote_columns(names: Any) -> Any:
    """Return names of columns in quotes: the tables here have them as they stand, in any case."""
    if isinstance(names, dict):
        return {name: _quote_columns(theirs) for name, theirs in names.items()}
    if not isinstance(names, str):
        return [_quote_columns(name) for name in names]
    role, dot, column = names.rpartition(".")
    return role + dot + exp.to_identifier(column, quoted=True).sql("duckdb")


def make_tables() -> dict[str, pa.Table]:
    """Return the tables that the scenarios read, of int64, double and string columns."""
    with duckdb.connect() as connection:
        for name, query in TABLES.items():
            connection.execute(f'CREATE TABLE "{name}" AS {query}')
        return {
            name: _cast_plainly(connection.sql(f'SELECT * FROM "{name}"').to_arrow_table())
            for name in TABLES
        }


def _cast_plainly(table: pa.Table) -> pa.Table:
    kinds = {"i": pa.int64(), "d": pa.float64(), "f": pa.float64(), "s": pa.string()}
    return table.cast(
        pa.schema([pa.field(column.name, kinds[str(column.type)[0]]) for column in table.schema])
    )


def _list_metrics(files: list[SqlFile], cutoff: str = "") -> list[str]:
    """Return the metrics, with a cut-off where they need one, or take one."""
    return [
        f"{file.display_name}@{_EXAMPLE[file.cutoff_parameter.type]}"
        if file.cutoff_parameter and file.cutoff_parameter.default is None
        else f"{file.display_name}{cutoff if file.cutoff_parameter else ''}"
        for file in files
    ]


def _list_swept_metrics(files: list[SqlFile]) -> list[str]:
    """Return the metrics with a whole cut-off, at a range of them."""
    return [
        f"{file.display_name}@1..3"
        for file in files
        if file.cutoff_parameter and file.cutoff_parameter.type == "integer"
    ]


def _list_section(*names: str) -> list[SqlFile]:
    return [file for file in load_registry().metrics.values() if find_section(file) in names]


def build_call(metrics: Any, options: dict[str, Any]) -> Request:
    """Return the call that ``sqlrank.sql`` makes of metrics and options."""
    sources = {
        name: value
        for name, value in options.items()
        if name in signature(collect_sources).parameters
    }
    fields = {
        name: value for name, value in options.items() if name in signature(Request).parameters
    }
    policies = {name: value for name, value in options.items() if name not in ARGUMENTS}
    return Request(metrics, collect_sources(**sources), policies=policies, **fields)


def _is_accepted(metrics: str | list[str], options: dict[str, Any]) -> bool:
    """Return True if policies have a meaning for metrics."""
    try:
        resolve_request(build_call(metrics, options))
    except sqlrank.SqlrankError:
        return False
    return True


_SWEPT = ("nDCG(ideal=binary_k)", "AP(precision_at=all_ranks)", "R(denominator=min_rk)")
"""Metrics with a relation that depends on the cut-off, or a function that does."""


@cache
def scenarios() -> list[Scenario]:
    """Return all scenarios, which follow from the files, so that a new file has one."""
    return [
        *_list_ranking_scenarios(),
        *_list_beyond_accuracy_scenarios(),
        *_list_subtopic_scenarios(),
        *_list_prediction_scenarios(),
        *_list_record_scenarios(),
        *_list_event_scenarios(),
        *_list_curve_scenarios(),
        *_list_name_scenarios(),
    ]


@cache
def thinned_scenarios(start: int) -> dict[str, Scenario]:
    """Return the scenarios with each metric in the first that has it, and otherwise a few, so that
    an engine takes minutes and not an hour.

    Engines with other starts have other metrics. Scenarios that set one policy or plan, which their
    name says, have metrics that others have, too.
    """
    found: dict[str, Scenario] = {}
    seen: set[str] = {""}
    for scenario in scenarios():
        found[scenario.name] = (
            scenario.thin(start) if "=" in scenario.name else scenario.thin(start, seen)
        )
        seen.update(sqlrank.parse(metric).name for metric in found[scenario.name].metrics)
    return found


def is_shared_out(engine: str, scenario: str) -> bool:
    """Return True if an engine computes a scenario."""
    sweeps = [name for name in map(attrgetter("name"), scenarios()) if "=" in name]
    return (
        engine not in SHARING
        or scenario not in sweeps
        or sweeps.index(scenario) % len(SHARING) == SHARING.index(engine)
    )


def writable_scenarios(dialect: str) -> list[Scenario]:
    """Return the scenarios that can be written for an engine: not all have every construct, and
    some plans are for some engines.
    """
    return [scenario for scenario in scenarios() if _is_planned(scenario, dialect)]


def _is_planned(scenario: Scenario, dialect: str) -> bool:
    asked = scenario.options.get("plan", {}).items()
    return (dialect, scenario.name) not in CANNOT and all(
        dialect in load_registry().plans[name]["values"][value].get("engines", [dialect])
        for name, value in asked
    )


def _list_ranking_scenarios() -> list[Scenario]:
    files = _list_section("ranking")
    metrics = _list_metrics(files)
    shown = [
        *_list_metrics(_list_section("exposure")),
        *_list_metrics(_list_section("exposure"), cutoff="@2")[1:],
    ]
    at_own = [
        f"{file.display_name}@cutoff"
        for file in files
        if file.cutoff_parameter and file.cutoff_parameter.name == "k"
    ] + ["P@2"]
    found = [
        Scenario("default", metrics, RANKINGS),
        Scenario("per query", metrics, {**RANKINGS, "per_query": True}),
        Scenario(
            "@3",
            [
                f"{file.display_name}@3"
                for file in files
                if file.cutoff_parameter and file.cutoff_parameter.name == "k"
            ],
            {**RANKINGS, "per_query": True},
        ),
        Scenario("systems", metrics, {**RANKINGS, "by": "system"}),
        Scenario("groupings", metrics[:12], {**RANKINGS, "by": [["system"], []]}),
        Scenario(
            "differences between systems",
            ["nDCG@3", "P@2"],
            {**RANKINGS, "across": "system", "confidence": 0.9},
        ),
        Scenario(
            "differences in systems",
            ["nDCG@3"],
            {**RANKINGS, **ATTRIBUTES, "by": "system", "across": "queries.country"},
        ),
        Scenario("weighted queries", metrics, {**RANKINGS, **ATTRIBUTES}),
        Scenario("slices", metrics[:12], {**RANKINGS, **ATTRIBUTES, "by": "queries.country"}),
        Scenario(
            "cut-offs",
            [*(f"{metric}@1..3" for metric in _SWEPT), *_list_swept_metrics(files)],
            RANKINGS,
        ),
        Scenario(
            "cut-offs per query",
            ["nDCG@1..5", "P@1..5"],
            {**RANKINGS, "by": "system", "per_query": True},
        ),
        Scenario("cut-offs of queries", at_own, {**RANKINGS, **ATTRIBUTES, "per_query": True}),
        Scenario(
            "cut-offs of queries, and systems", at_own, {**RANKINGS, **ATTRIBUTES, "by": "system"}
        ),
        Scenario(
            "gain map",
            ["nDCG(gain={1: 3, 2: 1.5})@3", "DCG(gain={1: 3, 2: 1.5})"],
            {**RANKINGS, "per_query": True},
        ),
        Scenario("exposure", shown, {**RANKINGS, "by": "system"}),
        Scenario(
            "exposure and groupings",
            shown,
            {**RANKINGS, "queries": "queries", "by": [["queries.country"], []]},
        ),
        Scenario("exposure per query", shown, {**RANKINGS, "per_query": True}),
        Scenario("rel=2", metrics, {**RANKINGS, "rel": 2}),
        Scenario("depth=3", metrics, {**RANKINGS, "depth": 3}),
    ]
    for policy in _RANKING_POLICIES:
        values = (
            load_registry().allowed_values(policy)
            if policy in load_registry().policies
            else sorted(load_registry().functions[policy])
        )
        for value in values:
            if value not in {
                "quantile",
                "half",
                "wmean",
                "strict",
                "error",
                "clicked",
            }:  # which has scenarios of its own
                name = "topics" if policy == "queries" else policy
                listed = ATTRIBUTES if value == "given" else {}
                options = {
                    **RANKINGS,
                    **listed,
                    name: value,
                    "per_query": policy in {"ties", "unjudged"},
                }
                found.append(
                    Scenario(
                        f"{policy}={value}",
                        metrics,
                        options,
                        for_some=value in {"expected", "rank"},
                    )
                )
    counted = {**RANKINGS, "plan": {"rank_method": "count"}, "per_query": True}
    found += [
        Scenario("rank_method=sort", metrics, {**counted, "plan": {"rank_method": "sort"}}),
        Scenario("rank_method=count", metrics, counted),
        Scenario("rank_method=array", metrics, {**counted, "plan": {"rank_method": "array"}}),
    ]
    return [*found, *_list_choice_scenarios(files, RANKINGS | {"per_query": True})]


def _list_beyond_accuracy_scenarios() -> list[Scenario]:
    metrics = _list_metrics(_list_section("recommendation"))
    first = _list_metrics(_list_section("recommendation", "stages"), cutoff="@2")
    at_own = [
        f"{file.display_name}@cutoff"
        for file in _list_section("recommendation", "stages")
        if file.cutoff_parameter and file.grain == "list"
    ]
    others = [f"IntraListDiversity(distance={distance})@3" for distance in ("cosine", "category")]
    return [
        Scenario("beyond accuracy", [*metrics, *others, "nDCG@3"], {**BEYOND, "by": "system"}),
        Scenario("two runs", _list_metrics(_list_section("overlap")), {**BEYOND, "by": "system"}),
        Scenario(
            "beyond accuracy per query",
            [*first, *others],
            {**BEYOND, "per_query": True, "ties": "doc_asc"},
        ),
        Scenario(
            "beyond accuracy and groupings",
            first,
            {
                **BEYOND,
                "queries": "queries",
                "by": [["queries.country"], []],
                "catalog": "history",
                "columns": WEIGHTS,
            },
        ),
        Scenario(
            "cut-offs of users",
            at_own,
            {**BEYOND, "queries": "queries", "by": "system", "columns": WEIGHTS},
        ),
        Scenario("providers", ["ProviderExposure@3"], {**BEYOND, "by": "system"}),
        *(Scenario(*call) for call in CLICKED),
        Scenario(
            "ranks of two runs", ["Unexpectedness@2", "num_shown@2"], {**BEYOND, "ties": "rank"}
        ),
    ]


def _list_subtopic_scenarios() -> list[Scenario]:
    """Metrics of subtopics, together with metrics that read a document's greatest grade."""
    files = [
        file
        for file in _list_section("subtopics")
        if not find_engines(find_dependencies(load_registry(), file, {}).files)
    ]
    judged = {"run": "run", "qrels": "subtopics"}
    return [
        Scenario(
            "subtopics",
            [*_list_metrics(files), "nDCG@3", "bpref", "num_duplicates"],
            {**judged, "by": "system"},
        ),
        Scenario(
            "subtopics per query",
            _list_metrics(files, cutoff="@3"),
            {**judged, "per_query": True, "rel": 2},
        ),
        Scenario("cut-offs of subtopics", _list_swept_metrics(files), judged),
        Scenario("alpha=1", _list_metrics(files), {**judged, "alpha": 1}, for_some=True),
    ]


def _list_choice_scenarios(files: list[SqlFile], options: dict[str, Any]) -> list[Scenario]:
    """Every function that fills a slot of these metrics, and every value of a policy of their own,
    but the defaults.
    """
    found = []
    policies = {
        name
        for file in files
        for name in file.declared_settings
        if name in load_registry().policies
    } - {"level"}
    library = load_registry()
    slots = set(library.functions) - library.formulas - {"aggregate", "if_undefined"}
    heeded = find_settings_read(files)
    for choice in sorted(policies | slots):
        values = (
            sorted(load_registry().functions[choice])
            if choice in slots
            else load_registry().allowed_values(choice)
        )
        for value in [value for value in values if value != "error"]:
            given = {**options, choice: value} | (
                {"threshold_from": "best"} if choice == "criterion" else {}
            )
            holders = [
                file
                for file in files
                if choice in heeded[file.name]
                and (
                    choice not in file.declared_settings
                    or file.declared_settings[choice].default != value
                )
            ]
            if choice == "stop_probability" and value == "identity":
                given["qrels"] = "probabilities"
            candidates = _list_metrics(holders, cutoff="@3")
            if any(_is_accepted(metric, given) for metric in candidates):
                found.append(Scenario(f"{choice}={value}", candidates, given, for_some=True))
    return found


def _list_prediction_scenarios() -> list[Scenario]:
    classification, regression = (
        _list_metrics(_list_section("classification")),
        _list_metrics(_list_section("regression")),
    )
    unweighted = {"predictions": "unweighted", "by": "shop"}
    numbers = {"predictions": "numbers", "columns": {"weight": "weight"}}
    found = [
        Scenario(
            f"predictions {by or 'at once'}, score_order={strategy}",
            classification,
            WEIGHTED | {"by": by, "plan": {"score_order": strategy}},
        )
        for strategy, by in (
            ("window", "shop"),
            ("distinct", "shop"),
            ("buckets", "shop"),
            ("window", ()),
            ("buckets", ()),
        )
    ]
    return [
        *found,
        Scenario("predictions", classification, WEIGHTED | {"by": [["shop"], []]}),
        Scenario(
            "predictions of weight 1",
            [name for name in classification if name != "GAUC"],
            unweighted | {"plan": {"score_order": "rank"}},
        ),
        Scenario("predictions per query", classification, WEIGHTED | {"per_query": True}),
        Scenario(
            "predictions, ties=row_order",
            classification,
            WEIGHTED | {"ties": "row_order"},
            for_some=True,
        ),
        *(
            Scenario(
                f"predictions, ties={ties}",
                [*classification, "pAp@2"],
                WEIGHTED | {"ties": ties, "by": "shop"},
                for_some=True,
            )
            for ties in ("best", "worst")
        ),
        Scenario(
            "differences between groups", [*DISPARITIES, "LogLoss"], WEIGHTED | {"across": "shop"}
        ),
        Scenario(
            "differences between groups, with intervals",
            DISPARITIES,
            {"predictions": "unweighted", "across": "shop", "confidence": 0.9},
        ),
        Scenario(
            "regression", [name for name in regression if name != MEDIAN], numbers | {"by": "shop"}
        ),
        Scenario("median of errors", [MEDIAN], numbers | {"by": "shop"}),
        Scenario(
            "forecasts",
            _list_metrics(_list_section("forecasts")),
            {"predictions": "numbers", "columns": {"weight": "weight"}, "by": "shop"},
        ),
        Scenario("pairs", _list_metrics(_list_section("pairs")), WEIGHTED | {"by": [["shop"], []]}),
        Scenario("pairs at once", _list_metrics(_list_section("pairs")), WEIGHTED),
        Scenario(
            "pairs of the first",
            ["AUC@1", "PartialAUC@1", "pAp@1", "Gain@0.1", "Lift@0.1"],
            WEIGHTED | {"by": "shop"},
        ),
        Scenario(
            "cut-offs of predictions",
            _list_swept_metrics(_list_section("classification", "pairs")),
            WEIGHTED | {"by": "shop"},
        ),
        Scenario(
            "pairs of queries",
            _list_metrics(_list_section("pairs")),
            WEIGHTED | {"by": "shop", "level": "query"},
        ),
        Scenario(
            "classification of queries", classification, WEIGHTED | {"by": "shop", "level": "query"}
        ),
        Scenario(
            "predictions, score_order=buckets added up early",
            classification,
            {
                **WEIGHTED,
                "plan": {"score_order": "buckets", "bucket_aggregation": "before_bucketing"},
            },
        ),
        *_list_choice_scenarios(_list_section("classification"), WEIGHTED | {"by": "shop"}),
        *_list_choice_scenarios(_list_section("pairs"), WEIGHTED | {"by": "shop"}),
        *_list_choice_scenarios(_list_section("regression"), {"predictions": "numbers"}),
    ]


def _list_record_scenarios() -> list[Scenario]:
    metrics = _list_metrics(_list_section("clusters", "blocking", "names"))
    own = _list_metrics(_list_section("clusters"))
    joined = {
        "inputs": {"predicted_clusters": "listed", "true_clusters": "resolved"},
        "by": "predicted_clusters.shop",
    }
    return [
        Scenario("records", metrics, CLUSTERS),
        Scenario("records of groups", metrics, {**CLUSTERS, "by": [["shop"], []]}),
        Scenario("records, predicted_clusters and true_clusters", own, joined),
        Scenario(
            "records, missing_prediction=drop",
            metrics,
            {**CLUSTERS, "missing_prediction": "drop", "missing_truth": "singleton"},
        ),
        Scenario(
            "records, link_type=link",
            _list_metrics(_list_section("blocking")),
            {**CLUSTERS, "by": "shop", "link_type": "link"},
        ),
        *_list_choice_scenarios(_list_section("clusters"), {"inputs": {"records": "records"}}),
    ]


def _list_event_scenarios() -> list[Scenario]:
    """Return scenarios of policy logs, interleaved clicks, splits into train and test, ratings,
    uplift, and several classes.
    """
    found, weighted = [], {"classified": "classes", "class_scores": "classes", "uplift": "uplift"}
    for role, section in {
        "logs": "policies",
        "interleaved": "interleaving",
        "splits": "splits",
        **weighted,
    }.items():
        files = [
            file
            for file in _list_section(section)
            if find_input_role(load_registry(), file) == role
        ]
        metrics, given = (
            _list_metrics(files, cutoff="@2" if role in weighted else ""),
            {"inputs": {role: role}},
        )
        if role in weighted:
            given["columns"] = {"weight": "weight"}
            metrics = [
                metric for metric in metrics if metric != "WeightedKappa"
            ]  # beside MCC it makes Databend panic
            found.append(
                Scenario(
                    f"{role} with intervals", metrics, {**given, "by": "shop", "confidence": 0.95}
                )
            )
        found += [
            Scenario(role, metrics, given),
            Scenario(f"{role} of groups", metrics, {**given, "by": [["shop"], []]}),
            *_list_choice_scenarios(files, {**given, "by": "shop"}),
        ]
    rows: dict[str, Any] = {
        "inputs": {"classified": "classified"},
        "columns": {"weight": "weight"},
        "by": "shop",
    }
    found.append(
        Scenario("weighted kappa with intervals", ["WeightedKappa"], {**rows, "confidence": 0.95})
    )
    others = [
        "MulticlassFBeta(average=weighted)",
        "MulticlassPrecision(average=micro)",
        "MulticlassConfusionMatrix",
        "MulticlassReport",
    ]
    sets = [
        "HammingLoss",
        "SubsetAccuracy",
        *(f"{name}_samples" for name in ("precision", "recall", "jaccard")),
    ]
    sets += [
        f"MultilabelFBeta(average={name})" for name in ("samples", "micro", "macro", "weighted")
    ]
    labels = {
        **rows,
        "inputs": {"class_labels": "class_labels"},
        "by": [["shop"], []],
        "confidence": 0.95,
    }
    found += [
        Scenario("class_labels", sets, labels),
        Scenario("ratings", *AGREEMENT),
        *(Scenario(name, [name], rows) for name in others),
    ]
    found += [Scenario("judged", *LABELLED), Scenario("evidence", *ON_EVIDENCE)]
    found += [Scenario(*call) for call in ON_TEXTS]
    found.append(Scenario("uplift curve", ["Uplift"], {**rows, "inputs": {"uplift": "uplift"}}))
    areas = ["MulticlassAUC(average=weighted)", "MulticlassAUC(multi_class=ovo)"]
    return [
        *found,
        Scenario(
            "areas of class_scores",
            areas,
            {**rows, "inputs": {"class_scores": "class_scores"}, "confidence": 0.95},
        ),
    ]


def _list_curve_scenarios() -> list[Scenario]:
    found = []
    for file in [
        file
        for file in load_registry().curves.values()
        if find_input_role(load_registry(), file) == "predictions"
    ]:
        (name,) = _list_metrics([file])
        found += [
            Scenario(
                f"{name}, score_order={strategy}",
                [name],
                WEIGHTED | {"by": "shop", "plan": {"score_order": strategy}},
            )
            for strategy in ("window", "buckets")
        ]
        for choice in file.declared_settings.values():
            values = (
                load_registry().allowed_values(choice.name)
                if choice.name in load_registry().policies
                else []
            )
            others = [value for value in values if value != choice.default]
            found += [
                Scenario(f"{name}, {choice.name}={value}", [name], WEIGHTED | {choice.name: value})
                for value in others
            ]
    return found


def _list_name_scenarios() -> list[Scenario]:
    columns = {"score": "Select", "label": "group by", "weight": 'a "b"'}
    return [
        Scenario(
            "odd names",
            ["AUC", "LogLoss", "num_predictions"],
            {"predictions": "Odd ta'ble", "columns": columns, "by": "order"},
        )
    ]
