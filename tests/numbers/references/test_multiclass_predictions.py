"""Scores of classes as a list, a map, structs or a column for each class have the numbers of
scikit-learn and of a row for each class.
"""

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from sklearn import metrics as sklearn

import sqlrank

METRICS = ["MulticlassLogLoss", "TopKAccuracy@2", "MulticlassAUC", "MulticlassBrier"]
NAMES = np.array(["select", "it's", "c d", "eel"])
RNG = np.random.default_rng(3)
SCORES = RNG.dirichlet(np.ones(4), 60)
CODES = RNG.integers(0, 4, 60)
OTHERS = {"label": NAMES[CODES], "weight": RNG.random(60), "day": RNG.choice(["mon", "tue"], 60)}
COLUMNS = {name: SCORES[:, place] for place, name in enumerate(NAMES)}


def evaluate(
    table: Any, columns: dict[str, Any] | None = None, **options: Any
) -> list[dict[str, Any]]:
    return sqlrank.evaluate(
        METRICS, inputs={"multiclass_predictions": table}, columns=columns, **options
    ).to_pylist()


def list_forms() -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Return columns of scores and labels, and the mapping of each form."""
    prefixed = {f"p_{name}": values for name, values in COLUMNS.items()}
    coded = {f"p_{code}": SCORES[:, code] for code in range(4)}
    maps = pa.array(
        [[*zip(NAMES, row, strict=True)] for row in SCORES.tolist()],
        pa.map_(pa.string(), pa.float64()),
    )
    return [
        (COLUMNS, {"scores": [*NAMES]}),
        (COLUMNS, {"multiclass_predictions.scores": [f'"{name}"' for name in NAMES]}),
        (prefixed, {"scores": "p_*"}),
        (coded | {"code": CODES}, {"scores": "p_*", "label": "code"}),
        (
            {"a": SCORES[:, 0], "b": SCORES[:, 1], "c": SCORES[:, 2], "d": SCORES[:, 3]},
            {"scores": "a, b, c, d", "classes": "['select', 'it''s', 'c d', 'eel']"},
        ),
        ({"probabilities": maps}, {"scores": "probabilities"}),
        (
            {"probabilities": [dict(zip(NAMES, row, strict=True)) for row in SCORES.tolist()]},
            {"scores": "probabilities"},
        ),
        (
            {
                "scores": [
                    [{"label": n, "score": s} for n, s in zip(NAMES, row, strict=True)]
                    for row in SCORES.tolist()
                ]
            },
            {},
        ),
        ({"scores": SCORES.tolist(), "classes": [[*NAMES]] * 60}, {}),
        ({"scores": SCORES.tolist(), "code": CODES}, {"label": "code"}),
    ]


@pytest.mark.slow
def test_forms_have_the_numbers_of_sklearn_and_of_rows():
    rows = {name: np.repeat(values, 4) for name, values in OTHERS.items()}
    rows |= {
        "prediction_id": np.repeat(np.arange(60), 4),
        "class_id": np.tile(NAMES, 60),
        "score": SCORES.ravel(),
    }
    options = {"confidence": 0.95, "by": "day"}
    given = sqlrank.evaluate(
        METRICS, inputs={"class_scores": pa.table(rows)}, **options
    ).to_pylist()
    for columns, mapping in list_forms():
        table = pa.table({**{name: value.tolist() for name, value in OTHERS.items()}, **columns})
        found = evaluate(table, mapping, **options)
        assert found == [pytest.approx(row, rel=1e-9) for row in given], mapping
    for row in given:
        chosen = OTHERS["day"] == row["day"]
        arguments = {"sample_weight": OTHERS["weight"][chosen], "labels": range(4)}
        label, score = CODES[chosen], SCORES[chosen]
        assert row["MulticlassLogLoss"] == pytest.approx(
            sklearn.log_loss(label, score, **arguments), abs=1e-9
        )
        assert row["TopKAccuracy@2"] == pytest.approx(
            sklearn.top_k_accuracy_score(label, score, k=2, **arguments), abs=1e-9
        )
        assert row["MulticlassAUC"] == pytest.approx(
            sklearn.roc_auc_score(label, score, multi_class="ovr", **arguments), abs=1e-9
        )


def test_systems_are_compared_and_gated():
    tables = [{"prediction_id": range(60), "label": NAMES[CODES], **COLUMNS, "model": ["old"] * 60}]
    tables.append({**tables[0], "model": ["new"] * 60, "eel": COLUMNS["eel"] / 2})
    table = pa.concat_tables([pa.table(columns) for columns in tables])
    call = {
        "inputs": {"multiclass_predictions": table},
        "columns": {"scores": [*NAMES]},
        "system": "model",
        "baseline": "old",
    }
    (row,) = sqlrank.compare("MulticlassLogLoss", **call).to_pylist()
    loss = np.log(SCORES[np.arange(60), CODES])
    assert row["difference"] == pytest.approx(np.log(2) * (CODES == 3).mean())
    assert row["value_baseline"] == pytest.approx(-loss.mean())
    assert row["n_units"] == 60
    (verdict,) = sqlrank.gate("MulticlassLogLoss", **call, tolerance=0.01).to_pylist()
    assert verdict["verdict"] == "fail"


def test_rows_without_ids_are_numbered_on_duckdb_only():
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE predicted AS SELECT 'a' AS label, 0.5 AS a, 0.5 AS b FROM RANGE(3)"
        )
        call = {
            "inputs": {"multiclass_predictions": "predicted"},
            "columns": {"scores": ["a", "b"]},
        }
        rows = sqlrank.evaluate(
            "MulticlassBrier", **call, per_query=True, connection=database
        ).to_pylist()
    assert rows == [{"prediction_id": number, "MulticlassBrier": 0.5} for number in (1, 2, 3)]
    assert "prediction_id, label,\n    ['a', 'b'] AS classes" in sqlrank.sql(
        "MulticlassBrier", **call, dialect="bigquery"
    )
