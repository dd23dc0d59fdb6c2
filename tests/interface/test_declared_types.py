"""Values of text files are what they would be in memory: neither a sample of rows nor the first of
several files decides a type.
"""

import gzip
import itertools
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import learn
from sqlrank.errors import InputError
from tests.interface.advice import follow
from tests.lanes import select_few

SAMPLE = 20_480
"""Number of rows from which DuckDB takes the type of a column."""

Rows = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write_csv(path: str, rows: Rows) -> str:
    lines = [",".join(rows[0]), *(",".join(str(value) for value in row.values()) for row in rows)]
    return write_text(path, lines)


def write_json_lines(path: str, rows: Rows) -> str:
    return write_text(path, map(json.dumps, rows))


def write_json(path: str, rows: Rows) -> str:
    return write_text(path, [json.dumps(rows)])


def write_text(path: str, lines: Iterable[str]) -> str:
    Path(path).parent.mkdir(exist_ok=True)
    Path(path).write_text("".join(f"{line}\n" for line in lines))
    return path


WRITERS = {".csv": write_csv, ".jsonl": write_json_lines, ".json": write_json}


def to_table(rows: Rows, types: Mapping[str, pa.DataType]) -> pa.Table:
    return pa.table({name: pa.array([row[name] for row in rows], types[name]) for name in rows[0]})


PREDICTION_TYPES = {"label": pa.int64(), "score": pa.float64()}


