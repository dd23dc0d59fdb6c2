"""Experiments: errors, undefined values, expressions, printed statements, and the command."""

import ast
import re
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sqlglot

import sqlrank
from sqlrank import InputError
from sqlrank.rendering.dialects import DIALECTS
from tests.analyses.experiments import UNITS
from tests.interface.command_line import invoke_command, run_command, run_refused_command
from tests.lanes import select_few
from tests.tables import build_table

BOTH = ["Mean(spend)", "Ratio(clicks, views)"]


def make_observations(x: list[Any], variants: str = "AABB", **columns: Any) -> pa.Table:
    return pa.table({"unit_id": range(len(x)), "variant": list(variants), "x": x, **columns})


def estimate_first(metric: str, data: pa.Table | Path, **options: Any) -> dict[str, Any]:
    return dict(sqlrank.experiment(metric, data=data, control="A", **options).to_pylist()[0])


def find_message(data: pa.Table | Path, metrics: Any = "Mean(x)", **options: Any) -> str:
    with pytest.raises(InputError) as caught:
        sqlrank.experiment(metrics, data=data, **({"control": "A"} | options))
    return str(caught.value)


def test_a_unit_in_two_variants_is_refused_with_examples():
    table = build_table(user="u1 u1 u2 u3 u4 u5 u5 u5", variant="A B A B B A A B", x=[1.0] * 8)
    said = find_message(table, unit="user")
    assert said.startswith(
        "data (Table): 2 users are in more than one variant. Leave them out with"
        " multi_variant_units='drop'\n"
    )
    assert "unit_id='u1', variant='A', last_variant='B'" in said
    assert "unit_id='u5', variant='A', last_variant='B'" in said
    assert "u2" not in said


@pytest.mark.slow
def test_crossed_units_are_left_out_and_counted():
    crossed = build_table(
        unit_id="100 100 101 101", variant="A B B C", spend="1e+09 1e+09 1e+09 1e+09"
    )
    both = pa.concat_tables([UNITS.select(["unit_id", "variant", "spend"]), crossed])
    found = sqlrank.experiment("Mean(spend)", data=both, control="A", multi_variant_units="drop")
    for row, other in zip(
        found.to_pylist(),
        sqlrank.experiment("Mean(spend)", data=UNITS, control="A").to_pylist(),
        strict=True,
    ):
        assert row == pytest.approx(other, rel=1e-12)
    assert (
        found.schema.metadata[b"sqlrank.notes"].decode().split("\n")[0]
        == "2 units were in more than one variant, and left out"
    )
    assert find_message(crossed, "Mean(spend)", multi_variant_units="drop").startswith(
        "data (Table): every unit is in more than one variant"
    )


TEXTS = {
    "a text for missing": (
        ["1", "NA", "3", "4"],
        "y",
        (
            "y is VARCHAR, not a number. 'NA' in line 3 is none. Leave it out with"
            " 'Mean(TRY_CAST(y AS DOUBLE))' and where='NOT TRY_CAST(y AS DOUBLE) IS NULL', which"
            " drops 1 row, or name another column"
        ),
        (1.0, 3.5),
    ),
    "a cast of one": (
        ["1", "NA", "3", "4"],
        "CAST(y AS DOUBLE)",
        (
            "'NA' is no DOUBLE, to which 'CAST(y AS DOUBLE)' casts. Leave its rows out with"
            " 'Mean(TRY_CAST(y AS DOUBLE))' and where='NOT TRY_CAST(y AS DOUBLE) IS NULL'"
        ),
        (1.0, 3.5),
    ),
    "decimal commas": (
        ["1,5", "2,5", "3,5", "4,5"],
        "y",
        (
            "first in line 2. Of decimal commas make points by"
            " \"Mean(CAST(REPLACE(y, ',', '.') AS DOUBLE))\", or name another column"
        ),
        (2.0, 4.0),
    ),
    "dollars": (
        ["$1.50", "$2.50", "$3.50", "$4.50"],
        "y",
        "Leave the characters around a number out with \"Mean(CAST(TRIM(y, '[]()$€£ ') AS DOUBLE))\"",
        (2.0, 4.0),
    ),
}


