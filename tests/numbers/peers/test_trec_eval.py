"""Every measure line that trec_eval 10 prints for its own test collection, to the four decimals
printed.
"""

from collections import defaultdict
from pathlib import Path

import pytest

import sqlrank
from tests.lanes import select_few

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[3] / "examples" / "data" / "trec_eval"
COUNTS = {"num_q", "num_ret", "num_rel", "num_rel_ret", "num_nonrel_judged_ret"}
METRICS_BY_MEASURE = {
    "utility_2,-1,0,0": "utility(rel_ret=2, nonrel_ret=-1, rel_missed=0, nonrel_missed=0)",
    "11pt_avg_.25,.5,.75": "11pt(points=[0.25, 0.5, 0.75])",
    "ndcg_1=3,2=9,4=4.5": "nDCG(gain={1: 3, 2: 9, 4: 4.5})",
}
CALLS = {
    "out.test": ("qrels.test", "results.test", {}),
    "out.test.a": ("qrels.test", "results.test", {}),
    "out.test.aq": ("qrels.test", "results.test", {}),
    "out.test.aqc": ("qrels.test", "results.trunc", {}),
    "out.test.aqcM": ("qrels.test", "results.trunc", {"depth": 100}),
    "out.test.aql": ("qrels.rel_level", "results.test", {"rel": 2}),
    "out.test.meas_params": ("qrels.test", "results.test", {}),
}


def read_expected(name: str) -> dict[str, dict[str, str]]:
    """Return measure -> topic (or ``all``) -> printed value."""
    expected = defaultdict(dict)
    for line in (DATA / name).read_text().splitlines():
        measure, topic, value = (part.strip() for part in line.split("\t"))
        if measure != "runid" and not measure.startswith("relstring"):
            expected[measure][topic] = value
    return expected


@pytest.mark.parametrize("name", select_few(CALLS, ("out.test.aqcM", "out.test.meas_params")))
def test_every_printed_line_is_reproduced(name):
    qrels, run, policies = CALLS[name]
    expected = read_expected(name)
    asked = {measure: METRICS_BY_MEASURE.get(measure, measure) for measure in expected}
    sources = {"run": DATA / run, "qrels": DATA / qrels}
    metrics = list(asked.values())
    summary = sqlrank.evaluate(metrics, **sources, compat="trec10", **policies)
    each = sqlrank.evaluate(metrics, **sources, compat="trec10", per_query=True, **policies)
    columns = dict(zip(asked, summary.column_names, strict=True))
    topics = each["query_id"].to_pylist()

    wrong = []
    for measure, values in expected.items():
        got = {"all": summary[columns[measure]][0].as_py()} | dict(
            zip(topics, each[columns[measure]].to_pylist(), strict=True)
        )
        for topic, printed in values.items():
            shown = f"{got[topic]:.0f}" if measure in COUNTS else f"{got[topic]:.4f}"
            if shown != printed:
                wrong.append((measure, topic, printed, got[topic]))
    assert not wrong
    assert len(expected) > 20 or name == "out.test.meas_params"
