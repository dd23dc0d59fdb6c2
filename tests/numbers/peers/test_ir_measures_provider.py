"""The provider of ir_measures beside the ones that ir_measures chooses itself, from every kind of
input that it takes.
"""

from __future__ import annotations

import contextlib
import json
import math
import random
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from ir_measures import ERR, P, nDCG
from ir_measures.util import Qrel, ScoredDoc

from sqlrank import SqlrankError
from sqlrank.integrations.ir_measures import provider, to_metric
from tests.numbers.peers.test_ir_measures import draw_collection
from tests.tables import read_columns

EXACT = [
    *(
        "AP", "AP@3", "AP(rel=2)", "AP(judged_only=True)@5", "Bpref", "Bpref(rel=2)", "infAP",
        "IPrec@0.1", "IPrec@1.0", "Judged", "Judged@3",
    ),
    *(
        "nDCG", "nDCG@3", "nDCG(judged_only=True)", "NumQ", "NumRel", "NumRet", "NumRet(rel=2)",
        "P@3", "P(rel=2)@5",
    ),
    *(
        "P(judged_only=True)@2", "R@3", "Rprec", "RR", "RR@3", "RR(rel=2)@3", "SetAP", "SetF",
        "SetF(beta=4.0)", "SetP", "SetP(relative=True)",
    ),
    *("SetR", "Success@1", "Success@3"),
]  # fmt: skip
GDEVAL_MEASURES = ["nDCG(dcg='exp-log2')@3", "nDCG(dcg='exp-log2')@20", "ERR@3", "ERR@20"]
QRELS = (
    "0 0 D0 0\n0 0 D1 1\n0 0 D2 1\n0 0 D3 2\n0 0 D4 -1\n1 0 D0 1\n1 0 D3 2\n1 0 D5 2\n2 0 D1 1\n"
)
RUN = (
    "0 0 D0 1 0.8 run\n0 0 D2 2 0.7 run\n0 0 D1 3 0.3 run\n0 0 D3 4 0.4 run\n0 0 D4 5 0.1 run\n"
    "1 0 D1 1 0.8 run\n1 0 D3 2 0.7 run\n1 0 D4 3 0.3 run\n1 0 D2 4 0.4 run\n3 0 D1 1 0.5 run\n"
)
"""The collection of the tests of ir_measures, with a negative grade, an unanswered query and one
without judgments.
"""


def collect_values(calculated: Any) -> dict[tuple[str, str], float]:
    per_query = {
        (str(item.query_id), str(item.measure)): item.value for item in calculated.per_query
    }
    return per_query | {
        ("all", str(measure)): value for measure, value in calculated.aggregated.items()
    }


def check(names: list[str], qrels: Any, run: Any, tolerance: float = 1e-9) -> None:
    measures = [ir_measures.parse_measure(name) for name in names]
    assert all(provider.supports(measure) for measure in measures)
    # One measure a call: together, ir_measures 0.4.3 may give one the judgments or gains of
    # another.
    expected = {
        key: value
        for measure in measures
        for key, value in collect_values(ir_measures.calc([measure], qrels, run)).items()
    }
    assert collect_values(provider.calc(measures, qrels, run)) == pytest.approx(
        expected, abs=tolerance
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("names", "tolerance"),
    [(EXACT, 1e-9), (GDEVAL_MEASURES, 5.1e-6)],
    ids=["exact", "five decimals"],
)
def test_values_of_the_collection_of_ir_measures(names, tolerance):
    check(
        names,
        list(ir_measures.read_trec_qrels(QRELS)),
        list(ir_measures.read_trec_run(RUN)),
        tolerance,
    )


def test_gains_of_their_own():
    """Alone: beside nDCG the default provider may give that the same gains."""
    check(
        ["nDCG(gains={1:3,2:9})@3"],
        list(ir_measures.read_trec_qrels(QRELS)),
        list(ir_measures.read_trec_run(RUN)),
    )