def predictions(odd: int, num_rows: int) -> Rows:
    """Return predictions with whole scores but for one row."""
    return [
        {"label": row % 2, "score": 0.5 if row == odd else row % 3 % 2} for row in range(num_rows)
    ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_decimal_after_whole_scores(suffix):
    rows = predictions(SAMPLE + 1, SAMPLE + 2)
    expected = sqlrank.evaluate(
        ["AUC", "Brier"], predictions=to_table(rows, PREDICTION_TYPES)
    ).to_pylist()
    assert (
        sqlrank.evaluate(
            ["AUC", "Brier"], predictions=WRITERS[suffix](f"x{suffix}", rows)
        ).to_pylist()
        == expected
    )


@pytest.mark.slow
@pytest.mark.parametrize("suffix", select_few([".csv", ".jsonl"], 1))
def test_a_decimal_in_a_late_file_by_folder_list_and_pattern(suffix):
    parts = [predictions(0 if number == 33 else -1, 2) for number in range(34)]
    expected = sqlrank.evaluate(
        "Brier", predictions=to_table([row for part in parts for row in part], PREDICTION_TYPES)
    ).to_pylist()
    files = [WRITERS[suffix](f"f/{number:02}{suffix}", part) for number, part in enumerate(parts)]
    for source in ("f", f"f/*{suffix}", files, files[::-1]):
        assert sqlrank.evaluate("Brier", predictions=source).to_pylist() == expected


@pytest.mark.slow
def test_the_printed_statement_declares_types_and_gives_the_same_number():
    rows = [{"query_id": f"q{row}", "doc_id": row, "score": 1} for row in range(SAMPLE + 1)] + [
        {"query_id": "q1", "doc_id": "007", "score": 1.5}
    ]
    run, qrels = (
        write_csv("run.csv", rows),
        write_json_lines("qrels.jsonl", [{"query_id": "q1", "doc_id": "007", "relevance": 1}]),
    )
    text = sqlrank.sql("RR", run=run, qrels=qrels)
    assert "READ_CSV('run.csv', all_varchar = TRUE, types = {'score': 'DOUBLE'})" in text
    assert (
        duckdb.sql(text).fetchall()
        == [(1.0,)]
        == [tuple(sqlrank.evaluate("RR", run=run, qrels=qrels).to_pylist()[0].values())]
    )


@pytest.mark.one_in(8)
@pytest.mark.parametrize(
    ("written", "judged"),
    [
        ("007", "007"), ("2024-01-06", "2024-01-06"), ("10:00", "10:00"), ("true", "true"), ("1.50", "1.50"), ("B000ABC123", "B000ABC123"),
        ("6F9619FF-8B86-D011-B42D-00C04FC964FF", "6F9619FF-8B86-D011-B42D-00C04FC964FF"), ("12345678901234567890123", "12345678901234567890123"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("suffix", WRITERS)
def test_ids_are_what_was_written(suffix, written, judged):
    rows = [
        {"query_id": "q", "doc_id": written, "score": 1},
        {"query_id": "q", "doc_id": written + "1", "score": 2},
    ]
    run = WRITERS[suffix](f"run{suffix}", rows)
    assert sqlrank.evaluate("RR", run=run, qrels={"q": {judged: 1}}).to_pylist() == [{"RR": 0.5}]
    both = WRITERS[suffix](
        f"answers{suffix}",
        [{"query_id": "q", "retrieved": [written + "1", written], "relevant": [judged]}],
    )
    if suffix != ".csv":
        assert sqlrank.evaluate("RR", inputs={"answers": both}).to_pylist() == [{"RR": 0.5}]


def test_json_numbers_beyond_64_bits_are_ids_of_their_digits():
    lines = [
        f'{{"query_id": "q", "doc_id": {number}, "score": {score}}}'
        for number, score in ((10**22 + 3, 2), (10**22 + 4, 1))
    ]
    result = sqlrank.evaluate(
        ["num_ret", "RR"], run=write_text("run.jsonl", lines), qrels={"q": {str(10**22 + 4): 1}}
    )
    assert result.to_pylist() == [{"num_ret": 2.0, "RR": 0.5}]


@pytest.mark.slow
def test_groups_by_json_numbers_beyond_64_bits_are_those_of_their_digits():
    groups = [2**64 + 1, 2**64 + 1, 2**64 + 2, 2**64 + 2]
    rows = [
        {"campaign": campaign, "label": label, "score": score}
        for campaign, label, score in zip(groups, [1, 0, 1, 0], [0.9, 0.1, 0.4, 0.6], strict=True)
    ]
    Path("clicks.json").write_text(json.dumps(rows))
    assert sqlrank.evaluate("AUC", predictions="clicks.json", by="campaign").to_pylist() == [
        {"campaign": str(2**64 + 1), "AUC": 1.0},
        {"campaign": str(2**64 + 2), "AUC": 0.0},
    ]


@pytest.mark.slow
def test_whole_numbers_keep_their_order_and_texts_have_that_of_letters():
    """Of equal scores the greatest id is first: 10 by number, '9' by letters."""
    rows = [{"query_id": 1, "doc_id": doc, "score": 1} for doc in (9, 10)]
    for suffix, write in WRITERS.items():
        run, qrels = (
            write(f"run{suffix}", rows),
            write(f"qrels{suffix}", [{"query_id": 1, "doc_id": 10, "relevance": 1}]),
        )
        assert sqlrank.evaluate("RR", run=run, qrels=qrels).to_pylist() == [{"RR": 1.0}]
        run = write(f"run{suffix}", [*rows, {"query_id": "other", "doc_id": "x", "score": 1}])
        qrels = write(
            f"qrels{suffix}",
            [
                {"query_id": "1", "doc_id": "10", "relevance": 1},
                {"query_id": "other", "doc_id": "x", "relevance": 1},
            ],
        )
        assert sqlrank.evaluate("RR", run=run, qrels=qrels).to_pylist() == [{"RR": 0.75}]


@pytest.mark.parametrize("suffix", select_few([".csv", ".jsonl"], 1))
def test_conditions_and_groups_see_the_types_of_all_rows(suffix):
    rows = [
        {"label": row % 2, "score": row % 7 / 7, "user": row, "day": "2024-01-06"}
        for row in range(SAMPLE + 1)
    ]
    write = WRITERS[suffix]
    expected = {"num_predictions": SAMPLE - 100.0}
    assert sqlrank.evaluate(
        "num_predictions", predictions=write(f"a{suffix}", rows), where="user > 100"
    ).to_pylist() == [expected]
    result = sqlrank.evaluate("num_predictions", predictions=f"a{suffix}", by="day").to_pylist()
    assert str(result[0]["day"]) == "2024-01-06"
    rows.append({"label": 1, "score": 0.5, "user": 0.25, "day": "unknown"})
    result = sqlrank.evaluate(
        "num_predictions",
        predictions=write(f"b{suffix}", rows),
        where="user < 0.5 AND user > 0",
        by="day",
    )
    assert result.to_pylist() == [{"day": "unknown", "num_predictions": 1.0}]


@pytest.mark.parametrize(
    ("suffix", "place"), [(".csv", f"line {SAMPLE + 2}"), (".jsonl", f"line {SAMPLE + 1}")]
)
def test_a_text_among_numbers_is_named_with_its_place(suffix, place):
    rows = [{"label": 1, "score": 1} for _ in range(SAMPLE)] + [{"label": 0, "score": "n/a"}]
    with pytest.raises(
        InputError,
        match=rf"^predictions: x{suffix}, {place}: score is 'n/a', which is not a number\. ",
    ):
        sqlrank.evaluate("AUC", predictions=WRITERS[suffix](f"x{suffix}", rows))


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("suffix", "column", "odd"),
    [
        (".jsonl", "label", True),
        (".jsonl", "label", 1),
        (".json", "score", True),
        (".jsonl.gz", "weight", True),
        (".jsonl", "cost", 1),
    ],
)
def test_a_boolean_among_numbers_of_json(suffix, column, odd):
    others = [1, 0, 1] if odd is True else [True, False, True]
    rows = [
        {"label": 1, "score": 0.5, "weight": 1, "cost": 2} | {column: value} for value in others
    ]
    rows *= SAMPLE // len(rows) + 1
    path = WRITERS[suffix.removesuffix(".gz")]("x", [*rows, rows[0] | {column: odd}])
    content = Path(path).read_bytes()
    Path(f"x{suffix}").write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    num_booleans = 1 if odd is True else len(rows)
    with pytest.raises(
        InputError,
        match=rf"^predictions: {column} is true or false in {num_booleans:,} of {len(rows) + 1:,}"
        " rows, and a number in the others",
    ):
        sqlrank.evaluate(["num_predictions", "Mean(cost)", "AUC"], predictions=f"x{suffix}")


def test_a_boolean_among_numbers_of_another_file():
    write_json_lines("f/1.jsonl", [{"label": 1, "score": 0.5}, {"label": 0, "score": 0.2}])
    write_json_lines("f/2.jsonl", [{"label": 0, "score": True}])
    with pytest.raises(InputError, match="score is true or false in 1 of 3 rows"):
        sqlrank.evaluate("AUC", predictions="f")


@pytest.mark.parametrize("values", [[0.5, True, 0.2], [True, 0.5, 0.2], [1, True, 0]])
@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, lambda columns: pd.DataFrame(columns).to_dict("records")]
)
def test_a_boolean_among_numbers_of_python(values, make):
    with pytest.raises(InputError, match=r"^predictions: column 'score' .*cannot be read"):
        sqlrank.evaluate("AUC", predictions=make({"label": [0, 1, 0], "score": values}))


@pytest.mark.parametrize(
    "columns",
    [
        {"retrieved": ["a", "b"], "scores": [0.2, True]},
        {"retrieved": [{"id": "a", "score": 0.2}, {"id": "b", "score": True}]},
    ],
)
@pytest.mark.parametrize("make", [list, pd.DataFrame])
def test_a_boolean_among_numbers_of_lists(columns, make):
    rows = [{"query_id": "q", "relevant": ["b"]} | columns]
    with pytest.raises(InputError, match=r"^answers: column '(scores|retrieved)' .*cannot be read"):
        sqlrank.evaluate("RR", inputs={"answers": make(rows)}, ties="doc_desc")
    write_json_lines("x.jsonl", rows)
    with pytest.raises(InputError, match=r"^answers.retrieved .* score is NULL, or a text"):
        sqlrank.evaluate("RR", inputs={"answers": "x.jsonl"}, ties="doc_desc")


@pytest.mark.parametrize("odd", [{"b": 3}, {"b": 0.5}])
@pytest.mark.parametrize("role", ["run", "qrels"])
def test_a_boolean_among_numbers_of_a_dict(role, odd):
    inputs = {"run": {"p": {"a": 0.5}}, "qrels": {"p": {"a": 1}}}
    booleans = {"q": {"a": True, "b": False}}
    assert sqlrank.evaluate("RR", **inputs | {role: booleans | {"p": {"a": True}}}).num_rows
    for mixed in ({"q": booleans["q"] | odd}, booleans | {"p": odd}):
        with pytest.raises(
            InputError,
            match=rf"^{role}: query 'q' has True for document 'a', and other documents have numbers",
        ):
            sqlrank.evaluate("RR", **inputs | {role: mixed})


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    "judged",
    [
        {"relevant": {"a": True, "b": False}},
        {"relevant": ["a", "b"], "grades": [True, False]},
        {"relevant": [{"doc_id": "a", "relevance": True}, {"doc_id": "b", "relevance": False}]},
    ],
    ids=["map", "grades", "objects"],
)
@pytest.mark.parametrize("num_rows", [1, 300])  # of many keys DuckDB infers a map
def test_booleans_are_grades(judged, num_rows):
    rows = [
        json.loads(json.dumps(judged | {"retrieved": ["a", "b"]}).replace('"a"', f'"a{row}"'))
        | {"query_id": row}
        for row in range(num_rows)
    ]
    for answers in (rows, WRITERS[".jsonl"]("x.jsonl", rows)):
        result = sqlrank.evaluate(["CG", "num_q"], inputs={"answers": answers}).to_pylist()
        assert result == [{"CG": 1.0, "num_q": num_rows}]
    odd = json.loads(json.dumps(rows[:1]).replace("false", "3"))
    with pytest.raises(InputError, match=r"no number|cannot be read"):
        sqlrank.evaluate("CG", inputs={"answers": odd})


