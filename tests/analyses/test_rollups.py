"""Rollups by day, slice and score bin: metrics of any days, and certain bounds of rank metrics."""

import re
import sqlite3
from functools import cache
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sqlrank
from sqlrank.registry.sql_folder import sql_root
from tests.interface.command_line import invoke_command, run_command
from tests.lanes import select_few
from tests.tables import build_table, read_columns

IMPRESSIONS = sql_root().parent / "examples" / "data" / "open_bandit" / "impressions.parquet"
SUMS = [
    "BaseRate", "Bias", "Brier", "BrierSkill", "CalibrationRatio", "LogLikelihood", "LogLoss", "LogLoss(eps=0.001)", "MAE", "MSE", "Negatives",
    "NormalizedEntropy", "NormalizedLogLoss", "num_predictions", "Observations", "Positives", "RMSE", "sMAPE",
]  # fmt: skip
ORDERS = ["AUC", "AUC(tie_credit=0)", "Gini", "LiftQuality", "APS", "KS", "Gain@0.2", "Lift@0.1", "pAUC@0.3", "PartialAUC@5", "pAp@4",
          "PRAUC", "PRAUC(interpolation=from_one)", "PRAUC(interpolation=davis_goadrich)"]  # fmt: skip
THREE = ((2, 1), (1, 3), (1, 6))
"""Weights of positives and negatives in three bins, the highest first."""


def make_rollup(bins: tuple[tuple[float, float], ...], is_open: bool = True) -> pa.Table:
    """Return a rollup of one day that is written by hand: bins with these weights, each of two
    scores or more if it is open.
    """
    places = range(len(bins))
    return pa.table(
        {
            "day": ["2026-01-01"] * len(bins),
            "bin": [-float(place) for place in places],
            "positives": [float(pair[0]) for pair in bins],
            "negatives": [float(pair[1]) for pair in bins],
            "score_min": [-float(place) for place in places],
            "score_max": [0.5 * is_open - place for place in places],
            "num_rows": [float(sum(pair)) for pair in bins],
            "definition_hash": ["0123456789abcdef"] * len(bins),
        }
    )


def evaluate_bounds(metric: str, rollup: pa.Table, **options: Any) -> list[float]:
    """Return the value of a metric, and its least and greatest."""
    (row,) = sqlrank.evaluate(metric, rollup=rollup, **options).to_pylist()
    return [row[name] for name in (metric, f"{metric}.bound_low", f"{metric}.bound_high")]


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("AUC", (0.7375, 0.6, 0.875)),
        ("Gini", (0.475, 0.2, 0.75)),
        ("APS", (0.5119047619, 0.3859263176, 0.8125)),
        ("KS", (0.4, 0.4, 0.65)),
        ("PRAUC(interpolation=davis_goadrich)", (0.5472532773, 0.3859263176, 0.7945480893)),
        ("PRAUC", (0.5595238095, 0.3264652015, 0.7945480893)),
        ("Gain@0.2", (0.4666666667, 0.45, 0.5)),
        ("pAUC(area_scaling=raw)@0.4", (0.2125, 0.15, 0.275)),
    ],
)
def test_three_bins_by_hand(metric, expected):
    assert evaluate_bounds(metric, make_rollup(THREE)) == pytest.approx(expected, abs=1e-10)
    assert evaluate_bounds(metric, make_rollup(THREE, is_open=False)) == pytest.approx(
        [expected[0]] * 3, abs=1e-10
    )


def test_a_bin_of_one_score_stays_tied():
    """The first bin holds one score. Of APS and PRAUC the borrowed bound opens it all the same,
    since it bounds by many light rows.
    """
    one = make_rollup(((1.5, 2), (2, 4), (0.5, 3)))
    one = one.set_column(
        one.column_names.index("score_max"), "score_max", pa.array([0.0, -0.5, -1.5])
    )
    assert evaluate_bounds("AUC", one) == pytest.approx(
        [0.6319444444, 0.5, 0.7638888889], abs=1e-10
    )
    every = make_rollup(((1.5, 2), (2, 4), (0.5, 3)))
    assert evaluate_bounds("APS", one)[1] == evaluate_bounds("APS", every)[1]
    assert evaluate_bounds("APS", one)[2] < evaluate_bounds("APS", every)[2]