@pytest.mark.parametrize("case", TEXTS)
def test_advice_on_texts_is_followed_as_it_stands(tmp_path, case):
    """The metric and the condition of the message, as they stand, give the means."""
    texts, value, expected, means = TEXTS[case]
    path = tmp_path / "e.csv"
    rows = [f"{unit};{'AABB'[unit]};{text}" for unit, text in enumerate(texts)]
    rows.append("4;A;" + texts[0])
    path.write_text("\n".join(["unit_id;variant;y", *rows]))
    message = find_message(path, f"Mean({value})")
    assert expected in message
    (metric,) = (ast.literal_eval(text) for text in re.findall(r"'Mean.*?\)'|\"Mean.*?\"", message))
    where = re.search(r"where=('[^']*')", message)
    effect = estimate_first(metric, path, where=where and ast.literal_eval(where[1]))
    assert effect["value"] == means[1]
    given = [
        str(path),
        "--control",
        "A",
        *(["--where", ast.literal_eval(where[1])] if where else []),
    ]
    assert f"{means[1]:.0f}" in run_command("experiment", metric, "--data", *given)


def test_texts_of_covariates_and_keys_name_their_argument(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("unit_id,variant,y,x\n1,A,1,2\n2,A,2,NA\n3,B,3,4\n4,B,5,5\n5,A,2,1\n")
    lenient = "TRY_CAST(x AS DOUBLE)"
    message = find_message(path, "Mean(y)", covariates="x")
    assert f"Leave it out with covariates={lenient!r}, or name another column" in message
    assert estimate_first("Mean(y)", path, covariates=lenient)["cuped_theta"] != 0
    two = ["Mean(y)", "Ratio(y, unit_id)"]
    message = find_message(path, two, covariates={"Mean(y)": "x", two[1]: "Ratio(y, x)"})
    changed = {"Mean(y)": lenient, two[1]: f"Ratio(y, {lenient})"}
    assert f"Leave it out with covariates={changed!r}, or" in message
    assert sqlrank.experiment(two, data=path, covariates=changed, control="A").num_rows == 3
    message = find_message(path, "Mean(y)", unit="CAST(x AS INT)", where="y > 0")
    assert (
        "unit='TRY_CAST(x AS INT)' and where='(y > 0) AND NOT TRY_CAST(x AS INT) IS NULL'"
        in message
    )
    options = ["--control", "A", "--covariate", "Mean(y)=x", "--covariate", "Mean(unit_id)=x"]
    error = run_refused_command(
        "experiment", "Mean(y)", "Mean(unit_id)", "--data", str(path), *options
    )
    assert f"--covariate 'Mean(y)'='{lenient}' --covariate 'Mean(unit_id)'='{lenient}'" in error


def test_null_keys_are_refused_together():
    table = build_table(unit_id="1 NULL 3 4", variant="A A NULL NULL", x="1 2 3 4")
    said = find_message(table)
    assert (
        "data (Table): 1 row: unit_id is NULL. Leave the row out\n    unit_id=None, variant='A',"
        " x=2\n" in said
    )
    assert "data (Table): 2 rows: variant is NULL. Leave the row out\n" in said


@pytest.mark.parametrize(
    ("x", "options"),
    [
        ([0, 1, 1, 0, 0, 0, 0, 0], {}),  # a variance of 0 would be certainty
        ([0, 1, 1, 0, 0, 0, 0, 0], {"interval": "sequential"}),
        ([0, 1, 1, 0, 0, 0, 0, 0], {"lift_scale": "linear"}),
        (
            [0, 1, 1, 0, 0, 0, 0, 0],
            {"covariates": "p"},
        ),  # adjusted values differ, by the covariate alone
        ([1, 3, 3, 2, 4, 6, 6, 4], {"covariates": "x"}),  # adjusted values are equal
        ([1, 1, 1, 1, 0, 1, 2, 3], {}),  # the control
        ([0.1, 0.1, 0.1, 0.1, 0.2, 0.2, 0.2, 0.2], {}),
        ([0.1] * 8, {}),
        ([1, 2, 3, 4, 3, 6, 9, 12], {"metrics": "Ratio(x, n)"}),  # 1 and 3 per n in each unit
    ],
)
def test_units_of_a_variant_that_are_all_equal(x, options):
    """They have no variance, so that there is neither interval, p-value nor winner, and a note says
    so.
    """
    table = make_observations(
        x, "AAAABBBB", n=[1.0, 2.0, 3.0, 4.0] * 2, p=[0.5, 2.0, 1.0, 0.0, 0.25, 3.0, 1.0, 0.0]
    )
    result = sqlrank.experiment(**({"metrics": "Mean(x)", "data": table, "control": "A"} | options))
    row = result.to_pylist()[0]
    assert row["difference"] is not None
    names = (
        "se", "ci_low", "ci_high", "relative_ci_low", "relative_ci_high", "statistic",
        "p_value", "p_adjusted", "winner", "mde",
    )  # fmt: skip
    assert {name: row[name] for name in names} == dict.fromkeys(names)
    note = f"{row['metric']} is without an interval for B (units that are all equal in B or A)"
    assert result.schema.metadata[b"sqlrank.notes"].decode() == note


@pytest.mark.slow
def test_what_is_undefined():
    """A ratio of nothing; a lift of a mean that is not above 0; on the linear scale it has one,
    except for 0.
    """
    nothing = estimate_first("Ratio(x, n)", make_observations([1, 2, 3, 4], n=[0, 0, 1, 1]))
    assert [
        nothing[name] for name in ("value_control", "value", "difference", "se", "p_value")
    ] == [None, 3.5, None, None, None]
    below = make_observations([-3.0, -1.0, 1.0, 2.0])
    assert [
        estimate_first("Mean(x)", below)[name]
        for name in ("relative_difference", "relative_ci_low")
    ] == [None, None]
    assert estimate_first("Mean(x)", below, lift_scale="linear")["relative_difference"] == 1.75
    assert (
        estimate_first("Mean(x)", make_observations([-1.0, 1.0, 1.0, 2.0]), lift_scale="linear")[
            "relative_difference"
        ]
        is None
    )


@pytest.mark.slow
def test_a_covariate_that_says_nothing():
    """Constant, or not known of any unit: the effect is the one without."""
    plain = estimate_first("Mean(spend)", UNITS)
    for column in (pa.array([0.1] * 24), pa.array([None] * 24, pa.float64())):
        assert estimate_first(
            "Mean(spend)", UNITS.append_column("c", column), covariates="c"
        ) == pytest.approx(plain, nan_ok=False)


@pytest.mark.slow
def test_a_unit_without_a_covariate_has_the_mean():
    before = UNITS["pre"].to_pylist()
    known = [value for place, value in enumerate(before) if place not in {3, 7}]
    gaps = [None if place in {3, 7} else value for place, value in enumerate(before)]
    means = [sum(known) / len(known) if value is None else value for value in gaps]
    table = UNITS.append_column("gaps", pa.array(gaps)).append_column("means", pa.array(means))
    result = sqlrank.experiment("Mean(spend)", data=table, control="A", covariates="gaps")
    assert result.to_pylist()[0] == pytest.approx(
        estimate_first("Mean(spend)", table, covariates="means")
    )
    assert (
        result.schema.metadata[b"sqlrank.notes"]
        == b"Mean(spend): 2 units have no covariate. The overall mean is imputed"
    )


@pytest.mark.slow
def test_a_mismatch_of_the_sample_ratio():
    """No variant is better then, however sure its effect is; a p of 0.001 is the line."""
    table = make_observations(
        [i % 2 for i in range(60)] + [5 + i % 2 for i in range(140)], "A" * 60 + "B" * 140
    )
    result = sqlrank.experiment("Mean(x)", data=table, control="A")
    rows = result.to_pylist()
    assert (rows[0]["p_value"] < 1e-9, rows[0]["winner"], rows[1]["statistic"]) == (
        True,
        None,
        32.0,
    )
    assert result.schema.metadata[b"sqlrank.notes"].startswith(
        b"sample ratio mismatch: the numbers of units do not fit"
    )
    planned = sqlrank.experiment(
        "Mean(x)", data=table, control="A", expected_shares={"A": 0.3, "B": 0.7}
    )
    assert (planned.to_pylist()[0]["winner"], planned.schema.metadata[b"sqlrank.notes"]) == (
        "B",
        b"",
    )


@pytest.mark.slow
def test_expressions_and_odd_names():
    odd = UNITS.rename_columns(["order", 'va"riant', "views", "clicks", "pre", "it's spent"])
    rows = sqlrank.experiment(
        {"a": "Mean(\"it's spent\" * 2)", "b": "Ratio(CASE WHEN views > 2 THEN clicks ELSE 0 END, COALESCE(views, 0))"},
        data=odd, unit="order", variant='va"riant', control="A",
    ).to_pylist()  # fmt: skip
    assert rows[0]["value"] == pytest.approx(2 * 4.371428571428571)
    kept = [row for row in UNITS.to_pylist() if row["variant"] == "B"]
    expected = sum(row["clicks"] for row in kept if row["views"] > 2) / sum(
        row["views"] for row in kept
    )
    assert rows[2]["value"] == pytest.approx(expected)


NAMES_OF_STEPS = [
    *(("revenue", "select"), ("Revenue", "value"), ("units", "variant_mean"), ("mean_b", "b")),
    *(("b_2", "B_count"), ("amount", "covariate_overall_mean"), ("outcome", "other_outcome")),
    *(("metric", "observations"), ("before", "b")),
]


@cache
def estimate_under_names(clicks: str, pre: str) -> list[list[Any]]:
    names = {"clicks": clicks.strip('"'), "pre": pre.strip('"')}
    rows = sqlrank.experiment(
        {"m": f"Mean({clicks})", "r": f"Ratio({pre}, {clicks})"},
        covariates={"m": pre, "r": f"Mean({clicks})"},
        data=UNITS.rename_columns([names.get(column, column) for column in UNITS.column_names]),
        control="A",
        threads=1,
    ).to_pylist()
    return [[*row.values()] for row in rows]


@pytest.mark.one_in(6)
@pytest.mark.parametrize(
    ("clicks", "pre"), [pair for names in NAMES_OF_STEPS for pair in (names, names[::-1])]
)
def test_names_of_amounts_change_no_number(clicks, pre):
    quoted = ['"select"' if name == "select" else name for name in (clicks, pre)]
    assert estimate_under_names(*quoted) == estimate_under_names("clicks", "pre")


@pytest.mark.slow
def test_kinds_of_columns():
    """Variants that are numbers, booleans or categories; values that are booleans or decimals."""
    x = pa.array(list(map(Decimal, ("1.00", "2", "3", "5"))))
    for variants, control in (
        ([0, 0, 1, 1], 0),
        ([False, False, True, True], "false"),
        (pa.array(list("aabb")).dictionary_encode(), "a"),
    ):
        table = build_table(
            unit_id="a b c d", variant=variants, x=x, is_on=[True, False, True, True]
        )
        rows = sqlrank.experiment(
            ["Mean(x)", "Mean(is_on)"], data=table, control=control
        ).to_pylist()
        assert [row["difference"] for row in rows] == [2.5, 0.5, None]


@pytest.mark.parametrize("interval", select_few(["fixed", "sequential"], 1))
@pytest.mark.parametrize("lift_scale", select_few(["log", "linear"], 1))
def test_printed_statements_give_the_same(interval, lift_scale):
    """With the table of a caller that is called as a step is; crossed units are left out and
    counted.
    """
    options: dict[str, Any] = {
        "control": "A",
        "covariates": {"Mean(spend)": "pre"},
        "interval": interval,
        "lift_scale": lift_scale,
    }
    options |= {
        "correction": "bh" if lift_scale == "log" else "holm",
        "lower_is_better": "Mean(spend)",
        "power": 0.9,
    }
    expected = sqlrank.experiment(BOTH, data=UNITS, **options).to_pylist()
    crossed = pa.concat_tables(
        [UNITS, UNITS.slice(0, 2).set_column(0, "unit_id", pa.array([99, 99]))]
    )
    with duckdb.connect() as connection:
        connection.from_arrow(crossed).create("units")
        text = sqlrank.experiment_sql(BOTH, data="units", connection=connection, **options)
        rows = connection.sql(text).to_arrow_table().to_pylist()
    assert len(rows) == len(expected) == 5
    for row, values in zip(rows, expected, strict=True):
        assert row.pop("multi_variant_units") == 1
        assert row == pytest.approx(values, rel=1e-12)


@pytest.mark.parametrize("dialect", select_few(DIALECTS, ("bigquery",)))
def test_statements_read_back(dialect):
    options: dict[str, Any] = {
        "data": "shop.visits",
        "unit": "user id",
        "dialect": dialect,
        "expected_shares": {"it's": 0.3, "control": 0.7},
    }
    text = sqlrank.experiment_sql(BOTH, **options, where="day > 3", create_view="shop.effects")
    assert isinstance(
        sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name), sqlglot.exp.Create
    )
    takes_one_escape = dialect in {"bigquery", "databricks", "spark"}
    assert ("it\\'s" if takes_one_escape else "it''s") in text


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.parquet"
    duckdb.from_arrow(UNITS).write_parquet(str(path))
    return path


