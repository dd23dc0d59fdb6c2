"""Every ranking metric against its reference (reference.py), on random collections, under every
policy.
"""

import random
from functools import cache
from typing import Any

import pytest

import sqlrank
from sqlrank.registry import metric_resolver
from sqlrank.registry.loader import registry_for
from sqlrank.run.planner import required_depth
from tests.lanes import select_few
from tests.numbers.references import answers, reference
from tests.numbers.references.answers import Collection
from website.sections import group_by_section

pytestmark = pytest.mark.xdist_group(
    "references of rankings"
)  # one worker makes what all of them are compared with
VARIANTS = {
    "11pt": ["11pt", "11pt(rounding=0.9)", "11pt(points=[0.25, 0.5, 0.75])", "11pt(rel=2)"],
    "AP": [
        *(
            "AP",
            "AP@1",
            "AP@3",
            "AP@50",
            "AP(rel=2)@4",
            "AP(denominator=min_rk)",
            "AP(denominator=hits)",
            "AP(denominator=retrieved)",
        ),
        *(f"AP(denominator={name})@3" for name in ("relevant", "min_rk", "k", "hits", "retrieved")),
        *(
            f"AP(denominator={name}, precision_at=all_ranks)@{k}"
            for name in ("relevant", "min_rk", "k", "retrieved")
            for k in (3, 9)
        ),
        *("AP(precision_at=all_ranks, rel=3)@4", "AP(denominator=k, precision_at=all_ranks)@30"),
    ],
    "AR": [
        "AR@1",
        "AR@5",
        "AR@20",
        *(f"AR(denominator={name})@3" for name in ("relevant", "k", "min_rk", "hits", "retrieved")),
        "AR(rel=2)@5",
    ],
    "binG": ["binG", "binG(rel=2)"],
    "bpref": ["bpref", "bpref(rel=2)", "bpref(rel=3)"],
    "CG": [
        "CG",
        "CG@1",
        "CG@4",
        "CG(gain=exp2)@4",
        "CG(gain=threshold, rel=2)@4",
        "CG(gain=binary)@20",
        "CG(gain={1: 3, 2: 9})@5",
    ],
    "DCG": [
        *(
            "DCG",
            "DCG@1",
            "DCG@4",
            "DCG@50",
            "DCG(gain=exp2)@4",
            "DCG(gain=binary)",
            "DCG(gain={1: 3.5, 2: 9, 4: 4.5})",
        ),
        *(
            f"DCG(discount={name})@5"
            for name in ("log2", "jarvelin", "ln", "inverse", "none", "zipf", "geometric")
        ),
        *(
            "DCG(discount={1: 1, 2: 1})",
            "DCG(discount={1: 0.75, 2: 1, 3: 0.5})@2",
            "DCG(discount=zipf, exponent=0.5)",
            "DCG(discount=geometric, persistence=0.95)",
        ),
    ],
    "ERR": ["ERR", "ERR@1", "ERR@3", "ERR(max_grade=5)", "ERR(stop_probability=yandex)@4"],
    "F": ["F@1", "F@3", "F@30", "F(beta=2)@5", "F(beta=0.5)@5", "F(rel=2)@5", "F(beta=0)@3"],
    "FullRecall": ["FullRecall", "FullRecall@1", "FullRecall@3", "FullRecall(rel=2)@5"],
    "G": ["G", "G(gain=exp2)", "G(gain={1: 3.5, 2: 9, 4: 4.5})", "G(gain=binary)"],
    "infAP": ["infAP", "infAP(rel=2)", "infAP(smoothing=0.1)"],
    "IPrec": [
        *(f"IPrec@{recall}" for recall in ("0", "0.1", "0.25", "0.5", "0.75", "1")),
        "IPrec(rounding=0.9)@0.3",
        "IPrec(rel=2)@0.5",
    ],
    "Judged": [
        "Judged@1",
        "Judged@3",
        "Judged@20",
        "Judged(denominator=k)@5",
        "Judged(negative_grades=judged)@3",
    ],
    "MDCG": ["MDCG@1", "MDCG@4", "MDCG@30", "MDCG(gain=exp2)@5", "MDCG(discount=inverse)@5"],
    "nDCG": [
        *(
            "nDCG",
            "nDCG@1",
            "nDCG@3",
            "nDCG@50",
            "nDCG(gain=exp2)@5",
            "nDCG(gain=binary, rel=2)@5",
            "nDCG(gain=threshold, rel=2)@5",
        ),
        *("nDCG(discount={1: 1, 2: 1})", "nDCG(gain=exp2, discount={1: 1, 2: 0.5, 3: 0.25})@5"),
        *(
            f"nDCG(discount={name})@5"
            for name in ("jarvelin", "ln", "inverse", "none", "zipf", "geometric")
        ),
        *(
            f"nDCG(ideal={ideal}){k}"
            for ideal in ("retrieved", "judged_truncated")
            for k in ("", "@2", "@5")
        ),
        *(
            "nDCG(ideal=binary_k)@1",
            "nDCG(ideal=binary_k)@5",
            "nDCG(gain=exp2, ideal=binary_k)@12",
            "nDCG(gain={1: 3.5, 2: 9, 4: 4.5})",
        ),
        *("nDCG(discount=none, gain={1: 2, 2: 1})@4", "nDCG(gain={1: 0})", "nDCG(gain={1: -1})"),
    ],
    "nDCGrel": [
        "nDCGrel",
        "nDCGrel(gain=exp2)",
        "nDCGrel(gain={1: 3.5, 2: 9, 4: 4.5})",
        "nDCGrel(gain=binary)",
    ],
    "num_no_rel": ["num_no_rel", "num_no_rel(rel=2)"],
    "num_nonrel_judged_ret": ["num_nonrel_judged_ret", "num_nonrel_judged_ret(rel=2)"],
    "num_q": ["num_q"],
    "num_rel": ["num_rel", "num_rel(rel=2)"],
    "num_rel_ret": ["num_rel_ret", "num_rel_ret(rel=2)", "num_rel_ret@1", "num_rel_ret(rel=2)@3"],
    "num_ret": ["num_ret"],
    "num_duplicates": ["num_duplicates"],
    "num_dropped": ["num_dropped"],
    "num_tied": ["num_tied@1", "num_tied@2", "num_tied@5", "num_tied@20"],
    "num_unanswered": ["num_unanswered"],
    "num_unjudged": ["num_unjudged"],
    "P": [
        "P@1",
        "P@3",
        "P@30",
        "P(rel=2)@3",
        *(f"P(denominator={name})@4" for name in ("k", "retrieved", "min_rk", "relevant", "hits")),
    ],
    "PFound": [
        "PFound",
        "PFound@3",
        "PFound(p_break=0)",
        "PFound(p_break=1)@5",
        "PFound(stop_probability=yandex)",
        "PFound(max_grade=6)@4",
    ],
    "R": [
        "R",
        "R@1",
        "R@3",
        "R@30",
        "R(rel=2)@3",
        "R(denominator=min_rk)@3",
        "R(denominator=retrieved)@3",
    ],
    "RBP": [
        *(
            "RBP",
            "RBP@3",
            "RBP(p=0.5)",
            "RBP(p=0.95)@20",
            "RBP(rel=2)",
            "RBP(gain=linear)",
            "RBP(gain=linear, gain_scale=top_grade)",
        ),
        *("RBP(p=1)@3", "RBP(gain=exp2)@5"),
    ],
    "RBPresid": ["RBPresid", "RBPresid(p=0.5)", "RBPresid(negative_grades=judged)"],
    "RHR": [
        "RHR",
        "RHR@1",
        "RHR@4",
        "RHR(normalization=ideal)",
        "RHR(normalization=ideal)@4",
        "RHR(rel=2, normalization=ideal)@2",
    ],
    "Rndcg": [
        "Rndcg",
        "Rndcg(gain=exp2)",
        "Rndcg(gain={1: 3.5, 2: 9, 4: 4.5})",
        "Rndcg(gain=binary)",
    ],
    "Rprec": [
        "Rprec",
        "Rprec(multiple=0.2)",
        "Rprec(multiple=0.5)",
        "Rprec(multiple=1.4)",
        "Rprec(multiple=3)",
        "Rprec(rel=2)",
    ],
    "RR": ["RR", "RR@1", "RR@3", "RR(rel=2)", "RR(rel=3)@5"],
    "SetAP": ["SetAP", "SetAP(rel=2)"],
    "SetF": ["SetF", "SetF(beta=2)", "SetF(beta=0.5, rel=2)", "SetF(beta=0)"],
    "SetP": ["SetP", "SetP(rel=2)"],
    "SetR": ["SetR", "SetR(rel=2)"],
    "SetRelP": ["SetRelP", "SetRelP(rel=2)"],
    "Success": ["Success", "Success@1", "Success@3", "Success(rel=2)@3"],
    "Unj": ["Unj@1", "Unj@3", "Unj@20", "Unj(negative_grades=judged)@3"],
    "utility": [
        "utility",
        "utility(rel_ret=2, nonrel_ret=-0.5, rel_missed=-1, nonrel_missed=0.25, collection=40)",
        "utility(rel=2)",
    ],
}

