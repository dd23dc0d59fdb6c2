"""Tables in memory, of any library, and the roles that they play."""

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sqlrank
from sqlrank import InputError, SqlrankError
from tests.interface.inputs import EXPECTED, evaluate, refused
from tests.tables import build_table, read_columns


def to_polars(table: pa.Table) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


def to_pandas(table: pa.Table) -> Any:
    return table.to_pandas().iloc[::-1]


@pytest.mark.parametrize(
    "make",
    [
        lambda table: table,
        lambda table: table.to_batches()[0],
        lambda table: table.to_reader(),
        to_polars,
        to_pandas,
        lambda table: to_pandas(table).astype({"query_id": "category", "doc_id": "category"}),
        lambda table: to_polars(table).cast({"doc_id": pytest.importorskip("polars").Categorical}),
        lambda table: to_polars(table).cast(
            {"doc_id": pytest.importorskip("polars").Enum(table["doc_id"].unique().to_pylist())}
        ),
    ],
    ids=[
        "Table", "RecordBatch", "RecordBatchReader", "Polars", "pandas", "pandas category",
        "Polars Categorical", "Polars Enum",
    ],
)  # fmt: skip
def test_arrow_sources(make, run, qrels):
    assert evaluate(make(run), make(qrels)) == EXPECTED


@pytest.mark.parametrize(
    "source",
    [[("q1", "a", 1.0)], 5, object(), np.ones((2, 3))],
    ids=["list", "int", "object", "array"],
)
def test_what_is_not_a_table_is_refused(source, qrels):
    refused(
        "run: cannot read a ",
        "ive a table name, a file, a DuckDB relation",
        run=source,
        qrels=qrels,
    )


def test_a_lazy_frame_is_collected(run, qrels):
    assert evaluate(to_polars(run).lazy(), to_polars(qrels).lazy()) == EXPECTED


def test_lazy_frames_are_to_be_collected(qrels):
    class LazyFrame:
        def collect(self) -> None:
            raise AssertionError

    refused("cannot read a LazyFrame. Collect it into a table first", run=LazyFrame(), qrels=qrels)


RUN = {"q1": {"a": 0.9, "b": 0.5}, "q2": {"a": 1}}
QRELS = {"q1": {"b": 1}, "q2": {"a": 2}}


@pytest.mark.slow
def test_maps_of_queries_to_documents():
    """As ranx and pytrec_eval take them."""
    assert evaluate(RUN, QRELS) == EXPECTED
    assert evaluate({**RUN, "q3": {}}, QRELS) == EXPECTED
    numbers = {1: {7: np.float32(0.9), 8: np.float32(0.5)}, 2: {7: 1}}
    assert evaluate(numbers, {1: {8: np.int64(1)}, 2: {7: 1}}) == EXPECTED
    assert evaluate(numbers, {1: {8: True}, 2: {7: True}}) == EXPECTED
    got = sqlrank.evaluate("RR", run={"x": RUN, "y": {"q1": {"b": 1.0}}}, qrels=QRELS).to_pylist()
    assert got == [{"system": "x", "RR": 0.75}, {"system": "y", "RR": 0.5}]


def test_the_example_of_pytrec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrel = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
    run = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5}, "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}
    theirs = pytrec_eval.RelevanceEvaluator(qrel, {"map", "ndcg"}).evaluate(run)
    ours = sqlrank.evaluate(["MAP", "nDCG"], run=run, qrels=qrel, per_query=True).to_pylist()
    for row in ours:
        assert (row["MAP"], row["nDCG"]) == pytest.approx(
            (theirs[row["query_id"]]["map"], theirs[row["query_id"]]["ndcg"]), rel=1e-12
        )


def test_maps_of_other_roles_are_refused(run, qrels):
    refused("predictions: cannot read a dict", metrics="AUC", predictions={"q1": {"a": 1.0}})
    refused(
        "queries: cannot read a dict whose 'q1' has 1.0. Write {column: values}",
        run=run,
        qrels=qrels,
        queries={"q1": 1.0},
    )
    refused(
        "qrels: sources by name are those of systems, and there is one run. Give one of each",
        "or {query: {document: relevance}}",
        run=run,
        qrels={"q1": "a"},
    )


