"""Cold-start and leakage filters of splits, checked by hand, by counts of leaked rows, and in plain
Python.
"""

import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from tests.interface.command_line import run_command
from tests.tables import build_table

RATINGS = build_table(
    user_id="1 1 2 2 3 4 4", item_id="10 11 10 12 13 11 10", happened_at="1 5 2 6 3 7 9"
)
ARGUMENTS = {"time": "happened_at", "time_bounds": [5], "user": "user_id", "item": "item_id"}


def list_test_rows(result: pa.Table) -> list[tuple[int, int]]:
    return [
        (row["user_id"], row["item_id"]) for row in result.to_pylist() if row["split"] == "test"
    ]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [(1, 11), (2, 12), (4, 10), (4, 11)]),
        ({"cold_start": "drop_users"}, [(1, 11), (2, 12)]),
        ({"cold_start": "drop_items"}, [(4, 10)]),
        ({"cold_start": "drop"}, []),
        ({"seen_pairs": "drop"}, [(1, 11), (2, 12), (4, 10), (4, 11)]),
    ],
)
def test_by_hand(options, expected):
    """Train are 1 with 10, 2 with 10 and 3 with 13."""
    result = sqlrank.split(
        RATINGS,
        **{**ARGUMENTS, **options} if options else {"time": "happened_at", "time_bounds": [5]},
    )
    assert list_test_rows(result) == expected
    assert result["split"].to_pylist().count("train") == 3
    assert result.schema.metadata[b"sqlrank.dropped"] == str(4 - len(expected)).encode()


def test_seen_again():
    again = pa.concat_tables(
        [RATINGS, build_table(user_id="1 NULL", item_id="10 10", happened_at="8 8")]
    )
    assert list_test_rows(sqlrank.split(again, **ARGUMENTS, seen_pairs="drop"))[0] == (None, 10)
    found = sqlrank.split(again, **ARGUMENTS, cold_start="drop_users", seen_pairs="drop")
    assert list_test_rows(found) == [(1, 11), (2, 12)]
    assert found.schema.metadata[b"sqlrank.dropped"] == b"4"


def draw_events(seed: int) -> pa.Table:
    draw = np.random.default_rng(seed)
    rows = [(int(draw.integers(30)), int(draw.integers(25)), time) for time in range(200)]
    return pa.table(
        dict(
            zip(
                ["user_id", "item_id", "happened_at"],
                map(list, zip(*rows, strict=True)),
                strict=True,
            )
        )
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("bounds", [[100], [60, 120]])
def test_agreement_with_plain_python(seed, bounds):
    rows = draw_events(seed)
    found = sqlrank.split(
        rows,
        **{**ARGUMENTS, "time_bounds": bounds},
        expanding=len(bounds) > 1,
        cold_start="drop",
        seen_pairs="drop",
    ).to_pylist()
    for fold, bound in enumerate(bounds):
        until = [*bounds, 10**9][fold + 1]
        train = [row for row in rows.to_pylist() if row["happened_at"] < bound]
        users, items = {row["user_id"] for row in train}, {row["item_id"] for row in train}
        pairs = {(row["user_id"], row["item_id"]) for row in train}
        expected = [
            row["happened_at"]
            for row in rows.to_pylist()
            if bound <= row["happened_at"] < until
            and row["user_id"] in users
            and row["item_id"] in items
            and (row["user_id"], row["item_id"]) not in pairs
        ]
        mine = [row for row in found if row.get("fold", 0) == fold]
        assert sorted(row["happened_at"] for row in mine if row["split"] == "test") == expected
        assert sum(row["split"] == "train" for row in mine) == len(train)


@pytest.mark.parametrize(
    "options",
    [
        {"key": "user_id", "time": "happened_at", "leave_last": 1, "item": "item_id"},
        {
            "time": "happened_at",
            "shares": {"train": 0.6, "validation": 0.2, "test": 0.2},
            "user": "user_id",
            "item": "item_id",
        },
        {
            "key": "item_id",
            "salt": "ab",
            "shares": {"train": 0.5, "test": 0.5},
            "user": "user_id",
            "item": "item_id",
        },
        {
            "key": "user_id",
            "salt": "ab",
            "exact": True,
            "shares": {"train": 0.5, "test": 0.5},
            "item": "item_id",
        },
    ],
    ids=["leave_last", "time", "hash", "exact"],
)
def test_nothing_of_it_leaks(options):
    counts = ["num_cold_users", "num_cold_items", "num_repeated", "num_train"]
    plain = sqlrank.split(
        draw_events(7),
        **{
            name: value
            for name, value in options.items()
            if name not in {"user", "item"} or "leave_last" in options
        },
    )
    kept = sqlrank.split(draw_events(7), **options, cold_start="drop", seen_pairs="drop")
    parts = kept.set_column(
        3,
        "split",
        pa.array(["train" if part == "train" else "test" for part in kept["split"].to_pylist()]),
    )
    (row,) = sqlrank.evaluate(counts, inputs={"splits": parts}).to_pylist()
    assert list(row.values()) == [0, 0, 0, plain["split"].to_pylist().count("train")]
    assert int(kept.schema.metadata[b"sqlrank.dropped"]) == plain.num_rows - kept.num_rows


@pytest.mark.parametrize("cold_start", ["keep", "drop_users"])
@pytest.mark.parametrize("name", ["folds", "unsorted_rows", "split_rows"])
@pytest.mark.parametrize("connect", [sqlite3.connect, duckdb.connect])
def test_a_table_may_be_named_like_a_step(connect, name, cold_start):
    """SQLite takes a step that reads a table of its own name for a circular reference."""
    connection = connect(":memory:")
    connection.execute(f"CREATE TABLE {name} (user_id INTEGER, happened_at INTEGER)")
    connection.execute(f"INSERT INTO {name} VALUES (1, 1), (2, 2), (1, 3), (3, 4)")
    options = {"time": "happened_at", "time_bounds": [2, 4], "expanding": True}
    if cold_start != "keep":
        options |= {"user": "user_id", "cold_start": cold_start}
    found = sqlrank.split(name, connection=connection, **options)
    rows = [(row["fold"], row["happened_at"], row["split"]) for row in found.to_pylist()]
    expected = [
        (0, 1, "train"), (0, 2, "test"), (0, 3, "test"), (1, 1, "train"), (1, 2, "train"),
        (1, 3, "train"), (1, 4, "test"),
    ]  # fmt: skip
    cold = {(0, 2, "test"), (1, 4, "test")} if cold_start != "keep" else set()
    assert sorted(rows) == [row for row in expected if row not in cold]


def test_the_command(tmp_path):
    path = tmp_path / "ratings.csv"
    path.write_text("user_id,item_id,happened_at\n1,10,1\n1,11,5\n2,11,6\n")
    options = (
        "--time", "happened_at", "--time-bound", "5", "--user", "user_id", "--cold-start",
        "drop_users", "--format", "csv",
    )  # fmt: skip
    assert run_command("split", path, *options).splitlines()[1:] == ["1,10,1,train", "1,11,5,test"]