def test_days_that_are_worth_nothing_alone_are_pooled():
    """Each day has an AUC of 0.5, and both together 0.9: no mean of daily values could say so."""
    label, score, day = [1] * 9 + [0] + [1] + [0] * 9, [0.9] * 10 + [0.1] * 10, [1] * 10 + [2] * 10
    made = sqlrank.rollup(
        "AUC", predictions=pa.table({"day": day, "label": label, "score": score}), by="day"
    )
    daily = sqlrank.evaluate("AUC", rollup=made, by="day").to_pylist()
    assert [(row["day"], row["AUC"], row["num_days"], row["num_rows"]) for row in daily] == [
        (1, 0.5, 1, 10),
        (2, 0.5, 1, 10),
    ]
    assert sqlrank.evaluate("AUC", rollup=made).to_pylist() == [
        {
            "AUC": pytest.approx(0.9, abs=1e-14),
            "AUC.bound_low": pytest.approx(0.9),
            "AUC.bound_high": pytest.approx(0.9),
            "num_days": 2,
            "num_rows": 20,
        }
    ]


@cache
def draw_clicks() -> pa.Table:
    """Return weighted predictions of five days, two campaigns, one of them NULL, and 200 viewers,
    with scores that are often equal.
    """
    rng, n = np.random.default_rng(7), 1500
    return pa.table(
        {
            "day": rng.integers(1, 6, n),
            "campaign": rng.choice(np.array(["a", "a", None], dtype=object), n),
            "label": (rng.random(n) < 0.3).astype(float),
            "score": np.where(rng.random(n) < 0.8, np.round(rng.random(n) ** 3, 3), 0.25),
            "weight": rng.integers(0, 9, n) / 4,
            "viewer": rng.integers(0, 200, n),
        }
    )


@pytest.mark.one_in(2)
@pytest.mark.parametrize("by", select_few([["campaign"], [], ["day", "campaign"]], 1))
@pytest.mark.parametrize("bins", select_few([{}, {"n_bins": 64}, {"binning": "exact"}], 2))
def test_merged_is_direct(by, bins):
    """Sums are those of the rows, and metrics of an order between what is certain; with every score
    by itself these meet.
    """
    made = sqlrank.rollup(
        [*SUMS, *ORDERS], predictions=draw_clicks(), by=["day", "campaign"], **bins
    )
    options = {"by": by, "where": "day BETWEEN 2 AND 4"}
    found = sqlrank.evaluate([*SUMS, *ORDERS], rollup=made, **options).to_pylist()
    direct = sqlrank.evaluate(
        [*SUMS, *ORDERS], predictions=draw_clicks(), columns={"weight": "weight"}, **options
    ).to_pylist()
    assert len(found) == len(direct) == 1 + (by != []) + 4 * (len(by) > 1)
    for got, expected in zip(found, direct, strict=True):
        assert [got[name] for name in by] == [expected[name] for name in by]
        assert {name: got[name] for name in SUMS} == pytest.approx(
            {name: expected[name] for name in SUMS}, abs=1e-11, rel=1e-11
        )
        for name in ORDERS:
            least, greatest = got[f"{name}.bound_low"], got[f"{name}.bound_high"]
            assert least - 1e-12 <= got[name] <= greatest + 1e-12, name
            assert least - 1e-12 <= expected[name] <= greatest + 1e-12, name
            assert "binning" not in bins or greatest - least < 1e-12, name


