"""Modules that a first call imports, and the Arrow arrays of Python values that it is given."""

import datetime as dt
import subprocess
import sys
from array import array
from itertools import repeat

import numpy as np
import pyarrow as pa
import pytest

from sqlrank.arrow_arrays import MAX_VALUES_COPIED, table_from_rows, to_array
from tests.interface.command_line import ROOT, TREC
from tests.lanes import select_few

UNNEEDED = {
    "pandas", "polars", "typer", "rich", "jinja2", "altair", "pyarrow.dataset",
    "sqlrank.charts", "sqlrank.reports", "sqlrank.rollups",
}  # fmt: skip
"""Modules that no evaluation needs; NumPy is imported by pyarrow, wherever it is installed."""

CALLS = {
    "dicts": (
        "sqlrank.evaluate(['nDCG@10', 'AP'], run={'q': {'d': 1.5, 'e': 2}}, qrels={'q': {'e': 1}})"
    ),
    "lists": (
        "sqlrank.evaluate('AUC', predictions={'label': [1, 0, 1], 'score': [0.5, 0.25, 0.75]})"
    ),
    "files": (
        f"sqlrank.evaluate('nDCG@10', run={str(TREC / 'results.test')!r},"
        f" qrels={str(TREC / 'qrels.rel_level')!r}, confidence=0.95)"
    ),
    "systems": (
        "sqlrank.evaluate('MRR', run={'a': {'q': {'d': 1.5}}, 'b': {'q': {'d': 2.5}}}, qrels={'q':"
        " {'d': 1}})"
    ),
    "compare": (
        "sqlrank.compare(['MRR'], run={'a': {'q': {'d': 1.5}}, 'b': {'q': {'d': 2.5}}}, qrels={'q':"
        " {'d': 1}})"
    ),
    "metrics": "sqlrank.metrics()",
}


@pytest.mark.one_in(2)
@pytest.mark.parametrize("call", select_few(CALLS, ("files", "systems")))
def test_a_first_call_imports_nothing_that_it_does_not_need(call):
    program = (
        f"import gc, sys, pyarrow; before = set(sys.modules); import sqlrank; {CALLS[call]}; assert"
        " gc.isenabled(); print(*set(sys.modules) - before, sep='\\n')"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    imported = set(done.stdout.split())
    assert "sqlrank.registry.registry" in imported
    assert not UNNEEDED & imported
    assert not {name for name in imported if name.split(".")[0] == "numpy"}
    assert ("pyarrow.compute" in imported) == (call == "compare")  # it takes a tenth of a second
    assert ("statistics" in imported) == ("confidence" in CALLS[call])


VALUES = {
    "texts": ["a", "", "\u00e4\U0001f600", "b\0c"],
    "texts and None": ["a", None, "b", *repeat(None, 20), "c"],
    "floats": [1.5, float("inf"), -0.0],
    "floats and None": (None, 0.1),
    "many texts and None": [*map(str, range(MAX_VALUES_COPIED)), None],
    "integers": [1, -(2**63), 2**63 - 1],
    "integers and None": [None, 7],
    "integers and floats": [1, 2.5],
    "booleans": [True, False, None],
    "nothing": [],
    "None": [None, None],
    "days": [dt.date(2026, 1, 2), None],
    "bytes": [b"a", None],
    "range": range(3),
    "typed": array("d", [1.0, 2.0]),
    "doubles of NumPy": np.array([1.0, np.nan]),
    "single floats of NumPy": np.array([1.0, 0.1], "float32"),
    "integers of NumPy": np.array([1, 2, 3]),
    "every other of NumPy": np.arange(6)[::2],
    "booleans of NumPy": np.array([True, False]),
    "texts of NumPy": np.array(["a", "bc"]),
    "scalars of NumPy": [np.float64(1.0), np.float64(2.0)],
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_arrays_are_those_of_pyarrow(values):
    built, expected = to_array(values), pa.array(values)
    built.validate(full=True)
    assert built.type == expected.type
    assert str(built) == str(expected)  # so that NaN is equal to NaN
    assert built.null_count == expected.null_count


def test_arrays_have_the_type_that_is_given():
    assert to_array([1, None], pa.float64()).equals(pa.array([1, None], pa.float64()))
    assert to_array([None], pa.string()).equals(pa.array([None], pa.string()))
    assert to_array([], pa.int64()).equals(pa.array([], pa.int64()))


@pytest.mark.parametrize(
    "values", [["a", 1], ["\ud800"], [2**63, 1]], ids=["mixed", "surrogate", "integer"]
)
def test_values_without_an_array_are_refused_as_by_pyarrow(values):
    with pytest.raises((pa.ArrowException, UnicodeEncodeError, OverflowError)) as expected:
        pa.array(values)
    with pytest.raises(expected.type):
        to_array(values)


def test_a_table_of_rows_has_the_columns_of_its_schema():
    rows = [{"name": "a", "value": 1, "other": 2}, {"name": "b", "is_first": True}]
    schema = pa.schema([("name", pa.string()), ("value", pa.float64()), ("is_first", pa.bool_())])
    assert table_from_rows(rows, schema).equals(pa.Table.from_pylist(rows, schema))
    assert table_from_rows([], schema).equals(pa.Table.from_pylist([], schema))
