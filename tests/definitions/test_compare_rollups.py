"""Models compared by their rollups: differences with intervals of the buckets that both have, and what is certain."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import log_loss, roc_auc_score

import sqlrank
from tests.definitions.test_drift import two_days
from tests.definitions.test_jackknife_buckets import T_7, bucket_of, jackknifed
from tests.definitions.test_rollups import clicks, on_sqlite
from tests.unit.command_line import call, printed

if TYPE_CHECKING:
    from pathlib import Path

METRICS = ["AUC", "LogLoss", "num_predictions"]


@cache
def scored() -> pa.Table:
    """Return predictions with two more scores, one that is near the first and one that knows nothing."""
    rng, table = np.random.default_rng(11), clicks()
    score = table["score"].to_numpy()
    near = np.clip(np.round(score + rng.normal(0, 0.01, len(score)), 3), 0.001, 0.999)
    return table.append_column("near", pa.array(near)).append_column("coin", pa.array(np.round(rng.random(len(score)), 2)))


@cache
def rollups(binning: str = "exact", n_buckets: int | None = 8) -> dict[str, pa.Table]:
    """Return the rollups of three models."""
    of_buckets = {} if n_buckets is None else {"unit": "viewer", "n_buckets": n_buckets}
    given: dict[str, Any] = {"predictions": scored(), "by": ["day", "campaign"], "binning": binning, **of_buckets}
    return {name: sqlrank.rollup(METRICS, columns={"score": name}, **given) for name in ("score", "near", "coin")}


def test_beside_numpy() -> None:
    """Each bucket is left out of both models at once: the difference of models that agree is far surer than either."""
    rows = sqlrank.compare_rollups(METRICS, rollups=rollups(), where="day > 1").to_pylist()
    assert [(row["baseline"], row["system"], row["metric"]) for row in rows] == [
        ("score", system, metric) for system in ("near", "coin") for metric in METRICS
    ]
    table = scored()
    where = table["day"].to_numpy() > 1
    own = np.array([bucket_of(unit, 8) for unit in table["viewer"].to_pylist()])
    tools = {"AUC": roc_auc_score, "LogLoss": log_loss}

    def value(metric: str, model: str, chosen: Any) -> float:
        label, score, weight = (table[name].to_numpy()[chosen] for name in ("label", model, "weight"))
        return float(tools[metric](label, score, sample_weight=weight))

    for row in (row for row in rows if row["metric"] in tools):
        difference, *apart = (
            value(row["metric"], row["system"], chosen) - value(row["metric"], "score", chosen)
            for chosen in [where, *(where & (own != bucket) for bucket in range(8))]
        )
        error = jackknifed(apart) ** 0.5
        assert row["value_baseline"] == pytest.approx(value(row["metric"], "score", where), abs=1e-12)
        assert (row["difference"], row["se"]) == pytest.approx((difference, error), rel=1e-8, abs=1e-12)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((difference - T_7 * error, difference + T_7 * error), abs=1e-9)
        assert (row["n_buckets"], row["num_days"], row["num_days_baseline"]) == (8, 4, 4)
        assert (row["p_value"] < 0.05) == (row["ci_low"] > 0 or row["ci_high"] < 0)
    single = sqlrank.evaluate("AUC", rollup=rollups()["near"], where="day > 1", confidence=0.95)["AUC.se"][0].as_py()
    assert rows[0]["se"] < single / 2
    assert {rows[2][name] for name in ("ci_low", "ci_high", "se", "n_buckets", "p_value")} == {None}


def test_what_is_certain_by_hand() -> None:
    """Of bins (2, 1), (1, 3), (1, 6) AUC is 0.7375 in [0.6, 0.875], of one bin 0.5 in [0, 1]; a group that one model lacks is shown."""
    old, new = two_days([(2, 1), (1, 3), (1, 6)], [(3, 3)]), two_days([(3, 3)], [])
    first, second = sqlrank.compare_rollups("AUC", rollups={"old": old, "new": new}, by="day", confidence=None).to_pylist()
    assert first == {
        "day": 1, "metric": "AUC", "baseline": "old", "system": "new", "value_baseline": pytest.approx(0.7375), "value": 0.5,
        "difference": pytest.approx(-0.2375), "bound_low": pytest.approx(0 - 0.875), "bound_high": pytest.approx(1 - 0.6),
        "num_days_baseline": 1, "num_days": 1, "num_rows_baseline": 14, "num_rows": 6,
    }  # fmt: skip
    assert [second[name] for name in ("day", "value_baseline", "value", "difference", "bound_low", "num_rows_baseline", "num_rows")] == [
        2, 0.5, None, None, None, 6, None
    ]  # fmt: skip


@pytest.mark.slow
def test_within_groups_on_another_engine() -> None:
    asked = {"by": "campaign", "baseline": "near", "confidence": 0.9}
    here = sqlrank.compare_rollups(METRICS, rollups={name: rollups("grid")[name] for name in ("score", "near")}, **asked).to_pylist()
    assert len(here) == 6
    assert {row["system"] for row in here} == {"score"}
    there = on_sqlite(rollups("grid")["score"])
    there.execute("ALTER TABLE s RENAME TO score")
    other = on_sqlite(rollups("grid")["near"])
    names = ", ".join("?" * rollups("grid")["near"].num_columns)
    columns = ", ".join(f'"{name}"' for name in rollups("grid")["near"].column_names)
    there.execute(f"CREATE TABLE near ({columns})")
    there.executemany(f"INSERT INTO near VALUES ({names})", other.execute("SELECT * FROM s").fetchall())
    found = sqlrank.compare_rollups(METRICS, rollups={"score": "score", "near": "near"}, connection=there, dialect="sqlite", **asked)
    assert found.to_pylist() == [pytest.approx(row, abs=1e-12) for row in here]


def test_the_command(tmp_path: Path) -> None:
    named = []
    for name, rollup in rollups().items():
        pq.write_table(rollup, tmp_path / f"{name}.parquet")
        named += ["--rollup", f"{name}={tmp_path / name}.parquet"]
    shown = printed("compare", "AUC", "LogLoss", *named[:4], "--by", "campaign", "--where", "day > 2")
    assert shown.splitlines()[0].split() == [
        "campaign", "metric", "baseline", "system", "value_baseline", "value", "difference", "bound_low", "bound_high", "ci_low", "ci_high", "p_value"
    ]  # fmt: skip
    assert len(shown.splitlines()) == 5
    text = printed("compare", "AUC", *named, "--baseline", "coin", "--format", "csv")
    assert [line.split(",")[1:3] for line in text.splitlines()[1:]] == [["coin", "score"], ["coin", "near"]]
    refused = call("compare", "AUC", *named, "--unit", "viewer")
    assert (refused.exit_code, refused.stderr) == (
        2,
        "sqlrank: --unit is for rows, which rollups do not have; leave it out, or --rollup\n",
    )
    assert "rollups= has two models or more by their names" in call("compare", "AUC", *named[:2]).stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rollups": lambda: {"old": rollups()["score"]}}, "^rollups= has two models or more by their names"),
        ({"rollups": lambda: [rollups()["score"]] * 2}, "^rollups= has two models or more by their names"),
        ({"baseline": "nearer"}, r"^baseline='nearer' is none of the rollups; did you mean 'near'\? There are: score, near, coin"),
        (
            {"rollups": lambda: {"old": rollups()["score"], "new": rollups(n_buckets=4)["near"]}},
            r"^rollup: the buckets of old and new differ \(\w{8}, \w{8}\): they are of other units or another number of buckets; make both",
        ),
        ({"rollups": lambda: {"old": rollups()["score"], "new": rollups(n_buckets=None)["near"]}}, "^rollup: Table has no column bucket"),
        ({"confidence": 95}, "^confidence=95 is not possible"),
        ({"metrics": "R2"}, "^R2 is neither a sum over predictions"),
        ({"by": "country"}, "^rollup: 'country' is no key column of Table"),
        ({"where": "day = 9"}, "^rollup: Table has no rows to add up; see what where= leaves of it"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str) -> None:
    given = options.get("rollups", rollups)()
    with pytest.raises(sqlrank.SqlrankError, match=message):
        sqlrank.compare_rollups(**{"metrics": "AUC", **options, "rollups": given})


def test_other_buckets_are_no_matter_for_what_is_certain() -> None:
    both = {"old": rollups()["score"], "new": rollups(n_buckets=4)["near"]}
    (row,) = sqlrank.compare_rollups("AUC", rollups=both, confidence=None).to_pylist()
    assert "ci_low" not in row
    assert row["bound_low"] == pytest.approx(row["difference"], abs=1e-12)