@pytest.mark.parametrize(
    ("late", "expected"),
    [
        ("5", ["5"]),
        ("5.0", ["5"]),
        ('"5"', ["5"]),
        ('"5.0"', ["5", "5.0"]),
        ("5.5", ["5", "5.5"]),
        ("true", ["5", "true"]),
        ("9007199254740993", ["5", "9007199254740993"]),
    ],
)
def test_a_late_id_of_json_is_the_number_or_text_that_is_written(late, expected):
    """A text beside numbers is found by its quotes, also where a key has no value that is read."""
    row = '{{"query_id": {}, "doc_id": {}, "score": 1, "note": 1}}'
    run = write_text(
        "run.jsonl",
        [*(row.format(5, doc) for doc in range(SAMPLE + 1)), row.format(late, SAMPLE + 1)],
    )
    judged = [{"query_id": query, "doc_id": "0", "relevance": 1} for query in expected]
    found = sqlrank.evaluate("num_ret", run=run, qrels=judged, per_query=True)
    num_ret = [SAMPLE + 2] if len(expected) == 1 else [SAMPLE + 1, 1]
    assert dict(zip(found["query_id"].to_pylist(), found["num_ret"].to_pylist(), strict=True)) == (
        dict(zip(expected, num_ret, strict=True))
    )


