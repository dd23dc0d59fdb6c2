"""Advise on a column of an experiment that is read by an expression: write metrics, covariates and
conditions with it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlrank.engines.text_advice import ColumnAdvice
from sqlrank.errors import join_words
from sqlrank.rendering.dialects import get_dialect
from sqlrank.sql_ast import is_not_null

if TYPE_CHECKING:
    from sqlglot import exp

    from sqlrank.experiments.design import ExperimentDesign, Formula


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
        return value.sql(get_dialect(self.dialect).sqlglot_name)


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