@pytest.mark.parametrize("n_bins", [16, 1024])
def test_width_of_auc_is_the_weight_of_pairs_within_bins(n_bins):
    made = sqlrank.rollup("AUC", predictions=draw_clicks(), by=["day"], n_bins=n_bins)
    (pairs,) = duckdb.sql(
        "SELECT SUM(p * n) FILTER (least < greatest) / (SUM(p) * SUM(n)) FROM (SELECT"
        " SUM(positives) AS p, SUM(negatives) AS n, MIN(score_min) AS least, MAX(score_max) AS"
        " greatest FROM made GROUP BY bin)"
    ).fetchall()[0]
    _, least, greatest = evaluate_bounds("AUC", made)
    assert greatest - least == pytest.approx(pairs, abs=1e-12)


@pytest.mark.slow
def test_open_bandit():
    """40,000 impressions become 101 rows, and the truth is within the bounds."""
    given = {
        "predictions": str(IMPRESSIONS),
        "columns": {"label": "click", "score": "score_logistic"},
    }
    made = sqlrank.rollup(["AUC", "APS", "KS", "LogLoss"], **given)
    assert made.num_rows == 101
    assert (
        sum(
            one == other
            for one, other in zip(
                made["score_min"].to_pylist(), made["score_max"].to_pylist(), strict=True
            )
        )
        == 6
    )
    assert evaluate_bounds("AUC", made) == pytest.approx(
        [0.5444860122, 0.5336676480, 0.5553043765], abs=1e-10
    )
    assert evaluate_bounds("APS", made) == pytest.approx(
        [0.0060464941, 0.0057694214, 0.0065221227], abs=1e-10
    )
    assert evaluate_bounds("KS", made)[1:] == pytest.approx([0.0730693173, 0.0985260559], abs=1e-10)
    (truth,) = sqlrank.evaluate(["AUC", "APS", "KS", "LogLoss"], **given).to_pylist()
    assert sqlrank.evaluate("LogLoss", rollup=made)["LogLoss"][0].as_py() == pytest.approx(
        truth["LogLoss"], abs=1e-12
    )
    for metric in ("AUC", "APS", "KS"):
        _, least, greatest = evaluate_bounds(metric, made)
        assert least <= truth[metric] <= greatest


def test_one_class_has_no_auc_and_no_bounds():
    made = sqlrank.rollup(
        ["AUC", "APS", "LogLoss"], predictions=build_table(label="0 0", score="0.2 0.2001")
    )
    (row,) = sqlrank.evaluate(["AUC", "APS"], rollup=made).to_pylist()
    assert row == dict.fromkeys(
        ["AUC", "AUC.bound_low", "AUC.bound_high", "APS", "APS.bound_low", "APS.bound_high"]
    ) | {"num_rows": 2}


def test_what_weighs_nothing_has_no_auc():
    """Group b has rows, of which none has weight, and does not keep the others from theirs."""
    table = read_columns(
        campaign="a a b b", label="1 0 1 0", score="0.75 0.25 0.75 0.25", weight="1.0 2.0 0.0 0.0"
    )
    made = sqlrank.rollup(
        "AUC", predictions=pa.table(table), by="campaign", columns={"weight": "weight"}
    )
    for one in (made, made.slice(2)):
        found = {
            row["campaign"]: (row["AUC"], row["num_rows"])
            for row in sqlrank.evaluate("AUC", rollup=one, by="campaign").to_pylist()
        }
        assert found == {"a": (1, 2), "b": (None, 2)} if one is made else found == {"b": (None, 2)}


def test_metrics_that_are_sums_need_no_bins():
    made = sqlrank.rollup(["MAE", "LogLoss"], predictions=draw_clicks(), by="day")
    assert made.num_rows == 5
    assert made.column_names[:2] == ["day", "num_rows"]


