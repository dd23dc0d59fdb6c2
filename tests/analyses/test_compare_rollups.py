"""Comparisons of systems by their rollups: differences with bounds, and with intervals over the
buckets that both have.
"""

from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats
from sklearn.metrics import log_loss, roc_auc_score

import sqlrank
from sqlrank.inference import adjust_p_values
from tests.analyses.test_drift import make_two_days
from tests.analyses.test_jackknife_buckets import T_7, compute_bucket, compute_jackknife_variance
from tests.analyses.test_rollups import draw_clicks, load_sqlite
from tests.interface.command_line import invoke_command, run_command

METRICS = ["AUC", "LogLoss", "num_predictions"]


@cache
def make_predictions() -> pa.Table:
    """Return predictions with two more scores, one that is near the first and one that knows
    nothing.
    """
    rng, table = np.random.default_rng(11), draw_clicks()
    score = table["score"].to_numpy()
    near = np.clip(np.round(score + rng.normal(0, 0.01, len(score)), 3), 0.001, 0.999)
    return table.append_column("near", pa.array(near)).append_column(
        "coin", pa.array(np.round(rng.random(len(score)), 2))
    )


@cache
def make_rollups(binning: str = "exact", n_buckets: int | None = 8) -> dict[str, pa.Table]:
    """Return the rollups of three models."""
    of_buckets = {} if n_buckets is None else {"unit": "viewer", "n_buckets": n_buckets}
    given = {
        "predictions": make_predictions(),
        "by": ["day", "campaign"],
        "binning": binning,
        **of_buckets,
    }
    return {
        name: sqlrank.rollup(METRICS, columns={"score": name}, **given)
        for name in ("score", "near", "coin")
    }


def test_agreement_with_numpy():
    """Each bucket is left out of both models at once: the difference of models that agree is far
    surer than either.
    """
    rows = sqlrank.compare(
        METRICS, rollups=make_rollups(), where="day > 1", baseline="score", correction="none"
    ).to_pylist()
    assert [(row["baseline"], row["system"], row["metric"]) for row in rows] == [
        ("score", system, metric) for metric in METRICS for system in ("near", "coin")
    ]
    table = make_predictions()
    where = table["day"].to_numpy() > 1
    own = np.array([compute_bucket(unit, 8) for unit in table["viewer"].to_pylist()])
    tools = {"AUC": roc_auc_score, "LogLoss": log_loss}

    def value(metric, model, chosen):
        label, score, weight = (
            table[name].to_numpy()[chosen] for name in ("label", model, "weight")
        )
        return float(tools[metric](label, score, sample_weight=weight))

    for row in (row for row in rows if row["metric"] in tools):
        difference, *apart = (
            value(row["metric"], row["system"], chosen) - value(row["metric"], "score", chosen)
            for chosen in [where, *(where & (own != bucket) for bucket in range(8))]
        )
        error = compute_jackknife_variance(apart) ** 0.5
        assert row["value_baseline"] == pytest.approx(
            value(row["metric"], "score", where), abs=1e-12
        )
        assert (row["difference"], row["se"]) == pytest.approx(
            (difference, error), rel=1e-8, abs=1e-12
        )
        assert (row["ci_low"], row["ci_high"]) == pytest.approx(
            (difference - T_7 * error, difference + T_7 * error), abs=1e-9
        )
        assert (row["n_buckets"], row["num_days"], row["num_days_baseline"]) == (8, 4, 4)
        assert (
            row["p_value"]
            == row["p_adjusted"]
            == pytest.approx(2 * stats.t.sf(abs(difference) / error, 7), rel=1e-6)
        )
        better = row["system"] if (difference > 0) is (row["metric"] == "AUC") else row["baseline"]
        assert row["winner"] == (better if row["p_value"] < 0.05 else None)
        assert row["statistic"] == pytest.approx(difference / error, rel=1e-6)
    single = sqlrank.evaluate(
        "AUC", rollup=make_rollups()["near"], where="day > 1", confidence=0.95
    )["AUC.se"][0].as_py()
    assert rows[0]["se"] < single / 2
    assert {
        rows[4][name] for name in ("ci_low", "ci_high", "se", "n_buckets", "p_value", "winner")
    } == {None}
    assert rows[4]["reason"] == "no interval: it describes the data"


