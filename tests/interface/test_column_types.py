"""Columns of every type of Arrow and of DuckDB as group, id and unit: each call gives a value or an
error of this package, and the process lives.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError, SqlrankError

if TYPE_CHECKING:
    from collections.abc import Iterator

NUM_ROWS = 8

DUCKDB_TYPES = (
    "BOOLEAN", "TINYINT", "UBIGINT", "HUGEINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL(38,10)", "VARCHAR", "BLOB", "BIT", "UUID", "DATE", "TIME",
    "TIMETZ", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_NS", "TIMESTAMPTZ", "INTERVAL", "BIGNUM", "INTEGER[]", "INTEGER[2]", "VARCHAR[][]",
)  # fmt: skip

DUCKDB_VALUES = {
    "BOOLEAN": ("true", "false"), "BLOB": ("'a'::BLOB", "'\\xFF'::BLOB"), "BIT": ("'01'::BIT", "'1'::BIT"),
    "VARCHAR": ("'a'", "'b'"), "UUID": ("UUID()", "UUID()"), "DATE": ("DATE 'infinity'", "DATE '20000-01-01'"), "TIME": ("TIME '01:00'", "TIME '24:00'"),
    "TIMETZ": ("TIMETZ '01:00:00+01'", "TIMETZ '02:00:00+02'"), "TIMESTAMP": ("TIMESTAMP 'infinity'", "TIMESTAMP '2020-01-01'"),
    "TIMESTAMP_S": ("TIMESTAMP_S '20000-01-01'", "TIMESTAMP_S '2020-01-01'"), "TIMESTAMP_NS": ("TIMESTAMP_NS '2020-01-01 00:00:00.000000001'", "NULL"),
    "TIMESTAMPTZ": ("TIMESTAMPTZ '-infinity'", "TIMESTAMPTZ '2020-01-01'"), "INTERVAL": ("INTERVAL 1 MONTH", "INTERVAL 30 DAY"),
    "INTEGER[]": ("[1]", "[]"), "INTEGER[2]": ("[1, 2]", "[3, NULL]"), "VARCHAR[][]": ("[['a']]", "NULL"),
}  # fmt: skip


class TaggedText(pa.ExtensionType):  # type: ignore[misc]
    """A type of its own, which has no hash, as extension types that are written in Python."""

    def __init__(self) -> None:
        super().__init__(pa.string(), "tests.tagged_text")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""

    @classmethod
    def __arrow_ext_deserialize__(cls, storage: pa.DataType, serialized: bytes) -> TaggedText:
        return cls()


def make_arrow_columns() -> dict[str, Any]:
    """Return columns of every type of Arrow, those that ended a process first."""
    texts = pa.array(["a", "b" * 40] * (NUM_ROWS // 2))
    numbers = pa.array([0, 1] * (NUM_ROWS // 2))
    return {
        "bool": numbers.cast(pa.bool_()),
        "uint64": numbers.cast(pa.uint64()),
        "int8": numbers.cast(pa.int8()),
        "float16": pa.array(np.array([0, 1] * (NUM_ROWS // 2), np.float16)),
        "float32": numbers.cast(pa.float32()),
        "float64": numbers.cast(pa.float64()),
        "date64": pa.array([0, 86_400_000] * (NUM_ROWS // 2), pa.date64()),
        "large_string": texts.cast(pa.large_string()),
        "large_binary": texts.cast(pa.large_binary()),
        "fixed_size_list_0": pa.array([[]] * NUM_ROWS, pa.list_(pa.int64(), 0)),
        "nested_fixed_size_list_0": pa.array([[[]]] * NUM_ROWS, pa.list_(pa.list_(pa.int64(), 0))),
        "string_view": texts.cast(pa.string_view()),
        "string_view_of_short_texts": pa.array(["a", "b"] * (NUM_ROWS // 2)).cast(pa.string_view()),
        "binary_view": texts.cast(pa.binary()).cast(pa.binary_view()),
        "list_of_string_view": pa.array([["a"], []] * (NUM_ROWS // 2), pa.list_(pa.string_view())),
        "struct_of_string_view": pa.array(
            [{"a": "x"}] * NUM_ROWS, pa.struct([("a", pa.string_view())])
        ),
        "dictionary_of_string_view": pa.DictionaryArray.from_arrays(
            numbers, pa.array(["a", "b"], pa.string_view())
        ),
        "decimal_of_negative_scale": (
            pa.array([100, 200] * (NUM_ROWS // 2))
            .cast(pa.decimal128(19, 0))
            .cast(pa.decimal128(18, -2))
        ),
        "decimal256": numbers.cast(pa.decimal256(60, 2)),
        "date_infinity": pa.array([2**31 - 1, 5] * (NUM_ROWS // 2), pa.int32()).view(pa.date32()),
        "list_view": pa.array([[1], []] * (NUM_ROWS // 2), pa.list_view(pa.int64())),
        "fixed_size_list": pa.array([[1, 2]] * NUM_ROWS, pa.list_(pa.int64(), 2)),
        "struct": pa.array([{"a": 1}, None] * (NUM_ROWS // 2)),
        "map": pa.array([[("a", 1)]] * NUM_ROWS, pa.map_(pa.string(), pa.int64())),
        "dense_union": pa.UnionArray.from_dense(
            pa.array([0] * NUM_ROWS, pa.int8()), pa.array(range(NUM_ROWS), pa.int32()), [numbers]
        ),
        "sparse_union": pa.UnionArray.from_sparse(pa.array([0] * NUM_ROWS, pa.int8()), [numbers]),
        "run_end_encoded": pa.RunEndEncodedArray.from_arrays(
            pa.array([4, 8], pa.int32()), pa.array(["a", "b"])
        ),
        "tensor": pa.FixedShapeTensorArray.from_numpy_ndarray(np.zeros((NUM_ROWS, 2))),
        "null": pa.nulls(NUM_ROWS),
        "fixed_size_binary": pa.array([b"aa", b"bb"] * (NUM_ROWS // 2), pa.binary(2)),
        "month_day_nano": pa.array([pa.MonthDayNano([1, 2, 3])] * NUM_ROWS),
        "time64_ns": pa.array([1, 2] * (NUM_ROWS // 2), pa.time64("ns")),
        "duration": pa.array([1, 2] * (NUM_ROWS // 2), pa.duration("ns")),
        "timestamp_ns": pa.array([1, 2] * (NUM_ROWS // 2), pa.timestamp("ns")),
        "timestamp_far": pa.array([2**62, 2] * (NUM_ROWS // 2), pa.timestamp("s")),
        "timestamp_zone": pa.array([1, 2] * (NUM_ROWS // 2), pa.timestamp("us", "Europe/Berlin")),
        "timestamp_zone_ns": pa.array([1, 2] * (NUM_ROWS // 2), pa.timestamp("ns", "UTC")),
        "extension": pa.ExtensionArray.from_storage(TaggedText(), texts),
    }


def make_duckdb_columns() -> dict[str, Any]:
    """Return columns of every type of DuckDB, as tables of Arrow."""
    columns = {}
    for name in DUCKDB_TYPES:
        first, second = DUCKDB_VALUES.get(name, ("1", "2"))
        query = (
            f"SELECT CAST(CASE WHEN i % 2 = 0 THEN {first} ELSE {second} END AS {name}) AS x FROM"
            f" RANGE({NUM_ROWS}) AS rows(i)"
        )
        columns[name] = query
    columns["ENUM"] = (
        "SELECT CAST(CASE WHEN i % 2 = 0 THEN 'a' ELSE 'b' END AS ENUM('a', 'b')) AS x FROM"
        f" RANGE({NUM_ROWS}) AS rows(i)"
    )
    columns["STRUCT"] = f"SELECT {{'a': i % 2}} AS x FROM RANGE({NUM_ROWS}) AS rows(i)"
    columns["UNION"] = f"SELECT UNION_VALUE(a := i % 2) AS x FROM RANGE({NUM_ROWS}) AS rows(i)"
    columns["MAP"] = f"SELECT MAP {{'a': i % 2}} AS x FROM RANGE({NUM_ROWS}) AS rows(i)"
    return columns


def list_calls(source: Any, options: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield calls of the public functions that read a source, with the column as group, id and
    unit.
    """
    yield (
        "evaluate by",
        lambda: sqlrank.evaluate("Brier", predictions=source, by="x", **options).to_pylist(),
    )
    yield (
        "evaluate unit",
        lambda: sqlrank.evaluate(
            "Brier", predictions=source, unit="x", confidence=0.9, **options
        ).to_pylist(),
    )
    yield (
        "evaluate query",
        lambda: sqlrank.evaluate(
            "RR",
            run=source,
            qrels=source,
            columns={"query_id": "x", "relevance": "label"},
            per_query=True,
            **options,
        ).to_pylist(),
    )
    yield (
        "evaluate document",
        lambda: sqlrank.evaluate(
            "RR",
            run=source,
            qrels=source,
            columns={"doc_id": "x", "relevance": "label", "query_id": "doc_id"},
            **options,
        ).to_pylist(),
    )
    yield (
        "compare",
        lambda: sqlrank.compare(
            "Brier", predictions=source, columns={"score": ["score", "other"]}, unit="x", **options
        ).to_pylist(),
    )
    yield (
        "compare by",
        lambda: sqlrank.compare(
            "Brier",
            predictions=source,
            columns={"score": ["score", "other"]},
            by="x",
            unit="doc_id",
            **options,
        ).to_pylist(),
    )
    yield (
        "rollup",
        lambda: sqlrank.evaluate(
            ["Brier", "AUC"],
            rollup=sqlrank.rollup(["Brier", "AUC"], predictions=source, by="x", **options),
            by="x",
        ).to_pylist(),
    )
    yield (
        "drift by",
        lambda: sqlrank.drift(
            "AUC",
            rollup=sqlrank.rollup("AUC", predictions=source, by=["x", "arm"], **options),
            reference="arm = 'a'",
            current="arm = 'b'",
            by="x",
        ).to_pylist(),
    )
    yield (
        "gate by",
        lambda: sqlrank.gate(
            "Brier",
            predictions=source,
            columns={"score": ["score", "other"]},
            by="x",
            min_units=2,
            **options,
        ).to_pylist(),
    )
    yield (
        "chart by",
        lambda: sqlrank.chart(
            sqlrank.evaluate("Brier", predictions=source, by="x", **options)
        ).to_dict(),
    )
    yield (
        "experiment",
        lambda: sqlrank.experiment(
            "Mean(score)", data=source, unit="doc_id", variant="x", control="a", **options
        ).to_pylist(),
    )
    yield (
        "experiment unit",
        lambda: sqlrank.experiment(
            "Mean(score)", data=source, unit="x", variant="arm", control="a", **options
        ).to_pylist(),
    )
    yield "split", lambda: sqlrank.split(source, key="x", salt="s", folds=2, **options).to_pylist()
    yield "unread", lambda: sqlrank.evaluate("Brier", predictions=source, **options).to_pylist()