@pytest.mark.slow
def test_a_key_that_only_late_rows_of_json_have():
    rows = [{"label": row % 2, "score": 0.5} for row in range(SAMPLE)]
    light = sqlrank.evaluate(
        "num_predictions", predictions=write_json_lines("x.jsonl", rows)
    ).to_pylist()
    assert light == [{"num_predictions": float(SAMPLE)}]
    write_json_lines("x.jsonl", [*rows, {"label": 1, "score": 0.5, "weight": 2}])
    with pytest.raises(InputError, match=f"{SAMPLE:,} rows: weight is NULL"):
        sqlrank.evaluate("AUC", predictions="x.jsonl")


def test_a_column_that_only_a_late_csv_file_has():
    write_csv("f/1.csv", [{"label": 1, "score": 0.5}])
    write_csv("f/2.csv", [{"label": 1, "score": 0.5, "weight": 2}])
    with pytest.raises(InputError, match=r"f/1\.csv has no column 'weight', which f/2\.csv has"):
        sqlrank.evaluate("AUC", predictions="f")


def test_columns_that_nothing_reads_decide_nothing():
    rows = [{"label": row % 2, "score": row % 3, "note": 1} for row in range(SAMPLE)] + [
        {"label": 0, "score": 1, "note": "late"}
    ]
    assert sqlrank.evaluate(
        "num_predictions", predictions=write_csv("x.csv", rows)
    ).to_pylist() == [{"num_predictions": SAMPLE + 1.0}]


def test_split_keeps_values():
    rows = [{"user_id": f"{row:06}", "price": 1} for row in range(SAMPLE + 1)] + [
        {"user_id": "x", "price": 2.75}
    ]
    parts = sqlrank.split(write_csv("x.csv", rows), key="user_id", salt="a", folds=2)
    assert parts.select(["user_id", "price"]).sort_by("user_id").to_pydict() == {
        "user_id": [row["user_id"] for row in rows],
        "price": [float(row["price"]) for row in rows],
    }