POLICIES = {
    "defaults": {},
    "doc_asc_run": {"ties": "doc_asc", "queries": "retrieved"},
    "worst_one": {"ties": "worst", "if_undefined": "one"},
    "best_intersect_skip": {
        "ties": "best",
        "queries": "judged_and_retrieved",
        "if_undefined": "skip",
    },
    "drop_skip": {"unjudged": "drop", "if_undefined": "skip"},
    "level_one": {"rel": 2, "if_undefined": "one", "queries": "judged_and_retrieved"},
    "depth": {"depth": 3},
    "worst_depth_skip": {"ties": "worst", "depth": 4, "if_undefined": "skip"},
    "drop_depth_level": {
        "unjudged": "drop",
        "depth": 2,
        "rel": 3,
        "queries": "retrieved",
        "if_undefined": "skip",
    },
    "doc_asc_drop_depth": {"ties": "doc_asc", "unjudged": "drop", "depth": 4},
    "best_drop_level": {
        "ties": "best",
        "unjudged": "drop",
        "rel": 3,
        "queries": "retrieved",
        "if_undefined": "skip",
    },
    "first": {"plan": {"rank_method": "top_k"}},
    "first_doc_asc_depth": {
        "plan": {"rank_method": "top_k"},
        "ties": "doc_asc",
        "depth": 3,
        "if_undefined": "skip",
    },
}