def try_calls(kind: str, names: list[str]) -> dict[str, str]:
    """Return the errors that are not of this package, by the type and the call."""
    problems = {}
    base = {
        "label": [0, 1] * (NUM_ROWS // 2), "score": [0.1, 0.7] * (NUM_ROWS // 2), "other": [0.2, 0.6] * (NUM_ROWS // 2),
        "doc_id": [str(index) for index in range(NUM_ROWS)], "arm": ["a", "a", "b", "b"] * (NUM_ROWS // 4),
    }  # fmt: skip
    for name in names:
        options = {}
        if kind == "arrow":
            source = pa.table({**base, "x": make_arrow_columns()[name]})
        else:
            connection = duckdb.connect()
            connection.register("base", pa.table({**base, "i": range(NUM_ROWS)}))
            connection.execute(
                "CREATE TABLE x AS SELECT base.*, x.x FROM base POSITIONAL JOIN"
                f" ({make_duckdb_columns()[name]}) AS x"
            )
            source, options = "x", {"connection": connection}
        for call, run in list_calls(source, options):
            sys.stderr.write(f"{name}: {call}\n")
            try:
                run()
            except SqlrankError:
                pass
            except BaseException as error:  # noqa: BLE001  any other error is what is looked for
                problems[f"{name}: {call}"] = f"{type(error).__name__}: {error}"[:200]
                sys.stderr.write(f"{problems}\n")
    return problems


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["arrow", "duckdb"])
def test_every_type_gives_a_value_or_an_error(kind):
    names = [*(make_arrow_columns() if kind == "arrow" else make_duckdb_columns())]
    child = subprocess.run(
        [sys.executable, "-m", __name__, kind, *names],
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert child.returncode == 0, child.stderr.splitlines()[-3:]
    assert json.loads(child.stdout) == {}


@pytest.mark.parametrize(
    "name",
    ["fixed_size_list_0", "string_view", "decimal_of_negative_scale", "dense_union", "extension"],
)
def test_types_that_are_not_read_end_no_process(name):
    source = pa.table(
        {"label": [0, 1] * 4, "score": [0.1, 0.7] * 4, "x": make_arrow_columns()[name]}
    )
    assert sqlrank.evaluate("AUC", predictions=source).to_pylist() == [{"AUC": 1.0}]


@pytest.mark.parametrize(
    "value", ["DATE 'infinity'", "DATE '20000-01-01'", "TIMESTAMP '-infinity'"]
)
def test_times_beyond_python(value):
    query = (
        f"SELECT 1 AS label, 0.5 AS score, {value} AS day UNION ALL SELECT 0, 0.5, DATE"
        " '2026-01-01'"
    )
    with pytest.raises(
        InputError, match=r"column 'day' has a .* that Python does not hold, such as infinity"
    ):
        sqlrank.evaluate("Brier", predictions=query, by="day")
    assert (
        sqlrank.evaluate("Brier", predictions=query, by="text=CAST(day AS VARCHAR)").num_rows == 2
    )


def test_groups_are_named_by_their_values():
    values = [
        "123456789012345678901234567890123456789012345::BIGNUM", "'0101'::BIT", "TIMETZ '12:00:00+01'",
        "340282366920938463463374607431768211455::UHUGEINT", "170141183460469231731687303715884105727::HUGEINT",
    ]  # fmt: skip
    for value in values:
        text = duckdb.sql(f"SELECT CAST({value} AS VARCHAR)").fetchall()[0][0]
        table = f"SELECT 1 AS label, 0.5 AS score, {value} AS x"
        for by in ("x", f"value={value}"):
            result = sqlrank.evaluate("Brier", predictions=table, by=by)
            assert str(result[by.partition("=")[0]][0].as_py()) == text
        run = f"SELECT {value} AS query_id, 1 AS doc_id, 0.5 AS score"
        qrels = f"SELECT {value} AS query_id, 1 AS doc_id, 1 AS relevance"
        result = sqlrank.evaluate("AP", run=run, qrels=qrels, per_query=True)
        assert [str(cell.as_py()) for cell in result.columns[0]] == [text]
        assert result["AP"].to_pylist() == [1.0]


@pytest.mark.parametrize("name", ["list_view", "fixed_size_list", "struct", "map"])
def test_nested_groups_of_rollups(name):
    source = pa.table(
        {"label": [0, 1] * 4, "score": [0.1, 0.7] * 4, "x": make_arrow_columns()[name]}
    )
    rollup = sqlrank.rollup("AUC", predictions=source, by="x")
    for result in (
        sqlrank.evaluate("AUC", predictions=source, by="x"),
        sqlrank.evaluate("AUC", rollup=rollup, by="x"),
    ):
        assert result["AUC"].to_pylist() == ([1.0] if result.num_rows == 1 else [None, None])


@pytest.mark.slow
def test_groups_of_reports():
    rows = {
        "label": [0, 1] * 20,
        "score": [0.1, 0.7] * 20,
        "my col": ["a", "b"] * 20,
        "st": [{"a": 1}] * 40,
        "values": [[1]] * 40,
    }
    assert "my col" in str(sqlrank.report("AUC", predictions=rows, by='"my col"'))
    for name in ("st", "values"):
        with pytest.raises(
            InputError,
            match=(
                f"by: {name} is .*, and a report shows groups as single values. Group by a text"
                " of it"
            ),
        ):
            sqlrank.report("AUC", predictions=rows, by=name)
        assert sqlrank.report("Brier", predictions=rows, by=f"{name}_text=CAST({name} AS VARCHAR)")


if __name__ == "__main__":
    sys.stdout.write(json.dumps(try_calls(sys.argv[1], sys.argv[2:])))