@pytest.mark.slow
def test_the_command(visits):
    options = [
        "experiment", "spend=Mean(spend)", "Ratio(clicks, views)", "--data", visits,
        "--control", "A", "--covariate", "spend=pre",
    ]  # fmt: skip
    lines = run_command(*options, "--correction", "none").splitlines()
    # The covariate adjusts the value of the control for each variant, so that each has a table.
    assert lines[0] == "B against A:"
    assert lines[1].split() == ["metric", "A", "B", "lift", "interval", "p", "winner"]
    assert lines[2].split() == [
        "spend", "3.1112", "4.1912", "+34.71%", "+12.35%", "to", "+61.53%", "0.0063", "B",
    ]  # fmt: skip
    assert lines[5] == "C against A:"
    assert lines[6].split() == ["metric", "A", "C", "lift", "interval", "p", "winner"]
    assert lines[-2:] == [
        "Welch's t-test, intervals at 95%.",
        "Sample ratio as planned: 24 units, p 0.6873. All columns: --format csv",
    ]
    rows = run_command(*options, "--format", "csv").splitlines()
    assert (len(rows), rows[-1].split(",")[0]) == (6, "sample_ratio")


@pytest.mark.slow
def test_the_command_prints_statements():
    text = run_command(
        "experiment", "Mean(x)", "--data", "shop.visits", "--sql", "--dialect", "bigquery",
        "--create-table", "shop.effects",
    )  # fmt: skip
    assert text.startswith(
        "-- sqlrank 0.1.0 for BigQuery: experiment Mean(x), one row per metric and variant, and one"
        " for the\n--   sample ratio\n-- reads: shop.visits (data)\n-- settings: unit=unit_id,"
        " variant=variant, confidence=0.95, correction=holm, interval=fixed,\n--  "
        " lift_scale=log, power=0.8\n"
    )
    assert "\nCREATE OR REPLACE TABLE shop.effects AS\nWITH observations AS (" in text


