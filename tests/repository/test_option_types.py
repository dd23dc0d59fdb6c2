"""Types of public signatures: a type checker finds misspelt arguments, policies and values."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from website.option_types import STUB, build_stub

ROOT = Path(__file__).parents[2]
CALLS = """\
import sqlrank

sqlrank.evaluate("AUC", predicitons="p.csv")
sqlrank.evaluate("nDCG", run="r", qrels="q", ties="rnak")
sqlrank.evaluate("AUC", predictions="p.csv", confidence="95%")
sqlrank.sql("AUC", predictions="p", dialect="bigqeury")
sqlrank.compare("ECE", predictions="p", bining="equal_mass")
sqlrank.rollup("AUC", predictions="p", nulls="dorp")

sqlrank.evaluate("nDCG(gain=exp2)", run="r", qrels="q", ties="rank", gain={1: 0.5}, rel=2)
sqlrank.compare("ECE", predictions="p", binning="equal_mass", power=0.9, topics="judged")
sqlrank.sql("AUC", predictions="p", dialect="postgresql", nulls="drop", bins=5)
sqlrank.gate("AUC", predictions="p", tolerance="1%", compat="sklearn", threshold=0.7)
"""


def test_the_types_are_those_of_the_declarations():
    assert STUB.read_text("utf-8") == build_stub(), "run python -m website.option_types"


@pytest.mark.slow
def test_misspellings_are_found_and_right_calls_are_not(tmp_path):
    file = tmp_path / "calls.py"
    file.write_text(CALLS)
    command = [sys.executable, "-m", "mypy", "--config-file=", "--follow-imports=silent", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    lines = [int(line) for line in re.findall(r"calls\.py:(\d+): error", done.stdout)]
    assert sorted({*lines}) == [3, 4, 5, 6, 7, 8], done.stdout
