"""Unknown arguments of functions: the problem, and the call to make, in the notation of the
caller.
"""

from typing import Any

import numpy as np
import pytest

import sqlrank
from sqlrank import MetricError
from tests.tables import build_table

TABLE = build_table(label="0 1", score="0.1 0.7")


def find_refusal(function: Any, *args: Any, **kwargs: Any) -> str:
    """Return the message of a refused call, whose error is both of this package and a
    ``TypeError``.
    """
    with pytest.raises(TypeError) as caught:
        function(*args, **kwargs)
    assert isinstance(caught.value, MetricError)
    return str(caught.value)


@pytest.mark.parametrize(
    "name", [name for name in sqlrank.__all__ if name.islower() and not name.startswith("_")]
)
def test_every_function_names_itself_and_the_argument(name):
    function = getattr(sqlrank, name)
    assert find_refusal(function, "AUC", zzzzzz=1).startswith(
        f"{name} has no argument 'zzzzzz'. It takes "
    )
    assert f"{name} takes only " in find_refusal(function, *"abcd")


def test_swapped_labels_and_scores_are_recognized():
    labels, scores = np.array([0.0, 1.0]), np.array([0.3, 0.7])
    for pair in ((labels, scores), (scores, labels)):
        assert "predictions={'label': y_true, 'score': y_score}" in find_refusal(
            sqlrank.evaluate, "AUC", *pair
        )


def test_the_call_is_as_short_as_a_line():
    message = find_refusal(
        sqlrank.evaluate,
        [f"FBeta(beta={beta})" for beta in range(1, 100)],
        preds=np.zeros(10_000),
        by="x" * 500,
    )
    assert "Write evaluate(metrics, by=by, predictions={'score': preds})" in message


def test_a_parameter_of_ones_own_metric_is_no_unknown_argument(tmp_path):
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "above.sql").write_text(
        "-- Above: what share of labels is above a limit.\n-- $limit: number from 0, default 0: the"
        " limit.\n-- Undefined: never.\n-- Source: here.\nSELECT\n  group_id,\n  AVG(CASE WHEN"
        " label > $limit THEN 1 ELSE 0 END) AS above\nFROM predictions\nGROUP BY group_id\n"
    )
    assert "evaluate has no argument 'limit'" in find_refusal(
        sqlrank.evaluate, "AUC", predictions=TABLE, limit=2
    )
    assert sqlrank.evaluate(
        "Above", predictions=TABLE, limit=0.5, sql_dir=tmp_path
    ).to_pylist() == [{"Above": 0.5}]
    assert "Did you mean 'limit'?" in find_refusal(
        sqlrank.evaluate, "Above", predictions=TABLE, limits=2, sql_dir=tmp_path
    )


def test_names_and_spellings_of_a_folder_of_ones_own(tmp_path):
    (tmp_path / "names.toml").write_text(
        "[arguments]\nclicks = 'column label'\n[spellings]\n'(\\w+) at rank (\\d+)' = '\\1@\\2'\n"
    )
    message = find_refusal(sqlrank.evaluate, "AUC", clicks=np.zeros(2), sql_dir=tmp_path)
    assert "predictions={'label': clicks}" in message
    with pytest.raises(MetricError, match=r"unknown metric 'P at rank 5'. Write P@5"):
        sqlrank.parse("P at rank 5", tmp_path)
