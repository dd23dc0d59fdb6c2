"""The oldest and newest versions that pyproject.toml allows give the same numbers, and related
packages can be installed with them.
"""

import json
import os
import subprocess
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.environments import make_environment
from tests.tables import read_columns

ROOT = Path(__file__).parents[2]
DEPENDENCIES = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"][
    "dependencies"
]
TOOLS = [
    "pytest>=8,<9.2", "pytest-xdist>=3.6", "hypothesis>=6.100", "polars>=1.0", "narwhals",
    "pyyaml", "altair", "jinja2", "vl-convert-python", "scipy",
]  # fmt: skip
LANES = read_columns(oldest="duckdb==1.4.1 sqlglot==30.8.0 numpy<2 pandas<3 pyarrow<22 typer<0.29", newest="numpy>=2 pandas>=3 typer>=0.29", compiled="sqlglot[c] numpy>=2 pandas>=3")  # fmt: skip
FILES = [
    "tests/engines/golden/test_golden.py", "tests/numbers/examples/test_answers.py",
    "tests/numbers/examples/test_beyond_accuracy.py", "tests/analyses/test_drift.py",
    "tests/numbers/examples/test_published_ranking_values.py",
    "tests/interface/test_query_sources.py", "tests/interface/test_dbt.py",
    "tests/numbers/examples/test_functions.py",
]  # fmt: skip
DESELECTED = [
    "--deselect",
    "tests/numbers/examples/test_answers.py::test_what_cannot_be_evaluated_is_named",
]
"""DuckDB 1.4 gives empty lists the type INTEGER[], so that they are refused in other words."""
NEIGHBORS = [
    "sqlmesh", "dbt-core>=1.10,<1.12", "dbt-duckdb>=1.10,<1.12", "ibis-framework[duckdb]",
    "mlflow",
]  # fmt: skip


def find_version(versions: Iterable[str], name: str) -> str:
    return next(line.partition("==")[2] for line in versions if line.startswith(f"{name}=="))


@pytest.mark.slow
@pytest.mark.parametrize("lane", LANES)
def test_numbers_and_statements_are_those_of_all_versions(lane, pytestconfig):
    programs = make_environment(
        pytestconfig, f"versions_{lane}", [*DEPENDENCIES, *LANES[lane], *TOOLS]
    )
    freeze = [programs / "python", "-m", "pip", "freeze", "--disable-pip-version-check"]
    versions = subprocess.run(
        freeze, check=True, capture_output=True, text=True
    ).stdout.splitlines()
    assert (find_version(versions, "duckdb") == "1.4.1") == (lane == "oldest")
    assert (find_version(versions, "numpy")[0], find_version(versions, "pandas")[0]) == (
        ("1", "2") if lane == "oldest" else ("2", "3")
    )
    command = [
        programs / "python",
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-m",
        "not slow",
        *DESELECTED,
        *FILES,
    ]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert done.returncode == 0, done.stdout[-5000:]
    assert " passed" in done.stdout


@pytest.mark.slow
def test_neighbors_can_be_installed_too(tmp_path, pytestconfig):
    """SQLMesh, dbt, ibis and MLflow have versions that need the same versions of DuckDB and sqlglot
    as this package.
    """
    programs = make_environment(pytestconfig, "resolver", ["pip>=25"])
    report = tmp_path / "report.json"
    command = [
        programs / "python", "-m", "pip", "install", "--dry-run", "--quiet",
        "--ignore-installed", "--report", report,
    ]  # fmt: skip
    done = subprocess.run(
        [*command, *DEPENDENCIES, *NEIGHBORS], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    names = {
        item["metadata"]["name"].lower()
        for item in json.loads(report.read_text("utf-8"))["install"]
    }
    assert {"duckdb", "sqlglot", "sqlmesh", "dbt-duckdb", "ibis-framework", "mlflow"} <= names
