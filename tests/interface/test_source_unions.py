"""Several files are one table: types and columns are those of all of them, whatever is first, and
each way to name them gives the same number.
"""

import itertools
from collections.abc import Callable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import sqlrank
from sqlrank import InputError
from sqlrank.engines.source_tables import common_type
from tests.tables import build_table, read_columns


def write_parts(folder: Path, parts: Sequence[pa.Table], ending: str = "parquet") -> list[Path]:
    folder.mkdir(parents=True)
    paths = [folder / f"{index:02}.{ending}" for index in range(len(parts))]
    for path, part in zip(paths, parts, strict=True):
        (pq.write_table if ending == "parquet" else feather.write_feather)(part, path)
    return paths


def name_parts(tmp_path: Path, parts: Sequence[pa.Table], ending: str = "parquet") -> list[Any]:
    """Return the ways to name parts in every order: as folder, pattern and list of files, and as a
    list of tables.
    """
    named: list[Any] = []
    for number, order in enumerate(itertools.permutations(parts)):
        folder = tmp_path / f"{ending}{number}"
        paths = write_parts(folder, order, ending)
        named += [folder, str(folder / f"*.{ending}"), paths, list(order)]
    return named


INT_AND_FLOAT = [
    pa.table({"label": pa.array([1, 0]), "score": pa.array([1, 0])}),
    pa.table({"label": pa.array([1.0, 0, 1, 0]), "score": pa.array([0.4, 0.3, 0.45, 0.2])}),
]


@pytest.mark.one_in(2)
@pytest.mark.parametrize("ending", ["parquet", "feather"])
def test_whole_numbers_before_decimals(ending, tmp_path):
    for source in name_parts(tmp_path, INT_AND_FLOAT, ending):
        assert sqlrank.evaluate(["AUC", "Brier"], predictions=source).to_pylist() == [
            {"AUC": 1.0, "Brier": pytest.approx(0.79250 / 6)}
        ]


@pytest.mark.slow
def test_every_command_reads_the_types_of_all_files(tmp_path):
    unit = [f"u{index}" for index in range(200)]
    arms = ["a", "b"] * 100
    parts = [
        pa.table({"user": unit, "variant": arms, "revenue": pa.array([0] * 200)}),
        pa.table({"user": unit, "variant": arms, "revenue": pa.array([0.4, 0.6] * 100)}),
    ]
    write_parts(tmp_path / "data", parts)
    effects = sqlrank.experiment("Mean(revenue)", data=tmp_path / "data", unit="user", control="a")
    assert effects["value_control"][0].as_py() == pytest.approx(0.4)
    assert effects["value"][0].as_py() == pytest.approx(0.6)
    days = [part.append_column("day", pa.array(["x"] * len(part))) for part in INT_AND_FLOAT]
    write_parts(tmp_path / "days", days)
    rollup = sqlrank.rollup(["AUC"], predictions=tmp_path / "days", by="day")
    assert sqlrank.evaluate("AUC", rollup=rollup)["AUC"].to_pylist() == [1.0]
    rows = sqlrank.split(tmp_path / "days", folds=2, key="day", salt="s")
    assert sorted(rows["score"].to_pylist()) == [0.0, 0.2, 0.3, 0.4, 0.45, 1.0]


def test_several_scores_of_a_union(tmp_path: Path) -> None:
    """Read every score of tables in a list, and of files whose types differ."""
    parts = [part.append_column("other", pa.array([0.5] * len(part))) for part in INT_AND_FLOAT]
    columns = {"score": ["score", "other"]}
    paths = write_parts(tmp_path / "parts", parts, "parquet")
    for source in (parts, paths, tmp_path / "parts"):
        given: dict[str, Any] = {"predictions": source, "columns": columns}
        values = sqlrank.evaluate(["AUC", "Brier"], **given)
        assert values.sort_by("score")["AUC"].to_pylist() == [0.5, 1.0]
        (row,) = sqlrank.compare("Brier", **given).to_pylist()
        found = (row["value_baseline"], row["value"])
        assert found == pytest.approx((0.79250 / 6, 0.25))
        (row,) = sqlrank.gate("Brier", tolerance=0.5, **given).to_pylist()
        assert (row["value_baseline"], row["value"]) == found