@pytest.mark.one_in(3)
@pytest.mark.parametrize("suffix", select_few([".csv", ".jsonl"], 1))
@pytest.mark.parametrize(
    "names", select_few([("2024-01-01", "2024-01-02"), ("01", "2"), ("1", "2"), ("a", "b")], 2)
)
def test_names_of_folders_have_the_types_of_all_of_them(names, suffix):
    for index, name in enumerate(names):
        Path(f"f/k={name}").mkdir(parents=True)
        WRITERS[suffix](
            f"f/k={name}/x{suffix}",
            [{"label": row % 2, "score": row / 4} for row in range(index + 2)],
        )
    for source in ("f", f"f/*/*{suffix}", [f"f/k={name}/x{suffix}" for name in reversed(names)]):
        rows = sqlrank.evaluate("num_predictions", predictions=source, by="k").to_pylist()
        assert {str(row["k"]): row["num_predictions"] for row in rows} == {
            names[0]: 2,
            names[1]: 3,
        }, source
    assert sqlrank.evaluate(
        "num_predictions", predictions="f", where=f"k <> '{names[0]}'"
    ).to_pylist() == [{"num_predictions": 3}]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
@pytest.mark.parametrize("odd", ["k=a=b", "k=1/m=2", "m=1"])
def test_names_of_folders_that_are_no_column(odd, suffix):
    for folder in ("k=1", odd):
        Path("f", folder).mkdir(parents=True, exist_ok=True)
        WRITERS[suffix](f"f/{folder}/x{suffix}", [{"label": row, "score": row} for row in (0, 1)])
    reason = (
        rf"column 'k'\. Folders k=\.\.\. are a column if .* unlike f/(k=1|{odd})/x{suffix}\. Rename"
    )
    for options in ({"by": "k"}, {"where": "k = '1'"}):
        with pytest.raises(InputError, match=reason):
            sqlrank.evaluate("AUC", predictions="f", **options)
    with pytest.raises(InputError, match=r"no column 'label2'\. Did you mean"):
        sqlrank.evaluate("AUC", predictions="f", by="label2")


