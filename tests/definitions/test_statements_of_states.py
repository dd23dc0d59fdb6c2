"""Statements that read a state: what they say is what is evaluated of it, on every engine that runs here (tests/engines/test_states.py)."""

from __future__ import annotations

import duckdb
import pyarrow as pa
import pytest

import sqlrank
from tests.definitions.test_states import clicks


def test_bins_that_are_whole_numbers_are_looked_up_by_their_place() -> None:
    """They say what others in the same order do, and the setting for that is the caller's again."""
    given = {"predictions": clicks(), "by": ["day", "campaign"], "fineness": 64}
    made = sqlrank.state(["AUC", "LogLoss"], **given)
    moved = made.set_column(made.column_names.index("bin"), "bin", pa.compute.add(made["bin"], 0.5))
    duck = duckdb.connect()
    duck.execute("SET perfect_ht_threshold = 7")
    duck.register("kept", made)
    for by in ([], ["day"], ["campaign"]):
        found = sqlrank.evaluate(["AUC", "LogLoss"], state="kept", connection=duck, by=by)
        assert found.to_pylist() == [
            pytest.approx(row, rel=1e-12) for row in sqlrank.evaluate(["AUC", "LogLoss"], state=moved, by=by).to_pylist()
        ]
    assert duck.execute("SELECT current_setting('perfect_ht_threshold')").fetchone() == (7,)