GRADES = [
    (0, 1),
    (0, 1, 2, 3),
    (-1, 0, 1, 2),
    (0, 0, 0, 1, 4),
    (1, 2, 3),
    (0,),
    (-1,),
    (-1, 0),
    (1,),
    (2,),
    (-2, -1, 1),
]
SCORES = [(0, 1), (0, 1, 2, 3), (0.5,), tuple(i / 8 - 1 for i in range(60)), (1.0, 1.0 + 1e-9, 2.0)]


@cache
def draw_queries(seed: int, queries: int, longest: int) -> Collection:
    """Draw queries of many kinds: tied, unjudged, not answered, not judged, without relevant
    documents.
    """
    rng = random.Random(seed)  # noqa: S311
    run = {}
    qrels = {}
    for number in range(queries):
        query = f"q{number:03}"
        docs = [f"d{i}" for i in rng.sample(range(100), rng.randint(1, 2 * longest))]
        retrieved, judged = (
            rng.sample(docs, rng.randint(1, min(longest, len(docs)))) for _ in range(2)
        )
        kind = rng.random()
        if kind < 0.08:
            retrieved = []
        elif kind < 0.16:
            judged = []
        elif kind < 0.3:
            judged = retrieved
        grades, scores = rng.choice(GRADES), rng.choice(SCORES)
        if retrieved:
            run[query] = {doc: rng.choice(scores) for doc in retrieved}
        if judged:
            qrels[query] = {doc: float(rng.choice(grades)) for doc in judged}
    return Collection(run, qrels)


@cache
def draw_probabilities(seed: int) -> Collection:
    """Draw relevance in [0, 1]."""
    drawn = draw_queries(seed, 120, 8)
    rng = random.Random(seed)  # noqa: S311
    grades = {
        query: {doc: rng.choice([0, 0, 0.1, 0.4, 0.75, 1]) for doc in docs}
        for query, docs in drawn.qrels.items()
    }
    return Collection(drawn.run, grades)