def test_parameters_of_a_call_are_for_whom_they_are():
    """The parameter eps is fixed when the rollup is made; tie_credit is free when it is
    evaluated.
    """
    made = sqlrank.rollup(
        ["AUC", "LogLoss"], predictions=draw_clicks(), by="day", binning="exact", eps=0.25
    )
    asked = {"eps": 0.25, "tie_credit": 0.125}
    (got,) = sqlrank.evaluate(["AUC", "LogLoss"], rollup=made, **asked).to_pylist()
    (expected,) = sqlrank.evaluate(
        ["AUC", "LogLoss"], predictions=draw_clicks(), **asked
    ).to_pylist()
    assert (got["AUC"], got["LogLoss"]) == pytest.approx(
        (expected["AUC"], expected["LogLoss"]), abs=1e-12
    )


# Kept in a table


@pytest.mark.slow
def test_days_are_replaced(tmp_path):
    """A day that is written again stands once, a file is made where there is none, and NULL is a
    day like others.
    """
    path = str(tmp_path / "ads.duckdb")
    for _ in range(2):
        for day in ("day < 3", "day >= 3"):
            sqlrank.rollup(
                ["AUC", "LogLoss"],
                predictions=draw_clicks(),
                by="day",
                where=day,
                connection=path,
                insert="ads",
                overwrite_by="day",
                columns={"weight": "weight"},
            )
    whole = sqlrank.rollup(["AUC", "LogLoss"], predictions=draw_clicks(), by="day")
    (kept,) = sqlrank.evaluate(["AUC", "LogLoss"], rollup="ads", connection=path).to_pylist()
    assert kept == sqlrank.evaluate(["AUC", "LogLoss"], rollup=whole).to_pylist()[0]
    assert kept["num_rows"] == 1500


def test_what_cannot_be_added_is_not():
    duck = duckdb.connect()
    kept = {"connection": duck, "insert": "ads"}
    sqlrank.rollup("AUC", predictions=draw_clicks(), by="day", **kept)
    held = duck.sql("SELECT COUNT(*) FROM ads").fetchall()
    with pytest.raises(
        sqlrank.InputError,
        match=(
            r"insert: ads holds rows of the definition \w{16}, and these are of \w{16}: other"
            r" metrics"
        ),
    ):
        sqlrank.rollup(
            "AUC",
            predictions=draw_clicks(),
            by="day",
            where="day = 5",
            n_bins=512,
            overwrite_by="day",
            **kept,
        )
    with pytest.raises(
        sqlrank.InputError, match=r"a rollup of other metrics. Insert into another table"
    ):
        sqlrank.rollup("LogLoss", predictions=draw_clicks(), by="day", **kept)
    assert duck.sql("SELECT COUNT(*) FROM ads").fetchall() == held


def test_a_transaction_of_the_callers_is_theirs_to_end():
    duck = duckdb.connect()
    sqlrank.rollup(
        "AUC", predictions=draw_clicks(), by="day", where="day > 1", connection=duck, insert="ads"
    )
    held = duck.sql("SELECT COUNT(*) FROM ads").fetchall()
    duck.begin()
    sqlrank.rollup(
        "AUC", predictions=draw_clicks(), by="day", where="day = 1", connection=duck, insert="ads"
    )
    assert duck.sql("SELECT COUNT(*) FROM ads").fetchall() > held
    duck.rollback()
    assert duck.sql("SELECT COUNT(*) FROM ads").fetchall() == held