@pytest.mark.slow
def test_a_column_that_a_file_lacks(tmp_path):
    """Refuse a weight that only some files have, wherever they are; a column that is not read may
    be missing.
    """
    parts = [INT_AND_FLOAT[1], INT_AND_FLOAT[1].append_column("weight", pa.array([2.0, 3, 4, 5]))]
    for source in name_parts(tmp_path, parts):
        with pytest.raises(InputError, match=r"has no column 'weight', which .* has. Add it"):
            sqlrank.evaluate("AUC", predictions=source)
        assert sqlrank.evaluate("KendallTau(tau=a)", predictions=[INT_AND_FLOAT[1]]).num_rows
    ranked = build_table(query_id="q", doc_id="a", score="1.0")
    for source in name_parts(
        tmp_path / "more",
        [
            ranked,
            ranked.set_column(1, "doc_id", pa.array(["b"])).append_column("rank", pa.array([2])),
        ][:1],
    ):
        assert sqlrank.evaluate("RR", run={"a": source}, qrels={"q": {"a": 1}})[
            "RR"
        ].to_pylist() == [1.0]


@pytest.mark.slow
def test_ids_that_are_numbers_in_one_file(tmp_path):
    """Compare whole numbers beside texts as texts: 7 is '7' and not '007'; refuse decimals and
    booleans beside them.
    """
    seven = build_table(query_id="q", doc_id=pa.array([7]), score="1.0")
    texts = build_table(query_id="q q", doc_id=["007", "9"], score="3.0 2.0")
    for source in name_parts(tmp_path, [seven, texts]):
        assert sqlrank.evaluate("RR", run={"a": source}, qrels={"q": {"7": 1}})[
            "RR"
        ].to_pylist() == pytest.approx([1 / 3])
    for other in (pa.array([7.0]), pa.array([True]), pa.array([Decimal("7.5")])):
        for source in (
            [seven.set_column(1, "doc_id", other), texts],
            [texts, seven.set_column(1, "doc_id", other)],
        ):
            with pytest.raises(
                InputError, match=r"run: doc_id is .* in .* and .* in .*. Give it one type"
            ):
                sqlrank.evaluate("RR", run={"a": source}, qrels={"q": {"7": 1}})


def test_numbers_in_one_file_and_texts_in_another(tmp_path):
    """Refuse it by file and column where it is a number, a group or a condition, and read the other
    columns.
    """
    numbers = INT_AND_FLOAT[1].append_column("size", pa.array([1, 2, 3, 4]))
    texts = INT_AND_FLOAT[1].append_column("size", pa.array(["1", "2", "3", "4"]))
    paths = write_parts(tmp_path / "sizes", [numbers, texts])
    for options in (
        {"by": "size"},
        {"where": "size = '1'"},
        {"columns": {"score": "size"}},
        {"columns": {"score": "size + 0"}},
    ):
        with pytest.raises(
            InputError,
            match=r"predictions: size is VARCHAR in .*01[.]parquet and BIGINT in .*00[.]parquet",
        ):
            sqlrank.evaluate("AUC", predictions=tmp_path / "sizes", **options)
    assert sqlrank.evaluate("AUC", predictions=paths).to_pylist() == [{"AUC": 1.0}]


@pytest.mark.slow
def test_decimals_of_every_scale(tmp_path):
    parts = [
        build_table(
            label="1 0", score=pa.array([Decimal("0.9"), Decimal("0.8")], pa.decimal128(3, 1))
        ),
        build_table(
            label="1 0", score=pa.array([Decimal("0.875"), Decimal("0.874")], pa.decimal128(9, 3))
        ),
    ]
    for source in name_parts(tmp_path, parts):
        assert sqlrank.evaluate("AUC", predictions=source).to_pylist() == [{"AUC": 1.0}]


def test_common_types_hold_every_value():
    """Compare the type of every pair with what DuckDB casts to and back."""
    integers = [
        "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER",
        "UBIGINT",
    ]  # fmt: skip
    connection = duckdb.connect()
    for first, second in itertools.product(integers, repeat=2):
        common = common_type([first, second])
        assert common == common_type([second, first])
        for part in (first, second):
            bits = {"TINY": 8, "SMALL": 16, "INTE": 32, "BIG": 64}[
                next(key for key in ("TINY", "SMALL", "INTE", "BIG") if key in part)
            ]
            limit = 2**bits - 1 if part.startswith("U") else 2 ** (bits - 1) - 1
            assert connection.execute(
                f"SELECT CAST(CAST({limit}::{part} AS {common}) AS {part}) = {limit}"
            ).fetchall() == [(True,)]
    assert (
        common_type(["BIGINT", "DOUBLE"])
        == common_type(["FLOAT", "SMALLINT"])
        == common_type(["FLOAT", "DECIMAL(4,2)"])
        == "DOUBLE"
    )
    assert common_type(["DECIMAL(4,2)", "DECIMAL(6,1)"]) == "DECIMAL(7,2)"
    assert common_type(['"NULL"', "VARCHAR"]) == "VARCHAR"
    for pair in (
        ("BOOLEAN", "BIGINT"),
        ("VARCHAR", "DOUBLE"),
        ("DATE", "VARCHAR"),
        ("UHUGEINT", "BIGINT"),
        ("BIGINT[]", "BIGINT"),
    ):
        assert common_type(pair) is None