def test_what_is_certain_by_hand():
    """Of bins (2, 1), (1, 3), (1, 6) AUC is 0.7375 in [0.6, 0.875], of one bin 0.5 in [0, 1]; a
    group that one model lacks is shown.
    """
    old, new = make_two_days([(2, 1), (1, 3), (1, 6)], [(3, 3)]), make_two_days([(3, 3)], [])
    first, second = sqlrank.compare(
        "AUC", rollups={"old": old, "new": new}, by="day", confidence=None
    ).to_pylist()
    assert {name: value for name, value in first.items() if value is not None} == {
        "day": 1, "metric": "AUC", "baseline": "old", "system": "new", "value_baseline": pytest.approx(0.7375), "value": 0.5,
        "difference": pytest.approx(-0.2375), "relative_difference": pytest.approx(-0.2375 / 0.7375), "reason": "no interval: confidence=None", "bound_low": pytest.approx(0 - 0.875), "bound_high": pytest.approx(1 - 0.6),
        "num_days_baseline": 1, "num_days": 1, "num_rows_baseline": 14, "num_rows": 6,
    }  # fmt: skip
    assert [second[name] for name in ("day", "value_baseline", "value", "difference", "bound_low", "num_rows_baseline", "num_rows", "reason")] == [
        2, 0.5, None, None, None, 6, None, "undefined for the system"
    ]  # fmt: skip


@pytest.mark.slow
def test_within_groups_on_another_engine():
    asked = {"by": "campaign", "baseline": "near", "confidence": 0.9}
    here = sqlrank.compare(
        METRICS, rollups={name: make_rollups("grid")[name] for name in ("score", "near")}, **asked
    ).to_pylist()
    assert len(here) == 6
    assert {row["system"] for row in here} == {"score"}
    there = load_sqlite(make_rollups("grid")["score"])
    there.execute("ALTER TABLE s RENAME TO score")
    other = load_sqlite(make_rollups("grid")["near"])
    names = ", ".join("?" * make_rollups("grid")["near"].num_columns)
    columns = ", ".join(f'"{name}"' for name in make_rollups("grid")["near"].column_names)
    there.execute(f"CREATE TABLE near ({columns})")
    there.executemany(
        f"INSERT INTO near VALUES ({names})", other.execute("SELECT * FROM s").fetchall()
    )
    found = sqlrank.compare(
        METRICS,
        rollups={"score": "score", "near": "near"},
        connection=there,
        dialect="sqlite",
        **asked,
    )
    assert found.to_pylist() == [pytest.approx(row, abs=1e-12) for row in here]


@pytest.mark.slow
def test_the_command(tmp_path):
    named = []
    for name, rollup in make_rollups().items():
        pq.write_table(rollup, tmp_path / f"{name}.parquet")
        named += ["--rollup", f"{name}={tmp_path / name}.parquet"]
    shown = run_command(
        "compare", "AUC", "LogLoss", *named[:4], "--by", "campaign", "--where", "day > 2"
    )
    assert shown.splitlines()[0].split() == [
        "campaign", "metric", "score", "near", "difference", "interval", "p", "winner",
    ]  # fmt: skip
    assert [line.split()[:2] for line in shown.splitlines()[1:5]] == [
        ["NULL", "AUC"],
        ["NULL", "LogLoss"],
        ["a", "AUC"],
        ["a", "LogLoss"],
    ]
    assert (
        shown.splitlines()[5]
        == "Paired t-test of 8 buckets, p by Holm, intervals at 98.75%. All columns: --format csv"
    )
    text = run_command(
        "compare", "AUC", *named, "--baseline", "coin", "--correction", "bh", "--format", "csv"
    )
    assert [line.split(",")[1:3] for line in text.splitlines()[1:]] == [
        ["coin", "score"],
        ["coin", "near"],
    ]
    refused = invoke_command("compare", "AUC", *named, "--unit", "viewer")
    assert (refused.exit_code, refused.stderr) == (
        2,
        (
            "sqlrank: --unit viewer is not possible with rollups, which have no rows. Leave it out,"
            " or give rows instead of rollups\n"
        ),
    )
    assert (
        "--rollup has two systems or more by their names"
        in invoke_command("compare", "AUC", *named[:2]).stderr
    )


