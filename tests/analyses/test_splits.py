"""Splits: golden parts of ids, values by hand, and errors."""

import datetime as dt
from hashlib import md5
from typing import Any

import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import sqlrank
from sqlrank import InputError
from sqlrank.rendering.dialects import DIALECTS
from tests.interface.command_line import app
from tests.tables import build_table, read_columns

GOLDEN = {
    "1": ("7bf68c79", "control", 4, "train"),
    "2": ("91634143", "treatment", 5, "train"),
    "3": ("da0764c2", "treatment", 8, "validation"),
    "42": ("d1662d81", "treatment", 8, "validation"),
    "1000": ("b1b8f0e3", "treatment", 6, "train"),
    "u1": ("9871334a", "treatment", 5, "train"),
    "u2": ("7bb804a2", "control", 4, "train"),
    "user-7": ("635857fb", "control", 3, "train"),
    "Zoë": ("1f6cab34", "control", 1, "train"),
    "名": ("804fbcfa", "treatment", 5, "train"),
}
RATINGS = build_table(user="1 1 2 2 3 4 4", item="10 11 10 12 13 11 10", t="1 5 2 6 3 7 9")
HALVES = {"a": 0.5, "b": 0.5}


def assign_parts(source: pa.Table, of: str, name: str, **options: Any) -> dict[Any, Any]:
    result = sqlrank.split(source, **options)
    return dict(zip(result[of].to_pylist(), result[name].to_pylist(), strict=True))


def test_the_parts_of_ids():
    ids = pa.table({"id": list(GOLDEN)})
    for name, (ticket, *_) in GOLDEN.items():
        assert md5(f"checkout:{name}".encode(), usedforsecurity=False).hexdigest()[:8] == ticket
    half = assign_parts(
        ids, "id", "split", key="id", salt="checkout", shares={"control": 0.5, "treatment": 0.5}
    )
    fold = assign_parts(ids, "id", "fold", key="id", salt="checkout", folds=10)
    tenths = assign_parts(
        ids,
        "id",
        "split",
        key="id",
        salt="checkout",
        shares={"train": 0.8, "validation": 0.1, "test": 0.1},
    )
    assert {
        name: (ticket, half[name], fold[name], tenths[name])
        for name, (ticket, *_) in GOLDEN.items()
    } == GOLDEN


def test_numbers_are_the_same_ids_as_their_texts():
    numbers = assign_parts(
        build_table(id="1 2 3 42 1000"), "id", "split", key="id", salt="checkout", shares=HALVES
    )
    texts = assign_parts(
        pa.table({"id": ["1", "2", "3", "42", "1000"]}),
        "id",
        "split",
        key="id",
        salt="checkout",
        shares=HALVES,
    )
    assert {str(name): part for name, part in numbers.items()} == texts


def test_shares_are_met_and_salts_are_independent():
    """Of 50,000 ids, within four standard deviations."""
    ids = pa.table({"id": list(range(50_000))})
    one = assign_parts(ids, "id", "split", key="id", salt="one", shares={"train": 0.8, "test": 0.2})
    two = assign_parts(ids, "id", "split", key="id", salt="two", shares={"train": 0.8, "test": 0.2})
    deviation = (50_000 * 0.2 * 0.8) ** 0.5
    for found in (one, two):
        assert abs(sum(part == "test" for part in found.values()) - 10_000) < 4 * deviation
    both = sum(one[name] == two[name] == "test" for name in one)
    assert abs(both - 2000) < 4 * (50_000 * 0.04 * 0.96) ** 0.5


@pytest.mark.slow
@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=6))
def test_exact_shares(weights):
    total = sum(weights)
    shares = {f"p{place}": weight / total for place, weight in enumerate(weights)}
    ids = pa.table(
        {"id": [f"u{i}" for i in range(3 * total)], "country": [i % 3 for i in range(3 * total)]}
    )
    found = sqlrank.split(ids, key="id", salt="ab", shares=shares, exact=True)["split"].to_pylist()
    assert [found.count(name) for name in shares] == [3 * weight for weight in weights]
    within = sqlrank.split(
        ids, key="id", salt="ab", shares=shares, exact=True, stratum="country"
    ).to_pylist()
    for country in range(3):
        there = [row["split"] for row in within if row["country"] == country]
        assert [there.count(name) for name in shares] == weights