RANKED = {"q1": ["d3", "d1"], "q2": ["d9"]}
TYPES = [("query_id", "U2"), ("doc_id", "U2"), ("score", "f8")]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("found", "judged", "columns"),
    [
        (RANKED, {"q1": {"d1": 1}, "q2": {"d9": 1}}, {}),
        (RANKED, {"q1": ["d1"], "q2": {"d9"}}, {}),
        ({"q1": ("d3", "d1"), "q2": ["d9"], "q3": []}, {"q1": ["d1"], "q2": ["d9"]}, {}),
        (
            read_columns(user="q1 q1 q2", item="d3 d1 d9", p="0.2 0.1 0.5"),
            {"user": np.array(["q1", "q2"]), "item": ["d1", "d9"], "stars": np.array([1, 1])},
            {"query_id": "user", "doc_id": "item", "score": "p", "relevance": "stars"},
        ),
        (
            [
                {"query_id": "q1", "doc_id": "d3", "score": 2},
                {"query_id": "q1", "doc_id": "d1", "score": 1.5},
                {"query_id": "q2", "doc_id": "d9", "score": 1},
            ],
            [
                {"query_id": "q1", "doc_id": "d1", "relevance": 1},
                {"query_id": "q2", "doc_id": "d9", "relevance": 1},
            ],
            {},
        ),
        (
            np.array([("q1", "d3", 2.0), ("q1", "d1", 1.0), ("q2", "d9", 1.0)], dtype=TYPES),
            {"q1": ["d1"], "q2": ["d9"]},
            {},
        ),
        (
            np.rec.array([("q1", "d3", 2.0), ("q1", "d1", 1.0), ("q2", "d9", 1.0)], dtype=TYPES),
            {"q1": ["d1"], "q2": ["d9"]},
            {},
        ),
    ],
)
def test_lists_and_columns_and_records(found, judged, columns):
    assert sqlrank.evaluate("RR", run=found, qrels=judged, columns=columns).to_pylist() == [
        {"RR": 0.75}
    ]
    systems = sqlrank.evaluate(
        "RR", run={"a": found, "b": found}, qrels=judged, columns=columns
    ).to_pylist()
    assert systems == [{"system": "a", "RR": 0.75}, {"system": "b", "RR": 0.75}]


def test_lists_of_numbers():
    assert sqlrank.evaluate(
        "RR", run={"q1": [3, 1], "q2": [9]}, qrels={"q1": [1], "q2": [9]}
    ).to_pylist() == [{"RR": 0.75}]


def test_predictions_of_other_shapes():
    for table in (
        [{"label": 1, "score": 0.2}, {"label": 0, "score": 0.1}],
        np.rec.fromarrays([[1, 0], [0.2, 0.1]], names="label,score"),
        {"label": np.array([1, 0]), "score": pd.Series([0.2, 0.1])},
    ):
        assert sqlrank.evaluate(["AUC", "num_predictions"], predictions=table).to_pylist() == [
            {"AUC": 1.0, "num_predictions": 2.0}
        ]


def test_lists_of_other_ids_are_refused():
    refused(
        "run: the queries or documents of this dict are of different types",
        run={"q1": ["d3", 1]},
        qrels={"q1": ["d3"]},
    )
    refused(
        "run (dict): (query_id, doc_id) occurs more than once",
        run={"q1": ["d3", "d3"]},
        qrels={"q1": ["d3"]},
    )
    refused(
        "run: there is no table and no file named 'b.parquet'",
        run={"q1": ["b.parquet"]},
        qrels={"q2": ["d3"]},
    )


def test_predictions():
    table = build_table(query_id="q1 q1 q2", doc_id="a b a", score="0.9 0.5 1.0", label="0 1 2")
    assert evaluate(None, None, predictions=table) == EXPECTED
    assert evaluate(None, None, predictions=table.to_reader()) == EXPECTED, (
        "a stream can be read once only, but plays both roles"
    )
    clicks = table.rename_columns(["query_id", "doc_id", "score", "click"])
    assert evaluate(None, None, predictions=clicks, columns={"label": "click"}) == EXPECTED
    assert evaluate(None, None, predictions=clicks, columns={"relevance": "click"}) == EXPECTED


@pytest.mark.parametrize("column", ["label", "relevance"])
def test_a_null_label_of_predictions_is_no_judgment(column):
    table = pa.table(
        {
            "query_id": ["q", "q", "q"],
            "doc_id": ["a", "b", "c"],
            "score": [3, 2, 1],
            column: [None, 1, 0],
        }
    )
    assert sqlrank.evaluate(["num_unjudged", "RR"], predictions=table).to_pylist() == [
        {"num_unjudged": 1.0, "RR": 0.5}
    ]


