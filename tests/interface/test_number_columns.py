"""Every number column of every input decides on a result: shifted or scaled it gives another, is
refused, or is documented to be an order or a share.
"""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import sqlrank
from sqlrank.errors import InputError
from sqlrank.registry.loader import load_registry
from tests.tables import read_columns

pytestmark = pytest.mark.slow

RUN = read_columns(
    query_id="1 1 1 2 2", doc_id="a b c a b", score="0.9 0.5 0.1 0.8 0.3", rank="1 2 3 1 2"
)
QRELS = read_columns(query_id="1 1 2 2", doc_id="b c a b", relevance="1.0 3.0 2.0 0.0")
ROWS = read_columns(
    query_id="1 1 2 2",
    label="1.0 0.0 0.0 1.0",
    score="0.5 0.5 0.2 0.4",
    weight="1.0 2.0 1.0 3.0",
    rank="2 1 3 4",
    quantile_level="0.2 0.3 0.4 0.4",
    interval_low="0.1 0.2 0.0 0.3",
    interval_high="0.9 0.6 0.3 0.5",
    seasonal_error="0.5 0.25 0.5 1.0",
)
CLASSES = read_columns(
    prediction_id="1 1 2 2",
    class_id="a b a b",
    label="a a b b",
    score="0.6 0.4 0.3 0.7",
    weight="1.0 1.0 3.0 3.0",
)
FLAGS = {**CLASSES, "label": [1.0, 0.0, 0.0, 1.0], "predicted": [1.0, 1.0, 0.0, 1.0]}
LOGS = read_columns(
    reward="1.0 0.0 2.0",
    propensity="0.5 0.25 0.5",
    target_propensity="0.25 0.5 0.4",
    predicted_reward="0.5 0.5 1.0",
    expected_reward="0.4 0.6 1.0",
)
CLICKS = read_columns(
    query_id="1 1 2 2",
    doc_id="b c a b",
    rank="1 2 1 2",
    clicked="1.0 0.0 1.0 0.0",
    propensity="0.4 0.25 0.5 0.2",
)
SPANS = {
    "evidence": read_columns(
        query_id="1 2", source="s s", span_start="0.0 10.0", span_end="8.0 19.0", grade="1.0 2.0"
    ),
    "chunks": {
        "doc_id": list("ab"),
        "source": ["s", "s"],
        "span_start": [0.0, 7.0],
        "span_end": [7.0, 30.0],
    },
}
JUDGED = {
    "label": [*(float(number % 5) for number in range(20)), *[None] * 10],
    "score": [float(number % 5 + number % 3) for number in range(30)],
}
UPLIFT = read_columns(
    label="1.0 0.0 2.0 1.0",
    score="0.5 0.2 0.4 0.1",
    treatment="1.0 0.0 0.0 1.0",
    weight="1.0 2.0 1.0 3.0",
)
RANKED = {"run": RUN, "qrels": QRELS}
PREDICTED = {"predictions": ROWS}