def test_exact_sizes_are_the_nearest_to_the_shares():
    """A third of ten is 3.33, and two thirds are 6.67: the parts end after 3 and 7."""
    ids = pa.table({"id": [f"u{i}" for i in range(10)]})
    shares = dict.fromkeys("abc", 1 / 3)
    found = sqlrank.split(ids, key="id", salt="ab", shares=shares, exact=True)["split"].to_pylist()
    assert [found.count(name) for name in shares] == [3, 4, 3]


@pytest.mark.parametrize("stratum", [None, "country"])
def test_exact_shares_are_of_keys_whose_rows_stay_together(stratum):
    """User u has u % 4 + 1 rows: each is in one part, whatever the order of rows, and parts have
    their shares of the users.
    """
    users = [user for user in range(60) for _ in range(user % 4 + 1)]
    rows = pa.table(
        {"user": users, "country": [user % 3 for user in users], "row": list(range(len(users)))}
    )
    options = {
        "key": "user",
        "salt": "ab",
        "shares": {"train": 0.5, "test": 0.3, "rest": 0.2},
        "exact": True,
        "stratum": stratum,
    }
    found = sqlrank.split(rows, **options)
    pairs = {(row["user"], row["country"], row["split"]) for row in found.to_pylist()}
    assert len(pairs) == 60
    for country in range(3) if stratum else [None]:
        there = [part for _, at, part in pairs if country in {None, at}]
        assert [there.count(name) for name in ("train", "test", "rest")] == [
            len(there) * share // 10 for share in (5, 3, 2)
        ]
    backwards = sqlrank.split(rows.take(list(range(len(users)))[::-1]), **options)
    assert backwards.to_pylist() == found.to_pylist()
    once = sqlrank.split(
        rows.filter([row == 0 or users[row] != users[row - 1] for row in range(len(users))]),
        **options,
    )
    assert {(row["user"], row["country"], row["split"]) for row in once.to_pylist()} == pairs


@pytest.mark.parametrize("countries", [["x", "x", "y"], ["x", None, "x"]])
def test_a_key_of_two_strata_is_refused(countries):
    rows = build_table(user="1 1 1", country=countries)
    message = (
        r"user 1 has rows of several country, and would be in several parts. Give each user one"
        r" country, or leave out stratum="
    )
    with pytest.raises(InputError, match=message):
        sqlrank.split(rows, key="user", salt="ab", shares=HALVES, exact=True, stratum="country")
    for alike in (["x"] * 3, [None] * 3):
        same = rows.set_column(1, "country", pa.array(alike, pa.string()))
        assert (
            len(
                set(
                    sqlrank.split(
                        same, key="user", salt="ab", shares=HALVES, exact=True, stratum="country"
                    )["split"].to_pylist()
                )
            )
            == 1
        )


@pytest.mark.parametrize("stratum", [None, "user"])
def test_a_part_without_rows_is_refused(stratum):
    """Of one key per stratum, or of two keys in all, a tenth is none."""
    rows = pa.table({"user": [1, 2] if stratum is None else [*range(40)]})
    options = {"key": "user", "salt": "ab", "exact": True, "stratum": stratum}
    with pytest.raises(InputError, match=r"'test' would have no rows: there are too few user"):
        sqlrank.split(rows, shares={"train": 0.9, "test": 0.1}, **options)


