"""Advise on a column of an experiment that is read by an expression, and parse the design of an
experiment: formulas Mean(x) and Ratio(x, y), CUPED covariates, expected shares and interval
options.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from sqlrank.call.interval_options import check_confidence_level
from sqlrank.call.request import (
    describe_sources,
    select_arguments,
    setting_text,
    split_column_list,
    write_command,
)
from sqlrank.engines.text_advice import ColumnAdvice
from sqlrank.errors import MetricError, join_words, short_repr, suggest_choice
from sqlrank.rendering.dialects import DEFAULT_DIALECT, get_dialect
from sqlrank.rendering.renderer import StatementHeader
from sqlrank.splits.split import parse_shares
from sqlrank.sql_ast import is_not_null, unique_name

if TYPE_CHECKING:
    from fractions import Fraction

    from sqlglot import exp

DEFAULTS = {
    "unit": "unit_id",
    "variant": "variant",
    "confidence": 0.95,
    "correction": "holm",
    "interval": "fixed",
    "lift_scale": "log",
    "power": 0.8,
}
"""Default arguments of an experiment."""

SAMPLE_RATIO = "sample_ratio"
"""Name of the result row that tests for a sample ratio mismatch."""

SUM_ROLES = ("value", "denominator", "covariate", "covariate_denominator")
"""Columns that a metric may sum per unit."""

_METRIC = re.compile(r"\s*(Mean|Ratio)\s*\((.*)\)\s*", re.IGNORECASE | re.DOTALL)
_NAMED = re.compile(rf"\s*(\w+)\s*=({_METRIC.pattern})", _METRIC.flags)


@dataclass(frozen=True)
class Formula:
    """A mean over units of per-unit sums, or a ratio of two such sums.

    Both texts are a column name or a SQL expression; a mean has no denominator.
    """

    value: str
    denominator: str | None = None

    @classmethod
    def parse(cls, text: Any, is_covariate: bool = False) -> Formula:
        """Parse ``Mean(x)`` or ``Ratio(x, y)``; for a covariate a bare column means its mean."""
        match = _METRIC.fullmatch(text) if isinstance(text, str) else None
        names = split_column_list(match[2]) if match else []
        if match and all(names) and len(names) == (1 if match[1].lower() == "mean" else 2):
            return cls(*names)
        if is_covariate and isinstance(text, str) and text.strip() and not match:
            return cls(text.strip())
        if isinstance(text, str) and (match := _NAMED.fullmatch(text)) is not None:
            raise MetricError(
                f"metric {short_repr(text)} is not possible: give names as a dict,"
                f" {{{match[1]!r}: {match[2]!r}}}"
            )
        column = (
            text.strip() if isinstance(text, str) and text.strip().isidentifier() else "revenue"
        )
        expected = f"Mean({column}) or Ratio(clicks, views)" + (
            ", or name a column" if is_covariate else ""
        )
        raise MetricError(
            f"{'covariate' if is_covariate else 'metric'} {short_repr(text)} is not possible: write"
            f" {expected}"
        )

    def __str__(self) -> str:
        """Return the text that parses to this formula."""
        return (
            f"Mean({self.value})"
            if self.denominator is None
            else f"Ratio({self.value}, {self.denominator})"
        )


PLAIN_AMOUNT = re.compile(
    r"(?!(mean|variant|last|multi|product|amount)_|.*_(count|mean|missing)$"
    r"|(unit_id|variant|units|metric|amount|outcome|covariate)$)[a-z][a-z0-9_]*"
)
"""Names of amounts that are none of the steps' own, and no part of one."""


@dataclass(frozen=True)
class ExperimentMetric:
    """A metric of an experiment: name, formula, covariate, and direction."""

    name: str
    formula: Formula
    covariate: Formula | None = None
    lower_is_better: bool = False

    @property
    def columns_by_role(self) -> dict[str, str]:
        """Return the expressions that are summed per unit, by role."""
        covariate = self.covariate or Formula("")
        texts = (
            self.formula.value,
            self.formula.denominator,
            covariate.value,
            covariate.denominator,
        )
        return {role: text for role, text in zip(SUM_ROLES, texts, strict=True) if text}