@pytest.mark.slow
def test_other_buckets_are_no_matter_for_what_is_certain():
    both = {"old": make_rollups()["score"], "new": make_rollups(n_buckets=4)["near"]}
    result = sqlrank.compare("AUC", rollups=both, confidence=None)
    (row,) = result.to_pylist()
    assert "confidence intervals" not in str(sqlrank.chart(result).to_dict())
    assert row["ci_low"] is None
    assert row["bound_low"] == pytest.approx(row["difference"], abs=1e-12)


@pytest.mark.slow
def test_groupings_are_corrected_together():
    """All rows and each campaign, of all pairs: Holm's correction is of all p-values of the call,
    as of rows.
    """
    chosen = {name: make_rollups()[name] for name in ("score", "near", "coin")}
    result = sqlrank.compare("LogLoss", rollups=chosen, by=[[], ["campaign"]])
    rows = result.to_pylist()
    pairs = [("score", "near"), ("score", "coin"), ("near", "coin")]
    campaigns = sorted({*make_predictions()["campaign"].to_pylist()} - {None})
    groups = [(None, "all"), *((campaign, "campaign") for campaign in (None, *campaigns))]
    assert [(row["campaign"], row["slice"], row["baseline"], row["system"]) for row in rows] == [
        (*group, *pair) for group in groups for pair in pairs
    ]
    alone = [
        row
        for by in ((), "campaign")
        for row in sqlrank.compare("LogLoss", rollups=chosen, by=by, correction="none").to_pylist()
    ]
    for name in ("difference", "se", "p_value"):
        assert [row[name] for row in rows] == pytest.approx([row[name] for row in alone])
    assert [row["p_adjusted"] for row in rows] == pytest.approx(
        adjust_p_values([row["p_value"] for row in alone], "holm")
    )
    for row in rows:
        assert (
            (row["winner"] is not None)
            == (row["p_adjusted"] < 0.05)
            == (row["ci_low"] > 0 or row["ci_high"] < 0)
        )
        assert row["mde"] > 0
    assert {row["winner"] for row in rows} == {"near", None}
    assert isinstance(sqlrank.chart(result).to_dict(), dict)


@pytest.mark.slow
def test_columns_are_those_of_all_comparisons():
    """Columns for rows alone are NULL, and columns for rollups alone come last."""
    table = make_predictions()
    both = {"score": ["score", "near"], "weight": "weight"}
    of_rows = sqlrank.compare("AUC", predictions=table, columns=both, unit="viewer")
    of_rollups = sqlrank.compare(
        "AUC", rollups={name: make_rollups()[name] for name in ("score", "near")}
    )
    count = of_rows.num_columns
    assert of_rollups.schema.remove_metadata().field(0) == of_rows.schema.field(0)
    assert [(field.name, field.type) for field in of_rollups.schema][:count] == [
        (field.name, field.type) for field in of_rows.schema
    ]
    assert of_rollups.column_names[count:] == [
        "bound_low", "bound_high", "n_buckets", "num_days_baseline", "num_days", "num_rows_baseline", "num_rows"
    ]  # fmt: skip
    for name in ("value_baseline", "value", "difference"):
        assert of_rollups[name][0].as_py() == pytest.approx(of_rows[name][0].as_py(), abs=1e-12)


def test_equal_rollups():
    (row,) = sqlrank.compare(
        "AUC", rollups={"old": make_rollups()["score"], "new": make_rollups()["score"]}
    ).to_pylist()
    assert [row[name] for name in ("difference", "se", "p_value", "ci_low", "winner", "reason")] == [
        0.0, 0.0, 1.0, None, None, "equal in every bucket"
    ]  # fmt: skip