@pytest.mark.slow
def test_each_day_may_be_written_by_itself(tmp_path):
    """A condition that chooses groups does not change what their rows are; any other does."""
    for day in range(1, 6):
        where = f"day = {day} AND weight > 0"
        pq.write_table(
            sqlrank.rollup(["AUC", "Brier"], predictions=draw_clicks(), by="day", where=where),
            tmp_path / f"{day}.parquet",
        )
    whole = sqlrank.rollup(
        ["AUC", "Brier"], predictions=draw_clicks(), by="day", where="weight > 0"
    )
    parts = sqlrank.evaluate(["AUC", "Brier"], rollup=str(tmp_path), by="day")
    assert (
        parts.to_pylist() == sqlrank.evaluate(["AUC", "Brier"], rollup=whole, by="day").to_pylist()
    )
    pq.write_table(
        sqlrank.rollup(
            ["AUC", "Brier"], predictions=draw_clicks(), by="day", where="weight > 1 AND day = 5"
        ),
        tmp_path / "6.parquet",
    )
    with pytest.raises(
        sqlrank.InputError,
        match=r"rollup: rows of different definitions \(\w{16}, \w{16}\) cannot be added up",
    ):
        sqlrank.evaluate("AUC", rollup=str(tmp_path))


def test_weights_are_part_of_the_definition_and_columns_under_their_own_names_are_not():
    """A weight that is found is one that is named; one that no sum is of says nothing."""
    without = draw_clicks().drop_columns("weight")

    def definition(rows, metrics=("AUC", "LogLoss"), **columns):
        (found,) = set(
            sqlrank.rollup(metrics, predictions=rows, by="day", columns=columns)[
                "definition_hash"
            ].to_pylist()
        )
        return str(found)

    weighted, plain = definition(draw_clicks()), definition(without)
    assert weighted != plain
    assert definition(draw_clicks(), weight="weight") == weighted
    assert definition(draw_clicks(), label="label", score="score") == weighted
    assert definition(without, **{"predictions.label": "label"}) == plain
    assert definition(draw_clicks(), weight="score") not in {weighted, plain}
    assert definition(draw_clicks(), "num_predictions") == definition(without, "num_predictions")
    for definition_there, columns in ((plain, None), (weighted, {"weight": "weight"})):
        assert f"'{definition_there}' AS definition_hash" in sqlrank.rollup_sql(
            ["AUC", "LogLoss"], predictions="clicks", by="day", columns=columns
        )


def test_rows_with_and_without_weights_are_not_added_up():
    duck = duckdb.connect()
    options = {"by": "day", "connection": duck, "insert": "ads"}
    sqlrank.rollup("AUC", predictions=draw_clicks(), where="day = 1", **options)
    with pytest.raises(
        sqlrank.InputError,
        match=(
            r"insert: ads holds rows of the definition \w{16}, and these are of \w{16}: other"
            r" metrics, columns, weights"
        ),
    ):
        sqlrank.rollup(
            "AUC", predictions=draw_clicks().drop_columns("weight"), where="day = 2", **options
        )
    assert sqlrank.evaluate("AUC", rollup="ads", connection=duck)["num_days"].to_pylist() == [1]


def test_a_day_that_is_computed_may_be_chosen():
    table = build_table(at=["2026-01-01 10", "2026-01-02 11"], label="1 0", score="0.5 0.25")
    given = {"predictions": table, "by": "day=SUBSTR(at, 1, 10)"}
    made = [
        sqlrank.rollup("AUC", **given, where=f"SUBSTR(at, 1, 10) = '2026-01-0{day}'")
        for day in (1, 2)
    ]
    assert (
        made[0]["definition_hash"]
        == made[1]["definition_hash"]
        == sqlrank.rollup("AUC", **given)["definition_hash"].slice(0, 1)
    )
    assert made[0]["definition_hash"] != sqlrank.rollup(
        "AUC", **given, where="at > '2026-01-01 00'"
    )["definition_hash"].slice(0, 1)
    assert sqlrank.evaluate("AUC", rollup=pa.concat_tables(made)).to_pylist() == [
        {"AUC": 1, "AUC.bound_low": 1, "AUC.bound_high": 1, "num_days": 2, "num_rows": 2}
    ]