@dataclass(frozen=True)
class ExperimentDesign:
    """A parsed experiment design; ``expected_shares`` are the expected shares of units, equal if
    empty.
    """

    estimates: tuple[ExperimentMetric, ...]
    control: str | None
    expected_shares: Mapping[str, Fraction]
    confidence: float
    interval: str
    lift_scale: str
    correction: str = "none"
    multi_variant_units: str = "drop"
    power: float = 0.8
    expected_units: int | None = None

    def __hash__(self) -> int:
        return hash(repr(self))  # mappings have no hash

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> ExperimentDesign:
        """Parse the arguments of a call; raise ``MetricError`` for invalid ones."""
        for name in ("variant", "unit"):
            if arguments[name] is None:
                raise MetricError(f"{name}=None is not possible: give the name of a column")
        check_confidence_level(arguments["confidence"])
        control, shares = arguments["control"], arguments["expected_shares"]
        if control is not None and (not isinstance(control, (str, int)) or control == ""):
            raise MetricError(
                f"control={short_repr(control)} is not possible: name the control variant"
            )
        return select_arguments(
            cls,
            arguments,
            expected_shares={} if shares is None else parse_shares(shares, "expected_shares"),
            estimates=_parse_metrics(
                arguments["metrics"], arguments["covariates"], arguments["lower_is_better"]
            ),
            control=None if control is None else str(control),
        )

    def build_header(
        self,
        variant: str,
        unit: str,
        where: str | None,
        source: Any,
        options: Mapping[str, Any],
        dialect: str,
    ) -> StatementHeader:
        """Return the header of the experiment's statement."""
        texts = [
            name if name == str(metric.formula) else f"{name}={metric.formula}"
            for name, metric in self._metrics_by_name.items()
        ]
        covariates = {
            metric.name: str(metric.covariate)
            for metric in self.estimates
            if metric.covariate is not None
        }
        arguments = {
            "unit": unit,
            "variant": variant,
            "control": self.control,
            "covariates": covariates,
            "expected_shares": {name: float(share) for name, share in self.expected_shares.items()},
            "lower_is_better": [metric.name for metric in self.estimates if metric.lower_is_better],
            "where": where,
            "confidence": self.confidence,
            "correction": self.correction,
            "interval": self.interval,
            "lift_scale": self.lift_scale,
            "power": self.power,
            "expected_units": self.expected_units,
        }
        settings = [setting_text(name, value) for name, value in arguments.items() if value]
        further = {"sql": True, "dialect": None if dialect == DEFAULT_DIALECT else dialect}
        changed = {name: value for name, value in arguments.items() if value != DEFAULTS.get(name)}
        command = write_command(
            ["experiment", *texts], {"data": source, **changed, **options, **further}
        )
        row = "one row per metric and variant, and one for the sample ratio"
        return StatementHeader(
            f"experiment {', '.join(texts)}",
            row,
            tuple(describe_sources({"data": source})),
            tuple(settings),
            command=command,
        )

    @property
    def _metrics_by_name(self) -> dict[str, ExperimentMetric]:
        return {metric.name: metric for metric in self.estimates}

    @cached_property
    def unit_sum_columns(self) -> dict[tuple[str, bool], str]:
        """Return the per-unit sum columns, by expression and by use as a covariate: a column of the
        data keeps its name, if no step has a column that is named so.

        Covariates may be NULL.
        """
        columns: dict[tuple[str, bool], str] = {}
        for estimate in self.estimates:
            for role, text in estimate.columns_by_role.items():
                name = text if PLAIN_AMOUNT.fullmatch(text) else f"amount_{len(columns)}"
                columns.setdefault(
                    (text, role.startswith("covariate")), unique_name(name, columns.values())
                )
        return columns

    @property
    def covariate_columns(self) -> list[str]:
        """Return the per-unit sum columns of covariates."""
        return [name for (_, is_covariate), name in self.unit_sum_columns.items() if is_covariate]

    def sum_columns(self, estimate: ExperimentMetric) -> dict[str, str]:
        """Return the per-unit sum columns of a metric, by role."""
        amounts = self.unit_sum_columns
        return {
            role: amounts[text, role.startswith("covariate")]
            for role, text in estimate.columns_by_role.items()
        }