def evaluate(
    metrics: list[str], data: Collection, **policies: Any
) -> dict[str, dict[str, float | None]]:
    """Return metric -> query -> value."""
    table = sqlrank.evaluate(metrics, **data.tables, per_query=True, **policies)
    columns = table.column_names[1:]
    return {
        metric: dict(zip(table["query_id"].to_pylist(), table[column].to_pylist(), strict=True))
        for metric, column in zip(metrics, columns, strict=True)
    }


def assert_same(
    metric: str, got: dict[str, float | None], data: Collection, **policies: Any
) -> None:
    """Compare with the reference, query by query, and show the first query that differs."""
    expected = reference.evaluate(
        metric,
        data.run,
        data.qrels,
        **{name: value for name, value in policies.items() if name != "plan"},
    )
    assert got.keys() == expected.keys()
    wrong = {
        query: (got[query], value)
        for query, value in expected.items()
        if (got[query] is None) != (value is None)
        or (value is not None and got[query] != pytest.approx(value, rel=1e-9, abs=1e-9))
    }
    if wrong:
        query = min(
            wrong, key=lambda name: len(data.run.get(name, ())) + len(data.qrels.get(name, ()))
        )
        pytest.fail(
            f"{metric} {policies}: {len(wrong)} of {len(expected)} queries differ; {query}: got"
            f" {wrong[query][0]}, expected"
            f" {wrong[query][1]}\nrun={data.run.get(query)}\nqrels={data.qrels.get(query)}"
        )


def list_variants(name: str, policy: str) -> list[str]:
    """Return the variants of a metric to ask for: all under the defaults, the first and a quarter
    of the others elsewhere.
    """
    if POLICIES[policy].get("plan") == {"rank_method": "top_k"}:
        return [metric for metric in VARIANTS[name] if is_of_first_documents(metric, policy)]
    start = list(POLICIES).index(policy)
    return [
        metric
        for i, metric in enumerate(VARIANTS[name])
        if start == 0 or i == 0 or (i + start) % 4 == 0
    ]


@cache
def is_of_first_documents(metric: str, policy: str) -> bool:
    library, policies = registry_for(None), POLICIES[policy]
    read = {name: value for name, value in policies.items() if name != "plan"}
    found, *_ = metric_resolver.resolve_metrics(
        [metric, "bpref"], library, None, read, {"run", "qrels"}
    )
    return required_depth(library, found) is not None


def reads_numbers(metric: str) -> bool:
    return "all_ranks" in metric or "binary_k" in metric


@cache
def evaluate_variants(policy: str, numbers: bool) -> dict[str, dict[str, float | None]]:
    """Evaluate the variants of every metric in one call."""
    metrics = [
        metric
        for name in VARIANTS
        for metric in list_variants(name, policy)
        if reads_numbers(metric) == numbers
    ]
    return evaluate(metrics, draw_queries(1, 110, 10), **POLICIES[policy])


def test_every_metric_has_a_reference():
    ranking = {file.display_name for file in group_by_section()["ranking"]}
    assert ranking == set(reference.METRICS), "METRICS of numbers/references/reference.py"
    assert ranking == set(VARIANTS), "VARIANTS of numbers/references/test_reference.py"
    assert ranking == {
        sqlrank.parse(metric).name for metrics in VARIANTS.values() for metric in metrics
    }


@pytest.mark.parametrize(
    ("policy", "metric"),
    [
        pytest.param(policy, metric, marks=() if policy == "defaults" else pytest.mark.slow)
        for policy in POLICIES
        for name in VARIANTS
        for metric in list_variants(name, policy)
    ],
)
def test_metric_is_that_of_the_reference(policy, metric):
    assert_same(
        metric,
        evaluate_variants(policy, reads_numbers(metric))[metric],
        draw_queries(1, 110, 10),
        **POLICIES[policy],
    )


