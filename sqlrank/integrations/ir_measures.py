"""Provide sqlrank's metrics as measures of ir_measures, which PyTerrier's experiments use."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import ir_measures
import pyarrow as pa
from ir_measures.providers import Evaluator, Provider, register
from ir_measures.providers.base import NOT_PROVIDED, Choices
from ir_measures.providers.base import Any as AnyValue
from ir_measures.util import QrelsConverter, RunConverter

from sqlrank.api.evaluate import evaluate
from sqlrank.errors import MetricError, SqlrankError, join_words
from sqlrank.registry.metric import Metric, freeze_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MAX_CUTOFF = 2**31 - 1
"""Cut-off for measures without one, where the metric needs one."""

_ANY, _REQUIRED = AnyValue(), AnyValue(required=True)
_LEVEL = {"rel": _ANY}
_LISTS = {"rel": _ANY, "judged_only": _ANY}
_SUPPORTED: Sequence[tuple[str, Mapping[str, Any]]] = (
    ("AP", {"cutoff": _ANY, **_LISTS}),
    ("Bpref", _LEVEL),
    ("ERR", {"cutoff": _ANY}),
    ("infAP", _LEVEL),
    ("IPrec", {"recall": _REQUIRED, **_LISTS}),
    ("Judged", {"cutoff": _ANY}),
    ("nDCG", {"cutoff": _ANY, "dcg": Choices("log2"), "gains": _ANY, "judged_only": _ANY}),
    (
        "nDCG",
        {
            "cutoff": _ANY,
            "dcg": Choices("exp-log2"),
            "gains": Choices(NOT_PROVIDED),
            "judged_only": _ANY,
        },
    ),
    ("NumQ", {}),
    ("NumRel", _LEVEL),
    ("NumRet", _LEVEL),
    ("P", {"cutoff": _REQUIRED, **_LISTS}),
    ("R", {"cutoff": _REQUIRED, **_LISTS}),
    ("RBP", {"cutoff": _ANY, "p": _ANY, "rel": _REQUIRED}),
    ("Rprec", _LISTS),
    ("RR", {"cutoff": _ANY, **_LISTS}),
    ("SetAP", _LISTS),
    ("SetF", {"beta": _ANY, **_LISTS}),
    ("SetP", {"relative": _ANY, **_LISTS}),
    ("SetR", _LEVEL),
    ("Success", {"cutoff": _REQUIRED, **_LISTS}),
    *((name, {"cutoff": _ANY, **_LISTS}) for name in ("ERR_IA", "nERR_IA", "P_IA")),
    *((name, {"cutoff": _ANY, "alpha": _ANY, **_LISTS}) for name in ("alpha_DCG", "alpha_nDCG")),
    *((name, {"alpha": _ANY, "beta": _ANY, **_LEVEL}) for name in ("NRBP", "nNRBP")),
    ("AP_IA", _LISTS),
    ("StRecall", {"cutoff": _ANY, **_LEVEL}),
)
"""Measures with the parameters that are provided. Of these, the values that a metric refuses are
not.
"""

_NAMES = {"Bpref": "bpref", "NumQ": "num_q", "NumRel": "num_rel"}
"""Metrics whose names differ from those of the measures."""

_RUN_TYPES = {"query_id": pa.string(), "doc_id": pa.string(), "score": pa.float64()}
_QRELS_TYPES = {"query_id": pa.string(), "doc_id": pa.string(), "relevance": pa.float64()}
_DIVERSITY = {
    "ERR_IA",
    "nERR_IA",
    "P_IA",
    "alpha_DCG",
    "alpha_nDCG",
    "NRBP",
    "nNRBP",
    "AP_IA",
    "StRecall",
}
"""Measures of judgments by subtopic, which the column iteration holds."""

_PROBE = {"query_id": ["query"], "doc_id": ["document"]}
"""A list over which a measure is tried."""


class SqlrankProvider(Provider):
    """Provider of rank metrics of ir_measures, with the numbers of its own providers.

    Importing this module registers it as ``sqlrank``; :data:`provider` is the instance.
    """

    NAME = "sqlrank"
    # As in the base class
    SUPPORTED_MEASURES = [  # noqa: RUF012
        type(ir_measures.measures.registry[name])(**params) for name, params in _SUPPORTED
    ]

    def supports(self, measure: Any) -> bool:
        """Return True if a measure can be calculated with its parameters."""
        return bool(super().supports(measure)) and _can_calculate(measure)

    def qrel_inputs(self, measures: Iterable[Any]) -> list[str]:
        """Return the columns of judgments that measures read."""
        return [
            *_QRELS_TYPES,
            *(["iteration"] if any(measure.NAME in _DIVERSITY for measure in measures) else []),
        ]

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> SqlrankEvaluator:
        measures = list(measures)
        if others := [str(measure) for measure in measures if not Provider.supports(self, measure)]:
            raise MetricError(
                f"sqlrank has no measure {join_words(others)}. Ask a FallbackProvider for it"
            )
        types = {name: _QRELS_TYPES.get(name, pa.string()) for name in self.qrel_inputs(measures)}
        return SqlrankEvaluator(measures, _arrow_table(QrelsConverter(qrels), qrels, types))


class SqlrankEvaluator(Evaluator):
    """Evaluator of runs against the same judgments.

    Attributes:
        measures: Measures of ir_measures.
        qrels: Judgments as an Arrow table.
    """

    def __init__(self, measures: Sequence[Any], qrels: pa.Table) -> None:
        super().__init__(measures, set(qrels["query_id"].to_pylist()))
        self.qrels = qrels

    def _iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        run_table = _arrow_table(RunConverter(run), run, _RUN_TYPES)
        if not run_table.num_rows or not self.qrels.num_rows:
            return
        calls: dict[tuple[str, str], dict[str, list[Any]]] = {}
        for measure in self.measures:
            calls.setdefault(_choose_policies(measure), {}).setdefault(
                str(to_metric(measure)), []
            ).append(measure)
        for (score_type, queries), measures in calls.items():
            policies: Any = {"score_type": score_type, "topics": queries}
            result = evaluate(
                list(measures),
                run=run_table,
                qrels=self.qrels,
                columns={"subtopic": "iteration"}
                if "iteration" in self.qrels.column_names
                else None,
                per_query=True,
                compat="ir_measures",
                **policies,
            )
            query_ids = result["query_id"].to_pylist()
            for name, same_measures in measures.items():
                for query_id, value in zip(query_ids, result[name].to_pylist(), strict=True):
                    for measure in same_measures:
                        yield ir_measures.Metric(query_id=query_id, measure=measure, value=value)


def to_metric(measure: Any) -> Metric:
    """Convert a measure of ir_measures to a metric.

    >>> str(to_metric(ir_measures.parse_measure("nDCG(dcg='exp-log2')@10")))
    'nDCG(gain=exp2)@10'
    """
    values = {
        name: measure[name]
        for name in measure.SUPPORTED_PARAMS
        if measure[name] is not NOT_PROVIDED
    }
    name = _NAMES.get(measure.NAME, measure.NAME)
    if measure.NAME == "NumRet":
        name = "num_rel_ret" if "rel" in values else "num_ret"
    cutoff = values.pop(
        "cutoff", values.pop("recall", MAX_CUTOFF if measure.NAME == "Judged" else None)
    )
    name = "SetRelP" if values.pop("relative", False) else name
    params: dict[str, Any] = {"unjudged": "drop"} if values.pop("judged_only", False) else {}
    if values.pop("dcg", None) == "exp-log2":
        params["gain"] = "exp2"
    if "gains" in values:
        # A document without relevance has no gain here, so that a gain of 0 need not be said.
        gains = {grade: gain for grade, gain in values.pop("gains").items() if grade > 0 or gain}
        params |= {"gain": gains} if gains else {}
    if measure.NAME == "SetF":  # ir_measures takes the square
        params["beta"] = math.sqrt(values.pop("beta"))
    params |= values
    defaults = {"rel": 1, "beta": 0.5 if measure.NAME in _DIVERSITY else 1, "p": 0.8, "alpha": 0.5}
    return Metric(
        name,
        tuple(
            sorted(
                (key, freeze_value(value))
                for key, value in params.items()
                if defaults.get(key) != value
            )
        ),
        cutoff,
    )


def _can_calculate(measure: Any) -> bool:
    """Return True if the statement of a measure runs, whatever its data: a metric may refuse a
    value of a parameter.
    """
    try:
        _evaluate_probe(str(to_metric(measure)))
    except (SqlrankError, ValueError):
        return False
    return True


@lru_cache(maxsize=1024)
def _evaluate_probe(metric: str) -> None:
    """Evaluate a metric over one document.

    Raises:
        SqlrankError: It refuses a value of a parameter.
    """
    evaluate(
        [metric],
        run={**_PROBE, "score": [1]},
        qrels={**_PROBE, "relevance": [1], "iteration": ["1"]},
        compat="ir_measures",
    )


def _choose_policies(measure: Any) -> tuple[str, str]:
    """Return the policies ``score_type`` and ``queries`` under which the default provider of a
    measure works.

    trec_eval compares scores in single precision, the providers of the others in double precision.
    It counts only queries with results.
    """
    is_double = measure.NAME in {"Judged", "ERR", *_DIVERSITY} or (
        measure.NAME == "RR" and measure["cutoff"] is not NOT_PROVIDED
    )
    is_double = is_double or (measure.NAME == "nDCG" and measure["dcg"] == "exp-log2")
    return "float64" if is_double else "float32", "judged_and_retrieved" if measure.NAME in {
        "NumQ",
        "NumRel",
    } else "judged"


def _arrow_table(converter: Any, source: Any, types: Mapping[str, pa.DataType]) -> pa.Table:
    """Convert a run or judgments to an Arrow table with the columns of ``types``; those of data
    frames keep their types.
    """
    if converter.predict_type()[0] == "pd_dataframe":
        return pa.Table.from_pandas(source[list(types)], preserve_index=False)
    rows = list(converter.as_namedtuple_iter())
    return pa.table(
        {
            name: pa.array([getattr(row, name, None) for row in rows], data_type)
            for name, data_type in types.items()
        }
    )


provider = register(SqlrankProvider())
"""The provider, as an argument of ``ir_measures.providers.FallbackProvider`` or by itself."""
