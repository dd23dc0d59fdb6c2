"""The benchmarks run on a few rows, and their sides agree; times are not tested. Each table of the
page on them names the command that made it.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import timing

ROOT = Path(__file__).parents[2]
SMALL = {
    "classification.py": ["--rows", "20000", "--only", "shares"],
    "comparison.py": ["--queries", "200"],
    "experiments.py": ["--rows", "2000"],
    "families.py": ["--share", "0.0005"],
    "loop.py": [],
    "measures.py": ["--rows", "20000"],
    "studies.peeking": ["--samples", "2", "--queries", "40", "--expected", "40"],
    "ranking.py": ["--rows", "20000", "--only", "lists"],
    "rollups.py": ["--rows", "20000", "--campaigns", "3"],
}
"""Those that need no tool that only benchmarks compare with, and are done in seconds."""


def test_each_table_of_measurements_names_its_command() -> None:
    page = (ROOT / "docs" / "speed.md").read_text("utf-8")
    measured = page.partition("\n## Ranking metrics\n")[2].partition("\n## Projected cost")[0]
    blocks = re.split(r"((?:^\|.*\n)+)", measured, flags=re.MULTILINE)
    for text, table in zip(blocks[::2], blocks[1::2], strict=False):
        scripts = re.findall(r"`python benchmarks/(\w+\.py)", text)
        assert scripts, table
        assert all((ROOT / "benchmarks" / name).is_file() for name in scripts)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_it_runs(name):
    module = ["-m", f"benchmarks.{name}"] if name.startswith("studies") else [f"benchmarks/{name}"]
    command = [sys.executable, *module, *SMALL[name], "--repeat", "1"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert "sqlrank" in done.stdout
    assert name.startswith("studies") or "GB" in done.stdout.partition("targets")[0]


def test_runs_on_a_busy_machine_are_repeated(monkeypatch):
    """The quietest of three counts; one is enough on an idle machine."""
    runs: list[float] = []

    def count_run() -> dict[str, float]:
        runs.append(len(runs) + 1)
        return {"run": runs[-1], "seconds": 1.0, "processor": 0.0}

    busy = iter([0, 3e9, 0, 0.9e9, 0, 1.2e9, 0, 0.4e9])
    monkeypatch.setattr(timing, "SHORTEST", 1e9)
    monkeypatch.setattr(timing, "_busy_seconds", busy.__next__)
    found = timing.run_in_turn({"side": count_run}, 2)["side"]
    assert (found.values, found.seconds) == ({"run": 4}, [1.0, 1.0])
    assert found.other_loads == pytest.approx([0.9, 0.4])


@pytest.mark.skipif(not os.access("/proc/self/clear_refs", os.W_OK), reason="Linux has it")
def test_memory_is_that_of_a_run_and_not_of_those_before(monkeypatch):
    monkeypatch.setattr(timing, "_busy_seconds", float)
    sides = {"large": lambda: len(b"x" * 200_000_000), "small": lambda: None}
    found = timing.run_in_turn(sides, 1)
    assert found["small"].peaks[0] < found["large"].peaks[0] - 150e6
