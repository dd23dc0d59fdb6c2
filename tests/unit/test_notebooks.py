"""Calls in a Jupyter kernel that has no widgets: the first example of every page runs, and an invalid call is one message."""

from __future__ import annotations

import doctest
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from sqlrank.errors import InputError
from tests.environments import make_environment

ROOT = Path(__file__).parents[2]
REQUIREMENTS = ["nbclient", "ipykernel", "duckdb>=2.0", "sqlglot>=30.30,<31", "pyarrow", "typer", "rich", "pandas>=2.2,<3", "altair>=6.1,<7",
                "vl-convert-python>=1.9", "jinja2", "pyyaml"]  # fmt: skip
OTHER_TOOLS = {"docs/compat.md", "docs/ir-measures.md", "docs/mlflow.md"}
"""Pages whose first example imports another tool."""
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
RUNNER = """
import json, sys
import nbclient, nbformat
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in json.load(open(sys.argv[1]))])
nbclient.NotebookClient(notebook, timeout=120, allow_errors=True, kernel_name="python3").execute()
print(json.dumps([[output for output in cell.outputs if output.output_type == "error"] for cell in notebook.cells]))
"""
WITHOUT_WIDGETS = "import importlib.util\nassert importlib.util.find_spec('ipywidgets') is None"
INVALID = "sqlrank.evaluate('AUC', predictions={'label': [1, 0]})"


def first_cells(page: str) -> list[str]:
    """Return the first example of a page as cells: its statements, or its script."""
    block = next(iter(BLOCK.findall(page)), "")
    return [example.source for example in doctest.DocTestParser().get_examples(block)] or [block]


def test_an_error_is_shown_without_the_frames_of_the_package() -> None:
    error = InputError("predictions has no column score", "There are: label")
    assert error._render_traceback_() == ["InputError: predictions has no column score\nThere are: label"]


@pytest.mark.slow
def test_the_first_example_of_every_page_runs_without_widgets(pytestconfig: pytest.Config, tmp_path: Path) -> None:
    pages = {
        path.relative_to(ROOT).as_posix(): path.read_text("utf-8") for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    }
    examples = [
        (name, cell) for name, page in pages.items() if name not in OTHER_TOOLS and BLOCK.search(page) for cell in first_cells(page)
    ]
    assert len({name for name, _ in examples}) >= 20
    (tmp_path / "cells.json").write_text(json.dumps([WITHOUT_WIDGETS, *(cell for _, cell in examples), INVALID]))
    programs = make_environment(pytestconfig, "notebooks", REQUIREMENTS)
    variables = {"PYTHONPATH": str(ROOT), "PATH": f"{programs}:/usr/bin:/bin", "HOME": str(tmp_path)}
    command = [str(programs / "python"), "-c", RUNNER, str(tmp_path / "cells.json")]
    done = subprocess.run(command, env=variables, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    widgets, *outputs, invalid = json.loads(done.stdout.splitlines()[-1])
    assert widgets == []
    failures: list[Any] = [(name, cell, errors[0]["evalue"]) for (name, cell), errors in zip(examples, outputs, strict=True) if errors]
    assert failures == []
    ((message,),) = [error["traceback"] for error in invalid]
    assert message.startswith("InputError: ")
    assert len(message.splitlines()) <= 3