ODD_PLACES = ["row 1", f"row {SAMPLE + 1}", "last row", "file 2", "file 11", "file 33"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("suffix", "place"), [*itertools.product([".csv", ".jsonl"], ODD_PLACES), (".json", "last row")]
)
def test_an_odd_value_anywhere(suffix, place):
    """Every command gives what it gives for the same rows in memory with explicit types, of one
    file and of several in any order.
    """
    num_rows, num_files = (SAMPLE + 2, 1) if "row" in place else (340, 34)
    odd = (
        num_rows - 1
        if place == "last row"
        else (int(place.split()[1]) - 1) * (num_rows // num_files if "file" in place else 1)
    )
    rows = [
        {
            "query_id": f"q{row // 5}",
            "doc_id": "d-x" if row == odd else row % 5,
            "label": row % 2,
            "score": 0.25 if row == odd else row % 3,
            "user_id": "u-x" if row == odd else row % 50,
            "variant": "ab"[row % 50 % 2] if row != odd else "a",
            "day": f"2024-01-0{row % 50 % 2 + 1}",
        }
        for row in range(num_rows)
    ]
    texts = {name: pa.string() for name in ("query_id", "doc_id", "user_id", "variant", "day")}
    table = to_table(
        [
            {name: str(value) if name in texts else value for name, value in row.items()}
            for row in rows
        ],
        texts | PREDICTION_TYPES,
    )
    table = table.set_column(6, "day", table["day"].cast(pa.date32()))
    size = num_rows // num_files
    files = [
        WRITERS[suffix](f"f/{start:05}{suffix}", rows[start : start + size])
        for start in range(0, num_rows, size)
    ]
    expected = run_commands(table)
    for source in [files[0]] if num_files == 1 else ["f", files[::-1]]:
        for name, (got, wanted) in {
            name: (got, expected[name]) for name, got in run_commands(source).items()
        }.items():
            assert round_floats(got) == round_floats(wanted), name


def round_floats(rows: list[Any]) -> list[Any]:
    """Return rows with floats of 10 digits: the order of rows, and so that of sums, is another."""
    return [
        {
            name: float(f"{value:.10g}") if isinstance(value, float) else value
            for name, value in row.items()
        }
        for row in rows
    ]


def run_commands(source: Any) -> dict[str, Any]:
    """Return the results of every command that reads rows."""
    options = {"predictions": source}
    rollup = sqlrank.rollup("AUC", **options, by="day", binning="exact")
    pair = {"run": {"a": source, "b": source}, "qrels": source, "columns": {"relevance": "label"}}
    parts = sqlrank.split(source, key="user_id", salt="x", folds=3)
    linear = learn.fit(source, columns={"features": ["score"]}, surrogate="logistic", max_iter=2)
    return {
        "evaluate": (
            sqlrank.evaluate(
                ["AUC", "Mean(score)", "num_predictions"], **options, by="day"
            ).to_pylist()
        ),
        "where": (
            sqlrank.evaluate(
                "num_predictions", **options, where="day > '2024-01-01' AND user_id <> 'u-x'"
            ).to_pylist()
        ),
        "unit": sqlrank.evaluate("AUC", **options, unit="user_id", confidence=0.95).to_pylist(),
        "rollup": sqlrank.evaluate("AUC", rollup=rollup).to_pylist(),
        "experiment": (
            sqlrank.experiment("Mean(score)", data=source, unit="user_id", control="a").to_pylist()
        ),
        "split": sorted(parts.to_pylist(), key=str),
        "compare": sqlrank.compare("RR", **pair, baseline="a").to_pylist(),
        "gate": sqlrank.gate("RR", **pair, baseline="a", tolerance=0.1).to_pylist(),
        "learn": linear.to_pylist(),
    }


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_a_name_with_a_quote(suffix):
    path = Path(f"quoted{suffix}")
    rows = [{"label": 1, "score": 0.9, 'x"y': "a"}, {"label": 0, "score": 0.1, 'x"y': "a"}]
    if suffix == ".csv":
        path.write_text('label,score,"x""y"\n1,0.9,a\n0,0.1,a\n')
    else:
        path.write_text("\n".join(map(json.dumps, rows)))
    for source in (path, rows):
        result = sqlrank.evaluate("AUC", predictions=source, by='"x""y"')
        assert result.to_pylist() == [{'x"y': "a", "AUC": 1.0}]


SCORED = [{"label": row % 2, "score": score} for row, score in enumerate([0.5, 0.875, 0.75, 0.625])]
HALVES = {
    "booleans": [row | {"label": [False, True][row["label"]] if i < 2 else row["label"]} for i, row in enumerate(SCORED)],
    "a text": [row | {"score": "-" if i == 1 else row["score"]} for i, row in enumerate(SCORED)],
}  # fmt: skip
"""Rows of which the first half has values that those of the second do not go together with."""


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("odd", HALVES)
def test_a_list_of_files_is_refused_as_their_folder_is(odd, suffix):
    paths = [WRITERS[suffix](f"f/{half}{suffix}", HALVES[odd][half : half + 2]) for half in (0, 2)]
    column = "label" if odd == "booleans" else "score"
    for source in ("f", paths, paths[::-1]):
        value, messages = follow("AUC", predictions=source)
        assert f"{column} is" in messages[0]
        assert value == (0.75 if odd == "booleans" else 0.5)
    for systems in ({"a": paths[0], "b": paths[1]}, dict(zip("ab", paths[::-1], strict=True))):
        with pytest.raises(InputError, match=f"{column} is"):
            sqlrank.evaluate("AUC", predictions=systems, by="system")


@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", ["doc_id", "part"])
def test_whole_numbers_of_one_file_and_decimals_of_another(name, suffix):
    rows = [
        {"query_id": "q", "doc_id": f"d{value}", "score": value, "part": value, name: value}
        for value in (7.5, 8.0, 9.0, 10.0)
    ]
    paths = [WRITERS[suffix](f"f/{half}{suffix}", rows[half : half + 2]) for half in (0, 2)]
    qrels = [{"query_id": "q", "doc_id": row["doc_id"], "relevance": 1} for row in rows]
    judged = [WRITERS[suffix](f"q/{half}{suffix}", qrels[half * 3 : 3 + half]) for half in (0, 1)]
    for run, judgments in (("f", "q"), ({"s": paths}, judged), ({"s": paths[::-1]}, judged[::-1])):
        result = sqlrank.evaluate("num_rel_ret", run=run, qrels=judgments, by="part")
        assert result["num_rel_ret"].to_pylist() == [1.0] * 4
