"""Off-policy estimates, and interleaved lists: golden numbers, NumPy, and errors."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.tables import build_table

LOGS = build_table(
    reward="1 0 0 1 0 1 0 0 1 0",
    propensity="0.5 0.25 0.5 0.1 0.2 0.4 0.5 0.25 0.05 0.8",
    target_propensity="0.7 0.1 0.3 0.3 0.2 0.6 0.1 0.25 0.4 0.5",
    predicted_reward="0.6 0.2 0.3 0.5 0.1 0.55 0.2 0.3 0.35 0.15",
    expected_reward="0.5 0.3 0.3 0.4 0.2 0.5 0.25 0.3 0.3 0.2",
)
GOLDEN = {
    "IPS": (1.390000, 0.802004433),
    "SNIPS": (0.784203103, 0.138323208),
    "DR": (1.039125, 0.534317907),
    "SNDR": (0.727891396, None),
    "ESS": (3.919326041, None),
    "MeanWeight": (1.7725, None),
    "MaxWeight": (8.0, None),
    "IPS(clip=3, importance_weight=clip)": (0.89, None),
    "ClippedShare(clip=3)": (0.1, None),
}
CLICKS = ["1-0", "0-2", "1-1", "0-1", "0-0", "2-1", "0-1", "1-3", "0-1", "0-0"]
INTERLEAVED = pa.table(
    {
        "session_id": [session for session, _ in enumerate(CLICKS) for _ in range(2)],
        "team": ["A", "B"] * len(CLICKS),
        "clicks": [int(count) for both in CLICKS for count in both.split("-")],
    }
)


def evaluate_logs(metrics: Any, logs: pa.Table = LOGS, **options: Any) -> dict[str, Any]:
    return dict(sqlrank.evaluate(metrics, inputs={"logs": logs}, **options).to_pylist()[0])


def change_logs(name: str, value: Any) -> pa.Table:
    return LOGS.set_column(
        LOGS.column_names.index(name), name, pa.array([value, *LOGS[name].to_pylist()[1:]])
    )


def test_golden():
    found = evaluate_logs(list(GOLDEN), confidence=0.95)
    for name, (value, error) in GOLDEN.items():
        assert found[name] == pytest.approx(value, abs=1e-9)
        assert error is None or found[f"{name}.se"] == pytest.approx(error, abs=1e-9)
    assert [found[f"{name}.se"] for name in ("ESS", "MaxWeight")] == [None, None]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "name", ["IPS", "SNIPS", "DR", "SNDR", "MeanWeight", "ClippedShare(clip=3)"]
)
def test_errors_are_those_of_leaving_out(name):
    """The jackknife of many actions, to a percent."""
    draw = np.random.default_rng(0)
    columns = {
        key: draw.uniform(0.2, 0.9, 300)
        for key in ("propensity", "target_propensity", "predicted_reward", "expected_reward")
    }
    logs = pa.table({"reward": draw.integers(0, 2, 300).astype(float), **columns})
    left = pa.concat_tables(
        [
            logs.filter(pa.array(np.arange(300) != place)).append_column(
                "left", pa.array([place] * 299)
            )
            for place in range(300)
        ]
    )
    values = (
        sqlrank.evaluate(name.replace("3", "2"), inputs={"logs": left}, by="left")
        .columns[1]
        .to_numpy()
    )
    jackknife = np.sqrt(299 / 300 * ((values - values.mean()) ** 2).sum())
    name = name.replace("3", "2")
    assert evaluate_logs(name, logs, confidence=0.95)[f"{name}.se"] == pytest.approx(
        jackknife, rel=0.01
    )


def test_units_are_drawn_together():
    """Each action twice tells no more than once, if that is said."""
    once = evaluate_logs(
        "SNIPS", LOGS.append_column("unit_id", pa.array(range(10))), confidence=0.95
    )
    twice = pa.concat_tables([LOGS, LOGS]).append_column(
        "unit_id", pa.array([*range(10), *range(10)])
    )
    assert evaluate_logs("SNIPS", twice, confidence=0.95) == pytest.approx(once)
    assert once == pytest.approx(evaluate_logs("SNIPS", confidence=0.95))


def test_a_target_that_does_nothing_of_what_was_logged():
    none = LOGS.set_column(2, "target_propensity", pa.array([0.0] * 10))
    found = evaluate_logs(["IPS", "SNIPS", "DR", "SNDR", "ESS"], none)
    assert found == {
        "IPS": 0.0,
        "SNIPS": None,
        "DR": pytest.approx(0.325),
        "SNDR": None,
        "ESS": None,
    }


def test_what_is_not_read_need_not_be_there():
    bare = LOGS.select(["reward", "propensity", "target_propensity"])
    assert evaluate_logs("IPS", bare)["IPS"] == pytest.approx(1.39)


def test_interleaved_lists():
    found = sqlrank.evaluate(
        ["Preference", "num_won_by_a", "num_won_by_b"],
        inputs={"interleaved": INTERLEAVED},
        confidence=0.95,
    ).to_pylist()[0]
    assert [found[name] for name in ("Preference", "num_won_by_a", "num_won_by_b")] == [
        0.1875,
        2,
        5,
    ]
    share = np.array([0, 1, 0.5, 1, np.nan, 0, 1, 1, 1, np.nan])
    influence = np.where(np.isnan(share), 0, share - np.nanmean(share)) / 8
    assert found["Preference.n_units"] == 8
    assert found["Preference.se"] == pytest.approx(np.sqrt(8 / 7 * (influence**2).sum()))


def test_sessions_without_clicks_are_no_units():
    """A thousand of them leave the interval of five clicked sessions as wide as it is."""
    clicks = [
        (session, team, clicked)
        for session, pair in enumerate([(1, 0), (0, 2), (0, 1), (1, 1), (0, 1)])
        for team, clicked in zip("AB", pair, strict=True)
    ]
    silent = [(session, team, 0) for session in range(5, 1000) for team in "AB"]
    found = []
    for rows in (clicks, clicks + silent):
        table = pa.table(
            dict(
                zip(
                    ("session_id", "team", "clicks"),
                    map(list, zip(*rows, strict=True)),
                    strict=True,
                )
            )
        )
        found += sqlrank.evaluate(
            "Preference", inputs={"interleaved": table}, confidence=0.95
        ).to_pylist()
    assert found[0]["Preference.n_units"] == 5
    assert found[1] == pytest.approx(found[0], rel=1e-12)


def test_sessions_without_clicks_prefer_nobody():
    none = INTERLEAVED.set_column(2, "clicks", pa.array([0] * 20))
    found = sqlrank.evaluate(
        ["Preference", "num_won_by_b"], inputs={"interleaved": none}
    ).to_pylist()
    assert found == [{"Preference": None, "num_won_by_b": 0}]