@pytest.mark.slow
def test_the_command_notes_a_sample_ratio_mismatch(visits):
    found = invoke_command(
        "experiment", "Mean(spend)", "--data", visits, "--control", "A", "--expected-share",
        "A=0.01", "--expected-share", "B=0.495", "--expected-share", "C=0.495",
    )  # fmt: skip
    assert found.exit_code == 0
    assert (
        found.stdout.splitlines()[-1]
        == "Sample ratio not as planned: 24 units, p <0.0001. All columns: --format csv"
    )
    assert found.stderr.startswith(
        "note: sample ratio mismatch: the numbers of units do not fit the expected shares (p "
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["Mean(x)", "Mean(x)"], "sqlrank: Mean(x): Mean(x) is given twice\n"),
        (["Mean(spend)", "Mean(pre)", "--covariate", "pre"], "sqlrank: --covariate pre: write --covariate METRIC=COLUMN. The metrics are called: Mean(spend), Mean(pre)\n"),
        (["Mean(spend)", "--covariate", "pre", "--covariate", "views"], "sqlrank: --covariate views: Mean(spend) is given twice\n"),
        (["Mean(spend)", "--covariate", "spend=pre"], "sqlrank: --covariate spend=pre: write --covariate METRIC=COLUMN, or the column alone. The metrics are called: Mean(spend)\n"),
        (["Mean(spend)", "--dialect", "bigquery"], "sqlrank: --dialect, --create-table and --create-view are for --sql\n"),
        (["Mean(spend)", "--expected-share", "A=half"], "sqlrank: --expected-share: give a name and its share, such as --expected-share train=0.8 --expected-share test=0.2\n"),
        (["Mean(spend)", "--control", "D"], "sqlrank: no unit is in the control 'D'. There are A, B and C\n"),
    ],
)  # fmt: skip
def test_what_the_command_refuses(options, expected, visits):
    assert run_refused_command("experiment", *options, "--data", visits) == expected


