"""Student's t and chi-square, whose tails and quantiles statements compute as integrals, beside
SciPy's.
"""

import math
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from sqlrank.experiments.design import ExperimentDesign
from sqlrank.experiments.effects import effect_ctes, with_ctes
from sqlrank.rendering.renderer import StatementHeader, render_statement
from tests.lanes import select_few
from tests.tables import build_table

FREEDOMS = (1.0, 1.01, 1.5, 2.0, 3.0, 5.5, 10.17, 30.0, 100.0, 1e3, 9_999.5, 1e6, 1e9)


def compute_step(last: str, given: str, table: pa.Table, **options: Any) -> dict[str, list[Any]]:
    """Return the columns of a step, computed from a table in place of a step before it."""
    asked = {
        "metrics": "Mean(x)",
        "covariates": None,
        "lower_is_better": (),
        "control": "A",
        "expected_shares": None,
        "variant": "v",
        "unit": "u",
    }
    asked |= {"interval": "fixed", "lift_scale": "log", "confidence": 0.95, "correction": "none"}
    steps = effect_ctes(ExperimentDesign.from_arguments(asked | options), "A")
    names = list(steps)
    chain = {name: steps[name] for name in names[: names.index(last) + 1] if name != given}
    with duckdb.connect() as connection:
        connection.register(given, table)
        return (
            connection.sql(render_statement(with_ctes(chain, set()), StatementHeader("step")))
            .order("ALL")
            .to_arrow_table()
            .to_pydict()
        )


def make_lifts(freedoms: list[float], statistics: list[float], alphas: list[float]) -> pa.Table:
    names = [f"{place:04}" for place in range(len(freedoms))]
    columns = {
        "metric": names,
        "variant": names,
        "df": freedoms,
        "relative_df": freedoms,
        "alpha": alphas,
    }
    return pa.table({**columns, "difference": statistics, "se": [1.0] * len(names)})


@pytest.mark.slow
def test_tails_of_t():
    """Near 0 and as far out as doubles go, of 1 degree of freedom and of so many that t is
    normal.
    """
    cases = [
        (freedom, value)
        for freedom in FREEDOMS
        for value in (0.0, 1e-3, 0.1, 0.7, 1.96, 5.0, 13.0, 35.0, 1e3, 1e6)
    ]
    freedoms, values = map(list, zip(*cases, strict=True))
    found = compute_step(
        "critical_values", "effects", make_lifts(freedoms, values, [0.05] * len(cases))
    )["log_p"]
    expected = np.log(2) + stats.t.logsf(values, freedoms)
    sure = [place for place, log_p in enumerate(expected) if log_p > -690]
    assert len(sure) > 90
    assert [found[place] for place in sure] == pytest.approx(
        [expected[place] for place in sure], rel=1e-11, abs=2e-11
    )


def test_quantiles_of_t():
    cases = [
        (freedom, alpha)
        for freedom in FREEDOMS
        for alpha in (0.5, 0.2, 0.05, 0.01, 1e-3, 1e-5, 1e-9)
    ]
    freedoms, alphas = map(list, zip(*cases, strict=True))
    found = compute_step(
        "critical_values", "effects", make_lifts(freedoms, [1.0] * len(cases), alphas)
    )
    expected = [stats.t.isf(alpha / 2, freedom) for freedom, alpha in cases]
    for name in ("critical_value", "relative_critical_value"):
        assert found[name] == pytest.approx(expected, rel=2e-11)


@pytest.mark.parametrize("power", [0.5001, 0.8, 0.99])
def test_effects_that_are_detected_with_a_power(power):
    found = compute_step(
        "critical_values",
        "effects",
        make_lifts([*FREEDOMS], [1.0] * len(FREEDOMS), [0.01] * len(FREEDOMS)),
        power=power,
        confidence=0.9,
    )
    expected = [stats.t.ppf(0.95, freedom) + stats.t.ppf(power, freedom) for freedom in FREEDOMS]
    assert found["mde_critical_value"] == pytest.approx(expected, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("freedom", select_few((1, 2, 3, 4, 7, 11, 30, 100, 1000), (1, 4, 1000)))
def test_tails_of_chi_square(freedom):
    """Of two variants to a thousand, from chances near 1 to the least that doubles have."""
    values = [
        value
        for value in (0.0, 1e-6, 10.83, 0.5 * freedom, 1.5 * freedom, 4.0 * freedom, 1e3)
        if stats.chi2.sf(value, freedom) > 1e-290
    ]
    for value in values:
        table = build_table(
            n_units="10",
            multi_variant_units="0",
            statistic=[value],
            df=[float(freedom)],
            peak=[math.sqrt(freedom - 1)],
        )
        assert compute_step("sample_ratio_test", "sample_ratio_statistic", table)[
            "p_value"
        ] == pytest.approx([float(stats.chi2.sf(value, freedom))], rel=1e-11)
    assert len(values) > 5