TWICE = "has two columns that are named .* in any case"


def test_names_that_differ_in_case_alone(tmp_path):
    """Refuse them where one is read, from every source; DuckDB numbers them, so that another one
    would be read in silence.
    """
    columns = read_columns(label="1 0", Score="0.9 0.1", score="0.1 0.9")
    table = pa.table(list(columns.values()), names=list(columns))
    pq.write_table(table, tmp_path / "x.parquet")
    feather.write_feather(table, tmp_path / "x.feather")
    (tmp_path / "x.csv").write_text("label,Score,score\n1,0.9,0.1\n0,0.1,0.9\n")
    (tmp_path / "y.csv").write_text("label,score,score\n1,0.9,0.1\n0,0.1,0.9\n")
    (tmp_path / "x.jsonl").write_text(
        '{"label": 1, "Score": 0.9, "score": 0.1}\n{"label": 0, "Score": 0.1, "score": 0.9}\n'
    )
    connection = duckdb.connect()
    query = 'SELECT 1 AS label, 0.9 AS "Score", 0.1 AS score UNION ALL SELECT 0, 0.1, 0.9'
    files = [tmp_path / name for name in ("x.parquet", "x.feather", "x.csv", "y.csv", "x.jsonl")]
    for source in (columns, table, [table, table], *files, query):
        with pytest.raises(InputError, match=TWICE):
            sqlrank.evaluate("AUC", predictions=source)
    with pytest.raises(InputError, match=TWICE):
        sqlrank.evaluate("AUC", predictions=connection.sql(query), connection=connection)
    unread = {
        "predictions": {**columns, "size": [0.5, 0.5], "x": ["a", "b"], "X": ["b", "a"]},
        "columns": {"score": "size"},
    }
    assert sqlrank.evaluate("Brier", **unread).to_pylist() == [{"Brier": 0.25}]
    for options in (
        {"by": "x"},
        {"by": "y=UPPER(x)"},
        {"where": "x = 'a'"},
        {"unit": "x", "confidence": 0.9},
    ):
        with pytest.raises(InputError, match=TWICE):
            sqlrank.evaluate("Brier", **unread, **options)
    numbered = read_columns(label="1 0", score="0.1 0.9", score_1="0.9 0.1")
    assert sqlrank.evaluate("AUC", predictions=numbered).to_pylist() == [{"AUC": 0.0}]


@pytest.mark.parametrize("source", ["x", "x/*.jsonl", ["x/a.jsonl", "x/b.jsonl"]])
def test_keys_of_json_files_that_differ_in_case(source, tmp_path, monkeypatch):
    """Of one file without the other, the group would be NULL."""
    monkeypatch.chdir(tmp_path)
    Path("x").mkdir()
    for name, key in {"a": "g", "b": "G"}.items():
        Path(f"x/{name}.jsonl").write_text(f'{{"label": 1, "score": 0.5, "{key}": "a"}}\n')
    if isinstance(source, list):  # a union, which reads each by its own names
        assert sqlrank.evaluate("Brier", predictions=source, by="g").num_rows == 1
    else:
        with pytest.raises(InputError, match="two columns that are named 'g', in any case"):
            sqlrank.evaluate("Brier", predictions=source, by="g")
    assert sqlrank.evaluate("Brier", predictions=source)["Brier"].to_pylist() == [0.25]


def test_folders_with_the_name_of_a_column(tmp_path):
    for label in (0, 1):
        (tmp_path / f"label={label}").mkdir()
        pq.write_table(
            pa.table({"label": [1 - label], "score": [0.5 + label / 10]}),
            tmp_path / f"label={label}" / "x.parquet",
        )
    for source in (
        tmp_path,
        str(tmp_path / "*" / "*.parquet"),
        sorted(tmp_path.rglob("*.parquet")),
    ):
        with pytest.raises(
            InputError, match="label is a column of the files and of their folders"
        ) as raised:
            sqlrank.evaluate("AUC", predictions=source)
        query = str(raised.value).partition("give the query ")[2]
        if isinstance(source, list):
            continue  # of the first file
        assert sqlrank.evaluate("Brier", predictions=query)["Brier"].to_pylist() == [
            pytest.approx((0.25 + 0.36) / 2)
        ]


