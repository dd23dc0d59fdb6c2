"""The reference of every ranking metric, in plain Python, from the formulas.

Written from the papers and from what trec_eval documents, not from the SQL: it walks down one list
at a time.
"""

import math
from collections.abc import Callable
from dataclasses import fields
from typing import Any

import sqlrank
from tests.numbers.references.answers import (
    Answer,
    Options,
    Scores,
    count_hits,
    count_relevant,
    find_queries,
    has_judgment,
    is_nonrelevant,
    list_orders,
)
from tests.numbers.references.gains import (
    cumulative_gain,
    discounted_gain,
    expected_reciprocal_rank,
    g_measure,
    mean_gain,
    normalized_gain,
    normalized_gain_at_hits,
    normalized_gain_at_levels,
    p_found,
    rank_biased_precision,
    rank_biased_residual,
)
from tests.numbers.references.hits import (
    average_precision,
    average_recall,
    binary_g,
    binary_preference,
    eleven_points,
    f_measure,
    full_recall,
    inferred_ap,
    interpolated_precision,
    judged_share,
    precision,
    r_precision,
    recall,
    reciprocal_hit_rank,
    reciprocal_rank,
    set_ap,
    set_f,
    set_precision,
    set_recall,
    set_relative_precision,
    success,
    tied_at,
    unjudged_share,
    utility,
)

LINEAR = ("AR", "CG", "DCG", "F", "MDCG", "P", "R", "RBP", "RHR", "RR", "Success", "nDCG")
"""Metrics with an expectation over ties in closed form: sums over documents, and those of the first
relevant one.
"""


def evaluate(
    metric: str,
    run: Scores,
    qrels: Scores,
    *,
    ties: str = "doc_desc",
    queries: str = "judged",
    if_undefined: str = "zero",
    unjudged: str = "nonrelevant",
    depth: int | None = None,
    **options: Any,
) -> dict[str, float | None]:
    """Return the value of a metric for each query; with ``ties="rank"`` the numbers of the run are
    ranks.
    """
    asked = sqlrank.parse(metric)
    own = {**options, **dict(asked.params)}
    if asked.cutoff is not None:
        own["recall" if asked.name == "IPrec" else "k"] = asked.cutoff
    known = {field.name for field in fields(Options)}
    parameters = Options(**{name: value for name, value in own.items() if name in known})
    function = METRICS[asked.name]
    undefined = {"zero": 0.0, "one": 1.0, "skip": None, "null": None}[if_undefined]
    values = {}
    for query in sorted(find_queries(run, qrels, queries)):
        answers = list_orders(
            tuple(run.get(query, {}).items()),
            tuple(qrels.get(query, {}).items()),
            ties,
            unjudged,
            depth,
        )
        found = [function(answer, parameters) for answer in answers]
        value = None if any(item is None for item in found) else math.fsum(found) / len(found)
        values[query] = undefined if value is None else value
    return values


METRICS: dict[str, Callable[[Answer, Options], float | None]] = {
    "11pt": eleven_points,
    "AP": average_precision,
    "AR": average_recall,
    "binG": binary_g,
    "bpref": binary_preference,
    "CG": cumulative_gain,
    "DCG": discounted_gain,
    "ERR": expected_reciprocal_rank,
    "F": f_measure,
    "FullRecall": full_recall,
    "G": g_measure,
    "infAP": inferred_ap,
    "IPrec": interpolated_precision,
    "Judged": judged_share,
    "MDCG": mean_gain,
    "nDCG": normalized_gain,
    "nDCGrel": normalized_gain_at_hits,
    "num_no_rel": lambda answer, o: float(not count_relevant(answer, o)),
    "num_nonrel_judged_ret": lambda answer, o: float(
        sum(is_nonrelevant(grade, o) for grade in answer.ranking)
    ),
    "num_q": lambda _answer, _o: 1.0,
    "num_rel": lambda answer, o: float(count_relevant(answer, o)),
    "num_rel_ret": lambda answer, o: float(count_hits(answer, o, o.k)),
    "num_ret": lambda answer, _: float(len(answer.ranking)),
    # No collection here holds a document twice, or one without a score;
    # tests/numbers/examples/test_dropped_rows.py counts by hand.
    "num_duplicates": lambda *_: 0.0,
    "num_dropped": lambda *_: 0.0,
    "num_tied": tied_at,
    "num_unanswered": lambda answer, _: float(not answer.ranking),
    "num_unjudged": lambda answer, o: float(
        sum(not has_judgment(grade, o) for grade in answer.ranking)
    ),
    "P": precision,
    "PFound": p_found,
    "R": recall,
    "RBP": rank_biased_precision,
    "RBPresid": rank_biased_residual,
    "RHR": reciprocal_hit_rank,
    "Rndcg": normalized_gain_at_levels,
    "Rprec": r_precision,
    "RR": reciprocal_rank,
    "SetAP": set_ap,
    "SetF": set_f,
    "SetP": set_precision,
    "SetR": set_recall,
    "SetRelP": set_relative_precision,
    "Success": success,
    "Unj": unjudged_share,
    "utility": utility,
}
