"""From the sums of variants to what each did: differences, lifts, their intervals and tests, and whether units are where they should be."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sqlglot import exp

from sqlrank.experiments.sums import double, read, titled
from sqlrank.library.nodes import nodes
from sqlrank.library.selects import title_of
from sqlrank.library.shelf import library
from sqlrank.statement.bind import literal

if TYPE_CHECKING:
    from sqlrank.experiments.asked import Experiment

TUNED_FOR = 5000
"""The number of units at which intervals that hold at every look are the narrowest."""

MISMATCH = 0.001
"""The p below which the numbers of units are not what the shares of variants make of them."""

STEPS = 3
"""How many of Newton's steps a quantile takes: from the first guess, which is right to 0.04, it has then 13 digits."""


def steps_of_effects(asked: Experiment, control: str) -> dict[str, exp.Query]:
    """Return the steps from ``arms`` to ``verdicts``, a row per metric and variant beside the control, and ``mismatch``, that of their units."""
    steps: dict[str, exp.Query] = {"pooled": _bound("pooled", control=exp.Literal.string(control))}
    steps |= {name: _bound(name) for name in ("slopes", "adjusted", "effects")}
    steps["lifts"] = _bound("lifts", asked.lift, alpha=_alpha(asked))
    steps["digits"] = titled(library().relation("digits", {}).tree.copy(), title_of("relations", "digits.sql"))
    steps["places"] = _bound("places")
    steps |= _distribution(asked)
    ends = {item.alias: item.this for item in _bound("ends", asked.lift).selects}
    steps["limits"] = _bound("limits", **ends)
    steps["tests"] = _bound("tests")
    steps["corrected"] = _bound("corrected", p_adjusted=_bound("corrections", asked.correction).selects[0].this)
    steps |= {"sample_ratio": _sample_ratio(asked), "mismatch": _bound("mismatch")}
    verdicts = {"mismatch": literal(MISMATCH), "confidence": literal(asked.confidence), "gain": _gain(asked)}
    return steps | {"verdicts": _bound("verdicts", **verdicts)}


def _bound(*path: str, **values: exp.Expr) -> Any:
    return exp.replace_placeholders(read(*path[:-1], f"{path[-1]}.sql"), **{name: value.copy() for name, value in values.items()})


def _alpha(asked: Experiment) -> exp.Expr:
    """Return how often an interval may be wrong, which allows for how many there are, if p-values do."""
    found: exp.Expr = exp.Sub(this=literal(1), expression=literal(asked.confidence))
    if asked.correction == "none":
        return found
    return exp.Div(this=exp.paren(found), expression=exp.Window(this=exp.Count(this=exp.Star())))


def _distribution(asked: Experiment) -> dict[str, exp.Query]:
    """Return the steps to ``reaches``: how far intervals reach, and how likely what is beyond differences."""
    if asked.interval == "always":
        steps: dict[str, exp.Query] = {"scales": _bound("scales", tuned_for=literal(TUNED_FOR))}
    else:
        bend = _bound("bend").selects[0].this
        steps = {
            "wanted": _bound("wanted", confidence=literal(asked.confidence), power=literal(asked.power)),
            "wholes": _bound("wholes", bend=bend),
        }
        names = ["wholes", *(f"nearer_{step}" for step in range(1, STEPS + 1))]
        for before, name in pairwise(names):
            steps[name] = _reading(_bound("nearer", bend=bend), before)
        return steps | {"reaches": _reading(_bound("reaches", "fixed", bend=bend), names[-1])}
    return steps | {"reaches": _bound("reaches", "always")}


def _reading(query: exp.Select, step: str) -> exp.Select:
    """Let a query read a step in place of that which its file names: the one before of several alike."""
    for table in nodes(query, exp.Table):
        if table.name in {"wholes", "nearer"}:
            table.set("this", exp.to_identifier(step))
    return query


def _gain(asked: Experiment) -> exp.Expr:
    """Return how much better a variant is than the control."""
    difference = exp.column("difference", table="l")
    lower = [exp.Literal.string(estimate.name) for estimate in asked.estimates if estimate.is_lower]
    if len(lower) == len(asked.estimates):
        return exp.Neg(this=difference)
    if not lower:
        return difference
    is_lower = exp.In(this=exp.column("metric", table="l"), expressions=lower)
    return exp.Case(ifs=[exp.If(this=is_lower, true=exp.Neg(this=difference))], default=difference.copy())


def _sample_ratio(asked: Experiment) -> exp.Select:
    """Return one row: how many units there are, chi-square of their numbers in variants, and its degrees of freedom."""
    share: exp.Expr = exp.Div(this=literal(1), expression=exp.Window(this=exp.Count(this=exp.Star())))
    if asked.shares:
        ifs = [
            exp.If(this=exp.EQ(this=exp.column("variant"), expression=exp.Literal.string(name)), true=literal(float(part)))
            for name, part in asked.shares.items()
        ]
        share = exp.Case(ifs=ifs, default=double(0))
    variants = literal(len(asked.shares)) if asked.shares else exp.Count(this=exp.Star())
    query: exp.Select = _bound("sample_ratio", share=share, variants=variants, metric=exp.Literal.string(asked.estimates[0].name))
    return query
