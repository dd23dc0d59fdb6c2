"""What is asked of an experiment: means and ratios of units, what was known of these before, and how sure is sure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlrank.call import split_names
from sqlrank.comparison.significance import CORRECTIONS
from sqlrank.errors import MetricError, shown, suggestion
from sqlrank.library.confidence import check_level
from sqlrank.splits.parts import shares_of

if TYPE_CHECKING:
    from fractions import Fraction

INTERVALS = ("fixed", "always")
LIFTS = ("log", "linear")
CROSSED = ("error", "drop")
SAMPLE_RATIO = "sample_ratio"
"""What the row is called that says whether variants have the units that they should."""

ROLES = ("value", "denominator", "covariate", "covariate_denominator")
"""What is added up of a unit for a metric, at most."""

_METRIC = re.compile(r"\s*(Mean|Ratio)\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Formula:
    """A mean over units of what is added up of each, or with a denominator a ratio of two such sums; both texts name a column or expression."""

    value: str
    denominator: str | None = None

    @classmethod
    def of(cls, text: Any, is_covariate: bool = False) -> Formula:
        """Read ``Mean(x)`` or ``Ratio(x, y)``; of a covariate a column alone is its mean."""
        match = _METRIC.fullmatch(text) if isinstance(text, str) else None
        names = split_names(match[2]) if match else []
        if match and all(names) and len(names) == (1 if match[1].lower() == "mean" else 2):
            return cls(*names)
        if is_covariate and isinstance(text, str) and text.strip() and not match:
            return cls(text.strip())
        expected = "Mean(revenue) or Ratio(clicks, views)" + (", or name a column" if is_covariate else "")
        raise MetricError(f"{'covariate' if is_covariate else 'metric'} {shown(text)} is not possible: write {expected}")

    def __str__(self) -> str:
        """Return the text that reads as this formula."""
        return f"Mean({self.value})" if self.denominator is None else f"Ratio({self.value}, {self.denominator})"


@dataclass(frozen=True)
class Estimate:
    """A metric of an experiment: its name, formula and covariate, and whether lower values are better."""

    name: str
    formula: Formula
    covariate: Formula | None = None
    is_lower: bool = False

    @property
    def parts(self) -> dict[str, str]:
        """What is added up of a unit, by what it is for."""
        covariate = self.covariate or Formula("")
        texts = (self.formula.value, self.formula.denominator, covariate.value, covariate.denominator)
        return {role: text for role, text in zip(ROLES, texts, strict=True) if text}


@dataclass(frozen=True)
class Experiment:
    """What is asked for; ``shares`` are those of units that variants should have, equal ones if there are none."""

    estimates: tuple[Estimate, ...]
    control: str | None
    shares: Mapping[str, Fraction]
    confidence: float
    interval: str
    lift: str
    correction: str = "none"
    crossed: str = "drop"
    power: float = 0.8

    @classmethod
    def of(cls, asked: Mapping[str, Any]) -> Experiment:
        """Return what the arguments of a call ask for; raise ``MetricError`` for what is not possible."""
        known = {"interval": INTERVALS, "lift": LIFTS, "crossed": CROSSED, "correction": tuple(c for c in CORRECTIONS if c != "max_t")}
        for name, values in known.items():
            if name in asked and asked[name] not in values:
                given = asked[name]
                raise MetricError(f"unknown {name} {shown(given)}{suggestion(str(given), values)} Choose from: {', '.join(values)}")
        for name in ("variant", "unit"):
            if not isinstance(asked[name], str) or not asked[name].strip():
                raise MetricError(f"{name}={shown(asked[name])} is not possible: give the name of a column")
        check_level(asked["confidence"])
        control = asked["control"]
        if control is not None and (not isinstance(control, (str, int)) or control == ""):
            raise MetricError(f"control={shown(control)} is not possible: name the variant that others are compared with")
        shares = {} if asked["shares"] is None else shares_of(asked["shares"])
        options = {name: asked[name] for name in ("confidence", "interval", "lift", "correction", "crossed", "power") if name in asked}
        estimates = _estimates(asked["metrics"], asked["covariates"], asked["lower"])
        return cls(estimates, None if control is None else str(control), shares, **options)

    @property
    def amounts(self) -> dict[tuple[str, bool], str]:
        """Return the columns of sums, by what is added up and whether it is of a covariate, where NULL is no mistake."""
        found: dict[tuple[str, bool], str] = {}
        for estimate in self.estimates:
            for role, text in estimate.parts.items():
                found.setdefault((text, role.startswith("covariate")), f"amount_{len(found)}")
        return found

    def columns_of(self, estimate: Estimate) -> dict[str, str]:
        """Return the columns of sums that a metric is made of, by what they are for."""
        amounts = self.amounts
        return {role: amounts[text, role.startswith("covariate")] for role, text in estimate.parts.items()}


def _estimates(metrics: Any, covariates: Any, lower: Any) -> tuple[Estimate, ...]:
    if isinstance(metrics, str):
        metrics = [metrics]
    if not isinstance(metrics, (Mapping, list, tuple)) or not metrics:
        raise MetricError(f"metrics={shown(metrics)} is not possible: give formulas, such as {{'ctr': 'Ratio(clicks, views)'}}")
    named = metrics if isinstance(metrics, Mapping) else None
    formulas = [(name, Formula.of(text)) for name, text in (named.items() if named is not None else ((None, text) for text in metrics))]
    found = [(str(formula) if name is None else name, formula) for name, formula in formulas]
    names = [name for name, _ in found]
    for place, name in enumerate(names):
        if not isinstance(name, str) or not name.strip() or name == SAMPLE_RATIO or name in names[:place]:
            raise MetricError(f"a metric cannot be called {shown(name)}: give each a name of its own, other than {SAMPLE_RATIO!r}")
    before = _covariates(covariates, names)
    fewer = [lower] if isinstance(lower, str) else lower
    if not isinstance(fewer, (list, tuple)):
        raise MetricError(f"lower={shown(lower)} is not possible: name the metrics of which lower values are better, in a list")
    for name in fewer:
        _refuse_unknown("lower", name, names)
    return tuple(Estimate(name, formula, before.get(name), name in fewer) for name, formula in found)


def _covariates(given: Any, names: list[str]) -> dict[str, Formula]:
    if given is None or given == {}:
        return {}
    if isinstance(given, str):
        if len(names) > 1:
            raise MetricError(f"covariates={shown(given)} is not possible: say of which metric it is, such as {{{names[0]!r}: {given!r}}}")
        given = {names[0]: given}
    if not isinstance(given, Mapping):
        raise MetricError(
            f"covariates={shown(given)} is not possible: give metrics with what was known before, such as {{'m': 'm_before'}}"
        )
    for name in given:
        _refuse_unknown("covariates", name, names)
    return {name: Formula.of(text, is_covariate=True) for name, text in given.items()}


def _refuse_unknown(what: str, name: Any, names: list[str]) -> None:
    if name not in names:
        raise MetricError(
            f"{what} names {shown(name)}, which is no metric of this call{suggestion(str(name), names)} There are: {', '.join(names)}"
        )
