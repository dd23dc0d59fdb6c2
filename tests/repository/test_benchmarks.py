"""The benchmarks run on a few rows, and their sides agree; times are not tested."""

import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
SMALL = {
    "classification.py": ["--rows", "20000", "--only", "shares"],
    "comparison.py": ["--queries", "200"],
    "experiments.py": ["--rows", "2000"],
    "families.py": ["--share", "0.0005"],
    "measures.py": ["--rows", "20000"],
    "peeking.py": ["--samples", "2", "--queries", "40", "--expected", "40"],
    "ranking.py": ["--rows", "20000", "--only", "lists"],
    "rollups.py": ["--rows", "20000", "--campaigns", "3"],
}
"""Those that need no tool that only benchmarks compare with, and are done in seconds."""


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_it_runs(name: str) -> None:
    command = [sys.executable, str(BENCHMARKS / name), *SMALL[name], "--repeat", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "sqlrank" in done.stdout