def _parse_metrics(
    metrics: Any, covariates: Any, lower_is_better: Any
) -> tuple[ExperimentMetric, ...]:
    if isinstance(metrics, str):
        metrics = [metrics]
    if not isinstance(metrics, (Mapping, list, tuple)) or not metrics:
        raise MetricError(
            f"metrics={short_repr(metrics)} is not possible: give formulas, such as {{'ctr':"
            " 'Ratio(clicks, views)'}"
        )
    named = metrics if isinstance(metrics, Mapping) else None
    formulas = [
        (name, Formula.parse(text))
        for name, text in (
            named.items() if named is not None else ((None, text) for text in metrics)
        )
    ]
    named_formulas = [
        (str(formula) if name is None else name, formula) for name, formula in formulas
    ]
    names = [name for name, _ in named_formulas]
    for index, name in enumerate(names):
        if (
            not isinstance(name, str)
            or not name.strip()
            or name == SAMPLE_RATIO
            or name in names[:index]
        ):
            raise MetricError(
                f"a metric cannot be called {short_repr(name)}: give each a name of its own, other"
                f" than {SAMPLE_RATIO!r}"
            )
    covariate_formulas = _parse_covariates(covariates, names)
    lower_metrics = [lower_is_better] if isinstance(lower_is_better, str) else lower_is_better
    if not isinstance(lower_metrics, (list, tuple)):
        raise MetricError(
            f"lower_is_better={short_repr(lower_is_better)} is not possible: name the metrics of"
            " which lower values are better, in a list"
        )
    for name in lower_metrics:
        _refuse_unknown("lower_is_better", name, names)
    return tuple(
        ExperimentMetric(name, formula, covariate_formulas.get(name), name in lower_metrics)
        for name, formula in named_formulas
    )


def _parse_covariates(covariates: Any, names: list[str]) -> dict[str, Formula]:
    if covariates is None or covariates == {}:
        return {}
    if isinstance(covariates, str):
        if len(names) > 1:
            raise MetricError(
                f"covariates={short_repr(covariates)} is not possible: name its metric, such as"
                f" {{{names[0]!r}: {covariates!r}}}"
            )
        covariates = {names[0]: covariates}
    if not isinstance(covariates, Mapping):
        raise MetricError(
            f"covariates={short_repr(covariates)} is not possible: give the pre-experiment"
            " covariate of each metric, such as {'m': 'm_before'}"
        )
    for name in covariates:
        _refuse_unknown("covariates", name, names)
    return {name: Formula.parse(text, is_covariate=True) for name, text in covariates.items()}


def _refuse_unknown(what: str, name: Any, names: list[str]) -> None:
    if not isinstance(name, str) or name not in names:
        raise MetricError(
            suggest_choice(
                f"{what} names {short_repr(name)}, which is no metric of this call",
                str(name),
                names,
                "There are",
            )
        )


class KeyAdvice(ColumnAdvice):
    """Advice on the column of an argument, ``unit`` or ``variant``, and the condition ``where``
    that leaves rows out.
    """

    def __init__(self, name: str, where: str | None, dialect: str) -> None:
        super().__init__(name, dialect)
        self._where = where

    def read_as(self, value: exp.Expr) -> str:
        """Return the argument."""
        return f"{self.name}={self._write_value(value)!r}"

    def leave_out_null(self, value: exp.Expr) -> str:
        """Return the condition, added to that of the call."""
        condition = self._write_value(is_not_null(value))
        return f"where={condition if self._where is None else f'({self._where}) AND {condition}'!r}"

    def _write_value(self, value: exp.Expr) -> str:
        return value.sql(get_dialect(self.dialect).sqlglot)


class AmountAdvice(KeyAdvice):
    """Advice on a column that metrics or covariates sum up."""

    def __init__(
        self, design: ExperimentDesign, name: str, where: str | None, dialect: str
    ) -> None:
        self._text, self._is_covariate = next(
            key for key, column in design.unit_sum_columns.items() if column == name
        )
        super().__init__(self._text, where, dialect)
        self._design = design

    def read_as(self, value: exp.Expr) -> str:
        """Return the metrics or the argument ``covariates`` that read the column so."""
        text = self._write_value(value)
        if not self._is_covariate:
            formulas = {
                repr(str(formula)): None
                for metric in self._design.estimates
                if (formula := self._replace_text(metric.formula, text)) != metric.formula
            }
            return join_words(formulas)
        covariates = {
            metric.name: self._replace_text(metric.covariate, text)
            for metric in self._design.estimates
            if metric.covariate is not None
        }
        texts = {
            name: formula.value if formula.denominator is None else str(formula)
            for name, formula in covariates.items()
        }
        is_alone = len(self._design.estimates) == 1
        return f"covariates={next(iter(texts.values())) if is_alone else texts!r}"

    def leave_out_null(self, value: exp.Expr) -> str:
        """Return the condition; covariates may be NULL."""
        return "" if self._is_covariate else super().leave_out_null(value)

    def _replace_text(self, formula: Formula, text: str) -> Formula:
        return replace(
            formula,
            value=text if formula.value == self._text else formula.value,
            denominator=text if formula.denominator == self._text else formula.denominator,
        )