def test_the_statement_makes_the_same_rows():
    text = sqlrank.rollup_sql(
        ["AUC", "Brier"], predictions="clicks", by="day", columns={"weight": "weight"}
    )
    duck = duckdb.connect()
    duck.register("clicks", draw_clicks())
    made = sqlrank.rollup(
        ["AUC", "Brier"], predictions=draw_clicks(), by="day", columns={"weight": "weight"}
    )
    assert duck.sql(text).to_arrow_table().to_pylist() == made.to_pylist()
    script = sqlrank.rollup_sql(
        "AUC",
        predictions="clicks",
        by="day",
        dialect="bigquery",
        insert="ads.daily_rollup",
        overwrite_by="day",
    )
    assert [line for line in script.splitlines() if line.startswith(("DELETE", "INSERT"))] == [
        "DELETE FROM ads.daily_rollup",
        "INSERT INTO ads.daily_rollup (",
    ]


def load_sqlite(rollup: pa.Table) -> Any:
    """Return a connection to SQLite with a rollup as the table s."""
    connection = sqlite3.connect(":memory:")
    names = ", ".join(f'"{name}"' for name in rollup.column_names)
    connection.execute(f"CREATE TABLE s ({names})")
    connection.executemany(
        f"INSERT INTO s VALUES ({', '.join('?' * rollup.num_columns)})",
        [tuple(row.values()) for row in rollup.to_pylist()],
    )
    return connection


# The command, and what is refused


@pytest.mark.slow
def test_the_command_makes_a_rollup_and_reads_it(tmp_path):
    path, kept = tmp_path / "clicks.parquet", tmp_path / "rollup.parquet"
    pq.write_table(draw_clicks(), path)
    run_command(f"rollup AUC LogLoss --predictions {path} --by day -o {kept}")
    shown = run_command(f"evaluate AUC LogLoss --rollup {kept} --where 'day > 3' --format csv")
    assert shown.splitlines()[0] == "AUC,AUC.bound_low,AUC.bound_high,LogLoss,num_days,num_rows"
    assert "INSERT INTO daily_rollup" in run_command(
        "rollup AUC --predictions clicks --by day --sql --dialect snowflake --insert daily_rollup"
    )
    stored = invoke_command(
        f"rollup AUC --predictions {path} --by day --db {tmp_path}/ads.duckdb --insert "
        "ads --overwrite-by day"
    )
    assert (stored.exit_code, stored.stdout) == (0, "")
    assert re.fullmatch(r"inserted [\d,]+ rows into ads\n(note: .*\n)*", stored.stderr)
    assert (
        run_command(f"evaluate AUC --rollup ads --db {tmp_path}/ads.duckdb --format csv")
        .rstrip()
        .endswith(",5,1500")
    )


def test_a_score_that_both_classes_share_stays_tied_among_open_bins():
    """Of the four pairs of ``a`` one is tied at a single score, and one is within a bin; ``b``,
    which has no such tie, is evaluated with it.
    """
    group, label, score = (
        ["a", "a", "a", "a", "b", "b"],
        [1, 0, 1, 0, 1, 0],
        [0.25, 0.25, 0.81, 0.8101, 0.81, 0.8101],
    )
    clicks = pa.table({"campaign": group, "label": label, "score": score})
    made = sqlrank.rollup(["AUC", "APS", "PRAUC"], predictions=clicks, by="campaign")
    assert _evaluate_with_bounds(made, "AUC", by="campaign") == [[0.5, 0.375, 0.625], [0.5, 0, 1]]
    for metric in ("APS", "PRAUC"):
        both = _evaluate_with_bounds(made, metric, by="campaign")
        assert both == [
            _evaluate_with_bounds(made, metric, where=f"campaign = '{name}'")[0] for name in "ab"
        ]


def _evaluate_with_bounds(made: pa.Table, metric: str, **options: Any) -> list[list[float]]:
    found = sqlrank.evaluate(metric, rollup=made, **options)
    return [
        list(row)
        for row in zip(
            *(found[f"{metric}{end}"].to_pylist() for end in ("", ".bound_low", ".bound_high")),
            strict=True,
        )
    ]