@pytest.mark.slow
@pytest.mark.parametrize("seed", [111, 112])
def test_values_of_random_collections(seed):
    """Single precision and the greatest id first for trec_eval's measures beside double precision
    and the smallest for RR@k and Judged.
    """
    data = draw_collection(seed)
    check(
        [name for name in EXACT if "IPrec" not in name and "judged_only" not in name],
        data.qrels_dict,
        data.run_dict,
    )


def test_a_document_of_negative_grade_is_judged():
    qrels, run = {"q": {"a": 1, "b": -1}}, {"q": {"a": 1.0, "b": 0.5, "c": 0.25}}
    check(["Judged@2", "Judged@10"], qrels, run)
    assert provider.calc_aggregate([ir_measures.Judged @ 2], qrels, run) == {
        ir_measures.Judged @ 2: 1.0
    }


@pytest.mark.parametrize("kind", ["dicts", "tuples", "frames", "numbers"])
def test_every_kind_of_input(kind):
    qrels, run = list(ir_measures.read_trec_qrels(QRELS)), list(ir_measures.read_trec_run(RUN))
    measures = [nDCG @ 3, P @ 2]
    expected = collect_values(ir_measures.calc(measures, qrels, run))
    inputs = {
        "tuples": (iter(qrels), iter(run)),
        "dicts": (
            ir_measures.util.QrelsConverter(qrels).as_dict_of_dict(),
            ir_measures.util.RunConverter(run).as_dict_of_dict(),
        ),
        **{
            name: tuple(_make_frame(rows, name == "numbers") for rows in (qrels, run))
            for name in ("frames", "numbers")
        },
    }
    assert collect_values(provider.calc(measures, *inputs[kind])) == pytest.approx(expected)


def _make_frame(rows: Any, is_numeric: bool) -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(rows)
    return frame.assign(query_id=frame["query_id"].astype(int)) if is_numeric else frame


def test_nothing_retrieved_or_judged():
    qrels, run = {"q": {"a": 1}}, {"q": {"a": 1.0}}
    assert collect_values(provider.calc([P @ 2], qrels, {})) == {("q", "P@2"): 0, ("all", "P@2"): 0}
    assert provider.calc([P @ 2], {}, run).per_query == []


def test_it_stands_before_other_providers():
    assert ir_measures.providers.registry["sqlrank"] is provider
    accuracy = ir_measures.parse_measure("Accuracy")
    assert not provider.supports(accuracy)
    assert not provider.supports(ir_measures.parse_measure("RBP"))
    pipeline = ir_measures.providers.FallbackProvider([provider, ir_measures.DefaultPipeline])
    qrels, run = {"1": {"a": 1, "b": 0}}, {"1": {"a": 1.0, "b": 2.0}}
    found = pipeline.calc_aggregate([accuracy, ERR @ 5, nDCG], qrels, run)
    assert found == pytest.approx(
        ir_measures.calc_aggregate([accuracy, ERR @ 5, nDCG], qrels, run), abs=5.1e-6
    )


@pytest.mark.slow
def test_measures_of_subtopics_are_those_of_ndeval():
    golden = json.loads(Path(__file__).with_name("ndeval.json").read_text(encoding="utf-8"))
    qrels = [
        Qrel(query, doc, grade, subtopic)
        for query, docs in golden["qrels"].items()
        for doc, grades in docs.items()
        for subtopic, grade in grades.items()
    ]
    run = [
        ScoredDoc(query, doc, -rank)
        for query, docs in golden["run"].items()
        for rank, doc in enumerate(docs)
    ]
    case = golden["values"][0]
    assert (case["alpha"], case["beta"]) == (0.5, 0.5)
    names = {"strec": "StRecall", "MAP-IA": "AP_IA"}
    measures = {}
    for theirs in case["of"]:
        name, at, cutoff = theirs.partition("@")
        measures[theirs] = ir_measures.parse_measure(
            names.get(name, name.replace("-", "_")) + at + cutoff
        )
    assert all(
        provider.supports(measures[theirs]) for theirs in ("alpha-nDCG@5", "NRBP", "strec@2")
    )
    assert provider.qrel_inputs(measures.values())[-1] == "iteration"
    found = {
        (item.query_id, item.measure): item.value
        for item in provider.calc([*measures.values(), nDCG @ 5], qrels, run).per_query
    }
    for theirs, measure in measures.items():
        for query, value in zip(sorted(golden["run"]), case["of"][theirs], strict=True):
            assert found[query, measure] == pytest.approx(
                0 if math.isnan(value) else value, abs=1e-11
            ), (theirs, query)


