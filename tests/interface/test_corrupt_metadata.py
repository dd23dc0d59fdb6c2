"""Damaged or forged metadata of results raise errors of this package."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sqlrank
from sqlrank import InputError, SqlrankError
from tests.interface.command_line import run_refused_command
from tests.tables import build_table

RUN = {f"q{number}": {"a": number / 3, "b": 1.0} for number in range(5)}
QRELS = {f"q{number}": {"a": 1} for number in range(5)}
BASELINE = sqlrank.evaluate("RR", run=RUN, qrels=QRELS, per_query=True)
CLICKS = build_table(label="0 1 0 1", score="0.1 0.4 0.5 0.8", g="a b a b")
DRAWN = {
    "dots": sqlrank.evaluate(["AUC", "LogLoss"], predictions=CLICKS, by="g"),
    "intervals": sqlrank.evaluate("AUC", predictions=CLICKS, confidence=0.9),
    "slices": sqlrank.evaluate("LogLoss", predictions=CLICKS, by=[["g"], []]),
    "sweep": sqlrank.evaluate("nDCG@1..3", run=RUN, qrels=QRELS),
    "curve": sqlrank.evaluate("PR", predictions=CLICKS),
    "calibration": sqlrank.evaluate("Calibration", predictions=CLICKS),
    "comparison": sqlrank.compare("RR", run={"a": RUN, "b": RUN}, qrels=QRELS),
    "differences": sqlrank.compare("RR", run={"a": RUN, "b": RUN}, qrels=QRELS, per_query=True),
}
VALUES = [
    b"", b"[{", b"\xff\xfe", b"null", b"1", b"NaN", b'"x"', b"[]", b"{}", b'{"RR": 1}', b'{"RR": {}}', b'{"AUC": {"unit": 1, "better": []}}',
    b'{"RR": {"policies": 1, "definition": []}}', b'{"RR": {"policies": {"rel": []}}}', b'{"g": 1}', b'{"g": "metric"}', b'{"nope": "by"}',
    b'{"name": 1, "settings": 2}', b'{"name": "ROC", "settings": {}}', b'{"name": "ROC", "settings": {"points": "x"}}', b"[[]]", b"[1]",
    b'[["a", "b"]]', b"[[1, 2]]", b"[" * 100_000, b"{" + b'"a":{' * 50_000, b"metrics", b"curve", b"comparison", b"differences", b"1e999",
]  # fmt: skip


def forge(result: pa.Table, key: bytes, value: bytes | None) -> pa.Table:
    metadata = {name: text for name, text in (result.schema.metadata or {}).items() if name != key}
    return result.replace_schema_metadata(metadata if value is None else {**metadata, key: value})


READ = {
    b"sqlrank.result", b"sqlrank.columns", b"sqlrank.measures", b"sqlrank.curve",
    b"sqlrank.rows", b"sqlrank.confidence",
}  # fmt: skip


def list_keys(result: pa.Table) -> list[bytes]:
    return sorted(READ & set(result.schema.metadata))


def find_message(result: pa.Table) -> str:
    """Return the error on a result that has no chart, an empty text for one with a chart; other
    errors pass.
    """
    try:
        sqlrank.chart(result)
    except SqlrankError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "key"), [(name, key) for name, result in DRAWN.items() for key in list_keys(result)]
)
def test_a_chart_of_forged_metadata(name, key):
    refusals = [find_message(forge(DRAWN[name], key, value)) for value in [*VALUES, None]]
    assert any(refusals) or key == b"sqlrank.confidence"


@pytest.mark.parametrize("value", [b"[{", b"\xff", b"1", b"[" * 100_000, b'{"AUC": 1}'])
@pytest.mark.parametrize("key", [b"sqlrank.measures", b"sqlrank.rows"])
def test_damaged_metadata_are_named(key, value):
    message = (
        f"this result has damaged metadata ({key.decode()}). Give a result as sqlrank returned or"
        " stored it"
    )
    assert find_message(forge(DRAWN["dots"], key, value)) == message


@pytest.mark.one_in(20)
@pytest.mark.parametrize(
    "value", [*VALUES, None], ids=lambda value: "none" if value is None else repr(value[:30])
)
def test_a_gate_on_a_forged_baseline(value, tmp_path):
    forged = forge(BASELINE, b"sqlrank.metrics", value)
    pq.write_table(forged, tmp_path / "base.parquet")
    for baseline in (forged, tmp_path / "base.parquet"):
        with pytest.raises(InputError, match=r"the baseline|base\.parquet"):
            sqlrank.gate("RR", run=RUN, qrels=QRELS, baseline=baseline)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(
    name=st.sampled_from(sorted(DRAWN)),
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["by", "metric", "low", "query", "ROC", "unit", "better", "AUC"]),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["AUC", "RR", "g", "name", "settings", "points"]), inner, max_size=3),
        max_leaves=6,
    ),
    place=st.integers(0, 10),
)  # fmt: skip
def test_any_metadata(name, value, place):
    keys = list_keys(DRAWN[name])
    assert "\n" not in find_message(
        forge(DRAWN[name], keys[place % len(keys)], json.dumps(value).encode())
    )


def test_columns_that_are_not_those_of_the_metadata():
    curve = DRAWN["curve"]
    for table in (
        DRAWN["dots"].set_column(1, "AUC", pa.array(["x", "y"])),
        curve.set_column(
            curve.column_names.index("recall"), "recall", pa.array([["x"]] * curve.num_rows)
        ),
    ):
        message = (
            "this result cannot be drawn: its columns are not those of its metadata. Give it as"
            " sqlrank returned it"
        )
        assert find_message(table) in {"", message}
    assert find_message(curve.drop_columns(["recall"])).startswith(
        "the result has no column 'recall' of its metadata"
    )


def test_files_that_are_no_result(tmp_path):
    (tmp_path / "text.parquet").write_text("label,score\n1,0.5\n")
    pq.write_table(BASELINE, tmp_path / "cut.parquet")
    whole = (tmp_path / "cut.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[:20] + b"\0" * (len(whole) - 28) + whole[-8:])
    for name, reason in (("text", "is no Parquet file"), ("cut", "is not readable: ")):
        path = str(tmp_path / f"{name}.parquet")
        with pytest.raises(
            InputError, match=f"{name}.parquet' {reason}.*. Store values of sqlrank.evaluate"
        ):
            sqlrank.gate("RR", run=RUN, qrels=QRELS, baseline=path)
        assert f"--result {path} {reason}" in run_refused_command(
            f"chart --result {path} -o {tmp_path}/x.svg"
        )