STOPS = [
    "ERR(stop_probability=identity)",
    "ERR(stop_probability=identity)@3",
    "PFound(stop_probability=identity)",
    "PFound(p_break=0.3, stop_probability=identity)@4",
    "PFound(p_break=0, stop_probability=identity)",
]
FRACTIONS = [
    "nDCG", "nDCG(gain=exp2)@5", "CG@3", "RBP(gain=linear)", "P@3", "P(rel=0.4)@3",
    "AP(rel=0.1)", "bpref(rel=0.5)", "G", "Rndcg",
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    "policies",
    select_few([{}, {"ties": "worst"}, {"if_undefined": "skip", "depth": 4}], 1),
    ids=str,
)
def test_relevance_between_0_and_1(policies):
    got = evaluate([*STOPS, *FRACTIONS], draw_probabilities(2), **policies)
    for metric, values in got.items():
        assert_same(metric, values, draw_probabilities(2), **policies)


EXPECTED = {
    "defaults": {},
    "one": {"if_undefined": "one", "queries": "judged_and_retrieved"},
    "drop": {"unjudged": "drop", "if_undefined": "skip"},
    "depth_level": {"depth": 3, "rel": 2, "queries": "retrieved"},
}


def list_linear_variants(name: str) -> list[str]:
    """Return the variants of a metric that are sums over documents: a share of the hits is not."""
    return [metric for metric in VARIANTS[name] if "denominator=hits" not in metric]


@cache
def evaluate_expectations(policy: str, numbers: bool) -> dict[str, dict[str, float | None]]:
    metrics = [
        metric
        for name in reference.LINEAR
        for metric in list_linear_variants(name)
        if reads_numbers(metric) == numbers
    ]
    options = {
        name: value for name, value in EXPECTED[policy].items() if not (numbers and name == "rel")
    }  # which these do not read
    return evaluate(metrics, draw_queries(3, 110, 4), ties="expected", **options)


@pytest.mark.parametrize(
    "metric", [metric for name in reference.LINEAR for metric in list_linear_variants(name)]
)
@pytest.mark.parametrize("policy", select_few(EXPECTED, 1))
def test_expected_is_the_mean_over_all_orders(metric, policy):
    if "ideal=retrieved" in metric and "depth" in EXPECTED[policy]:
        pytest.skip(
            "which documents are retrieved, and so the ideal, is then itself left to chance"
        )
    got = evaluate_expectations(policy, reads_numbers(metric))[metric]
    assert_same(metric, got, draw_queries(3, 110, 4), ties="expected", **EXPECTED[policy])


UNORDERED = [
    "SetP",
    "SetR",
    "SetF",
    "SetAP",
    "SetRelP",
    "utility",
    *(name for name in VARIANTS if name.startswith("num_")),
]


@pytest.mark.one_in(4)
@pytest.mark.parametrize(
    "name", [name for name in VARIANTS if name not in {*reference.LINEAR, *UNORDERED}]
)
def test_expected_is_refused_for_what_is_not_a_sum(name):
    with pytest.raises(sqlrank.MetricError, match=f"ties='expected' is not defined for {name}"):
        evaluate(VARIANTS[name][:1], draw_queries(3, 110, 4), ties="expected")


@pytest.mark.parametrize("beside", [[], ["P@1"]], ids=["alone", "fused"])
def test_expected_leaves_counts_alone(beside):
    metrics = [VARIANTS[name][0] for name in UNORDERED]
    got = evaluate([*beside, *metrics], draw_queries(3, 110, 4), ties="expected")
    for metric in metrics:
        assert_same(metric, got[metric], draw_queries(3, 110, 4))


RANKINGS = ["AP", "nDCG@3", "RR", "ERR", "bpref", "G", "RBP", "Judged@3", "P@2", "IPrec@0.5"]


@pytest.mark.parametrize(
    "policies",
    [
        *(policies for name, policies in POLICIES.items() if name != "defaults"),
        {"ties": "best"},
        {"unjudged": "drop"},
        {"queries": "judged_and_retrieved", "plan": {"list_key": "input"}},
        {"plan": {"rank_method": "count"}},
        {"plan": {"rank_method": "array"}, "queries": "retrieved"},
        {"plan": {"rank_method": "sort"}, "depth": 2},
    ],
    ids=str,
)
def test_policies_of_a_few_metrics(policies):
    """Every policy in the quick lane; all metrics under it are slow."""
    is_top_k = policies.get("plan") == {"rank_method": "top_k"}
    metrics = ["nDCG@3", "P@2"] if is_top_k else RANKINGS
    metrics = [metric for metric in metrics if "rel" not in policies or metric not in UNLEVELED]
    data = draw_queries(6, 40, 6)
    got = evaluate(metrics, data, **policies)
    for metric in metrics:
        assert_same(metric, got[metric], data, **policies)