def test_time():
    by_bound = assign_parts(RATINGS, "t", "split", time="t", time_bounds=[5])
    assert by_bound == {
        1: "train",
        2: "train",
        3: "train",
        5: "test",
        6: "test",
        7: "test",
        9: "test",
    }
    named = assign_parts(
        RATINGS, "t", "split", time="t", time_bounds=[3, 7], shares={"x": 1, "y": 1, "z": 1}
    )
    assert named == {1: "x", 2: "x", 3: "y", 5: "y", 6: "y", 7: "z", 9: "z"}
    by_share = assign_parts(RATINGS, "t", "split", time="t", shares={"train": 0.6, "test": 0.4})
    assert sorted(t for t, part in by_share.items() if part == "train") == [1, 2, 3, 5]
    alike = build_table(t="1 1 1 2")
    assert sqlrank.split(alike, time="t", shares=HALVES)["split"].to_pylist() == ["b"] * 4


# As the column is
@pytest.mark.parametrize(
    "bound",
    ["2026-01-02", dt.date(2026, 1, 2), dt.datetime(2026, 1, 2, tzinfo=None)],  # noqa: DTZ001
)
def test_days(bound):
    days = pa.table({"day": [dt.date(2026, 1, 1), dt.date(2026, 1, 2)]})
    assert sqlrank.split(days, time="day", time_bounds=[bound])["split"].to_pylist() == [
        "train",
        "test",
    ]


def test_the_last_of_a_user():
    """User 3 has one row, which stays in train."""
    result = sqlrank.split(RATINGS, key="user", time="t", leave_last=1)
    assert [row["t"] for row in result.to_pylist() if row["split"] == "test"] == [5, 6, 9]
    tied = build_table(user="1 1", item="5 6", t="1 1")
    assert assign_parts(tied, "item", "split", key="user", time="t", leave_last=1, item="item") == {
        5: "train",
        6: "test",
    }


def test_rows_of_one_time_stay_together_whatever_their_order():
    table = build_table(user="1 1 1 2 2 2", t="1 5 5 1 1 5", x="a b c d e f")
    for order in ([0, 1, 2, 3, 4, 5], [5, 2, 4, 1, 3, 0]):
        shuffled = table.take(order)
        assert sorted(assign_parts(shuffled, "x", "split", key="user", time="t", leave_last=1).items()) == [
            ("a", "train"), ("b", "train"), ("c", "train"), ("d", "train"), ("e", "train"), ("f", "test"),
        ]  # fmt: skip
        two = assign_parts(shuffled, "x", "split", key="user", time="t", leave_last=2)
        assert [name for name, part in sorted(two.items()) if part == "test"] == ["b", "c", "f"]


def test_expanding():
    rows = sqlrank.split(RATINGS, time="t", time_bounds=[3, 6], expanding=True).to_pylist()
    found = {(row["fold"], row["split"]): [] for row in rows}
    for row in rows:
        found[row["fold"], row["split"]].append(row["t"])
    assert {key: sorted(times) for key, times in found.items()} == {
        (0, "train"): [1, 2],
        (0, "test"): [3, 5],
        (1, "train"): [1, 2, 3, 5],
        (1, "test"): [6, 7, 9],
    }


def test_rows_that_cannot_be_split():
    asked = {"salt": "x", "shares": HALVES}
    again = sqlrank.split(build_table(user="1", split="a"), key="user", column="arm", **asked)
    assert again.column_names == ["user", "split", "arm"]
    assert sqlrank.split(RATINGS.slice(0, 0), key="user", **asked).num_rows == 0


def test_odd_names():
    odd = pa.table({'sel"ect; --': ["it's", "x"], "order": [1, 2]})
    result = sqlrank.split(
        odd, key='sel"ect; --', salt="it's \\ a", shares={"it's": 0.5, 'b"': 0.5}, column="group"
    )
    assert set(result["group"].to_pylist()) <= {"it's", 'b"'}


@pytest.mark.parametrize("dialect", [name for name in DIALECTS if name != "sqlite"])
def test_statements_read_back(dialect):
    text = sqlrank.split_sql(
        "shop.users",
        key="user id",
        salt="it's",
        shares={"a": 0.3, "b": 0.7},
        dialect=dialect,
        create_view="shop.arms",
    )
    tree = sqlglot.parse_one(text, read=DIALECTS[dialect].sqlglot_name)
    assert isinstance(tree, sqlglot.exp.Create)
    assert "4ccccccd" in text


