"""Parse and print metrics, with messages for everything that cannot be parsed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sqlrank
from sqlrank import Metric, MetricError


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("ndcg @ 10", "nDCG@10"),
        (" AP ", "AP"),
        ("NUM_Q", "num_q"),
        ("P( rel = 2 )@5", "P(rel=2)@5"),
        ("P(rel=2,)@5", "P(rel=2)@5"),
        ("P()@5", "P@5"),
        ("P@5.0", "P@5"),
        ("P@05", "P@5"),
        ("P@1234567", "P@1234567"),
        ("P@ 1 .. 20", "P@1..20"),
        ("nDCG(rel=2, gain=exp2)@10", "nDCG(gain=exp2, rel=2)@10"),
        ("nDCG(gain={2: 9.5, 1: 3})", "nDCG(gain={1: 3, 2: 9.5})"),
        ("11pt(points=[0.1,.2])", "11pt(points=[0.1, 0.2])"),
        ("utility(nonrel_ret=-1.5)", "utility(nonrel_ret=-1.5)"),
        ("IPrec@.1", "IPrec@0.1"),
    ],
)
def test_canonical_text(written, canonical):
    metric = sqlrank.parse(written)
    assert str(metric) == canonical
    assert sqlrank.parse(canonical) == metric


@pytest.mark.parametrize(
    "written",
    ["nDCG(gain={1.23456789: 3})", "nDCG(gain={1234567: 3})", "IPrec@0.123456789", "IPrec@0.00001"],
)
def test_no_digit_is_lost(written):
    metric = sqlrank.parse(written)
    assert sqlrank.parse(str(metric)) == metric


NUMBERS = st.one_of(st.integers(-(10**9), 10**9), st.floats(allow_nan=False, allow_infinity=False))
POSITIVE = st.floats(min_value=0, exclude_min=True, max_value=1e12)
VALUES = st.one_of(
    NUMBERS,
    st.sampled_from(["exp2", "linear", "a_b"]),
    st.lists(st.floats(0, 1), min_size=1, max_size=4).map(tuple),
    st.dictionaries(POSITIVE, POSITIVE, min_size=1, max_size=3).map(
        lambda pairs: tuple(sorted(pairs.items()))
    ),
)
METRICS = st.builds(
    Metric,
    st.sampled_from(["nDCG", "P", "AP", "11pt", "num_q", "IPrec"]),
    st.dictionaries(
        st.sampled_from(["rel", "gain", "k", "points", "multiple"]), VALUES, max_size=3
    ).map(lambda pairs: tuple(sorted(pairs.items()))),
    st.one_of(
        st.none(),
        st.integers(1, 2**31 - 1),
        st.floats(0, 1e9),
        st.tuples(st.integers(1, 50), st.integers(50, 100)),
    ),
)


@pytest.mark.slow
@given(METRICS)
@settings(max_examples=200, database=None, deadline=None)
def test_round_trip(metric):
    read = sqlrank.parse(str(metric))
    assert read == metric
    assert str(read) == str(metric)
    assert hash(read) == hash(metric)


@pytest.mark.slow
@given(st.text(max_size=30) | st.from_regex(r"P\([a-z]{1,3}=.{0,12}\)@\d{1,3}", fullmatch=True))
@settings(max_examples=200, database=None, deadline=None)
def test_any_text_is_read_or_refused_with_a_metric_error(text):
    try:
        metric = sqlrank.parse(text)
    except MetricError:
        return
    assert str(sqlrank.parse(str(metric))) == str(metric)


def test_a_numpy_number_is_a_number(run, qrels):
    numpy = pytest.importorskip("numpy")
    for value in (numpy.int64(2), numpy.float32(2)):
        assert sqlrank.evaluate("P@1", run=run, qrels=qrels, rel=value).to_pylist() == [
            {"P@1": 0.5}
        ]


def test_a_metric_requested_twice_is_one_column(run, qrels):
    assert sqlrank.evaluate(
        ["P@1", "p@1", sqlrank.parse("P@1")], run=run, qrels=qrels
    ).column_names == ["P@1"]


def test_a_metric_made_by_hand(run, qrels):
    metric = Metric("ndcg", (("gain", "exp2"),)) @ 10
    assert sqlrank.evaluate(metric, run=run, qrels=qrels).column_names == ["ndcg(gain=exp2)@10"]


@pytest.mark.one_in(3)
@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("CG(gain={1: 2.3, 4.5: 6.7})", "CG(gain={1.2: 3.4, 5: 6.7})"),
        ("CG(gain={1.0000001: 9, 1: 2})", "CG(gain={1.0000002: 9, 1: 2})"),
        ("utility(rel_ret=1.2)", "utility(rel_ret=-1.2)"),
        ("IPrec@0.1", "IPrec@1"),
    ],
)
def test_two_metrics_never_share_a_column(first, second, run, qrels):
    together = sqlrank.evaluate(
        [first, second], run=run, qrels=qrels.set_column(2, "relevance", [[1.0, 5.0]])
    ).to_pylist()[0]
    for metric in (first, second):
        alone = sqlrank.evaluate(
            metric, run=run, qrels=qrels.set_column(2, "relevance", [[1.0, 5.0]])
        )
        assert together[metric] == alone[metric][0].as_py()


@pytest.mark.slow
def test_a_sweep_has_a_row_per_cutoff(run, qrels):
    swept = sqlrank.evaluate(["P@1..3", "R(rel=2)@1..3"], run=run, qrels=qrels)
    assert swept.column_names == ["k", "P@1..3", "R(rel=2)@1..3"]
    assert swept["k"].to_pylist() == [1, 2, 3]
    for k in (1, 2, 3):
        single = sqlrank.evaluate([f"P@{k}", f"R(rel=2)@{k}"], run=run, qrels=qrels).to_pylist()[0]
        assert list(swept.to_pylist()[k - 1].values())[1:] == pytest.approx(
            list(single.values()), rel=1e-12
        )


def test_a_sweep_by_system_and_query(run, qrels):
    systems = run.append_column("system", [["x", "x", "y"]])
    swept = sqlrank.evaluate("P@1..2", run=systems, qrels=qrels, by="system", per_query=True)
    assert swept.column_names == ["system", "query_id", "k", "P@1..2"]
    assert swept.num_rows == 2 * 2 * 2


def test_a_long_sweep_takes_a_moment(run, qrels):
    assert sqlrank.evaluate("P@1..100", run=run, qrels=qrels, timeout=20).num_rows == 100