def test_a_null_label_of_qrels_is_not_dropped_silently(run):
    labels = build_table(query_id="q1 q2", doc_id="b a", label="1 NULL")
    refused("relevance", run=run, qrels=labels)


def test_predictions_without_any_label():
    table = build_table(query_id="q", doc_id="a", score="1.0", label=pa.nulls(1, pa.int64()))
    refused("label", predictions=table)


def test_roles_that_are_missing_or_too_many(run, qrels):
    refused("no run. Ranking metrics need run= and qrels=, or predictions=", qrels=qrels)
    refused("no run and no qrels")
    refused("either predictions", predictions=run, run=run)


def test_an_index_of_pandas_without_a_name_is_no_column():
    frame = pd.DataFrame(read_columns(label="1 0 0", p="0.9 0.2 0.4")).sort_values("p")
    with pytest.raises(InputError, match=r"There are: label, p$"):
        sqlrank.evaluate("AUC", predictions=frame)
    assert sqlrank.evaluate("AUC", predictions=frame, columns={"score": "p"}).to_pylist() == [
        {"AUC": 1.0}
    ]
    named = frame.rename_axis("campaign")
    assert sqlrank.evaluate("Brier", predictions=named, by="campaign", columns={"score": "p"})[
        "campaign"
    ].to_pylist() == [0, 1, 2]


def test_a_period_of_pandas_is_its_number():
    """Arrow has the ordinal alone: months and days since 1970."""
    months = pd.period_range("2026-01", periods=2, freq="M").repeat(2)
    table = pd.DataFrame({"label": [0, 1, 1, 0], "score": [0.1, 0.7, 0.4, 0.5], "month": months})
    result = sqlrank.evaluate("AUC", predictions=table, by="month")
    assert (result.to_pylist(), result.schema.field("month").type) == (
        [{"month": 672, "AUC": 1.0}, {"month": 673, "AUC": 0.0}],
        pa.int64(),
    )
    days = table.assign(day=pd.PeriodIndex(["2026-01-01", None, "2026-01-01", None], freq="D"))
    assert sqlrank.evaluate("Positives", predictions=days, by="day")["day"].to_pylist() == [
        None,
        20454,
    ]
    texts = sqlrank.evaluate(
        "AUC", predictions=table.assign(month=table["month"].astype(str)), by="month"
    )
    assert texts["month"].to_pylist() == ["2026-01", "2026-02"]


LABELS, SCORES = [0, 1, 1], [0.1, 0.7, 0.4]
FRAME = pd.DataFrame({"label": LABELS, "score": SCORES})
POLARS = pl.DataFrame({"label": LABELS, "score": SCORES})


