"""Next steps of messages, followed on the inputs that caused them: metrics, NaN, names, splits and
columns.
"""

import pandas as pd
import pytest

import sqlrank
from sqlrank import InputError, MetricError
from tests.interface.advice import follow, follow_all
from tests.interface.command_line import invoke_command, run_command
from tests.tables import read_columns

NAN = float("nan")
EVENTS = read_columns(user="1 1 2 2 3", item="a b a c a", ts="1 2 3 4 5")


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("metric", "columns", "expected"),
    [
        ("Mean(value_loss)", {"value_loss": [1.0, NAN, 2.0]}, 1.5),
        ("MAE", {"label": [1.0, NAN, 3.0], "score": [2.0, 2.0, 2.0]}, 1.0),
        ("MAE", {"label": [1.0, 2.0, 3.0], "score": [2.0, NAN, 5.0]}, 1.5),
        (
            "MAE",
            read_columns(label="1.0 2.0 3.0", score="2.0 2.0 5.0", weight=[1.0, 1.0, NAN]),
            0.5,
        ),
    ],
)
def test_nan_is_left_out_by_the_advice_and_as_pandas_has_it(metric, columns, expected):
    """NaN is a number in lists and NULL in pandas: the advice leads the first to what nulls=drop
    gives for the second.
    """
    assert follow(metric, predictions=columns)[0] == pytest.approx(expected)
    assert sqlrank.evaluate(metric, predictions=pd.DataFrame(columns), nulls="drop")[0][
        0
    ].as_py() == pytest.approx(expected)


def test_infinity_is_not_replaced():
    with pytest.raises(InputError, match=r"x is NaN or infinite. Leave such rows out\n") as caught:
        sqlrank.evaluate("Mean(x)", predictions={"x": [1.0, float("inf")]})
    assert "NULLIF" not in str(caught.value)


def test_rankings_of_rows_lead_to_metrics_of_rows():
    predictions = read_columns(label="1 0 1", score="0.9 0.5 0.1")
    assert follow_all("AP", predictions=predictions) == pytest.approx([(1 + 2 / 3) / 2])


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("map_at_k", "AP@10"),
        ("mrr_at_k", "RR@10"),
        ("hit_rate_at_k", "Success@10"),
        ("f1_at_k", "F@10"),
        ("MAP@k", "AP@10"),
    ],
)
def test_names_at_k_lead_to_a_cutoff(name, metric):
    with pytest.raises(MetricError, match=f"Write {metric}$"):
        sqlrank.parse(name)
    assert sqlrank.evaluate(metric, run={"q": ["a", "b"]}, qrels={"q": {"a": 1}}).num_rows == 1
    assert run_command("metrics", name)


def test_a_test_of_decisions_is_one_of_comparisons():
    for words in (
        ["metrics", "mcnemar"],
        ["metrics", "McNemar test"],
        ["evaluate", "mcnemar", "--predictions", "p.csv"],
    ):
        assert (
            "'sqlrank compare Accuracy --test sign --policy level=query --column query_id=id'"
            in invoke_command(*words).stderr
        )
    rows = read_columns(id="1 2 3 4", label="1 1 0 0", old="0.9 0.1 0.9 0.9", new="0.9 0.9 0.1 0.9")
    compared = sqlrank.compare(
        "Accuracy",
        predictions=rows,
        columns={"score": ["old", "new"], "query_id": "id"},
        level="query",
        test="sign",
    )
    assert compared["p_value"].to_pylist() == [pytest.approx(0.5)], (
        "of 2 different decisions both are better: 2 / 2^2"
    )


@pytest.mark.parametrize("options", [{}, {"cold_start": "drop_users"}])
def test_a_key_in_a_split_by_time_names_users(options):
    shares = {"train": 0.6, "test": 0.4}
    with pytest.raises(MetricError, match="or name users as user='user'") as caught:
        sqlrank.split(EVENTS, time="ts", key="user", shares=shares, **options)
    assert ("with cold_start= or seen_pairs=" in str(caught.value)) == (not options)
    followed = sqlrank.split(EVENTS, time="ts", user="user", shares=shares, cold_start="drop_users")
    assert followed.column("split").to_pylist() == ["train", "train", "train", "test"]
    assert sqlrank.split(EVENTS, time="ts", key="user", leave_last=1).num_rows == 5


@pytest.mark.filterwarnings("ignore:The DataFrame has column names of mixed type")
def test_columns_that_pandas_numbers():
    table = pd.DataFrame([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]).assign(label=[2, 0])
    result = sqlrank.evaluate(
        "MulticlassAccuracy", inputs={"classified": {"label": [2, 0], "predicted": [2, 2]}}
    )
    top = sqlrank.evaluate(
        "TopKAccuracy@1", inputs={"multiclass_predictions": table}, columns={"scores": [0, 1, 2]}
    )
    assert top[0].to_pylist() == result[0].to_pylist() == [0.5]