@pytest.mark.slow
def test_a_mean_of_units_says_so_where_units_have_several_rows():
    data = build_table(unit_id="1 1 2 3 4", variant=["control"] * 3 + ["b"] * 2, x="1 2 4.5 5 6")
    result = sqlrank.experiment({"sums": "Mean(x)", "rows": "Ratio(x, 1)"}, data=data)
    note = (
        "Mean(x) is the mean of units, whose rows are added up. For the mean of rows write"
        " Ratio(x, 1)"
    )
    assert result.schema.metadata[b"sqlrank.notes"].decode() == note
    assert result["value_control"].to_pylist()[:2] == [3.75, 2.5]
    once = sqlrank.experiment("Mean(x)", data=data.slice(1))
    assert once.schema.metadata[b"sqlrank.notes"] == b""


@pytest.mark.slow
def test_the_level_of_corrected_intervals_is_printed(tmp_path):
    pq.write_table(
        pa.table({"unit_id": range(8), "variant": ["control", "b"] * 4, "x": range(8)}),
        tmp_path / "visits.parquet",
    )
    call = ("experiment", "a=Mean(x)", "--data", tmp_path / "visits.parquet")
    assert "Welch's t-test, intervals at 95%." in run_command(*call)
    assert "Welch's t-test, p by Holm, intervals at 97.5%." in run_command(*call, "b=Mean(x * x)")
    assert "Welch's t-test, intervals at 95%." in run_command(
        *call, "b=Mean(x * x)", "--correction", "none"
    )