class Broken:
    """A table whose library fails."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        raise self.error


class PanicException(BaseException):
    """The error that Polars raises for a panic of its Rust code; it is not an ``Exception``."""


def make_broken_stream() -> pa.RecordBatchReader:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"label": [0], "score": [0.5]})
        raise RuntimeError("it broke")

    return pa.RecordBatchReader.from_batches(
        pa.schema({"label": pa.int64(), "score": pa.float64()}), batches()
    )


def make_closed_relation() -> duckdb.DuckDBPyRelation:
    connection = duckdb.connect()
    relation = connection.sql("SELECT 1 AS label, 0.5 AS score")
    connection.close()
    return relation


@pytest.mark.parametrize(
    ("make", "parts"),
    [
        (
            lambda: pd.concat([FRAME, FRAME["score"]], axis=1),
            ["two columns are named 'score'. Rename one of them, or leave it out"],
        ),
        (
            lambda: pa.table([LABELS, SCORES, SCORES], names=["label", "score", "score"]),
            ["two columns are named 'score'. Rename one"],
        ),
        (
            lambda: FRAME.assign(score=pd.arrays.SparseArray(SCORES)),
            [
                "column 'score' (Sparse[float64, nan]) cannot be read: Sparse pandas data",
                ". Convert it to numbers or texts of one type",
            ],
        ),
        (
            lambda: FRAME.assign(x=np.array(SCORES, complex)),
            ["column 'x' (complex128) cannot be read: Unsupported numpy type"],
        ),
        (
            lambda: FRAME.assign(x=["a", 1, 2.0]),
            ["column 'x' (object) cannot be read: ", "of one type, or leave it out"],
        ),
        (
            lambda: FRAME.assign(x=[object(), 1, 2]),
            ["column 'x' (object) cannot be read: Could not convert"],
        ),
        (
            lambda: FRAME.assign(x=[10**30, 1, 2]),
            ["column 'x' (object) has integers beyond 64 bits. Convert it to texts, or leave"],
        ),
        (
            lambda: [{"label": 1, "score": 0.5, "x": [2**70]}],
            ["column 'x' has integers beyond 64 bits. Convert it to texts"],
        ),
        (
            lambda: FRAME.assign(x=["\ud800", "b", "c"]),
            ["column 'x' (object) cannot be read: 'utf-8' codec"],
        ),
        (
            lambda: POLARS.with_columns(pl.col("label").cast(pl.Int128)),
            ["column 'label' (Int128) cannot be read: "],
        ),
        (
            lambda: pl.Series("score", SCORES),
            [
                (
                    "a Series is one column. Write {'label': y_true, 'score': y_score}, or give a data"
                    " frame"
                )
            ],
        ),
        (
            lambda: FRAME["score"],
            [
                (
                    "a Series is one column. Write {'label': y_true, 'score': y_score}, or give a data"
                    " frame"
                )
            ],
        ),
        (
            lambda: POLARS.lazy().select("nope"),
            [
                'the LazyFrame cannot be collected: unable to find column "nope"',
                ". Call collect() on it to see where it fails",
            ],
        ),
        (
            lambda: pl.scan_parquet("nope.parquet"),
            ["the LazyFrame cannot be collected: No such file or directory"],
        ),
        (lambda: Broken(KeyError("x")), ["cannot read this Broken: 'x'. Give a table name"]),
        (
            lambda: Broken(PanicException("it panicked")),
            ["cannot read this Broken: it panicked. Give a table name"],
        ),
        (make_broken_stream, ["cannot read this RecordBatchReader: ", "it broke"]),
        (
            lambda: pa.table(
                {"label": LABELS, "score": pa.array([Decimal(10) ** 60, 1, 2], pa.decimal256(70))}
            ),
            ["column 'score' has decimals of more than 38 digits. Cast it to float64"],
        ),
        (
            lambda: pa.table(
                {"label": LABELS, "score": pa.nulls(3, pa.dense_union([pa.field("a", pa.int64())]))}
            ),
            [
                (
                    "column 'score' of type dense_union<a: int64=0> cannot be read. Convert it to"
                    " numbers or texts of one type"
                )
            ],
        ),
        (
            make_closed_relation,
            [
                (
                    "cannot read the DuckDB relation: Connection Error: Connection has already been"
                    " closed"
                )
            ],
        ),
        (
            lambda: duckdb.connect().sql("SELECT ERROR('it fails') AS label, 0.5 AS score"),
            ["cannot read the DuckDB relation: ", "it fails"],
        ),
    ],
)
def test_tables_that_their_library_cannot_hand_over(make, parts):
    """A column that is not read can hold anything."""
    by = "x" if "column 'x'" in parts[0] else ()
    if by:
        assert sqlrank.evaluate("AUC", predictions=make()).num_rows
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AUC", predictions=make(), by=by)
    message = str(caught.value)
    assert message.startswith("predictions: ")
    assert all(part in message for part in parts), message
    assert "\n" not in message


def test_the_error_of_a_library_is_the_cause():
    with pytest.raises(InputError) as caught:
        sqlrank.evaluate("AUC", predictions=Broken(KeyError("x")))
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_what_is_no_error_of_a_library_passes(error):
    with pytest.raises(sqlrank.ExecutionError if error is MemoryError else error):
        sqlrank.evaluate("AUC", predictions=Broken(error()))


@pytest.mark.parametrize(
    "scores",
    [
        pa.array(np.array([0.125, 0.75, 0.5], "float16")),
        pa.array([Decimal("0.1"), Decimal("0.7"), Decimal("0.4")], pa.decimal256(50, 2)),
        pa.array([Decimal("0.1"), Decimal("0.7"), Decimal("0.4")], pa.decimal128(38, 2)),
    ],
    ids=["half", "decimal256", "decimal128"],
)
def test_numbers_that_duckdb_has_no_type_for(scores):
    table = pa.table({"label": LABELS, "score": scores})
    expected = sqlrank.evaluate(
        ["AUC", "LogLoss"], predictions=table.set_column(1, "score", scores.cast(pa.float64()))
    ).to_pylist()[0]
    assert sqlrank.evaluate(["AUC", "LogLoss"], predictions=table).to_pylist()[0] == pytest.approx(
        expected, rel=1e-14
    )
    assert sqlrank.evaluate(
        "AUC", predictions=FRAME.assign(score=FRAME["score"].astype("float16"))
    ).to_pylist() == [{"AUC": 1.0}]


def test_maps_of_numbers_that_are_too_large(qrels):
    refused(
        "run: cannot read a dict whose query 'q1' has 1000",
        "which is no number that a double holds",
        run={"q1": {"a": 10**400}},
        qrels=qrels,
    )
    refused(
        "run: the queries or documents of this dict are integers beyond 64 bits. Make them texts",
        run={10**30: {1: 1.0}},
        qrels=qrels,
    )


def test_a_map_of_columns_is_a_table_of_predictions():
    labels, scores = [0, 1, 1, 0], np.array([0.1, 0.7, 0.4, 0.5])
    for table in (
        {"label": labels, "score": scores},
        {"label": pa.array(labels), "score": pl.Series(scores)},
    ):
        assert sqlrank.evaluate("AUC", predictions=table).to_pylist() == [{"AUC": 0.75}]
    refused(
        "predictions: the columns differ in length: label has 4, score has 2. Give each row a value"
        " in every column",
        metrics="AUC",
        predictions={"label": labels, "score": scores[:2]},
    )


LISTS = build_table(query_id="q q q", doc_id="a b c", label="0 1 0", score="0.1 0.4 0.9")


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("RR", {"plan": {"score_order": "nonsense"}}),
        ("RR", {"by": "nothing"}),
        ("AUC", {"where": "nothing = 1"}),
        ("AUC", {"columns": {"label": "nothing"}}),
        ("AUC", {"columns": {"label": "doc_id"}}),
        ("AUC", {"inputs": {"items": "no table"}}),
        ("RR", {"dialect": "duckdb", "connection": 5}),
        ("nothing", {}),
    ],
)
def test_a_call_that_is_refused_leaves_a_stream_unread(metric, options):
    stream = LISTS.to_reader()
    with pytest.raises(SqlrankError):
        sqlrank.evaluate(metric, predictions=stream, **options)
    assert stream.read_all() == LISTS


@pytest.mark.slow
def test_a_stream_is_read_once_for_all_parts_of_a_call():
    expected = sqlrank.explain("RR", query="q", predictions=LISTS)
    assert str(sqlrank.explain("RR", query="q", predictions=LISTS.to_reader())) == str(expected)
    run, qrels = (
        LISTS.select(["query_id", "doc_id", "score"]),
        build_table(query_id="q", doc_id="b", relevance="1"),
    )
    expected = sqlrank.explain("RR", query="q", run=run, qrels=qrels)
    assert str(
        sqlrank.explain("RR", query="q", run=run.to_reader(), qrels=qrels.to_reader())
    ) == str(expected)
    assert sqlrank.evaluate(["RR", "AUC"], predictions=LISTS.to_reader()).to_pylist() == [
        {"RR": 0.5, "AUC": 0.5}
    ]
    streams = {"run": {"old": run.to_reader(), "new": run.to_reader()}, "qrels": qrels.to_reader()}
    queries = build_table(query_id="q", kind="rare").to_reader()
    result = sqlrank.compare("RR", **streams, queries=queries, by=[["kind"], []])
    assert result["value"].to_pylist() == [0.5, 0.5]


class Once:
    """A stream of the protocol alone, which can be opened once."""

    def __init__(self, table: pa.Table) -> None:
        self.left = [table]

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.left.pop().__arrow_c_stream__(requested_schema)


@pytest.mark.slow
def test_a_stream_of_any_library_is_opened_once():
    expected = sqlrank.explain("RR", query="q", predictions=LISTS)
    assert str(sqlrank.explain("RR", query="q", predictions=Once(LISTS))) == str(expected)
    stream = Once(LISTS)
    with pytest.raises(SqlrankError, match=r"^unknown plan"):
        sqlrank.evaluate("RR", predictions=stream, plan={"speed": "high"})
    assert stream.left == [LISTS]


def test_an_input_is_given_once(run, qrels):
    queries = build_table(query_id="q1")
    refused(
        "queries= and inputs={'queries': ...} are both given. Give the table once, and the policy as topics='given'",
        run=run, qrels=qrels, queries="given", inputs={"queries": queries},
    )  # fmt: skip
    refused(
        "run= and inputs={'run': ...} are both given. Give the table once",
        run=run,
        qrels=qrels,
        inputs={"run": run},
    )
    assert sqlrank.evaluate("num_q", run=run, qrels=qrels, queries=queries, topics="given")[
        "num_q"
    ].to_pylist() == [1.0]
