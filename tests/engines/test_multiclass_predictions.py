"""Lists of the scores of all classes, and a column for each class, have the numbers of DuckDB on
every engine with lists.
"""

from collections.abc import Iterator

import pyarrow as pa
import pytest
from sqlglot import exp

import sqlrank
from sqlrank import MetricError
from sqlrank.rendering.dialects import DIALECTS
from tests.engines.engines import ENGINES, Databend, Engine
from tests.engines.running import parametrize_engines, run_engine
from tests.engines.test_engines import measure_deviation

METRICS = ["MulticlassLogLoss", "MulticlassAUC", "TopKAccuracy@2"]
CLASSES = ["a", "it's", "select"]
SCORES = [
    [0.5, 0.25, 0.25],
    [0.25, 0.5, 0.25],
    [0.5, 0.25, 0.25],
    [0.25, 0.25, 0.5],
    [0.0, 0.75, 0.25],
]
TABLE = pa.table(
    {
        "prediction_id": [1, 2, 3, 4, 5],
        "label": ["a", "it's", "select", "select", "a"],
        "column_label": ["p0", "p1", "p2", "p2", "p0"],
        "classes": [CLASSES] * 5,
        "scores": SCORES,
        "weight": [1.0, 2.0, 0.5, 1.0, 0.0],
        "day": ["mon", "mon", "mon", "mon", "tue"],
        **{f"p{place}": [scores[place] for scores in SCORES] for place in range(3)},
    }
)
COLUMNS = {name: f'"{name}"' for name in ("prediction_id", "label", "weight")}
FORMS = {
    "lists": {"scores": '"scores"', "classes": '"classes"'},
    "columns": {"scores": ['"p0"', '"p1"', '"p2"'], "label": '"column_label"'},
}


@pytest.fixture(scope="module")
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with run_engine(request.param, {"predicted": TABLE}) as engine:
        yield engine


@pytest.mark.parametrize("engine", parametrize_engines(ENGINES), indirect=True)
@pytest.mark.parametrize("form", FORMS)
def test_numbers_are_those_of_duckdb(engine, form, request):
    if isinstance(engine, Databend) and form == "columns":
        reason = (
            "FLATTEN of Databend takes variants only, and that of Snowflake arrays, whose elements"
            " are variants"
        )
        request.applymarker(pytest.mark.xfail(reason=reason, raises=RuntimeError, strict=True))
    options = {"columns": COLUMNS | FORMS[form], "by": "day"}
    expected = sqlrank.evaluate(METRICS, inputs={"multiclass_predictions": TABLE}, **options)
    for dialect in engine.dialects:
        if DIALECTS[dialect].write_list_elements is None:
            with pytest.raises(
                MetricError,
                match=(
                    f"cannot be written for {dialect}, which has no UNNEST of lists with positions"
                ),
            ):
                sqlrank.sql(
                    METRICS,
                    inputs={"multiclass_predictions": "predicted"},
                    dialect=dialect,
                    **options,
                )
            continue
        table, day = (
            exp.to_identifier(name, quoted=True).sql(DIALECTS[dialect].sqlglot_name)
            for name in ("predicted", "day")
        )
        text = sqlrank.sql(
            METRICS,
            inputs={"multiclass_predictions": table},
            dialect=dialect,
            **{**options, "by": day},
        )
        measure_deviation(engine, text, expected)