@pytest.mark.one_in(3)
@pytest.mark.parametrize("ending", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_columns_in_any_place(ending, tmp_path):
    """A column is that of its name in every file, whatever is before it in the first one, and also
    if a file has further columns, or its names in capital letters, which keys of JSON tell apart.
    """
    name = "score" if ending.startswith("json") else "Score"
    parts: list[dict[str, list[Any]]] = [
        read_columns(label="1 0", score="10 9", arm="a b"),
        {"arm": ["b"], name: [100], "label": [1]},
        read_columns(note="x", label="0", arm="a", more="y", score="8"),
    ]
    for number, order in enumerate(itertools.permutations(parts)):
        folder = tmp_path / str(number)
        folder.mkdir()
        for index, part in enumerate(order):
            table = pl.DataFrame(part)
            write: Callable[[Path], object] = {
                "csv": table.write_csv,
                "tsv": lambda path, table=table: table.write_csv(path, separator="\t"),
                "json": table.write_json,
                "jsonl": table.write_ndjson,
                "parquet": table.write_parquet,
            }[ending]
            write(folder / f"{index}.{ending}")
        rows = sqlrank.evaluate(["AUC", "Positives"], predictions=folder, by="arm").to_pylist()
        assert rows == [
            {"arm": "a", "AUC": 1.0, "Positives": 1.0},
            {"arm": "b", "AUC": 1.0, "Positives": 1.0},
        ]
        printed = sqlrank.sql("Positives", predictions=folder)
        assert duckdb.connect().sql(printed).fetchall() == [(2.0,)]


def test_folders_are_columns(tmp_path):
    for number, day in enumerate(("2026-01-01", "01")):
        (tmp_path / f"day={day}").mkdir()
        table = build_table(
            label="1 0", score=pa.array([1, 0]) if number else pa.array([0.5, 0.25])
        )
        pq.write_table(table, tmp_path / f"day={day}" / "x.parquet")
    rows = sqlrank.evaluate("Brier", predictions=tmp_path, by="day").to_pylist()
    assert [(row["day"], row["Brier"]) for row in rows] == [
        ("01", 0.0),
        ("2026-01-01", pytest.approx(0.15625)),
    ]


@pytest.mark.slow
def test_the_schemas_of_many_files_cost_less_than_counting_their_rows(tmp_path):
    """Compare processor times of the check and of COUNT(*) over 2,000 files."""
    import time
    from pathlib import Path as FilePath

    from sqlrank.engines.duckdb_database import group_parquet_files
    from sqlrank.engines.file_formats import find_format

    table = pa.table(
        {name: [f"{index}" for index in range(20)] for name in ("query_id", "doc_id")}
        | {"score": [index / 7 for index in range(20)]}
    )
    for index in range(2000):
        pq.write_table(table, tmp_path / f"{index:04}.parquet")
    files = [FilePath(path) for path in sorted(tmp_path.glob("*.parquet"))]
    connection = duckdb.connect()

    def measure(work: Any) -> float:
        times = []
        for _ in range(5):
            start = time.process_time()
            work()
            times.append(time.process_time() - start)
        return min(times)

    def check() -> None:
        for file in files:
            find_format("run", file)
        assert len(group_parquet_files(connection, files)) == 1

    count = measure(
        lambda: connection.execute(
            f"SELECT COUNT(*) FROM READ_PARQUET('{tmp_path}/*.parquet')"
        ).fetchall()
    )
    assert measure(check) <= 0.6 * count


def test_rollups_of_several_parts():
    """Evaluate a list of rollups as one of all their rows."""
    parts = [
        part.append_column("day", pa.array([day] * len(part)))
        for day, part in zip("xy", INT_AND_FLOAT[1:] * 2, strict=True)
    ]
    rollups = [sqlrank.rollup(["AUC"], predictions=part, by="day") for part in parts]
    both = sqlrank.rollup(["AUC"], predictions=pa.concat_tables(parts), by="day")
    assert (
        sqlrank.evaluate("AUC", rollup=rollups).to_pylist()
        == sqlrank.evaluate("AUC", rollup=both).to_pylist()
    )
