"""The table of mutants fits the code: each text is there once, and each test exists."""

import json
import re
import subprocess
import sys

import pytest

from tests.mutate.generate import draw_mutants, list_sites
from tests.mutate.mutant import ROOT, Mutant, MutantError, read_chosen, read_equivalents


@pytest.mark.parametrize("mutant", read_chosen(), ids=lambda mutant: mutant.file)
def test_a_mutant_can_be_planted_and_has_tests(mutant):
    text = (ROOT / mutant.file).read_text("utf-8")
    assert mutant.replace_text(text) != text
    for test in mutant.tests:
        path, _, name = test.partition("::")
        source = ROOT / path
        assert source.is_dir() or re.search(rf"\bdef {name}\b", source.read_text("utf-8"))


def test_a_text_that_is_gone_is_an_error():
    for before in ("no such text", "SELECT"):
        with pytest.raises(MutantError, match=r"times the text to change, in place of once"):
            Mutant("sql/relations/area_shares.sql", before, "x", ()).replace_text("SELECT SELECT")


def test_a_seed_draws_the_same_mutants():
    drawn = draw_mutants(20, 3)
    assert drawn == draw_mutants(20, 3)
    assert len({mutant.name for mutant in drawn}) == 20


def test_operators_orders_and_constants_are_changed():
    found = {
        (each.before, each.after) for each in list_sites(ROOT / "sql/analyses/splits/exact.sql")
    }
    assert found == {("-", "+"), ("+", "-"), ("/", "*"), ("DESC", "ASC"), ("1", "2"), ("8", "7")}


@pytest.mark.slow
def test_the_files_that_a_test_reads_are_recorded(tmp_path):
    test, record = "tests/numbers/examples/test_elbow.py", tmp_path / "readers.json"
    code = (
        "import sys; from pathlib import Path; from tests.mutate import readers, __main__ as tool;"
        "readers.RECORD = Path(sys.argv[1]); sys.exit(tool.main(['--record', sys.argv[2]]))"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, record, test], cwd=ROOT, capture_output=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    recorded = json.loads(record.read_text("utf-8"))
    assert {name.partition("::")[0] for name in recorded} == {test}
    files = {file for _, read in recorded.values() for file in read}
    assert {file for file in files if file.endswith("/elbow.sql")}


def test_equivalents_are_of_lines_that_are_there():
    for name, reason in read_equivalents().items():
        path, _, change = name.partition(": ")
        lines = [line.strip() for line in (ROOT / path).read_text("utf-8").splitlines()]
        assert change.partition(" -> ")[0] in lines, name
        assert reason