UNLEVELED = {"nDCG@3", "ERR", "G", "Judged@3"}
"""Metrics that do not read a level of relevance."""


def test_ranks_are_the_order():
    drawn, rng = draw_queries(4, 120, 8), random.Random(4)  # noqa: S311
    ranks = {
        query: rng.sample(range(1, len(docs) + 1), len(docs)) for query, docs in drawn.run.items()
    }
    ranked = Collection(
        {query: dict(zip(docs, ranks[query], strict=True)) for query, docs in drawn.run.items()},
        drawn.qrels,
    )
    sources = {"run": answers.make_table(ranked.run, "rank"), "qrels": ranked.tables["qrels"]}
    table = sqlrank.evaluate(RANKINGS, **sources, per_query=True, ties="rank")
    for metric in RANKINGS:
        got = dict(zip(table["query_id"].to_pylist(), table[metric].to_pylist(), strict=True))
        assert_same(metric, got, ranked, ties="rank")


def test_ranks_order_equal_scores():
    """Scores of a tie are moved apart in the order of its ranks, which leave gaps and contradict
    the order of the scores.
    """
    drawn, rng = draw_queries(4, 120, 8), random.Random(6)  # noqa: S311
    ranks = {
        query: dict(zip(docs, rng.sample(range(1, 30), len(docs)), strict=True))
        for query, docs in drawn.run.items()
    }
    ordered = {
        query: {
            doc: -position
            for position, doc in enumerate(
                sorted(docs, key=lambda doc: (-docs[doc], ranks[query][doc]))
            )
        }
        for query, docs in drawn.run.items()
    }
    run = drawn.tables["run"].to_pylist()
    table = sqlrank.evaluate(
        RANKINGS,
        run=[{**row, "rank": ranks[row["query_id"]][row["doc_id"]]} for row in run],
        qrels=drawn.tables["qrels"],
        per_query=True,
        ties="row_order",
    )
    for metric in RANKINGS:
        got = dict(zip(table["query_id"].to_pylist(), table[metric].to_pylist(), strict=True))
        assert_same(metric, got, Collection(ordered, drawn.qrels))


def test_given_ranks_are_positions():
    """At positions that a run leaves out there might be documents that nobody judged."""
    drawn, rng = draw_queries(4, 120, 8), random.Random(5)  # noqa: S311
    run = {
        query: dict(zip(docs, rng.sample(range(1, 30), len(docs)), strict=True))
        for query, docs in drawn.run.items()
    }
    filled = {
        query: (
            ranks
            | {
                f"unjudged {rank}": rank
                for rank in range(1, max(ranks.values(), default=0))
                if rank not in ranks.values()
            }
        )
        for query, ranks in run.items()
    }
    metrics = [metric for metric in RANKINGS if metric != "Judged@3"]  # its lists are longer
    table = sqlrank.evaluate(
        metrics,
        run=answers.make_table(run, "rank"),
        qrels=drawn.tables["qrels"],
        per_query=True,
        ranks="given",
        ties="rank",
    )
    for metric in metrics:
        got = dict(zip(table["query_id"].to_pylist(), table[metric].to_pylist(), strict=True))
        assert_same(metric, got, Collection(filled, drawn.qrels), ties="rank")


LEVELS = ["P@3", "R@3", "AP", "RR", "Success@1", "Rprec", "SetP", "SetR", "bpref", "num_rel"]


@cache
def evaluate_at_level(rel: float) -> dict[str, dict[str, float | None]]:
    return evaluate(LEVELS, draw_queries(1, 110, 10), rel=rel)


@pytest.mark.parametrize("rel", [0, 0.5, 4, 9])
@pytest.mark.parametrize("metric", LEVELS)
def test_relevance_level(metric, rel):
    assert_same(metric, evaluate_at_level(rel)[metric], draw_queries(1, 110, 10), rel=rel)