def test_the_command(tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text("id\n" + "".join(f"{name}\n" for name in GOLDEN))
    options = [
        "split", str(path), "--key", "id", "--salt", "checkout", "--share", "control=0.5",
        "--share", "treatment=0.5",
    ]  # fmt: skip
    done = CliRunner().invoke(app, [*options, "--format", "csv"])
    assert done.exit_code == 0
    assert dict(line.split(",") for line in done.stdout.splitlines()[1:]) == {
        name: half for name, (_, half, *_) in GOLDEN.items()
    }
    printed = CliRunner().invoke(app, [*options, "--sql"])
    assert "< '80000000'" in printed.stdout
    wrong = CliRunner().invoke(app, [*options, "--dialect", "bigquery"])
    assert (wrong.exit_code, wrong.stderr) == (
        2,
        "sqlrank: --dialect, --create-table and --create-view are for --sql\n",
    )


# What leaks

COUNTS = [
    *("num_train", "num_test", "num_shared_users", "num_cold_users", "num_shared_items"),
    *("num_cold_items", "num_repeated", "num_future_users", "num_future_rows"),
]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"time": "happened_at", "time_bounds": [5]}, [3, 4, 2, 1, 1, 2, 0, 0, 0]),
        (
            {"key": "user_id", "time": "happened_at", "leave_last": 1, "item": "item_id"},
            [4, 3, 3, 0, 2, 1, 0, 0, 1],
        ),
    ],
)
def test_what_leaks(options, expected):
    split = sqlrank.split(RATINGS.rename_columns(["user_id", "item_id", "happened_at"]), **options)
    (row,) = sqlrank.evaluate(COUNTS, inputs={"splits": split}).to_pylist()
    assert list(row.values()) == expected


def test_what_leaks_in_groups_and_under_other_names():
    """The same pair twice, a user whose train goes on after their test, and a shop without test."""
    rows = read_columns(
        shop="x x x y",
        who="1 1 2 1",
        what="7 7 7 7",
        day=[dt.date(2026, 1, 3), dt.date(2026, 1, 2), dt.date(2026, 1, 1), dt.date(2026, 1, 1)],
        part="train test test train",
    )
    names = {"user_id": "who", "item_id": "what", "happened_at": "day", "split": "part"}
    x, y = sqlrank.evaluate(
        COUNTS, inputs={"splits": pa.table(rows)}, columns=names, by="shop"
    ).to_pylist()
    assert list(x.values()) == ["x", 1, 2, 1, 1, 1, 0, 1, 1, 1]
    assert list(y.values()) == ["y", 1, 0, 0, 0, 0, 0, 0, 0, 0]


def test_every_column_of_several_files_stays(tmp_path):
    """Numbers of one file are texts beside the texts of another; a column that one lacks, and
    others without a common type, are refused.
    """
    for name, rows in {
        "a": "user_id,price\n1,2\n2,3\n",
        "b": "user_id,price\nu-x,2.5\n",
        "c": "user_id\n5\n",
    }.items():
        (tmp_path / f"{name}.csv").write_text(rows)
    for files in (["a", "b"], ["b", "a"]):
        parts = sqlrank.split(
            [tmp_path / f"{name}.csv" for name in files], key="user_id", salt="s", folds=2
        )
        assert parts.sort_by("user_id").select(["user_id", "price"]).to_pydict() == {
            "user_id": ["1", "2", "u-x"],
            "price": [2.0, 3.0, 2.5],
        }
    with pytest.raises(InputError, match=r"c\.csv has no column 'price', which .*a\.csv has"):
        sqlrank.split([tmp_path / "a.csv", tmp_path / "c.csv"], key="user_id", salt="s", folds=2)