VALUES = read_columns(
    cutoff="0 1 3 20000",
    recall="-0.1 0.1 1.0 1.5",
    rel="-1 0 1 2",
    judged_only=[True],
    dcg="log2 exp-log2",
    gains=[{0: 0, 1: 4}, {0: 0}, {-1: 0, 1: 2}, {0: 1, 1: 4}, {1: -1}, {1: 1e100}],
    p="0.0 0.5 1.0 2.0",
    beta="-1.0 0.0 0.5 1.0 4.0 1e20",
    alpha="-0.5 0.0 0.5 1.0 1.5",
    relative=[True],
    normalize=[False],
    min_rel="0",
    max_rel="4",
    T="1.0",
)
"""Values of every parameter of a measure, in and out of range."""


def draw_measures(count: int) -> list[Any]:
    rng = random.Random(1)  # noqa: S311
    measures = []
    for kind in dict.fromkeys(type(measure) for measure in ir_measures.measures.registry.values()):
        for _ in range(count):
            required = [name for name, info in kind.SUPPORTED_PARAMS.items() if info.required]
            optional = [
                name
                for name in kind.SUPPORTED_PARAMS
                if name not in required and rng.random() < 0.5
            ]
            measure = kind(**{name: rng.choice(VALUES[name]) for name in [*required, *optional]})
            with contextlib.suppress(AssertionError):  # a value that ir_measures itself refuses
                measure.validate_params()
                measures.append(measure)
    return measures


@pytest.mark.slow
@pytest.mark.parametrize("count", [2])
def test_what_is_supported_is_calculated_and_nothing_else(count):
    qrels = [
        Qrel("q", doc, grade, subtopic)
        for doc, grade, subtopic in (("a", 1, "s"), ("b", 2, "t"), ("c", 0, "s"))
    ]
    run = [ScoredDoc("q", doc, score) for doc, score in (("c", 3.0), ("a", 2.0), ("d", 1.0))]
    supported = 0
    for measure in draw_measures(count):
        if provider.supports(measure):
            supported += 1
            assert all(
                math.isfinite(item.value) for item in provider.calc([measure], qrels, run).per_query
            ), measure
        else:
            with pytest.raises((SqlrankError, ValueError)):
                provider.calc([measure], qrels, run)
    assert supported > 10


def test_gains_that_say_nothing_are_no_obstacle():
    """A gain of 0 of a grade of 0 is what it has anyway; another one is refused, and left to other
    providers.
    """
    assert provider.supports(nDCG(gains={0: 0, 1: 4}))
    assert not provider.supports(nDCG(gains={0: 1, 1: 4}))
    check(
        ["nDCG(gains={0:0,1:4})@3"],
        list(ir_measures.read_trec_qrels(QRELS)),
        list(ir_measures.read_trec_run(RUN)),
    )


def test_measures_are_metrics():
    written = {
        "RBP(p=0.5,rel=2)": "RBP(p=0.5, rel=2)",
        "SetF(beta=4.0)": "SetF(beta=2)",
        "SetP(relative=True)": "SetRelP",
        "NumRet(rel=1)": "num_rel_ret",
    }
    assert {name: str(to_metric(ir_measures.parse_measure(name))) for name in written} == written