CASES = {
    "run.score": (["nDCG@2"], RANKED, {}),
    "run.rank": (["RR"], RANKED, {"ties": "rank"}),
    "qrels.relevance": (["DCG@2"], RANKED, {}),
    "queries.weight": (
        ["P@1"],
        {**RANKED, "queries": {"query_id": [1, 2], "weight": [1.0, 3.0]}},
        {},
    ),
    "queries.cutoff": (
        ["P@cutoff"],
        {**RANKED, "queries": {"query_id": [1, 2], "cutoff": [1, 2]}},
        {},
    ),
    "predictions.label": (["MAE"], PREDICTED, {}),
    "predictions.score": (["MAE"], PREDICTED, {}),
    "predictions.weight": (["MAE"], PREDICTED, {}),
    "predictions.rank": (["LiftQuality(ties=row_order)"], PREDICTED, {}),
    "predictions.quantile_level": (["PinballLoss"], PREDICTED, {}),
    "predictions.interval_low": (["IntervalWidth"], PREDICTED, {}),
    "predictions.interval_high": (["IntervalWidth"], PREDICTED, {}),
    "predictions.seasonal_error": (["MASE"], PREDICTED, {}),
    "classified.weight": (
        ["MulticlassAccuracy"],
        {"classified": read_columns(label="a a b", predicted="a b b", weight="1.0 2.0 4.0")},
        {},
    ),
    "class_scores.score": (["MulticlassBrier"], {"class_scores": CLASSES}, {}),
    "class_scores.weight": (["MulticlassBrier"], {"class_scores": CLASSES}, {}),
    "class_labels.label": (["HammingLoss"], {"class_labels": FLAGS}, {}),
    "class_labels.predicted": (["HammingLoss"], {"class_labels": FLAGS}, {}),
    "class_labels.weight": (["HammingLoss"], {"class_labels": FLAGS}, {}),
    **{f"logs.{name}": (["DR"], {"logs": LOGS}, {}) for name in LOGS},
    "baseline.score": (["RBO"], {"run": RUN, "baseline": RUN}, {}),
    "baseline.rank": (["RBO"], {"run": RUN, "baseline": RUN}, {"ties": "rank"}),
    "clicks.rank": (["ClickDCG"], {"run": RUN, "clicks": CLICKS}, {}),
    "clicks.clicked": (["ClickDCG"], {"run": RUN, "clicks": CLICKS}, {}),
    "clicks.propensity": (["ClickDCG"], {"run": RUN, "clicks": CLICKS}, {"propensity": "given"}),
    **{
        f"{role}.{name}": (["DCG@2"], {"run": RUN, **SPANS}, {})
        for role, columns in SPANS.items()
        for name in columns
        if name not in {"query_id", "doc_id", "source"}
    },
    **{f"judged.{name}": (["PPIMean"], {"judged": JUDGED}, {}) for name in JUDGED},
    **{f"uplift.{name}": (["AUUC"], {"uplift": UPLIFT}, {}) for name in UPLIFT},
    "features.value": (
        ["IntraListDiversity(distance=cosine)@2"],
        {
            "run": RUN,
            "features": read_columns(
                doc_id="a a b b c", category="x y x y x", value="1.0 2.0 3.0 1.0 1.0"
            ),
        },
        {},
    ),
    "interleaved.clicks": (
        ["Preference"],
        {
            "interleaved": read_columns(
                session_id="1 1 2 2", team="A B A B", clicks="1.0 0.0 0.0 2.0"
            )
        },
        {},
    ),
}

INVARIANT = {
    "run.score": {"shifted": "order", "scaled": "order"},
    "baseline.score": {"shifted": "order", "scaled": "order"},
    "uplift.score": {"shifted": "order", "scaled": "order"},
    "judged.score": {"shifted": "a correction of them", "scaled": "a correction of them"},
    "predictions.rank": {
        "shifted": "order among equal scores",
        "scaled": "order among equal scores",
    },
    "features.value": {"scaled": "the cosine of vectors"},
    "interleaved.clicks": {
        "shifted": "the team with more clicks",
        "scaled": "the team with more clicks",
    },
    **{
        f"{role}.weight": {"scaled": "weights are relative"}
        for role in (
            "queries", "predictions", "classified", "class_scores", "class_labels", "uplift",
        )
    },
}  # fmt: skip
"""What is the same after a shift or a scale, with the reason, of columns that are an order or
relative.
"""

UNTRIED = {"training": "is learnt from, and no metric reads it"}


def evaluate(name: str, change: Any = None) -> Any:
    metrics, sources, options = CASES[name]
    role, _, column = name.partition(".")
    tables = {source: pa.table(rows) for source, rows in sources.items()}
    if change is not None:
        table = tables[role]
        tables[role] = table.set_column(
            table.column_names.index(column), column, change(table[column])
        )
    given = {
        source: tables.pop(source)
        for source in ("run", "qrels", "queries", "predictions")
        if source in tables
    }
    try:
        return sqlrank.evaluate(metrics, **given, inputs=tables or None, **options).to_pylist()
    except InputError:
        return "refused"


@pytest.mark.parametrize("name", CASES)
def test_a_shift_and_a_scale_are_seen(name):
    value = evaluate(name)
    assert value != "refused"
    changed = {
        "shifted": evaluate(name, lambda column: pc.add(column, 2)),
        "scaled": evaluate(name, lambda column: pc.multiply(column, 2)),
    }
    same = {what for what, result in changed.items() if result == value}
    assert same == INVARIANT.get(name, {}).keys()


def test_every_number_column_is_tried():
    columns = {
        f"{role.name}.{column.name}"
        for role in load_registry().roles.values()
        for column in role.columns.values()
        if column.type in {"number", "double", "integer"} and role.name not in UNTRIED
    }
    # Weights of lists of scores become those of class_scores.
    assert columns - {"multiclass_predictions.weight"} == CASES.keys()
